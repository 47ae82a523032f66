"""Sends SIGTERM at random instants of every op, reader and writer over a long table: dtx must end soon.

    tests/fault/cancel.py DTX [INSTANTS] [--rows N] [--only TEXT] [--figures]

Each case runs to its end once, to measure its time, and then gets SIGTERM at INSTANTS random
instants of that time.  A case fails if the exit status is not 130 (or 0, if it had ended before),
if files are left, or if it needs more than 5 s to exit.  --figures prints these times.  Without
INSTANTS only a few cases run, for `make check`.
"""
import argparse
import glob
import gzip
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LATE = 5.0
FINE = (0, 10)  # 10: a check of the plan failed

ap = argparse.ArgumentParser()
ap.add_argument("dtx")
ap.add_argument("instants", nargs="?", type=int, default=0)
ap.add_argument("--rows", type=int, default=0)
ap.add_argument("--only", default="")
ap.add_argument("--figures", action="store_true")
ap.add_argument("--seed", type=int, default=0)
args = ap.parse_args()
DTX = os.path.abspath(args.dtx)
ROWS = args.rows or (1000000 if args.instants else 200000)

# One or more steps for every op; `other` is the second input of those that name it.
STEPS = [
    {"op": "add_id", "by": ["k"]}, {"op": "add_id", "as": "h", "hash_of": ["u", "v"]},
    {"op": "add_totals"}, {"op": "add_totals", "by": ["k"], "column": True},
    {"op": "asof_join", "with": "other", "on": "d", "by": "k"}, {"op": "asof_join", "with": "other", "on": "id"},
    {"op": "asof_join", "with": "other", "on": "d", "by": "u"},
    {"op": "assert", "rules": [{"rule": "unique", "cols": ["u"]}, {"rule": "range", "col": "n", "min": 0, "max": 10}]},
    {"op": "assert", "rules": [{"rule": "relationship", "col": "u", "with": "other", "to": "u"}]},
    {"op": "bin", "col": "v", "as": "b", "n": 50, "method": "quantile"},
    {"op": "blank_down", "cols": ["k", "q"]},
    {"op": "cast", "types": [{"name": "n", "type": "text"}, {"name": "v", "type": "float"}]},
    {"op": "checkpoint", "label": "a"},
    {"op": "clean_names"},
    {"op": "clean_text", "cols": ["u", "s"], "unicode": "NFKC", "case": "title"},
    {"op": "coalesce", "cols": ["k", "q"], "as": "c"},
    {"op": "complete", "cols": ["k", "q", "d"]},
    {"op": "crosstab", "rows": "u", "cols": "q"}, {"op": "crosstab", "rows": "u", "cols": "k"},
    {"op": "cumulative", "cols": ["n", "v"], "by": ["k"], "order": ["d"]},
    {"op": "demote_header"},
    {"op": "derive", "set": {"a": "upper(u)", "b": "v * 2 + n", "c": "replace(s, 'a', 'bb')", "e": "levenshtein(u, s)"}},
    {"op": "derive", "set": {"a": "regex_replace(u, '[a-f]+(x|y)?', 'z')", "b": "v / sum(v)"}},
    {"op": "describe"},
    {"op": "diff_tables", "with": "other", "key": "id"},
    {"op": "distinct"}, {"op": "distinct", "cols": ["u"], "keep": "last"},
    {"op": "drop", "cols": ["s"]},
    {"op": "drop_empty", "axis": "both"},
    {"op": "drop_rows", "kinds": ["blank", "footnotes", "totals", "repeated_header"]},
    {"op": "dummies", "cols": ["k"]},
    {"op": "except", "with": "other"}, {"op": "except", "with": "other", "all": True},
    {"op": "explode", "cols": ["s"], "sep": ";"},
    {"op": "extract", "col": "u", "pattern": "(?P<a>[a-f]+)(?P<b>[0-9]+)"},
    {"op": "fill", "cols": ["k", "e"], "by": ["q"]},
    {"op": "fill_null", "cols": ["e"], "value": 0},
    {"op": "filter", "where": "n > 3 and contains(u, 'a')"},
    {"op": "freq", "cols": ["u"]},
    {"op": "group_by", "by": ["u"], "agg": {"a": "sum(n)", "b": "median(v)", "c": "n_distinct(s)"}},
    {"op": "group_by", "by": ["u"], "agg": {"a": "concat_agg(s)", "b": "mode(s)", "c": "n_distinct(n)"}},
    {"op": "group_by", "by": ["k"], "agg": {"a": "sum(n)", "b": "median(v)", "c": "n_distinct(u)"}, "order": "sorted"},
    {"op": "implode", "by": ["k"], "col": "u", "distinct": True, "sort": True},
    {"op": "intersect", "with": "other"},
    {"op": "join", "with": "other", "on": "u"}, {"op": "join", "with": "other", "on": "id", "how": "full"},
    {"op": "join", "with": "other", "on": {"k": "k", "q": "q"}},
    {"op": "keep_range", "range": "B3:D900000"},
    {"op": "lag_lead", "col": "v", "as": "a", "mode": "diff", "by": ["k"], "order": ["d"]},
    {"op": "limit", "n": 900000, "offset": 5},
    {"op": "lookup_value", "with": "other", "key": "id", "value": "v", "as": "w", "on_missing": "null"},
    {"op": "merge_columns", "cols": ["u", "s"], "as": "a"},
    {"op": "normalize", "cols": ["v"], "by": ["k"]},
    {"op": "nullify", "cols": ["k", "q"], "values": ["k1", "q2"]},
    {"op": "outliers", "cols": ["v"], "action": "clip"},
    {"op": "pad_time", "col": "d", "every": "1d", "by": ["k"]},
    {"op": "parse_date", "cols": ["dt"], "order": "dmy"},
    {"op": "parse_number", "cols": ["p"], "decimal": ",", "group": "."},
    {"op": "percent_of", "col": "v", "as": "a", "by": ["k"]},
    {"op": "pivot_longer", "cols": ["n", "v", "id"], "names_to": "a", "values_to": "b"},
    {"op": "pivot_records", "key": "q", "value": "u", "every": 2},
    {"op": "pivot_wider", "id": ["id"], "names_from": ["q"], "values_from": ["v"]},
    {"op": "pivot_wider", "id": ["k"], "names_from": ["q"], "values_from": ["v"], "agg": "sum"},
    {"op": "promote_header", "rows": 2},
    {"op": "range_join", "with": "other", "where": "left.id >= right.id and left.id < right.id + 3"},
    {"op": "range_join", "with": "other", "where": "left.n >= right.n + 9 and left.u < right.u"},
    {"op": "range_join", "with": "other", "where": "regex_replace(concat(left.u, right.u, right.s), '[a-f]+(1|2)?', 'z') = 'z'"},
    {"op": "rank", "expr": "v", "by": ["k"]}, {"op": "rank", "expr": "u", "method": "dense"},
    {"op": "rename", "map": {"u": "U"}},
    {"op": "reorder", "cols": ["u", "s"]},
    {"op": "repeat", "n": 5},
    {"op": "replace_values", "cols": ["k"], "map": {"k1": "A", "k2": "B"}},
    {"op": "resample", "col": "d", "every": "1w", "by": ["k"], "agg": {"a": "sum(v)", "n": "count()"}, "fill": True},
    {"op": "rolling", "cols": ["v"], "fn": "median", "n": 1000}, {"op": "rolling", "cols": ["v"], "n": 7, "by": ["k"], "order": ["d"]},
    {"op": "sample", "n": 500000, "seed": 1}, {"op": "sample", "frac": 0.5, "seed": 1, "by": ["k"]},
    {"op": "select", "cols": ["u", "v"]},
    {"op": "set_header", "names": list("abcdefghijkl")},
    {"op": "skip_rows", "head": 3, "tail": 2}, {"op": "skip_rows", "until": "^49999$"},
    {"op": "sort", "by": ["u"]}, {"op": "sort", "by": ["-v", "k"]},
    {"op": "split_column", "col": "s", "sep": ";", "into": ["a", "b", "c"]},
    {"op": "split_tables", "pick": 1},
    {"op": "subtitle_to_column", "as": "a"},
    {"op": "top", "n": 1000, "expr": "v", "by": ["k"]},
    {"op": "transpose"},
    {"op": "union", "with": ["other"], "source_as": "a"},
    {"op": "unmerge"},
    {"op": "unstack_blocks", "every": 4},
    {"op": "window", "by": ["k"], "order": ["-v"], "set": {"a": "rank()", "b": "lead(n)", "c": "cum_sum(n)"}},
    {"op": "window", "order": ["d"], "set": [{"as": "a", "expr": "median(v)", "frame": {"rows": [-500, 0]}}]},
]
passed = failed = 0
waits = []


