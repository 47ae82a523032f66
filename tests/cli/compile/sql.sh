. "$LIB"
# One statement, an expression per step; what SQL cannot say is refused by name.
cat > plan.json <<'END'
{"dtx": 1, "inputs": [{"name": "main", "types": {"k": "text", "n": "int"}},
                      {"name": "names", "types": {"k": "text", "label": "text"}}],
 "steps": [{"op": "filter", "where": "n > 1 or n is null"},
           {"op": "derive", "set": {"m": "n * 2", "o": "m / 3"}},
           {"op": "left_join", "with": "names", "on": "k"},
           {"op": "group_by", "by": ["label"], "agg": {"s": "sum(o, where: n < 9)", "c": "count()"}, "order": "sorted"}]}
END
dtx compile --to sql plan.json
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "limit", "n": 1}]}' > open.json
dtx compile --to sql open.json || echo "exit $?"
echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"k": "text"}}], "steps": [{"op": "transpose"}]}' > none.json
dtx compile --to sql none.json || echo "exit $?"
