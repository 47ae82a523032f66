"""Compares the engine on random tables and plans with the pandas code that dtx makes for them, run in
Debian's pandas; with SQLite and DuckDB if the plan can be written in SQL; and with itself, with other
numbers of threads and sizes of batches, for some plans over a large table in little memory.

Usage: run.py DTX [PLANS] [SEED] [JOBS]
A difference is a bug or a line of known.tsv, which says its columns; the counts at the end name the lines that were met.
DuckDB takes part where DTX_PEERS names a folder with the npm package @duckdb/node-api.
"""
import collections
import csv
import decimal
import functools
import gc
import io
import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare  # noqa: E402
import generate  # noqa: E402

THREADS, ROWS = (1, 2, 8), (1, 7, 1000, 65536)
MEMORY = "/dev/shm"  # a plan is five small files
BY_DATA = {4, 10}  # exit statuses that depend on the data
LARGE, LARGE_ROWS = 0.0015, 120000  # share of plans that also run over so many rows
MANY = 10000  # from so many plans on every op and function is drawn
MOST = 100000  # from so many on every known difference is seen


# ops that have a form in SQL
SQL = {"derive", "distinct", "drop", "except", "fill_null", "filter", "group_by", "intersect", "join", "limit", "pivot_longer",
       "pivot_wider", "rename", "reorder", "select", "sort", "union", "window", "rank", "rolling", "cumulative", "lag_lead", "percent_of",
       "top"}


@functools.lru_cache(None)
def duck():
    """One for all plans of a process."""
    return compare.Duck.start()


