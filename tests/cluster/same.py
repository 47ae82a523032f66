"""Runs plans in one process and on the engine local://N, with inputs cut at random places, and compares everything
that a user sees: result, exit status, messages, and the counts in the record.

Usage: same.py DTX [PLANS] [SEED]
PLANS: random plans (10); from 50 on also all examples of the operations, else some of them.
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "diff"))

import generate  # noqa: E402

DTX = str(pathlib.Path(sys.argv[1]).resolve())
PLANS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
counts = {"passed": 0, "failed": 0, "runs": 0, "spread": 0, "fragments": 0, "repaired": 0, "whole": 0, "by keys": 0}


class Place:
    """A folder with a plan and its inputs."""

    def __init__(self):
        base = os.environ.get("T_TMP") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="dtx-same-", dir=base))
        self.env = dict(os.environ, DTX_STORE=str(self.dir / "store.db"), TMPDIR=str(self.dir))

    def dtx(self, *args):
        return subprocess.run([DTX, *args], cwd=self.dir, env=self.env, capture_output=True, timeout=120)

    def record(self):
        done = self.dtx("provenance", "--json", "--full")
        return json.loads(done.stdout) if done.returncode == 0 else {}


def counted(record):
    """What a record says of rows, without what depends on the machine and the moment, or on how much was read ahead."""
    def stopped(o, key):
        return ((o.get(key) or {}).get("ledger") or o.get(key) or {}).get("stopped_early")

    inputs = [[i.get(k) for k in ("alias", "sha", "schema", "rows", "reader")] for i in record.get("inputs", [])
              if not stopped(i, "reader")]
    steps = [[s.get(k) for k in ("op", "rows_in", "rows_out", "detail")] for s in record.get("steps", []) if not stopped(s, "detail")]
    outputs = [[o.get(k) for k in ("rows", "bytes", "sha", "table_hash", "rows_hash")] for o in record.get("outputs", [])]
    return json.dumps([inputs, steps, outputs, record.get("lineage"), record.get("checks")], sort_keys=True)


def said(done):
    """A run as its user sees it, without its id, and without how many rows of one batch failed: a cut makes batches smaller."""
    text = re.sub(rb"; (at least )?\d+ such cases in all", b"", re.sub(rb"\b[0-9a-f]{8}\b", b"RUN", done.stderr))
    return done.returncode, done.stdout, text


def address(size):
    return "local://%d?bytes=%d" % (random.choice((1, 2, 7)), random.randint(max(size // random.choice((3, 8, 25)), 1), size + 20))


def check(place, what, args, size):
    """One run as it is, and one on the engine, in a format by chance."""
    args = args + ["--to", random.choice(("csv", "tsv", "jsonl", "json", "md"))]
    one = place.dtx("run", *args)
    first = counted(place.record())
    engine = address(size)
    two = place.dtx("run", *args, "--engine", engine)
    counts["runs"] += 1
    same = said(one) == said(two)
    why = "" if same else "%r\n%r" % (one, two)
    record = place.record()
    run = record.get("run", {}).get("engine") or {}
    parts = [f for s in run.get("stages", []) for f in s["fragments"]]
    counts["spread"] += bool(parts)
    counts["fragments"] += len(parts)
    counts["repaired"] += sum(f["repaired"] for f in parts)
    counts["whole"] += bool(run.get("whole"))
    counts["by keys"] += any(s["makes"] == "rows by keys" for s in run.get("stages", []))
    if same and counted(record) != first:
        same, why = False, "%s\n%s" % (first, counted(record))
    counts["passed" if same else "failed"] += 1
    if not same:
        kept = pathlib.Path(tempfile.gettempdir()) / ("dtx-same-%d" % counts["failed"])
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(place.dir, kept, ignore=shutil.ignore_patterns("store.db*"))
        print("not ok - %s: run %s --engine '%s' in %s\n# %s" % (what, " ".join(args), engine, kept, why[:3000].replace("\n", "\n# ")))
    return same


def random_plans(place):
    for i in range(PLANS):
        random.seed(SEED * 100003 + i)
        tables, plan = generate.case()[:2]
        plan = json.loads(json.dumps(plan))
        args, size = ["plan.json"], 1
        (place.dir / "plan.json").write_text(json.dumps(plan))
        for name, table in tables.items():
            text = generate.to_csv(table)
            (place.dir / (name + ".csv")).write_text(text)
            size = max(size, len(text.encode()))
            args.append("%s=%s.csv" % (name, name))
        check(place, "random plan %d" % i, args, size)


def examples(place, share):
    ops = [o["name"] for o in json.loads(place.dtx("ops", "--json").stdout)]
    for op in ops:
        for i, example in enumerate(json.loads(place.dtx("ops", op, "--json").stdout)["examples"]):
            if random.random() >= share or not example.get("in"):
                continue
            step, args = dict(example["step"]), ["plan.json", "in.csv"]
            plan = {"dtx": 1, "inputs": [{"name": "main"}], "fallback": "off", "steps": [step]}
            (place.dir / "in.csv").write_text(example["in"])
            if example.get("with"):
                plan["inputs"].append({"name": "other"})
                (place.dir / "other.csv").write_text(example["with"])
                args.append("other=other.csv")
            (place.dir / "plan.json").write_text(json.dumps(plan))
            check(place, "example %d of %s" % (i + 1, op), args, len(example["in"]))


def cell():
    return random.choice(("", "x", "=1+1", "north", "12", "-3", "4.50", "2025-02-28", '"a, b"', '"say ""hi"""', '"two\nlines"', '"\n\n"',
                          '"x\r\ny, ""z"",\n"', '","', '"\n1,2,3\n"', "ä", '"€\n"'))


