"""What happens to a run in several processes when one of them, the driver, a file of theirs or the input goes wrong.

Usage: faults.py DTX
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DTX = str(pathlib.Path(sys.argv[1]).resolve())
DEADLINE = 60
counts = {"passed": 0, "failed": 0}
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell ignores it for what it starts in the background


def check(what, ok, detail=""):
    counts["passed" if ok else "failed"] += 1
    if not ok:
        print("not ok - %s\n# %s" % (what, str(detail)[:2000].replace("\n", "\n# ")))


class Place:
    def __init__(self):
        base = os.environ.get("T_TMP") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="dtx-faults-", dir=base))
        self.env = dict(os.environ, DTX_STORE=str(self.dir / "store.db"), TMPDIR=str(self.dir))
        self.plan([{"op": "filter", "where": "n % 3 = 1"}])
        self.input()
        (self.dir / "x").mkdir()

    def plan(self, steps):
        (self.dir / "plan.json").write_text(json.dumps({"dtx": 1, "steps": steps}))

    def input(self):
        (self.dir / "in.csv").write_text("n,t\n" + "".join("%d,text %d\n" % (i, i % 97) for i in range(40000)))

    def start(self, *args):
        return subprocess.Popen([DTX, "run", "plan.json", "in.csv", "-o", "out.csv", *args], cwd=self.dir, env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def clear(self):
        (self.dir / "out.csv").unlink(missing_ok=True)

    def fragments(self):
        """Those of the last run, as its record has them."""
        done = subprocess.run([DTX, "provenance", "--json", "--full"], cwd=self.dir, env=self.env, capture_output=True)
        stages = (json.loads(done.stdout)["run"].get("engine") or {}).get("stages", [])
        return [f for s in stages for f in s["fragments"]]


def fragments(pid):
    """The processes of the fragments that a driver runs."""
    found = []
    try:
        for child in pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split():
            if b"\0fragment\0" in pathlib.Path("/proc/%s/cmdline" % child).read_bytes():
                found.append(int(child))
    except OSError:
        pass
    return found


def until(condition):
    """The first true value of the condition; None after the deadline."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
    return None


def while_running(place, what, do, *args):
    """Runs on the engine and calls do(driver), until that is true or the run has ended; then again with a new run."""
    for _ in range(5):
        place.input()
        place.clear()
        run = place.start("--engine", "local://1?bytes=20000", *args)
        done = False
        while not done and run.poll() is None:
            done = do(run)
        out, err = run.communicate(timeout=DEADLINE)
        if done:
            return run.returncode, err.decode()
    check(what, False, "the runs were over too soon")
    return None, ""


def kill_one(run):
    for pid in fragments(run.pid):
        try:
            os.kill(pid, signal.SIGKILL)
            return True
        except ProcessLookupError:
            pass
    return False


def stop_one(run):
    """Stops a fragment that has just begun; its process id, or None."""
    for pid in fragments(run.pid):
        try:
            os.kill(pid, signal.SIGSTOP)
            return pid
        except ProcessLookupError:
            pass
    return None


def stopped(place, engine):
    """A run with a fragment that is stopped and stays so."""
    for _ in range(5):
        place.input()
        place.clear()
        run = place.start("--engine", engine)
        pid = until(lambda: stop_one(run) or run.poll() is not None)
        if run.poll() is None and pid is not True:
            out, err = run.communicate(timeout=DEADLINE)
            return run.returncode, err.decode()
        run.communicate()
    return None, "the runs were over too soon"


def flip(path):
    at = os.stat(path).st_size // 2
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 1]))


def damaged(place, exchange, changes):
    """A run that finds a damaged file. On a busy machine it may have read the file before: then once more."""
    for _ in range(5):
        code, err = damage_one(place, exchange, changes)
        if code or (code == 0 and any(f["remade"] for f in place.fragments())):
            break
    return code, err


def damage_one(place, exchange, changes):
    """A run of which a file is damaged before it is read: the first fragment is stopped, so that no later one is read yet.
    changes: the input too, in a way that its size and time do not show."""
    place.input()
    place.clear()
    run = place.start("--engine", "local://2?bytes=20000", "--exchange", str(exchange))
    first = until(lambda: stop_one(run) or run.poll() is not None)
    if first is True:
        return None, run.communicate()[1].decode()
    flip(until(lambda: next(iter(exchange.glob("*/*.frame")), None)))
    if changes:
        path = place.dir / "in.csv"
        was, text = os.stat(path), path.read_text()
        with open(path, "r+") as f:
            f.write(text.replace("text", "Text"))
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    os.kill(first, signal.SIGCONT)
    out, err = run.communicate(timeout=DEADLINE)
    return run.returncode, err.decode()


