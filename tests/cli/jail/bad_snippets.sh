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
# Python ends a comment at CR too, and a person would not see that the rest of the line runs
printf 'def transform(tables, params):\n    # a note \r    return 7\n' > return.py
printf 'def transform(tables, params):\n    return 7 # \342\200\256 note\n' > bidi.py
for f in return.py bidi.py nothing.txt syntax.py import.py raises.py result.py contract.py cannot.py; do try $f; done
ls out.csv 2> /dev/null || echo "no output"
