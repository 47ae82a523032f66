#!/bin/sh
# Golden tests of the command line: each GROUP/NAME.sh or GROUP/ROOM/NAME.sh runs in a scratch folder of its own; its
# stdout, stderr and status are compared with NAME.stdout, NAME.stderr (absent: empty) and NAME.exit
# (absent: 0).  Usage: tests/cli/run.sh DTX [--golden] [locked | fast] [SUBSTRING | K/N: the Kth of N shares]
# fast leaves out those that take more than a second.
# With the folder T_TURNS, the N share out the tests as they go.  T_TMP is where the scratch folders are made,
# else /tmp.  T_TIMES=1 prints the processor time of each.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/tests/lib.sh"

DTX=$(realpath "$1")
shift
golden=
[ "${1:-}" = --golden ] && golden=1 && shift
locked_only=
[ "${1:-}" = locked ] && locked_only=-locked && shift
fast=
[ "${1:-}" = fast ] && fast=1 && shift
only=${1:-}
export DTX DTX_POOL_IDLE=${DTX_POOL_IDLE:-10} FIX="$root/fixtures" LIB="$here/lib.sh" LC_ALL=C.UTF-8 TZ=UTC
unset TMPDIR DTX_FALLBACK DTX_JAIL DTX_NO_WARM DTX_STORE XDG_STATE_HOME XDG_CONFIG_HOME DTX_AUTHOR DTX_AUTHOR_URL DTX_AUTHOR_KEY DTX_APPROVE DTX_SAMPLE
unset DTX_JAIL_WALL DTX_JAIL_CPU DTX_JAIL_MEMORY DTX_JAIL_OUTPUT DTX_JAIL_QUEUE_WAIT DTX_JAIL_PROFILE

normalize() { sed -e "s|$scratch|SCRATCH|g" -e "s|$root|ROOT|g" -e "s|$DTX|dtx|g"; }

spent() { # sets ms to the processor time of all processes that have ended, in milliseconds
	times > "$scratch.times" # in a subshell it would start again from zero
	ms=$(awk 'END { split($1, u, "m"); split($2, s, "m"); printf "%d", 1000 * (60 * (u[1] + s[1]) + u[2] + s[2]) }' "$scratch.times")
}

same() { # KIND: got file against expected file
	expected=$base.$1
	[ -e "$expected" ] || expected=/dev/null
	diff -u "$expected" "$scratch.$1" > "$scratch.diff" 2>&1 || { echo "$1:"; cat "$scratch.diff"; }
}

keep() { # KIND DEFAULT
	if [ "$(cat "$scratch.$1")" = "$2" ]; then rm -f "$base.$1"; else cp "$scratch.$1" "$base.$1"; fi
}

