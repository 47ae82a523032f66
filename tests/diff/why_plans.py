"""Tests `why` and `why-not` with random plans: unions, joins of all kinds, tables that are joined twice or with
themselves, groups, pivots and windows in any order.

If the lineage of a cell is called exact, the cell must not depend on a source row that is not named; a change of a source
cell that is named in the value must change it; and the formula with its values must give the value.  Row numbers that a run stored must give the same answer as a second run.
Usage: /usr/bin/python3 tests/diff/why_plans.py DTX [PLANS [SEED]]"""
import collections
import csv
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

DTX = os.path.abspath(sys.argv[1])
PLANS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
COLUMNS = {"id": "int", "k": "text", "q": "text", "v": "int", "u": "int"}
INPUTS = {"main": COLUMNS, "more": COLUMNS, "rates": {"k": "text", "r": "int"}}
AGGREGATES = {"sum": sum, "cum_sum": sum, "max": max, "min": min, "count": len, "mean": statistics.fmean,
              "first": lambda of: of[0]}
counts = collections.Counter()


def run(*args):
    return subprocess.run([DTX, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)


# --- plans ---

def tables(rng):
    def rows(first, n):
        return [list(COLUMNS)] + [[first + i, rng.choice("abc"), rng.choice("xyz"), rng.randrange(1, 9), rng.randrange(1, 9)]
                                  for i in range(n)]
    return {"main": rows(1, rng.randrange(4, 12)), "more": rows(101, rng.randrange(2, 8)),
            "rates": [["k", "r"]] + [[k, rng.randrange(1, 5)] for k in rng.sample("abcd", 3)]}


class Chain:
    """Steps that end in `table`, which has `columns`."""

    def __init__(self, rng, steps, table):
        self.rng, self.steps, self.table, self.columns = rng, steps, table, list(INPUTS[table])

    def add(self, step, columns=None):
        out = "t%d" % (len(self.steps) + 1)
        self.steps.append({**step, "in": self.table, "out": out})
        self.table = out
        self.columns = columns or self.columns
        return out

    def numbers(self):
        return [c for c in self.columns if c not in ("id", "k", "q", "nm")]

    def new(self, letter):
        return "%s%d" % (letter, len(self.steps))

    def can(self, *columns):
        return set(columns) <= set(self.columns)

    # each adds steps if they fit
    def filter(self, x):
        self.add({"op": "filter", "where": self.rng.choice(["%s > %d" % (x, self.rng.randrange(3)), "%s < 8" % x])})

    def derive(self, x):
        name, y = self.new("c"), self.rng.choice(self.numbers())
        expr = self.rng.choice(["%s + %s" % (x, y), "%s * 2" % x, "coalesce(%s, 0) + 1" % x])
        self.add({"op": "derive", "set": {name: expr}}, self.columns + [name])

    def sort(self, x):
        self.add({"op": "sort", "by": [self.rng.choice([x, "-" + x]), *(["id"] if self.can("id") else [])]})

    def distinct(self, _):
        if self.can("id"):
            self.add({"op": "distinct", "cols": ["id"]})

    def fill_null(self, x):
        self.add({"op": "fill_null", "cols": [x], "value": 0})

    def rates(self, _):
        if self.can("k") and not self.can("r"):
            step = self.rng.choice([{"op": "join", "with": "rates", "on": ["k"], "how": "left"},
                                    {"op": "join", "with": "rates", "on": ["k"]},
                                    {"op": "lookup_value", "with": "rates", "key": ["k"], "value": "r", "as": "r"}])
            self.add(step, self.columns + ["r"])

    def group(self, x):
        by = [c for c in self.rng.choice([["k"], ["q"], ["k", "q"]]) if self.can(c)]
        name = self.new("s")
        expr = self.rng.choice(["sum(%s)", "mean(%s)", "sum(%s, where: v > 1)" if self.can("v") else "max(%s)",
                                "sum(%s) / count()", "sum(%s * 2) + 1"]) % x
        if by:
            self.add({"op": "group_by", "by": by, "agg": {name: expr}}, by + [name])

    def window(self, x):
        name = self.new("w")
        expr = self.rng.choice(["cum_sum(%s)", "sum(%s)", "mean(%s)", "lag(%s)"]) % x
        if self.can("id", "k"):
            self.add({"op": "window", "by": ["k"], "order": ["id"], "set": {name: expr}}, self.columns + [name])

    def share(self, x):
        name = self.new("w")
        self.add({"op": "derive", "set": {name: "share(%s)" % x}}, self.columns + [name])

    def its_sums(self, x):
        name = self.new("m")
        if self.can("k"):
            table = self.table
            sums = self.add({"op": "group_by", "by": ["k"], "agg": {name: "sum(%s)" % x}})
            self.table = table
            self.add({"op": "join", "with": sums, "on": ["k"], "how": self.rng.choice(["left", "inner"])}, self.columns + [name])

    def wider(self, _):
        if self.can("k", "q", "v"):
            self.add({"op": "pivot_wider", "id": ["k"], "names_from": ["q"], "values_from": ["v"], "agg": "sum",
                      "names": ["x", "y", "z"]}, ["k", "x", "y", "z"])

    def longer(self, _):
        if self.can("v", "u"):
            self.add({"op": "pivot_longer", "cols": ["v", "u"], "names_to": ["nm"], "values_to": "vv"},
                     [c for c in self.columns if c not in ("v", "u")] + ["nm", "vv"])

    def neighbours(self, _):
        if self.can("id", "k", "v"):
            self.add({"op": "derive", "set": {"prev": "id - 1", "next": "id + 1"}})
            other = self.rng.choice(["main", "more"])
            for key, suffix in (("prev", "_p"), ("next", "_n")):
                self.add({"op": "join", "with": other, "on": [{"left": key, "right": "id"}], "how": "left", "suffix": suffix})
            self.columns = self.columns + ["v_p", "v_n"]

    def some(self, most):
        ops = [self.filter, self.derive, self.sort, self.distinct, self.fill_null, self.rates, self.group, self.window, self.share,
               self.its_sums, self.wider, self.longer, self.neighbours]
        for _ in range(self.rng.randrange(most)):
            if self.numbers():
                self.rng.choice(ops)(self.rng.choice(self.numbers()))


def plan(rng):
    one = Chain(rng, [], "main")
    one.some(5)
    how = rng.random()
    if how < .3:
        other = Chain(rng, one.steps, "more")
        other.some(3)
        shared = set(one.columns) & set(other.columns)
        if "k" in shared and shared - {"id", "k", "q", "nm"} and other.table != one.table:
            one.add({"op": "union", "with": [other.table]}, list(dict.fromkeys(one.columns + other.columns)))
    elif how < .5 and one.can("k"):
        other = Chain(rng, one.steps, "more")
        other.add({"op": "group_by", "by": ["k"], "agg": {"m": "sum(u)"}}, ["k", "m"])
        kind = rng.choice(["left", "inner", "semi", "anti", "full", "right"])
        one.add({"op": "join", "with": other.table, "on": ["k"], "how": kind},
                one.columns + (["m"] if kind not in ("semi", "anti") else []))
    one.some(3)
    if one.table == "main":
        one.add({"op": "filter", "where": "true"})
    inputs = [{"name": a, "types": [{"name": c, "type": t} for c, t in of.items()]} for a, of in INPUTS.items()]
    return {"dtx": 1, "inputs": inputs, "steps": one.steps, "output": {"table": one.table}}


# --- runs ---

def made(of, prefix="", *options):
    for alias, rows in of.items():
        with open(prefix + alias + ".csv", "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows(rows)
    out = prefix + "out.csv"
    done = run("run", "p.json", prefix + "main.csv", "more=%smore.csv" % prefix, "rates=%srates.csv" % prefix, "-o", out, *options)
    if done.returncode:
        return None
    with open(out, newline="") as f:
        return list(csv.DictReader(f))


def alike(rows, row):
    """Rows of a result that its keys tell to be the one."""
    keys = [c for c in row if c in ("id", "k", "q", "nm")]
    return [r for r in rows or [] if all(r.get(c) == row[c] for c in keys)]


# --- checks of an answer ---

def left_alone(rng, of, row, column, named):
    """A row that is not named can go."""
    for alias, rows in of.items():
        others = [n for n in range(2, len(rows) + 1) if n not in named[alias]]
        if not others or len(rows) < 3:
            continue
        gone = rng.choice(others)
        now = made({**of, alias: rows[:gone - 1] + rows[gone:]}, "less_")
        found = alike(now, row)
        if now is not None and (len(found) != 1 or found[0][column] != row[column]):
            return "%s line %d is not named, and without it %r becomes %r" % (alias, gone, row, found)
    return None


def needed(rng, of, row, column, direct):
    """A cell that is in the value changes it."""
    for (alias, source), lines in direct.items():
        if source not in ("v", "u", "r") or not lines:
            continue
        at = rng.choice(sorted(lines))
        rows = [list(r) for r in of[alias]]
        rows[at - 1][rows[0].index(source)] += 1000
        now = made({**of, alias: rows}, "more_")
        found = alike(now, row)
        if len(found) == 1 and found[0][column] == row[column]:
            return "%s line %d is in %r of %r, which stays without it" % (alias, at, column, row)
    return None


def worked_out(put, value):
    """The formula with its values gives the value."""
    call = re.match(r"([a-z_]+)\((.*)\)$", put)
    if call and call[1] in AGGREGATES and "(" not in call[2]:
        of = [float(v) for v in call[2].split(", ") if v != "null"]
        got = AGGREGATES[call[1]](of) if of or call[1] == "count" else None
    elif call and call[1] in ("lag", "share"):
        return None  # only its values are printed
    else:
        text = run("eval", put).stdout.strip()
        got = None if text == "null" else float(text)
    want = None if value is None else float(value)
    same = got == want or (got is not None and want is not None and abs(got - want) <= 1e-9 * max(1, abs(got)))
    counts["values put in"] += 1
    return None if same else "%s is %r, the value %r" % (put, got, value)


def cell(rng, of, rows):
    at = rng.randrange(len(rows))
    column, row = rng.choice(list(rows[0])), rows[at]
    told = run("why", "out.csv", "--row", str(at + 1), "--col", column, "--json")
    if told.returncode:
        counts["not followed"] += 1
        return None if "no_translation" in told.stderr else told.stderr
    told = json.loads(told.stdout)
    counts[told["class"]] += 1
    if (told["value"] or "") != row[column]:
        return "value %r of %r" % (told["value"], row)
    named, direct = {a: set() for a in of}, {}
    for part in ("cells", "decided_by"):
        for s in told[part]:
            lines = {int(c["cell"][1:]) for c in s["cells"]}
            named[s["alias"]] |= lines
            if part == "cells":
                direct.setdefault((s["alias"], s["column"]), set()).update(lines)
    for s in told.get("counted") or []:
        named[s["alias"]] |= {int(c["cell"][1:]) for c in s.get("cells", [])}
    formula, steps = "%s %s" % (told["formula"], told["composed"]), json.load(open("p.json"))["steps"]
    why = worked_out(told["with_values"], told["value"]) if told["with_values"] else None
    if told["class"] != "exact" or len(alike(rows, row)) != 1:
        return why
    if not any(s.get("how") in ("anti", "full", "right") for s in steps):  # where a row that leaves lets others in
        why = why or left_alone(rng, of, row, column, named)
    # one value's share of itself, and what a condition or another's null leaves out, does not change
    loose = ("share" in formula or "where" in formula or not row[column] or
             any(s["op"] == "fill_null" or "<" in s.get("where", "") for s in steps))
    return why or (None if loose else needed(rng, of, row, column, direct))


def bare(report):
    return [[(s["alias"], s["column"], s["how"], [c["cell"] for c in s["cells"]]) for s in report[part]]
            for part in ("cells", "decided_by")]


def stored(rng, of, rows):
    """Row numbers that the run kept say what a second run says."""
    ask = [["why", "out.csv", "--row", str(rng.randrange(len(rows)) + 1), "--col", rng.choice(list(rows[0])), "--json"]]
    ask += [["why-not", "out.csv", "--input", a, "--row", str(rng.randrange(1, len(of[a]))), "--json"] for a in of]
    for words in ask:
        kept, again = run(*words), run(*words, "--again")
        if kept.returncode or again.returncode:
            return "%r: %s%s" % (words, kept.stderr, again.stderr)
        kept, again = json.loads(kept.stdout), json.loads(again.stdout)
        if kept.get("lineage") != "stored":
            continue
        counts["stored"] += 1
        if words[0] == "why" and "exact" in (kept["class"], again["class"]):
            same = kept["class"] != "exact" or bare(kept) == bare(again)
        else:
            same = words[0] == "why" or all([d["step"] for d in kept[m]] == [d["step"] for d in again[m]] if m == "dropped"
                                            else kept[m] == again[m] for m in ("verdict", "rows", "through", "cell", "dropped"))
        if not same:
            return "%r: stored %r, by a second run %r" % (words, kept, again)
    return None


def trial(rng):
    of, steps = tables(rng), plan(rng)
    with open("p.json", "w") as f:
        json.dump(steps, f)
    rows = made(of)
    if not rows:
        counts["no rows"] += 1
        return None
    why = cell(rng, of, rows)
    if why is None and made(of, "", "--lineage", "rows"):
        why = stored(rng, of, rows)
    return why and "%s\n# %s" % (why, json.dumps(steps["steps"]))


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="dtx-why-") as folder:
        os.chdir(folder)
        os.environ["DTX_STORE"] = os.path.join(folder, "store.db")
        for n in range(PLANS):
            why = trial(random.Random("%d %d" % (SEED, n)))
            failed += why is not None
            if why:
                print("not ok - why of random plan %d, seed %d\n# %s" % (n, SEED, why))
        os.chdir("/")
    enough = counts["exact"] * 3 > PLANS and counts["stored"] > PLANS and counts["values put in"]
    print("%s - most cells have an answer that is held to the tables" % ("ok" if enough else "not ok"))
    print("# " + ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())))
    print("%d passed, %d failed, 0 skipped" % (PLANS - failed + bool(enough), failed + (not enough)))
    sys.exit(failed > 0 or not enough)


main()
