"""Tests each row of the manual's table of cases in which tools disagree, with the engine and with dx.

Usage: semantics.py DTX   Both get the same plan and must give the rows listed here.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import examples  # noqa: E402


def derive(formula):
    return {"op": "derive", "set": {"x": formula}}


def group(by, formula):
    return {"op": "group_by", "by": by, "agg": {"x": formula}}


JOIN = {"op": "join", "with": "other", "on": "k"}
# question, step, main table, expected result (None: an error), other table
TABLE = [
    ("null group key is a group", group(["k"], "count()"), "k\na\n\n\n", "k,x\na,1\n,2\n"),
    ("null join key never matches", JOIN, "k\na\n\n", "k,w\na,1\n", "k,w\na,1\n,2\n"),
    ("int overflow is an error", derive("n + 1"), "n\n9223372036854775807\n", None),
    ("an int beyond 2^53 is not rounded", group([], "sum(n)"), "n\n9007199254740992\n", "x\n9007199254740992\n"),
    ("division by zero is null", derive("n / 0"), "n\n1\n", "n,x\n1,\n"),
    ("7/2 is 3.5", derive("n / 2"), "n\n7\n", "n,x\n7,3.5\n"),
    ("-7 // 2 is -4", derive("n // 2"), "n\n-7\n", "n,x\n-7,-4\n"),
    ("-7 % 2 is 1", derive("n % 2"), "n\n-7\n", "n,x\n-7,1\n"),
    ("// and % of decimals, too", derive("concat(decimal(n, 9, 2) // 2, ' ', decimal(n, 9, 2) % 2)"), "n\n-0.5\n",
     "n,x\n-0.5,-1 1.50\n"),
    ("0.5 beside a decimal is exact", derive("length(text(decimal(n, 9, 2) - 0.5))"), "n\n-0.5\n", "n,x\n-0.5,5\n"),
    ("what is computed of floats is not", derive("length(text(decimal(n, 9, 2) - (0.25 + 0.25)))"), "n\n-0.5\n",
     "n,x\n-0.5,4\n"),
    ("nor is what has an exponent", derive("length(text(decimal(n, 9, 2) - 5e-1))"), "n\n-0.5\n", "n,x\n-0.5,4\n"),
    ("0.1 beside a decimal is equal to it", derive("decimal(n, 9, 2) == 0.1"), "n\n0.1\n", "n,x\n0.1,true\n"),
    ("decimals of one column have one scale", derive("length(text(max(decimal(n, 9, 2), 0.125)))"), "n\n2.5\n",
     "n,x\n2.5,5\n"),
    ("rounding of a decimal gives as many digits as it names", derive("length(text(round(decimal(n, 9, 2), 1)))"),
     "n\n2.55\n", "n,x\n2.55,3\n"),
    ("sum of nothing is null", group(["k"], "sum(n)"), "k,n\na,1\nb,\n", "k,x\na,1\nb,\n"),
    ("count of nothing is 0", group(["k"], "count(n)"), "k,n\na,1\nb,\n", "k,x\na,1\nb,0\n"),
    ("mean of nothing is null", group(["k"], "mean(n)"), "k,n\na,1\nb,\n", "k,x\na,1.0\nb,\n"),
    ("std is of the sample", group([], "std(n)"), "n\n1\n3\n", "x\n1.4142135623730951\n"),
    ("a slope is not rounded by the way", group([], "regr_slope(y, x)"), "y,x\n8.0,0.4\n6.0,8.4\n3.8,0.5\n",
     "x\n0.007593735168486011\n"),
    ("quantile is linear", group([], "quantile(n, 0.25)"), "n\n1\n2\n4\n8\n", "x\n1.75\n"),
    ("halves round away from zero", derive("round(n)"), "n\n2.5\n-2.5\n", "n,x\n2.5,3\n-2.5,-3\n"),
    ("rounding is of the shortest decimal", derive("round(n, 2)"), "n\n2.675\n", "n,x\n2.675,2.68\n"),
    ("nulls sort last, downwards too", {"op": "sort", "by": "-n"}, "n\n1\n\n2\n", "n\n2\n1\n\n"),
    ("sorting is stable", {"op": "sort", "by": "-k"}, "k,v\na,1\nb,2\na,3\n", "k,v\nb,2\na,1\na,3\n"),
    ("text sorts by bytes", {"op": "sort", "by": "k"}, "k\nb\nä\nB\n", "k\nB\nb\nä\n"),
    ("text is not a number", JOIN, "k\n1\n", None, "k,w\na,1\n"),
    ("or with null is Kleene", derive("b or n == 1"), "b,n\ntrue,\nfalse,\n", "b,n,x\ntrue,,true\nfalse,,\n"),
    ("null != v drops the row", {"op": "filter", "where": "k != 'a'"}, "k\na\nb\n\n", "k\nb\n"),
    ("is_distinct keeps it", {"op": "filter", "where": "is_distinct(k, 'a')"}, "k,v\na,1\nb,2\n,3\n", "k,v\nb,2\n,3\n"),
    ("count_distinct skips null", group([], "count_distinct(k)"), "k\na\n\na\n", "x\n1\n"),
    ("concat skips null", derive("concat('a', k, 'c')"), "k,v\n,1\nb,2\n", "k,v,x\n,1,ac\nb,2,abc\n"),
    ("row-wise max skips null", derive("max(n, 0)"), "n,v\n,1\n5,2\n", "n,v,x\n,1,0\n5,2,5\n"),
    ("groups come first seen", group(["k"], "count()"), "k\nb\na\nb\n", "k,x\nb,2\na,1\n"),
    ("joins keep the left order", dict(JOIN, how="full"), "k\nb\na\n", "k,w\nb,2\na,1\na,3\nc,4\n", "k,w\na,1\nb,2\na,3\nc,4\n"),
    ("unpivot keeps nulls", {"op": "pivot_longer", "cols": ["p", "q"]}, "p,q\n1,\n", "name,value\np,1\nq,\n"),
    ("pivot duplicates are an error", {"op": "pivot_wider", "names_from": "q", "values_from": "v"},
     "k,q,v\na,x,1\na,x,2\n", None),
    ("pivot gaps are null", {"op": "pivot_wider", "names_from": "q", "values_from": "v"},
     "k,q,v\na,x,1\nb,y,2\n", "k,x,y\na,1,\nb,,2\n"),
    ("'12.7' is not an int", {"op": "cast", "types": {"t": "int"}}, "t\n12.7\n", None),
    ("' 12 ' is 12", derive("int(' 12 ')"), "n\n1\n", "n,x\n1,12\n"),
    ("'1,234' needs parse_number", derive("int('1,234')"), "n\n1\n", None),
    ("yes is not a bool", {"op": "cast", "types": {"t": "bool"}}, "t\nyes\n", None),
    ("007 is text", derive("concat(t, '')"), "t\n007\n", "t,x\n007,007\n"),
    ("floats are written short", derive("text(n * 10)"), "n\n10.0\n", "n,x\n10.0,100.0\n"),
    ("a nullable int stays an int", derive("n + 1"), "n\n2\n\n", "n,x\n2,3\n,\n"),
    ("mid counts from 1", derive("mid(k, 2, 1)"), "k\nabc\n", "k,x\nabc,b\n"),
    ("slice counts from 0", derive("slice(k, 1, 2)"), "k\nabc\n", "k,x\nabc,b\n"),
    ("clamp keeps floats", derive("length(text(clamp(v, 0, 100)))"), "v\n-3.0\n200.5\n",
     "v,x\n-3.0,3\n200.5,5\n"),
    ("months clamp", derive("date_add(d, 1, 'month')"), "d\n2024-01-31\n", "d,x\n2024-01-31,2024-02-29\n"),
    ("a row without a time makes no group of resample", {"op": "resample", "col": "d", "every": "1mo", "by": ["k"], "agg": {"n": "count()"}},
     "k,d\na,\nb,2024-05-06\na,2024-05-07\n", "k,d,n\nb,2024-05-01,1\na,2024-05-01,1\n"),
    ("min and max of nothing are null", group(["k"], "min(n)"), "k,n\na,1\nb,\n", "k,x\na,1\nb,\n"),
    ("the median of two is between", group([], "median(n)"), "n\n1\n4\n", "x\n2.5\n"),
    ("var is of the sample", group([], "var(n)"), "n\n1\n3\n", "x\n2.0\n"),
    ("equal values have no variance", group([], "var(n)"), "n\n1000000000000000.3\n1000000000000000.3\n1000000000000000.3\n",
     "x\n0.0\n"),
    ("what cancels out leaves no covariance", group([], "cov(n, v)"),
     "n,v\n0.1,0.7\n0.3,0.7\n0.1,-91.283\n0.3,-91.283\n", "x\n0.0\n"),
    ("and with null is Kleene", derive("b and n == 1"), "b,n\ntrue,\nfalse,\n", "b,n,x\ntrue,,\nfalse,,false\n"),
    ("in with null is Kleene", derive("n in (1, null)"), "n\n1\n2\n", "n,x\n1,true\n2,\n"),
    ("a running sum is by rows, ties share none", {"op": "window", "order": ["n"], "set": {"x": "sum(n)"}}, "n\n1\n1\n2\n",
     "n,x\n1,1\n1,2\n2,4\n"),
    ("a cumulative sum is null at a null and goes on", {"op": "window", "set": {"x": "cum_sum(n)"}}, "n,k\n1,a\n,b\n2,c\n",
     "n,k,x\n1,a,1\n,b,\n2,c,3\n"),
    ("bins are closed on the left, the last on both sides", {"op": "bin", "col": "n", "as": "x", "breaks": [0, 1, 2],
     "labels": ["low", "high"]}, "n\n0\n1\n2\n", "n,x\n0,low\n1,high\n2,high\n"),
    ("a sum of floats has one rounding", group([], "sum(n)"), "n\n1e16\n1.0\n-1e16\n", "x\n1.0\n"),
    ("text never meets a number", derive("k == 1"), "k\na\n", None),
    ("weeks start on Monday", derive("weekday(d)"), "d\n2024-01-01\n", "d,x\n2024-01-01,1\n"),
]


SAME = {"op": "select", "cols": ["*"]}
# What the reader and the writer decide, which belong to the engine on both paths.
FILES = [
    ("digits beyond int64 are text", derive("length(n)"), "n\n92233720368547758070\n1\n", "n,x\n92233720368547758070,20\n1,1\n"),
    ("03/04/2024 is text", derive("upper(d)"), "d\n03/04/2024\n", "d,x\n03/04/2024,03/04/2024\n"),
    ("1 is not a bool", derive("b + 1"), "b\n1\n0\n", "b,x\n1,2\n0,1\n"),
    ("an untouched cell keeps its bytes", SAME, "n,k\n1.50,a\n1e3,b\n", "n,k\n1.50,a\n1e3,b\n"),
    ("an empty cell is null, quotes make it text", derive("k is null"), 'k,n\n,1\n"",2\n', 'k,n,x\n,1,true\n"",2,false\n'),
    ("NA and null are text", derive("length(k)"), "k\nNA\nnull\n", "k,x\nNA,2\nnull,4\n"),
    ("a repeated header takes a number", SAME, "a,a\n1,2\n", "a,a_2\n1,2\n"),
    ("a ragged row is an error", SAME, "a,b\n1,2\n3\n", None),
]


def engine(dtx, step, tables, folder):
    plan = {"dtx": 1, "inputs": [{"name": n} for n in tables], "steps": [step]}
    (folder / "plan.json").write_text(json.dumps(plan))
    for name, text in tables.items():
        (folder / (name + ".csv")).write_text(text)
    done = subprocess.run([dtx, "run", "plan.json", "--fallback", "off", "--to", "csv"] + [f"{n}={n}.csv" for n in tables],
                          cwd=folder, capture_output=True, text=True, timeout=60)
    return (done.stdout if done.returncode == 0 else None), done.stderr.strip()


def check(dtx, row, folder):
    step, text, want = row[1:4]
    tables = {"main": text}
    if len(row) > 4:
        tables["other"] = row[4]
    got, why = engine(dtx, step, tables, folder)
    if want is None:
        if got is not None:
            return "engine: no error"
    elif got != want:
        return "engine: got %r %s" % (got, why)
    if row in FILES:
        return None
    example = {"step": step, "in": text, "with": tables.get("other"), "out": want, "error": want is None and "any"}
    found = examples.check(dtx, example, folder)
    return found and "dx: " + found


def main():
    dtx = os.path.realpath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        os.environ["DTX_STORE"] = os.path.join(tmp, "store.db")
        for row in TABLE + FILES:
            found = check(dtx, row, pathlib.Path(tmp))
            passed, failed = passed + (not found), failed + bool(found)
            if found:
                print("# %s\nnot ok - %s" % (found, row[0]))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
