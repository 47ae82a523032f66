"""Runs every example of pandas' and numpy's documentation in the jail and outside, and compares.

    tests/jail/docstrings.py DTX [STEP]      every STEPth docstring; 1 (all) takes minutes

Examples cannot agree if they print the time, random numbers, addresses or uninitialized memory.
OTHERWISE lists those where the jail differs on purpose, with the reason.
"""
import concurrent.futures
import doctest
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile

GROUP = 8  # docstrings per program
MODULES = """pandas pandas.core.strings.accessor pandas.core.indexes.accessors
pandas.core.groupby.generic pandas.core.groupby.groupby pandas.core.window.rolling
pandas.core.window.ewm pandas.core.window.expanding pandas.core.resample
pandas.core.arrays.categorical pandas.core.indexing pandas.core.arrays.datetimes numpy""".split()
LEFT_OUT = set("""compat core io util testing distutils f2py ctypeslib tests""".split())

OTHERWISE = (  # pattern of the name, what differs
    (r"np\.random|RandomState|Generator|SeedSequence", "entropy is a stream of the program's hash"),
    (r"\.(now|today|utcnow)$", "the clock stands still"),
    (r"\.(empty|empty_like|ndarray|recarray)$", "memory that nobody has set"),
    (r"\.(ids|ctypes|all|any)$|\.ctypes\.", "addresses"),
    (r"\.(show_config|show_runtime|lookfor|source)$", "the machine and its files"),
    (r"\.(arctan|sin|blackman|hamming|hanning|logaddexp|trapz|power|log|eigvals|bartlett|kaiser)$",
     "last digits: numpy without AVX-512"),
    (r"\.histogram2d$|\.poly$|\.vectorize$", "random numbers"),
    (r"read_(csv|excel|fwf|table)$", "the message of a missing file has its whole path"),
    (r"(andrews_curves|parallel_coordinates|read_html|read_xml|to_clipboard)$", "network, clipboard"),
    (r"\.(memmap|load|fromfile|tofile|DataSource|load_library)$|np\.rec", "files that C opens"),
    (r"\.np$|lib\.np", "help() pages"),
)

PROGRAM = """import contextlib, io, json, os
os.chdir = lambda path: None
said = []
for examples in json.loads(r'''%s'''):
    scope, lines = {"__name__": "__main__"}, []
    exec("import numpy as np, pandas as pd", scope)
    pd, np = scope["pd"], scope["np"]
    pd.reset_option("^(display|mode|compute)")
    with contextlib.suppress(ImportError):  # without matplotlib
        pd.reset_option("^plotting")
    np.random.seed(1)
    np.set_printoptions(edgeitems=3, infstr="inf", linewidth=75, nanstr="nan", precision=8,
                        suppress=False, threshold=1000, formatter=None, legacy=False)
    for text in examples:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            try:
                exec(compile(text, "<example>", "single"), scope)
            except Exception as error:
                print("!!", type(error).__name__, str(error)[:200])
        lines.append(out.getvalue())
    said.append(lines)
print(json.dumps(said))
"""


def collect():
    seen, found = set(), []
    parser = doctest.DocTestParser()

    def add(name, thing):
        text = getattr(thing, "__doc__", None)
        if not isinstance(text, str) or ">>>" not in text or text in seen:
            return
        seen.add(text)
        try:
            examples = [e.source for e in parser.get_examples(text)]
        except ValueError:
            return
        found.append((name, examples))

    def walk(thing, name, depth):
        for key in sorted(dir(thing)):
            try:
                inner = getattr(thing, key)
            except Exception:
                continue
            if key.startswith("_") or key in LEFT_OUT:
                continue
            add(name + "." + key, inner)
            module = inspect.ismodule(inner) and inner.__name__.startswith(("pandas", "numpy"))
            if id(inner) not in seen and (inspect.isclass(inner) or (module and depth < 1)):
                seen.add(id(inner))
                walk(inner, name + "." + key, depth + 1)

    for module in MODULES:
        walk(importlib.import_module(module), module.replace("numpy", "np"), 0)
    return [f for f in found if not any(re.search(p, f[0]) for p, _ in OTHERWISE)]


def run(command, folder):
    p = subprocess.run(command, capture_output=True, cwd=folder, timeout=300,
                       env=dict(os.environ, PYTHONHASHSEED="0", TZ="UTC", LANG="C.UTF-8",
                                OPENBLAS_NUM_THREADS="1", PYTHONWARNINGS="ignore",
                                NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX"))
    text = p.stdout.decode(errors="replace").strip().split("\n")[-1]
    try:
        return json.loads(text)
    except ValueError:
        return [["no answer: " + p.stderr.decode(errors="replace")[-300:]]]


def plain(text):
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def compare(dtx, group):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(PROGRAM % json.dumps([e for _, e in group]).replace("'''", "''\\u0027"))
        outside = run(["/usr/bin/python3", path], folder)
        inside = run([dtx, "exec", "--jail-wall", "120", "--jail-cpu", "120", path], folder)
    bad = []
    for (name, examples), a, b in zip(group, outside + [[]] * GROUP, inside + [[]] * GROUP):
        for text, x, y in zip(examples, a or ["nothing"], b or ["nothing"]):
            if plain(x) != plain(y):
                bad.append("not ok - %s: %s\n#   outside: %s\n#   inside:  %s" % (
                    name, text.strip().split("\n")[0][:80], x.strip()[-200:], y.strip()[-200:]))
                break
    return len(group), bad


def main():
    dtx = os.path.abspath(sys.argv[1])
    step = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    cases = collect()[::step]
    groups = [cases[i:i + GROUP] for i in range(0, len(cases), GROUP)]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for n, bad in pool.map(lambda g: compare(dtx, g), groups):
            passed += n - len(bad)
            failed += len(bad)
            print("".join(line + "\n" for line in bad), end="")
    print("# %d examples" % sum(len(examples) for _, examples in cases))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    sys.exit(failed != 0)


main()
