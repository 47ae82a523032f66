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
# no step where the number would say less than its text, or would fail
printf 'phone;id;zip;paid;share;rate\n+15550100;123456789012345678901;01234;$5;12%%;1,5\n+15550199;7;00099;€6;0.5;2,25\n' > more.csv
dtx inspect more.csv --plan > plan.json
tr -d ' \n' < plan.json | grep -o '"steps.*'
dtx run plan.json more.csv --to csv
# moments keep their time; NA stands for a missing number in one column, for a country in the other
printf 'when;n;land\n31.12.2024 10:30;5;NA\n30.11.2024 09:15;NA;FR\n1.2.2024 00:00;7;DE\n' > land.csv
dtx suggest land.csv 2> /dev/null > plan.json
tr -d ' \n' < plan.json | grep -o '"inputs.*'
dtx run plan.json land.csv --to csv
