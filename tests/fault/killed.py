"""Kills a run before each of its system calls that change a file, one call after the other; so every numbered action of
the write order is covered.  Afterwards the target must be the complete old or new file, no temp file may be left, and
the record must say what became of each output.  Usage: /usr/bin/python3 tests/fault/killed.py DTX"""
import ctypes
import hashlib
import json
import os
import platform
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile

DTX = os.path.abspath(sys.argv[1])
passed = failed = 0

# Calls that change a file, by their numbers on each architecture: write, pwrite64, writev, fsync, fdatasync,
# ftruncate, rename, mkdir, link, unlink, fchmod and their -at forms.
CALLS = {
    "x86_64": {1, 18, 20, 74, 75, 77, 82, 83, 86, 87, 91, 258, 263, 264, 265, 285, 316},
    "aarch64": {64, 68, 66, 82, 83, 46, 38, 34, 37, 35, 52, 47, 276},
}.get(platform.machine())

# Those of them that wait for the disk, and those that give a file its name.
SYNCS = {"x86_64": {74, 75}, "aarch64": {82, 83}}.get(platform.machine())
RENAMES = {"x86_64": {82, 264, 316}, "aarch64": {38, 276}}.get(platform.machine())

TRACEME, CONT, SETOPTIONS, CALL_INFO = 0, 7, 0x4200, 0x420E
# follow threads and children; stop where the filter says so; kill all with the tracer
OPTIONS = 0x02 | 0x04 | 0x08 | 0x80 | 0x100000
AT_FILTER = signal.SIGTRAP | 7 << 8
WALL = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
ptrace = libc.ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
ptrace.restype = ctypes.c_long


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok - " if ok else "not ok - ") + name + ("" if ok else "\n# " + str(why)[:2000].replace("\n", "\n# ")))


def stop_at_calls():
    """Installs a filter that stops this process, and all that it starts, before each of CALLS.  A stop before every call
    would take most of the time."""
    n = len(CALLS)
    code = [(0x20, 0, 0, 0)]  # load the number; jump to the last line if it is one of them
    code += [(0x15, n - i, 0, call) for i, call in enumerate(sorted(CALLS))]
    code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x7FF00000)]  # allow; stop for the tracer
    lines = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(code), ctypes.addressof(lines)))
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    if libc.prctl(22, 2, program):  # PR_SET_SECCOMP
        os._exit(126)


def spawn(args, store):
    pid = os.fork()
    if pid:
        return pid
    try:
        for fd, name, flags in ((0, os.devnull, os.O_RDONLY), (1, os.devnull, os.O_WRONLY), (2, os.devnull, os.O_WRONLY)):
            os.dup2(os.open(name, flags), fd)
        ptrace(TRACEME, 0, None, None)
        stop_at_calls()
        os.execv(DTX, [DTX, *args, "--store", store])
    finally:
        os._exit(127)


def entered(tid):
    """The number of the call before which a thread was stopped, and its first argument."""
    info = ctypes.create_string_buffer(88)
    if ptrace(CALL_INFO, tid, 88, ctypes.addressof(info)) < 0 or info.raw[0] != 3:
        return None, 0
    return struct.unpack_from("<QQ", info.raw, 24)


def note(order, tid, call, fd):
    """Appends to `order` if the call waits for the disk or gives a file its name."""
    if call in RENAMES:
        order.append("rename")
    elif call in SYNCS:
        try:
            order.append("sync " + os.path.basename(os.readlink("/proc/%d/fd/%d" % (tid, fd))))
        except OSError:
            order.append("sync ?")


def traced(args, store, at, order=None):
    """Runs dtx and kills it before the call number `at` that changes a file; returns the count of calls and how it ended."""
    first, seen, known = spawn(args, store), 0, set()
    end = None
    while True:
        try:
            tid, status = os.waitpid(-1, WALL)
        except ChildProcessError:
            return seen, end
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if tid == first:
                end = status
            continue
        pass_on = 0
        sig = os.WSTOPSIG(status)
        if tid not in known:
            known.add(tid)
            if tid == first:
                ptrace(SETOPTIONS, tid, None, OPTIONS)
        elif status >> 8 == AT_FILTER:
            call, fd = entered(tid)
            seen += 1
            if order is not None:
                note(order, tid, call, fd)
            if seen == at:
                os.kill(first, signal.SIGKILL)
        elif sig not in (signal.SIGTRAP, signal.SIGSTOP):
            pass_on = sig
        ptrace(CONT, tid, None, pass_on)


