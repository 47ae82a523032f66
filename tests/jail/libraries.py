"""Tests the jail with other libraries: linear algebra with each BLAS that is installed, a pool
whose library is replaced while it runs, and libraries that are broken.

numpy loads libblas.so.3 and liblapack.so.3; in Debian these are links through /etc/alternatives.
The script changes them in a mount namespace of its own, where it binds changed copies of folders
over the real ones, so the machine is not changed.

Usage: libraries.py DTX
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

ALTERNATIVES = "/etc/alternatives"
LINKS = ("libblas.so.3", "liblapack.so.3")
ALL_ABSENT = "without packages"
INSIDE = "DTX_TEST_LIBRARY"  # set in the environment of the script's second start: what to bind
PLAN = {"dtx": 1, "steps": [{"op": "do_the_impossible"}]}

# One row per call: its name and a number of its result.  Sums may differ in the last bits.
CALLS = """
def calls():
    a = np.arange(3600.0).reshape(60, 60) % 17 + np.eye(60) * 90
    b = np.arange(250000.0).reshape(500, 500) % 13
    x = np.linspace(0, 1, 400)
    u, s, v = np.linalg.svd(a)
    return {
        "det": float(np.linalg.slogdet(a)[1]) + np.sign(np.linalg.det(a / 90)),
        "inv": np.abs(np.linalg.inv(a) @ a - np.eye(60)).max() < 1e-9,
        "svd": np.abs(u * s @ v - a).max() < 1e-9,
        "eig": float(np.abs(np.linalg.eig(a)[0]).sum()),
        "eigh": float(np.linalg.eigh(a + a.T)[0].sum()),
        "qr": float(np.abs(np.diag(np.linalg.qr(a)[1])).sum()),
        "cholesky": float(np.linalg.cholesky(a @ a.T).sum()),
        "solve": float(np.linalg.solve(a, a[0]).sum()),
        "lstsq": float(np.linalg.lstsq(a[:, :20], a[:, 30], rcond=None)[0].sum()),
        "polyfit": float(np.polyfit(x, 3 * x * x - x + 2, 2).sum()),
        "pinv": float(np.linalg.pinv(a).sum()),
        "product": float((b @ b).sum()),
        "product32": float((b.astype("f4") @ b.astype("f4"))[3, 5]),
        "complex": float(np.abs((a + 1j) @ a).sum()),
        "dot": float(x @ x),
        "einsum": float(np.einsum("ij,jk->ik", a, a, optimize=True).sum()),
        "cov": float(np.cov(a).sum()),
        "corr": float(pd.DataFrame(a).corr().to_numpy().sum()),
        "sort": float(np.sort(b.ravel() * 7 % 101)[1000:2000].sum()),
    }
"""
SNIPPET = "import numpy as np\nimport pandas as pd\n" + CALLS + """
def transform(tables, params):
    got = calls()
    return pd.DataFrame({"call": list(got), "value": [float(v) for v in got.values()]})
