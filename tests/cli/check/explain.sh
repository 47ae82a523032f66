. "$LIB"
dtx explain "$FIX/plans/cost.json" --threads 2
echo "-- with files"
dtx explain "$FIX/plans/cost.json" "$FIX/csv/hours.csv" --threads 2 | head -12
echo "-- run"
printf '[{"op":"filter","where":"hours > 1"},{"op":"limit","n":5}]' > plan.json
dtx explain plan.json "$FIX/csv/hours.csv" --analyze --threads 1 | sed -E 's,[0-9]+[.][0-9] MB,N MB,g' | plain
echo "-- what needs a snippet is not run"
dtx explain "$FIX/plans/balance.json" --analyze || echo "exit $?"
echo "-- the plan's own memory limit"
echo '{"dtx":1,"steps":[{"op":"sort","by":["hours"]}],"limits":{"memory_mb":64}}' > plan.json
dtx explain plan.json --memory 1G --threads 1 | tail -1
dtx explain plan.json "$FIX/csv/hours.csv" --analyze --memory 32M --threads 1 | grep -o "memory limit.*"
dtx schema --explain --op sort || echo "exit $?"
echo "-- the row that a join in time adds"
for dir in backward forward nearest; do
	echo '{"dtx":1,"inputs":[{"name":"main"},{"name":"r"}],"steps":[{"op":"asof_join","with":"r","on":{"left":"a","right":"b"},"by":"k","dir":"'$dir'"}]}' > plan.json
	dtx explain plan.json --threads 1 | grep "^1 asof"
done
