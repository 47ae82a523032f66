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
# bytes before the archive, as unzip passes them: a mark, a stray line, what a web server said
book="$FIX/xlsx/timesheet.xlsx"
{ printf '\357\273\277'; cat "$book"; } > mark.xlsx
{ printf 'HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n\r\n'; cat "$book"; } > answer.csv
for f in mark.xlsx answer.csv; do dtx convert $f --to csv 2>err | cmp - a.csv && echo "$f is the same"; grep begins err; done
dtx inspect mark.xlsx --json 2>&1 | grep -om1 'the workbook begins after 3 bytes that do not belong to it'
printf 'k,v\nPK\005\006aaaaaaaaaaaaaaaaaaaaaaaaaa,1\n' | dtx convert - --to csv | wc -l
