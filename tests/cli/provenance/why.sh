. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/'; }
printf 'grade,q,hours\nA,Q1,1\nB,Q1,2\nA,Q2,0\nA,Q1,5\nA,Q2,3\nC,Q2,7\nB,Q2,1\nA,Q1,8\n' > hours.csv
printf 'grade,rate\nA,10\nB,20\nC,30\n' > rates.csv
cat > cost.json <<'E2'
{"dtx": 1, "inputs": [{"name": "main"}, {"name": "rates"}], "steps": [
 {"op": "filter", "where": "hours > 0"},
 {"op": "join", "with": "rates", "on": ["grade"], "how": "left"},
 {"op": "derive", "set": {"cost": "hours * rate"}},
 {"op": "group_by", "by": ["grade", "q"], "agg": {"cost": "sum(cost)", "n": "count()"}},
 {"op": "pivot_wider", "id": ["grade"], "names_from": ["q"], "values_from": ["cost"]},
 {"op": "sort", "by": ["grade"]}]}
E2
dtx run cost.json hours.csv rates=rates.csv -o cost.csv
cat cost.csv
dtx why cost.csv B2 | id
dtx why cost.csv --row 3 --col Q2 --no-values | id
dtx why cost.csv --row 3 --col Q2 --no-values --json | grep -E '"(value|with_values|composed)"'
dtx run cost.json hours.csv rates=rates.csv -o kept.csv --lineage rows
dtx why kept.csv --row 3 --col Q2 --no-values | id
rm kept.csv
dtx why cost.csv --row 1 --col Q1 --json | grep -A 30 '"cells"' | grep -E '"(cell|value|column|class)"'
dtx why cost.csv --row 4 --col Q2 || echo "exit $?"
dtx why cost.csv --row 1 --col Q3 || echo "exit $?"
dtx why cost.csv D9 || echo "exit $?"
dtx why cost.csv || echo "exit $?"
# through repairs of a workbook and columns made rows
cp "$FIX/xlsx/report.xlsx" "$FIX/plans/utilisation.json" .
dtx run utilisation.json report.xlsx -o tidy.csv
dtx why tidy.csv --row 3 --col utilisation | id | head -5
dtx why tidy.csv --row 1 --col Region | id | head -4
# a step whose rows are of the whole table; an input that is changed
printf 'k,v\na,1\nb,2\n' > w.csv
echo '{"dtx":1,"inputs":[{"name":"main"}],"steps":[{"op":"describe"}]}' > w.json
dtx run w.json w.csv -o wo.csv
dtx why wo.csv B2 | id
echo 'A,1' >> rates.csv
dtx why cost.csv B2 || echo "exit $?"
