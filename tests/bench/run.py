"""Runs dtx and its peers on the same file in turn and prints a table of medians and ratios.

Usage: run.py DTX [ROWS] [RUNS]    (default 10,000,000 rows, 5 runs; `make bench-peers` first)
dtx is timed as a whole process; peers inside theirs, start-up left out.  Results are compared as
sets of rows with numbers within 1e-9.
"""
import csv
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLANS = {
    "sum_by_id1": [{"op": "group_by", "by": ["id1"], "agg": {"v1": "sum(v1)"}}],
    "sum_mean_by_id3": [{"op": "group_by", "by": ["id3"], "agg": {"v1": "sum(v1)", "v3": "mean(v3)"}}],
    "count_rows": [{"op": "group_by", "by": [], "agg": {"n": "count()"}}],
    "filter_wide": [{"op": "filter", "where": "v1 == 3 and id4 > 50"}],
    "sort_v3": [{"op": "sort", "by": ["-v3"]}],
}


def data(rows):
    path = pathlib.Path(tempfile.gettempdir()) / f"dtx-bench-{rows}.csv"
    if not path.exists():
        gen = ROOT / "build/gen_g1"
        subprocess.run(["gcc", "-O2", "-o", gen, ROOT / "tests/bench/gen_g1.c", "-lm"], check=True)
        with open(str(path) + ".tmp", "wb") as f:
            subprocess.run([gen, str(rows)], stdout=f, check=True)
        os.rename(str(path) + ".tmp", path)
    return path


def run_dtx(dtx, plan, path, out):
    env = dict(os.environ, DTX_STORE=str(out) + ".store.db")
    t0 = time.monotonic()
    pid = os.posix_spawn(dtx, [dtx, "run", plan, str(path), "-o", str(out), "-q"], env)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - t0
    if status:
        raise SystemExit(f"dtx failed on {plan}")
    return wall * 1000, usage.ru_maxrss // 1024


def run_peer(peer, case, path, out):
    done = subprocess.run(["node", ROOT / "tests/bench/peers.mjs", peer, case, path, out], cwd=ROOT, check=True,
                          capture_output=True, text=True)
    return float(done.stdout.strip().splitlines()[-1])


def table(path):
    with open(path, newline="") as f:
        rows = list(csv.reader(f))
    return rows[0], sorted(rows[1:])


def close(a, b):
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    return abs(x - y) <= 1e-9 * max(abs(x), abs(y))


def same(a, b):
    (ha, ra), (hb, rb) = table(a), table(b)
    return ha == hb and len(ra) == len(rb) and all(close(x, y) for p, q in zip(ra, rb) for x, y in zip(p, q))


def main():
    dtx, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    only = sys.argv[4:] or list(PLANS)
    path = data(rows)
    print(f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores, {platform.machine()}, median of {runs}")
    print(f"{'case':18}{'dtx ms':>9}{'MiB':>7}{'duckdb':>9}{'ratio':>7}{'polars':>9}{'ratio':>7}  results")
    with tempfile.TemporaryDirectory() as tmp:
        for case in only:
            plan = pathlib.Path(tmp) / "plan.json"
            plan.write_text(json.dumps(PLANS[case]))
            times, rss = {"dtx": [], "duckdb": [], "polars": []}, []
            for _ in range(runs + 1):
                wall, mb = run_dtx(dtx, str(plan), path, f"{tmp}/dtx.csv")
                times["dtx"].append(wall)
                rss.append(mb)
                for peer in ("duckdb", "polars"):
                    times[peer].append(run_peer(peer, case, path, f"{tmp}/{peer}.csv"))
            mid = {k: statistics.median(v[1:]) for k, v in times.items()}
            agree = ("equal" if same(f"{tmp}/dtx.csv", f"{tmp}/duckdb.csv") and same(f"{tmp}/dtx.csv", f"{tmp}/polars.csv") else "DIFFER")
            print(f"{case:18}{mid['dtx']:9.0f}{max(rss):7d}{mid['duckdb']:9.0f}{mid['duckdb'] / mid['dtx']:7.2f}"
                  f"{mid['polars']:9.0f}{mid['polars'] / mid['dtx']:7.2f}  {agree}", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
