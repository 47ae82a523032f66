. "$LIB"
# One statement, an expression per step; what SQL cannot say is refused by name.
cat > plan.json <<'END'
{"dtx": 1, "inputs": [{"name": "main", "types": {"k": "text", "n": "int"}},
                      {"name": "names", "types": {"k": "text", "label": "text"}}],
 "steps": [{"op": "filter", "where": "n > 1 or n is null"},
           {"op": "derive", "set": {"m": "n * 2", "o": "m / 3"}},
           {"op": "left_join", "with": "names", "on": "k"},
           {"op": "group_by", "by": ["label"], "agg": {"s": "sum(o, where: n < 9)", "c": "count()"}, "order": "sorted"}]}
END
dtx compile --to sql plan.json
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "limit", "n": 1}]}' > open.json
dtx compile --to sql open.json || echo "exit $?"
echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"k": "text"}}], "steps": [{"op": "transpose"}]}' > none.json
dtx compile --to sql none.json || echo "exit $?"
# a bool shown as text is a word, also one that the same step made, and whatever its name means later
bools='[{"as":"b","expr":"n > 1"},{"as":"t","expr":"text(b)"},{"as":"u","expr":"text(starts_with(k, k))"},
	{"as":"n","expr":"n > 2"},{"as":"v","expr":"text(n)"},{"as":"n","expr":"text(n)"}]'
echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"k": "text", "n": "int"}}], "steps": [{"op": "derive", "set": '"$bools"'}]}' > bools.json
printf 'k,n\na,1\nb,2\n,3\n,\n' > in.csv
dtx run -q bools.json in.csv --to csv > dtx.csv
dtx compile --to sql bools.json > bools.sql
/usr/bin/python3 -c 'import csv, sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE main(k TEXT, n INT)")
db.executemany("INSERT INTO main VALUES(nullif(?, char()), nullif(?, char()))", list(csv.reader(open("in.csv")))[1:])
rows = db.execute(open("bools.sql").read()).fetchall()
said = list(csv.reader(open("dtx.csv")))[1:]
print([r[3::2] for r in said] == [["" if c is None else c for c in r[3::2]] for r in rows], rows[1])'
# the function that has no form is named
for f in 'try(int(k))' 'concat(k, n)' 'source_row()'; do
	echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"k": "text", "n": "int"}}], "steps": [{"op": "derive", "set": {"x": "'"$f"'"}}]}' > f.json
	dtx compile --to sql f.json || echo "exit $?"
done
dtx compile --to pandas f.json > /dev/null || echo "exit $?"
