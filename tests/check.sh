#!/bin/sh
# Runs one suite of tests/suites, or reports the results of several.  The Makefile schedules them.
#   tests/check.sh run LOGS NAME        writes output, exit status and seconds to files in LOGS
#   tests/check.sh report LOGS NAME...  prints failures and skips of each; the last line counts all
set -u
cd "$(dirname "$0")/.."
COUNT='^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$'
mode=$1 logs=$2
shift 2

field() { # NAME NUMBER: prints a column of tests/suites
	awk -F ' *[|] ' -v name="$1" -v n="$2" '$1 == name { print $n }' tests/suites
}

# A run waits for the disk several times, which would be half of the time of many suites.  So tests
# make their files in memory where there is room, but for those whose files are large, for one
# that kills runs while they wait, and for one that needs the hashes that a disk lets dtx keep.
in_memory() { # NAME
	room=$(df -Pk /dev/shm 2> /dev/null | awk '$1 == "tmpfs" || $1 == "shm" { print $4 }')
	free=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
	case $1 in unit-l* | fault-bombs | fault-scarce | fault-kill | fault-store) return ;; esac
	! grep -q ' /dev/shm .*noexec' /proc/mounts || return # some tests run programs that they write
	if [ "${room:-0}" -gt 2000000 ] && [ "${free:-0}" -gt 4000000 ]; then
		T_TMP=$(mktemp -d /dev/shm/dtx-check-XXXXXX) || return
		chmod 711 "$T_TMP" # some tests run dtx as another user
		export T_TMP TMPDIR="$T_TMP"
		trap 'rm -rf "$T_TMP"' EXIT
		trap 'exit 130' INT TERM HUP
	fi
}

if [ "$mode" = run ]; then
	export T_TURNS="$logs/turns" # the halves of a suite share their tests through this folder
	export DTX_POOL_IDLE=60      # suites share warm pools, as each start of one takes seconds
	in_memory "$1"
	began=$(date +%s)
	field "$1" 4 | sh > "$logs/$1.log" 2>&1
	echo $? > "$logs/$1.status"
	# the last line of `times` is of the processes that the suite started: user and system time
	times > "$logs/$1.times"
	echo "$(($(date +%s) - began)) s, $(awk 'END {
		for (i = 1; i <= 2; i++) { split($i, t, "m"); n += 60 * t[1] + t[2] }
		printf "%.0f", n }' "$logs/$1.times") s of processor time" > "$logs/$1.took"
	exit 0
fi

if [ -e "$logs/asan.status" ] && [ "$(cat "$logs/asan.status")" != 0 ]; then
	echo "the sanitizer build failed:"
	cat "$logs/asan"
fi

status=0
for name; do
	log=$logs/$name.log
	echo "== $name: $(field "$name" 3), $(cat "$logs/$name.took" 2>/dev/null)"
	ended=$(cat "$logs/$name.status" 2>/dev/null)
	[ "$ended" = 0 ] || status=1
	[ -e "$log" ] || echo "it was not built" > "$log"
	grep -E '^(not ok|#)|# SKIP' "$log"
	sed -n "s/^not ok - /failed: $name: /p" "$log" >> "$logs/failed"
	if grep -qE "$COUNT" "$log"; then
		grep -E "$COUNT" "$log" | tail -1 | tee -a "$logs/total"
		# The suite failed although no test did, for example because the sanitizer found a leak at exit.
		if [ "$ended" != 0 ] && grep -qE '^[0-9]+ passed, 0 failed' "$log"; then
			echo "# $name ended with status $ended:"
			tail -80 "$log"
			echo "0 passed, 1 failed" >> "$logs/total"
			echo "failed: $name ended with status $ended" >> "$logs/failed"
		fi
	else
		echo "# $name ended without a count:"
		tail -80 "$log"
		echo "0 passed, 1 failed" >> "$logs/total"
		echo "failed: $name ended without a count" >> "$logs/failed"
		status=1
	fi
done

# Once more at the end, where a reader of a long log looks first.
head -40 "$logs/failed"
awk '{ p += $1; f += $3; s += $5 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f != 0 }' "$logs/total" || status=1
exit $status
