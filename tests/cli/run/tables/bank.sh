. "$LIB"
dtx run "$FIX/plans/bank.json"