class Bench:
    """A folder with one plan and its tables, and the programs that answer it."""

    def __init__(self, dtx, folder):
        self.dtx, self.folder, self.counts = dtx, folder, collections.Counter()
        self.env = dict(os.environ, DTX_STORE=str(folder / "store.db"))
        self.duck = duck()

    def dtx_does(self, *args):
        return subprocess.run([self.dtx, *args], cwd=self.folder, env=self.env, capture_output=True, timeout=100)

    def put(self, tables, plan):
        self.tables, self.plan = tables, plan
        seps = [self.separator() for _ in range(len(plan["inputs"]) + 1)]
        self.mixed, self.sep = len(set(seps)) > 1, seps.pop()
        for input, sep in zip(plan["inputs"], seps):  # some of them by different rules
            if sep != ",":
                input["dialect"] = {"delimiter": sep}
            text = generate.to_csv(tables[input["name"]], sep, random.choice((0, 0.3)))
            (self.folder / (input["name"] + ".csv")).write_text(text)
        (self.folder / "plan.json").write_text(json.dumps(plan))
        (self.folder / "text.json").write_text(json.dumps({**plan, "output": {"delimiter": self.sep}}))

    @staticmethod
    def separator():
        return random.choices(",;\t|", (12, 4, 3, 1))[0]

    def run(self, threads, rows, *more, plan="plan.json", to="jsonl"):
        done = self.dtx_does("run", plan, "-q", "--fallback", "off", "--threads", str(threads), "--batch-rows",
                             str(rows), "--to", to, *more, *("%s=%s.csv" % (name, name) for name in self.tables))
        return done.returncode, done.stdout, done.stderr.decode()

    def compiled(self, to):
        """What `dtx compile` prints, or why it does not."""
        done = self.dtx_does("compile", "--to", to, "plan.json")
        return (None, done.stderr.decode()) if done.returncode else (done.stdout.decode(), "")

    @staticmethod
    def other_than(way):
        return random.choice([(t, r) for t in THREADS for r in ROWS if (t, r) != way])

    def against_itself(self, way, code, bytes):
        """Another number of threads and another size of batches give the same bytes; of two steps that fail
        the one that fails in the earlier batch is told, so batches of one size tell the same."""
        other = self.other_than(way)
        again, got, _ = self.run(*other)
        batches = other[1] != way[1] and {code, again} <= BY_DATA
        if batches or again == code and (code or got == bytes):
            return None
        return "threads, rows %s: exit %d, %d bytes; %s: exit %d, %d bytes" % (way, code, len(bytes), other, again, len(got))

    def against_csv(self, way, bytes):
        """The cells of the same result as delimited text, where bytes of the inputs of the same dialect are copied; the
        same bytes another way."""
        code, text, err = self.run(*way, plan="text.json", to="csv")
        if code:
            return "as CSV: exit %d %s" % (code, err.strip()[:300])
        other = self.other_than(way)
        if (self.mixed or random.random() < 0.2) and self.run(*other, plan="text.json", to="csv")[1] != text:
            return "as CSV: other bytes with threads, rows %s than %s" % (other, way)
        lines = list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=self.sep, strict=True))
        rows = [json.loads(line, parse_float=decimal.Decimal) for line in bytes.splitlines()]
        if not lines and not rows:
            return None  # a table without columns
        if len(lines) != len(rows) + 1:
            return "as CSV: %d rows, else %d" % (len(lines) - 1, len(rows))
        for at, (cells, row) in enumerate(zip(lines[1:], rows)):
            cells = cells or [""] * len(lines[0])  # a null of a table of one column
            if lines[0] != list(row) or len(cells) != len(row):
                return "as CSV: row %d has %d cells of %r, else %d of %r" % (at, len(cells), lines[0], len(row), list(row))
            for cell, (name, value) in zip(cells, row.items()):
                if not compare.same_cell(cell, value):
                    return "as CSV: row %d, %s: %r, else %r" % (at, name, cell, value)
        return None

    def against_disk(self):
        """The same bytes where memory is too short for the table, or the limit is named."""
        main = self.tables["main"]
        times = LARGE_ROWS // max(len(next(iter(main.values()))[1]), 1)
        grown = {c: (kind, [v + at if kind == "int" and v is not None and v < 2**52 else v
                            for at in range(times) for v in values]) for c, (kind, values) in main.items()}
        sep = self.plan["inputs"][0].get("dialect", {}).get("delimiter", ",")
        (self.folder / "main.csv").write_text(generate.to_csv(grown, sep))
        code, whole, err = self.run(random.choice(THREADS), 65536, "--memory", "2G")
        (self.folder / "record.json").unlink(missing_ok=True)
        again, less, short = self.run(random.choice(THREADS), random.choice((1000, 65536)), "--memory", "16M", "--record",
                                      "record.json")
        if again == 8 or code == 8:
            self.counts["short of memory"] += 1
            return None
        self.counts["large"] += 1
        record = self.folder / "record.json"
        self.counts["spilled"] += record.exists() and '"spilled"' in record.read_text()
        if again == code and (code or whole == less):
            return None
        return "in little memory: exit %d, %d bytes; else exit %d, %d bytes %s %s" % (again, len(less), code, len(whole), short,
                                                                                    err)

    def against_sql(self, rows):
        if not SQL.issuperset(step["op"] for step in self.plan["steps"]):
            return None
        text, why = self.compiled("sql")
        if text is None:
            return None if "no_translation" in why else "compile to SQL failed: %s" % why.strip()
        for name, run in (("SQLite", compare.run_sql), ("DuckDB", self.duck and self.duck.run)):
            if not run:
                continue
            got, problem = run(text, self.tables)
            if problem and re.search("^internal$|Out of Range|is undefined", problem):  # DuckDB: no logarithm, not null
                continue
            self.counts[name] += 1
            found = problem or compare.difference(rows, got)
            if found:
                return "SQL: " + found.replace("pandas", name)
        return None

    def against_pandas(self, code, rows, err):
        text, why = self.compiled("snippet")
        if text is None and "no_translation" in why and not code:
            self.counts["why " + why.split("\n")[0]] += 1
            return "no translation"
        if text is None:  # refused before any row is read, by both or wrongly
            return "refused" if code else "compile failed: %s" % why.strip()
        expected, problem = compare.run_module(text, self.tables, self.plan)
        if problem or code:
            return "refused" if problem and code else "engine exit %d %s; pandas %s" % (code, err.strip()[:300], problem)
        return compare.difference(rows, expected)

    def check(self, seed):
        """None, "refused" by both, "no translation", or what differs."""
        random.seed(seed)
        self.put(*generate.case())
        way = random.choice(THREADS), random.choice(ROWS)
        code, bytes, err = self.run(*way)
        if code < 0 or code == 70:  # a crash or an internal error, so not a refusal
            return "the engine broke: exit %d %s" % (code, err.strip()[:300])
        rows = [] if code else [json.loads(line) for line in bytes.splitlines()]
        found = random.random() < 0.5 and self.against_itself(way, code, bytes) or self.against_pandas(code, rows, err)
        found = found or (self.against_csv(way, bytes) or self.against_sql(rows) if not code else None)
        return self.against_disk() if not found and random.random() < LARGE else found