def resumed(place, exchange, want, end):
    """A run with an exchange folder that ends when some of its parts are done, and one that resumes it."""
    place.input()
    place.clear()
    run = place.start("--engine", "local://2?bytes=20000", "--exchange", str(exchange))
    until(lambda: len(list(exchange.glob("*/*.json"))) > 2 or run.poll() is not None)
    run.send_signal(end)
    out, err = run.communicate(timeout=DEADLINE)
    check("the parts that are done stay", run.returncode != 0 and list(exchange.glob("*/*.json")), err)
    name = next(exchange.iterdir()).name
    if end == signal.SIGINT:
        check("and the message says how to go on", "--resume " + name[4:] in err.decode(), err)
    again = place.start("--engine", "local://1?bytes=20000", "--exchange", str(exchange), "--resume", name[-8:])
    out, err = again.communicate(timeout=DEADLINE)
    kept = [f for f in place.fragments() if f["kept"]]
    check("a run that is resumed gives the same and keeps parts",
          again.returncode == 0 and (place.dir / "out.csv").read_bytes() == want and len(kept) > 1 and not list(exchange.iterdir()),
          "%s %s kept" % (err, len(kept)))


def main():
    place = Place()
    out, exchange = place.dir / "out.csv", place.dir / "x"
    try:
        done = place.start().wait()
        want = out.read_bytes()
        check("a run in one process", done == 0 and len(want) > 1000)

        code, err = while_running(place, "a killed fragment", kill_one)
        check("a killed fragment is done again", code == 0 and out.read_bytes() == want, err)

        def append(run):
            if not fragments(run.pid):
                return False
            with open(place.dir / "in.csv", "a") as f:
                f.write("1,more\n")
            return True
        code, err = while_running(place, "a changed input", append)
        check("an input that changes fails the run", code == 4 and "input_changed" in err and not out.exists(), err)

        code, err = damaged(place, exchange, False)
        check("a damaged file is made again", code == 0 and out.read_bytes() == want, err)
        check("the record says so", sum(f["remade"] for f in place.fragments()) == 1, place.fragments())
        code, err = damaged(place, exchange, True)
        check("other bytes the second time stop the run", code == 70 and "other bytes" in err and not out.exists(), "%s %s" % (code, err))

        code, err = stopped(place, "local://2?bytes=20000")
        check("a slow fragment gets a second copy", code == 0 and out.read_bytes() == want, err)
        code, err = stopped(place, "local://1?bytes=200000&silence=1")
        check("fragments that are silent are ended and done again",
              code == 0 and out.read_bytes() == want and any(f["attempts"] > 1 for f in place.fragments()), err)
        resumed(place, exchange, want, signal.SIGKILL)
        resumed(place, exchange, want, signal.SIGINT)
        check("the folder of the run is removed", not list(exchange.iterdir()), list(exchange.iterdir()))

        place.plan([{"op": "window", "by": ["t"], "order": ["n"], "set": {"before": "lag(n)", "so_far": "sum(n)"}}])
        place.clear()
        done = place.start().wait()
        want = out.read_bytes()
        code, err = damaged(place, exchange, False)
        check("a damaged bucket is made again", code == 0 and out.read_bytes() == want, err)
        check("the record says which", sum(f["remade"] for f in place.fragments()) == 1, place.fragments())
        numbers = [i + 1 for i, f in enumerate(place.fragments()) if "bucket" in f["spec"]]
        again = subprocess.run([DTX, "verify", "out.csv", "--fragment", str(numbers[-1] if numbers else 0)], cwd=place.dir, env=place.env, capture_output=True)
        check("a fragment that gathers a bucket is done again by verify", again.returncode == 0, again)
        code, err = damaged(place, exchange, True)
        check("other bytes in a bucket stop the run", code == 70 and "other bytes" in err and not out.exists(), "%s %s" % (code, err))
        resumed(place, exchange, want, signal.SIGKILL)
        place.plan([{"op": "filter", "where": "n % 3 = 1"}])
        place.clear()
        done = place.start().wait()
        want = out.read_bytes()

        def interrupt(run):
            if not fragments(run.pid):
                return False
            run.send_signal(signal.SIGINT)
            return True
        code, err = while_running(place, "Ctrl-C", interrupt)
        check("Ctrl-C ends the run", code == 130 and not out.exists(), "%s %s" % (code, err))

        place.clear()
        run = place.start("--engine", "local://2?bytes=20000")
        pids = until(lambda: fragments(run.pid) or run.poll() is not None)
        run.kill()
        run.communicate()
        gone = until(lambda: not [p for p in (pids if isinstance(pids, list) else []) if os.path.exists("/proc/%d/exe" % p)])
        check("fragments end with their driver", gone is True and not out.exists())
        done = place.start("--engine", "local://2").wait()
        left = list(place.dir.glob("dtx-exchange*"))
        check("the next run removes what a killed one left", done == 0 and not left and out.read_bytes() == want, left)
    finally:
        shutil.rmtree(place.dir, ignore_errors=True)
    print("%d passed, %d failed" % (counts["passed"], counts["failed"]))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