one() {
	base=${1%.sh}
	name=${base#"$here/"}
	scratch=$(mktemp -d "${T_TMP:-/tmp}/dtx-cli-XXXXXX")
	export HOME=$scratch DTX_STORE=$scratch/.store.db
	[ -z "${T_TIMES:-}" ] || { spent; before=$ms; }
	(cd "$scratch" && timeout 300 sh -eu "$1") > "$scratch.out" 2> "$scratch.err" < /dev/null
	echo $? > "$scratch.exit"
	normalize < "$scratch.out" > "$scratch.stdout"
	normalize < "$scratch.err" > "$scratch.stderr"
	if [ -n "$golden" ]; then
		keep stdout "" && keep stderr "" && keep exit 0
	fi
	[ -e "$base.exit" ] || echo 0 > "$scratch.zero"
	wrong=$(same stdout; same stderr
		[ "$(cat "$base.exit" 2>/dev/null || echo 0)" = "$(cat "$scratch.exit")" ] || echo "exit $(cat "$scratch.exit"), expected $(cat "$base.exit" 2>/dev/null || echo 0)")
	if grep -q '^SKIP ' "$scratch.out"; then
		t_skip "$name" "$(sed -n 's/^SKIP //p' "$scratch.out")"
	elif [ -z "$wrong" ]; then
		t_ok "$name"
	else
		t_not_ok "$name" "$wrong"
	fi
	[ -z "${T_TIMES:-}" ] || { spent; echo "# $name: $((ms - before)) ms"; }
	rm -rf "$scratch" "$scratch".*
}

# A sanitizer build locks no process: no jail, no reader of workbooks.  The plain build runs those,
# by the name "locked", and tests so large that a sanitizer would take minutes for them.
locked() {
	case ${1#"$here"/} in
	jail/* | exec/* | mcp/tools.sh | mcp/paths.sh | mcp/running.sh | mcp/canary.sh | mcp/peers.sh) return 0 ;;
	*/many_columns.sh | */many_sources.sh | */many_files.sh | */why_long.sh) return 0 ;;
	run/limits/hash_beside.sh | run/limits/known_input.sh | run/tables/identity.sh | run/limits/memory_hint.sh) return 0 ;;
	run/read/more_files_than_descriptors.sh | inspect/by_example.sh | help/manual.sh) return 0 ;;
	*/sqlite*.sh | */zstd.sh) return 0 ;;
	run/limits/limit_fault.sh | run/limits/limit_counts.sh | run/tables/sort_mixed.sh | run/limits/small_batches.sh) return 0 ;;
	run/limits/spill.sh | compile/program.sh | compile/windows.sh) return 0 ;; # half a minute; unit tests spill too
	esac
	plans=$(grep -oE 'plans/[a-z_]+\.json' "$1" | sort -u | sed "s|^|$root/fixtures/|")
	grep -qE '\.(xlsx?|ods|gz|parquet|arrows?|feather)\b' "$1" $plans
}

slow() {
	case ${1#"$here"/} in
	run/limits/spill.sh | run/tables/sort_*.sh | run/limits/limit_*.sh | run/limits/small_batches.sh | run/tables/crosstab_wide.sh | run/limits/hash_beside.sh) return 0 ;;
	run/limits/memory_hint.sh | run/limits/known_input.sh | run/limits/interrupt.sh | run/tables/identity.sh | run/read/more_files_than_descriptors.sh) return 0 ;;
	*/many_files.sh | */many_sources.sh | */many_columns.sh | */why_long.sh) return 0 ;;
	compile/program.sh | compile/windows.sh | exec/crowd.sh | exec/compared.sh | inspect/by_example.sh | jail/hidden.sh) return 0 ;;
	mcp/canary.sh | mcp/framing.sh | mcp/running.sh | mcp/peers.sh) return 0 ;;
	esac
	return 1
}

# The test is this share's.
mine() { # NUMBER K/N
	if [ -n "${T_TURNS:-}" ]; then
		mkdir "$T_TURNS/cli$locked_only-$1" 2> /dev/null
	else
		[ $(($1 % ${2#*/} + 1)) = "${2%/*}" ]
	fi
}

scratch=
ended() { # removes what the test that was running has made
	[ -z "$scratch" ] || rm -rf "$scratch" "$scratch".*
	exit 130
}
trap ended INT TERM HUP

# Unit tests look for leaks.  Here that would take a third of each of some 3,000 starts.  Undefined
# behaviour ends in an illegal instruction, whose place is printed.  Keeping the stacks of allocations
# would take a third of all page faults of a start.
case $DTX in *-asan/*) export ASAN_OPTIONS=detect_leaks=0:handle_sigill=1:malloc_context_size=1 ;; esac

i=0
for f in "$here"/*/*.sh "$here"/*/*/*.sh; do
	case $DTX in *-asan/*) ! locked "$f" || continue ;; esac
	[ -z "$locked_only" ] || locked "$f" || continue
	[ -z "$fast" ] || ! slow "$f" || continue
	case $only in
	[1-9]/[1-9])
		i=$((i + 1))
		! mine $i "$only" || one "$f"
		;;
	*) case ${f#"$root/tests/"} in *"$only"*) one "$f" ;; esac ;;
	esac
done
t_done
