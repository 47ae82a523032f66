. "$LIB"
cp "$FIX/xlsx/weeks.xlsx" "$FIX/snippets/balance.txt" "$FIX/plans/balance.json" .
dtx convert weeks.xlsx -o weeks.csv
sed 's/"path": "[^"]*"/"path": "weeks.csv"/' balance.json > plan.json
short() { sed -E 's/\b[0-9a-f]{8}([0-9a-f]{8})?\b/ID/g; s/[fi]1:[0-9a-f]{64}/KEY/; s/[0-9a-f]{64}/HASH/; s/jail [0-9.]+ s/jail N s/; s/last .*/last DAY/; s/tokens [0-9]+ /tokens N /; s/ [0-9]+ tokens/ N tokens/'; }
dtx run plan.json --snippet balance.txt -o out.csv
echo '# a column has another name: a proposal, never a guess'
sed '1s/planned/target/' weeks.csv > drift.csv
dtx run plan.json drift.csv -o drift.out.csv 2>&1 | short
dtx run plan.json drift.csv -o drift.out.csv --errors=json 2>&1 | grep -o '"rename":{[^}]*}'
id=$(dtx snippet list | cut -c1-8)
dtx snippet adopt "$id" --rename planned=target --plan plan.json drift.csv 2> /dev/null
dtx snippet list | short
new=$(dtx snippet list --state pending | cut -c1-8)
dtx snippet diff "$id" "$new" | short
dtx run plan.json drift.csv -o drift.out.csv 2>&1 | grep needs_approval | short
dtx snippet approve "$new"
dtx run plan.json drift.csv -o drift.out.csv && cmp out.csv drift.out.csv && echo "the same result"
echo '# to another store and back'
dtx snippet export > all.jsonl
dtx snippet import all.jsonl --store other.db | short
dtx run plan.json drift.csv --store other.db -o other.csv 2>&1 | grep needs_approval | short
sed 's/target/tarmac/' all.jsonl | dtx snippet import - --store third.db 2>&1 | short
echo '# what recurs'
dtx stats | short
dtx stats --op weekly_balance | grep -c '^  parameter'
dtx stats --op nothing 2>&1 || echo "exit $?"
echo '# what nobody needs'
printf 'def transform(tables, params):\n    return tables["main"][["team"]]\n' > bad.py
dtx run plan.json weeks.csv --namespace other --snippet bad.py 2> /dev/null || echo "exit $?"
dtx snippet gc --older-than 30d
dtx snippet gc --older-than 0d | short
dtx snippet gc --older-than 0d --apply | short
dtx snippet gc --older-than 0d
dtx verify | sed 's/: dtx1.*//'
dtx snippet adopt "$id" 2>&1 | head -1
dtx snippet diff "$id" 2>&1 | head -1
dtx snippet show "$id" --prompt 2>&1 | short
