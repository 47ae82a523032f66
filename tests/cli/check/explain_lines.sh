. "$LIB"
# a name or a note cannot make lines of an explanation, nor steer a terminal, also where a pager shows it
printf 'a,"b\nc"\n1,2\n' > in.csv
cat > plan.json <<'EOF'
{"dtx": 1, "steps": [{"op": "rename", "map": {"a": "x\n2 filter       map     keep rows"}},
  {"op": "checkpoint", "label": "\u001b[8mhidden\u202e", "note": "one\n3 drop"}, {"op": "derive", "set": {"y\nz": "`b c` + 1"}}]}
EOF
dtx explain plan.json in.csv
