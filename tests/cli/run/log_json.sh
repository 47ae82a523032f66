. "$LIB"
# A JSON object per line, written as it happens; what cannot be a log is refused before anything runs.
shown() { # without what differs from run to run
	jq -c 'if has("seconds") then .seconds = 0 else . end | if has("work_seconds") then .work_seconds = 0 else . end
		| if (.time | test("^20[0-9-]+T[0-9:]+[.][0-9]{3}Z$")) then del(.time) else . end | del(.run, .version)' "$1"
}
printf 'k,n,n\na,1,x\nb,2,y\na,3,z\n' > in.csv
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "filter", "where": "n > 1"},
	{"op": "sort", "by": ["-n"], "out": "ranked"}, {"op": "group_by", "by": ["k"], "agg": {"s": "sum(n)"}}]}' > plan.json
dtx run -q plan.json in.csv -o out.csv --log-json log.jsonl
shown log.jsonl
dtx provenance out.csv --json | jq -r .run.run_id > id
jq -r .run log.jsonl | sort -u | cmp - id && echo "the run of the record"
echo "# the next run adds its lines"
dtx convert -q in.csv out.jsonl --log-json log.jsonl
tail -n 3 log.jsonl > last && shown last
echo "# errors"
rm log.jsonl
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "derive", "set": {"m": "int(k)"}}]}' > bad.json
dtx run -q bad.json in.csv --log-json log.jsonl --fallback off > /dev/null 2>&1 || echo "exit $?"
shown log.jsonl
rm log.jsonl
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "limit", "m": 1}]}' > bad.json
dtx run -q bad.json in.csv --log-json log.jsonl > /dev/null 2>&1 || echo "exit $?"
shown log.jsonl
echo "# no log"
cp in.csv kept.csv
for at in - /dev/stdout in.csv plan.json out.csv nosuch/log .; do
	dtx run plan.json in.csv -o out.csv --log-json $at || echo "exit $?"
done
cmp in.csv kept.csv
dtx run plan.json in.csv --log-json same > same || echo "exit $?, $(wc -c < same) bytes"
echo "# a full disk does not end the run"
dtx run plan.json in.csv --log-json /dev/full
echo "# among the messages"
dtx run -q plan.json in.csv --log-json /dev/stderr 2> messages > /dev/null
jq -r .event messages | uniq
