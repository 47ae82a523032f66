. "$LIB"
dtx run "$FIX/plans/survey.json"
