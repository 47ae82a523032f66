#!/usr/bin/python3
"""The same table must be read in different forms.  A workbook must give the same rows as .xlsx, .xls
and CSV; every fixture must give the same through a pipe that passes single bytes; a table must be the
same from any program that wrote the workbook, and so must special cells (odd_books.py).

usage: book_pairs.py DTX"""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

import odd_books

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(TOP, "fixtures")
PIPED_MAX = 64 << 10


def convert(dtx, folder, source, suffix, feed=None, repair=True):
    target = os.path.join(folder, "out." + suffix)
    command = [dtx, "convert", *["--repair"] * repair, source, "-o", target, "--store", os.path.join(folder, "store.db")]
    if feed is None:
        run = subprocess.run(command, capture_output=True, timeout=60)
    else:
        run = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        for i in range(len(feed)):
            os.write(run.stdin.fileno(), feed[i:i + 1])
        run.stdin.close()
        run.wait(60)
    if run.returncode:
        return "exit %d" % run.returncode
    with open(target, "rb") as f:
        return f.read()


def pairs(dtx, folder):
    for old in sorted(glob.glob(os.path.join(FIXTURES, "xls", "*.xls"))):
        name = os.path.splitext(os.path.basename(old))[0]
        new = convert(dtx, folder, os.path.join(FIXTURES, "xlsx", name + ".xlsx"), "csv")
        yield name + ": .xls as .xlsx", new == convert(dtx, folder, old, "csv") and len(new) > 40
        made = os.path.join(folder, "made.csv")
        with open(made, "wb") as f:
            f.write(new)
        # repaired, the text would lose the remarks below its table
        yield name + ": .csv as .xls", new == convert(dtx, folder, made, "csv", repair=False)


def pipes(dtx, folder):
    for path in sorted(glob.glob(os.path.join(FIXTURES, "*", "*.*"))):
        if path.split(".")[-1] not in ("csv", "jsonl", "xlsx", "xls"):
            continue
        with open(path, "rb") as f:
            feed = f.read()
        if len(feed) <= PIPED_MAX:
            whole = convert(dtx, folder, path, "csv")
            yield os.path.basename(path) + " through a pipe", whole == convert(dtx, folder, "-", "csv", feed)


def odd_tables(dtx, folder):
    """All of them in one run, as one input."""
    odd, target = os.path.join(folder, "odd"), os.path.join(folder, "odd.csv")
    os.mkdir(odd)
    names = {}
    for i, (name, data) in enumerate(odd_books.same()):
        path = os.path.join(odd, "%03d.xls" % i)
        names[path] = name
        with open(path, "wb") as f:
            f.write(data)
    run = subprocess.run([dtx, "convert", "--repair", os.path.join(odd, "*"), "--source-file", "file", "-o", target,
                          "--store", os.path.join(folder, "store.db")], capture_output=True, text=True, timeout=120)
    yield "odd files are read: " + run.stderr[:300] * bool(run.returncode), not run.returncode
    got = {}
    if not run.returncode:
        with open(target, encoding="utf-8", newline="") as f:
            for row in csv.reader(f):
                got[row[-1]] = got.get(row[-1], "name,n\n") + ",".join(row[:-1]) + "\n"
    for path, name in names.items():
        yield "one table: " + name, got.get(path) == odd_books.TABLE


def odd_cells(dtx, folder):
    for name, data, want in odd_books.others():
        path = os.path.join(folder, "cells.xls")
        with open(path, "wb") as f:
            f.write(data)
        run = subprocess.run([dtx, "inspect", "--cells", path, "--store", os.path.join(folder, "store.db")],
                             capture_output=True, text=True, timeout=60)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        got = {line["cell"]: line["value"] for line in lines}
        yield "cells: " + name + ("" if got == want else " has %r" % got), got == want


def odd_notes(dtx, folder):
    for name, data, options, want, note in odd_books.noted():
        path, made = os.path.join(folder, "noted.xlsx"), os.path.join(folder, "noted.csv")
        with open(path, "wb") as f:
            f.write(data)
        run = subprocess.run([dtx, "convert", path, *options, "-o", made, "--store", os.path.join(folder, "store.db")],
                             capture_output=True, text=True, timeout=60)
        with open(made, encoding="utf-8", newline="") as f:
            got = f.read()
        ok = got == want and (not run.stderr if note is None else run.stderr.count(note) == 1)
        yield "note: " + name + ("" if ok else ": %r, %s" % (got, run.stderr)), ok


def main():
    dtx, failed, n = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for test in (pairs, pipes, odd_tables, odd_cells, odd_notes):
            for name, ok in test(dtx, folder):
                n += 1
                failed += not ok
                print(("ok - " if ok else "not ok - ") + name)
    print("%d passed, %d failed, 0 skipped" % (n - failed, failed))
    return failed != 0


sys.exit(main())