def awkward_text(rows):
    """Rows in which quotes, delimiters and line ends stand where a cut must not believe them."""
    end = random.choice(("\n", "\r\n"))
    lines = ["id,a,b,n"]
    for i in range(rows):
        n = str(random.randint(-5, 10**random.randint(1, 12))) if random.random() < 0.97 else random.choice(("", "1.5", "7e3"))
        lines.append("%d,%s,%s,%s" % (i, cell(), cell(), n))
    return end.join(lines) + random.choice((end, ""))


AWKWARD = [
    [{"op": "filter", "where": "n > 3"}, {"op": "derive", "set": {"twice": "n * 2"}}],
    [{"op": "group_by", "by": ["a"], "agg": {"rows": "count()", "sum": "sum(n)", "first": "first(b)", "ids": "max(id)"}}],
    [{"op": "derive", "set": {"half": "n / 2"}}, {"op": "sort", "by": ["b", "-id"]}],
    [{"op": "distinct", "cols": ["a", "b"]}],
    [{"op": "select", "cols": ["b", "id"]}, {"op": "limit", "n": 7}],
    [{"op": "distinct", "cols": ["b"], "keep": "last"}, {"op": "derive", "set": {"m": "n + 1"}}],
    [{"op": "sort", "by": ["a", "-n"], "limit": 5}],
    [{"op": "sort", "by": ["b"]}, {"op": "limit", "n": 4, "offset": 2}],
    [{"op": "top", "n": 3, "expr": "n", "ties": "all"}, {"op": "derive", "set": {"half": "n / 2"}}],
    [{"op": "filter", "where": "id > 2"}, {"op": "top", "n": 4, "expr": "-n"}],
    [{"op": "limit", "n": 2, "by": ["a"]}, {"op": "group_by", "by": ["b"], "agg": {"rows": "count()", "sum": "sum(n)"}}],
    [{"op": "pivot_wider", "names_from": "b", "values_from": "n", "id_cols": ["a"], "agg": "sum"}],
    [{"op": "filter", "where": "id < 9"}, {"op": "pivot_wider", "names_from": "a", "values_from": "n", "agg": "max"},
     {"op": "limit", "n": 3}],
    [{"op": "limit", "n": 3, "from": "end"}, {"op": "cast", "cols": {"a": "int"}}],
    [{"op": "window", "by": ["a"], "order": ["id"], "set": {"running": "sum(n)"}}],
    [{"op": "rank", "by": ["b"], "order": ["-n"], "as": "place"}, {"op": "filter", "where": "place < 3"},
     {"op": "group_by", "by": ["a"], "agg": {"rows": "count()", "sum": "sum(place)"}}],
    [{"op": "filter", "where": "id > 2"}, {"op": "derive", "by": ["a"], "set": {"share": "id / max(id)"}},
     {"op": "window", "by": ["b"], "order": ["id"], "set": {"before": "lag(a)", "m": "mean(share)"}}, {"op": "select", "cols": ["a", "before", "m"]}],
    [{"op": "explode", "col": "a", "sep": " "}, {"op": "window", "by": ["a", "b"], "set": {"row": "row_number()"}}, {"op": "sort", "by": ["b", "-row"]}],
]


