"""CSV to Parquet, and what was written to CSV: dtx against DuckDB and Polars.

Usage: parquet_out.py DTX [ROWS] [RUNS]    (default 10,000,000 rows, 3 runs; `make bench-peers` first)
dtx is timed as a whole process with its durable record, the others inside their own, start-up left out.
DuckDB compares the rows of the files; the sizes are of files with the same codec and level. Memory of dtx
is what it allocates: the pages of its mapped input belong to the system.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import pair

SAME = "SELECT CASE WHEN (SELECT count(*) FROM (FROM '{0}' EXCEPT ALL FROM '{1}')) = 0 AND (SELECT count(*) FROM '{0}') " \
       "= (SELECT count(*) FROM '{1}') THEN 1 ELSE error('the rows differ') END"


def private(argv):
    """Elapsed s, processor s and peak MiB of private memory of a process."""
    peak = [0]

    def watch(pid):
        try:
            while True:
                with open(f"/proc/{pid}/status") as f:
                    peak[0] = max(peak[0], int(re.search(r"RssAnon:\s+(\d+)", f.read()).group(1)) // 1024)
                time.sleep(0.02)
        except (OSError, AttributeError):
            pass

    before = os.times()
    process = subprocess.Popen(argv)
    watcher = threading.Thread(target=watch, args=[process.pid])
    watcher.start()
    if process.wait():
        raise SystemExit(f"{' '.join(map(str, argv))}: failed")
    watcher.join()
    after = os.times()
    return after.elapsed - before.elapsed, after.children_user + after.children_system - before.children_user - before.children_system, peak[0]


def polars(source, target, codec=""):
    done = subprocess.run(["node", pair.ROOT / "tests/bench/polars_convert.mjs", source, target, codec], cwd=pair.ROOT,
                          check=True, capture_output=True, text=True)
    return (*json.loads(done.stdout), 0)


def main():
    dtx = os.path.abspath(sys.argv[1])
    rows, runs = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000, int(sys.argv[3]) if len(sys.argv) > 3 else 3
    source = pair.g1(rows)
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        os.environ["DTX_STORE"] = f"{folder}/store.db"
        at = pathlib.Path(folder)
        for codec in ("zstd", "snappy"):
            level = ", COMPRESSION_LEVEL 1" if codec == "zstd" else ""
            (at / "plan.json").write_text(json.dumps({"dtx": 1, "steps": [{"op": "filter", "where": "true"}], "output": {"codec": codec}}))
            got = pair.turns(runs, {
                "dtx": lambda: private([dtx, "run", "-q", at / "plan.json", source, "-o", at / "dtx.parquet"]),
                "DuckDB": lambda: pair.duckdb(f"COPY (FROM read_csv('{source}')) TO '{at}/duckdb.parquet' "
                                              f"(FORMAT parquet, COMPRESSION {codec}{level})"),
                "Polars": lambda: polars(source, at / "polars.parquet", codec),
            })
            print(f"CSV to Parquet, {codec}: {pair.line(got)}", flush=True)
            pair.duckdb(SAME.format(at / "dtx.parquet", at / "duckdb.parquet"))
            sizes = {name: (at / f"{name}.parquet").stat().st_size for name in ("dtx", "duckdb", "polars")}
            print("    " + ", ".join(f"{name} {size / 1e6:.0f} MB" for name, size in sizes.items()), flush=True)
        got = pair.turns(runs, {
            "dtx": lambda: private([dtx, "convert", "-q", at / "dtx.parquet", "-o", at / "dtx.csv"]),
            "DuckDB": lambda: pair.duckdb(f"COPY (FROM '{at}/dtx.parquet') TO '{at}/duckdb.csv' (HEADER)"),
            "Polars": lambda: polars(at / "dtx.parquet", at / "polars.csv"),
        })
        print(f"Parquet to CSV: {pair.line(got)}")
        pair.duckdb(SAME.format(at / "dtx.csv", at / "duckdb.csv"))


if __name__ == "__main__":
    main()
