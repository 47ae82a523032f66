. "$LIB"
cp "$FIX/xlsx/weeks.xlsx" "$FIX/plans/balance.json" .
dtx prompt balance.json weeks.xlsx > prompt.txt
grep -c . prompt.txt > /dev/null
grep -E '^(You write|INTERFACE|INPUT|TASK|OUTPUT|RULES|FORMAT)' prompt.txt
dtx prompt balance.json weeks.xlsx | cmp - prompt.txt && echo "same bytes"
grep -c Blue prompt.txt || echo "no cell value in it"
