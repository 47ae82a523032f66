#!/bin/sh
# Every suite of `make check`; the last line counts all.  The sanitizer build is made beside the
# suites of the plain one: these wait at times, and no processor shall.
set -u
cd "$(dirname "$0")/.."
COUNT='^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$'

# Longest first, so that none is left over at the end.
suites() {
	cat <<-'LIST'
		unit and op examples (ASan, UBSan)|build-asan/unit 1/2
		unit and op examples, the other half (ASan, UBSan)|build-asan/unit 2/2
		command line (ASan, UBSan)|sh tests/cli/run.sh build-asan/dtx 1/2
		command line, the other half (ASan, UBSan)|sh tests/cli/run.sh build-asan/dtx 2/2
		main job, jail and workbooks on the command line|sh tests/cli/run.sh build/dtx locked 1/2
		main job, jail and workbooks, the other half|sh tests/cli/run.sh build/dtx locked 2/2
		jail (no sanitizer fits behind its filter)|build/unit jail
		escape attempts|sh tests/escape/run.sh build/dtx
		attacks in families|/usr/bin/python3 -B tests/escape/attacks.py build/dtx
		short of stack, threads, files, memory|/usr/bin/python3 -B tests/fault/scarce.py build/dtx
		calls that containers deny|/usr/bin/python3 -B tests/jail/denied.py build/dtx few
		plans of 65 and 256 files (ASan, UBSan)|/usr/bin/python3 -B tests/fault/many.py build-asan/dtx
		files made to exhaust|/usr/bin/python3 -B tests/fault/bombs.py build/dtx
		random plans against pandas|/usr/bin/python3 -B tests/diff/run.py build/dtx 100
		killed at any instant|sh tests/fault/run.sh build/dtx
		signals that ask it to end|/usr/bin/python3 -B tests/fault/signals.py build/dtx
		ended at random instants of every kind of step|/usr/bin/python3 -B tests/fault/cancel.py build/dtx
		killed before each call of the write order|/usr/bin/python3 -B tests/fault/killed.py build/dtx
		engine against the jail|/usr/bin/python3 -B tests/diff/agreement.py build/dtx
		random plans with a snippet that changes nothing|/usr/bin/python3 -B tests/diff/jailed.py build/dtx 100
		op examples against pandas|/usr/bin/python3 -B tests/diff/examples.py build/dtx
		lineage of random cells|/usr/bin/python3 -B tests/diff/why.py build/dtx 14
		lineage in random plans|/usr/bin/python3 -B tests/diff/why_plans.py build/dtx 60
		dirty text|/usr/bin/python3 -B tests/diff/dirty_csv.py build/dtx
		ordinary tables come back as written|/usr/bin/python3 -B tests/diff/plain_tables.py build/dtx
		damaged tables lose nothing, and each change is listed|/usr/bin/python3 -B tests/diff/damaged_tables.py build/dtx
		proposed plans run, and lose no text|/usr/bin/python3 -B tests/diff/proposed_plans.py build/dtx
		workbooks as openpyxl has them|/usr/bin/python3 -B tests/diff/book_out.py build/dtx
		one table in several files, and through pipes|/usr/bin/python3 -B tests/diff/book_pairs.py build/dtx
		every address printed looked up again|/usr/bin/python3 -B tests/diff/addresses.py build/dtx
		functions against pandas|/usr/bin/python3 -B tests/diff/functions.py build/dtx
		plans of an analyst against plain pandas|/usr/bin/python3 -B tests/diff/analyst.py build/dtx
		where tools disagree|/usr/bin/python3 -B tests/diff/semantics.py build/dtx
		bits of a store turned|/usr/bin/python3 -B tests/fault/flips.py build/dtx
		store without room, right or sound pages|/usr/bin/python3 -B tests/fault/store.py build/dtx
		records and what is made of them|/usr/bin/python3 -B tests/schema/records.py build/dtx
		examples of pandas' documentation in the jail|/usr/bin/python3 -B -W ignore tests/jail/docstrings.py build/dtx 30
		no cell reaches an author|/usr/bin/python3 -B tests/jail/canaries.py build/dtx
		libraries below the jail: every BLAS, broken ones|/usr/bin/python3 -B tests/jail/libraries.py build/dtx
		reader process (the same)|build/unit reader_
		python side of the jail|/usr/bin/python3 -B tests/guest/run.py
		op examples over long tables|build/unit ops_examples_long
		large tables and the heap|build/unit test_large
		fuzz corpora|sh tests/fuzz/replay.sh build/replay
		report in a browser|/usr/bin/python3 -B tests/report/check.py build/dtx
		published schemas|/usr/bin/python3 -B tests/schema/check.py build/dtx
		plans of the tests, strict schema, compile, explain|/usr/bin/python3 -B tests/schema/plans.py build/dtx
		plans and commands that are refused|/usr/bin/python3 -B tests/schema/broken.py build/dtx
		every error code|/usr/bin/python3 -B tests/schema/errors.py build/dtx
		workbooks from outside|/usr/bin/python3 tests/diff/book_truth.py build/dtx
		lint|sh tests/lint/lint.sh
	LIST
}

if [ "${1:-}" = --one ]; then # --one NUMBER FOLDER
	began=$(date +%s)
	suites | sed -n "$2s/.*|//p" | sh > "$3/$2.log" 2>&1
	echo $? > "$3/$2.status"
	echo "$(($(date +%s) - began)) s" > "$3/$2.took"
	exit 0
fi

work=$(mktemp -d)
export T_TURNS="$work/turns" # the halves of a suite share out its tests as they go
mkdir "$T_TURNS"
trap 'rm -rf "$work"' EXIT
some() { # some GREP-OPTION AT-ONCE: the suites that name the sanitizer build, or the others
	suites | grep "$1" 'build-asan/' | cut -d: -f1 | xargs -P "$2" -I {} sh tests/check.sh --one {} "$work"
}
{
	nice make --no-print-directory -s -j"$(nproc)" WERROR=1 VARIANT=asan all unit-build > "$work/asan" 2>&1
	echo $? > "$work/asan.status"
	[ "$(cat "$work/asan.status")" != 0 ] || some -n "$(nproc)"
} &
some -nv $(($(nproc) + 1)) # the jail's wait for the most part
wait
if [ "$(cat "$work/asan.status")" != 0 ]; then
	echo "the sanitizer build failed:"
	cat "$work/asan"
fi

status=0
n=0
suites | cut -d'|' -f1 > "$work/names"
while read -r name; do
	n=$((n + 1))
	log=$work/$n.log
	echo "== $name, $(cat "$work/$n.took" 2>/dev/null)"
	ended=$(cat "$work/$n.status" 2>/dev/null)
	[ "$ended" = 0 ] || status=1
	[ -e "$log" ] || echo "it was not built" > "$log"
	grep -E '^(not ok|#)|# SKIP' "$log"
	if grep -qE "$COUNT" "$log"; then
		grep -E "$COUNT" "$log" | tail -1 | tee -a "$work/total"
		# Nothing failed by its count, and yet: a leak that the sanitizer tells of at the end.
		if [ "$ended" != 0 ] && grep -qE '^[0-9]+ passed, 0 failed' "$log"; then
			echo "# $name ended with status $ended:"
			tail -80 "$log"
			echo "0 passed, 1 failed" >> "$work/total"
		fi
	else
		echo "# $name ended without a count:"
		tail -80 "$log"
		echo "0 passed, 1 failed" >> "$work/total"
		status=1
	fi
done < "$work/names"

awk '{ p += $1; f += $3; s += $5 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f != 0 }' "$work/total" || status=1
exit $status
