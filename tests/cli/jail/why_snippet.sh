. "$LIB"
id() { sed -E 's/run [0-9a-f]{8}/run ID/; s/^snippet     [0-9a-f]{8}/snippet     ID/'; }
# columns alone, and how they are known
cp "$FIX/xlsx/weeks.xlsx" "$FIX/plans/balance.json" "$FIX/snippets/balance.txt" .
dtx run balance.json weeks.xlsx --snippet balance.txt -o b.csv -q
dtx why b.csv --row 1 --col state | id
dtx why b.csv D2 | id
dtx why b.csv D2 --json | grep '"class"'
sed 's/^FORMULAS = .*/FORMULAS = {"balance": "clip of booked - planned"}/' balance.txt > said.txt
dtx run balance.json weeks.xlsx --snippet said.txt -o c.csv -q --store other.db
dtx why c.csv E2 --store other.db | id
dtx why-not b.csv 'Weeks!A3' || echo "exit $?"
