. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
printf 'grade,q,hours\nA,Q1,1\nB,Q1,2\nA,Q2,0\nZ,Q1,5\nA,Q2,3\nC,Q2,7\nTotal,,18\n\nB,Q2,1\nA,Q1,8\n' > hours.csv
printf 'grade,rate\nA,10\nB,20\nC,30\nD,9\n' > rates.csv
cat > cost.json <<'E2'
{"dtx": 1, "inputs": [{"name": "main"}, {"name": "rates"}, {"name": "idle"}], "steps": [
 {"op": "drop_rows", "where": "grade == 'Total'", "kinds": []},
 {"op": "filter", "where": "hours > 0 and not (grade == 'B' and q == 'Q2')"},
 {"op": "join", "with": "rates", "on": ["grade"]},
 {"op": "derive", "set": {"cost": "hours * rate"}},
 {"op": "distinct", "cols": ["grade", "q"]},
 {"op": "group_by", "by": ["grade", "q"], "agg": {"cost": "sum(cost)", "n": "count()"}},
 {"op": "top", "n": 3, "expr": "cost"},
 {"op": "pivot_wider", "id": ["grade"], "names_from": ["q"], "values_from": ["cost"]},
 {"op": "sort", "by": ["grade"]}],
 "output": [{"path": "cost.csv"}, {"path": "idle_out.csv", "table": "idle"}]}
E2
printf 'x\n1\n' > idle.csv
dtx run cost.json hours.csv rates=rates.csv idle=idle.csv -q
cat cost.csv
for line in 2 3 4 5 7 8 10 11; do dtx why-not cost.csv L$line | id; done
dtx why-not cost.csv --input rates --key grade=D | id
dtx why-not cost.csv rates.csv!L2 | id
dtx why-not cost.csv idle.csv!L2 | id
dtx why-not cost.csv --row 3 --json | grep -A 12 dropped
dtx why-not cost.csv --row 3 --no-values | id
for bad in "--key grade=A" "" "nix!L3" "L9" "L" "L3 --row 2" "--key nix=1"; do
	dtx why-not cost.csv $bad || echo "exit $?"
done
# a group that is left out whole
echo '[{"op": "group_by", "by": ["grade"], "agg": {"h": "sum(hours)"}, "having": "h > 8"}]' > most.json
dtx run most.json hours.csv -o most.csv -q
dtx why-not most.csv L7 | id
dtx why-not most.csv L2 | id
# a sheet: a total between the rows, a row that became six
cp "$FIX/xlsx/report.xlsx" "$FIX/plans/utilisation.json" .
dtx run utilisation.json report.xlsx -o tidy.csv -q
dtx why-not tidy.csv 'FY24!A8' | id
dtx why-not tidy.csv B9 | id
# a group of all rows is there without a dropped one
echo '[{"op": "filter", "where": "hours > 2"}, {"op": "group_by", "by": [], "agg": {"h": "sum(hours)"}}]' > all.json
dtx run all.json hours.csv -o all.csv -q
dtx why-not all.csv L2 | id
dtx why-not all.csv L5 | id
# steps that judge whole rows alone: the row of the result, not that of the input
printf 'id,v\n1,\n2,5\n3,\n4,7\n' > gaps.csv
echo '[{"op": "drop_rows", "where": "v is null", "kinds": []}, {"op": "fill", "cols": ["id"]}]' > gaps.json
dtx run gaps.json gaps.csv -o filled.csv -q
for line in 2 3 5; do dtx why-not filled.csv L$line | id; done
# one of several files of an input, by its name as why prints it
mkdir parts
printf 'k,v\na,1\nb,2\n' > parts/p1.csv
printf 'k,v\na,3\nc,0\n' > parts/p2.csv
echo '{"dtx": 1, "inputs": [{"name": "main", "path": "parts/*.csv"}], "steps": [{"op": "filter", "where": "v > 0"}]}' > parts.json
dtx run parts.json -o parts.csv -q
for place in 'p1.csv!L3' 'p2.csv!L2' 'p2.csv!L3' L2; do dtx why-not parts.csv "$place" | id; done
dtx run parts.json -o parts.csv -q --lineage rows
for place in 'p1.csv!L3' 'p2.csv!L2' 'p2.csv!L3'; do dtx why-not parts.csv "$place" | id | grep -v '^note'; done
# each step that judges rows as they were read needs an output of its own, and a plan has only so many
/usr/bin/python3 -c 'import json; print(json.dumps([{"op": "drop_rows", "kinds": ["blank"]}] * 15))' > blank.json
dtx run blank.json gaps.csv -o blank.csv -q
dtx why-not blank.csv L2 || echo "exit $?"
