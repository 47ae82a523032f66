"""Runs dtx where something that it needs is scarce or missing: stack, threads, open files, address space, /proc, a folder,
a reader process.  The result must be the usual one, or the error must say what is missing.

    /usr/bin/python3 -B tests/fault/scarce.py DTX [NAME]
"""
import errno
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "jail"))
import denied  # noqa: E402

DTX = os.path.abspath(sys.argv[1])
FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
passed = failed = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok - " if ok else "not ok - ") + name + ("" if ok else "\n# " + str(why)[:900].replace("\n", "\n# ")))


def dtx(args, before=None, **how):
    how = {"capture_output": True, "stdin": subprocess.DEVNULL, "timeout": 600, "preexec_fn": before, **how}
    done = subprocess.run([DTX, *args], **how)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def forget():
    """Uses a fresh store, so that snippets are not cached."""
    for name in os.listdir("."):
        if name.startswith("store.db"):
            os.remove(name)


USUAL = {}


def as_usual(name, jobs, before, **how):
    """Each job must end as it does when nothing is scarce."""
    wrong = []
    for job in jobs:
        if tuple(job) not in USUAL:
            USUAL[tuple(job)] = dtx(job)
            forget()
        usual = USUAL[tuple(job)]
        got = dtx(job, before, **how)
        forget()
        if got != usual:
            wrong.append("%s\nexit %d %s%s\nusually exit %d %s%s" % (
                " ".join(job)[:200], got[0], got[1][-200:], got[2], usual[0], usual[1][-200:], usual[2]))
    check(name, not wrong, "\n".join(wrong))


def plan(name, *steps):
    with open(name, "w") as f:
        json.dump({"dtx": 1, "steps": list(steps)}, f)
    return name


def inputs():
    for path in ("xlsx/weeks.xlsx", "xlsx/report.xlsx", "xls/report.xls", "plans/balance.json", "snippets/balance.txt"):
        shutil.copy(os.path.join(FIXTURES, path), ".")
    with open("in.csv", "w") as f:
        f.write("id,k,x,t\n")
        for i in range(150000):
            f.write("%d,%d,%d.5,text of some length %d\n" % (i, i * 7919 % 1009, i * 31 % 977, i % 5000))
    with open("few.csv", "w") as f:
        f.write("id,k,x,t\n1,1,2.5,a\n2,1,3.5,ab\n")
    with open("deep.jsonl", "w") as f:
        f.write('{"a":' * 1000 + "1" + "}" * 1000)
    with open("nest.json", "w") as f:
        f.write("[" * 100000)
    plan("deep.json", {"op": "derive", "set": {"s": "x" + " + x" * 900, "p": "(" * 190 + "x" + ")" * 190,
                                               "m": "matches(t, '" + "(" * 45 + "a" + ")*" * 45 + "')"}})
    plan("long.json", *({"op": "derive", "set": {"c%d" % i: "x + %d" % i}} for i in range(400)))
    plan("all.json", {"op": "derive", "set": {"z": "x * 2"}}, {"op": "sort", "by": ["k", "-z", "id"]},
         {"op": "window", "set": {"n": "cum_sum(z)"}, "by": ["k"], "order": ["id"]},
         {"op": "group_by", "by": ["t"], "agg": {"n": "sum(n)", "d": "count(k)", "f": "first(id)"}})


# --- stack ---

DEEP = [["eval", "(" * 190 + "1" + ")" * 190], ["eval", "1" + "+1" * 20000], ["eval", "if(true," * 190 + "1" + ",2)" * 190],
        ["eval", "matches('a', '" + "(" * 5000 + "')"], ["check", "nest.json"], ["convert", "nest.json", "--to", "csv"],
        ["convert", "deep.jsonl", "--to", "csv"], ["run", "deep.json", "in.csv", "--threads", "2", "-q"], ["run", "long.json", "few.csv", "-q"],
        ["compile", "long.json", "--to", "pandas"], ["convert", "report.xlsx", "--to", "csv"],
        ["convert", "report.xls", "--to", "csv"],
        ["run", "balance.json", "weeks.xlsx", "--snippet", "balance.txt", "--no-warm", "-q"]]
