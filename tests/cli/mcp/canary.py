"""Under the default policy no cell reaches a result, an error or the log. Each cell of each file is a canary."""
import json

from client import Client, show

MARK = "Zq7"
ROWS = [[f"{MARK}{'abcdef'[k]}{i}" for k in range(4)] for i in range(6)]
HEAD = ["name", "day", "hours", "place"]


def write(path, rows, head=HEAD):
    with open(path, "w") as f:
        f.write("\n".join(",".join(r) for r in [head, *rows]) + "\n")


write("in.csv", ROWS)
write("twice.csv", ROWS + ROWS)
write("ragged.csv", ROWS + [[MARK + "r"] * 6])
write("total.csv", ROWS + [["Total", MARK + "t", "", ""]])
with open("in.json", "w") as f:
    json.dump([dict(zip(HEAD, r)) for r in ROWS], f)
with open("bad.json", "w") as f:
    f.write('[{"name": "%s1"}, {"name": %s}]' % (MARK, MARK))
with open("latin.csv", "wb") as f:
    f.write(b"name,day\n" + MARK.encode() + b"\xff\xfe," + MARK.encode() + b"\n")
with open("quote.csv", "w") as f:
    f.write(f'name,day\n"{MARK}1,2\n{MARK}"x,3\n')
with open("garbage.xlsx", "wb") as f:
    f.write(b"PK\x03\x04" + MARK.encode() * 50)


def plan(*steps, **more):
    return dict({"dtx": 1, "steps": list(steps)}, **more)


def derive(expr):
    return {"op": "derive", "set": [{"as": "x", "expr": expr}]}


PLANS = {
    "cast": plan({"op": "cast", "columns": {"hours": "int"}}),
    "cast to date": plan({"op": "parse_date", "columns": ["day"], "format": "%Y-%m-%d"}),
    "number": plan({"op": "parse_number", "columns": ["hours"]}),
    "sum": plan({"op": "group_by", "by": ["name"], "agg": {"t": "sum(hours)"}}),
    "arithmetic": plan(derive("hours + 1")),
    "to_int": plan(derive("to_int(hours)")),
    "compare": plan({"op": "filter", "where": "hours > 3"}),
    "not a condition": plan({"op": "filter", "where": "hours"}),
    "unknown function": plan(derive("zap(hours)")),
    "unknown column": plan(derive("hour + 1")),
    "unknown op": plan({"op": "zap"}),
    "left to a snippet": plan({"op": "tidy_up", "snippet": True}),
    "expect": plan({"op": "limit", "n": 3}, expect={"columns": [{"name": "hours", "type": "int"}]}),
    "assert": plan({"op": "assert", "where": "hours = 'x'"}),
    "unique": plan({"op": "assert", "unique": ["name"]}),
    "in": plan({"op": "assert", "column": "name", "in": ["a", "b"]}),
    "pivot": plan({"op": "pivot_wider", "names_from": "name", "values_from": "hours"}),
    "pivot, then a column that is not there": plan({"op": "pivot_wider", "names_from": "name", "values_from": "hours"},
                                                   {"op": "drop", "columns": [MARK[:2] + "a0"]}),
    "pivot, then a cast": plan({"op": "pivot_wider", "names_from": "name", "values_from": "hours"},
                               {"op": "cast", "columns": {"*": "int"}}),
    "header of cells": plan({"op": "promote_header", "row": 1}),
    "transpose": plan({"op": "transpose"}),
    "crosstab": plan({"op": "crosstab", "rows": "name", "columns": "day"}),
    "recode": plan({"op": "recode", "column": "name", "map": {"a": "b"}, "other": "error"}),
    "typed": plan({"op": "limit", "n": 1}, inputs=[{"name": "main", "types": {"hours": "int"}}]),
    "cross": plan({"op": "join", "with": "other", "on": ["name"], "cardinality": "one_to_one"},
                  inputs=[{"name": "main"}, {"name": "other"}]),
    "unmatched": plan({"op": "join", "with": "other", "on": ["name"], "unmatched": "error"},
                      inputs=[{"name": "main"}, {"name": "other"}]),
    "split": plan({"op": "separate", "column": "name", "into": ["a", "b"], "sep": "-"}),
    "works": plan({"op": "filter", "where": "hours != 'x'"}),
}
FILES = ("in.csv", "twice.csv", "ragged.csv", "total.csv", "in.json", "bad.json", "latin.csv", "quote.csv", "garbage.xlsx")
PROGRAM = {
    "print": "print(tables['t'])",
    "raise": "raise ValueError(tables['t'].iloc[0, 0])",
    "key": "tables['t'][tables['t'].iloc[0, 0]]",
    "type": "raise type(tables['t'].iloc[0, 0], (Exception,), {})()",
    "name": "open('/out/' + tables['t'].iloc[0, 0] + '.txt', 'w').write('x')",
    "exit": "raise SystemExit(tables['t'].iloc[0, 0])",
    "stderr": "import sys\nsys.stderr.write(str(tables['t'].iloc[0, 0]))",
    "file": "print(open('/in/f').read())",
}
SNIPPETS = (
    "def transform(tables, params):\n    raise KeyError(tables['main'].iloc[0, 0])\n",
    "def transform(tables, params):\n    return tables['main'][tables['main'].iloc[0, 0]]\n",
    "def transform(tables, params):\n    raise ValueError('DTX_CANNOT: ' + tables['main'].iloc[0, 0])\n",
)


