#!/usr/bin/python3
"""Dirty text files, whose table is known by construction, through `dtx convert --repair`.

usage: dirty_csv.py DTX
A case is the bytes of a file and the table that a person reads in it: header and rows, as text."""
import csv
import os
import subprocess
import sys
import tempfile

HEAD = ["id", "name", "city", "amount"]
ROWS = [["1", "Ann", "Rome", "10.50"], ["2", "Bob", "Paris, France", "7"], ["3", "Zoë", "Köln", "-3.25"],
        ["4", "O'Brien", "", "1000"], ["5", "Eve", "Oslo", "0.1"]]


def cell(text, sep, mode):
    if mode == "all" or sep in text or '"' in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def text(rows=None, sep=",", eol="\n", head=HEAD, mode="min"):
    table = ([head] if head else []) + (ROWS if rows is None else rows)
    return eol.join(sep.join(cell(c, sep, mode) for c in r) for r in table) + eol


def changed(row, col, value):
    rows = [r[:] for r in ROWS]
    rows[row][col] = value
    return rows


def padded(rows, extra=1):
    return [r + [""] * extra for r in rows]


LINES = text().split("\n")[:-1]
ASCII = [[c.encode("ascii", "ignore").decode() for c in r] for r in ROWS]
WIDE = HEAD + ["column_5"]

