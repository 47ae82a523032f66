. "$LIB"
dtx check "$FIX/plans/balance.json" || echo "exit $?"
dtx check "$FIX/plans/balance.json" --typed || echo "exit $?"