def everything(client):
    """Uses each tool on each file; returns how many of each status came."""
    count = {}

    def note(result):
        status = "refused" if isinstance(result, str) else result["status"]
        count[status] = count.get(status, 0) + 1
        return result

    for path in FILES:
        note(client.call("describe", path=path))
    for name, one in PLANS.items():
        files = {"main": "in.csv", **({"other": "twice.csv"} if len(one.get("inputs", [])) > 1 else {})}
        note(client.call("run_plan", plan=one, files=files, dry_run=True))
        result = note(client.call("run_plan", plan=one, files=files))
        for code in SNIPPETS if name in ("sum", "left to a snippet") else ():
            if result["status"] == "needs_code":
                note(client.call("submit_code", ticket=result["ticket"], code=code))
        for tool, more in (("provenance", {}), ("why", {"column": "name", "row": 1}), ("replay", {})):
            note(client.call(tool, run=result["run_id"], **more))
    for path in FILES[1:]:
        note(client.call("run_plan", plan=PLANS["works"], files={"main": path}))
    for code in PROGRAM.values():
        note(client.call("run_python", code=code, tables={"t": "in.csv"}, files={"f": "in.csv"}))
    result = note(client.call("run_plan", plan=PLANS["works"], files={"main": "in.csv"}, output="out.csv", replace=True))
    client.ask("resources/read", {"uri": result["outputs"][0]["uri"]})
    client.ask("resources/read", {"uri": "dtx://run/" + result["run_id"]})
    note(client.call("why", run="out.csv", column="hours", key={"name": "absent"}))
    write("in.csv", [[c + "x" for c in r] for r in ROWS])
    note(client.call("replay", run="out.csv"))
    write("out.csv", ROWS[1:])
    note(client.call("replay", run="out.csv"))
    write("in.csv", ROWS)
    note(client.call("list", limit=200))
    return count


with open("log", "wb") as log:
    c = Client(stderr=log)
    count = everything(c)
    show("end", c.end())
for line in c.bytes.split(b"\n"):
    if MARK.encode() in line:
        at = line.index(MARK.encode())
        print("a cell in a result:", line[max(0, at - 300):at + 60])
show("default", [sorted(count), MARK in open("log").read()])
assert count["ok"] > 20 and count["failed"] > 10 and count["refused"] > 5, count

# where rows may be shown they are, and so are the messages
c = Client("--sample", "rows:2")
show("rows", [c.call("describe", path="in.csv")["file"]["sample"],
              c.call("run_plan", plan=PLANS["works"], files={"main": "in.csv"})["outputs"][0]["preview"],
              c.call("run_plan", plan=PLANS["cast"], files={"main": "in.csv"})["errors"][0]["message"]])
hidden = c.call("run_python", code=PROGRAM["print"], tables={"t": "in.csv"})
show("programs", [hidden["withheld"], sorted(hidden)])
show("end", c.end())
