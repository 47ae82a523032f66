. "$LIB"
dtx inspect "$FIX/xlsx/report.xlsx"
