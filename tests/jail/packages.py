"""Runs the programs of packages.txt, short analyses with scipy, sklearn, statsmodels, seaborn,
matplotlib, openpyxl and sqlite3, in the jail and with Debian's Python, and compares what they print
and the figures that they save, byte by byte. Nothing that they do may be refused.

    tests/jail/packages.py DTX [STEP [FIRST]]   every STEPth program; 1, the default, is all

Programs whose packages are not installed are skipped.  Both sides start from processes that have
imported the packages, so all programs together take about two minutes of processor time.
"""
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback

PRELUDE = "import numpy as np\nimport pandas as pd\n"
PACKAGES = {"scipy": "scipy.stats", "sklearn": "sklearn.ensemble", "joblib": "joblib",
            "statsmodels": "statsmodels.api", "patsy": "patsy", "seaborn": "seaborn",
            "matplotlib": "matplotlib.pyplot", "openpyxl": "openpyxl"}
FIGURES = (".png", ".jpg", ".gif")
# as in the jail: one thread, no AVX-512 in numpy, no numexpr and bottleneck (below)
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0",
    "MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"}


def programs():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "packages.txt"), encoding="utf-8") as f:
        return f.read().strip("\n").split("\n---\n")


def needs(text):
    return [name for name in PACKAGES
            if re.search(r"\b%s\b" % name, text)
            or name == "openpyxl" and re.search("excel|Excel", text)
            or name == "matplotlib" and ".plot" in text]


def plain(folder):
    """Runs in Debian's Python: each program in a child of its own, in a folder of its own."""
    texts = {n: programs()[int(n)] for n in os.listdir(folder)}
    sys.modules["numexpr"] = sys.modules["bottleneck"] = None
    import pandas  # noqa: F401
    for name in sorted({PACKAGES[name] for text in texts.values() for name in needs(text)}):
        importlib.import_module(name)
    for n, text in texts.items():
        child = os.fork()
        if child == 0:
            os.chdir(os.path.join(folder, n))
            for fd, name in ((1, "stdout"), (2, "stderr")):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), fd)
            status = 0
            try:
                exec(compile(PRELUDE + text, "<program>", "exec"), {"__name__": "__main__"})
            except BaseException:
                traceback.print_exc()
                status = 1
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with open(os.path.join(folder, n, "status"), "w") as f:
            f.write(str(status))


def read(path):
    with open(path, "rb") as f:
        return f.read()


def figures(folder):
    return {name: read(os.path.join(folder, name)) for name in os.listdir(folder)
            if name.endswith(FIGURES) and not name.startswith("figure-")}


def jailed(dtx, text, folder):
    """Runs a program in the jail; returns what it printed, its figures, and what went wrong."""
    path, out = os.path.join(folder, "program.py"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as f:
        f.write(PRELUDE + text)
    os.mkdir(out)
    got = subprocess.run([dtx, "exec", "--json", "--jail-wall", "300", "--jail-cpu", "120",
                          "--out", out, path], capture_output=True)
    report = json.loads(got.stdout)["report"]
    why = report["reason"] or ""
    if report["denied_total"]:  # the program went on, as libraries do that only probe
        print("# %s: calls refused: %s" % (folder.rsplit("/", 1)[1], " ".join(
            sorted({d["name"] for d in report["denied"]}))))
    return report["stdout"].get("text", "").encode(), figures(out), why


def difference(one, other):
    for a, b in zip(one.split(b"\n"), other.split(b"\n")):
        if a != b:
            return "outside: %r\n#   inside:  %r" % (a[:160], b[:160])
    return "outside: %d bytes, inside: %d bytes" % (len(one), len(other))


def compare(dtx, n, text, folder):
    """What differs; None: nothing does."""
    outside = os.path.join(folder, "plain", str(n))
    if read(os.path.join(outside, "status")) != b"0":
        return "plain Python: %s" % read(os.path.join(outside, "stderr")).decode()[-300:]
    inner = os.path.join(folder, "jail", str(n))
    os.makedirs(inner)
    printed, drawn, why = jailed(dtx, text, inner)
    if why:
        return why
    want = read(os.path.join(outside, "stdout"))
    if printed != want:
        return difference(want, printed)
    want = figures(outside)
    if drawn != want:
        return "figures: %s" % sorted(k for k in {**drawn, **want} if drawn.get(k) != want.get(k))
    return None


def main():
    dtx = os.path.abspath(sys.argv[1])
    step = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    chosen = list(enumerate(programs()))[first::step]
    passed = failed = skipped = drawn = 0
    here = {name for name in PACKAGES if os.path.isdir("/usr/lib/python3/dist-packages/" + name)}
    with tempfile.TemporaryDirectory() as folder:
        left = [(n, text) for n, text in chosen if not set(needs(text)) - here]
        for n, text in chosen:
            missing = set(needs(text)) - here
            if missing:
                skipped += 1
                print("ok - program %d # SKIP %s is not installed" % (n, sorted(missing)[0]))
        for n, _ in left:
            os.makedirs(os.path.join(folder, "plain", str(n)))
        subprocess.run(["/usr/bin/python3", os.path.abspath(__file__), "--plain",
                        os.path.join(folder, "plain")], check=True,
                       env=dict(ENVIRONMENT, MPLCONFIGDIR=folder, HOME=folder))
        for n, text in left:
            why = compare(dtx, n, text, folder)
            passed, failed = passed + (not why), failed + bool(why)
            drawn += len(figures(os.path.join(folder, "plain", str(n))))
            if why:
                print("not ok - program %d: %s\n#   %s" % (
                    n, text.split("\n")[0][:80], why.replace("\n", "\n# ")), flush=True)
    print("# %d figures" % drawn)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1] == "--plain":
        plain(sys.argv[2])
    else:
        sys.exit(main())
