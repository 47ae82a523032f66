"""What the record of a run costs: whole runs of dtx beside runs of a dtx that keeps none (make bare), in turn.

The record takes the hashes of inputs and outputs, row hashes, a sample of the result's columns and two commits to the
store.  The identity of the input is most of it and is given apart: "computed", as of a new file; "known" takes it from
the record of an earlier run of the same file; SHA-256 of the whole and the weaker one where `--input-hash` says so.
Usage: python3 tests/bench/overhead.py DTX BARE [RUNS [ROWS ...]]
"""
import json
import os
import statistics
import sys
import tempfile
import time

import pair

CASES = {
    "sum by a key of 100": [{"op": "group_by", "by": ["id1"], "agg": {"v1": "sum(v1)"}}],
    "sum, mean by a key of rows / 100": [{"op": "group_by", "by": ["id3"], "agg": {"v1": "sum(v1)", "v3": "mean(v3)"}}],
    "median, sd by two keys": [{"op": "group_by", "by": ["id4", "id5"], "agg": {"m": "median(v3)", "s": "std(v3)"}}],
    "filter, a tenth, all columns": [{"op": "filter", "where": "v1 == 3 and id4 > 50"}],
    "derive, all rows written": [{"op": "derive", "set": {"x": "v3 * 2 + v1"}}],
    "sort, three columns": [{"op": "select", "cols": ["id3", "id6", "v3"]}, {"op": "sort", "by": ["-v3"]}],
    "window over a key": [{"op": "select", "cols": ["id3", "v1"]}, {"op": "window", "by": ["id3"], "set": {"s": "sum(v1)"}}],
}

HOWS = {"computed": ("auto", {"DTX_INPUT_SETTLE": "never"}), "known": ("auto", {}), "sha256": ("sha256", {}), "xxh3": ("xxh3", {})}


def percent(got, base, of):
    return 100 * (statistics.median(g[of] / b[of] for g, b in zip(got, base)) - 1)


def main():
    dtx, bare = map(os.path.abspath, sys.argv[1:3])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    sizes = [int(n) for n in sys.argv[4:]] or [1000000, 10000000]
    print("elapsed / processor time beyond a run without a record\n")
    print("| rows | the run | without, s | computed | known | `sha256` | `xxh3` |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DTX_STORE"] = f"{folder}/store.db"
        for rows in sizes:
            for name, steps in CASES.items():
                with open(f"{folder}/plan.json", "w") as f:
                    json.dump({"dtx": 1, "steps": steps}, f)
                time.sleep(max(0, 125 - (time.time() - os.stat(pair.g1(rows)).st_ctime)))
                args = ["run", f"{folder}/plan.json", str(pair.g1(rows)), "-o", f"{folder}/out.csv", "-q"]
                got = pair.turns(runs, {"bare": lambda: pair.whole([bare, *args, "--input-hash", "xxh3"]), **{
                    name: (lambda how=how, more=more: pair.whole([dtx, *args, "--input-hash", how], dict(os.environ, **more)))
                    for name, (how, more) in HOWS.items()}})
                told = [" / ".join(f"{percent(got[name], got['bare'], of):+.0f} %" for of in (0, 1)) for name in HOWS]
                base = " / ".join(f"{statistics.median(b[of] for b in got['bare']):.2f}" for of in (0, 1))
                print(f"| {rows:,} | {name} | {base} | {' | '.join(told)} |", flush=True)


main()
