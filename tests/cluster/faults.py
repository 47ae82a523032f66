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
        (self.dir / "plan.json").write_text(json.dumps({"dtx": 1, "steps": [{"op": "filter", "where": "n % 3 = 1"}]}))
        self.input()
        (self.dir / "x").mkdir()

    def input(self):
        (self.dir / "in.csv").write_text("n,t\n" + "".join("%d,text %d\n" % (i, i % 97) for i in range(40000)))

    def start(self, *args):
        return subprocess.Popen([DTX, "run", "plan.json", "in.csv", "-o", "out.csv", *args], cwd=self.dir, env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def clear(self):
        (self.dir / "out.csv").unlink(missing_ok=True)


def fragments(pid):
    """The processes of the fragments that a driver runs."""
    found = []
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (proc / "stat").read_text().rsplit(")", 1)[1].split()
            if int(stat[1]) == pid and b"\0fragment\0" in (proc / "cmdline").read_bytes() and stat[0] != "Z":
                found.append(int(proc.name))
        except (OSError, IndexError):
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

        def damage(run):
            for path in exchange.glob("*/*.frame"):
                with open(path, "r+b") as f:
                    f.seek(200)
                    byte = f.read(1)
                    f.seek(200)
                    f.write(bytes([byte[0] ^ 1]))
                return bool(fragments(run.pid)) or run.poll() is None
            return False
        code, err = while_running(place, "a damaged file", damage, "--exchange", str(exchange))
        check("a flipped bit in a fragment's file fails the run", code == 4 and "input_io" in err and not out.exists(),
              "%s %s" % (code, err))
        check("the folder of the run is removed", not list(exchange.iterdir()), list(exchange.iterdir()))

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
