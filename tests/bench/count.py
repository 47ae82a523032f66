"""Rows of a CSV counted: the bare scan of tests/bench/bare_count.c, dtx, DuckDB.

Usage: count.py DTX [ROWS] [RUNS]    (default 10,000,000 rows, 5 runs; `make bench-peers` first)
The bare scan counts newlines with two threads and checks nothing.  dtx is a whole process with its
durable record: with the identity of the input, with that of an earlier run, as long as nobody has
written to the input since, with its SHA-256 and with its quick identity; it checks that every row has the header's width.
DuckDB is timed inside its process.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import pair

STEPS = [{"op": "group_by", "by": [], "agg": {"n": "count()"}}]


def main():
    dtx, rows = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    path, bare = pair.g1(rows), pair.tool("bare_count")
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, DTX_STORE=f"{tmp}/store.db")
        plan = pathlib.Path(tmp) / "plan.json"
        plan.write_text(json.dumps({"dtx": 1, "steps": STEPS}))
        argv = [dtx, "run", str(plan), str(path), "-q", "--to", "csv", "--input-hash"]
        counts = [subprocess.run(a, env=env, check=True, capture_output=True, text=True).stdout.split()
                  for a in ([bare, str(path)], argv + ["sha256"], argv + ["xxh3"])]
        if [counts[0][0], counts[1][1], counts[2][1]] != [str(rows)] * 3:
            raise SystemExit(f"wrong counts: {counts}")
        got = pair.turns(runs, {
            "bare": lambda: pair.whole([bare, str(path)], env, quiet=True),
            "dtx": lambda: pair.whole(argv + ["auto"], dict(env, DTX_INPUT_SETTLE="never"), quiet=True),
            "dtx, input known": lambda: pair.whole(argv + ["auto"], env, quiet=True),
            "dtx --input-hash sha256": lambda: pair.whole(argv + ["sha256"], env, quiet=True),
            "dtx --input-hash xxh3": lambda: pair.whole(argv + ["xxh3"], env, quiet=True),
            "DuckDB": lambda: pair.duckdb(f"SELECT count(*) FROM read_csv('{path}')"),
        })
    print(f"count of {rows:,} rows ({path.stat().st_size / 1e6:.0f} MB), {os.cpu_count()} cores, median of {runs}: elapsed / "
          f"processor time\n{pair.line(got, 'bare')}\n{pair.line(got)}")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
