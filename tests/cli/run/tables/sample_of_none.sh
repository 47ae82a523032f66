# Drawing with replacement from no rows needs no memory, however many rows are asked for.
printf 'a,b\n' > in.csv
cat > plan.json <<'J'
{"dtx": 1, "steps": [{"op": "sample", "n": 2147483647, "replace": true, "seed": 1}]}
J
"$DTX" run --memory 1G plan.json in.csv
