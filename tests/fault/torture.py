"""Does many runs in one store: concurrent ones, killed ones, ended by signals, on full disks, and many in sequence.

    tests/fault/torture.py DTX            a quick look, two minutes
    tests/fault/torture.py DTX --long     200 at once, 300 kills, 300 signals, 300 full disks, 20,000 runs
    tests/fault/torture.py DTX --runs 500 --kills 0 ...

After each part: every target must be the complete old or new file; a run that reported success must have the new file
and be done in the ledger; the store must open, with intact pages, chain and tables; no process and no temp file may be
left (after SIGKILL, the next run removes them).  Prints how the runs ended.
"""
import argparse
import collections
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.abspath(__file__)
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
OLD = b"old\n"
SHORT, LONG = (40, 30, 24, 30, 100), (200, 300, 300, 300, 20000)
failed = 0


def check(name, wrong, figures=""):
    global failed
    failed += bool(wrong)
    print("%s - %s%s" % ("not ok" if wrong else "ok", name, ": " + figures if figures else ""))
    for line in list(wrong)[:8]:
        print("# " + str(line)[:400])
    sys.stdout.flush()


class Store:
    """A folder with a store, an input, a typed plan and one with a snippet."""

    def __init__(self, dtx, rows):
        self.dtx, self.done, self.n = dtx, {}, 0
        os.environ.update(DTX_STORE=os.path.abspath("store.db"), TMPDIR=os.path.abspath("tmp"), HOME=os.getcwd())
        os.mkdir("tmp")
        with open("in.csv", "w") as f:
            f.write("k,v\n" + "".join("k%d,%d\n" % (i % 100, i) for i in range(rows)))
        for name, step in (("typed", {"op": "sort", "by": ["-v"]}), ("snippet", {"op": "custom"})):
            with open(name + ".json", "w") as f:
                json.dump({"dtx": 1, "steps": [{"op": "filter", "where": "v > 100"}, step]}, f)
        with open("snippet.py", "w") as f:
            f.write('def transform(tables, params):\n    return tables["main"].sort_values("v", ascending=False)\n')
        self.seconds = [min(self.timed(how) for _ in range(3)) for how in (False, True)]
        with open("new.csv", "rb") as f:
            self.new = f.read()

    def timed(self, snippet):
        begin = time.monotonic()
        subprocess.run(self.argv("new.csv", snippet), check=True)
        return time.monotonic() - begin

    def argv(self, out, snippet):
        how = ["snippet.json", "in.csv", "--snippet", "snippet.py"] if snippet else ["typed.json", "in.csv"]
        return [self.dtx, "run", *how, "-o", out, "-q"]

    def start(self, snippet=False, room=None):
        """A run that replaces an old file with its own name.  room() returns the limit of file size, None for no limit."""
        self.n += 1
        out = "out%d.csv" % self.n
        with open(out, "wb") as f:
            f.write(OLD)
        limit = room() if room else None

        def before():
            for s in SIGNALS:
                signal.signal(s, signal.SIG_DFL)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return out, subprocess.Popen(self.argv(out, snippet), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     preexec_fn=before)

    def end(self, out, p, codes):
        """Its exit status, and what is wrong with it."""
        self.said = p.communicate(timeout=300)[1]
        with open(out, "rb") as f:
            is_ = f.read()
        wrong = []
        if is_ not in (OLD, self.new):
            wrong.append("%s: torn, %d bytes" % (out, len(is_)))
        if p.returncode == 0 and is_ != self.new:
            wrong.append("%s: exit 0, and the old file" % out)
        if p.returncode not in codes:
            wrong.append("%s: exit %d: %s" % (out, p.returncode, self.said))
        self.done[out] = p.returncode == 0
        os.unlink(out)
        return p.returncode, is_ == self.new, wrong

    def whole(self, killed=False):
        """What is wrong with the store, its ledger and its folder."""
        wrong = []
        if killed:  # the next run removes what they left
            out, p = self.start()
            wrong += self.end(out, p, (0,))[2]
        said = subprocess.run([self.dtx, "store", "check"], capture_output=True, text=True)
        if said.returncode:
            wrong.append("store check: exit %d: %s" % (said.returncode, said.stdout + said.stderr))
        said = subprocess.run([self.dtx, "provenance", "log", "--json", "--limit", "1000000"], capture_output=True, text=True)
        of = {os.path.basename(r.get("output") or ""): r["status"] for r in json.loads(said.stdout or "[]")}
        for out, done in self.done.items():
            if done and of.get(out) != "ok":
                wrong.append("%s: done, in the ledger it is %s" % (out, of.get(out)))
            if of.get(out) == "running":
                wrong.append("%s: ended, in the ledger it runs" % out)
        left = [n for n in os.listdir(".") if n.endswith(".tmp")] + os.listdir("tmp")
        if left:
            wrong.append("left: %s" % left[:9])
        return wrong + self.processes()

    def processes(self):
        """Processes of this folder that are left after 10 s."""
        for _ in range(100):
            there = []
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if os.readlink("/proc/%s/cwd" % pid) == os.getcwd() and os.readlink("/proc/%s/exe" % pid) == self.dtx:
                        there.append("process %s is left" % pid)
                except OSError:
                    pass
            if not there:
                break
            time.sleep(0.1)
        return there


