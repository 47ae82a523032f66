. "$LIB"
# Window calls, ranks, medians and top in SQL give what dtx gives: with nulls in keys, order and values, equal rows,
# a large float that leaves a frame, and a column of the order that the step itself sets.
cat > in.csv <<'CSV'
k,n,f,d,b
a,3,0.5,2024-02-01,true
b,1,1e17,2024-01-31,
a,3,0.25,2024-01-01,false
,2,,2024-03-31,true
b,,1.5,,true
a,1,2.75,2023-12-31,
b,1,0.1,2024-02-29,false
,7,-3.5,2024-01-01,false
b,5,0.2,2024-01-31,true
a,,0.75,2024-05-05,true
b,5,,2024-01-30,
CSV
cat > compare.py <<'PY'
import csv, json, os, re, sqlite3, subprocess, sys
plan = dict(json.load(open("inputs.json")), steps=json.loads(sys.argv[1]))
json.dump(plan, open("plan.json", "w"))
said = subprocess.run([os.environ["DTX"], "run", "-q", "plan.json", "in.csv", "--to", "jsonl"], capture_output=True, text=True, check=True).stdout
made = subprocess.run([os.environ["DTX"], "compile", "--to", "sql", "plan.json", "in.csv"], capture_output=True, text=True)
if made.returncode:
    sys.exit(made.stderr.splitlines()[0])
db = sqlite3.connect(":memory:")
db.execute(re.search("CREATE TABLE .*;", made.stdout)[0])
values = list(csv.reader(open("in.csv")))
truth = {"": None, "true": 1, "false": 0}
db.executemany("INSERT INTO main VALUES (%s)" % ", ".join("?" * len(values[0])), [[truth.get(v, v) for v in r] for r in values[1:]])
got = db.execute(made.stdout)
names = [c[0] for c in got.description]
got, said = [dict(zip(names, r)) for r in got], [json.loads(line) for line in said.splitlines()]
other = lambda a, b: a != b and not (isinstance(a, float) and isinstance(b, float) and abs(a - b) <= 1e-14 * abs(b))
print([(r, n, a[n], b[n]) for r, (a, b) in enumerate(zip(said, got)) for n in a if other(a[n], b[n])] if len(said) == len(got) and
      list(said[0]) == names else (len(said), len(got)), len(got), "rows")
PY
echo '{"dtx": 1, "inputs": [{"name": "main", "types": {"k": "text", "n": "int", "f": "float", "d": "date", "b": "bool"}}]}' > inputs.json
same() { /usr/bin/python3 compare.py "$1" || echo "exit $?"; }
calls='"rn": "row_number()", "l": "lag(d)", "l2": "lead(n, 2, 0)", "lf": "lag(f, 1, 0)", "lw": "lag(n, -1, 0.5)", "z": "lead(f, 0)",
	"fd": "fill_down(b)", "fu": "fill_up(n)", "df": "diff(f)", "pc": "pct_change(n, 2)", "cs": "cum_sum(f)", "cm": "cum_mean(n)",
	"c1": "cum_min(d)", "c2": "cum_max(f)", "cc": "cum_count(b)", "c0": "cum_count()", "rs": "roll_sum(f, 2)", "rm": "roll_mean(f, 3, min: 1)",
	"r1": "roll_min(n, 2, 1)", "r2": "roll_max(f, 3, 2)", "sh": "share(n)", "fv": "first_value(f)", "lv": "last_value(d)",
	"nv": "nth_value(n, 2)", "s": "sum(f)", "m": "mean(n)", "c": "count(b, where: n > 1)", "ci": "count_if(f > 1)", "x": "n / max(n)", "ra": "range(f)"'
ranks='"r": "rank()", "dr": "dense_rank()", "pr": "percent_rank()", "cd": "cume_dist()", "ar": "average_rank()", "nt": "ntile(3)"'
same '[{"op": "window", "set": {'"$calls"'}}]'
same '[{"op": "derive", "by": ["k"], "set": {"md": "median(f)", "mw": "median(n, where: b)", "fi": "first(d)", "la": "last(n, where: f < 1)", "far": "f - median(f)"}}]'
same '[{"op": "window", "by": ["k"], "order": ["-n"], "set": {'"$calls, $ranks"'}}]'
same '[{"op": "window", "order": [{"col": "d", "nulls": "first"}, "b"], "set": {'"$calls, $ranks"'}}]'
same '[{"op": "window", "by": ["b"], "order": [{"expr": "n % 3", "desc": true}], "set": {'"$ranks"', "n": "n + 1", "u": "n * 2"}}]'
item() { printf '{"as": "%s", "expr": "%s", "frame": {"rows": %s}}' "$1" "$2" "$frame"; }
for frame in '[-1, 1]' '[null, 0]' '[0, null]' '[-2, -1]' '[1, 2]'; do
	same '[{"op": "window", "by": ["k"], "order": ["d"], "set": ['"$(item s 'sum(f)'), $(item m 'mean(n)'), $(item i 'min(d)'), $(item c 'count()'),
		$(item v 'first_value(f)'), $(item w 'last_value(n)'), $(item y 'nth_value(d, 2)')"']}]'
done
same '[{"op": "group_by", "by": ["k"], "agg": {"md": "median(n)", "mf": "median(f, where: n > 1)", "fi": "first(f)", "la": "last(b)", "ci": "count_if(n > 2)"}}]'
same '[{"op": "group_by", "by": [], "agg": {"md": "median(f)", "any": "any_value(k)"}, "having": "md > 0"}]'
same '[{"op": "group_by", "by": [{"as": "half", "expr": "n // 2"}], "agg": {"md": "median(f) * 2", "lo": "min(d)", "hi": "max(d)"}, "having": "hi - lo >= 0"}]'
for more in '"n": 2' '"n": 3, "by": ["k"], "ties": "all"' '"n": 1, "by": ["k", "b"], "desc": false'; do
	same '[{"op": "top", "expr": "n * 2", '"$more"'}]'
done
same '[{"op": "rank", "expr": "f", "method": "average", "by": ["k"], "desc": true}, {"op": "cumulative", "cols": ["n"], "order": ["d"]}, {"op": "rolling", "cols": ["f"], "n": 2},
	{"op": "lag_lead", "col": "n", "as": "p", "mode": "pct"}, {"op": "percent_of", "col": "n", "as": "q", "by": ["b"]}]'
# what has no form is named
for set in '{"s": "count_distinct(n)"}' '{"s": "median(n)"}' '{"k": "lag(k)", "s": "sum(n)", "t": "s + 1", "k2": "k"}' '{"d": "lag(d)", "s": "lag(d)"}' \
	'[{"as": "s", "expr": "sum(n)", "frame": {"range": ["-7d", "0d"]}}]' '{"s": "cum_sum(n, low: 0)"}' '{"s": "lag(d, 1, '"'2024-01-01'"')"}'; do
	same '[{"op": "window", "by": ["k"], "order": ["d"], "set": '"$set"'}]'
done
