"""What --engine local://2 costs against one process: processor time of the same plan over the same rows, and whether the
results are equal. The bar is 1.3.

Usage: cluster.py DTX [ROWS] [REPEATS]
ROWS: of gen_g1 (10,000,000: 390 MB; 20,000,000: 1 GB)
"""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

DTX = str(pathlib.Path(sys.argv[1]).resolve())
ROWS = sys.argv[2] if len(sys.argv) > 2 else "10000000"
REPEATS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
PLANS = {
    "scan, all rows written": [{"op": "filter", "where": "v1 > 0"}, {"op": "derive", "set": {"w": "v1 * v3"}}],
    "scan, few rows written": [{"op": "filter", "where": "v1 = 3 and id4 > 95"}],
    "group_by, few groups": [{"op": "group_by", "by": ["id1"], "agg": {"s": "sum(v1)", "m": "mean(v3)"}}],
    "group_by, many groups": [{"op": "group_by", "by": ["id3"], "agg": {"s": "sum(v1)", "m": "mean(v3)"}}],
}


def seconds(folder, args):
    """Processor time of a run, its fragments included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([DTX, "run", "plan.json", "in.csv", *args], cwd=folder, check=True,
                   env=dict(os.environ, DTX_STORE=str(folder / "store.db"), TMPDIR=str(folder)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    with tempfile.TemporaryDirectory(prefix="dtx-bench-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        folder = pathlib.Path(name)
        source = pathlib.Path(__file__).resolve().parent / "gen_g1.c"
        subprocess.run(["gcc", "-O2", "-o", str(folder / "gen"), str(source), "-lm"], check=True)
        with open(folder / "in.csv", "w") as f:
            subprocess.run([str(folder / "gen"), ROWS], stdout=f, check=True)
        for what, steps in PLANS.items():
            (folder / "plan.json").write_text(json.dumps({"dtx": 1, "steps": steps}))
            one, two = [], []
            for _ in range(REPEATS):
                one.append(seconds(folder, ["-o", "one.csv"]))
                two.append(seconds(folder, ["-o", "two.csv", "--engine", "local://2"]))
            same = (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()
            a, b = statistics.median(one), statistics.median(two)
            print("%-24s one process %6.2f s, local://2 %6.2f s: %4.2f times%s" % (what, a, b, b / a, "" if same else ", OTHER BYTES"), flush=True)


main()
