. "$LIB"
for f in xlsx/report.xlsx xls/ledger.xls csv/hours.csv; do
	dtx inspect "$FIX/$f" --plan > plan.json 2> warnings
	sed -E "s#\"[^\"]*/($f)\"#\"\1\"#" plan.json
	dtx run plan.json "$FIX/$f" --to csv 2> warnings | head -4
done
dtx inspect "$FIX/csv/bank.csv" --encoding windows-1252 --rows 1 | sed -n '/^profile/,$p'
printf 'code,name,n,when\n01,  a  b ,1,3/4/2024\n02,c,n/a,5/6/2024\n,,,\n03,d,7,1/2/2024\n' > odd.csv
dtx inspect odd.csv --rows 1 | sed -n '/^suggested/,$p'
dtx inspect odd.csv --from csv --delimiter , --skip 1 --header-rows 0 --plan
dtx inspect "$FIX/csv/people.csv" --json | tr -d ' \n' | grep -o '"name":"joined".*"sample"' | head -c 300