def awkward(place, times):
    for i in range(times):
        random.seed(SEED * 7919 + i)
        files = [awkward_text(random.choice((1, 5, 40, 300))) for _ in range(random.choice((1, 1, 3)))]
        for old in place.dir.glob("part*.csv"):
            old.unlink()
        for k, text in enumerate(files):
            (place.dir / ("part%d.csv" % k)).write_bytes(text.encode())
        steps = AWKWARD[i % len(AWKWARD)]
        (place.dir / "plan.json").write_text(json.dumps({"dtx": 1, "fallback": "off", "steps": steps}))
        check(place, "awkward text %d" % i, ["plan.json", "part*.csv"], max(len(t) for t in files))


JOINS = [
    [{"op": "join", "with": "side", "using": ["a"]}, {"op": "group_by", "by": ["w"], "agg": {"rows": "count()", "sum": "sum(n)"}}],
    [{"op": "left_join", "with": "side", "using": ["a"]}, {"op": "derive", "set": {"m": "w * 2"}}],
    [{"op": "join", "with": "side", "using": ["a"], "match": "all_right"}],
    [{"op": "semi_join", "with": "side", "using": ["a"]}, {"op": "distinct", "cols": ["b"]}],
    [{"op": "anti_join", "with": "side", "using": ["a"]}, {"op": "top", "n": 3, "expr": "n"}],
    [{"op": "full_join", "with": "side", "using": ["a"]}],
    [{"op": "join", "with": "side", "using": ["a"], "cardinality": "1:m"}],
    [{"op": "cross_join", "with": "side"}, {"op": "filter", "where": "id > 3"}],
    [{"op": "lookup_value", "with": "side", "key": ["a"], "value": "w", "as": "rate"}],
    [{"op": "join", "with": "side", "on": [{"left_expr": "upper(a)", "right_expr": "upper(a)"}]},
     {"op": "join", "with": "side", "on": [{"left": "n", "right": "w"}], "suffix": "_2"}],
]


def joins(place, times):
    for i in range(times):
        random.seed(SEED * 104729 + i)
        text = awkward_text(random.choice((5, 40, 300)))
        keys = [cell() for _ in range(random.choice((0, 1, 3, 12)))]
        keys = list(dict.fromkeys(keys)) if random.random() < 0.5 else keys
        side = "a,w\n" + "".join("%s,%d\n" % (k, random.randint(-4, 9)) for k in keys)
        (place.dir / "main.csv").write_bytes(text.encode())
        (place.dir / "side.csv").write_bytes(side.encode())
        plan = {"dtx": 1, "fallback": "off", "inputs": [{"name": "main"}, {"name": "side"}], "steps": JOINS[i % len(JOINS)]}
        (place.dir / "plan.json").write_text(json.dumps(plan))
        check(place, "join %d" % i, ["plan.json", "main=main.csv", "side=side.csv"], len(text))


