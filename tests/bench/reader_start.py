"""The isolated reader process: how long it takes to be there, locked and verified, and what it adds
to a small run.

Usage: reader_start.py DTX [RUNS]    (default 50 runs; the machine should be quiet)
The first figure is the self test of `dtx doctor`, a tenth as often.  The others are whole runs with
their durable record, in turn: three rows as CSV, the same as a workbook.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zipfile

import pair
import xlsx


def book(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        xlsx.parts(z)
        z.writestr("xl/worksheets/sheet1.xml", f'<worksheet {xlsx.NS}><sheetData>' + "".join(
            f'<row r="{r}"><c r="A{r}" t="inlineStr"><is><t>{a}</t></is></c><c r="B{r}"{" t=" if r == 1 else ""}'
            f'{chr(34) + "str" + chr(34) if r == 1 else ""}><v>{b}</v></c></row>'
            for r, (a, b) in enumerate([("g", "v"), ("a", 1), ("b", 2), ("a", 3)], 1)) + "</sheetData></worksheet>")


def starts(dtx, runs):
    for _ in range(runs):
        text = subprocess.run([dtx, "doctor"], check=True, capture_output=True, text=True).stdout
        yield int(text.split("start_us")[1].split()[0]) / 1000


def main():
    dtx, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50
    with tempfile.TemporaryDirectory() as tmp:
        here = pathlib.Path(tmp)
        env = dict(os.environ, DTX_STORE=f"{tmp}/store.db")
        (here / "in.csv").write_text("g,v\na,1\nb,2\na,3\n")
        book(here / "in.xlsx")
        got = pair.turns(runs, {name: lambda name=name: pair.whole(
            [dtx, "convert", f"{tmp}/in.{name}", "-o", f"{tmp}/{name}.out.csv", "-q"], env) for name in ("csv", "xlsx")})
        if (here / "xlsx.out.csv").read_text() != (here / "csv.out.csv").read_text():
            raise SystemExit("the two results differ")
        ms = sorted(starts(dtx, max(runs // 10, 3)))
    print(f"reader start: median {statistics.median(ms):.2f} ms, least {ms[0]:.2f} ms of {len(ms)}")
    for name, turn in got.items():
        print(f"three rows of {name}: {pair.median(turn, 0) * 1000:.2f} ms, processor {pair.median(turn, 1) * 1000:.2f} ms")
    more = [(x[i] - c[i]) * 1000 for i in (0, 1) for c, x in zip(got["csv"], got["xlsx"])]
    print(f"the reader adds {statistics.median(more[:runs]):.2f} ms, processor {statistics.median(more[runs:]):.2f} ms")


if __name__ == "__main__":
    main()
