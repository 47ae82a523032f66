"""What the benchmarks share: whole processes timed in turn, and ratios of the turns.

A machine is seldom quiet: each turn runs every engine once, a ratio is the median of the turns'
ratios, and processor time stands beside elapsed time.
"""
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def whole(argv, env=None, quiet=False):
    """Elapsed s, processor s, peak MiB of a process and what it waited for."""
    devnull = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)] if quiet else []
    t0 = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, env or os.environ, file_actions=devnull)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{' '.join(map(str, argv))}: failed")
    return time.perf_counter() - t0, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def duckdb(sql):
    """Elapsed s, processor s of a statement inside DuckDB's process."""
    done = subprocess.run(["node", ROOT / "tests/bench/duckdb.mjs", sql], cwd=ROOT, check=True, capture_output=True,
                          text=True)
    cpu, wall = (float(ms) / 1000 for ms in done.stdout.split())
    return wall, cpu, 0


def tool(name):
    """A program of this folder, built when it is missing or old."""
    made, source = ROOT / "build" / name, ROOT / f"tests/bench/{name}.c"
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["gcc", "-O3", "-march=native", "-o", made, source, "-lm", "-pthread"], check=True)
    return str(made)


def g1(rows):
    """The CSV of the group-by benchmark: three text keys, three integer keys, three values."""
    path = pathlib.Path(os.environ.get("BENCH_DIR", tempfile.gettempdir())) / f"dtx-bench-g1-{rows}.csv"
    if not path.exists():
        with open(f"{path}.tmp", "wb") as f:
            subprocess.run([tool("gen_g1"), str(rows)], stdout=f, check=True)
        os.rename(f"{path}.tmp", path)
    return path


def turns(runs, engines, warm=True):
    """name -> what its function returned, turn by turn; a first turn to warm up is left out."""
    got = {name: [] for name in engines}
    for _ in range(runs + warm):
        for name, run in engines.items():
            got[name].append(run())
    return {name: turn[warm:] for name, turn in got.items()}


def median(turn, i):
    return statistics.median(t[i] for t in turn)


def ratio(peer, own, i):
    return statistics.median(p[i] / o[i] for p, o in zip(peer, own))


def line(got, own="dtx", digits=2):
    """Elapsed / processor time of each engine, and how many times longer than `own` it took."""
    text = f"{own} {median(got[own], 0):.{digits}f} / {median(got[own], 1):.{digits}f} s, {median(got[own], 2):.0f} MiB"
    for name, turn in got.items():
        if name != own:
            text += (f" | {name} {median(turn, 0):.{digits}f} / {median(turn, 1):.{digits}f} s: x {ratio(turn, got[own], 0):.2f}"
                     f", processor x {ratio(turn, got[own], 1):.2f}")
    return text
