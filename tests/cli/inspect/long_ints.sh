. "$LIB"
# Whole numbers beyond 2^53 keep their digits, and none are made up.
printf 'id,n\n1914310000010100024,1\n1914310000010100016,2\n7,3\n' > in.csv
dtx inspect in.csv | grep '  id '
dtx inspect in.csv --json | grep -o '"evidence":"[^"]*"\|"min":[^,]*\|"max":[^,]*' | head -3
dtx convert in.csv -o out.xlsx
dtx convert out.xlsx -o again.csv && cmp in.csv again.csv