"""
PROGRAM = "import json\nimport numpy as np\nimport pandas as pd\n" + CALLS + """
print(json.dumps({k: float(v) for k, v in calls().items()}))
"""
# the libraries are loaded already, so nothing is opened to find their names
WHICH = """
import ctypes
print("openblas" if hasattr(ctypes.CDLL("libblas.so.3"), "openblas_get_config") else "other")
"""

PACKAGES = "/usr/lib/python3/dist-packages"
MPL_DATA = "/usr/share/matplotlib/mpl-data"
passed = failed = skipped = 0
mounted = []


def check(name, good, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good and why:
        print("\n".join("# " + line for line in str(why).splitlines()[:20]))
    print("%s - %s" % ("ok" if good else "not ok", name), flush=True)


def skip(name, why):
    global skipped
    skipped += 1
    print("ok - %s # SKIP %s" % (name, why))


def run(*args, **words):
    return subprocess.run(args, capture_output=True, text=True, timeout=300, **words)


def same(got, expected):
    return set(got) == set(expected) and all(
        abs(got[k] - expected[k]) <= 1e-9 * max(1, abs(expected[k])) for k in expected)


def from_csv(text):
    return {k: float(v) for k, v in (line.split(",") for line in text.splitlines()[1:])}


def expected():
    """The results of plain Python with the library of the machine."""
    got = run(sys.executable, "-c", PROGRAM)
    assert got.returncode == 0, got.stderr
    return json.loads(got.stdout)


def check_snippets(dtx, name, want):
    with open("snippet.py", "w") as f:
        f.write(SNIPPET)
    options = (("sealed", ("--jail-memory", "64M", "--jail-output", "64M")),
               ("lib-ro", ("--jail-profile", "lib-ro", "--no-warm")))
    for label, more in options:
        got = run(dtx, "run", "-q", "plan.json", "in.csv", "--snippet", "snippet.py", *more)
        check("%s: a snippet, %s" % (name, label),
              got.returncode == 0 and same(from_csv(got.stdout), want), got.stdout + got.stderr)


def check_programs(dtx, name, want):
    got = run(dtx, "exec", "-c", PROGRAM)
    check("%s: a program" % name,
          got.returncode == 0 and same(json.loads(got.stdout), want), got.stdout + got.stderr)
    got = run(dtx, "exec", "--json", "-c", PROGRAM)
    report = json.loads(got.stdout)["report"]
    check("%s: nothing is asked of the kernel that it does not give" % name,
          not report["denied_total"], report["denied"])


def has_scipy():
    return run(sys.executable, "-c", "import scipy.linalg").returncode == 0


def check_scipy(dtx, name):
    code = ("import numpy as np, scipy.linalg as la\na = np.eye(40) * 3 + 1\n"
            "print(round(float(la.lu(a)[2].trace() + la.expm(a / 90).trace()), 6))")
    if not has_scipy():
        return skip("%s: scipy" % name, "scipy is not installed")
    got, plain = run(dtx, "exec", "-c", code), run(sys.executable, "-c", code)
    check("%s: scipy" % name, got.returncode == 0 and got.stdout == plain.stdout,
          got.stdout + got.stderr)


def which(dtx, *options):
    return run(dtx, "exec", *options, "-c", WHICH).stdout.strip()


def is_warm(dtx):
    return json.loads(run(dtx, "exec", "--json", "-c", "1").stdout)["report"]["jail"]["warm"]


def libraries():
    """Folders that contain both libraries: /usr/lib/x86_64-linux-gnu/openblas-pthread ..."""
    found = glob.glob("/usr/lib/*-linux-gnu/*/libblas.so.3")
    have = [os.path.dirname(p) for p in found]
    return sorted(d for d in have if os.path.exists(d + "/liblapack.so.3")
                  or os.path.exists(os.path.dirname(d) + "/lapack/liblapack.so.3"))


def library_of(folder, link):
    path = "%s/%s" % (folder, link)
    return path if os.path.exists(path) else "%s/lapack/%s" % (os.path.dirname(folder), link)


def mount(source, place):
    """Binds a folder in this script's own mount namespace."""
    os.chmod(source, 0o755)
    subprocess.run(["mount", "--bind", source, place], check=True)
    mounted.append(place)


def bind(folder):
    copy = tempfile.mkdtemp(prefix="alternatives-", dir=os.getcwd())
    for name in filter(lambda n: os.path.islink("%s/%s" % (ALTERNATIVES, n)),
                       os.listdir(ALTERNATIVES)):
        to = os.readlink("%s/%s" % (ALTERNATIVES, name))
        for link in LINKS:
            if name.startswith(link + "-"):
                to = library_of(folder, link)
        os.symlink(to, "%s/%s" % (copy, name))
    mount(copy, ALTERNATIVES)


def label(folder):
    return os.path.basename(folder)


def half_installed(name):
    copy = tempfile.mkdtemp(prefix="broken-", dir=os.getcwd())
    with open(copy + "/__init__.py", "w") as f:
        f.write("raise RuntimeError('half installed')\n")
    mount(copy, "%s/%s" % (PACKAGES, name))


def without(place, name):
    """Copies a folder of files without one of them."""
    copy = tempfile.mkdtemp(prefix="less-", dir=os.getcwd()) + "/copy"
    shutil.copytree(place, copy, ignore=lambda folder, names: [name] if folder == place else [])
    mount(copy, place)


