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
echo '--- why, replay and verify work on such a run'
for f in one two; do dtx why $f.csv B2 | sed "s/$f\.csv/F/; s/run [0-9a-f]*/run RUN/" > why_$f.txt; done
cmp why_one.txt why_two.txt && head -3 why_one.txt
dtx replay two.csv | sed -E 's/\b[0-9a-f]{8}\b/RUN/g'
dtx verify two.csv --fragment 3 | grep -c 'gives the bytes that it gave'
dtx verify two.csv --fragment 300 2>&1 | sed -E 's/\b[0-9a-f]{8}\b/RUN/g'
dtx provenance two.csv --html two.html && grep -o 'Done with local[^<]*' two.html
dtx run plan.json in.csv --engine local://2 --exchange . --resume 12345678 || echo "exit $?"
dtx run plan.json in.csv --engine local://2 --resume 12345678 || echo "exit $?"
echo '--- explain says what fragments do'
dtx explain plan.json in.csv --engine 'local://2?bytes=500' | grep -A1 ^pipeline
echo '{"dtx": 1, "steps": [{"op": "filter", "where": "n > 100"}, {"op": "sort", "by": ["t"]}]}' > sort.json
dtx explain sort.json in.csv --engine 'local://2?bytes=500' | grep fragments
echo '{"dtx": 1, "steps": [{"op": "filter", "where": "n > 100"}], "output": {"path": "x.jsonl"}}' > text.json
dtx explain text.json in.csv --engine 'dask://none:8786?bytes=500' | grep fragments
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
