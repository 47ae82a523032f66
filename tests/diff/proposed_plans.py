#!/usr/bin/python3
"""Runs the plans that `dtx inspect --plan` and `dtx suggest` propose for columns of odd texts.  No text may be lost: each
cell must come back as it was, or as a number or date that contains all of it.

usage: proposed_plans.py DTX [COUNT] [SEED]"""
import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import datetime

COUNT, SEED = 60, 5
WORD = "red blue Ann Bob Oslo Rome lamp chair".split()


def pick(*forms):
    """One of the forms, its digits and letters replaced: 9 a digit, A a capital, w a word."""
    def draw(r):
        form = r.choice(forms)
        return "".join(str(r.randint(0, 9)) if c == "9" else r.choice("ABCXYZ") if c == "@" else r.choice(WORD) if c == "~" else c for c in form)
    return draw


KINDS = {
    "phone": pick("+149999999", "+4499999999"),
    "phone or not": pick("+149999999", "4999999999"),
    "long id": pick("9" * 30, "9" * 12, "1"),
    "grouped id": pick("1,999,999,999,999,999,999,999", "5,999"),
    "zip": pick("09999", "19999"),
    "zeros": pick("0099", "7", "19"),
    "signed": pick("+9", "-9", "9"),
    "exponent": pick("1e5", "9E3", "x9"),
    "currency": pick("$9.99", "$1,999.50", "$99"),
    "currencies": pick("$9.99", "€9.99", "9"),
    "percent": pick("9%", "19.5%"),
    "percent or not": pick("19%", "0.9"),
    "grouped": pick("1,999", "99", "1,999,999"),
    "decimal comma": pick("19,9", "1.999,50", "9,25"),
    "digits": pick("0.1234567890123456789", "1,999.5"),
    "negative": pick("(9)", "9", "(1,999)"),
    "missing": pick("9", "9.5", "n/a"),
    "word for missing": pick("NA", "~", "none"),
    "dash": pick("19", "9", "-"),
    "day first": pick("31.12.2099", "1.2.2099"),
    "any order": pick("1/2/2099", "3/4/2099"),
    "moment": pick("31.12.2099 10:39", "30.11.2099 09:19"),
    "said": pick("3 Jan 2099", "12 Feb 2099"),
    "iso": pick("2024-01-19", "1999-12-09"),
    "year": pick("1999", "2009"),
    "clock": pick("12:39", "9:09"),
    "version": pick("1.9.9", "2.9"),
    "address": pick("10.9.9.1", "192.168.9.9"),
    "code": pick("@9", "@@-999", "9@"),
    "spaces": pick("  ~", "~  ~", "~"),
    "total": pick("Total", "~", "Sum of ~"),
    "note": pick("* ~", "Note: ~", "~"),
    "below": pick("<9", ">99", "<0.9"),
    "unit": pick("9 kg", "~"),
    "bool": pick("true", "false"),
    "yes": pick("yes", "no"),
    "quote": pick('~ "~"', "~, ~", "~"),
    "blank": pick("", "", "~"),
    "hash": pick("#9", "#99"),
    "slash": pick("9/9", "1/9"),
    "wide": pick("９９", "٣٤", "½"),
}


def digits(text):
    return re.sub(r"\D", "", text)


def same_number(text, got):
    try:
        float(got)
    except ValueError:
        return False
    negative = "-" in text or text.strip().startswith("(")
    if ("-" in got) != negative and float(got) != 0:
        return False
    if re.search(r"\d,\d{1,2}$", text.strip()):
        text = text.replace(".", "").replace(",", ".")
    whole = text.replace(",", "")
    if not re.fullmatch(r"[($€ -]*\d+(\.\d*)?[)%€ -]*", whole) or "+" in text or re.search(r"(^|[^\d.])0\d", whole):
        return False
    mine, its = digits(whole).strip("0"), digits(got).strip("0")
    return mine == its