# takes seconds to start, so it runs with the smallest stack alone
DEEP_PROGRAM = ["exec", "--no-warm", "-c", "f = lambda n: n and f(n - 1)\ntry: f(10**6)\nexcept RecursionError: print('deep')"]


def stack():
    for kib in (64, 128, 256):
        size = kib << 10
        as_usual("a stack of %d KiB" % kib, DEEP + ([DEEP_PROGRAM] if kib == 64 else []),
                 lambda s=size: resource.setrlimit(resource.RLIMIT_STACK, (s, s)))


# --- threads ---

def few_threads(n):
    """Runs as an ordinary user with at most n tasks, of which dtx is the first."""
    resource.setrlimit(resource.RLIMIT_NPROC, (n, n))
    os.setgroups([])
    os.setresgid(54321, 54321, 54321)
    os.setresuid(54321, 54321, 54321)


SHARED = [["run", "all.json", "in.csv", "--threads", n, "-q"] for n in ("2", "16")]
READ = [["inspect", "in.csv"], ["convert", "report.xlsx", "--to", "csv"], ["convert", "report.xls", "--to", "csv"]]
JAILED = [["run", "balance.json", "weeks.xlsx", "--snippet", "balance.txt", "--no-warm", "-q"]]


def threads():
    as_usual("no thread can start", SHARED + READ + JAILED, lambda: denied.deny_threads(errno.EAGAIN))
    as_usual("no thread may start", SHARED + READ + JAILED, lambda: denied.deny_threads(errno.EPERM))
    for n in (1, 2, 3):
        as_usual("an ordinary user with %d tasks" % n, SHARED, lambda n=n: few_threads(n))


# --- the error names what is missing ---

def says(name, args, status, *words, before=None, without=(), **how):
    got = dtx(args, before, **how)
    check(name, got[0] == status and all(w in got[2] for w in words) and not any(w in got[2] for w in without),
          "exit %d %s, expected %d and %s" % (got[0], got[2], status, words))


def limit(what, n):
    return lambda: resource.setrlimit(what, (n, n))


def files():
    """For any limit: the run ends as usual, or the error says how to raise it, and does not blame the store."""
    jobs = [["convert", "few.csv", "-o", "out.csv"], ["convert", "report.xls", "--to", "csv"], ["provenance", "log"]]
    wrong = []
    for n in range(6, 24):
        for job in jobs:
            got = dtx(job, limit(resource.RLIMIT_NOFILE, n))
            if got[0] and "ulimit -n" not in got[2]:
                wrong.append("%d: %s: exit %d %s" % (n, " ".join(job), got[0], got[2]))
    check("6 to 23 open files", not wrong, "\n".join(wrong))
    says("a jail with 18 open files", PROGRAM, 8, "ulimit -n: 18 files", "next: ulimit -n",
         before=limit(resource.RLIMIT_NOFILE, 18))
    as_usual("18 open files where more are allowed", [PROGRAM],
             lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (18, 256)))


PROGRAM = ["exec", "--no-warm", "-c", "print(1)"]


def address_space():
    for mib in (40, 300, 2000):
        says("a jail in %d MiB" % mib, PROGRAM, 8, "ulimit -v: %d MiB" % mib, "next: ulimit -v unlimited",
             before=limit(resource.RLIMIT_AS, mib << 20), without=("python3-pandas",))
    as_usual("a small jail in 900 MiB", [PROGRAM + ["--jail-memory", "256M", "--jail-output", "64M"]],
             limit(resource.RLIMIT_AS, 900 << 20))


def folder_gone():
    def gone():
        os.mkdir("gone")
        os.chdir("gone")
        os.rmdir("../gone")
    says("a deleted folder: input", ["convert", "in.csv", "--to", "csv"], 4, "the current folder was deleted",
         "next: change to a folder", before=gone)
    says("a deleted folder: output", ["convert", os.path.abspath("few.csv"), "-o", "o.csv"], 9,
         "the current folder was deleted", "next: change to a folder", before=gone)
    says("a deleted folder: store", ["convert", os.path.abspath("few.csv"), "--to", "csv", "--store", "s.db"], 9,
         "the current folder was deleted", "next: change to a folder", before=gone)


