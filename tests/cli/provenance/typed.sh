. "$LIB"
cp "$FIX/csv/hours.csv" "$FIX/csv/rates.csv" .
dtx run "$FIX/plans/cost.json" hours.csv rates=rates.csv -o out.csv
dtx provenance out.csv | plain
dtx provenance --json out.csv | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sorted(r))
print([s["op"] for s in r["steps"]], [i["alias"] for i in r["inputs"]])'
