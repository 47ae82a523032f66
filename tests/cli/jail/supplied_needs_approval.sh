. "$LIB"
cp "$FIX/xlsx/weeks.xlsx" "$FIX/snippets/balance.txt" "$FIX/plans/balance.json" .
dtx snippet add balance.txt --plan balance.json weeks.xlsx 2>&1 | plain
dtx run balance.json weeks.xlsx -o out.csv > /dev/null 2>&1 || echo "exit $?"
id=$(dtx snippet list | cut -c1-8)
dtx snippet approve "$id" --note "read it"
dtx run balance.json weeks.xlsx -o out.csv && head -2 out.csv
dtx snippet revoke "$id"
dtx run balance.json weeks.xlsx --snippet balance.txt -o out.csv 2> /dev/null || echo "exit $?"
