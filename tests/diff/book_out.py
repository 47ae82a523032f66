#!/usr/bin/python3
"""Compares workbooks that dtx writes with what openpyxl reads in them, and what dtx and openpyxl read
in the workbooks of the fixtures.

usage: book_out.py DTX"""
import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import openpyxl

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEXT = "x" * 90
CSV = ("id,amount,day,at,flag,text,big\n"
       "1,0.1,2024-02-29,2024-02-29T13:30:00,true,=1+1,1234567890123456789\n"
       "2,100.0,1899-12-01,2024-01-01T00:00:00,false,_x0041_,12\n"
       "3,,,,,%s,7\n" % TEXT)
TYPES = {"id": "int", "day": "date", "at": "datetime", "amount": "float"}
passed, failed = [], []


def check(name, ok, note=""):
    print(("ok - " if ok else "not ok - ") + "workbooks: " + name)
    (passed if ok else failed).append(name)
    if not ok:
        print("# " + str(note))


def run(dtx, folder, plan, source):
    path = os.path.join(folder, "plan.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(plan, f)
    return subprocess.run([dtx, "run", path, source, "--store", os.path.join(folder, "store.db")],
                          capture_output=True, timeout=60)


def plan(target, **output):
    return {"dtx": 1, "inputs": [{"name": "main", "types": TYPES}],
            "steps": [{"op": "filter", "where": "true"}],
            "output": [dict({"path": target}, **output)]}


def written(dtx, folder):
    source, target = os.path.join(folder, "in.csv"), os.path.join(folder, "out.xlsx")
    with open(source, "w", encoding="utf-8") as f:
        f.write(CSV)
    done = run(dtx, folder, plan(target, sheet="Out"), source)
    check("a run writes one", done.returncode == 0, done.stderr)
    book = openpyxl.load_workbook(target)
    sheet = book["Out"]
    rows = [[c.value for c in r] for r in sheet.iter_rows()]
    check("header", rows[0] == CSV.split("\n")[0].split(","), rows[0])
    check("values", rows[1] == [1, 0.1, datetime.datetime(2024, 2, 29), datetime.datetime(2024, 2, 29, 13, 30), True,
                                "=1+1", "1234567890123456789"], rows[1])
    check("old dates and escapes", rows[2] == [2, 100, "1899-12-01", datetime.datetime(2024, 1, 1), False,
                                               "_x005F_x0041_", 12], rows[2])  # openpyxl does not decode escapes
    check("nulls are not cells", rows[3][1:5] == [None] * 4, rows[3])
    check("text is never a formula", sheet["F2"].data_type == "s", sheet["F2"].data_type)
    check("formats", [sheet[c].number_format for c in ("A2", "C2", "D2")] ==
          ["General", "yyyy\\-mm\\-dd", "yyyy\\-mm\\-dd\\ hh:mm:ss"] or
          [sheet[c].number_format for c in ("A2", "C2", "D2")] == ["General", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"],
          [sheet[c].number_format for c in ("A2", "C2", "D2")])
    check("bold header, frozen, filtered", sheet["A1"].font.b and sheet.freeze_panes == "A2" and
          sheet.auto_filter.ref == "A1:G4", (sheet["A1"].font.b, sheet.freeze_panes, sheet.auto_filter.ref))
    widths = {c: sheet.column_dimensions[c].width for c in "AFG"}
    check("widths of 8 to 60", 8 <= widths["A"] < 10 and 60 <= widths["F"] < 62 and 19 <= widths["G"] < 21, widths)
    check("the run's id", b'name="dtx_run"' in zipfile.ZipFile(target).read("docProps/custom.xml"))
    note = done.stderr.decode()
    check("what went out as text is told", "number_rounded: 2 " in note, note)


def table(dtx, folder):
    source, target = os.path.join(folder, "in.csv"), os.path.join(folder, "table.xlsx")
    done = run(dtx, folder, plan(target, as_table=True), source)
    check("a real table", done.returncode == 0, done.stderr)
    sheet = openpyxl.load_workbook(target).active
    made = list(sheet.tables.values())
    check("its range and names", len(made) == 1 and made[0].ref == "A1:G4" and
          [c.name for c in made[0].tableColumns] == CSV.split("\n")[0].split(","), made)
    check("its cells", sheet["F2"].value == "=1+1" and sheet["A4"].value == 3 and sheet["A1"].font.b)
    with open(source, "w", encoding="utf-8") as f:
        f.write("a,A\n1,2\n")
    done = run(dtx, folder, dict(plan(target, as_table=True), inputs=[{"name": "main"}]), source)
    check("names that differ in case alone are refused", done.returncode == 4 and b"ambiguous_column" in done.stderr,
          done.stderr)


def limits(dtx, folder):
    source, target = os.path.join(folder, "in.csv"), os.path.join(folder, "limit.xlsx")
    bare = {"dtx": 1, "inputs": [{"name": "main"}], "steps": [{"op": "filter", "where": "true"}],
            "output": [{"path": target}]}
    cases = (("row_limit", "a\n" + "1\n" * 1048576), ("cell_limit", "a,b\n1," + "x" * 32768 + "\n"),
             ("col_limit", ",".join("c%d" % i for i in range(16385)) + "\n" + ",".join("1" for _ in range(16385)) + "\n"))
    for code, text in cases:
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        done = run(dtx, folder, bare, source)
        check("%s, and no file is left" % code, done.returncode and code.encode() in done.stderr and
              not os.path.exists(target), done.stderr[:300])


def unchanged_formats(dtx, folder):
    source, target = os.path.join(folder, "formats.xlsx"), os.path.join(folder, "again.xlsx")
    book = openpyxl.Workbook()
    book.active.append(["share", "price", "day"])
    for r in ((0.125, 1234.5, datetime.date(2024, 2, 29)), (0.5, 2, datetime.date(2024, 3, 1))):
        book.active.append(r)
    for row in book.active.iter_rows(min_row=2):
        for c, code in zip(row, ("0.0%", "#,##0.00", "dd/mm/yyyy")):
            c.number_format = code
    book.save(source)
    subprocess.run([dtx, "convert", source, "-o", target, "--store", os.path.join(folder, "store.db")], check=True,
                   capture_output=True)
    sheet = openpyxl.load_workbook(target).active
    got = [sheet[c].number_format.replace("\\", "") for c in ("A2", "B2", "C2")]
    check("number formats of unchanged columns stay", got == ["0.0%", "#,##0.00", "dd/mm/yyyy"], got)


def repaired(dtx, folder):
    source, target = os.path.join(folder, "two.xlsx"), os.path.join(folder, "two.csv")
    book = openpyxl.Workbook()
    for r in (["a", "b"], [1, 2], [3, 4], [], ["Other"], ["x", "y", "z"], [5, 6, 7], [8, 9, 10]):
        book.active.append(r)
    book.save(source)
    done = subprocess.run([dtx, "convert", "--repair", source, "-o", target, "--store",
                           os.path.join(folder, "store.db")], capture_output=True, timeout=60)
    with open(target, encoding="utf-8") as f:
        check("the first of several tables is read", f.read() == "a,b\n1,2\n3,4\n", done.stderr)
    check("and the others are named", b"--read skip_tail=5" in done.stderr and b"A1:C3, A6:C8" in done.stderr, done.stderr)


def value(c):
    """A cell of openpyxl as dtx names it: kind and value."""
    v = c.value
    if isinstance(v, bool):
        return "bool", v
    if isinstance(v, (int, float)):
        return "number", float(v)
    if isinstance(v, str):
        return ("error" if c.data_type == "e" else "text"), v
    return "date", None


def same(c, got):
    kind, v = value(c)
    if got is None:
        return False
    if kind == "date":
        return got["kind"] in ("date", "datetime", "time", "duration")
    if kind == "number":
        return got["kind"] in ("number", "int", "float", "duration", "time") and \
            (not isinstance(got["value"], (int, float)) or abs(float(got["value"]) - v) <= 1e-9 * max(1, abs(v)))
    return got["kind"] == kind and (kind == "error" or got["value"] == v)


def read(dtx):
    """Every cell that openpyxl finds in the fixtures is in dtx with the same kind and value."""
    for path in sorted(glob.glob(os.path.join(TOP, "fixtures", "xlsx", "*.xlsx"))):
        out = subprocess.run([dtx, "inspect", "--cells", path], capture_output=True, check=True).stdout.decode()
        got = {(c["sheet"], c["cell"]): c for c in map(json.loads, filter(None, out.split("\n")))}
        bad = [(s.title, c.coordinate, c.value, got.get((s.title, c.coordinate)))
               for s in openpyxl.load_workbook(path, data_only=True).worksheets
               for r in s.iter_rows() for c in r
               if c.value is not None and c.value != "" and not same(c, got.get((s.title, c.coordinate)))]
        check("openpyxl reads the same in " + os.path.basename(path), not bad, bad[:3])


def main():
    dtx = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        written(dtx, folder)
        table(dtx, folder)
        limits(dtx, folder)
        unchanged_formats(dtx, folder)
        repaired(dtx, folder)
    read(dtx)
    print("%d passed, %d failed, 0 skipped" % (len(passed), len(failed)))
    return len(failed) != 0


sys.exit(main())
