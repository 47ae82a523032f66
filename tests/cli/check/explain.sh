. "$LIB"
dtx explain "$FIX/plans/cost.json"
