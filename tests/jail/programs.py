"""Runs ordinary programs, as people and language models write them: each must leave a DataFrame in
`result`.  In the jail, `dtx exec tests/jail/programs.py --file
programs.txt=tests/jail/programs.txt`; outside, the same with python.
"""
import datetime
import functools
import json
import os
import re
import sys
import types

import numpy as np
import pandas as pd


def given():
    orders = pd.DataFrame({
        "customer": ["ann", "bob", "ann", "cid", "ann"], "qty": [1, 2, 3, 1, 5],
        "price": [9.5, 20.0, None, 4.25, 7.0],
        "day": pd.to_datetime(["2024-01-02", "2024-01-15", "2024-02-03", "2024-02-29",
                               "2024-03-31"])})
    people = pd.DataFrame({"name": ["ann", "bob", "eva"], "city": ["Köln", "Paris", "Köln"],
                           "full": ["ann de  Vries", "Bob O'Neil", "eva Müller"]})
    return {"orders": orders, "people": people, "pd": pd, "np": np, "re": re, "json": json,
            "os": os, "sys": sys, "datetime": datetime, "functools": functools}


def screened(block):
    """What `dtx run` reports for the same lines in a transform."""
    head, rest = [], []
    for line in block.split("\n"):
        is_import = re.match(r"(import|from) ", line)
        (head if is_import else rest).append(line)
    text = "\n".join(head + ["def transform(tables, params):"]
                     + ["    " + line for line in rest] + ["    return result"])
    return sys.modules["screen"].check(text, {})


def main():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.txt")
    text = open("programs.txt" if "screen" in sys.modules else here, encoding="utf-8").read()
    blocks, bad, refused = text.strip("\n").split("\n---\n"), 0, []
    only = int(sys.argv[1]) if len(sys.argv) > 1 else None
    for i, block in enumerate(blocks):
        if only not in (None, i):
            continue
        module = sys.modules["program"] = types.ModuleType("program")
        scope = module.__dict__
        scope.update(given())
        try:
            exec(compile(block, "<block %d>" % i, "exec"), scope)
            assert isinstance(scope.get("result"), pd.DataFrame), "no table"
        except Exception as error:
            bad += 1
            print("# block %d: %s: %s\n# %s" % (i, type(error).__name__, error,
                                              block.replace("\n", "\n# ")), file=sys.stderr)
        if "screen" in sys.modules:
            found = screened(block)
            if found["class"]:
                refused.append("block %d: %s" % (i, found["message"]))
    print("%d of %d programs run, a screen refuses %d" % (len(blocks) - bad, len(blocks),
                                                           len(refused)), file=sys.stderr)
    print("\n".join(refused), file=sys.stderr)


main()
