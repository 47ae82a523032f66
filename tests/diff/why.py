"""Checks exact lineage: without a source row that `why` does not name, the cell must stay the same; a row that it names
must be needed for its formula.  Random tables through plans with filters, joins, groups and pivots.
Usage: /usr/bin/python3 tests/diff/why.py DTX [TRIALS [PLAN ...]]"""
import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile

DTX = os.path.abspath(sys.argv[1])
TRIALS = int(sys.argv[2]) if len(sys.argv) > 2 else 24
ONLY = sys.argv[3:]  # names of plans
FILTER = {"op": "filter", "where": "v > 2"}
JOIN = {"op": "join", "with": "rates", "on": ["k"], "how": "left"}
COST = {"op": "derive", "set": {"c": "v * coalesce(r, 1)"}}
GROUP = {"op": "group_by", "by": ["k", "q"], "agg": {"c": "sum(c)"}}
PLANS = {  # steps and the columns that find a row again
    "group": ([FILTER, JOIN, COST, GROUP], ["k", "q"]),
    "sorted group": ([JOIN, COST, GROUP, {"op": "sort", "by": ["-c", "k", "q"]}], ["k", "q"]),
    "wide": ([FILTER, JOIN, COST, GROUP, {"op": "pivot_wider", "id": ["k"], "names_from": ["q"], "values_from": ["c"],
                                          "names": ["x", "y", "z"]}], ["k"]),
    "rows": ([FILTER, JOIN, COST, {"op": "select", "cols": ["id", "k", "c"]}, {"op": "sort", "by": ["k", "-c"]}], ["id"]),
    "twice": ([JOIN, COST, GROUP, {"op": "group_by", "by": ["q"], "agg": {"c": "max(c)"}}], ["q"]),
    "distinct": ([FILTER, {"op": "distinct", "cols": ["k", "q"]}, JOIN, COST], ["k", "q"]),
    "running": ([FILTER, JOIN, COST, {"op": "window", "by": ["k"], "order": ["-v", "id"], "set": {"c": "cum_sum(c)"}}],
                ["id"]),
    "before": ([JOIN, COST, {"op": "window", "by": ["k"], "order": ["id"], "set": {"c": "lag(c)"}}, FILTER], ["id"]),
    "rolled": ([JOIN, COST, {"op": "window", "by": ["q"], "order": ["id"], "set": [{"as": "c", "expr": "sum(c)", "frame":
               {"rows": [-1, 1]}}]}], ["id"]),
    "share": ([JOIN, COST, {"op": "derive", "set": {"c": "share(c)"}}, {"op": "sort", "by": ["-c", "id"]}], ["id"]),
    "top": ([JOIN, COST, {"op": "sort", "by": ["-c", "id"]}, {"op": "limit", "n": 3}], ["id"]),
    "best": ([JOIN, COST, {"op": "sort", "by": ["-c", "id"], "limit": 4},
              {"op": "group_by", "by": ["k"], "agg": {"c": "max(c)"}}], ["k"]),
}
ID = ["id"]
TWICE = {"op": "derive", "set": {"c": "v * 2"}}
OTHERS = {  # the same, with the ops that PLANS does not use
    "made key": ([JOIN, COST, {"op": "derive", "set": {"b": "v % 3"}},
                  {"op": "group_by", "by": ["b"], "agg": {"c": "sum(c)", "n": "count()"}}], ["b"]),
    "formula key": ([COST2 := {"op": "derive", "set": {"c": "v + 1"}},
                     {"op": "group_by", "by": [{"as": "b", "expr": "v % 2"}], "agg": {"c": "sum(c)", "m": "max(id)"}},
                     {"op": "derive", "set": {"c": "c + 1"}}], ["b"]),
    "made twice": ([COST2, {"op": "derive", "set": {"b": "c % 3"}}, {"op": "derive", "set": {"d": "b + 1"}},
                    {"op": "group_by", "by": ["d"], "agg": {"c": "sum(v)"}}], ["d"]),
    "counted": ([FILTER, {"op": "freq", "cols": ["q"]}, {"op": "rename", "map": {"count": "c"}}], ["q"]),
    "everything": ([{"op": "group_by", "by": [], "agg": {"c": "sum(v)", "n": "max(v)", "m": "mean(id)"}}], []),
    "everything joined": ([FILTER, JOIN, COST, {"op": "group_by", "by": [], "agg": {"c": "sum(c)", "n": "max(id)"}},
                           {"op": "derive", "set": {"x": "c / n"}}], []),
    "some of a group": ([JOIN, COST, {"op": "group_by", "by": ["k"], "agg": {"c": "sum(c, where: q == 'x')", "n": "count()"}},
                         {"op": "derive", "set": {"c": "c / n"}}], ["k"]),
    "some of all": ([FILTER, {"op": "group_by", "by": ["k"], "agg": {"c": "max(v, where: q != 'x')"}},
                     {"op": "group_by", "by": [], "agg": {"c": "sum(c, where: k != 'a')"}}], []),
    "groups of two tables": ([{"op": "group_by", "in": "main", "by": ["k"], "agg": {"c": "sum(v)"}, "out": "g"},
                              {"op": "group_by", "in": "rates", "by": ["k"], "agg": {"c": "max(r)"}, "out": "h"},
                              {"op": "union", "in": "g", "with": ["h"], "source_as": "of"}], ["k", "of"]),
    "inner": ([{**JOIN, "how": "inner"}, COST], ID),
    "means, wide": ([JOIN, COST, {"op": "group_by", "by": ["k", "q"], "agg": {"c": "sum(c) / count() + max(v)"}},
                     {"op": "pivot_wider", "id": ["k"], "names_from": ["q"], "values_from": ["c"], "names": ["x", "y", "z"],
                      "names_prefix": "of "}], ["k"]),
    "rates twice": ([JOIN, {"op": "lookup_value", "with": "rates", "key": ["k"], "value": "r", "as": "s"},
                     {"op": "derive", "set": {"c": "coalesce(r + s, v)"}}, FILTER], ID),
    "with itself": ([{"op": "join", "with": "main", "on": [{"left": "v", "right": "id"}], "how": "left"},
                     {"op": "derive", "set": {"c": "v + coalesce(v_right, 0)"}}], ["id", "v"]),
    "with itself, in part": ([{**FILTER, "out": "f"}, {"op": "join", "in": "main", "with": "f", "on": [{"left": "v", "right": "id"}]},
                              {"op": "group_by", "by": ["k"], "agg": {"c": "sum(v_right)", "n": "max(v)"}}], ["k"]),
    "with its sums": ([{"op": "group_by", "by": ["k"], "agg": {"s": "sum(v)"}, "out": "g"},
                       {"op": "join", "in": "main", "with": "g", "on": ["k"], "nulls_equal": True},
                       {"op": "derive", "set": {"c": "v / s"}}], ID),
    "semi": ([{**JOIN, "how": "semi"}, TWICE], ID),
    "anti": ([{**JOIN, "how": "anti"}, TWICE], ID),
    "lookup": ([{"op": "lookup_value", "with": "rates", "key": ["k"], "value": "r", "as": "r"}, COST], ID),
    "nearest": ([{"op": "asof_join", "with": "rates", "on": [{"left": "v", "right": "r"}]}], ID),
    "long": ([{"op": "pivot_longer", "cols": ["k", "q"], "names_to": ["n"]}], ["id", "n"]),
    "exploded": ([{"op": "derive", "set": {"c": "concat(q, ';', k)"}}, {"op": "explode", "cols": ["c"], "sep": ";"}], None),
    "exploded, by row": ([{"op": "derive", "set": {"c": "concat(q, ';', v)"}}, {"op": "explode", "cols": ["c"], "sep": ";"},
                          FILTER], ["id", "c"]),
    "union": ([{**FILTER, "out": "f"}, {"op": "filter", "in": "main", "where": "v <= 2", "out": "g"},
               {"op": "union", "in": "f", "with": ["g"]}], ID),
    "rank": ([{"op": "rank", "expr": "v", "by": ["k"], "as": "c"}], ID),
    "cumulative": ([{"op": "cumulative", "cols": ["v"], "by": ["q"]}], ID),
    "rolling": ([{"op": "rolling", "cols": ["v"], "n": 2, "by": ["k"]}], ID),
    "lag": ([{"op": "lag_lead", "col": "v", "as": "c", "by": ["k"]}], ID),
    "percent": ([{"op": "percent_of", "col": "v", "as": "c", "by": ["k"]}], ID),
    "flagged": ([{"op": "outliers", "cols": ["v"], "by": ["k"]}], ID),
    "one column each": ([{"op": "dummies", "cols": ["q"]}, {"op": "derive", "set": {"c": "v + 1"}}], ID),
    "scaled": ([{"op": "normalize", "cols": ["v"], "by": ["k"]}], ID),
    "top of each": ([{"op": "top", "n": 1, "expr": "v", "by": ["k"]}], ID),
    "bins": ([{"op": "bin", "col": "v", "as": "b", "breaks": [0, 3, 6, 9]}], ID),
    "renamed": ([{"op": "rename", "map": {"v": "w"}}, {"op": "cast", "types": {"w": "float"}},
                 {"op": "reorder", "cols": ["w"]}, {"op": "drop", "cols": ["q"]}], ID),
    "texts": ([{"op": "clean_text", "cols": ["k"]}, {"op": "replace_values", "cols": ["q"], "map": {"x": "X"}},
               {"op": "nullify", "cols": ["v"], "values": [3]}, {"op": "fill_null", "cols": ["k"], "value": "none"}], ID),
    "parts": ([{"op": "merge_columns", "cols": ["k", "q"], "as": "t", "sep": "-"},
               {"op": "extract", "col": "t", "pattern": "(?P<c>[a-z])$"},
               {"op": "split_column", "col": "t", "sep": "-", "into": ["one", "two"],
                "missing": "null"}], ID),
    "first": ([{"op": "coalesce", "cols": ["k", "q"], "as": "c"}, {"op": "drop_empty"},
               {"op": "drop_rows", "where": "v == 8", "kinds": []}], ID),
    "number": ([{"op": "derive", "set": {"c": "text(v)"}}, {"op": "parse_number", "cols": ["c"]}], ID),
    "date": ([{"op": "derive", "set": {"c": "concat('2024-01-0', v)"}}, {"op": "parse_date", "cols": ["c"], "formats": ["%Y-%m-%d"]},
              FILTER], ID),
    "skipped": ([{"op": "skip_rows", "comment": "1"}, JOIN, COST], ID),
    "filled": ([{"op": "fill", "cols": ["k"]}, FILTER, TWICE], ID),
    "wide of two": ([{"op": "group_by", "by": ["k", "q"], "agg": {"c": "sum(v)", "m": "max(v)"}},
                     {"op": "pivot_wider", "id": ["k"], "names_from": ["q"], "values_from": ["c", "m"]}], ["k"]),
    "wide by two": ([{"op": "derive", "set": {"b": "v % 2"}}, {"op": "group_by", "by": ["k", "q", "b"], "agg": {"c": "sum(v)"}},
                     {"op": "pivot_wider", "id": ["k"], "names_from": ["q", "b"], "values_from": ["c"]}], ["k"]),
    "binned": ([{"op": "bin", "col": "v", "as": "b", "n": 2}, FILTER], ID),
    "clipped": ([{"op": "outliers", "cols": ["v"], "by": ["k"], "action": "clip"}, TWICE], ID),
    "imputed": ([{"op": "nullify", "cols": ["v"], "values": [3, 8]}, {"op": "fill_null", "cols": ["v"], "strategy": "max"}], ID),
    "filled across": ([{"op": "fill", "cols": ["k", "q"], "dir": "left"}, {"op": "fill", "cols": ["q"]}], ID),
    "blanked": ([{"op": "blank_down", "cols": ["q"]}, JOIN, COST], ID),
}
PLANS.update(OTHERS)
LESS = {"nearest", "top of each"}  # a row that leaves lets another one in
passed = failed = 0


