. "$LIB"
# a mistake in a file of settings is an error of every command, with file and line
export XDG_CONFIG_HOME="$PWD/conf"
mkdir -p conf/dtx
printf 'a\n1\n' > in.csv
printf '{"dtx": 1, "steps": [{"op": "head", "n": 1}]}' > plan.json
printf 'older\n' > out.csv
try() {
	printf '%s\n' "$1" > conf/dtx/config.json
	echo "== $1" >&2
	shift
	dtx "$@" || echo "$*: $?"
}
try '{"approve": "ask",
 "jail_wal": 3}' run plan.json in.csv -o out.csv
try '{"jail_wall": 0}' convert in.csv
try '{"approve": ["ask"]}' inspect in.csv
try '{"privacy": {"deny": "*a*"}}' ops
try '{
 "locked": ["approve", "aprove"]}' store path
try '[]' eval '1 + 1'
try '{"approve": "ask"' run plan.json in.csv -o out.csv
try '{"approve": "ask", "approve": "auto"}' config list
cat out.csv
# help and version work all the same, and a bad variable is named
dtx version > /dev/null && dtx help config > /dev/null && echo "help works"
rm conf/dtx/config.json
DTX_JAIL_MEMORY=1 dtx eval '1 + 1' || echo "eval: $?"
