"""One-liners over a CSV file, as whole processes: dtx pipe, Miller and pandas.

Usage: shell.py DTX [ROWS [TURNS]]     (needs miller and python3-pandas; `make bench-peers`)
Each turn runs every engine once; printed are medians of elapsed and processor time, the memory at
its highest, and the ratio to dtx.  Results are compared as tables of numbers.  dtx computes the
input's identity and keeps its record in each run (`--input-hash` as by default).
"""
import csv
import os
import statistics
import sys
import tempfile

import pair
import run

CASES = {
    "sum by a key of 100": (
        ["group_by", "id1", "v1=sum(v1)", "then", "sort", "id1"],
        ["stats1", "-a", "sum", "-f", "v1", "-g", "id1", "then", "rename", "v1_sum,v1", "then", "sort", "-f", "id1"],
        "df.groupby('id1', as_index=False)['v1'].sum().sort_values('id1')"),
    "means of three columns by a key of 100": (
        ["group_by", "id4", "v1=mean(v1)", "v2=mean(v2)", "v3=mean(v3)", "then", "sort", "id4"],
        ["stats1", "-a", "mean", "-f", "v1,v2,v3", "-g", "id4", "then", "rename",
         "v1_mean,v1,v2_mean,v2,v3_mean,v3", "then", "sort", "-nf", "id4"],
        "df.groupby('id4', as_index=False)[['v1', 'v2', 'v3']].mean().sort_values('id4')"),
    "filter, then a new column": (
        ["filter", "v1 == 3 and id4 > 50", "then", "derive", "w=v3 * v2"],
        ["filter", "$v1 == 3 && $id4 > 50", "then", "put", "$w = $v3 * $v2"],
        "df[(df.v1 == 3) & (df.id4 > 50)].assign(w=lambda d: d.v3 * d.v2)"),
    "the ten largest": (
        ["sort", "-v3", "then", "limit", "10"],
        ["top", "-n", "10", "-f", "v3", "-a"],
        "df.nlargest(10, 'v3')"),
}


def same(a, b):
    """Whether two CSV files hold the same table; numbers may differ in the last digits."""
    with open(a, newline="") as one, open(b, newline="") as two:
        rows = list(csv.reader(one)), list(csv.reader(two))
    if len(rows[0]) != len(rows[1]):
        return False
    for x, y in zip(*rows):
        for p, q in zip(x, y):
            if p != q and abs(float(p) - float(q)) > 1e-9 * abs(float(q)):
                return False
    return True


def main():
    dtx = os.path.abspath(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    turns = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    path = run.data("g1", rows)
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, DTX_STORE=tmp + "/store.db")
        for name, (words, verbs, code) in CASES.items():
            out = {e: f"{tmp}/{e}.csv" for e in ("dtx", "miller", "pandas")}
            argv = {
                "dtx": [dtx, "pipe", "-q", path, "-o", out["dtx"], "--"] + words,
                "miller": ["sh", "-c", 'mlr --icsv --ocsv "$@" > "$0"', out["miller"]] + verbs + [path],
                "pandas": ["/usr/bin/python3", "-c", "import sys, pandas as pd; df = pd.read_csv(sys.argv[1]); "
                           f"({code}).to_csv(sys.argv[2], index=False)", path, out["pandas"]]}
            times = {e: [] for e in argv}
            for _ in range(turns):
                for engine, line in argv.items():
                    if engine == "dtx" and os.path.exists(out["dtx"]):
                        os.unlink(out["dtx"])
                    times[engine].append(pair.whole(line, env))
            print(name, flush=True)
            for engine, got in times.items():
                median = [statistics.median(t[i] for t in got) for i in range(3)]
                ratio = [statistics.median(a[i] / b[i] for a, b in zip(got, times["dtx"])) for i in range(2)]
                equal = "" if engine == "dtx" else "equal" if same(out[engine], out["dtx"]) else "OTHER RESULT"
                print(f"  {engine:8} {median[0]:7.2f} s {median[1]:7.2f} s of processor time {median[2]:6.0f} MiB  "
                      f"{ratio[0]:6.1f} x {ratio[1]:6.1f} x  {equal}", flush=True)


main()
