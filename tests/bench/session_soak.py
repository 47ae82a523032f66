"""Calls over many sessions, some at a time: what each gives is checked, and at the end nothing may be
left: no process, no descriptor of a keeper, no file.

Usage: session_soak.py DTX [CALLS [SESSIONS [AT_A_TIME]]]    (10000 100 8)
"""
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import time

FDS = 13  # of a keeper at rest: streams, socket, folder, and the eight of the worker
DTX = os.path.abspath(sys.argv[1])
CALLS, SESSIONS, AT_A_TIME = (int(a) for a in (sys.argv[2:] + ["10000", "100", "8"][len(sys.argv) - 2:])[:3])


def dtx(*words):
    return subprocess.run([DTX, *words], capture_output=True, text=True)


def keepers():
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open("/proc/%s/cmdline" % pid).read().split("\0")
            mine = os.path.realpath("/proc/%s/fd/4" % pid) == FOLDER + "/dtx"
        except OSError:
            continue
        if words[0] == "dtx-session" and mine:
            found[words[1]] = int(pid)
    return found


def rests(pid):
    """Whether a keeper holds what it must, and nothing else. A client may just be closing."""
    end = time.monotonic() + 20
    while pid and len(os.listdir("/proc/%d/fd" % pid)) > FDS and time.monotonic() < end:
        time.sleep(0.1)
    return pid and len(os.listdir("/proc/%d/fd" % pid)) <= FDS


def session(number):
    """All calls of one session: a sum that grows, exceptions, files, tables; each tenth ends at a
    limit."""
    name, calls, rng, total = "soak-%d" % number, CALLS // SESSIONS, random.Random(number), 0
    with open("t%d.csv" % number, "w") as f:
        f.write("n\n1\n2\n")
    for i in range(calls):
        kind = rng.randrange(10)
        total += i
        code = "total = %s + %d\n" % ("total" if i else 0, i)
        words = ["exec", "--session", name]
        if kind == 0:
            code += "print(total)\n1 / 0"
        elif kind == 1:
            code += "print(total)\nopen('f', 'w').write('x' * 100000) and None"
        elif kind == 2:
            code += "df = tables['t']\nprint(total + df.n.sum() - 3)"
            words += ["--table", "t=t%d.csv" % number]
        else:
            code += "total"
        got = dtx(*words, "-c", code)
        if got.stdout != "%d\n" % total or (got.returncode != 0) != (kind == 0):
            return "%s call %d: %r %r" % (name, i + 1, got.stdout, got.stderr)
    if not rests(keepers().get(name)):
        return "%s: its keeper has more than %d descriptors" % (name, FDS)
    if number % 10:
        got = dtx("session", "stop", name)
    else:
        got = dtx("exec", "--session", name, "--jail-wall", "1", "-c", "import time; time.sleep(9)")
        got.returncode -= 8
    return None if got.returncode == 0 else "%s: its end: %s" % (name, got.stderr)


def main():
    global FOLDER
    with tempfile.TemporaryDirectory(prefix="dtx-soak-") as FOLDER:
        FOLDER = os.path.realpath(FOLDER)
        os.chmod(FOLDER, 0o700)
        os.chdir(FOLDER)
        os.environ.update(XDG_RUNTIME_DIR=FOLDER, DTX_STORE=FOLDER + "/store.db", TMPDIR=FOLDER,
                          DTX_POOL_IDLE="5", DTX_SESSION_MAX="32")
        os.environ.pop("DTX_NO_WARM", None)
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            wrong = [w for w in pool.map(session, range(SESSIONS)) if w]
        left = [n for n in os.listdir("dtx") if n.startswith("session-")]
        left += [n for n in os.listdir(".") if n.startswith("dtx-")] + list(keepers())
        os.chdir("/")
    for one in wrong[:10] + left:
        print(one)
    print("%d calls in %d sessions, %d wrong, %d things left" % (CALLS, SESSIONS, len(wrong), len(left)))
    return bool(wrong or left)


sys.exit(main())
