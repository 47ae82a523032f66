. "$LIB"
# what the plan declares to be text is not typed anew, on either path
printf 'id,n\n# of shop,\n1e3,5\n2.50,7\n' > in.csv
try() {
	printf '{"dtx":1,"inputs":[{"name":"main","types":[{"name":"id","type":"text"}]},{"name":"side","types":[{"name":"x","type":"text"}]}],"steps":[%s]}' "$1" > plan.json
	dtx compile plan.json --to snippet | grep 'dx\.'
}
for step in '"skip_rows","comment":"#"' '"drop_empty"' '"drop_rows","kinds":["blank"]' '"fill","cols":["id"]' '"blank_down","cols":["id"]' \
	'"split_tables"' '"unmerge"' '"subtitle_to_column"' '"keep_range","range":"A2:B9"' '"promote_header"' '"transpose"'; do
	try '{"op":'"$step"'}'
done
echo "of all inputs that the table is made of"
try '{"op":"join","with":"side","on":[{"left":"id","right":"x"}]},{"op":"drop_empty"}'
echo "what a step makes of texts, and gives other names"
for step in '"cast","types":{"n":"text"}' '"cast","types":{"n":{"type":"int","on_error":"keep_text"}}' '"rename","map":{"id":"no"}' \
	'"derive","set":[{"as":"no","expr":"upper(id)"},{"as":"id","expr":"int(id)"}]' '"extract","col":"id","regex":"(.)","into":["a"]' \
	'"group_by","by":["n"],"agg":[{"as":"most","expr":"max(id)"}]'; do
	try '{"op":'"$step"'},{"op":"drop_empty"}'
done
echo "none is declared to be text"
echo '{"dtx":1,"inputs":[{"name":"main","types":[{"name":"n","type":"int"}]}],"steps":[{"op":"drop_empty"}]}' > plan.json
dtx compile plan.json --to snippet | grep 'dx\.'
echo "the same rows by the engine and by pandas"
try '{"op":"skip_rows","comment":"#"}' > /dev/null
dtx run plan.json main=in.csv side=in.csv -q --fallback off --to jsonl
dtx compile plan.json --to snippet > made.py
PYTHONPATH="$(dirname "$LIB")/../../sandbox/guest/dx" /usr/bin/python3 - <<'END'
import pandas as pd
from made import transform
table = pd.read_csv("in.csv", dtype={"id": object, "n": "Int64"})
print(transform({"main": table}, {}).to_json(orient="records", lines=True), end="")
END
echo "texts that a step has changed stay texts"
for step in '"clean_text","cols":["id"]' '"replace_values","cols":["id"],"map":{"7":"8"}' '"nullify","cols":["id"],"values":["7"]' '"rename","map":{"id":"no"}'; do
	try '{"op":'"$step"'},{"op":"skip_rows","comment":"#"}' > /dev/null
	dtx run plan.json main=in.csv side=in.csv -q --fallback off --to jsonl | head -n 1
done
