. "$LIB"
cp "$FIX/csv/hours.csv" "$FIX/csv/rates.csv" .
dtx run "$FIX/plans/cost.json" hours.csv rates=rates.csv -o out.csv
dtx provenance out.csv | plain
dtx provenance --json out.csv | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sorted(r))
print([s["op"] for s in r["steps"]], [i["alias"] for i in r["inputs"]])'
# a terminal acts on nothing that a column's name has
printf 'a\033[2Jb,c\n1,2\n' > marks.csv
printf '[{"op":"derive","set":{"x":"`a\\u001b[2Jb` + c"}}]' > marks.json
dtx run marks.json marks.csv -o marked.csv -q
dtx provenance marked.csv | grep '^formula'
