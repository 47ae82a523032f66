"""dtx must react to signals that ask it to end at any point: exit 130, no files left, the record closed.

    tests/fault/signals.py DTX

A reader that does not read, a FIFO without a reader, a sort, a snippet, a replay: each gets SIGTERM,
SIGINT, SIGHUP and SIGQUIT at its worst moment.  A killed replay leaves a folder that the next one removes.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

DTX = os.path.abspath(sys.argv[1])
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
ROWS = 400000
passed = failed = 0


def check(good, name, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good and why:
        print("# " + why)
    print("%s - %s" % ("ok" if good else "not ok", name))


def restore():  # the parent may have set them to be ignored
    for s in SIGNALS:
        signal.signal(s, signal.SIG_DFL)


def start(*argv, **more):
    return subprocess.Popen([DTX, *argv], stderr=subprocess.PIPE, preexec_fn=restore, **more)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not condition():
        time.sleep(0.01)
    return condition()


def handles(p, sig):
    """dtx has installed its handler; before, the signal would end it without a word."""
    if p.poll() is not None:
        return True
    with open("/proc/%d/status" % p.pid) as f:
        caught = re.search(r"^SigCgt:\s*(\w+)", f.read(), re.M)
    return caught and int(caught[1], 16) >> sig - 1 & 1


def ended(p, sig, name):
    wait_for(lambda: handles(p, sig))
    p.send_signal(sig)
    try:
        _, err = p.communicate(timeout=100)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        return check(False, name, "it did not end")
    check(p.returncode == 130 and b"dtx: cancelled: " in err, name,
          "exit %d: %s" % (p.returncode, err[:200]))


def unread(sig, where):
    """The output is a pipe whose reader takes a little and then stops."""
    read, write = os.pipe()
    p = start(*where, "--progress", "off", stdout=write)
    os.close(write)
    os.read(read, 1000)
    time.sleep(0.1)
    ended(p, sig, "%s, a reader that does not read: %s" % (where[0], sig.name))
    os.close(read)


def fifo(sig):
    """The output is a FIFO without a reader, then with one that does not read."""
    p = start("run", "keep.json", "in.csv", "-o", "fifo")
    time.sleep(0.5)
    ended(p, sig, "a FIFO without a reader: %s" % sig.name)
    p = start("run", "keep.json", "in.csv", "-o", "logged.csv", "--log-json", "fifo")
    time.sleep(0.5)
    ended(p, sig, "a log that is a FIFO without a reader: %s" % sig.name)
    p = start("run", "keep.json", "in.csv", "-o", "fifo")
    read = os.open("fifo", os.O_RDONLY)
    os.read(read, 1000)
    time.sleep(0.1)
    ended(p, sig, "a FIFO that is not read: %s" % sig.name)
    os.close(read)


def temp_files():
    return [n for n in os.listdir(".") if n.startswith(".out.csv")] + os.listdir("tmp")


def author(sig):
    """A slow command of an author must end together with dtx."""
    p = start("run", "odd.json", "in.csv", "-o", "out.csv", env=dict(
        os.environ, DTX_AUTHOR="echo $$ > author.pid; exec sleep 600"))
    there = wait_for(lambda: os.path.exists("author.pid") and os.path.getsize("author.pid") > 1)
    if not there:
        p.kill()
        return check(False, "an author: %s" % sig.name, "it was not asked: %s" % p.communicate()[1][:200])
    with open("author.pid") as f:
        pid = int(f.read())
    os.unlink("author.pid")
    ended(p, sig, "an author that takes its time: %s" % sig.name)
    check(wait_for(lambda: not os.path.exists("/proc/%d" % pid), 5), "its command has ended: %s" % sig.name)


def statuses():
    done = subprocess.run([DTX, "provenance", "log", "--json", "--limit", "100"], capture_output=True)
    return [r["status"] for r in json.loads(done.stdout)]


def main():
    os.environ.update(DTX_STORE=os.path.abspath("store.db"), TMPDIR=os.path.abspath("tmp"), HOME=os.getcwd())
    os.mkdir("tmp")
    os.mkfifo("fifo")
    with open("in.csv", "w") as f:
        f.write("k,v\n" + "".join("k%d,%d\n" % (i % 1000, i) for i in range(ROWS)))
    for name, step in (("keep", {"op": "filter", "where": "v > 100"}), ("sort", {"op": "sort", "by": ["-v"]}),
                       ("odd", {"op": "frobnicate"})):
        with open(name + ".json", "w") as f:
            json.dump({"dtx": 1, "steps": [step]}, f)
    for sig in SIGNALS:
        unread(sig, ("run", "keep.json", "in.csv"))
        unread(sig, ("convert", "in.csv", "--to", "jsonl"))
        fifo(sig)
        author(sig)
        p = start("exec", "-c", "while True: pass", stdout=subprocess.DEVNULL)
        time.sleep(1.5)
        ended(p, sig, "exec: %s" % sig.name)
    wrong = [s for s in statuses() if s != "cancelled"]
    check(not wrong, "every run is recorded as cancelled", "%s" % wrong)
    check(not temp_files(), "nothing is left", "%s" % temp_files())
    subprocess.run([DTX, "run", "sort.json", "in.csv", "-o", "out.csv", "-q"], check=True)
    for sig in SIGNALS + (signal.SIGKILL,):
        p = start("replay", "out.csv", stdout=subprocess.DEVNULL)
        wait_for(lambda: os.listdir("tmp"))
        p.send_signal(sig)
        p.communicate()
        if sig != signal.SIGKILL:
            check(not os.listdir("tmp"), "a replay that is ended leaves nothing: %s" % sig.name, "%s" % os.listdir("tmp"))
    left = os.listdir("tmp")
    done = subprocess.run([DTX, "replay", "out.csv"], capture_output=True)
    check(left and done.returncode == 0 and not os.listdir("tmp"), "what a killed replay left, the next removes",
          "%s, then %s: %s" % (left, os.listdir("tmp"), done.stderr[:200]))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


with tempfile.TemporaryDirectory(prefix="dtx-signals-") as folder:
    os.chdir(folder)
    status = main()
    os.chdir("/")
sys.exit(status)
