#!/bin/sh
# Replays each corpus through its target.  Usage: tests/fuzz/replay.sh BUILD/replay
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

for target in "$here"/fuzz_*.c; do
	name=$(basename "$target" .c)
	name=${name#fuzz_}
	corpus=$(find "$here/corpus/$name" -type f 2>/dev/null)
	if [ -z "$corpus" ]; then
		t_not_ok "fuzz $name" "no corpus in tests/fuzz/corpus/$name"
	elif out=$(find "$here/corpus/$name" -type f -print0 | timeout 120 xargs -0 "$1" "$name" 2>&1); then
		t_ok "fuzz $name: $out"
	else
		t_not_ok "fuzz $name" "$out"
	fi
done
t_done
