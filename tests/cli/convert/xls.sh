. "$LIB"
for b in report ledger timesheet-1904; do
	dtx convert "$FIX/xls/$b.xls" -o old.csv
	dtx convert "$FIX/xlsx/$b.xlsx" -o new.csv 2> new.err
	cmp old.csv new.csv && echo "$b: as the .xlsx"
	dtx inspect --cells "$FIX/xls/$b.xls" > old.cells
	dtx inspect --cells "$FIX/xlsx/$b.xlsx" > new.cells
	cmp old.cells new.cells && wc -l < old.cells
done
dtx convert "$FIX/xls/ledger.xls" --sheet 2 --to text
dtx convert "$FIX/xls/ledger.xls" --sheet 3 || echo "exit $?"
head -c 5000 "$FIX/xls/ledger.xls" > cut.xls
dtx convert cut.xls -o cut.csv || echo "exit $?"
ls cut.csv 2> /dev/null || echo "nothing written"
dtx convert - --to csv < "$FIX/xls/timesheet-1904.xls" | head -2
