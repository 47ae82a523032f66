. "$LIB"
# a reader that has had enough is no error: no message, the status of SIGPIPE, a whole record
{ echo n; seq 200000; } > in.csv
echo '[{"op":"derive","set":{"b":"n + 1"}}]' > plan.json
mkfifo gate
# COMMAND, whose reader has ended before the first byte
unread() {
	{ read -r _ < gate; "$DTX" "$@" 2> said.txt && echo "exit 0" > status.txt || echo "exit $?" > status.txt; } | {
		exec < /dev/null
		echo go > gate
	}
	cat status.txt said.txt
}
unread run plan.json in.csv
unread run plan.json in.csv --errors=json
unread convert in.csv --to jsonl --record record.json
grep -o '"status": "[a-z]*"' record.json
unread help
unread inspect in.csv --json
unread provenance log
unread ops
dtx provenance log | sed -E 's/^.*Z +//'
# one that takes a line
{ "$DTX" run plan.json in.csv || echo "exit $?" >&2; } | head -n 1
# the other outputs of the run are there
echo '{"dtx":1,"steps":[{"op":"limit","n":2}],"output":[{"path":"-"},{"path":"other.csv"}]}' > two.json
unread run two.json in.csv
cat other.csv
# a named pipe is an output like a file: it has to be whole
mkfifo pipe.csv
{ exec < pipe.csv; } &
{ dtx run plan.json in.csv -o pipe.csv 2>&1 || echo "exit $?"; } | sed 's/Broken.*/BROKEN/'
wait