# What is broken, how, and the library that is then missing.
BROKEN = {
    "scipy half installed": (lambda: half_installed("scipy"), "scipy"),
    "matplotlib half installed": (lambda: half_installed("matplotlib"), "matplotlib"),
    "matplotlib without matplotlibrc": (lambda: without(MPL_DATA, "matplotlibrc"), "matplotlib"),
    "matplotlib without styles": (lambda: without(MPL_DATA, "stylelib"), "matplotlib"),
    "matplotlib without fonts": (lambda: without(MPL_DATA, "fonts"), None),
    "lxml half installed": (lambda: half_installed("lxml"), "lxml"),
    "PIL half installed": (lambda: half_installed("PIL"), None),
    "openpyxl half installed": (lambda: half_installed("openpyxl"), None),
}
# Packages that may be absent, and the package of Debian that brings each.
ABSENT = {"scipy": "python3-scipy", "matplotlib": "python3-matplotlib", "seaborn": "python3-seaborn",
          "statsmodels": "python3-statsmodels", "sklearn": "python3-sklearn",
          "openpyxl": "python3-openpyxl", "lxml": "python3-lxml", "PIL": "python3-pil",
          "jinja2": "python3-jinja2"}
# Those that a jail for snippets imports, too, when a snippet contains the word scipy.
SNIPPETS_HAVE = ("scipy", "lxml")


def broken(dtx, name):
    """The jail must start anyway, and the import must say what is wrong.  Each start is cold: a
    pool would import the same and be used once."""
    breaks, absent = BROKEN[name]
    breaks()
    if absent in SNIPPETS_HAVE:
        with open("snippet.py", "w") as f:
            f.write("import pandas as pd\ndef transform(tables, params):\n"
                    "    return tables['main'].assign(scipy=1)\n")
        got = run(dtx, "run", "-q", "plan.json", "in.csv", "--snippet", "snippet.py", "--no-warm")
        check("%s: a snippet" % name,
              got.returncode == 0 and got.stdout == "a,b,scipy\n1,x,1\n2,y,1\n",
              got.stdout + got.stderr)
    code = "print(1)\n" + ("import %s" % absent if absent else "")
    got = run(dtx, "exec", "--no-warm", "-c", code)
    said = "ImportError: %s" % absent in got.stderr and "does not start" in got.stderr
    check("%s: a program" % name, got.stdout == "1\n" and (
        got.returncode == 7 and said if absent else not got.returncode), got.stdout + got.stderr)


def remove(names):
    """Takes packages away, from a view of their folder that is written over it."""
    top = tempfile.mkdtemp(prefix="view-", dir=os.getcwd())
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", top], check=True)
    mounted.append(top)
    os.mkdir(top + "/upper"), os.mkdir(top + "/work")
    words = "lowerdir=%s,upperdir=%s/upper,workdir=%s/work" % (PACKAGES, top, top)
    if run("mount", "-t", "overlay", "overlay", "-o", words, PACKAGES).returncode:
        return False
    mounted.append(PACKAGES)
    for name in names:
        shutil.rmtree("%s/%s" % (PACKAGES, name), ignore_errors=True)
    return True


STYLE = ("import matplotlib.pyplot as plt, pandas as pd\nplt.plot([1])\nplt.close()\n"
         "print('background-color' in pd.DataFrame({'a': [1, 2]}).style.background_gradient().to_html())")


def absent(dtx, name):
    """Without packages that it can do without the jail starts, and says where a missing one is."""
    names = list(ABSENT) if name == ALL_ABSENT else [name.split()[1]]
    if not remove(names):
        return skip(name, "no view of a folder can be made here")
    if name == ALL_ABSENT:
        for one, package in ABSENT.items():
            got = run(dtx, "exec", "-c", "import %s" % one)
            check("%s: %s is in %s" % (name, one, package),
                  got.returncode == 7 and package in got.stderr, got.stderr)
        got = json.loads(run(dtx, "doctor", "--jail", "--json", "--runs", "1").stdout)
        check("%s: the doctor lists them" % name, not set(ABSENT) & set(got["packages"]) and all(
            got["missing"].get(n, p) == p for n, p in ABSENT.items()), got["missing"])
        check_snippets(dtx, name, expected())
    else:
        got = run(dtx, "exec", "-c", STYLE.rsplit("\n", 1)[0] + "\nprint(1)")
        check("%s: a figure" % name, got.stdout == "1\n" and not got.returncode, got.stderr)


