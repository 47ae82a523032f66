#!/usr/bin/python3
"""Compares every cell of workbooks as dtx reads it with the CSV that LibreOffice writes (one conversion
for all files).  Skipped, with the reason, if there is no soffice.

usage: office.py DTX [FILE ...]     (default: the fixtures)"""
import csv
import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# comma, quotes, UTF-8, from line 1, any language, quotes as needed, values and not their looks,
# no formulas, blanks kept, every sheet
FILTER = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
DATES = ["%m/%d/%Y", "%m/%d/%y", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%m/%d/%Y %H:%M:%S",
         "%m/%d/%y %I:%M %p", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M"]
TIMES = ["%I:%M:%S %p", "%H:%M:%S", "%H:%M"]


def files(named):
    return named or sorted(glob.glob(os.path.join(TOP, "fixtures", "xls*", "*.xls*")))


def ours(dtx, path):
    """{sheet: {(row, column): (kind, value)}}, or None: dtx refuses the file."""
    run = subprocess.run([dtx, "inspect", "--cells", path], capture_output=True, text=True, timeout=120)
    if run.returncode:
        return None
    sheets = {}
    for line in run.stdout.splitlines():
        c = json.loads(line)
        letters, digits = re.fullmatch(r"([A-Z]+)(\d+)", c["cell"]).groups()
        col = 0
        for letter in letters:
            col = col * 26 + ord(letter) - 64
        sheets.setdefault(c["sheet"], {})[int(digits) - 1, col - 1] = (c["kind"], c["value"], c["formula"])
    return sheets


def when(text, formats):
    for f in formats:
        try:
            return datetime.datetime.strptime(text.strip(), f)
        except ValueError:
            pass
    return None


def seconds(value):
    """Of a time or duration, within a day."""
    parts = [float(x) for x in str(value).split(":")]
    return round(sum(p * s for p, s in zip(parts, (3600, 60, 1)))) % 86400


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def near(a, b):
    return a is not None and abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def as_number(text, value):
    percent = text.endswith("%") and number(text[:-1])
    if percent is not False and percent is not None:
        return near(percent / 100, value)
    plain = text.replace(",", "").replace("$", "").replace("€", "").strip()
    if plain.startswith("(") and plain.endswith(")"):
        plain = "-" + plain[1:-1]
    return near(number(plain), value)


def agrees(kind, value, text):
    if kind == "text":
        # a line break in a cell is LF to LibreOffice
        return text.replace("\r\n", "\n").strip() == str(value).replace("\r\n", "\n").replace("\r", "\n").strip()
    if kind == "number":
        return as_number(text, value)
    if kind == "bool":
        return text.upper() in (("TRUE", "1") if value else ("FALSE", "0"))
    if kind in ("date", "datetime", "iso"):
        got, want = when(text, DATES), datetime.datetime.fromisoformat(str(value))
        if got is None:
            return None
        # LibreOffice writes two-digit years and truncates seconds
        return abs((got - want).total_seconds()) < 60 or got.replace(year=want.year) == want
    if kind in ("time", "duration"):
        got = when(text, TIMES)
        if got is not None:
            return abs(got.hour * 3600 + got.minute * 60 + got.second - seconds(value)) <= 1
        return None
    if kind == "error":
        return text.startswith("#") or text.startswith("Err:")
    return None


def theirs(folder, name):
    """{sheet: rows}: soffice names the files FILE-SHEET.csv."""
    sheets = {}
    for path in glob.glob(os.path.join(glob.escape(folder), glob.escape(name) + "-*.csv")):
        sheet = os.path.basename(path)[len(name) + 1:-4]
        with open(path, newline="", encoding="utf-8") as f:
            sheets[sheet] = list(csv.reader(f))
    return sheets


def compare(cells, sheets, stats):
    """Differences; cells of kinds that LibreOffice shows its own way are counted apart."""
    bad = []
    for sheet, known in cells.items():
        rows = sheets.get(sheet)
        if rows is None:
            stats["sheets left out"] = stats.get("sheets left out", 0) + 1
            continue
        for (r, c), (kind, value, formula) in known.items():
            text = rows[r][c] if r < len(rows) and c < len(rows[r]) else ""
            ok = agrees(kind, value, text)
            # LibreOffice calculates formulas again, although the file has their results
            what = "shown otherwise" if ok is None else "equal" if ok else "recalculated" if formula else "different"
            stats[what] = stats.get(what, 0) + 1
            if what == "different":
                bad.append("%s row %d column %d: %s %r, LibreOffice %r" % (sheet, r + 1, c + 1, kind, value, text))
        more = sum(1 for r, row in enumerate(rows) for c, t in enumerate(row) if t and (r, c) not in known)
        stats["only theirs"] = stats.get("only theirs", 0) + more
    return bad


def main():
    dtx = os.path.abspath(sys.argv[1])
    if not shutil.which("soffice"):
        print("ok - LibreOffice comparison # skip: no soffice")
        return 0
    failed, total = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        copies = {}
        for i, path in enumerate(files(sys.argv[2:])):
            copies["f%d" % i] = path
            shutil.copy(path, os.path.join(folder, "f%d%s" % (i, os.path.splitext(path)[1])))
        home = "-env:UserInstallation=file://" + os.path.join(folder, "profile")
        subprocess.run(["soffice", home, "--headless", "--convert-to", FILTER, "--outdir", folder] +
                       sorted(glob.glob(os.path.join(folder, "f*.xls*"))),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        for name, path in copies.items():
            cells, sheets, stats = ours(dtx, path), theirs(folder, name), {}
            label = os.path.basename(path)
            if cells is None or not sheets:
                print("ok - %s # skip: %s" % (label, "dtx refuses it" if cells is None else "soffice gives no CSV"))
                continue
            bad = compare(cells, sheets, stats)
            failed += bool(bad)
            print(("not ok - " if bad else "ok - ") + label + "".join("\n# " + b for b in bad[:5]))
            for k, v in stats.items():
                total[k] = total.get(k, 0) + v
    print("# cells: " + ", ".join("%s %d" % x for x in sorted(total.items())))
    if not total.get("equal"):
        print("not ok - LibreOffice comparison: nothing was compared")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