def work(job):
    """(seed, what was found, plan) of the plans that are not simply equal; counts."""
    dtx, folder, first, count = job
    gc.freeze()  # so that collections skip the objects of pandas
    gc.set_threshold(20000, 50, 50)
    folder = pathlib.Path(folder)
    folder.mkdir()
    bench, out = Bench(dtx, folder), []
    for seed in range(first, first + count):
        try:
            found = bench.check(seed)
        except subprocess.TimeoutExpired as late:
            found = "no answer in time: %s" % late
        for step in bench.plan["steps"]:
            bench.counts["op " + step["op"]] += 1
        for name in set(re.findall(r"\b([a-z_0-9]+)\(", json.dumps(bench.plan["steps"]))):
            bench.counts["fn " + name] += 1
        if found in ("refused", "no translation"):
            bench.counts[found] += 1
        elif found:
            out.append((seed, found, json.dumps(bench.plan["steps"])))
    shutil.rmtree(folder)
    return out, bench.counts


Known = collections.namedtuple("Known", "id op seen difference reason")


def known_differences():
    lines = (HERE / "known.tsv").read_text().splitlines()
    return [Known(*line.split("\t")) for line in lines if line and line[0] != "#"]


def known_as(known, what, plan):
    """The id of the first line that this difference is an instance of, or None."""
    ops = {step["op"] for step in json.loads(plan)}
    return next((k.id for k in known if (k.op == "any" or any(re.fullmatch(k.op, op) for op in ops))
                 and re.search(k.difference, "%s\n%s" % (what, plan), re.M)), None)


def never_drawn(dtx, counts):
    """Ops and functions of the program that stood in no plan."""
    def said(*args):
        return subprocess.run([dtx, "ops", *args], capture_output=True, text=True, timeout=60).stdout
    names = ["op " + op["name"] for op in json.loads(said("--json"))]
    names += ["fn " + name for name in re.findall(r"^  (\w+)\(", said("--functions"), re.M)]
    return [name for name in names if not counts[name]]


def main():
    dtx, count = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    jobs = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    known, seen, failed, counts, done = known_differences(), collections.Counter(), 0, collections.Counter(), 0
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as tmp, \
            multiprocessing.Pool(jobs) as pool:
        todo = [(dtx, os.path.join(tmp, str(seed)), seed, min(50, first + count - seed))
                for seed in range(first, first + count, 50)]
        for found, more in pool.imap(work, todo):
            counts += more
            done += min(50, count - done)
            if count >= MANY and done % 1000 == 0:
                print("# %d plans, %d failed" % (done, failed), flush=True)
            for seed, what, plan in found:
                hit = known_as(known, what, plan)
                seen[hit] += 1
                if hit is None:
                    failed += 1
                    print("# seed %d: %s\n# %s\nnot ok - plan %d" % (seed, what, plan, seed), flush=True)
    gone = ["%s stood in no plan" % name for name in never_drawn(dtx, counts)] if count >= MANY else []
    if count >= MOST:
        gone += ["known difference is gone: %s" % k.id for k in known if not seen[k.id] and k.seen != "rare"]
    for what in gone:
        print("not ok - " + what)
    for why in sorted(k for k in counts if k.startswith("why ")):
        print("ok - %d plans without a pandas text # SKIP %s" % (counts[why], why[4:]))
    print("# steps: %s" % ", ".join("%s %d" % (k[3:], n) for k, n in sorted(counts.items()) if k.startswith("op ")))
    print("# functions: %s" % ", ".join("%s %d" % (k[3:], n) for k, n in sorted(counts.items()) if k.startswith("fn ")))
    print("# known differences: %s" % ", ".join("%s %d" % (k.id, seen[k.id]) for k in known if seen[k.id]))
    print("# %d plans were refused by both, %d ran in SQLite too, %d in DuckDB"
          % (counts["refused"], counts["SQLite"], counts["DuckDB"]))
    print("# %d ran over a large table too, %d of them spilled; %d were short of memory"
          % (counts["large"], counts["spilled"], counts["short of memory"]))
    skipped = counts["no translation"]
    print("%d passed, %d failed, %d skipped" % (count - failed - skipped, failed + len(gone), skipped))
    return failed + len(gone) != 0


if __name__ == "__main__":
    sys.exit(main())
