. "$LIB"
cp "$FIX/xlsx/weeks.xlsx" "$FIX/snippets/balance.txt" "$FIX/plans/balance.json" .
dtx run balance.json weeks.xlsx -o out.csv 2> err.txt || echo "exit $?"
plain < err.txt
dtx run balance.json weeks.xlsx --snippet balance.txt -o out.csv
head -4 out.csv
dtx run balance.json weeks.xlsx -o again.csv
cmp out.csv again.csv && echo same
dtx snippet list | sed 's/^[0-9a-f]\{8\}/ID/'
dtx provenance again.csv | plain
