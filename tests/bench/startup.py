"""Times the whole process of a small run: three rows of CSV, a group-by, a file and a durable record.
In turns with it: floor_run.c, which makes the same system calls without the work, and /bin/true.
The files are in TMPDIR, so that a disk and a memory file system can be compared.

Usage: startup.py DTX [RUNS]    (default 200 runs; the machine should be quiet)
"""
import os
import pathlib
import statistics
import subprocess
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
        floor = pathlib.Path(__file__).with_name("floor_run.c")
        subprocess.run(["cc", "-O2", "-o", here / "floor", floor, "-pthread"], check=True)
        turns = {"a run": argv, "its system calls alone": [f"{tmp}/floor", tmp], "/bin/true": ["/bin/true"]}
        ms = {name: [] for name in turns}
        for _ in range(runs + 1):
            for name, words in turns.items():
                ms[name].append(timed(words, env))
        if (here / "out.csv").read_text() != "g,s\na,4\nb,2\n":
            raise SystemExit("wrong result")
    for name, values in ms.items():
        cuts = statistics.quantiles(values[1:], n=20)
        print(f"{name}, {runs} times: median {statistics.median(values[1:]):.2f} ms, p95 {cuts[18]:.2f} ms")


if __name__ == "__main__":
    main()
