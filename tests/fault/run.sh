#!/bin/sh
# Kills a run at many instants: afterwards the target is the old or the new file, whole, and the
# record says which.  Usage: tests/fault/run.sh DTX
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/tests/lib.sh"
dtx=$(realpath "$1")
scratch=$(mktemp -d /tmp/dtx-fault-XXXXXX)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export DTX_STORE="$scratch/store.db" HOME="$scratch"

awk 'BEGIN { print "k,v"; for (i = 0; i < 200000; i++) print "k" i % 1000 "," i }' > in.csv
echo '{"dtx":1,"steps":[{"op":"filter","where":"v > 100"},{"op":"sort","by":["-v"]}]}' > plan.json
"$dtx" run plan.json in.csv -o new.csv || exit 1
echo "old" > old.csv

# How long a whole run takes, in ms: the kills are spread over it.
t0=$(date +%s%N)
"$dtx" run plan.json in.csv -o warm.csv
whole=$((($(date +%s%N) - t0) / 1000000 + 4))
# a run that dies before it is recorded must not be taken for the one above
"$dtx" convert old.csv -o swept.csv -q

# One killed run: what the target is and what the record says of the run.
killed() { # DELAY_MS
	cp old.csv out.csv
	"$dtx" run plan.json in.csv -o out.csv -q 2> /dev/null &
	pid=$!
	sleep "$(awk "BEGIN { print $1 / 1000 }")"
	kill -9 $pid 2> /dev/null
	wait $pid 2> /dev/null
	if cmp -s out.csv old.csv; then is=old
	elif cmp -s out.csv new.csv; then is=new
	else is=TORN; fi
	"$dtx" provenance log --limit 1 > log.txt 2> log.err
	left=$(find . -name '.out.csv.*.tmp' | wc -l)
}

bad=""
old=0
new=0
n=40
i=0
while [ $i -lt $n ]; do
	# the sweep closes what a dead process left, when a store is opened for writing
	killed $((whole * i / (n - 8)))
	"$dtx" convert old.csv -o swept.csv -q
	left=$(find . -name '.out.csv.*.tmp' | wc -l)
	run=$("$dtx" provenance log --json --limit 2 | python3 -c '
import json, sys
runs = [r for r in json.load(sys.stdin) if "plan.json" in json.dumps(r.get("argv", ""))]
print(runs[0]["status"] if runs else "none")')
	case $is in
	TORN) bad="$bad torn at $i;" ;;
	old) old=$((old + 1)); [ "$run" != ok ] || bad="$bad old file, but the record says ok at $i;" ;;
	new) new=$((new + 1)); [ "$run" = ok ] || [ "$run" = abandoned ] || bad="$bad new file, but the record says $run at $i;" ;;
	esac
	[ "$left" -eq 0 ] || bad="$bad temp file left at $i;"
	i=$((i + 1))
done
if [ -z "$bad" ]; then
	t_ok "kill -9 at $n instants: old or new, whole ($old old, $new new)"
else
	t_not_ok "kill -9 at $n instants" "$bad"
fi

# A full disk: the old file stays, exit 9.
cp old.csv out.csv
if "$dtx" run plan.json in.csv -o /dev/full 2> err.txt; then
	t_not_ok "/dev/full is an error" "exit 0"
elif grep -qE '^dtx: (disk_full|output_io)' err.txt; then
	t_ok "/dev/full is an error"
else
	t_not_ok "/dev/full is an error" "$(cat err.txt)"
fi
"$dtx" run plan.json in.csv > /dev/full 2> err.txt
[ $? -eq 9 ] && t_ok "stdout on a full disk is exit 9" || t_not_ok "stdout on a full disk is exit 9" "$(cat err.txt)"

mkdir ro && cp old.csv ro/out.csv
(
	ulimit -f 64 # 512-byte blocks: the output does not fit
	"$dtx" run plan.json in.csv -o ro/out.csv 2> "$scratch/err.txt"
	echo $? > "$scratch/status"
)
if cmp -s ro/out.csv old.csv && [ "$(cat status)" = 9 ]; then
	t_ok "a target that cannot grow: exit 9, the old file whole"
else
	t_not_ok "a target that cannot grow" "exit $(cat status): $(cat err.txt)"
fi
for to in xlsx jsonl md; do
	cp old.csv "ro/out.$to"
	(
		ulimit -f 64
		"$dtx" run plan.json in.csv -o "ro/out.$to" 2> "$scratch/err.txt"
		echo $? > "$scratch/status"
	)
	if cmp -s "ro/out.$to" old.csv && [ "$(cat status)" = 9 ] && [ "$(find ro -name '.*' -type f | wc -l)" -eq 0 ]; then
		t_ok "$to that cannot grow: exit 9, the old file whole"
	else
		t_not_ok "$to that cannot grow" "exit $(cat status): $(cat err.txt)"
	fi
done

# An input is cut short between its opening and its reading: the second input is a pipe, and dtx
# opens inputs in order, so that who can open the pipe knows that the first one is mapped.
echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"b"}],"steps":[{"op":"join","right":"b","on":["k"]}]}' > join.json
mkfifo pipe
cp in.csv cut.csv
cp old.csv out.csv
(
	exec 3> pipe
	truncate -s 4096 cut.csv
	printf 'k,w\nk1,1\n' >&3
) &
"$dtx" run join.json cut.csv b=pipe -o out.csv 2> err.txt
status=$?
wait
if [ $status -eq 4 ] && grep -q "input_changed.*'cut.csv' was changed while it was read" err.txt && cmp -s out.csv old.csv; then
	t_ok "an input that is cut short: input_changed, the old file whole"
else
	t_not_ok "an input that is cut short" "exit $status: $(cat err.txt)"
fi

# The reader of a pipe goes away; a folder takes no new file (root may write anywhere but in /proc).
{ "$dtx" run plan.json in.csv 2> err.txt; echo $? > status; } | head -c 1 > /dev/null
[ "$(cat status)" = 141 ] && [ ! -s err.txt ] && t_ok "a closed pipe is exit 141 without a word" || t_not_ok "a closed pipe is exit 141 without a word" "exit $(cat status): $(cat err.txt)"
"$dtx" run plan.json in.csv -o /proc/out.csv 2> err.txt
[ $? -eq 9 ] && t_ok "a folder without write access is exit 9" || t_not_ok "a folder without write access is exit 9" "$(cat err.txt)"
t_done
