"""What an answer to `dtx why` costs: the run itself, then why of one cell of its result, in turn.

"new": the run computes the identity of its input, as the first run over a file does; "known": it takes that from the
record of an earlier run.  why always takes it so where nobody has written to the file.
Usage: python3 tests/bench/why.py DTX [RUNS [ROWS [ROW]]]   (of the result; default row 2; -1 is the last)
"""
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import pair

CASES = {
    "sum by id1: a group of rows / 100": ("v1", [{"op": "group_by", "by": ["id1"], "agg": {"v1": "sum(v1)"}}]),
    "sum, mean by id3: a group of 100": ("v3", [{"op": "group_by", "by": ["id3"], "agg": {"v1": "sum(v1)", "v3": "mean(v3)"}}]),
    "filter, all columns": ("v3", [{"op": "filter", "where": "v1 == 3 and id4 > 50"}]),
    "pivot": ("3", [{"op": "pivot_wider", "id": ["id4", "id5"], "names_from": ["v1"], "values_from": ["v2"], "agg": "sum",
                     "names_order": "sorted"}]),
    "two largest of each group": ("v3", [{"op": "select", "cols": ["id6", "v3"]}, {"op": "top", "n": 2, "expr": "v3", "by": ["id6"]}]),
    "sum over id3": ("s", [{"op": "select", "cols": ["id3", "v1"]}, {"op": "window", "by": ["id3"], "set": {"s": "sum(v1)"}}]),
    "sum over all rows": ("s", [{"op": "select", "cols": ["id6", "v3"]}, {"op": "derive", "set": {"s": "v3 / sum(v3)"}}]),
    "cum_sum over all rows": ("s", [{"op": "select", "cols": ["id6", "v1"]}, {"op": "derive", "set": {"s": "cum_sum(v1)"}}]),
    "distinct, 10,000 rows": ("id2", [{"op": "select", "cols": ["id1", "id2"]}, {"op": "distinct"}]),
    "ten largest of all": ("v3", [{"op": "top", "n": 10, "expr": "v3"}]),
    "sort, three columns": ("v3", [{"op": "select", "cols": ["id3", "id6", "v3"]}, {"op": "sort", "by": ["-v3"]}]),
    "join, then a group": ("v1", [{"op": "join", "with": "other", "on": "id4"}, {"op": "group_by", "by": ["name"], "agg": {"v1": "sum(v1)"}}]),
    "left join, then a group": ("v1", [{"op": "join", "with": "other", "on": "id4", "how": "left"},
                                       {"op": "group_by", "by": ["name"], "agg": {"v1": "sum(v1)"}}]),
}


def other(folder):
    """A second table: a name for each of the first hundred values of id4, few names."""
    path = pathlib.Path(folder) / "other.csv"
    path.write_text("id4,name\n" + "".join(f"{i},n{i % 7}\n" for i in range(1, 101)))
    return path


def main():
    dtx, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 10000000
    row = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    wanted = os.environ.get("BENCH_CASES", "").split(",")
    source = pair.g1(rows)
    time.sleep(max(0, 125 - (time.time() - os.stat(source).st_ctime)))
    print("seconds elapsed / of processor time, medians; ratio of why to each\n")
    print("| the run | new | known | why | to new | to known |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DTX_STORE"] = f"{folder}/store.db"
        out = f"{folder}/out.csv"
        for name, (column, steps) in CASES.items():
            if wanted != [""] and not any(name.startswith(w) for w in wanted):
                continue
            second = [f"other={other(folder)}"] if "join" in name else []
            with open(f"{folder}/plan.json", "w") as f:
                json.dump({"dtx": 1, "inputs": [{"name": "main"}, *[{"name": "other"}] * len(second)], "steps": steps}, f)
            args = [dtx, "run", f"{folder}/plan.json", str(source), *second, "-o", out, "-q"]
            pair.whole([*args])
            at = row if row > 0 else sum(1 for _ in open(out, "rb")) + row
            got = pair.turns(runs, {"new": lambda: pair.whole(args, dict(os.environ, DTX_INPUT_SETTLE="never")),
                                    "known": lambda: pair.whole(args), "why": lambda: pair.whole([dtx, "why", out, "--row", str(at), "--col", column], quiet=True)})
            seconds = [" / ".join(f"{statistics.median(g[of] for g in got[how]):.2f}" for of in (0, 1))
                       for how in ("new", "known", "why")]
            ratio = [" / ".join(f"{statistics.median(w[of] / r[of] for w, r in zip(got['why'], got[how])):.2f}" for of in (0, 1))
                     for how in ("new", "known")]
            print(f"| {name} | {' | '.join(seconds)} | {' | '.join(ratio)} |", flush=True)


main()
