"""How the time of dtx grows with rows, and falls with cores.

Usage: scaling.py DTX [RUNS [ROWS...]]    (default 5 runs of 100,000, 1,000,000 and 10,000,000 rows)
Each case runs on one core (bound to it, --threads 1) and on two (--threads 2), in turn; the whole process
with the input's SHA-256 and the record; with BENCH_KNOWN set the SHA-256 is known from a run before.  Elapsed
time tells what a second core brings on a quiet machine only; the processor time of a row tells the growth on
any.  BENCH_CASES names other cases.  Where the machine is a guest whose host takes free memory back,
a gigabyte that is touched for the first time may take seconds, most of them in the kernel, which clears the pages:
hence the growth without its time.  BENCH_TOUCH says how many GiB are touched and freed before each run.
"""
import mmap
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

DEFAULT = "sum_by_id1 sum_mean_by_id3 median_std six_keys filter_wide sort_v3 join_big distinct unpivot"


def touch(gib):
    """So much memory, fetched from the host and free again."""
    piece = bytes(1 << 20)
    with mmap.mmap(-1, gib << 30) as block:
        block.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, gib << 30, len(piece)):
            block[at:at + len(piece)] = piece


def once(dtx, plan, inputs, out, cores):
    """Elapsed, processor ms and that of the kernel on so many cores; what an old output costs to take away is
    left out."""
    pathlib.Path(out).unlink(missing_ok=True)
    if not os.environ.get("BENCH_KNOWN"):
        for path in pathlib.Path(out).parent.glob("*.store.db*"):
            path.unlink()
    names = [str(inputs[0])] + [f"other={p}" for p in inputs[1:]]
    env = dict(os.environ, DTX_STORE=f"{out}.store.db")
    every = os.sched_getaffinity(0)
    if os.environ.get("BENCH_TOUCH"):
        touch(int(os.environ["BENCH_TOUCH"]))
    os.sched_setaffinity(0, sorted(every)[:cores])
    t0 = time.perf_counter()
    pid = os.posix_spawn(dtx, [dtx, "run", plan, *names, "-o", out, "-q", "--threads", str(cores)], env)
    os.sched_setaffinity(0, every)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"dtx failed on {plan}")
    return (time.perf_counter() - t0) * 1000, (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_stime * 1000


def measure(dtx, case, rows, runs, tmp):
    """Medians: elapsed ms on one core, on two, their ratio turn by turn, processor ms on one core, the kernel's."""
    inputs = [run.data(name, rows) for name in TABLES.get(case, ["g1"])]
    plan, out = run.plan_of(case, tmp), f"{tmp}/out.csv"
    once(dtx, plan, inputs, out, 2)
    turns = [(once(dtx, plan, inputs, out, 1), once(dtx, plan, inputs, out, 2)) for _ in range(runs)]
    mid = statistics.median
    return (mid(a[0] for a, b in turns), mid(b[0] for a, b in turns), mid(a[0] / b[0] for a, b in turns),
            mid(a[1] for a, b in turns), mid(a[2] for a, b in turns))


def main():
    dtx, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    sizes = [int(n) for n in sys.argv[3:]] or [100_000, 1_000_000, 10_000_000]
    print(f"median of {runs}, load {os.getloadavg()[0]:.1f}; elapsed ms on one core / on two (ratio), processor ns a row\n")
    print("| case | " + " | ".join(f"{n:,} rows" for n in sizes) + " | a row, last / middle: processor / without the kernel |")
    print("|---" * (len(sizes) + 2) + "|")
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as tmp:
        for case in os.environ.get("BENCH_CASES", DEFAULT).split():
            cells, cost, own = [], [], []
            for n in sizes:
                one, two, ratio, cpu, kernel = measure(dtx, case, n, runs, tmp)
                cost.append(cpu * 1e6 / n)
                own.append((cpu - kernel) * 1e6 / n)
                cells.append(f"{one:.0f} / {two:.0f} ({ratio:.2f}), {cost[-1]:.0f} ns")
            growth = " / ".join(f"{each[-1] / each[len(each) // 2]:.2f}" for each in (cost, own))
            print(f"| {CASES[case][0]} | " + " | ".join(cells) + f" | {growth} |", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
