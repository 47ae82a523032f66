"""Runs whole programs with plain python3 and with `dtx exec`, and compares: what they print, the
files that they leave and whether they fail must be the same.

    compare.py DTX [every=N | NUMBER]...     every Nth program, or those
"""
import atexit
import gc
import gzip
import json
import linecache
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import types
import zipfile

import numpy as np
import pandas as pd

HERE = os.path.dirname(os.path.abspath(__file__))
DATED = re.compile(r"\.(xlsx?|zip|pdf|svg|gz|db|pkl|tar|dta)$")  # files that contain the time


def make_inputs():
    os.mkdir("in")
    n, rng = 120, np.random.RandomState(7)
    sales = pd.DataFrame({
        "order_id": range(1001, 1001 + n),
        "date": pd.date_range("2023-01-03", periods=n, freq="3D").strftime("%Y-%m-%d"),
        "region": rng.choice(["North", "South", "East", "West"], n),
        "product": rng.choice(["Wïdget", "Gadget", "Doohickey"], n), "qty": rng.randint(1, 20, n),
        "price": rng.choice([9.99, 19.5, 4.25, 100.0], n),
        "discount": np.where(rng.rand(n) < .3, np.round(rng.rand(n) * .3, 2), np.nan),
        "customer": ["C%03d" % i for i in rng.randint(1, 25, n)]})
    sales.to_csv("in/sales.csv", index=False)
    sales.head(20).to_excel("in/book.xlsx", index=False)
    pd.DataFrame({
        "id": [1, 2, 3, 4, 5, 6],
        "name": ["Ann Lee", "Bob  O'Neil", "Élise Müller", None, "李雷", "Zoë"],
        "start": ["2020-01-31", "2021-02-28", None, "2019-12-31", "2022-07-04", "2024-02-29"],
        "login": ["2024-01-02 03:04:05", "2024-03-31 01:30:00", "2024-10-27 01:30:00", None,
                  "2024-12-31 23:59:59", "2024-06-01 00:00:01"],
        "age": [34, None, 45, 29, None, 51],
        "active": ["true", "false", None, "true", "true", "false"],
        "salary": ["1234.50", "2000.00", "99.99", "0.10", "50000.00", None],
    }).to_csv("in/staff.csv", index=False)
    members = [{"id": 1, "tags": ["p", "q"]}, {"id": 2, "tags": []}]
    teams = [{"name": "a", "members": members, "lead": {"id": 1, "since": "2020-01-01"}},
             {"name": "b", "members": [], "lead": None}]
    log = ["2024-01-%02d %02d:00:00 %s [w%d] took %d ms"
           % (i % 28 + 1, i % 24, ["INFO", "WARN", "ERROR"][i % 3], i % 4, i * 7) for i in range(60)]
    texts = {
        "data.json": json.dumps({"company": "X", "teams": teams}), "log.txt": "\n".join(log) + "\n",
        "helper.py": "import pandas\n\ndef twice(x):\n    return x * 2\n",
        "config.ini": "[main]\nname = x\nrate = 1.5\n[paths]\nout = a/b\n",
        "data.xml": "<r><row id='1'><v>3</v><t>é</t></row><row id='2'><v>4</v><t/></row></r>",
        "page.html": "<html><body><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>x</td></tr>"
                     "</table><a href='q.html'>Q</a></body></html>"}
    for name, text in texts.items():
        with open("in/" + name, "w", encoding="utf-8") as f:
            f.write(text)
    with open("in/latin.csv", "wb") as f:
        f.write("name;v\nJosé;1,5\nÅsa;2,25\n".encode("latin-1"))
    with zipfile.ZipFile("in/z.zip", "w") as z:
        z.writestr("a.csv", "x,y\n1,2\n")
        z.writestr("sub/b.txt", "hi")
    with gzip.open("in/g.csv.gz", "wt") as f:
        f.write("p,q\n1,2\n3,4\n")
    with sqlite3.connect("in/db.sqlite") as c:
        c.execute("create table t(a int,b text)")
        c.executemany("insert into t values(?,?)", [(i, chr(97 + i)) for i in range(5)])
    c.close()


