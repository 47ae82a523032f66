#!/bin/sh
# Every suite of `make check`; the last line counts all of them.
set -u
cd "$(dirname "$0")/.."
total=$(mktemp)
trap 'rm -f "$total"' EXIT
status=0

suite() { # suite NAME COMMAND...
	name=$1
	shift
	echo "== $name"
	log=$(mktemp)
	"$@" > "$log" 2>&1 || status=1
	counted=$(grep -cE '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log")
	grep -E '^(not ok|#)|# SKIP' "$log"
	if [ "$counted" -eq 0 ]; then
		echo "# $name ended without a count:"
		tail -20 "$log"
		echo "0 passed, 1 failed" >> "$total"
		status=1
	else
		grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -1 | tee -a "$total"
	fi
	rm -f "$log"
}

suite "lint" sh tests/lint/lint.sh
suite "unit and op examples (ASan, UBSan)" build-asan/unit
suite "jail (no sanitizer fits behind its filter)" build/unit jail
suite "reader process (the same)" build/unit reader_
suite "python side of the jail" /usr/bin/python3 -B tests/guest/run.py
suite "fuzz corpora" sh tests/fuzz/replay.sh build/fuzz
suite "command line (ASan, UBSan)" sh tests/cli/run.sh build-asan/dtx
suite "main job, jail and workbooks on the command line" sh tests/cli/run.sh build/dtx locked
suite "published schemas" /usr/bin/python3 -B tests/schema/check.py build/dtx
suite "op examples against pandas" /usr/bin/python3 -B tests/diff/examples.py build/dtx
suite "where tools disagree" /usr/bin/python3 -B tests/diff/semantics.py build/dtx
suite "random plans against pandas" /usr/bin/python3 -B tests/diff/run.py build/dtx 60
suite "workbooks from outside" /usr/bin/python3 tests/diff/book_truth.py build/dtx
suite "dirty text" /usr/bin/python3 -B tests/diff/dirty_csv.py build/dtx
suite "escape attempts" sh tests/escape/run.sh build/dtx
suite "files made to exhaust" /usr/bin/python3 -B tests/fault/bombs.py build/dtx
suite "killed at any instant" sh tests/fault/run.sh build/dtx

awk '{ p += $1; f += $3; s += $5 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f != 0 }' "$total" || status=1
exit $status
