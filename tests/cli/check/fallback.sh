. "$LIB"
dtx check "$FIX/plans/balance.json"
dtx check "$FIX/plans/balance.json" --typed || echo "exit $?"
