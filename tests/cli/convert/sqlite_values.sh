# Random tables: every value arrives as Python's sqlite3 gives it, by any number of threads and sizes
# of batches; nothing is written beside the database.
cat > make.py <<'END'
import random, sqlite3, sys
seed = int(sys.argv[1])
rnd = random.Random(seed)
kinds = {
    "i": lambda: rnd.choice([rnd.randrange(-9, 9), rnd.randrange(-2**63, 2**63), 2**53, -2**53 - 1, 2**63 - 1, -2**63]),
    "r": lambda: rnd.choice([rnd.uniform(-1, 1), rnd.uniform(-1e300, 1e300), 1.0, 5e-324, 0.1, 1e22]),
    "t": lambda: rnd.choice(["", " ", "a,b", 'q"q', "ä€😀", "1", "1e5", "null", "2024-01-05", "x" * rnd.randrange(300)]),
    "d": lambda: "20%02d-%02d-%02d" % (rnd.randrange(99), rnd.randrange(1, 13), rnd.randrange(1, 29)),
}
declared = ["", "int", "integer", "text", "real", "numeric", "date", "blob", "varchar(9)"]
con = sqlite3.connect(sys.argv[2])
n = rnd.choice([1, 2, 300, 1500])
cols = []
for c in range(rnd.randrange(1, 9)):
    cols.append((f"c{c}", rnd.choice(declared), rnd.choice(["i", "r", "t", "d", "it", "ir", "rt"]), rnd.choice([0, 0.3, 1])))
con.execute("create table t(%s)" % ", ".join(f"{a} {b}" for a, b, _, _ in cols))
for i in range(n):
    con.execute("insert into t values(%s)" % ",".join("?" * len(cols)),
                [None if rnd.random() < nulls else kinds[rnd.choice(k)]() for _, _, k, nulls in cols])
con.execute("delete from t where rowid % 7 = 3")
con.commit()
END
cat > same.py <<'END'
import json, sqlite3, sys
want = sqlite3.connect(sys.argv[1]).execute("select * from t order by rowid").fetchall()
got = [list(json.loads(line).values()) for line in open(sys.argv[2])]
assert len(want) == len(got), (len(want), len(got))
def same(a, b):
    if type(a) is float and type(b) is int: # a whole float may be written without a point
        return a == b
    if type(b) is str and type(a) in (int, float): # a column that became text
        return type(a)(b) == a
    return type(a) is type(b) and a == b
for i, (a, b) in enumerate(zip(want, got)):
    for x, y in zip(a, b):
        assert same(x, y), (i, x, y)
END
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	rm -f t.db
	/usr/bin/python3 make.py $seed t.db
	"$DTX" convert t.db -o t1.jsonl --threads 1 2> /dev/null
	"$DTX" convert t.db -o t3.jsonl --threads 3 2> /dev/null
	cmp t1.jsonl t3.jsonl
	/usr/bin/python3 same.py t.db t1.jsonl || echo "seed $seed"
	rm t1.jsonl t3.jsonl
done
ls
