. "$LIB"
cat > plan.json <<'P'
{ "dtx": 1, "inputs": [{"name": "main", "requires": ["hours", "rate"], "extra": "drop"}],
  "steps": [
    {"op": "derive", "set": [{"as": "cost", "expr": "hour * rate"}, {"as": "x", "expr": "1 +"}]},
    {"op": "filter", "where": "rate + 1"},
    {"op": "sort", "by": ["-cost"], "limit": "ten"},
    {"op": "filter", "wher": "hours > 1"},
    {"op": "group_by", "by": ["rate"], "agg": [{"as": "c", "expr": "hours + 1"}]} ] }
P
dtx check plan.json || echo "exit $?"
dtx check plan.json --errors=json 2> found.jsonl || true
wc -l < found.jsonl
