"""How the time of dtx grows with rows, and falls with cores.

Usage: scaling.py DTX [RUNS [ROWS...]]    (default 5 runs of 100,000, 1,000,000 and 10,000,000 rows)
Each case runs on one core (bound to it, --threads 1) and on two (--threads 2), in turn; the whole process
with the input's identity and the record; with BENCH_KNOWN set it is known from a run before.  Elapsed
time tells what a second core brings on a quiet machine only; the processor time of a row tells the growth on
any.  BENCH_CASES names other cases.  "Off a line" is how far the times are from the straight line, a fixed cost and one a
row, that is nearest to all of them.  Where the machine is a guest whose host takes free memory back,
a gigabyte that is touched for the first time may take seconds, most of them in the kernel, which clears the pages:
hence the growth without its time.  With BENCH_HOLD set it is held ready for each run instead (held.py).
"""
import os
import pathlib
import resource
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run  # noqa: E402
from cases import CASES, TABLES  # noqa: E402
from held import Held  # noqa: E402

DEFAULT = "sum_by_id1 sum_mean_by_id3 median_std six_keys filter_wide sort_v3 join_big distinct unpivot"


def off_line(sizes, times):
    """How far the times are from the nearest line a + b * rows, as a part of the line; a is looked for as so many rows."""
    def off(rows):
        cost = [t / (rows + n) for n, t in zip(sizes, times)]
        return (max(cost) - min(cost)) / (max(cost) + min(cost))
    return min(off(min(sizes) * fixed / 100) for fixed in range(0, 10_000))


def once(dtx, plan, inputs, out, cores, held):
    """Elapsed, processor ms and that of the kernel on so many cores; what an old output costs to take away is
    left out."""
    pathlib.Path(out).unlink(missing_ok=True)
    if not os.environ.get("BENCH_KNOWN"):
        for path in pathlib.Path(out).parent.glob("*.store.db*"):
            path.unlink()
    names = [str(inputs[0])] + [f"other={p}" for p in inputs[1:]]
    env = dict(os.environ, DTX_STORE=f"{out}.store.db")
    every = os.sched_getaffinity(0)
    held.fill()
    os.sched_setaffinity(0, sorted(every)[:cores])
    t0 = time.perf_counter()
    pid = os.posix_spawn(dtx, [dtx, "run", plan, *names, "-o", out, "-q", "--threads", str(cores)], env)
    os.sched_setaffinity(0, every)
    follows = held.follow(pid, out)
    _, status, usage = os.wait4(pid, 0)
    elapsed = time.perf_counter() - t0
    follows.join()
    if status:
        raise SystemExit(f"dtx failed on {plan}")
    return elapsed * 1000, (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_stime * 1000


def measure(dtx, case, rows, runs, tmp, held):
    """Medians: elapsed ms on one core, on two, their ratio turn by turn, processor ms on one core, the kernel's."""
    inputs = [run.data(name, rows) for name in TABLES.get(case, ["g1"])]
    plan, out = run.plan_of(case, tmp), f"{tmp}/out.csv"
    once(dtx, plan, inputs, out, 2, held)
    turns = [[once(dtx, plan, inputs, out, cores, held) for cores in (1, 2)] for _ in range(runs)]
    mid = statistics.median
    return (mid(a[0] for a, b in turns), mid(b[0] for a, b in turns), mid(a[0] / b[0] for a, b in turns),
            mid(a[1] for a, b in turns), mid(a[2] for a, b in turns))


def main():
    dtx, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    sizes = [int(n) for n in sys.argv[3:]] or [100_000, 1_000_000, 10_000_000]
    print(f"median of {runs}, load {os.getloadavg()[0]:.1f}; elapsed ms on one core / on two (ratio), processor ns a row\n")
    print("| case | " + " | ".join(f"{n:,} rows" for n in sizes) + " | off a line: elapsed / processor / without the kernel |")
    print("|---" * (len(sizes) + 2) + "|")
    held = Held(bool(os.environ.get("BENCH_HOLD")))
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as tmp:
        for case in os.environ.get("BENCH_CASES", DEFAULT).split():
            cells, times = [], []
            for n in sizes:
                one, two, ratio, cpu, kernel = measure(dtx, case, n, runs, tmp, held)
                times.append((one, cpu, cpu - kernel))
                cells.append(f"{one:.0f} / {two:.0f} ({ratio:.2f}), {cpu * 1e6 / n:.0f} ns")
            growth = " / ".join(f"{off_line(sizes, kind):.0%}" for kind in zip(*times))
            print(f"| {CASES[case][0]} | " + " | ".join(cells) + f" | {growth} |", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