BY_KEYS = [
    [{"op": "join", "with": "side", "using": ["a"]}],
    [{"op": "left_join", "with": "side", "using": ["a"]}, {"op": "filter", "where": "id > 5"}],
    [{"op": "semi_join", "with": "side", "using": ["a"]}, {"op": "distinct", "cols": ["b"]}],
    [{"op": "anti_join", "with": "side", "using": ["a"]}, {"op": "select", "cols": ["n", "a"]}],
    [{"op": "join", "with": "side", "on": [{"left": "n", "right": "w"}]}, {"op": "group_by", "by": ["b"], "agg": {"rows": "count()", "ids": "list(id)"}}],
    [{"op": "left_join", "with": "side", "using": ["a"], "nulls_equal": True}, {"op": "sort", "by": ["-w", "id"]}],
    [{"op": "full_join", "with": "side", "using": ["a"]}, {"op": "limit", "n": 9}],
    [{"op": "left_join", "with": "side", "using": ["a"]}, {"op": "window", "by": ["b"], "order": ["w"], "set": {"so_far": "sum(n)"}},
     {"op": "window", "set": {"row": "row_number()"}}],
    [{"op": "window", "by": ["a"], "set": {"of": "n / sum(n)"}}, {"op": "join", "with": "side", "using": ["a"]}, {"op": "limit", "n": 20}],
    [{"op": "left_join", "with": "side", "using": ["a"]}, {"op": "join", "with": "side", "on": [{"left": "n", "right": "w"}], "suffix": "_2"},
     {"op": "derive", "set": {"m": "n + w"}}],
    [{"op": "derive", "set": {"a": "concat('no ', a)"}}, {"op": "left_join", "with": "side", "using": ["a"]}],
    [{"op": "rank", "by": ["a"], "order": ["-n", "id"], "as": "r"}, {"op": "pivot_wider", "names_from": "r", "values_from": "id", "id_cols": ["b"], "agg": "max"}],
]


def by_keys(place, times):
    """Both tables are cut, so that steps are done by keys."""
    for i in range(times):
        random.seed(SEED * 15485863 + i)
        text = [awkward_text(random.choice((100, 300))) for _ in range(random.choice((1, 2)))]
        side = "a,w\n" + "".join("%s,%s\n" % (cell(), random.randint(-4, 99)) for _ in range(random.choice((40, 200))))
        for old in place.dir.glob("part*.csv"):
            old.unlink()
        for k, one in enumerate(text):
            (place.dir / ("part%d.csv" % k)).write_bytes(one.encode())
        (place.dir / "side.csv").write_bytes(side.encode())
        plan = {"dtx": 1, "fallback": "off", "inputs": [{"name": "main"}, {"name": "side"}], "steps": BY_KEYS[i % len(BY_KEYS)]}
        (place.dir / "plan.json").write_text(json.dumps(plan))
        check(place, "by keys %d" % i, ["plan.json", "main=part*.csv", "side=side.csv"], len(side) // 2)


def main():
    place = Place()
    try:
        random.seed(SEED)
        examples(place, 1 if PLANS >= 50 else 0.1)
        random_plans(place)
        awkward(place, max(len(AWKWARD), PLANS))
        joins(place, max(len(JOINS), PLANS))
        by_keys(place, max(len(BY_KEYS), PLANS))
        left = [p.name for p in place.dir.iterdir() if p.name.startswith("dtx-exchange")]
        counts["passed" if not left else "failed"] += 1
        if left:
            print("not ok - folders of fragments are left: %s" % left)
    finally:
        shutil.rmtree(place.dir, ignore_errors=True)
    enough = counts["spread"] * 2 > counts["runs"] and counts["repaired"] > 0 and counts["by keys"] > 4
    if not enough:
        print("not ok - too few runs were spread or had a step by keys, or no border was repaired")
    counts["failed"] += not enough
    print("# %d runs, %d of them spread over %d fragments, %d with a step by keys, %d borders repaired, %d runs done by one process after all"
          % (counts["runs"], counts["spread"], counts["fragments"], counts["by keys"], counts["repaired"], counts["whole"]))
    print("%d passed, %d failed" % (counts["passed"], counts["failed"]))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
