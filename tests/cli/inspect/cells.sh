. "$LIB"
dtx inspect --cells "$FIX/xlsx/ledger.xlsx" | head -40
dtx inspect --cells "$FIX/xlsx/report.xlsx" | grep merged | grep -v null
dtx inspect --cells "$FIX/xlsx/timesheet.xlsx" | sed -n '8,14p'
