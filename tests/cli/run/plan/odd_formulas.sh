. "$LIB"
# A legal formula with a meaning that hardly anybody wants warns once, in run as in check.
printf 'k,2023,2024,day\na,5,8,31/12/2023\nb,1,2,2/1/2024\n' > in.csv
try() {
	echo "# $1"
	echo '{"dtx":1,"inputs":[{"name":"main"}],"steps":['"$1"']}' > plan.json
	dtx run plan.json in.csv 2> run.txt || echo "exit $?"
	cat run.txt
	dtx check plan.json in.csv > check.txt 2>&1 || echo "check $?"
	grep -c warning check.txt || true
}
try '{"op":"derive","set":{"growth":"2024 - 2023"}}'
try '{"op":"derive","set":{"growth":"`2024` - `2023`"}}'
try '{"op":"derive","set":{"twice":"k = \"k\" or k = \"a\""}}'
try '{"op":"filter","where":"\"k\" == '"'a'"'"}'
try '{"op":"filter","where":"k == \"a\""}'
try '{"op":"filter","where":"day >= '"'2024-01-01'"'"}'
try '{"op":"filter","where":"date(day, '"'%d/%m/%Y'"') >= '"'2024-01-01'"'"}'
try '{"op":"filter","where":"\"n\" > 0"}'
try '{"op":"derive","set":{"m":"\"n\" * 2"}}'