def run(*args):
    return subprocess.run([DTX, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def write(name, rows):
    with open(name, "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)


def result(name):
    with open(name, newline="") as f:
        return list(csv.DictReader(f))


def tables(rng):
    main = [["id", "k", "q", "v"]]
    for i in range(rng.randrange(4, 14)):
        main.append([i, rng.choice(["a", "b", "c", ""]), rng.choice("xyz"), rng.randrange(1, 9)])
    rates = [["k", "r"]] + [[k, rng.randrange(1, 5)] for k in ["a", "b", "c"] if rng.random() < .8]
    if len(rates) == 1:
        rates.append(["a", 2])
    return main, rates


def again(plan, main, rates):
    write("m2.csv", main)
    write("r2.csv", rates)
    done = run("run", plan, "m2.csv", "rates=r2.csv", "-o", "o2.csv")
    return result("o2.csv") if done.returncode == 0 else None


def named(report, alias):
    """Lines that the answer names, DIRECT or not."""
    return {int(c["cell"][1:]) for part in ("cells", "decided_by", "counted") for s in report.get(part, [])
            if s["alias"] == alias for c in s.get("cells", [])}


def find(rows, keys, row):
    return [r for r in rows or [] if all(r[k] == row[k] for k in keys)]


def worked_out(put, value):
    """The formula with its values gives the value."""
    call = re.match(r"(sum|max|min|mean|count|cum_sum)\((.*)\)$", put)
    if call and "(" not in call[2] and "'" not in call[2]:
        of = [float(v) for v in call[2].split(", ") if v != "null"]
        got = {"sum": sum, "cum_sum": sum, "max": max, "min": min, "count": len, "mean": lambda v: sum(v) / len(v)}[call[1]](of)
    elif re.search(r"[a-z]{2,}\(.*(,|\()", put) and not put.startswith("coalesce"):
        return None  # a call of which only the values are printed
    else:
        got = float(run("eval", put).stdout)
    return None if abs(got - float(value)) <= 1e-9 * max(1, abs(got)) else "%r of %s is %r" % (value, put, got)


def left_out(name, rng, main, rows, keys):
    """`why-not` of any source row agrees with the result."""
    at = rng.randrange(1, len(main))
    got = run("why-not", "o.csv", "L%d" % (at + 1), "--json")
    if got.returncode:
        return got.stderr
    report = json.loads(got.stdout)
    if "id" in keys:
        ids = [r["id"] for r in rows]
        there = [ids.index(str(main[at][0])) + 1] if str(main[at][0]) in ids else []
    else:
        place = dict(zip(main[0], main[at]))
        there = [i + 1 for i, r in enumerate(rows) if all(r[k] == str(place[k]) for k in keys)]
        if report["verdict"] == "dropped":
            there = []  # its group exists because of other rows
        if name == "twice":
            return None
    if report["rows"] != there or report["verdict"] != ("in the result" if there else "dropped"):
        return "why-not of line %d: %r, the result has it at %r" % (at + 1, report, there)
    return None


def same(kept, again, filled, loose):
    """The stored answer is that of a second run, without values; where it cannot say which it says so."""
    bare = lambda part: [{**s, "cells": [{"cell": c["cell"]} for c in s["cells"]]} for s in part]
    wide = kept["class"] == "static"
    if wide and loose:
        return None  # it names all rows of the wide row
    for part in ("cells", "decided_by"):
        if part == "cells" and wide:
            continue
        if filled and wide:  # a second run also names the rows that gave the values
            if any(c not in a["cells"] for k, a in zip(bare(kept[part]), bare(again[part])) for c in k["cells"]):
                return "%s: %r, by a second run %r" % (part, kept[part], again[part])
        elif bare(kept[part]) != bare(again[part]):
            return "%s: %r, by a second run %r" % (part, kept[part], again[part])
    if kept["class"] != again["class"] and not (wide and (len(kept["cells"]) > 1 or filled)):
        return "class %s, by a second run %s" % (kept["class"], again["class"])
    members = ("row", "column", "formula", "composed", "output") + (("value",) if again["value"] else ())
    return next((m for m in members if kept.get(m) != again[m]), None)


FILLED = {"filled", "blanked", "imputed", "filled across"}  # which cells took values of others is not stored


def stored(name, rng, main, rows):
    """Row numbers that the run kept say what a second run says, of every column of a row and of a source row."""
    done = run("run", "p.json", "m.csv", "rates=r.csv", "-o", "o.csv", "--lineage", "rows")
    if done.returncode:
        return done.stderr
    at = str(rng.randrange(len(rows)) + 1)
    ask = [["why", "o.csv", "--row", at, "--col", c, "--json"] for c in rows[0]]
    ask += [["why-not", "o.csv", "L%d" % (rng.randrange(1, len(main)) + 1), "--json"] for _ in range(3)]
    again = [run(*a, "--again") for a in ask]
    os.rename("m.csv", "gone.csv")
    kept = [run(*a) for a in ask]
    os.rename("gone.csv", "m.csv")
    for a, k, g in zip(ask, kept, again):
        if a[0] == "why-not" and k.returncode == 4 and [d["op"] for d in json.loads(g.stdout)["dropped"]] == ["skip_rows"]:
            continue  # it had no number yet
        if k.returncode or g.returncode:
            return "%r: %s%s" % (a, k.stderr, g.stderr)
        k, g = json.loads(k.stdout), json.loads(g.stdout)
        if k.get("lineage") != "stored" or [c["file"] for c in k["changed"]] != ["gone"] or "lineage" in g:
            return "%r does not say where it is from: %r" % (a, k)
        if a[0] == "why":
            bad = same(k, g, name in FILLED, name in ("wide of two", "wide by two"))
        else:
            bad = next((m for m in ("verdict", "rows", "cell", "label") if k[m] != g[m]), None)
            bad = bad or ([(d["step"], d["op"]) for d in k["dropped"]] != [(d["step"], d["op"]) for d in g["dropped"]] and
                          "dropped") or None
        if bad:
            return "%r: stored %r, by a second run %r: %s" % (a, k, g, bad)
    return None


def trial(name, rng):
    steps, keys = PLANS[name]
    main, rates = tables(rng)
    write("m.csv", main)
    write("r.csv", rates)
    types = [{"name": "main", "types": [{"name": c, "type": t} for c, t in zip(main[0], ("int", "text", "text", "int"))]},
             {"name": "rates", "types": [{"name": "k", "type": "text"}, {"name": "r", "type": "int"}]}]
    with open("p.json", "w") as f:
        json.dump({"dtx": 1, "inputs": types, "steps": steps}, f)
    done = run("run", "p.json", "m.csv", "rates=r.csv", "-o", "o.csv")
    if done.returncode:
        return done.stderr
    rows = result("o.csv")
    if not rows:
        return None
    bad = stored(name, rng, main, rows)
    if bad:
        return bad
    run("run", "p.json", "m.csv", "rates=r.csv", "-o", "o.csv")  # without them
    at = rng.randrange(len(rows))
    keys = list(rows[0]) if keys is None else keys
    column = rng.choice([c for c in rows[0] if c not in keys] or keys)
    got = run("why", "o.csv", "--row", str(at + 1), "--col", column, "--json")
    if got.returncode:
        return got.stderr
    report = json.loads(got.stdout)
    os.rename("o.csv", "away.csv")  # then the row is made again with all others
    long = run("why", report["run"], "--row", str(at + 1), "--col", column, "--json")
    os.rename("away.csv", "o.csv")
    again_made = {} if long.returncode else json.loads(long.stdout)
    for r in (report, again_made):
        r.pop("line", None)  # is known with the file alone
    if again_made != report:
        return "by the file of the result %r, without it %s%s" % (report, long.stdout, long.stderr)
    if (report["value"] or "") != rows[at][column] or report["class"] != "exact":
        return "value %r, class %r" % (report["value"], report["class"])
    if report.get("with_values") and report["value"] and name != "lag":
        why = worked_out(report["with_values"], report["value"])
        if why:
            return why
    lines = named(report, "main")
    if not lines and name in ("before", "lag") and rows[at][column] == "":
        return None  # a cell that no row filled
    if not lines and rows[at].get("of") == "h":
        return None  # a row of rates
    for alias, table in (("main", main), ("rates", rates)):
        lines = named(report, alias)
        others = [i for i in range(1, len(table)) if i + 1 not in lines]
        if not others or (name in ("top", "best") and alias == "main") or name in LESS:
            continue  # a row that leaves lets another one in
        gone = rng.choice(others)
        less = table[:gone] + table[gone + 1:]
        if len(less) == 1:
            continue
        now = find(again("p.json", less if alias == "main" else main, less if alias == "rates" else rates), keys, rows[at])
        if (len(now) != 1 and name != "exploded") or not now or now[0].get(column, "") != rows[at][column]:
            return "%s line %d is not named, and without it %r becomes %r" % (alias, gone + 1, rows[at], now)
    lines = named(report, "main")
    if not lines:
        return "no line of main is named"
    alone = [main[0]] + [main[i - 1] for i in sorted(lines)]
    now = find(again("p.json", alone, rates), keys, rows[at])
    why = left_out(name, rng, main, rows, keys) if name not in OTHERS or keys == ID else None
    if why:
        return why
    if (len(now) != 1 and name != "exploded") or now[0].get(column, "") != rows[at][column]:
        return "the named lines alone give %r for %r" % (now, rows[at])
    return None


FEW = {"top", "limit", "sample", "asof_join"}  # a row that changes lets another one in, or out


def other_value(text):
    return "" if not text.strip() else "98765.5" if re.fullmatch(r"-?[0-9]+\.[0-9]+", text) else "987654" if re.fullmatch(r"-?[0-9.]+", text) else "zzqzz"


def wrong_address(report, column, row, table, steps, two):
    """Of an exact answer: a moved cell has the value, and a cell that is not named can change."""
    cells = [c for s in report["cells"] for c in s["cells"]]
    moved = report["formula"] is None and len(cells) == 1 and report["cells"][0]["how"] == "IDENTITY"
    if moved and (cells[0]["value"] or "") != (report["value"] or "") and steps[0]["op"] not in FORMS:
        return "%s is moved from %r" % (column, cells)
    named = {(s["column"].strip(), c["cell"]) for part in ("cells", "decided_by") for s in report[part] if s["alias"] == "main"
             for c in s["cells"]}
    rows = {c["cell"] for s in report.get("counted", []) for c in s.get("cells", [])}
    if any("ranges" in s for s in report["cells"] + report["decided_by"]) or steps[0]["op"] in FEW:
        return None
    free = [(i, k) for i in range(1, len(table)) for k, name in enumerate(table[0]) if k < len(table[i]) and
            (name.strip(), "L%d" % (i + 1)) not in named and "L%d" % (i + 1) not in rows and other_value(table[i][k])]
    if not free:
        return None
    i, k = random.Random(repr((column, steps))).choice(free)
    less = [list(r) for r in table]
    less[i][k] = other_value(table[i][k])
    write("e2.csv", less)
    if run("run", "e.json", "e2.csv", *two, "-o", "f.csv").returncode:
        return None
    now = result("f.csv")
    if not now or column not in now[0] or any(r[column] == row[column] for r in now):
        return None
    return "%s line %d is not named for %s, and with %r there %r is gone: %r" % (
        table[0][k], i + 1, column, less[i][k], row[column], report)


FORMS = {"cast", "parse_number", "parse_date", "clean_text"}  # a value has another form than its cell


def example(op, e):
    """why of a cell of each column of an op's example."""
    two = ["other=other.csv"] if e.get("with") else []
    for name, text in (("e.csv", e["in"]), ("other.csv", e.get("with") or "")):
        with open(name, "w", newline="") as f:
            f.write(text)
    with open("e.json", "w") as f:
        json.dump({"dtx": 1, "inputs": [{"name": "main"}] + [{"name": "other"}] * len(two), "steps": [e["step"]]}, f)
    if run("run", "e.json", "e.csv", *two, "-o", "d.csv").returncode:
        return None
    with open("e.csv", newline="") as f:
        table = list(csv.reader(f))
    rows = result("d.csv")
    write("e2.csv", table)  # an empty text in quotes would become a null
    again = run("run", "e.json", "e2.csv", *two, "-o", "f.csv").returncode == 0 and result("f.csv") == rows
    at = len(rows) // 2
    for column in rows[0] if rows else []:
        got = run("why", "d.csv", "--row", str(at + 1), "--col", column, "--json")
        if got.returncode:
            return "%r: %s: %s" % (e["step"], column, got.stderr)
        report = json.loads(got.stdout)
        if (report["value"] or "") != rows[at][column]:
            return "%r: %s is %r, not %r" % (e["step"], column, report["value"], rows[at][column])
        bad = wrong_address(report, column, rows[at], table, [{**e["step"], "op": op}], two) \
            if again and report["class"] == "exact" else None
        if bad:
            return "%r: %s" % (e["step"], bad)
    return None


def catalogue():
    """Each op is answered, by its examples; those of each op in turn where there are many."""
    for o in json.loads(run("ops", "--json").stdout):
        told = [e for e in o["examples"] if e.get("out") and not e.get("error")]
        for e in told[:3]:
            bad = example(o["name"], e)
            if bad:
                return "%s: %s" % (o["name"], bad)
    return None


def main():
    global passed, failed
    with tempfile.TemporaryDirectory(prefix="dtx-why-") as folder:
        os.chdir(folder)
        os.environ["DTX_STORE"] = os.path.join(folder, "store.db")
        why = catalogue()
        passed, failed = passed + (why is None), failed + (why is not None)
        print("%s - every op%s" % ("ok" if why is None else "not ok", "" if why is None else "\n# " + why))
        for name in ONLY or PLANS:
            why = None
            for seed in range(TRIALS // len(PLANS) + 1):
                why = why or trial(name, random.Random("%s %d" % (name, seed)))
            passed, failed = passed + (why is None), failed + (why is not None)
            print("%s - lineage of %s%s" % ("ok" if why is None else "not ok", name, "" if why is None else "\n# " + why))
        os.chdir("/")
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    sys.exit(failed > 0)


main()
