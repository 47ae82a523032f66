"""Times the steps that write to disk under --memory beside the same steps in memory, and both peers at the same limit.

Usage: little_memory.py DTX [ROWS [MEMORY [RUNS [CASE...]]]]   (default 5,000,000 rows, 64M, 3 runs; `make bench-peers` first)
Medians of turns: seconds elapsed / of processor time.  "own" is the most memory of the process, seen from outside, without
the pages of files; "all" is its resident memory without the pages of the input, which dtx maps.  A ratio is processor time under
the limit divided by that in memory.  The results with and without the limit must have the same bytes; peers, whose groups
have no order, must have the same rows.  What ends with an error is shown as such.  Polars has no limit of its own: it gets
so much memory more than its process has at its start.
BENCH_PEERS= (empty) leaves the peers out, BENCH_DIR says where inputs are made and kept, TMPDIR where steps write to disk.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from run import ALL, PEERS, ROOT, data, plan_of, agreement  # noqa: E402
from cases import TABLES  # noqa: E402

# Groups with small states and with growing ones, distinct, sort, the right side of a join.
SPILLING = ["six_keys", "lists_medians", "distinct", "sort_v3", "join_big"]
WHOLE = "16G"


def sizes(pid, inputs):
    """Resident memory in KiB: without pages of files, and all but those of the inputs."""
    own = whole = kib = 0
    try:
        with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as f:
            for row in f:
                if row.startswith("Rss:"):
                    kib = 0 if mapped else int(row.split()[1])
                    whole += kib
                elif row.startswith("Anonymous:"):
                    own += int(row.split()[1])
                elif "-" in row.split(" ", 1)[0]:
                    mapped = row.rstrip().endswith(tuple(inputs))
    except OSError:
        pass
    return own, whole


def run(args, env, inputs):
    """Seconds elapsed, of processor time, most KiB of its own, most KiB but the input; None: it failed."""
    start, own, whole = time.monotonic(), 0, 0
    child = subprocess.Popen(args, env=env, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        done, status, usage = os.wait4(child.pid, os.WNOHANG)
        if done:
            break
        now = sizes(child.pid, inputs)
        own, whole = max(own, now[0]), max(whole, now[1])
        time.sleep(0.02)
    child.returncode = status
    wall = time.monotonic() - start
    return None if status else (wall, usage.ru_utime + usage.ru_stime, own, whole)


def median(runs):
    return [statistics.median(x) for x in zip(*runs)] if all(runs) else None


def shown(row):
    return f"{row[0]:.1f} / {row[1]:.1f}" if row else "ends with an error"


def memory(row):
    return f"{row[2] / 1024:.0f} / {row[3] / 1024:.0f}" if row else ""


def case_row(dtx, case, rows, limit, turns, tmp):
    inputs = [str(data(name, rows)) for name in TABLES.get(case, ["g1"])]
    named = inputs[:1] + [f"other={path}" for path in inputs[1:]]
    plan, out = plan_of(case, tmp), f"{tmp}/out.csv"
    env = dict(os.environ, DTX_STORE=f"{tmp}/store.db", DTX_INPUT_SETTLE="86400", BENCH_MEMORY=limit)
    kinds = {
        "whole": [dtx, "run", plan, *named, "-o", f"{tmp}/whole.csv", "-q", "--memory", WHOLE],
        "less": [dtx, "run", plan, *named, "-o", f"{tmp}/less.csv", "-q", "--memory", limit],
    }
    for peer in PEERS:
        kinds[peer] = ["node", "tests/bench/peers.mjs", peer, case, f"{tmp}/{peer}.csv", *inputs]
    got = {kind: [] for kind in kinds}
    for _ in range(turns):
        for kind, args in kinds.items():
            got[kind].append(run(args, env, inputs))
    mid = {kind: median(runs) for kind, runs in got.items()}
    equal = subprocess.run(["cmp", "-s", f"{tmp}/whole.csv", f"{tmp}/less.csv"]).returncode == 0
    equal = equal and agreement([f"{tmp}/{name}.csv" for name in ["less", *(p for p in PEERS if mid[p])]]) == "equal"
    ratio = mid["less"][1] / mid["whole"][1] if mid["less"] and mid["whole"] else 0
    peers = "".join(f"| {shown(mid[peer])} | {memory(mid[peer])} " for peer in PEERS)
    return (f"| {ALL[case][0]} | {shown(mid['whole'])} | {shown(mid['less'])} | {ratio:.2f} | {memory(mid['less'])} "
            f"{peers}| {'equal' if equal else 'DIFFERENT'} |")


def main():
    dtx, rows, limit, turns = (sys.argv[1:5] + ["", "5000000", "64M", "3"][len(sys.argv[1:5]):])
    print(f"| case, {int(rows):,} rows, {limit} | in memory | limited | ratio | MiB own / all | "
          + "".join(f"{peer} | MiB own / all | " for peer in PEERS) + "results |")
    print("|---" * (6 + 2 * len(PEERS)) + "|")
    for case in sys.argv[5:] or SPILLING:
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as tmp:
            print(case_row(os.path.abspath(dtx), case, int(rows), limit, int(turns), tmp), flush=True)


main()