def same_date(text, got):
    for form in ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d %b %Y"):
        try:
            moment = datetime.strptime(text.strip(), form)
        except ValueError:
            continue
        return got in (moment.strftime("%Y-%m-%d") if "%H" not in form else None, moment.strftime("%Y-%m-%dT%H:%M:%S"))
    return False


def is_kept(text, got, nulls):
    return got == text or " ".join(text.split()) == got or (got == "" and text in nulls) or same_number(text, got) or \
        same_date(text, got)


def run(*args):
    got = subprocess.run(args, capture_output=True, timeout=60)
    return got.returncode, got.stdout.decode(errors="replace"), got.stderr.decode(errors="replace")


def check(dtx, folder, kinds, names, rows, command):
    path, plan = os.path.join(folder, "in.csv"), os.path.join(folder, "plan.json")
    store = os.path.join(folder, "store.db")
    with open(path, "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([names] + rows)
    code, out, err = run(dtx, *command, path, "--store", store)
    if code == 4:
        return None  # the file is refused, with a next step
    if code:
        return "%s: exit %d %s" % (command, code, err)
    with open(plan, "w") as f:
        f.write(out)
    if not out:
        return None if "no reshape" in err else "neither a plan nor a word: %s" % err
    proposed = json.loads(out)
    code, out, err = run(dtx, "run", plan, path, "--to", "csv", "--fallback", "off", "--store", store)
    if code:
        return "the plan fails: exit %d %s\n%s" % (code, err, json.dumps(proposed["steps"]))
    ops = {step["op"] for step in proposed["steps"]}
    got = list(csv.reader(io.StringIO(out, newline="")))
    if ops & {"explode", "pivot_longer", "transpose", "pivot_records", "subtitle_to_column"}:
        # a reshape moves cells, but loses none of their words
        words, its = (Counter(re.findall("[A-Za-z]{3,}", text)) for text in (" ".join(" ".join(row) for row in rows), out))
        once = ops & {"pivot_records"}  # keys become the names of columns
        lost = [w for w in words if its[w] < (1 if once else words[w]) and not ops & {"drop_rows", "skip_rows"}]
        return "%s: lost %s" % (ops, lost[:5]) if lost else None
    if ops & {"drop_rows", "skip_rows", "drop_empty", "fill"}:
        # rows that are not data are dropped; of the others, nothing may be
        kept = [row for row in rows if not any(re.match(r"Total|Sum of|\* |Note:", cell) for cell in row)]
        if "drop_empty" in ops or "fill" in ops or len(got) - 1 < len(kept):
            return None if len(got) - 1 >= len(kept) - ("skip_rows" in ops) else "rows are lost: %s" % ops
        return None
    nulls = proposed["inputs"][0].get("null_values", [])
    if got[0] != names or len(got) != len(rows) + 1:
        return "other rows or columns: %s" % got[:2]
    for row, its in zip(rows, got[1:]):
        for kind, text, cell in zip(kinds, row, its):
            if not is_kept(text, cell, nulls):
                return "%s: %r became %r; %s" % (kind, text, cell, json.dumps(proposed["steps"]))
    return None


def main():
    dtx = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else COUNT
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else SEED
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for n in range(count):
            r = random.Random("%d/%d" % (seed, n))
            kinds = [list(KINDS)[n % len(KINDS)]] + r.sample(list(KINDS), r.randint(0, 3))
            names = ["c%s" % chr(97 + i) for i in range(len(kinds))]
            rows = [[KINDS[k](r) for k in kinds] for _ in range(r.randint(2, 12))]
            rows = [row for row in rows if any(row)]
            wrong = check(dtx, folder, kinds, names, rows, [["inspect", "--plan"], ["suggest"]][n // len(KINDS) % 2])
            if wrong:
                failed += 1
                print("# table %d of seed %d: %s\n# %s" % (n, seed, wrong.replace("\n", "\n# "), rows[:5]))
                print("not ok - proposed plans: %d" % n)
    print("%d passed, %d failed, 0 skipped" % (count - failed, failed))
    return failed != 0


sys.exit(main())
