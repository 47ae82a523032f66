#!/usr/bin/python3
"""One workbook as .xlsx, .xls and as the CSV made of it gives the same rows; every fixture gives
the same through a pipe that carries one byte at a time.

usage: book_pairs.py DTX"""
import glob
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIXTURES = os.path.join(TOP, "fixtures")
PIPED_MAX = 64 << 10


def convert(dtx, folder, source, suffix, feed=None):
    target = os.path.join(folder, "out." + suffix)
    command = [dtx, "convert", "--repair", source, "-o", target, "--store", os.path.join(folder, "store.db")]
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
        yield name + ": .csv as .xls", new == convert(dtx, folder, made, "csv")


def pipes(dtx, folder):
    for path in sorted(glob.glob(os.path.join(FIXTURES, "*", "*.*"))):
        if path.split(".")[-1] not in ("csv", "jsonl", "xlsx", "xls"):
            continue
        with open(path, "rb") as f:
            feed = f.read()
        if len(feed) <= PIPED_MAX:
            whole = convert(dtx, folder, path, "csv")
            yield os.path.basename(path) + " through a pipe", whole == convert(dtx, folder, "-", "csv", feed)


def main():
    dtx, failed, n = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for test in (pairs, pipes):
            for name, ok in test(dtx, folder):
                n += 1
                failed += not ok
                print(("ok - " if ok else "not ok - ") + name)
    print("%d passed, %d failed, 0 skipped" % (n - failed, failed))
    return failed != 0


sys.exit(main())