def at_once(store, n):
    jobs = [store.start() for _ in range(n)]
    wrong = [w for out, p in jobs for w in store.end(out, p, (0,))[2]]
    check("%d runs at once in one store" % n, wrong + store.whole(), "all done")


def ended_by(store, n, name, signals, codes):
    """Kills at any instant of a run, or shortly after its end; one run in five uses the jail."""
    wrong, came, news = [], collections.Counter(), 0
    for i in range(n):
        snippet = i % 5 == 4
        out, p = store.start(snippet)
        time.sleep(random.uniform(0, 1.2 * store.seconds[snippet]))
        p.send_signal(signals[i % len(signals)])
        status, new, bad = store.end(out, p, codes)
        wrong, news = wrong + bad, news + new
        came["done" if status == 0 else "killed" if status < 0 else "exit %d" % status] += 1
        left = [f for f in os.listdir(".") if f.endswith(".tmp")]
        # before main() a signal ends the program like SIGKILL, but then it has not done anything yet
        if left and signals != (signal.SIGKILL,):
            wrong.append("%s: left %s" % (out, left))
    check("%d %s" % (n, name), wrong + store.whole(killed=True),
          "%s; %d old files, %d new" % (", ".join("%d %s" % (k, c) for c, k in sorted(came.items())), n - news, news))


def no_growth(store, n, room):
    wrong, came = [], collections.Counter()
    for _ in range(n):
        out, p = store.start(room=room)
        status, new, bad = store.end(out, p, (0, 9))
        if status == 9 and new and b"in place" not in store.said:
            bad.append("%s: exit 9, and the new file: %s" % (out, store.said))
        wrong += bad
        came["done" if status == 0 else "exit %d" % status] += 1
        left = [f for f in os.listdir(".") if f.endswith(".tmp")]
        if left:
            wrong.append("%s: left %s" % (out, left))
    return wrong, ", ".join("%d %s" % (k, c) for c, k in sorted(came.items()))


def files_that_cannot_grow(store, n):
    most = max(len(store.new), os.path.getsize("store.db-wal") if os.path.exists("store.db-wal") else 0) + 8192
    wrong, figures = no_growth(store, n, lambda: random.randrange(most))
    # where the last page of a commit could not be written, the store's log does not fit until the next run
    check("%d runs whose files cannot grow" % n, wrong + store.whole(killed=True), figures)


def full_disk(store, n):
    """Uses a small file system of its own, in which other files leave any free space from none to enough."""
    def fill():
        if os.path.exists("filler"):
            os.unlink("filler")
        disk = os.statvfs(".")
        room = random.randrange(3 * len(store.new) + 100000)
        with open("filler", "wb") as f:
            f.truncate(0)
            try:
                os.posix_fallocate(f.fileno(), 0, max(1, disk.f_bavail * disk.f_bsize - room))
            except OSError:
                pass

    wrong, figures = no_growth(store, n, fill)
    os.unlink("filler")
    check("%d runs on a full disk" % n, wrong + store.whole(killed=True), figures)


def one_after_the_other(store, n):
    wrong, times = [], []
    for _ in range(n):
        begin = time.monotonic()
        wrong += store.end(*store.start(), (0,))[2]
        times.append(time.monotonic() - begin)
    tenth = max(1, n // 10)
    begin = time.monotonic()
    wrong += store.whole()
    check("%d runs one after the other in one store" % n, wrong,
          "%.1f ms a run in the first tenth, %.1f in the last; the store has %.1f MB; checked in %.1f s" %
          (1000 * sum(times[:tenth]) / tenth, 1000 * sum(times[-tenth:]) / tenth,
           os.path.getsize("store.db") / 1e6, time.monotonic() - begin))


def main():
    global failed
    p = argparse.ArgumentParser()
    p.add_argument("dtx", type=os.path.abspath)
    p.add_argument("--long", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--inside", help=argparse.SUPPRESS)
    for name in ("at-once", "kills", "signals", "full", "runs"):
        p.add_argument("--" + name, type=int)
    a = p.parse_args()
    random.seed(a.seed)
    n = [v if v is not None else d for v, d in zip((a.at_once, a.kills, a.signals, a.full, a.runs), LONG if a.long else SHORT)]
    if a.inside:
        os.chdir(a.inside)
        full_disk(Store(a.dtx, 5000), n[3])
        return failed != 0
    with tempfile.TemporaryDirectory(prefix="dtx-torture-") as folder:
        os.chdir(folder)
        store = Store(a.dtx, 20000)
        if n[0]:
            at_once(store, n[0])
        if n[1]:
            ended_by(store, n[1], "kills at any instant", (signal.SIGKILL,), (0, -9))
        if n[2]:
            # before main() starts, a signal ends it like any program
            ended_by(store, n[2], "signals at any instant", SIGNALS, (0, 130, *(-s for s in SIGNALS)))
        if n[3]:
            files_that_cannot_grow(store, n[3] // 2)
            os.mkdir("disk")
            done = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=8m none disk || exit 99; exec \"$@\"", "sh",
                                   sys.executable, "-B", HERE, a.dtx, "--inside", "disk", "--full", str(n[3] - n[3] // 2)])
            if done.returncode == 99:
                print("ok - runs on a full disk # SKIP no file system can be mounted here")
            else:
                failed += done.returncode != 0
        if n[4]:
            one_after_the_other(store, n[4])
        os.chdir("/")
    return failed != 0


sys.exit(main())
