. "$LIB"
cp "$FIX/xlsx/weeks.xlsx" "$FIX/plans/balance.json" .
try() {
	dtx run balance.json weeks.xlsx --snippet "$1" -o out.csv 2> err.txt || echo "$1: exit $?"
	head -1 err.txt | plain
}
echo 'no code here' > nothing.txt
printf 'def transform(tables, params):\n    return 1 +\n' > syntax.py
printf 'import os\ndef transform(tables, params):\n    return tables["main"]\n' > import.py
printf 'def transform(tables, params):\n    return tables["main"]["nosuch"]\n' > raises.py
printf 'def transform(tables, params):\n    return 7\n' > result.py
printf 'def transform(tables, params):\n    return tables["main"][["team"]]\n' > contract.py
printf 'def transform(tables, params):\n    raise ValueError("DTX_CANNOT: no plan column")\n' > cannot.py
for f in nothing.txt syntax.py import.py raises.py result.py contract.py cannot.py; do try $f; done
ls out.csv 2> /dev/null || echo "no output"
