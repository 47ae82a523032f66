#!/usr/bin/python3
"""Looks up every address that dtx prints: lines and bytes in the text file, cells with openpyxl.  Covers errors and notes
of the readers, findings of inspect, its list of cells, and what `why` names.

usage: addresses.py DTX"""
import csv
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import openpyxl

DTX = os.path.abspath(sys.argv[1])
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
passed = failed = looked = 0


def check(name, ok, what=""):
    global passed, failed, looked
    looked += 1
    if ok:
        passed += 1
    else:
        failed += 1
        print("not ok - %s%s" % (name, "\n# " + what if what else ""))


def run(*args):
    return subprocess.run([DTX, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


def plan(steps, **member):
    with open("p.json", "w") as f:
        json.dump({"dtx": 1, "fallback": "off", "inputs": [{"name": "main", **member}], "steps": steps}, f)
    return "p.json"


# --- text files: the record that is meant contains the marker BAD ---

def lines_of(data):
    """(first byte, bytes) of each physical line: LF, CRLF and CR end one."""
    at, out = 0, []
    for part in re.findall(rb"[^\r\n]*(?:\r\n|\n|\r|$)", data):
        if part:
            out.append((at, part))
        at += len(part)
    return out


def record_at(data, line, byte, marker):
    """The marker is in the record that begins in this line; the byte is of the record or behind its start."""
    lines = lines_of(data)
    if not 0 < line <= len(lines):
        return False
    start = lines[line - 1][0]
    record = data[start:start + 400]
    near = record.find(marker)
    if not 0 <= near <= 160 or data[:start].count(marker):
        return False
    return byte is None or start <= byte <= start + near + len(marker) + 40


ROWS = ["7,seven,70", '8,"two\nlines",80', "9,Zoë,90", '10,"a ""b""",100']
FAULTS = [  # text among the rows, members of the input, steps, the code
    ("1,BAD", {}, [], "ragged_rows"),
    ("1,BAD,3,4", {}, [], "ragged_rows"),
    ('1,"BAD"x,3', {"dialect": {"quote": '"'}}, [], "bad_quote"),
    ("1,b,BAD", {"types": {"v": "int"}}, [{"op": "filter", "where": "v > 0"}], "cast_failed"),
    ("1,b,BAD", {"types": {"v": "int"}, "reader": "libcsv"}, [{"op": "filter", "where": "v > 0"}], "cast_failed"),
    ("1,BAD", {"reader": "libcsv"}, [], "ragged_rows"),
]
PREAMBLES = ["", "A report,,\n,,\n", "﻿"]


def text_errors():
    for eol in ("\n", "\r\n", "\r"):
        for before in PREAMBLES:
            for place in (1, 40, 700):
                fault, member, steps, code = FAULTS[(place + len(before) + len(eol)) % len(FAULTS)]
                text_error(eol, before, place, fault, member, steps, code)
    for fault, member, steps, code in FAULTS:
        text_error("\n", "", 3, fault, member, steps, code)


def text_error(eol, before, place, fault, member, steps, code):
    rows = [ROWS[i % len(ROWS)] for i in range(place)] + [fault] + ROWS
    data = (before + "\n".join(["id,name,v"] + rows) + "\n").replace("\n", eol).encode()
    with open("t.csv", "wb") as f:
        f.write(data)
    path = plan(steps or [{"op": "limit", "n": 9999}], skip=before.count("\n"), header_rows=1, **member)
    got = run("run", path, "t.csv", "--to", "csv", "--errors=json")
    name = "%s%s, eol %r, %d rows before" % (code, ", libcsv" if "reader" in member else "", eol, place)
    e = json.loads(got.stderr.splitlines()[0]) if got.stderr else {}
    check(name, e.get("code") == code, got.stderr[:300])
    cell = (e.get("where") or {}).get("cell") or ""
    if e.get("code") != code or not re.fullmatch(r"L\d+", cell):
        check(name + ": has a line", False, str(e.get("where")))
        return
    check(name + ": line", record_at(data, int(cell[1:]), e["where"].get("byte"), b"BAD"),
          "%s byte %s" % (cell, e["where"].get("byte")))
    for line, byte in re.findall(r"L(\d+) \(byte (\d+)\)", e["message"]):
        check(name + ": message", record_at(data, int(line), int(byte), b"BAD"), e["message"])


def text_findings():
    rows = ["%d,n%d,%d" % (i, i, i * 3) for i in range(900)]
    rows[411] = "411,n411,ODD"
    rows[500] = "500, stray,1"
    rows[899] = "Total,,9"
    with open("f.csv", "w") as f:
        f.write("\n".join(["id,name,v"] + rows) + "\n")
    out = run("inspect", "f.csv").stdout
    found = re.findall(r"L(\d+) '([^']*)'", out)
    check("inspect: addresses of a text file", len(found) >= 3, out)
    lines = open("f.csv").read().split("\n")
    for line, value in found:
        check("inspect: L%s '%s'" % (line, value), value in lines[int(line) - 1].split(","), lines[int(line) - 1])


# --- workbooks ---

def book(path):
    wb = openpyxl.Workbook()
    ws = wb.active
    ws.title = "Data"
    ws["C2"] = "A report"
    for i, name in enumerate(["id", "name", "v"]):
        ws.cell(4, 3 + i, name)
    for r in range(120):
        row = 5 + r + (r > 60) * 3  # blank rows between
        for c, value in enumerate([r, "n%d" % r, r * 2]):
            ws.cell(row, 3 + c, value)
    ws["E44"] = "BAD"
    ws["E90"] = "=1/0"
    ws["D91"] = " stray"
    wb.save(path)
    return openpyxl.load_workbook(path)["Data"]


def book_addresses():
    ws = book("b.xlsx")
    path = plan([{"op": "filter", "where": "v > 0"}], types={"v": "int"})
    e = json.loads(run("run", path, "b.xlsx", "--to", "csv", "--errors=json").stderr.splitlines()[0])
    cell = e["where"]["cell"]
    check("workbook: error", e["code"] == "cast_failed" and e["where"]["sheet"] == "Data" and ws[cell].value == "BAD",
          str(e["where"]))
    note = run("convert", "b.xlsx", "-o", "b.csv").stderr
    for cell in re.findall(r"the first is ([A-Z]+\d+)", note):
        check("workbook: note of " + cell, str(ws[cell].value).startswith("="), note)
    check("workbook: notes have an address", "the first is" in note, note)
    out = run("inspect", "b.xlsx").stdout
    found = re.findall(r"([A-Z]+\d+) '([^']*)'", out)
    check("inspect: addresses of a workbook", len(found) >= 2, out)
    for cell, value in found:
        check("inspect: %s '%s'" % (cell, value), str(ws[cell].value) == value, str(ws[cell].value))


def cells_of(path):
    wb = openpyxl.load_workbook(path, data_only=True)
    bad = []
    for line in run("inspect", "--cells", path).stdout.splitlines():
        c = json.loads(line)
        there = wb[c["sheet"]][c["cell"]].value
        if c["kind"] in ("text", "number", "bool") and there != c["value"]:
            bad.append("%s!%s: %r, openpyxl %r" % (c["sheet"], c["cell"], c["value"], there))
        elif there is None:
            bad.append("%s!%s is blank" % (c["sheet"], c["cell"]))
    check("inspect --cells: " + os.path.basename(path), not bad, "; ".join(bad[:3]))


# --- why ---

def named(answer, of):
    for source in answer["cells"] + answer["decided_by"]:
        for c in source["cells"]:
            yield source["label"], c["cell"], c["value"], of(c["cell"], source["column"])


def why(result, of, cells):
    total = 0
    for cell in cells:
        got = run("why", result, cell, "--json")
        if got.returncode:
            check("why %s %s" % (result, cell), False, got.stderr)
            continue
        for label, at, value, there in named(json.loads(got.stdout), of):
            total += 1
            check("why %s %s: %s!%s" % (result, cell, label, at), str(value) == str(there), "%r, there %r" % (value, there))
    check("why %s names cells" % result, total >= len(cells), str(total))


def why_addresses():
    ws = book("w.xlsx")
    steps = [{"op": "filter", "where": "id > 70"}, {"op": "sort", "by": ["-id"]}]
    run("run", plan(steps), "w.xlsx", "-o", "w.csv")
    why("w.csv", lambda cell, column: ws[cell].value, ["A3", "B9", "B23"])
    with open("t.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["id", "name"])
        for i in range(50):
            out.writerow([i, "a\nb %d" % i if i % 3 else "n%d" % i])
    data = open("t.csv", "rb").read()
    lines = lines_of(data)

    def there(cell, column):
        record = data[lines[int(cell[1:]) - 1][0]:].decode()
        return next(csv.reader(re.split(r"(?<=\n)", record)))[["id", "name"].index(column)]

    run("run", plan([{"op": "filter", "where": "id > 20"}, {"op": "sort", "by": ["-id"]}]), "t.csv", "-o", "u.csv")
    why("u.csv", there, ["A2", "B3", "B20"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["DTX_STORE"] = os.path.join(folder, "store.db")
        text_errors()
        text_findings()
        book_addresses()
        for path in sorted(glob.glob(os.path.join(TOP, "fixtures", "xlsx", "*.xlsx"))):
            cells_of(path)
        why_addresses()
        os.chdir("/")
    print("ok - %d addresses looked up" % looked if not failed else "# of %d addresses" % looked)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