def child(source, folder, tables):
    """Runs the program in a fork of this process, which has imported pandas; does not return."""
    code = 1
    try:
        for fd, flags, name in ((0, os.O_RDONLY, "/dev/null"), (1, os.O_CREAT | os.O_WRONLY, "said"),
                                (2, os.O_CREAT | os.O_WRONLY, "complained")):
            os.dup2(os.open(name, flags), fd)
        sys.stdin = open(0, closefd=False)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
        sys.dont_write_bytecode = True
        sys.path.insert(0, "")
        atexit._clear()
        for name in os.listdir("in"):  # the jail looks for a name in /in as well
            os.symlink(os.path.abspath("in/" + name), os.path.join(folder, name))
        os.chdir(folder)
        home = os.getcwd()
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        module.__dict__.update(tables=tables, __file__="<program>")
        sys.argv = ["program.py"]
        linecache.cache["<program>"] = 1, None, source.splitlines(True), "<program>"
        try:
            exec(compile(source, "<program>", "exec"), module.__dict__)
            code = 0
        except SystemExit as end:
            code = int(end.code not in (None, 0))
        except BaseException:
            sys.excepthook(*sys.exc_info())
        atexit._run_exitfuncs()
        os.chdir(home)
        for name in os.listdir("."):
            if os.path.islink(name):
                os.unlink(name)
        module.__dict__.clear()  # as at the end of a program: this flushes open files
        gc.collect()
        sys.stdout.flush()
    finally:
        os._exit(code)


def outside(source, tables):
    shutil.rmtree("outside", ignore_errors=True)
    os.mkdir("outside")
    for name in ("said", "complained"):
        if os.path.exists(name):
            os.unlink(name)
    here = os.getcwd()
    places = re.sub(r"/in\b(?=[/'\"])", here + "/in", source).replace("/out", here + "/outside")
    pid = os.fork()
    if not pid:
        child(places, "outside", tables)
    status = os.waitpid(pid, 0)[1]
    with open("said", "rb") as f:
        said = f.read()
    said = said.replace((here + "/outside").encode(), b"/out").replace((here + "/in").encode(), b"/in")
    return bool(status), said, left("outside")


def inside(dtx, source):
    shutil.rmtree("inside", ignore_errors=True)
    with open("program.py", "w", encoding="utf-8") as f:
        f.write(source)
    words = [dtx, "exec", "-o", "inside", "--table", "sales=in/sales.csv", "--table",
             "staff=in/staff.csv"]
    for name in sorted(os.listdir("in")):
        words += ["--file", "%s=in/%s" % (name, name)]
    done = subprocess.run(words + ["program.py"], stdin=subprocess.DEVNULL, capture_output=True)
    return bool(done.returncode), done.stdout, left("inside"), done.stderr


def left(folder):
    """The files that it left, without figures: only the jail saves those that are left open."""
    out = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                out[os.path.relpath(path, folder)] = b"" if DATED.search(name) else f.read()
    return {k: v.replace((os.getcwd() + "/outside").encode(), b"/out") for k, v in out.items()
            if not k.startswith("figure-")}


def main(dtx, *only):
    os.environ["TZ"] = "UTC"
    os.environ["MPLBACKEND"] = "agg"
    time.tzset()
    make_inputs()
    with open(os.path.join(HERE, "compared.txt"), encoding="utf-8") as f:
        blocks = f.read().strip("\n").split("\n---\n")
    subprocess.run([dtx, "exec", "-o", ".", "--table", "sales=in/sales.csv", "--table",
                    "staff=in/staff.csv", "-c",
                    "import pickle; pickle.dump(tables, open('tables.pkl', 'wb'))"], check=True)
    gc.freeze()  # so that the collection at the end of a program only covers its own objects
    same = run = 0
    for i, block in enumerate(blocks):
        if only and str(i) not in only and not (only[0].startswith("every=") and i % int(only[0][6:]) == 0):
            continue
        run += 1
        with open("tables.pkl", "rb") as f:
            want = outside(block, pickle.load(f))
        got = inside(dtx, block)
        if got[:3] == want:
            same += 1
            continue
        print("# program %d: failed, output, files: %s\n# %s" % (
            i, [a == b for a, b in zip(want, got)], got[3].decode("utf-8", "replace")[-300:]))
    print("%d of %d programs do the same in the jail as outside" % (same, run))


main(*sys.argv[1:])
