. "$LIB"
# // and % of ints are the same in SQL; those of other numbers are refused, for SQL has no digits of a double
plan() {
	echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"a": "'$1'", "b": "'$1'"}}],
		"steps": [{"op": "derive", "set": {"q": "a // b", "r": "a % b", "m": "mod(a, b)"}}]}' > plan.json
}
plan int
printf 'a,b\n7,2\n-7,2\n7,-2\n-7,-2\n6,3\n-6,3\n5,0\n9007199254740993,1\n9007199254740993,10\n,3\n' > in.csv
dtx run -q plan.json in.csv --to csv > dtx.csv
dtx compile --to sql plan.json > plan.sql
/usr/bin/python3 -c 'import csv, sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE main(a INT, b INT)")
db.executemany("INSERT INTO main VALUES(nullif(?, char()), nullif(?, char()))", list(csv.reader(open("in.csv")))[1:])
rows = [["" if c is None else str(c) for c in r] for r in db.execute(open("plan.sql").read())]
said = list(csv.reader(open("dtx.csv")))[1:]
print(rows == said)
print(*said, sep="\n")'
plan float
dtx compile --to sql plan.json || echo "exit $?"
plan 'decimal(9,2)'
dtx compile --to sql plan.json || echo "exit $?"
