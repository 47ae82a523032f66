# The SQL of // holds its arguments several times: nested, it is refused once it is longer than any database takes.
nested=a$(printf ' // a%.0s' $(seq 40))
cat > plan.json <<J
{"dtx": 1, "inputs": [{"name": "main", "path": "in.csv", "types": [{"name": "a", "type": "int"}]}],
 "steps": [{"op": "derive", "set": {"z": "$nested"}}]}
J
"$DTX" compile plan.json --to snippet | grep -c 'dx.floordiv'
"$DTX" compile plan.json --to sql
