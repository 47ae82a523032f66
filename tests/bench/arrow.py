"""CSV to Arrow, and back to CSV: dtx against Polars.

Usage: arrow.py DTX [ROWS] [RUNS]    (default 2,000,000 rows, 3 runs; `make bench-peers` first)
dtx is timed as a whole process with its durable record, Polars inside its own, start-up left out. Each reads
the file that it wrote and the one of the other; the CSV that dtx makes of both must be the same.
"""
import filecmp
import os
import pathlib
import statistics
import sys
import tempfile

import pair
from parquet_out import polars, private


def main():
    dtx = os.path.abspath(sys.argv[1])
    rows, runs = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000, int(sys.argv[3]) if len(sys.argv) > 3 else 3
    source = pair.g1(rows)
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        os.environ["DTX_STORE"] = f"{folder}/store.db"
        at = pathlib.Path(folder)

        def convert(a, b):
            return private([dtx, "convert", "-q", "--force", a, b])

        cases = {
            "CSV to Arrow": (lambda: convert(source, at / "d.arrow"), lambda: polars(source, at / "p.arrow")),
            "Arrow to CSV": (lambda: convert(at / "d.arrow", at / "d.csv"), lambda: polars(at / "p.arrow", at / "p.csv")),
            "Arrow of the other to CSV": (lambda: convert(at / "p.arrow", at / "e.csv"), lambda: polars(at / "d.arrow", at / "q.csv")),
        }
        print(f"{rows:,} rows; processor seconds, median of {runs}")
        for name, (ours, theirs) in cases.items():
            both = [(ours(), theirs()) for _ in range(runs)]
            a, b = (statistics.median(pair_[k][1] for pair_ in both) for k in (0, 1))
            print(f"{name:26} dtx {a:6.2f}  Polars {b:6.2f}  {b / a:5.2f} x  dtx {max(x[0][2] for x in both)} MiB")
        if not filecmp.cmp(at / "d.csv", at / "e.csv", shallow=False):
            raise SystemExit("the rows differ")


if __name__ == "__main__":
    main()