def check_styles(dtx):
    """With jinja2, pandas imports matplotlib for its styles."""
    if run(sys.executable, "-c", "import jinja2, matplotlib").returncode:
        return skip("styles of pandas", "jinja2 or matplotlib is not installed")
    got = run(dtx, "exec", "-c", STYLE)
    check("styles of pandas, with matplotlib", got.stdout == "True\n", got.stdout + got.stderr)


def inside(dtx, folder):
    """Runs with that library; then replaces it by another one while the pool uses it."""
    want = expected()
    bind(folder)
    name = label(folder)
    kind = "openblas" if "openblas" in name else "other"
    check("%s: it is the one in the jail" % name, which(dtx) == kind, which(dtx))
    check_snippets(dtx, name, want)
    check_programs(dtx, name, want)
    check_scipy(dtx, name)
    others = [d for d in libraries() if d != folder]
    if not others:
        return skip("%s: replaced under a pool" % name, "there is no other BLAS")
    check("%s: a pool has it" % name, any(is_warm(dtx) for _ in range(30)))
    for other in others:
        bind(other)
        kind = "openblas" if "openblas" in label(other) else "other"
        check("%s: replaced by %s under a pool" % (name, label(other)), which(dtx) == kind)


def second_start(dtx, user, what):
    """Runs this script again in a mount namespace of its own; returns its counts."""
    global passed, failed, skipped
    got = run("unshare", *user, "-m", sys.executable, "-B", os.path.abspath(__file__), dtx,
              env=dict(os.environ, **{INSIDE: what}))
    lines = got.stdout.splitlines()
    print("\n".join(lines[:-1]))
    if got.returncode not in (0, 1) or not lines or got.stderr:
        return check("%s: its own namespace" % label(what), False, got.stderr)
    counts = [int(w) for w in lines[-1].split() if w.isdigit()]
    passed, failed, skipped = (a + b for a, b in zip((passed, failed, skipped), counts))


def is_here(name):
    return os.path.isdir("%s/%s" % (PACKAGES, name.split()[0])) and (
        "without" not in name or os.path.isdir(MPL_DATA))


def outside(dtx):
    check_styles(dtx)
    own = run("unshare", "-m", "true").returncode == 0
    user = () if own else ("-r",)
    none = not own and run("unshare", "-rm", "true").returncode
    if none or not libraries():
        want = expected()
        check_snippets(dtx, "this machine's", want)
        check_programs(dtx, "this machine's", want)
        check_scipy(dtx, "this machine's")
    if none:
        return skip("other libraries", "no mount namespace can be made here")
    for folder in libraries():
        second_start(dtx, user, folder)
    if not any("openblas" in d for d in libraries()):
        skip("OpenBLAS", "libopenblas0-pthread is not installed")
    second_start(dtx, user, ALL_ABSENT)
    second_start(dtx, user, "without jinja2")
    for name in BROKEN:
        if is_here(name):
            second_start(dtx, user, name)
        else:
            skip(name, "it is not installed")


def main():
    dtx = os.path.abspath(sys.argv[1])
    what = os.environ.get(INSIDE)
    home = tempfile.mkdtemp(prefix="dtx-libraries-")
    os.chdir(home)
    os.mkdir("run", 0o700)
    os.environ.update(XDG_DATA_HOME=home + "/data", XDG_CONFIG_HOME=home + "/config",
                      XDG_RUNTIME_DIR=home + "/run", DTX_POOL_IDLE="5")
    os.environ.pop("DTX_NO_WARM", None)
    with open("plan.json", "w") as f:
        json.dump(PLAN, f)
    with open("in.csv", "w") as f:
        f.write("a,b\n1,x\n2,y\n")
    try:
        if what in BROKEN:
            broken(dtx, what)
        elif what and what.startswith("without "):
            absent(dtx, what)
        elif what:
            inside(dtx, what)
        else:
            outside(dtx)
    finally:
        for place in reversed(mounted):
            run("umount", "--lazy", place)
        os.chdir("/")
        shutil.rmtree(home, ignore_errors=True)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
