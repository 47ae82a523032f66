# a value column that no later step reads is neither cast nor read by pivot_longer
. "$LIB"
printf 'k\n' > in.csv
printf 'k,w\na,1\nb,2\n' > side.csv
cat > plan.json <<'P'
{ "dtx": 1, "inputs": [{ "name": "main" }, { "name": "side" }],
  "steps": [
    { "op": "union", "with": ["side"], "source_as": "src" },
    { "op": "cast", "types": [{ "name": "src", "type": "int", "on_error": "null" }] },
    { "op": "pivot_longer", "cols": ["w", "src"], "names_to": [".value", "p"], "names_pattern": "(.)(.*)" },
    { "op": "group_by", "by": "k", "agg": { "n": "count(w)" } } ] }
P
dtx run -q --fallback off plan.json in.csv side=side.csv
