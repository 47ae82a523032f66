"""CSV to CSV: dtx against DuckDB's COPY, as it is, filtered, and with a changed column.

Usage: convert.py DTX [ROWS] [RUNS]    (default 10,000,000 rows, 5 runs; `make bench-peers` first)
dtx is timed as a whole process with its durable record, DuckDB inside its own, start-up left out.
Both outputs must hold the same rows in the same order: equal bytes, or equal numbers within 1e-9.
"""
import csv
import itertools
import json
import os
import pathlib
import random
import resource
import sys
import tempfile

import pair

CASES = {  # name: steps, SQL
    "as it is": (None, "SELECT * FROM t"),
    "filtered": ([{"op": "filter", "where": "v1 == 3 and id4 > 50"}], "SELECT * FROM t WHERE v1 = 3 AND id4 > 50"),
    "a column changed": ([{"op": "derive", "set": {"v3": "v3 * 2"}}], "SELECT * REPLACE (v3 * 2 AS v3) FROM t"),
}
WORDS = ["plain", "two words", "a,b", 'say "x"', "Zürich", "", "line\nbreak", "O'Hara"]


def orders(rows):
    """Texts that need quotes, dates, amounts, empty cells."""
    path = pathlib.Path(tempfile.gettempdir()) / f"dtx-bench-orders-{rows}.csv"
    if path.exists():
        return path
    draw = random.Random(7)
    with open(str(path) + ".tmp", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["id", "customer", "note", "day", "amount", "ok"])
        for i in range(rows):
            out.writerow([i, f"customer {draw.randrange(9999)}", draw.choice(WORDS), f"2024-{1 + i % 12:02}-{1 + i % 28:02}",
                          f"{draw.randrange(10**7) / 100:.2f}", "true" if i % 3 else "false"])
    os.rename(str(path) + ".tmp", path)
    return path


def close(a, b):
    try:
        return a == b or abs(float(a) - float(b)) <= 1e-9 * max(abs(float(a)), abs(float(b)))
    except ValueError:
        return False


def same(a, b):
    """Lines are compared first: few differ, and those as rows."""
    with open(a, newline="") as f, open(b, newline="") as g:
        for x, y in itertools.zip_longest(f, g):
            if x == y:
                continue
            if x is None or y is None:
                return "DIFFER in length"
            p, q = next(csv.reader([x])), next(csv.reader([y]))
            if len(p) != len(q) or not all(map(close, p, q)):
                return f"DIFFER: {x.strip()} and {y.strip()}"
    return "equal"


def measure(dtx, path, steps, sql, runs, tmp):
    plan = pathlib.Path(tmp) / "plan.json"
    plan.write_text(json.dumps({"dtx": 1, "steps": steps}))
    work = ["run", str(plan), str(path)] if steps else ["convert", str(path)]
    env = dict(os.environ, DTX_STORE=f"{tmp}/store.db")
    query = sql.replace("FROM t", f"FROM read_csv('{path}')")
    got = pair.turns(runs, {
        "dtx": lambda: pair.whole([dtx, *work, "-o", f"{tmp}/dtx.csv", "-q"], env),
        "DuckDB": lambda: pair.duckdb(f"COPY ({query}) TO '{tmp}/duckdb.csv' (HEADER)"),
    })
    return f"{pair.line(got)} | {same(f'{tmp}/dtx.csv', f'{tmp}/duckdb.csv')}"


def main():
    dtx, rows = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    path = pair.g1(rows)
    print(f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores, median of {runs}: elapsed / processor time")
    with tempfile.TemporaryDirectory() as tmp:
        for name, (steps, sql) in CASES.items():
            print(f"{name}: {measure(dtx, path, steps, sql, runs, tmp)}", flush=True)
        print(f"texts in quotes: {measure(dtx, orders(rows // 5), *CASES['as it is'], runs, tmp)}", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
