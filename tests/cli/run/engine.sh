. "$LIB"
# --engine: the same result from several processes, and what is wrong with an address or a folder
awk 'BEGIN { print "n,t"; for (i = 0; i < 400; i++) printf "%d,\"a\nb %d\"\n", i, i % 7 }' > in.csv
cat > plan.json <<'EOF'
{"dtx": 1, "steps": [{"op": "filter", "where": "n > 100"}, {"op": "group_by", "by": ["t"], "agg": {"rows": "count()", "n": "sum(n)"}}]}
EOF
dtx run plan.json in.csv -o one.csv
dtx run plan.json in.csv -o two.csv --engine 'local://2?bytes=500'
cmp one.csv two.csv && echo same
dtx provenance --json --full > record.json
/usr/bin/python3 -c '
import json
engine = json.load(open("record.json"))["run"]["engine"]
parts = engine["stages"][0]["fragments"]
print(engine["address"], engine["whole"], len(engine["stages"]), len(parts) > 5, any(p["repaired"] for p in parts))'
dtx provenance two.csv | grep ^engine
echo '--- a cell that does not fit: the message of one process'
echo '{"dtx": 1, "fallback": "off", "inputs": [{"name": "main", "types": {"n": "int"}}], "steps": [{"op": "filter", "where": "n > 100"}]}' > typed.json
echo 'many,x' >> in.csv
dtx run typed.json in.csv -o three.csv || echo "exit $?"
dtx run typed.json in.csv -o three.csv --engine 'local://2?bytes=500' || echo "exit $?"
ls *.csv
echo '--- addresses and folders'
for address in local://0 local://x local://2?size=3 spark://host; do
	dtx run plan.json in.csv --engine "$address" || echo "exit $?"
done
dtx run plan.json in.csv --engine local://2 --exchange none || echo "exit $?"
dtx run plan.json in.csv --exchange . || echo "exit $?"
