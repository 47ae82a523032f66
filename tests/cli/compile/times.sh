. "$LIB"
# A date beside a datetime is its midnight, in SQL too; options that a translation has no form for are refused.
printf 'd,p\n2024-11-30,2024-11-30T00:00:00\n2024-11-30,2024-11-30T08:00:00\n2024-12-01,2024-11-30T23:59:59\n' > main.csv
try() {
	echo "# $1"
	printf '{"dtx":1,"inputs":[{"name":"main","path":"main.csv","types":[{"name":"d","type":"date"},{"name":"p","type":"datetime"}]}],
		"steps":[{"op":"filter","where":"%s"}]}' "$1" > plan.json
	dtx run -q plan.json main.csv | sed 1d | tr '\n' ' ' && echo
	dtx compile --to sql plan.json > plan.sql || return 0
	/usr/bin/python3 -c 'import csv, sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE main (d TEXT, p TEXT)")
db.executemany("INSERT INTO main VALUES (?, ?)", list(csv.reader(open("main.csv")))[1:])
print(*(",".join(row) for row in db.execute(open("plan.sql").read())))'
}
try "p > d"
try "p = d"
try "p in (d, '2024-11-30T08:00:00')"
try "p between d and '2024-11-30T12:00:00'"
try "p <= '2024-11-30'"
try "d >= '2024-12-01'"
try "p <= '2024-11-30 08:00:00'"
for option in '"overflow":"float"' '"div_zero":"error"'; do
	echo '{"dtx":1,"options":{'"$option"'},"inputs":[{"name":"main","types":[{"name":"x","type":"int"}]}],"steps":[{"op":"filter","where":"x > 1"}]}' > plan.json
	for to in pandas sql; do dtx compile --to $to plan.json && echo "exit 0" || echo "$to exit $?"; done
done
