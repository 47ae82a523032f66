. "$LIB"
dtx run "$FIX/plans/utilisation.json"
