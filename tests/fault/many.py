"""Runs plans with very many inputs through every command that iterates over them, to find arrays
that are too short.

    tests/fault/many.py DTX [COUNT ...]

Each count of input files (65 and 256 without arguments) goes through run, why, why-not, lineage of
rows, snapshots, replay, explain, check and the report.  With a sanitizer build a write past the end
of an array ends the program; without one, only the results are compared.
"""
import json
import os
import subprocess
import sys
import tempfile

DTX = os.path.abspath(sys.argv[1])
COUNTS = [int(a) for a in sys.argv[2:]] or [65, 256]
passed = failed = 0


def check(good, name, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("# %s" % (why[-1500:],))
    print("%s - %s" % ("ok" if good else "not ok", name))


def dtx(*argv):
    done = subprocess.run([DTX, *argv], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def inputs(n):
    """Uses a pattern: each file becomes an input."""
    for name in os.listdir("."):
        if name.startswith("in"):
            os.unlink(name)
    for i in range(n):
        with open("in%04d.csv" % i, "w") as f:
            f.write("k,v\nk%d,%d\n" % (i, i))
    with open("plan.json", "w") as f:
        json.dump({"dtx": 1, "inputs": [{"name": "t", "path": "in*.csv"}], "steps": [
            {"op": "derive", "set": {"w": "v * 2"}}, {"op": "filter", "where": "k != 'k0'" if n > 1 else "v >= 0"}]}, f)


def through(n):
    inputs(n)
    last = n - 1
    status, _, said = dtx("run", "plan.json", "-o", "out.csv", "--lineage", "rows", "--snapshot-inputs")
    if status:
        return check(False, "%d inputs: run" % n, said)
    with open("out.csv") as f:
        rows = f.read().splitlines()
    check(status == 0 and rows[-1] == "k%d,%d,%d" % (last, last, 2 * last) and len(rows) == max(n, 2),
          "%d inputs: run" % n, said)
    for name, argv, want in (
            ("why", ["why", "out.csv", "C%d" % len(rows)], "in%04d.csv" % last),
            ("why-not", ["why-not", "out.csv", "in0000.csv!L2"], ""),
            ("replay", ["replay", "out.csv"], ""),
            ("explain", ["explain", "plan.json"], ""),
            ("check", ["check", "plan.json"], ""),
            ("the record", ["provenance", "out.csv", "--json"], "in%04d.csv" % last),
            ("the report", ["provenance", "out.csv", "--html", "out%d.html" % n], "")):
        status, out, said = dtx(*argv)
        check(status in (0, 1) and "Sanitizer" not in said and want in out, "%d inputs: %s" % (n, name),
              "%s: exit %d: %s%s" % (argv, status, out[-300:], said))


def main():
    os.environ.update(DTX_STORE=os.path.abspath("store.db"), HOME=os.getcwd())
    for n in COUNTS:
        through(n)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


with tempfile.TemporaryDirectory(prefix="dtx-many-") as folder:
    os.chdir(folder)
    status = main()
    os.chdir("/")
sys.exit(status)
