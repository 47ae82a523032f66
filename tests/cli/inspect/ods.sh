. "$LIB"
# an .ods has the cells of the .xlsx of the same book, but for how number formats are spelled, and TRUE() as a formula
for book in report ledger timesheet; do
	for kind in ods xlsx; do
		"$DTX" inspect --cells "$FIX/$kind/$book.$kind" | sed 's/"formula":.*"merged"/"merged"/' > $kind
	done
	cmp ods xlsx && wc -l < ods
done
# repeated rows, merged cells, hidden rows, columns and sheets, comments, durations, errors
dtx inspect "$FIX/ods/mix.ods" | head -3
dtx convert "$FIX/ods/mix.ods" -
dtx convert -q "$FIX/ods/mix.ods" - --sheet Secret
dtx convert -q "$FIX/ods/mix.ods" - --range A1:B3 --from ods < /dev/null
# cells are cited; what is no spreadsheet, or cut, is refused
cp "$FIX/ods/ledger.ods" l.ods
echo '{"dtx":1,"steps":[{"op":"derive","set":{"twice":"Balance * 2"}},{"op":"head","n":3}]}' > p.json
dtx run -q p.json l.ods -o out.csv && "$DTX" why out.csv --row 2 --col twice | grep '^cells'
"$DTX" replay out.csv | grep -o '^identical'
head -c 9000 l.ods > cut.ods && dtx convert cut.ods - || echo "exit $?"
