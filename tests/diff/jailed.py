"""Runs random plans with and without a snippet in the middle that returns its table unchanged: the results must be the
same, byte for byte.

Usage: jailed.py DTX [COUNT [FIRST_SEED]]

So a table comes back from the jail with the same bytes, types and order, and the contract for a snippet demands nothing
of its result that later steps do not use.
"""
import json
import os
import pathlib
import random
import sys
import tempfile

import generate
import run

SNIPPET = "def transform(tables, params):\n    return list(tables.values())[0]\n"
# Errors that are allowed: what such a snippet may not do; and, because a snippet gets whole tables, a step before it that
# fails at a column that no other step reads.
REFUSALS = ("keep_range counts rows of a source", "the result has no columns", "or let a snippet do this step: ")


def jailed(bench, way, place):
    """Exit code, output and messages with the snippet as step `place`."""
    plan = json.loads((bench.folder / "text.json").read_text())
    plan["steps"].insert(place, {"op": "nobody_knows_this"})
    (bench.folder / "jailed.json").write_text(json.dumps(plan))
    done = bench.dtx_does("run", "jailed.json", "-q", "--snippet", "same.py", "--threads", str(way[0]), "--batch-rows",
                          str(way[1]), "--to", "csv", *("%s=%s.csv" % (name, name) for name in bench.tables))
    return done.returncode, done.stdout, done.stderr.decode()


def first_difference(a, b):
    a, b = a.decode().splitlines(), b.decode().splitlines()
    for at, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return "line %d: %r, with the snippet %r" % (at + 1, x[:200], y[:200])
    return "%d lines, with the snippet %d" % (len(a), len(b))


def check(bench, seed):
    """None, a reason not to compare, or what differs."""
    random.seed(seed)
    bench.put(*generate.case())
    way = random.choice(run.THREADS), random.choice(run.ROWS)
    place = random.randint(0, len(bench.plan["steps"]))
    code, text, _ = bench.run(*way, plan="text.json", to="csv")
    if code:
        return "refused without the snippet, too", None
    if "source_" in json.dumps(bench.plan["steps"]):
        return "rows of a snippet stand in no source", None
    code, got, said = jailed(bench, way, place)
    if code:
        return next((r for r in REFUSALS if r in said), None), "before step %d: exit %d %s" % (place + 1, code, said[:300])
    return None, None if got == text else "before step %d: %s" % (place + 1, first_difference(text, got))


def main():
    dtx, count = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed = failed = refused = 0
    with tempfile.TemporaryDirectory() as tmp:
        bench = run.Bench(dtx, pathlib.Path(tmp))
        (bench.folder / "same.py").write_text(SNIPPET)
        for seed in range(first, first + count):
            reason, what = check(bench, seed)
            if reason:
                refused += 1
            elif what:
                failed += 1
                print("# seed %d: %s\n# %s\nnot ok - plan %d" % (seed, what, json.dumps(bench.plan["steps"]), seed), flush=True)
            else:
                passed += 1
    print("# %d plans were refused" % refused)
    if refused > count // 2:
        failed += 1
        print("not ok - most plans were refused, and compare nothing")
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
