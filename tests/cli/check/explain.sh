. "$LIB"
dtx explain "$FIX/plans/cost.json" --threads 2
echo "-- with files"
dtx explain "$FIX/plans/cost.json" "$FIX/csv/hours.csv" --threads 2 | head -12
echo "-- run"
printf '[{"op":"filter","where":"hours > 1"},{"op":"limit","n":5}]' > plan.json
dtx explain plan.json "$FIX/csv/hours.csv" --analyze --threads 1 | sed -E 's,[0-9]+[.][0-9] MB,N MB,g' | plain
echo "-- what needs a snippet is not run"
dtx explain "$FIX/plans/balance.json" --analyze || echo "exit $?"
