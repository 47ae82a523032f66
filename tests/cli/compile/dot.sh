. "$LIB"
# Inputs, steps and outputs as a graph.
cat > plan.json <<'END'
{"dtx": 1, "inputs": [{"name": "main"}, {"name": "names"}],
 "steps": [{"op": "filter", "where": "k == \"a\""}, {"op": "left_join", "with": "names", "on": "k"}]}
END
dtx compile --to dot plan.json
