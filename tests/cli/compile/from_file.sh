. "$LIB"
# Names and types of the file, exact ones also where a sample is not enough; dates by their parts; all
# steps without a form are named.
{ echo 'k,n,day,ok'; awk 'BEGIN { for (i = 1; i <= 30000; i++) printf "g%d,%d,2024-%02d-%02d,%s\n", i % 3, i, i % 12 + 1, i % 28 + 1, i % 2 ? "true" : "false" }'; echo 'g1,2.5,,'; } > main.csv
printf 'k,label\ng1,one\ng2,two\n' > names.csv
cat > plan.json <<'END'
{"dtx": 1, "inputs": [{"name": "main"}, {"name": "names"}],
 "steps": [{"op": "left_join", "with": "names", "on": "k"},
           {"op": "derive", "set": {"y": "year(day)", "q": "quarter(day)", "m": "month(day)", "d": "day(day)"}},
           {"op": "filter", "where": "ok or n = 2.5"},
           {"op": "group_by", "by": ["label", "q"], "agg": {"s": "sum(n)", "y": "max(y)", "m": "min(m)", "d": "max(d)", "c": "count()"}}]}
END
dtx run -q plan.json main.csv names=names.csv --to csv > dtx.csv
dtx compile --to sql plan.json main.csv names=names.csv > plan.sql
grep '^-- CREATE' plan.sql
/usr/bin/python3 - <<'END'
import csv, re, sqlite3
db = sqlite3.connect(":memory:")
text = open("plan.sql").read()
for line in re.findall("^-- (CREATE .*)", text, re.M):
    db.execute(line)
def load(name, change):
    head, *rows = csv.reader(open(name + ".csv"))
    db.executemany("INSERT INTO %s VALUES (%s)" % (name, ",".join("?" * len(head))), [change(row) for row in rows])
load("main", lambda r: [r[0], r[1], r[2] or None, {"true": 1, "false": 0, "": None}[r[3]]])
load("names", lambda r: r)
got = [["" if c is None else str(c) for c in row] for row in db.execute(text)]
said = list(csv.reader(open("dtx.csv")))[1:]
print(got == said, *got[:3], sep="\n")
END
echo "# without the files, and the steps that have no form"
dtx compile --to sql plan.json || echo "exit $?"
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "transpose"}, {"op": "limit", "n": 2}, {"op": "sample", "n": 2, "seed": 1}]}' > none.json
dtx compile --to sql none.json main.csv || echo "exit $?"
echo '{"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "filter", "where": "nosuch > 1"}]}' > none.json
dtx compile --to sql none.json main.csv || echo "exit $?"