def check(good, name, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good and why:
        print("# " + why)
    print("%s - %s" % ("ok" if good else "not ok", name))


def make_inputs():
    r = random.Random(1)
    for name, turn in (("in.csv", 0), ("other.csv", 1)):
        with open(name, "w") as f:
            f.write("id,k,q,n,v,d,dt,p,s,u,e,o\n")
            for i in range(ROWS):
                x = r.random()
                f.write("%d,k%d,q%d,%d,%.3f,20%02d-%02d-%02d,%d.%d.2024,\"%d.%03d,5\",%s;b%d;c,%08x%s,%s,%d\n" % (
                    i + turn, int(x * 1000), i % 5, i % 11, x * 1e5, 10 + i % 7, 1 + i % 12, 1 + i % 28, 1 + i % 28,
                    1 + i % 12, 1 + i % 900, i % 1000, "aä"[i % 2], i % 97, (i * 2654435761) & 0xffffffff, "xyz"[i % 3],
                    i if i % 3 else "", i % 2))


def make_input(name):
    if name == "made.gz":
        with open("in.csv", "rb") as f, gzip.open(name, "wb", compresslevel=1) as to:
            shutil.copyfileobj(f, to)
    elif name == "made.parts/*.csv":
        os.mkdir("made.parts")
        with open("in.csv") as f:
            head = f.readline()
            for i in range(8):
                with open("made.parts/%d.csv" % i, "w") as to:
                    to.write(head)
                    to.writelines(itertools.islice(f, ROWS // 8))
    elif name == "made.utf16":
        with open("in.csv", encoding="utf-8") as f, open(name, "w", encoding="utf-16") as to:
            shutil.copyfileobj(f, to)
    else:
        subprocess.run([DTX, "convert", "in.csv", "-o", name, "-q"], check=True)


def cases():
    """Name, command, plan or None."""
    for n, step in enumerate(STEPS):
        yield "%s %d" % (step["op"], n), ["run", "PLAN", "in.csv", "-o", "out.csv"], step
    keep = {"op": "filter", "where": "n >= 0"}
    for to in ("jsonl", "json", "xlsx", "md", "csv"):
        yield "write " + to, ["run", "PLAN", "in.csv", "-o", "out." + to], keep
        if to != "md":
            yield "read " + to, ["run", "PLAN", "made." + to, "-o", "out.csv"], keep
    for name in ("made.gz", "made.utf16", "made.parts/*.csv"):
        yield "read " + name[5:], ["run", "PLAN", name, "-o", "out.csv"], keep
    yield "read all as text", ["run", "PLAN", "in.csv", "-o", "out.csv"], {"op": "unmerge"}
    yield "lineage", ["run", "PLAN", "in.csv", "-o", "out.csv", "--lineage", "rows"], {"op": "sort", "by": ["u"]}
    yield "snapshot", ["run", "PLAN", "in.csv", "-o", "out.csv", "--snapshot-inputs"], keep
    yield "convert", ["convert", "in.csv", "-o", "out.jsonl"], None
    for what in ("inspect", "suggest"):
        yield what, [what, "in.csv"], None


def ticks_of(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            part = f.read().rpartition(")")[2].split()
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            children = f.read().split()
    except OSError:  # it has ended
        return 0
    return sum(int(n) for n in part[11:15]) + sum(ticks_of(int(child)) for child in children)


class Started:
    """A running dtx, whose output goes to a file."""

    def __init__(self, argv):
        def restore():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with open("said", "wb") as said:
            self.p = subprocess.Popen([DTX] + argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                      preexec_fn=restore)
        self.began, self.status, self.cpu, self.killed = time.monotonic(), None, 0.0, False

    def wait(self, seconds):
        """Whether it ends within so many seconds."""
        end = time.monotonic() + seconds
        while self.status is None:
            pid, status, used = os.wait4(self.p.pid, os.WNOHANG)
            if pid:
                self.status = self.p.returncode = os.waitstatus_to_exitcode(status)
                self.cpu, self.took = used.ru_utime + used.ru_stime, time.monotonic() - self.began
            elif time.monotonic() >= end:
                return False
            else:
                time.sleep(0.002)
        return True

    def end(self, seconds):
        if not self.wait(seconds):
            self.killed = True
            self.p.kill()
            self.wait(10)
        with open("said", "rb") as said:
            return said.read()

    def cpu_so_far(self):
        """Of dtx and of the processes that it has started: wait4 counts them too."""
        return ticks_of(self.p.pid) / os.sysconf("SC_CLK_TCK")


def prepare(argv, step):
    if step:
        plan = {"dtx": 1, "inputs": [{"name": "main"}], "steps": [step], "fallback": "off",
                "limits": {"growth": 1000000, "rows": 1 << 40, "cols": 100000}}
        if step["op"] == "transpose":  # makes a column for each row
            plan["steps"] = [{"op": "limit", "n": 50000}, step]
        if step.get("with") or any(r.get("with") for r in step.get("rules", [])):
            plan["inputs"].append({"name": "other", "path": "other.csv"})
        with open("plan.json", "w") as f:
            json.dump(plan, f)
    return ["plan.json" if a == "PLAN" else a for a in argv]


def stray():
    return [n for n in os.listdir(".") if n.startswith(".out")] + os.listdir("tmp")


def one(rng, name, argv, whole):
    delay = rng.uniform(0, whole)
    for old in glob.glob("store.db*") if name == "snapshot" else ():  # which has the bytes already
        os.remove(old)
    p = Started(argv)
    cpu = None
    if not p.wait(delay):
        cpu = p.cpu_so_far()
        p.p.send_signal(signal.SIGTERM)
    sent = time.monotonic()
    err = p.end(60)
    took, cpu = time.monotonic() - sent, p.cpu - cpu if cpu is not None else 0
    waits.append((cpu, took, name, delay))
    good = not p.killed and took < LATE and p.status in FINE + (130, -signal.SIGTERM) and not stray()
    if not good or args.figures:
        print("# %-22s at %.2f s of %.2f: %.3f s, %.2f s of processor time, exit %s%s" % (
            name, delay, whole, took, cpu, p.status, "" if good else ", left %s: %s" % (stray(), err[:300])), flush=True)
    return good


def main():
    os.environ.update(DTX_STORE=os.path.abspath("store.db"), TMPDIR=os.path.abspath("tmp"), HOME=os.getcwd(),
                      DTX_PROGRESS="off")
    os.mkdir("tmp")
    rng = random.Random(args.seed or None)
    ops = {o["name"] for o in json.loads(subprocess.run([DTX, "ops", "--json"], capture_output=True).stdout)}
    check(ops == {s["op"] for s in STEPS}, "every op has a step here", "%s" % sorted(ops ^ {s["op"] for s in STEPS}))
    make_inputs()
    todo = [c for c in cases() if args.only in c[0]]
    if not args.instants:
        todo = [c for c in todo if not c[1][2:3] or "made." not in c[1][2]]
        todo = rng.sample(todo, min(14, len(todo)))
    for name, argv, step in todo:
        argv = prepare(argv, step)
        whole = 0.6
        if args.instants:
            for a in argv:
                if a.startswith("made.") and not os.path.exists(a):
                    make_input(a)
            p = Started(argv)
            err = p.end(60)
            whole = p.took
            if args.figures or p.status not in FINE:
                print("# %-22s whole: %.2f s, %.2f s of processor time, exit %s %s" % (
                    name, whole, p.cpu, p.status, err[:300] if p.status else ""), flush=True)
        good = True
        for _ in range(args.instants or 1):
            good &= one(rng, name, argv, whole)
        check(good, "%s ends when it is asked to" % name)
    if args.figures:
        for cpu, took, name, delay in sorted(waits, reverse=True)[:40]:
            print("# %.2f s of processor time, %.3f s  %s at %.2f" % (cpu, took, name, delay))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


with tempfile.TemporaryDirectory(prefix="dtx-cancel-") as folder:
    os.chdir(folder)
    status = main()
    os.chdir("/")
sys.exit(status)
