. "$LIB"
ids() { sed -E 's/[0-9a-f]{8}([0-9a-f]{8})?/ID/g'; }
printf 'k,v\na,1\nb,2\n' > in.csv
echo '{"dtx":1,"inputs":[{"name":"main","path":"in.csv"}],"steps":[{"op":"frobnicate"}]}' > plan.json
printf 'FORMULAS = {"w": "v * 2"}\ndef transform(tables, params):\n    df = tables["main"].copy()\n    df["w"] = df["v"] * 2\n    return df\n' > double.py
printf 'def transform(tables, params):\n    df = tables["main"].copy()\n    df["first"] = df.iloc[:, 0]\n    return df\n' > first.py
# NAME: what import.jsonl holds is approved in a store of its own and runs on in.csv
use() {
	dtx snippet import import.jsonl --store "$1.db" > /dev/null
	dtx snippet list --store "$1.db" | cut -c1-8 | xargs "$DTX" snippet approve --store "$1.db"
	dtx run plan.json --store "$1.db" -o - 2>&1 | ids
}
echo '# as it was exported'
dtx run plan.json --snippet double.py -o /dev/null
dtx snippet export > import.jsonl
use whole
echo '# a column more: another schema, for which nobody has read the code'
printf 'k,v,x\na,1,2\n' > more.csv
dtx run plan.json more.csv -o - 2>&1
dtx run plan.json more.csv --store whole.db -o - 2>&1 | head -1 | ids
echo '# it says something else than the code'
sed -E 's/"formulas":\{[^}]*\}/"formulas":{"w":"v"}/' import.jsonl > other.jsonl && mv other.jsonl import.jsonl
use formulas
dtx snippet export > import.jsonl
sed -E 's/\["v","num"\]//' import.jsonl > other.jsonl && mv other.jsonl import.jsonl
grep -c '"cols":\[\]' import.jsonl
use needs
echo '# read here, it is believed again'
dtx snippet show "$(dtx snippet list --store needs.db | cut -c1-8)" --store needs.db --code > code.py
dtx snippet add code.py --plan plan.json in.csv --store needs.db 2>&1 | grep -o 'works and waits for approval'
dtx snippet list --store needs.db | cut -c1-8 | xargs "$DTX" snippet approve --store needs.db
dtx run plan.json --store needs.db -o -
dtx run plan.json more.csv --store needs.db -o -
dtx verify --store needs.db | cut -d: -f1
echo '# a position'
dtx run plan.json --namespace position --snippet first.py -o /dev/null
dtx snippet export $(dtx snippet list | grep position | cut -c1-8) > import.jsonl
sed -i 's/{"dtx":1/{"dtx":1,"name":"position"/' plan.json
use position
dtx snippet show $(dtx snippet list --store position.db | cut -c1-8) --store position.db | grep -E '^(flags|order)'
sed -E 's/\["positional"\]/[]/' import.jsonl > other.jsonl && mv other.jsonl import.jsonl
use flags
printf 'v,k\n1,a\n' > in.csv
dtx run plan.json --store flags.db -o - 2>&1 | ids
dtx run plan.json --store position.db -o - 2>&1 | head -1 | ids
