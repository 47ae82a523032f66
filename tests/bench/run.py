"""Runs dtx and its peers on the same files in turn and prints a table of medians and ratios.

Usage: run.py DTX [ROWS [RUNS [CASE...]]]    (default 10,000,000 rows, 3 runs; `make bench-peers` first)
The case `shapes` stands for all tables of unusual shapes.
dtx is timed as a whole process; peers inside theirs, start-up left out.  A ratio is the faster peer
divided by dtx: of elapsed time, and of processor time, which a busy machine disturbs less.
"dtx" computes the identity of its inputs, as it does of new ones; "known" takes it from the record
of an earlier run, as it does where nobody has written to the input since.
BENCH_PEERS=  (empty) leaves the peers out, BENCH_DIR says where inputs are made and kept.
BENCH_PARQUET=duckdb (or polars): the inputs are Parquet files that this peer has written.
BENCH_SECONDS is how long all may take: cases get fewer runs, one at least, when it is short; the
number is told.
"""
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

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cases import CASES, SHAPES, SOURCES, TABLES  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = os.environ.get("BENCH_PEERS", "duckdb polars").split()
ALL = {**CASES, **SHAPES}


def generator(name):
    tool = ROOT / "build" / name
    source = ROOT / f"tests/bench/{name}.c"
    if not tool.exists() or tool.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["gcc", "-O2", "-o", tool, source, "-lm"], check=True)
    return tool


def data(name, rows):
    made, share, args = SOURCES[name]
    folder = pathlib.Path(os.environ.get("BENCH_DIR", tempfile.gettempdir()))
    path = folder / f"dtx-bench-{name}-{rows}.csv"
    if not path.exists():
        with open(f"{path}.tmp", "wb") as f:
            subprocess.run([generator(made), str(max(rows // share, 1)), *args], stdout=f, check=True)
        os.rename(f"{path}.tmp", path)
    writer = os.environ.get("BENCH_PARQUET")
    if not writer:
        return path
    parquet = path.with_name(f"{path.stem}-{writer}.parquet")
    if not parquet.exists():
        run_peer(writer, "to_parquet", [path], f"{parquet}.tmp")
        os.rename(f"{parquet}.tmp", parquet)
    return parquet


def run_dtx(dtx, plan, inputs, out, settle):
    """Milliseconds of elapsed and of processor time, MiB."""
    env = dict(os.environ, DTX_STORE=f"{out}.store.db", DTX_INPUT_SETTLE=settle)
    names = [str(inputs[0])] + [f"other={p}" for p in inputs[1:]]
    args = os.environ.get("BENCH_ARGS", "").split()
    t0 = time.monotonic()
    pid = os.posix_spawn(dtx, [dtx, "run", plan, *names, "-o", out, "-q", *args], env)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - t0
    if status:
        raise SystemExit(f"dtx failed on {plan}")
    return wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss // 1024


def run_peer(peer, case, inputs, out):
    done = subprocess.run(["node", ROOT / "tests/bench/peers.mjs", peer, case, out, *inputs], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{peer} failed on {case}: {done.stderr}")
    return tuple(float(x) for x in done.stdout.split()[-2:])


def python_with_pandas():
    """A Python with pandas: the one that runs this file, or that of Debian; None if neither has it."""
    for python in (sys.executable, "/usr/bin/python3"):
        if not subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode:
            return python
    return None


def agreement(results):
    """Whether all results are the first one, compared in a process of its own: a child's peak memory is
    never less than its parent's."""
    python = python_with_pandas()
    if not python:
        return "not compared: no pandas"
    same = all(not subprocess.run([python, ROOT / "tests/bench/same.py", results[0], x]).returncode
               for x in results[1:])
    return "equal" if same else "DIFFER"


def plan_of(case, tmp):
    plan = pathlib.Path(tmp) / "plan.json"
    steps = ALL[case][1]
    names = {"inputs": [{"name": "main"}, {"name": "other"}]} if len(TABLES.get(case, [])) > 1 else {}
    plan.write_text(json.dumps({"dtx": 1, **names, "steps": steps} if names else steps))
    return str(plan)


def warm(path):
    """Into the page cache: the first run is as good as the next; left alone for long enough to be known."""
    time.sleep(max(0, 125 - (time.time() - os.stat(path).st_ctime)))
    with open(path, "rb") as f:
        while f.read(1 << 24):
            pass


def in_turn(names, turn):
    """Back and forth: who comes after whom finds other memory, which the host may have taken back."""
    return names[::-1] if turn % 2 else names


def measure(dtx, case, rows, runs, tmp, until):
    """Per engine the medians of elapsed and processor time; dtx's MiB; runs; whether results agree."""
    inputs = [data(name, rows) for name in TABLES.get(case, ["g1"])]
    for path in inputs:
        warm(path)
    plan = plan_of(case, tmp)
    times, rss, turn = {name: [] for name in ["dtx", "known", *PEERS]}, 0, 0.0
    while not turn or (len(times["dtx"]) < runs and time.monotonic() + turn < until):
        begin = time.monotonic()
        for name in in_turn(list(times), len(times["dtx"])):
            if name in PEERS:
                times[name].append(run_peer(name, case, inputs, f"{tmp}/{name}.csv"))
                continue
            *ms, mb = run_dtx(dtx, plan, inputs, f"{tmp}/{name}.csv", "120" if name == "known" else "never")
            times[name].append(ms)
            rss = max(rss, mb)
        turn = time.monotonic() - begin
    mid = {k: [statistics.median(x) for x in zip(*v)] for k, v in times.items()}
    return mid, rss, len(times["dtx"]), agreement([f"{tmp}/{name}.csv" for name in times])


def main():
    dtx, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    cases, begin = sys.argv[4:] or list(CASES), time.monotonic()
    cases = list(SHAPES) if cases == ["shapes"] else cases
    seconds = float(os.environ.get("BENCH_SECONDS") or 1e9)
    generator("rows")
    print(f"{time.strftime('%Y-%m-%d')}, {rows:,} rows, {os.cpu_count()} cores, {platform.machine()}, "
          f"load {os.getloadavg()[0]:.1f}; ms elapsed / processor, ratios likewise\n")
    print("| case | dtx | known | MiB | " + " | ".join(PEERS) + " | ratio | known | runs | results |")
    print("|---" * (8 + len(PEERS)) + "|")
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as tmp:
        for i, case in enumerate(cases):
            until = begin + seconds * (i + 1) / len(cases)
            mid, rss, turns, agree = measure(dtx, case, rows, runs, tmp, until)
            cells = [f"{mid[k][0]:.0f} / {mid[k][1]:.0f}" for k in ["dtx", "known", *PEERS]]
            cells.insert(2, str(rss))
            for name in ("dtx", "known"):
                ratio = [min((mid[p][i] for p in PEERS), default=0) / max(mid[name][i], 1) for i in (0, 1)]
                cells.append(" / ".join(f"{r:.2f}" for r in ratio))
            print(f"| {ALL[case][0]} | " + " | ".join(cells) + f" | {turns} | {agree} |", flush=True)
    print(f"\n{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
