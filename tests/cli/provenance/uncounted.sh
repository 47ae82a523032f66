# what a failed run did not come to count is null, not nought
. "$LIB"
printf 'a,b\nx,2\n5,3\n' > in.csv
echo '{"dtx":1,"steps":[{"op":"derive","set":{"c":"int(a)"}}]}' > plan.json
dtx run -q --fallback off plan.json in.csv -o out.csv 2> /dev/null && echo wrong
dtx provenance --json > record.json
grep -o '"rows": *[a-z0-9]*\|"columns": *[a-z0-9]*' record.json
dtx provenance --prov | grep -c 'dtx:rows' || true
dtx schema --record > schema.json
/usr/bin/python3 -c 'import json, jsonschema
jsonschema.validate(json.load(open("record.json")), json.load(open("schema.json")))
print("valid")'
