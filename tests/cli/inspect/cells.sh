. "$LIB"
dtx inspect --cells "$FIX/xlsx/ledger.xlsx" | head -40
dtx inspect --cells "$FIX/xlsx/report.xlsx" | grep merged | grep -v null
dtx inspect --cells "$FIX/xlsx/timesheet.xlsx" | sed -n '8,14p'
printf '<html><table><tr><td>1</td></tr></table></html>' > page.xls
dtx inspect --cells page.xls || echo "exit $?"
# beyond all integers
printf 'n\n1e20\n-2.5e19\n' > large.csv
dtx convert -q large.csv -o large.xlsx && dtx inspect --cells large.xlsx