def dtx(*args, store):
    done = subprocess.run([DTX, *args, "--store", store], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def read(name):
    try:
        with open(name, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def put(name, data):
    if data is None:
        if os.path.exists(name):
            os.unlink(name)
        return
    with open(name, "wb") as f:
        f.write(data)


def fresh(store, there):
    for end in ("", "-wal", "-shm"):
        if os.path.exists(store + end):
            os.unlink(store + end)
        if there and os.path.exists("kept.db" + end):
            shutil.copy("kept.db" + end, store + end)


def judge(case, before, after, store, at):
    """What is wrong with the files and the record of one killed run, and the place where it was killed."""
    wrong = []
    now = {name: read(name) for name in after}
    for name in after:
        if now[name] not in (before[name], after[name]):
            wrong.append("%s is torn" % name)
    status, out, err = dtx("store", "check", store=store) if os.path.exists(store) else (0, "", "")
    if status:
        wrong.append("store check: " + out + err)
    status, out, err = dtx("provenance", "log", "--json", store=store)
    runs = [r for r in json.loads(out or "[]") if case + ".json" in r["argv"]] if not status else []
    # by now a command has run, and each one removes what killed runs left
    left = [f for f in os.listdir(".") if f.startswith(".") and f.endswith(".tmp")]
    if not runs:
        # without a record, nothing may have been done
        if left or any(now[n] != before[n] for n in after):
            wrong.append("no record, but %s %s" % (left, [n for n in after if now[n] != before[n]]))
        return wrong, "before run.start"
    if left:
        wrong.append("left: %s" % left)
    record = json.loads(dtx("provenance", runs[0]["run_id"], "--json", store=store)[1])
    events = dict((e[0], json.loads(e[1])) for e in ledger(store, runs[0]["run_id"]))
    end = events.get("run.end")
    if not end:
        return wrong + ["no run.end"], "?"
    swept, written = end.get("swept"), "run.output" in events
    if not swept:
        if end["status"] != "ok" or any(now[n] != after[n] for n in after):
            wrong.append("ended before it was killed, %s" % end["status"])
        return wrong, "after run.end"
    said = {os.path.basename(o["path"]): o["output"] for o in end["judged"]}
    for name in after:
        want = "new" if written and now[name] == after[name] else "old"
        if said.get(name) != want:
            wrong.append("%s is %s, the record says %s" % (name, want, said.get(name)))
    all_new = written and all(now[n] == after[n] for n in after)
    if record["run"]["status"] != ("ok" if all_new else "abandoned"):
        wrong.append("status %s" % record["run"]["status"])
    return wrong, ("between run.output and the last rename" if written and not all_new else
                   "between the last rename and run.end" if all_new else "between run.start and run.output")


def ledger(store, run):
    db = sqlite3.connect(store)
    rows = db.execute("SELECT kind, body FROM ledger WHERE run_id=? ORDER BY seq", (run,)).fetchall()
    db.close()
    return rows


def sweep(title, case, args, outputs, old, there=True):
    """Kills `args` before each call; `old` are the targets before the run, None if they do not exist."""
    store = case + ".db"

    def begin():
        fresh(store, there)
        for f in os.listdir("."):
            if f.startswith(".") and f.endswith(".tmp"):
                os.unlink(f)
        for name in outputs:
            put(name, old)
    begin()
    order = []
    calls, end = traced(args, store, 0, order)
    if end != 0:
        check(title, False, "the run itself ended with %s" % end)
        return
    # first the bytes, then the event that names them, then the names, then the folder
    temps = [i for i, o in enumerate(order) if o.startswith("sync .") and o.endswith(".tmp")]
    logs = [i for i, o in enumerate(order) if o == "sync %s-wal" % store]
    names = [i for i, o in enumerate(order) if o == "rename"]
    here = [i for i, o in enumerate(order) if o == "sync " + os.path.basename(os.getcwd())]
    check("%s: each action is on the disk before the next" % title,
          len(temps) == len(names) == len(outputs) and any(temps[-1] < i < names[0] for i in logs) and
          here and here[-1] > names[-1], order)
    after = {name: read(name) for name in outputs}
    before = {name: old for name in outputs}
    wrong, places, killed = [], {}, 0
    at, step, over = 0, 1, 0
    while at < calls + 8:  # the order of threads differs, so a run may make a few calls more than another
        at, over = at + step, over + step - 1
        begin()
        _, end = traced(args, store, at)
        if end == 0:
            continue
        killed += 1
        what, place = judge(case, before, after, store, at)
        places[place] = places.get(place, 0) + 1
        # a new store is written page by page before it has a name: every fourth of those calls shows what all do
        step = 4 if not there and place == "before run.start" and at < calls / 2 else 1
        wrong += ["call %d, %s: %s" % (at, place, w) for w in what]
        if not wrong and at % 7 == 0:
            again = dtx(*args, store=store)
            if again[0] or any(read(n) != after[n] for n in outputs) or dtx("store", "check", store=store)[0]:
                wrong.append("call %d: the run after it: %s" % (at, again))
    check("%s: killed before each of %d calls: old or new, whole, and the record knows" % (title, killed),
          not wrong and killed + over >= calls - 8, "\n".join(wrong) or "%d of %d" % (killed, calls))
    print("# " + "; ".join("%d %s" % (n, p) for p, n in sorted(places.items())))
    want = {"before run.start", "between run.start and run.output", "between run.output and the last rename",
            "between the last rename and run.end"}
    check("%s: killed in every part of the write order" % title, want <= set(places), places)


def author():
    """The author's command reads the prompt and kills dtx: the ledger must have what was sent, byte for byte."""
    fixtures = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures")
    for name in ("xlsx/weeks.xlsx", "plans/balance.json"):
        shutil.copy(os.path.join(fixtures, name), ".")
    fresh("author.db", True)
    put("b.csv", b"old\n")
    status, _, err = dtx("run", "balance.json", "weeks.xlsx", "-q", "-o", "b.csv", "--author",
                         "cat > sent.txt; kill -9 $PPID", store="author.db")
    if status == 8:
        print("# skipped: killed while an author is asked: no jail here")
        return
    runs = json.loads(dtx("provenance", "log", "--json", store="author.db")[1])
    events = dict((e[0], json.loads(e[1])) for e in ledger("author.db", runs[0]["run_id"]))
    sent = hashlib.sha256(read("sent.txt") or b"").hexdigest()
    check("killed while an author is asked: what it was sent is in the ledger, the run abandoned, the file old",
          status == -9 and events.get("author.sent", {}).get("prompt_hash") == sent and runs[0]["status"] == "abandoned" and
          read("b.csv") == b"old\n" and dtx("provenance", runs[0]["run_id"], "--prompt", store="author.db")[1].encode() ==
          read("sent.txt"), (status, err, events))


def archive():
    """Kills `store archive` before each call: afterwards any command must find all runs, under the old or the new name."""
    ours = lambda: sorted(n for n in os.listdir(".") if n.startswith(("moved.db.", "away.db.")) and ".new" in n)
    wrong, at, lefts = [], 0, 0
    while True:
        at += 1
        fresh("moved.db", True)
        if os.path.exists("away.db"):
            os.unlink("away.db")
        if traced(["store", "archive", "away.db"], "moved.db", at)[1] == 0:
            break
        done = [dtx("store", "check", store=s) for s in ("moved.db", "away.db") if os.path.exists(s)]
        runs = sum(len(json.loads(dtx("provenance", "log", "--json", store=s)[1] or "[]"))
                   for s in ("moved.db", "away.db")[-1 if os.path.exists("away.db") else 0:][:1])
        left = ours()
        named = [n for n in left if any(n in d[1] for d in done)]
        gone = [dtx("store", "gc", "--apply", store=s) for s in ("moved.db", "away.db") if os.path.exists(s)]
        dtx("convert", "in.csv", "-o", "more.csv", "-q", store="moved.db")  # the next run writes with a log again
        if any(d[0] for d in done + gone) or runs != 1 or left != named or ours() or read("moved.db")[18] != 2:
            wrong.append((at, runs, done, left, named, gone, ours(), read("moved.db")[18]))
        lefts += len(left)
    check("killed archives leave %d files in all, which check names and gc removes" % lefts, lefts > 9, lefts)
    check("a store that is archived, killed before each of %d calls: whole, and all is there" % (at - 1), not wrong and at > 50,
          wrong)


def main():
    if not CALLS:
        print("ok - killed before each call # SKIP no table of calls for %s\n1 passed, 0 failed, 1 skipped" % platform.machine())
        return
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"  # LeakSanitizer uses ptrace, too, and a process has only one tracer
    with tempfile.TemporaryDirectory(prefix="dtx-killed-") as folder:
        os.chdir(folder)
        with open("in.csv", "w") as f:
            f.write("k,v\n" + "".join("%d,%d\n" % (i % 7, i) for i in range(2000)))
        for case, output in (("one", '{"path":"one.csv"}'), ("two", '[{"path":"two.csv"},{"path":"more.csv"}]')):
            with open(case + ".json", "w") as f:
                f.write('{"dtx":1,"steps":[{"op":"filter","where":"v > 100"}],"output":%s}' % output)
        if dtx("convert", "in.csv", "first.csv", "-q", store="kept.db")[0]:
            check("the first run", False)
        run = ["run", "one.json", "in.csv", "-q", "--threads", "1"]
        sweep("a new file", "one", run, ["one.csv"], None)
        sweep("a file that is there", "one", run, ["one.csv"], b"old\n")
        sweep("the first run of a store", "one", run, ["one.csv"], b"old\n", there=False)
        sweep("two files", "two", ["run", "two.json", "in.csv", "-q", "--threads", "1"], ["two.csv", "more.csv"], b"old\n")
        author()
        archive()
        os.chdir("/")
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed > 0)


main()
