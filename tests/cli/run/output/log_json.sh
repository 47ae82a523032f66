. "$LIB"
# A JSON object per line, written as it happens; what cannot be a log is refused before anything runs.
cat > read.py <<'X'
import json, re, sys

for line in open(sys.argv[1]):
    o = json.loads(line)
    if len(sys.argv) > 2:  # one member
        print(o[sys.argv[2]])
        continue
    if re.fullmatch(r"20[0-9-]+T[0-9:]+[.][0-9]{6}Z", o["time"]):
        del o["time"]
    for name in ("run", "version"):
        o.pop(name, None)
    for name in ("seconds", "work_seconds"):
        if name in o:
            o[name] = 0
    print(json.dumps(o, ensure_ascii=False, separators=(",", ":")))
X
# without what differs from run to run
shown() { /usr/bin/python3 read.py "$@"; }
printf 'k,n,n\na,1,x\nb,2,y\na,3,z\n' > in.csv
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "filter", "where": "n > 1"},
	{"op": "sort", "by": ["-n"], "out": "ranked"}, {"op": "group_by", "by": ["k"], "agg": {"s": "sum(n)"}}]}' > plan.json
dtx run -q plan.json in.csv -o out.csv --log-json log.jsonl
shown log.jsonl
dtx provenance out.csv --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run"]["run_id"])' > id
shown log.jsonl run | sort -u | cmp - id && echo "the run of the record"
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
shown messages event | uniq
