. "$LIB"
dtx convert "$FIX/json/orders.jsonl" -o orders.csv
head -4 orders.csv
dtx convert orders.csv orders.xlsx
dtx convert orders.xlsx back.csv
head -4 back.csv
dtx convert "$FIX/xlsx/timesheet.xlsx" --to csv > a.csv
dtx convert "$FIX/xlsx/timesheet-1904.xlsx" --to csv > b.csv
cmp a.csv b.csv && echo "both epochs agree"
head -4 a.csv
dtx convert "$FIX/xlsx/inventory.xlsx" --sheet Warehouses --to text
dtx convert "$FIX/xlsx/inventory.xlsx" --sheet Warehouses -o w.md -q
cat w.md
dtx convert "$FIX/xlsx/inventory.xlsx" --sheet 9 || echo "exit $?"
