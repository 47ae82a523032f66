. "$LIB"
# one line for each kind of warning, the most serious first, with how many and one place
try() {
	echo "$*" >&2
	dtx "$@" > out.txt || echo "exit $?" >&2
}
printf '{"id":1,"x":1,"y":"a","z":0}\n{"id":2,"x":"b","y":2,"z":0}\n{"id":3,"x":3,"y":"c","z":5}\n' > in.jsonl
echo '[{"op":"derive","set":{"d":"id / z","e":"id // z","up":"upper(x)","low":"lower(y)"}},{"op":"filter","where":"d > 0"}]' > plan.json
try run plan.json in.jsonl
try run plan.json in.jsonl -q
# all of them for programs and in the record
try run plan.json in.jsonl --errors=json
try run plan.json in.jsonl --record record.json -q -o out.csv
grep -c '"code": "mixed_types"' record.json
try inspect in.jsonl
# mixed types: where a step names the column, or values are written
echo '[{"op":"filter","where":"id > 1"}]' > other.json
try run other.json in.jsonl
try run other.json in.jsonl --verbose
try run other.json in.jsonl --to json
try convert in.jsonl --to csv
try convert in.jsonl -o out.xlsx
echo '[{"op":"rename","map":[{"from":"x","to":"v"}]},{"op":"filter","where":"v == '"'b'"'"}]' > renamed.json
try run renamed.json in.jsonl
echo '[{"op":"drop","cols":["x","y"]}]' > dropped.json
try run dropped.json in.jsonl
# an assumed header: where no step names a column of it, or the names are written into each row
printf 'name,city\nann,rome\nbob,oslo\n' > text.csv
cp text.csv text2.csv
echo '[{"op":"limit","count":1}]' > limit.json
echo '[{"op":"filter","where":"city == '"'rome'"'"}]' > named.json
echo '[{"op":"rename","map":[{"from":"city","to":"town"}]}]' > renamed.json
try convert text.csv
try convert text.csv -o out.xlsx
try convert text.csv --to jsonl
try run limit.json text.csv
try run named.json text.csv
try run renamed.json text.csv
try run named.json 'text*.csv'
try run limit.json 'text*.csv'
