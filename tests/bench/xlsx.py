"""Reads workbooks of 3 M cells with dtx, openpyxl (read only) and xlsx2csv and compares the tables.

Usage: xlsx.py DTX [RUNS]    (needs python3-openpyxl, xlsx2csv)
Debian has no xlsxio: expat_xlsx.c, built by `make bench-peers`, stands in for it; BENCH_XLSXIO names a program
FILE OUT.csv made of the real one.
dtx (to CSV) and xlsx2csv are whole processes; openpyxl is timed inside its own, from file to values.
One workbook has shared strings, the other inline ones; cells are ints, floats, dates, bools, texts.
"""
import csv
import datetime as dt
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import zipfile

import pair

ROWS, COLS = 200_001, 15
NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OPENPYXL = """
import sys, time, resource, openpyxl
t = time.monotonic(); n = 0
for row in openpyxl.load_workbook(sys.argv[1], read_only=True).worksheets[0].iter_rows(values_only=True):
    n += len(row)
u = resource.getrusage(resource.RUSAGE_SELF)
print(time.monotonic() - t, u.ru_utime + u.ru_stime, u.ru_maxrss // 1024)
"""
LETTERS = [chr(65 + c) for c in range(COLS)]


def cell(r, c, shared):
    kind, ref = c % 5, f"{LETTERS[c]}{r + 1}"
    if kind == 0:
        return f'<c r="{ref}"><v>{(r * 37 + c) % 100000}</v></c>'
    if kind == 1:
        return f'<c r="{ref}"><v>{round((r * 131 + c) % 99991 / 7, 6)!r}</v></c>'
    if kind == 2:
        return f'<c r="{ref}" s="1"><v>{44000 + (r + c) % 2000}</v></c>'
    if kind == 3:
        n = (r * 7 + c) % 5000
        return f'<c r="{ref}" t="s"><v>{n}</v></c>' if shared else f'<c r="{ref}" t="inlineStr"><is><t>name {n}</t></is></c>'
    return f'<c r="{ref}" t="b"><v>{(r + c) % 2}</v></c>'


def sheet(out, shared):
    out.write(f'<worksheet {NS}><sheetData><row r="1">'.encode())
    for c in range(COLS):
        out.write(f'<c r="{LETTERS[c]}1" t="inlineStr"><is><t>column {c}</t></is></c>'.encode())
    out.write(b"</row>")
    for r in range(1, ROWS):
        out.write(f'<row r="{r + 1}">{"".join(cell(r, c, shared) for c in range(COLS))}</row>'.encode())
    out.write(b"</sheetData></worksheet>")


def parts(z):
    """All but the sheet."""
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    rels = f'{head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    z.writestr("[Content_Types].xml", f'{head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
               '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
               f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
               f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/>'
               f'<Override PartName="/xl/styles.xml" ContentType="{types}.styles+xml"/>'
               f'<Override PartName="/xl/sharedStrings.xml" ContentType="{types}.sharedStrings+xml"/></Types>')
    z.writestr("_rels/.rels", f'{rels}<Relationship Id="r1" Type="{REL}/officeDocument" Target="xl/workbook.xml"/></Relationships>')
    z.writestr("xl/workbook.xml", f'{head}<workbook {NS} xmlns:r="{REL}"><sheets><sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>')
    z.writestr("xl/_rels/workbook.xml.rels", f'{rels}<Relationship Id="r1" Type="{REL}/worksheet" Target="worksheets/sheet1.xml"/>'
               f'<Relationship Id="r2" Type="{REL}/styles" Target="styles.xml"/>'
               f'<Relationship Id="r3" Type="{REL}/sharedStrings" Target="sharedStrings.xml"/></Relationships>')
    z.writestr("xl/styles.xml", f'{head}<styleSheet {NS}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>')
    z.writestr("xl/sharedStrings.xml", f'{head}<sst {NS}>' + "".join(f"<si><t>name {n}</t></si>" for n in range(5000)) + "</sst>")


def data(shared):
    path = pathlib.Path(tempfile.gettempdir()) / f"dtx-bench-{ROWS}x{COLS}-{'shared' if shared else 'inline'}.xlsx"
    if path.exists():
        return path
    with zipfile.ZipFile(str(path) + ".tmp", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as z:
        parts(z)
        with z.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as out:
            sheet(out, shared)
    os.rename(str(path) + ".tmp", path)
    return path


def inside(path):
    done = subprocess.run([sys.executable, "-c", OPENPYXL, path], check=True, capture_output=True, text=True)
    return tuple(float(x) for x in done.stdout.split())


def xlsxio(path, tmp):
    """xlsxio, or what stands in for it; it writes the values as the file has them (a date is its serial)."""
    stand_in = pair.ROOT / "build/peers/expat_xlsx"
    program = os.environ.get("BENCH_XLSXIO") or (str(stand_in) if stand_in.exists() else None)
    return {"xlsxio's way": lambda: pair.whole([program, path, f"{tmp}/xlsxio.csv"])} if program else {}


def serial(value):
    """A cell of the CSV as the file has it."""
    if value in ("true", "false"):
        return float(value == "true")
    if value[4:5] == "-" and value[7:8] == "-":
        return float((dt.date.fromisoformat(value) - dt.date(1899, 12, 30)).days)
    return float(value)


def alike(made, peer):
    """Whether xlsxio's CSV holds dtx's cells, numbers compared as numbers."""
    n = 0
    with open(made, newline="") as f, open(peer, newline="") as g:
        for want, got in zip(csv.reader(f), csv.reader(g), strict=True):
            n += 1
            if any(a != b and serial(a) != float(b) for a, b in zip(want, got, strict=True)):
                return f"xlsxio's rows DIFFER in row {n}"
    return f"xlsxio's {n} rows equal" if n == ROWS else f"xlsxio DIFFERS: {n} rows"


def text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return value.date().isoformat()
    return value


def same(path, made):
    import openpyxl
    rows = openpyxl.load_workbook(path, read_only=True).worksheets[0].iter_rows(values_only=True)
    n = 0
    with open(made, newline="") as f:
        for want, got in zip(rows, csv.reader(f)):
            n += 1
            for a, b in zip(want, got, strict=True):
                a = text(a)
                if (a != b) if isinstance(a, str) else (a != float(b)):
                    return f"DIFFER in row {n}: {a!r}, {b!r}"
    return "equal" if n == ROWS else f"DIFFER: {n} rows"


def main():
    dtx, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(f"{ROWS - 1:,} x {COLS} cells, {os.cpu_count()} cores, median of {runs}: elapsed / processor time")
    for shared in (True, False):
        path = str(data(shared))
        with tempfile.TemporaryDirectory() as tmp:
            env = dict(os.environ, DTX_STORE=f"{tmp}/store.db")
            got = pair.turns(runs, {
                "dtx": lambda: pair.whole([dtx, "convert", path, "-o", f"{tmp}/dtx.csv", "-q"], env),
                "openpyxl": lambda: inside(path),
                "xlsx2csv": lambda: pair.whole(["xlsx2csv", path, f"{tmp}/peer.csv"]),
                **xlsxio(path, tmp),
            }, warm=False)
            peers = [alike(f"{tmp}/dtx.csv", f"{tmp}/xlsxio.csv")] if "xlsxio's way" in got else []
            print(f"{'shared' if shared else 'inline'} strings: {pair.line(got)} | {', '.join([same(path, f'{tmp}/dtx.csv'), *peers])}", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
