"""Times the whole process of a small run: three rows of CSV, a group-by, a file and a durable record.

Usage: startup.py DTX [RUNS]    (default 200 runs; the machine should be quiet)
"""
import os
import pathlib
import statistics
import sys
import tempfile
import time

PLAN = '{"dtx":1,"steps":[{"op":"group_by","by":["g"],"agg":[{"as":"s","expr":"sum(v)"}]}]}'


def timed(argv, env):
    t0 = time.perf_counter()
    _, status = os.waitpid(os.posix_spawn(argv[0], argv, env), 0)
    if status:
        raise SystemExit(f"failed: {' '.join(argv)}")
    return (time.perf_counter() - t0) * 1000


def main():
    dtx, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as tmp:
        here = pathlib.Path(tmp)
        (here / "plan.json").write_text(PLAN)
        (here / "in.csv").write_text("g,v\na,1\nb,2\na,3\n")
        env = dict(os.environ, DTX_STORE=f"{tmp}/store.db")
        argv = [dtx, "run", f"{tmp}/plan.json", f"{tmp}/in.csv", "-o", f"{tmp}/out.csv", "-q"]
        ms = sorted(timed(argv, env) for _ in range(runs + 1))[:-1]
        if (here / "out.csv").read_text() != "g,s\na,4\nb,2\n":
            raise SystemExit("wrong result")
    cuts = statistics.quantiles(ms, n=20)
    print(f"startup, {runs} runs: median {statistics.median(ms):.2f} ms, p95 {cuts[18]:.2f} ms")


if __name__ == "__main__":
    main()