CASES = {
    "clean": (text(), HEAD, ROWS),
    "semicolons": (text(sep=";"), HEAD, ROWS),
    "tabs": (text(sep="\t"), HEAD, ROWS),
    "pipes": (text(sep="|"), HEAD, ROWS),
    "carets": (text(sep="^"), HEAD, ROWS),
    "comma and blank": (text(ASCII[:1] + ASCII[2:3] + ASCII[4:], sep=", "), HEAD, ASCII[:1] + ASCII[2:3] + ASCII[4:]),
    "blanks": ("  id     x  y\n   1   2.5  3\n  20  13.5  4\n 300   7.0  5\n", ["id", "x", "y"],
               [["1", "2.5", "3"], ["20", "13.5", "4"], ["300", "7.0", "5"]]),
    "decimal commas": (text([[r[0], r[1], r[2], r[3].replace(".", ",")] for r in ROWS], sep=";"), HEAD,
                       [[r[0], r[1], r[2], r[3].replace(".", ",")] for r in ROWS]),
    "crlf": (text(eol="\r\n"), HEAD, ROWS),
    "cr": (text(eol="\r"), HEAD, ROWS),
    "mixed line ends": ("\r\n".join(LINES[:3]) + "\r" + "\n".join(LINES[3:]), HEAD, ROWS),
    "mark at the begin": (b"\xef\xbb\xbf" + text().encode(), HEAD, ROWS),
    "mark inside": ((text(ROWS[:2]) + "\ufeff" + text(ROWS[2:], head=None)).encode(), HEAD, ROWS),
    "utf-16": (text().encode("utf-16"), HEAD, ROWS),
    "utf-16 without a mark": (text().encode("utf-16-le"), HEAD, ROWS),
    "windows-1252": (text().encode("cp1252"), HEAD, ROWS),
    "windows-1251": (text(changed(0, 1, "Иван")[:1] + ASCII[1:]).encode("cp1251"), HEAD,
                     changed(0, 1, "Иван")[:1] + ASCII[1:]),
    "one line of another encoding": (b"\n".join(x.encode("cp1252" if i == 3 else "utf-8") for i, x in
                                                enumerate(LINES + ["6,Zürich,Zoë,1"])) + b"\n", HEAD,
                                     ROWS + [["6", "Zürich", "Zoë", "1"]]),
    "a byte that is nothing": ((text(changed(0, 1, "Añn")).encode()).replace(b"Rome", b"R\xffome"), HEAD,
                               [["1", "Añn", "R\ufffdome", "10.50"]] + ROWS[1:]),
    "all quoted": (text(mode="all"), HEAD, ROWS),
    "apostrophes quote": ("\n".join(",".join("'" + c + "'" for c in r) for r in [HEAD] + ASCII[:3] + ASCII[4:]),
                          HEAD, ASCII[:3] + ASCII[4:]),
    "quotes inside": (text(changed(1, 1, '5" "big" pipe')).replace('"5"" ""big"" pipe"', '5" "big" pipe'), HEAD,
                      changed(1, 1, '5" "big" pipe')),
    "escaped quotes": (text(changed(1, 1, 'say "hi"')).replace('""', '\\"'), HEAD, changed(1, 1, 'say "hi"')),
    "text behind a quote": (text(changed(4, 1, "X")).replace("X", '"big" one'), HEAD, changed(4, 1, '"big" one')),
    "a quote that never closes": (text(changed(2, 1, "X")).replace("X", '"Zoë'), HEAD, changed(2, 1, '"Zoë')),
    "lines in a cell": (text(changed(1, 1, "two\nlines")), HEAD, changed(1, 1, "two\nlines")),
    "short and long rows": ("\n".join(LINES[:2] + ["9,x", "8,y,z,1,more"] + LINES[2:]), WIDE,
                            padded(ROWS[:1]) + [["9", "x", "", "", ""], ["8", "y", "z", "1", "more"]] +
                            padded(ROWS[1:])),
    "delimiters at the ends": ("\n".join(x + "," if i else x for i, x in enumerate(LINES)), HEAD, ROWS),
    "title": ("Sales, first quarter\n\n" + text(), HEAD, ROWS),
    "report lines": ("Account,12345\nPeriod,2024\n\n" + text(), HEAD, ROWS),
    "footer": (text() + "Total,1014.6\n", HEAD, ROWS + [["Total", "1014.6", "", ""]]),
    "header again": ("\n".join(LINES[:3] + LINES[:1] + LINES[3:]), HEAD, ROWS[:2] + [HEAD] + ROWS[2:]),
    "no header": (text(head=None), ["column_1", "column_2", "column_3", "column_4"], ROWS),
    "a number in the header": (text(head=HEAD[:3] + ["1"]), HEAD[:3] + ["1"], ROWS),
    "names twice and none": (text(head=["id", "id", "", "amount"]), ["id", "id_2", "column_3", "amount"], ROWS),
    "header alone": (text([]), HEAD, []),
    "one column": ("name\nAnn\nBob\n", ["name"], [["Ann"], ["Bob"]]),
    "blank lines": ("\n\n".join(LINES) + "\n\n\n", HEAD, ROWS),
    "a table below": (text() + "\nkey,value\n1,2\n3,4\n", HEAD, ROWS),
    "many columns": (",".join("c%d" % i for i in range(3000)) + "\n" + ",".join("1" for _ in range(3000)),
                     ["c%d" % i for i in range(3000)], [["1"] * 3000]),
}


def read(dtx, folder, data):
    source, target = os.path.join(folder, "in.csv"), os.path.join(folder, "out.csv")
    with open(source, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    run = subprocess.run([dtx, "convert", "--repair", source, "-o", target, "--store",
                         os.path.join(folder, "store.db")], capture_output=True, timeout=60)
    if run.returncode:
        return None, run.stderr.decode(errors="replace")
    with open(target, newline="", encoding="utf-8") as f:
        return list(csv.reader(f)), run.stderr.decode(errors="replace")


def main():
    dtx, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, head, rows) in CASES.items():
            got, notes = read(dtx, folder, data)
            if got == [head] + rows:
                print("ok - dirty text: " + name)
                continue
            failed += 1
            print("# expected %s\n# got      %s\n# %s" % (str([head] + rows)[:300], str(got)[:300],
                                                         notes.replace("\n", "\n# ")))
            print("not ok - dirty text: " + name)
    print("%d passed, %d failed, 0 skipped" % (len(CASES) - failed, failed))
    return failed != 0


sys.exit(main())
