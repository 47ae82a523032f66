. "$LIB"
# A snippet whose result is its input is told of each time; the plan's check knows which snippets fit.
printf 'id,amount,day\n1,2.50,2024-01-05\n2,,2024-01-06\n' > in.csv
echo '{"dtx":1,"steps":[{"op":"keep_good"}]}' > plan.json
printf 'def transform(tables, params):\n    return tables["main"]\n' > same.py
printf 'def transform(tables, params):\n    return tables["main"].dropna()\n' > good.py
ids() { sed -E 's/snippet (show |revoke |approve )?[0-9a-f]{8,16}/snippet \1ID/g'; }
dtx check plan.json in.csv > /dev/null 2>&1 || echo "check $?"
dtx run plan.json in.csv --snippet same.py -o out.csv 2> err.txt || echo "exit $?"
ids < err.txt >&2
dtx check plan.json in.csv 2>&1 | ids
dtx provenance out.csv | grep -o 'snippet_unchanged'
echo '# what waits for approval says what became of the table; so does the check'
dtx run plan.json in.csv --namespace other --snippet good.py --approve require 2>&1 | head -1 | ids
dtx run plan.json in.csv --namespace third --snippet same.py --approve require 2>&1 | head -1 | ids
sed 's/"dtx":1,/"dtx":1,"name":"third",/' plan.json > third.json
dtx check third.json in.csv > /dev/null 2>&1 || echo "check $?"
dtx run third.json in.csv 2>&1 | grep -c -e '^dtx: needs a snippet: unknown_op' -e '^dtx: needs_approval'
