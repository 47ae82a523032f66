. "$LIB"
dtx inspect "$FIX/csv/bank.csv" || echo "exit $?"
dtx inspect "$FIX/csv/bank.csv" --encoding windows-1252
