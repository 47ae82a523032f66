. "$LIB"
dtx run "$FIX/plans/stock.json" -o stock.jsonl
cat stock.jsonl
