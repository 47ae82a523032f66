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
# an int beside floats is a float, in each way a value can be chosen, and so is what fills or joins a column of floats
cat > widened.json <<'END'
{"dtx": 1, "inputs": [{"name": "main", "types": {"f": "float", "n": "int"}}], "steps": [
 {"op": "derive", "set": [{"as": "a", "expr": "clamp(f, 0, 100)"}, {"as": "b", "expr": "clamp(n, 0.5, 10)"},
  {"as": "c", "expr": "coalesce(f, n, 0)"}, {"as": "d", "expr": "if(f > 2, f, n)"},
  {"as": "e", "expr": "case when f > 2 then 1 when f < 0 then f else -n end"},
  {"as": "g", "expr": "switch(n, 3, 1, 7, 2.5, n)"}, {"as": "h", "expr": "clamp(f, 0, 100)"},
  {"as": "i", "expr": "clamp(n, 0, 10)"}, {"as": "k", "expr": "if(n > 3, 'x', 'y')"}]},
 {"op": "fill_null", "cols": ["f"], "value": 0}, {"op": "fill_null", "cols": ["n"], "expr": "f * 2"},
 {"op": "fill_null", "cols": ["a"], "expr": "i"}, {"op": "derive", "set": {"m": "n"}},
 {"op": "drop", "cols": ["n"]}]}
END
cat > wider.json <<'END'
{"dtx": 1, "inputs": [{"name": "main", "types": {"f": "float", "n": "int"}}], "steps": [
 {"op": "derive", "set": {"k": "if(n > 3, 'x', 'y')"}}, {"op": "pivot_wider", "id": ["n"], "names_from": "k", "names": ["x", "y"],
  "values_from": "f", "agg": "max", "fill": 0}]}
END
cat > longer.json <<'END'
{"dtx": 1, "inputs": [{"name": "main", "types": {"f": "float", "n": "int"}}], "steps": [
 {"op": "pivot_longer", "cols": ["n", "f"]}, {"op": "derive", "set": {"t": "value"}},
 {"op": "group_by", "by": ["t"], "agg": {"m": "clamp(max(value), 0, 10)"}}]}
END
cat > union.json <<'END'
{"dtx": 1, "inputs": [{"name": "ints", "types": {"f": "int"}}, {"name": "main", "types": {"f": "float", "n": "int"}}],
 "steps": [{"op": "union", "with": "main"}, {"op": "derive", "set": {"t": "f"}}, {"op": "drop", "cols": ["f"]}]}
END
printf 'f\n12\n' > ints.csv
printf 'f,n\n2.5,3\n,7\n-1.0,\n200.25,50\n' > in.csv
for plan in widened wider longer union; do
	dtx run -q $plan.json $([ $plan != union ] || echo ints.csv main=)in.csv --to csv > dtx.csv
	dtx compile --to sql $plan.json > plan.sql
	/usr/bin/python3 -c 'import csv, sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE main(f REAL, n INT)")
db.executemany("INSERT INTO main VALUES(nullif(?, char()), nullif(?, char()))", list(csv.reader(open("in.csv")))[1:])
db.execute("CREATE TABLE ints AS SELECT 12 AS f")
rows = [["" if c is None else str(c) for c in r] for r in db.execute(open("plan.sql").read())]
said = list(csv.reader(open("dtx.csv")))
print([(h, s, r) for ss, rr in zip(said[1:], rows) for h, s, r in zip(said[0], ss, rr) if s != r] or "the same", rows[1])'
done
# the function that has no form is named
for f in 'try(int(k))' 'concat(k, n)' 'int(k)' 'text(n / 3)' 'roll_std(n, 3)' 'lag(n, ignore_nulls: true)' 'source_row()'; do
	echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"k": "text", "n": "int"}}], "steps": [{"op": "derive", "set": {"x": "'"$f"'"}}]}' > f.json
	dtx compile --to sql f.json || echo "exit $?"
done
dtx compile --to pandas f.json > /dev/null || echo "exit $?"
# names that SQL does not tell apart, or that the statement needs
for names in k,K _Row,n k,_w1; do
	printf '%s\n1,2\n' "$names" > names.csv
	dtx compile --to sql open.json names.csv || echo "exit $?"
done
# decimals are not added exactly in SQLite
for f in 'p + 0.1' 'sum(p)' 'cum_sum(p)' 'max(p) - min(p)'; do
	echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"p": "decimal(12,2)"}}], "steps": [{"op": "window", "set": {"x": "'"$f"'"}}]}' > f.json
	dtx compile --to sql f.json 2>&1 | head -1
done
