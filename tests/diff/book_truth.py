#!/usr/bin/python3
"""Compares `dtx inspect --cells` with the typed cells that Excel itself exported.

The files lie outside the repository (DTX_SHARED_DATA, default ../shared/data): without them the
test is skipped.  Every literal cell must agree; a formula result that differs is only counted.

usage: book_truth.py [DTX]     default: build/dtx
"""
import glob
import json
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.environ.get("DTX_SHARED_DATA", os.path.join(TOP, "..", "shared", "data"))
# Excel repairs the header cells of a table from the table's definition when it opens the file; dtx
# reads what the cells hold.  A line that no longer differs fails the test.
KNOWN = {
    ("poi__CustomXMLMappings-complex-type.xlsx", "Foglio2", "D5"),
    ("poi__CustomXMLMappings-complex-type.xlsx", "Foglio2", "E5"),
}
DATES = ("date", "datetime", "time", "duration")


def unescape(text):
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r"}.get(m[1], m[1]), text)


def fold(text):
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ")).strip()


def truth(path):
    for line in open(path, encoding="utf-8", newline="\n"):
        sheet, ref, kind, value, formula = (line.rstrip("\n").split("\t") + [""] * 5)[:5]
        yield unescape(sheet), ref, kind, unescape(value), formula == "f"


def cells(command, path):
    run = subprocess.run(command + [path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode:
        return None, run.stderr.decode("utf-8", "replace").strip()
    got = {}
    for line in run.stdout.decode("utf-8").split("\n"):
        if line:
            c = json.loads(line)
            got[(c["sheet"], c["cell"])] = c
    return got, None


def iso(value):
    """ISO text cut to what both sides can say: seconds, midnight written out."""
    text = str(value).replace(" ", "T")
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        text += "T00:00:00"
    return re.sub(r"\.\d*$", "", text)


def agree(kind, value, c):
    if kind == "number":
        if c["kind"] in ("time", "duration"):
            return True
        return c["kind"] == "number" and abs(float(value) - c["value"]) <= 1e-9 * max(
            1.0, abs(float(value)))
    if kind == "text":
        return c["kind"] == "text" and fold(value) == fold(c["value"])
    if kind == "bool":
        return c["kind"] == "bool" and (value.lower() in ("true", "1")) == c["value"]
    if kind == "error":
        return c["kind"] == "error" and value == c["value"]
    if kind == "datetime":
        if c["kind"] in ("time", "duration"):
            return iso(value).split("T")[1][:5] in str(c["value"]) or iso(value)[:4] == "1900"
        return c["kind"] in DATES and iso(value) == iso(c["value"])
    return False


def main():
    dtx = sys.argv[1] if len(sys.argv) > 1 else os.path.join(TOP, "build", "dtx")
    command = [dtx, "inspect", "--cells"]
    files = [f for f in sorted(glob.glob(os.path.join(DATA, "ingest", "*.xls*"))) if not f.endswith(".tsv")]
    if not files:
        print("ok - book_truth # SKIP no files in %s/ingest (set DTX_SHARED_DATA)" % DATA)
        print("0 passed, 0 failed, 1 skipped")
        return 0
    bad = literals = formulas = differ = 0
    for path in files:
        got, why = cells(command, path)
        name = os.path.basename(path)
        if got is None:
            print("not ok - %s: %s" % (name, why))
            bad += 1
            continue
        wrong = []
        for sheet, ref, kind, value, formula in truth(path + ".cells.tsv"):
            c = got.get((sheet, ref))
            ok = c is not None and agree(kind, value, c)
            literals += not formula
            formulas += formula
            differ += formula and not ok
            if formula and not ok and os.environ.get("SHOW"): print("   ", name, sheet, ref, kind, value, c and (c["kind"], c["value"], c["format"]))
            if ok == ((name, sheet, ref) in KNOWN) and not formula:
                wrong.append((sheet, ref, kind, value, c and (c["kind"], c["value"], c["format"])))
        for row in wrong[:5]:
            print("  %s!%s wants %s %r, got %r" % row)
        print("%s - %s" % ("not ok" if wrong else "ok", name))
        bad += bool(wrong)
    print("# %d literal cells; %d of %d formula results differ" % (literals, differ, formulas))
    print("%d passed, %d failed" % (len(files) - bad, bad))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
