. "$LIB"
dtx convert "$FIX/xlsx/ledger.xlsx" --to csv
