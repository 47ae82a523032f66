"""Reads a .xls of 65,536 rows with dtx and with pandas (engine xlrd) and compares the tables.

Usage: xls.py DTX [RUNS]    (needs python3-pandas, python3-xlrd, python3-xlwt)
dtx is a whole process that writes CSV; pandas is timed inside its own, from file to data frame.
"""
import csv
import datetime as dt
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import pandas as pd
import xlwt
from pandas.compat import _optional

_optional.VERSIONS["xlrd"] = "1.2.0"  # Debian's; the newer ones read .xls the same way
ROWS, COLS = 65536, 16


def value(r, c):
    kind = c % 4
    if kind == 0:
        return f"name {(r * 7 + c) % 5000}"
    if kind == 1:
        return (r * 37 + c) % 100000
    if kind == 2:
        return round((r * 131 + c) % 99991 / 7, 6)
    return dt.date(2020, 1, 1) + dt.timedelta(days=(r + c) % 2000)


def data():
    path = pathlib.Path(tempfile.gettempdir()) / f"dtx-bench-{ROWS}x{COLS}.xls"
    if not path.exists():
        book = xlwt.Workbook()
        sheet = book.add_sheet("Data")
        day = xlwt.easyxf(num_format_str="yyyy-mm-dd")
        for c in range(COLS):
            sheet.write(0, c, f"column {c}")
        for r in range(1, ROWS):
            for c in range(COLS):
                v = value(r, c)
                sheet.write(r, c, v, day) if isinstance(v, dt.date) else sheet.write(r, c, v)
        book.save(str(path) + ".tmp")
        os.rename(str(path) + ".tmp", path)
    return path


def run_dtx(dtx, path, out):
    env = dict(os.environ, DTX_STORE=str(out) + ".store.db")
    t0 = time.monotonic()
    pid = os.posix_spawn(dtx, [dtx, "convert", str(path), "-o", str(out), "-q"], env)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit("dtx failed")
    return time.monotonic() - t0, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def same(frame, out):
    with open(out, newline="") as f:
        rows = csv.reader(f)
        if next(rows) != list(frame.columns):
            return False
        n = 0
        for got, want in zip(rows, frame.itertuples(index=False)):
            n += 1
            for g, w in zip(got, want):
                if isinstance(w, str):
                    ok = g == w
                elif isinstance(w, pd.Timestamp):
                    ok = g == w.strftime("%Y-%m-%d")
                else:
                    ok = float(g) == w
                if not ok:
                    return False
        return n == len(frame)


def main():
    dtx, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    path = data()
    ours, theirs, mib = [], [], []  # pairs of wall and processor seconds
    with tempfile.TemporaryDirectory() as tmp:
        for _ in range(runs + 1):
            wall, cpu, mb = run_dtx(dtx, path, f"{tmp}/out.csv")
            ours.append((wall, cpu))
            mib.append(mb)
            t0, c0 = time.monotonic(), time.process_time()
            frame = pd.read_excel(path, engine="xlrd")
            theirs.append((time.monotonic() - t0, time.process_time() - c0))
        agree = "equal" if same(frame, f"{tmp}/out.csv") else "DIFFER"
    print(f"{ROWS:,} x {COLS} cells of .xls, {path.stat().st_size / 1e6:.0f} MB, median of {runs}, {max(mib)} MiB, tables {agree}")
    for i, what in enumerate(["elapsed", "processor"]):
        a, b = (statistics.median(t[i] for t in side[1:]) for side in (ours, theirs))
        print(f"{what:10} dtx {a * 1000:.0f} ms; pandas with xlrd {b * 1000:.0f} ms; ratio {b / a:.1f}")


if __name__ == "__main__":
    main()