def no_proc():
    hidden = ["unshare", "-m", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"]
    if subprocess.run([*hidden, "true"], capture_output=True).returncode:
        print("# not tested, /proc cannot be hidden here")
        return
    for name, job, words in (("workbook", ["convert", "report.xls", "--to", "csv"], "or convert the file to CSV"),
                             ("snippet", PROGRAM, "plans on CSV and JSON run")):
        done = subprocess.run([*hidden, DTX, *job], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        check("no /proc: a " + name, done.returncode == 8 and "/proc is not mounted" in done.stderr and
              "next: mount -t proc" in done.stderr and words in done.stderr, done)
    done = subprocess.run([*hidden, DTX, "run", "all.json", "in.csv", "-q"], capture_output=True)
    check("no /proc: a typed plan", done.returncode == 0 and done.stdout.decode() == dtx(["run", "all.json", "in.csv", "-q"])[1],
          done)


# --- an error that is not caused by the input file ---

def field(pid, name):
    with open("/proc/%d/status" % pid) as f:
        return next((line.split()[1] for line in f if line.startswith(name)), "")


def reader_killed():
    dtx(["convert", "in.csv", "-o", "big.xlsx"])
    job = subprocess.Popen([DTX, "convert", "big.xlsx", "-o", "big.csv"], stderr=subprocess.PIPE, text=True)
    killed = False
    while job.poll() is None and not killed:
        try:
            with open("/proc/%d/task/%d/children" % (job.pid, job.pid)) as f:
                for pid in map(int, f.read().split()):
                    if field(pid, "Seccomp:") == "2":  # its seccomp filter is installed, so it reads now
                        os.kill(pid, signal.SIGKILL)
                        killed = True
        except OSError:
            pass
    err = job.communicate()[1]
    check("a reader that is killed", killed and job.returncode == 8 and "ended from outside (SIGKILL)" in err and
          "next: run it again" in err and "damaged" not in err, err)


def library_prints():
    says("a library that prints", ["convert", "in.csv", "-o", "cut.xlsx", "--store", "cut.db"], 9, "cannot pack the workbook",
         "next: a workbook is packed in temporary files", before=limit(resource.RLIMIT_FSIZE, 1 << 20),
         without=("[ERROR]", "workbook_close"))
    check("nothing that breaks off is published", not os.path.exists("cut.xlsx"))


# --- memory ---

def memory():
    """Steps that can spill to disk must work with the smallest budget and any number of threads; the others must name a
    remedy."""
    with open("names.csv", "w") as f:
        f.write("k,name\n" + "".join("%d,name %d\n" % (k, k) for k in range(1009)))
    plan("sorted.json", {"op": "derive", "set": {"z": "x * 2 + id", "u": "upper(t)"}}, {"op": "sort", "by": ["-z"]})
    with open("joined.json", "w") as f:
        json.dump({"dtx": 1, "inputs": [{"name": "main"}, {"name": "k", "path": "names.csv"}],
                   "steps": [{"op": "join", "with": "k", "on": ["k"], "how": "left"},
                             {"op": "derive", "set": {"z": "x * 2 + id", "u": "upper(name)"}}]}, f)
    plan("grouped.json", {"op": "group_by", "by": ["t", "k"], "agg": {"n": "count()", "m": "max(x)"}})
    least = ["--memory", "16M"]
    for name in ("sorted", "joined", "grouped"):
        usual = dtx(["run", name + ".json", "in.csv", "-q"])
        got = [dtx(["run", name + ".json", "in.csv", "-q", *least, "--threads", "16"]) for _ in range(3)]
        check("16 MiB and 16 threads: %s" % name, got == [usual] * 3, [(g[0], g[2]) for g in got])
    # runs of whole numbers only fill the memory with keys, which must still be sorted before they can move to disk
    with open("numbers.csv", "w") as f:
        f.write("k,n\n" + "".join("%d,%d\n" % (i * 7919 % 1000003, i) for i in range(200000)))
    plan("keys.json", {"op": "sort", "by": ["k"]})
    plan("texts.json", {"op": "derive", "set": {"t": "concat(k, \" of a longer name\")"}}, {"op": "sort", "by": ["t"]})
    for name in ("keys", "texts"):
        usual = dtx(["run", name + ".json", "numbers.csv", "-q"])
        budgets = [16, 17, 18, 19, 20, 24]
        got = [dtx(["run", name + ".json", "numbers.csv", "-q", "--memory", "%dM" % m]) for m in budgets]
        check("sorted with 16 to 24 MiB: %s" % name, got == [usual] * len(budgets), [(g[0], g[2]) for g in got])
    # a batch of a thousand wide rows is larger than the budget
    with open("wide.csv", "w") as f:
        f.write(",".join("c%d" % i for i in range(300)) + ",t\n")
        for i in range(6000):
            f.write(",".join(str((i * 7919 + j) % 1000003) for j in range(300)) + ",%s\n" % ("%05d" % (i * 31 % 6007) * 120))
    plan("wide.json", {"op": "sort", "by": ["t"]}, {"op": "sort", "by": ["-c7"]})
    usual = dtx(["run", "wide.json", "wide.csv", "-q"])
    got = [dtx(["run", "wide.json", "wide.csv", "-q", "--memory", "%dM" % m]) for m in (16, 20)]
    check("wide rows are sorted with 16 and 20 MiB", got == [usual] * 2, [(g[0], g[2]) for g in got])
    # frames of these readers are as large as the budget allows, and cells of a database go to disk, too
    plan("once.json", {"op": "distinct"})
    plan("one.json", {"op": "sort", "by": ["t"]})
    for name in ("wide.arrow", "wide.db"):
        dtx(["convert", "wide.csv", "-o", name])
        usual = [dtx(["run", p, name, "-q"]) for p in ("one.json", "once.json")]
        got = [dtx(["run", p, name, "-q", *least]) for p in ("one.json", "once.json")]
        check("wide rows of %s with 16 MiB: sort, distinct" % name, got == usual, [(g[0], g[2]) for g in got])
    plan("groups.json", {"op": "group_by", "by": ["t"], "agg": {"n": "concat_agg(t)", "m": "max(c7)"}})
    got = dtx(["run", "groups.json", "wide.csv", "-q", *least])
    named = re.search(r"--memory (\d+M) is enough", got[2])
    again = dtx(["run", "groups.json", "wide.csv", "-q", "--memory", named[1] if named else "16M"])
    check("what is enough for groups is named, and does", again == dtx(["run", "groups.json", "wide.csv", "-q"]),
          (got[0], got[2], again[0], again[2]))
    says("less than the least", ["run", "sorted.json", "in.csv", "--memory", "8M"], 2, "takes a size of at least 16M")
    with open("long.csv", "w") as f:
        f.write("id,k,x,y,z\n")
        for i in range(600000):
            f.write("%d,%d,%d.5,%d,%d\n" % (i, i * 7919 % 1009, i * 31 % 977, i, i))
    plan("whole.json", {"op": "window", "by": ["k"], "order": ["id"], "set": {"c": "cum_sum(x)"}},
         {"op": "filter", "where": "id < 10"})
    got = dtx(["run", "whole.json", "long.csv", "-q", *least])
    named = re.search(r"--memory (\d+M) is enough", got[2])
    check("a table that cannot fit is refused before it is read, and what does is named",
          got[0] == 8 and "holds a table of at least" in got[2] and named, got)
    got = dtx(["run", "whole.json", "long.csv", "-q", "--memory", named[1] if named else "16M"])
    check("what is named does", got[0] == 0 and got[1].count("\n") == 11, got[2])


SUITES = [stack, threads, memory, files, address_space, folder_gone, no_proc, reader_killed, library_prints]

if __name__ == "__main__":
    folder = tempfile.mkdtemp(prefix="dtx-scarce-")
    os.chmod(folder, 0o777)
    os.environ.update(HOME=folder, XDG_CACHE_HOME=folder, DTX_STORE=os.path.join(folder, "store.db"))
    os.chdir(folder)
    try:
        inputs()
        DTX = shutil.copy(DTX, folder)  # to a place from which an ordinary user may start it
        for suite in SUITES:
            if len(sys.argv) < 3 or sys.argv[2] == suite.__name__:
                suite()
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed != 0)
