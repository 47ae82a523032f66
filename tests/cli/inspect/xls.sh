. "$LIB"
dtx inspect "$FIX/xls/ledger.xls" --rows 3
dtx inspect --cells "$FIX/xls/report.xls" | grep merged | grep -v null
