"""Runs every attempt to escape twice: in plain python3, where it must succeed, and in the jail,
where it must reach nothing and must be named in the report.

The targets of the attempts (canaries) belong to this script: files in a fresh folder, child
processes, listeners on 127.0.0.1 and on an abstract unix socket, bounded floods.  Nothing else is
touched.
"""
import concurrent.futures
import glob
import json
import os
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
OUTSIDE = """
import runpy, sys
import pandas as pd
transform = runpy.run_path(sys.argv[1])["transform"]
transform({"main": pd.DataFrame({"int": [1, 2, 3]})}, {})
"""
PLAN = {"dtx": 1, "steps": [{"op": "do_the_impossible"}]}
OWN = ("run.py", "attacks.py")
RUNS_FOREVER = ("endless_loop", "endless_sleep")


class Child:
    """A process to be attacked: it waits, and has a secret in its environment."""

    def __init__(self, token):
        code = ("import ctypes, sys, time\n"
                "ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)\n"
                "buf = ctypes.create_string_buffer(%r.encode())\n"
                "print(ctypes.addressof(buf), flush=True)\n"
                "time.sleep(600)\n" % token)
        env = dict(os.environ, CANARY=token)
        self.process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                                        env=env, text=True)
        self.address = int(self.process.stdout.readline())

    def alive(self):
        return self.process.poll() is None

    def end(self):
        self.process.kill()
        self.process.wait()


class Scene:
    """Canaries of one run."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="dtx-escape-")
        self.token = "canary-" + secrets.token_hex(8)
        self.folder = os.path.join(self.dir, "user")
        os.mkdir(self.folder)
        for name in ("secret", "victim"):
            with open(os.path.join(self.folder, name), "w") as f:
                f.write(self.token)
        self.before = self.listing()
        self.child = self.make_child()
        self.tcp = self.listener(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.udp = self.listener(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self.abstract_name = "dtx-escape-" + secrets.token_hex(6)
        self.abstract = self.listener(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract_name)
        self.open_fd = os.open(os.path.join(self.folder, "secret"), os.O_RDONLY)
        os.set_inheritable(self.open_fd, True)

    def make_child(self):
        return Child(self.token)

    @staticmethod
    def listener(family, kind, address):
        s = socket.socket(family, kind)
        s.bind(address)
        if kind == socket.SOCK_STREAM:
            s.listen(1)
        return s

    def listing(self):
        out = {}
        for name in sorted(os.listdir(self.folder)):
            path = os.path.join(self.folder, name)
            out[name] = open(path).read() if os.path.isfile(path) else "(folder)"
        return out

    def fill(self, text):
        values = {"FILE": os.path.join(self.folder, "secret"), "DIR": self.folder,
                  "VICTIM_FILE": os.path.join(self.folder, "victim"),
                  "TCP_PORT": self.tcp.getsockname()[1], "UDP_PORT": self.udp.getsockname()[1],
                  "ABSTRACT": self.abstract_name, "CHILD": self.child.process.pid,
                  "CHILD_ADDRESS": self.child.address, "OPEN_FD": self.open_fd}
        for name, value in values.items():
            text = text.replace("@%s@" % name, str(value))
        return text

    def touched(self, kind):
        """Whether the canary of this kind was reached."""
        if kind == "folder":
            return self.listing() != self.before
        if kind == "child":
            time_out = time.monotonic() + 2
            while self.child.alive() and time.monotonic() < time_out and self.expect_death:
                time.sleep(0.01)
            return not self.child.alive()
        s = getattr(self, kind)
        return bool(select.select([s], [], [], 0.2)[0])

    expect_death = False

    def end(self):
        self.child.end()
        for s in (self.tcp, self.udp, self.abstract):
            s.close()
        os.close(self.open_fd)
        shutil.rmtree(self.dir)


def headers(text):
    out = {}
    for line in text.split("\n"):
        if line.startswith("# ") and ": " in line:
            key, value = line[2:].split(": ", 1)
            out.setdefault(key, value)
    return out


def run(argv, scene, **words):
    # with threads of a BLAS, the attempt could not create a user namespace
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1", DTX_CANARY=scene.token,
               DTX_STORE=os.path.join(scene.dir, "store.db"))
    return subprocess.run(argv, capture_output=True, env=env, close_fds=False,
                          cwd=scene.dir, errors="replace", **words)


class NotHere(Exception):
    """This machine lacks what an attempt needs to succeed outside."""


def outside(name, text, head, scene):
    """None if the attempt succeeds in plain python3, else the reason why it did not."""
    path = os.path.join(scene.dir, name + ".py")
    with open(path, "w") as f:
        f.write(scene.fill(text))
    scene.expect_death = True
    # with a separate parent, so that a signal to the parent does not hit this script
    parent = ("import signal, subprocess, sys\n"
              "signal.signal(signal.SIGUSR1, lambda *a: None)\n"
              "sys.exit(subprocess.call(sys.argv[1:], close_fds=False))\n")
    argv = [sys.executable, "-c", parent, sys.executable, "-W", "ignore", "-c", OUTSIDE, path]
    if name in RUNS_FOREVER:
        return outside_forever(argv, path, scene)
    done = run(argv, scene, timeout=60)
    if "REACHED" not in done.stdout and re.search(r"\[Errno (1|38)\]", done.stderr):
        raise NotHere("this machine denies it outside as well: " + done.stderr.split("\n")[-2])
    if "REACHED" not in done.stdout:
        return "did not succeed: %s" % done.stderr[-500:]
    if "canary" in head and not scene.touched(head["canary"]):
        return "the canary was not touched"
    return None


def outside_forever(argv, path, scene):
    """None if it says that it runs, and still runs a second later."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               cwd=scene.dir, close_fds=False)
    try:
        if not select.select([process.stdout], [], [], 60)[0]:
            return "it did not start"
        if b"REACHED" not in os.read(process.stdout.fileno(), 100):
            return "it did not start well"
        try:
            process.wait(1)
            return "it ended by itself"
        except subprocess.TimeoutExpired:
            return None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        kill_left_over(path)


def kill_left_over(path):
    """Ends attempts that outlive their killed parent; finds them by the path on their command line."""
    for entry in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(entry, "rb") as f:
                if os.fsencode(path) in f.read().split(b"\0"):
                    os.kill(int(entry.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass


def find_report(text):
    """The innermost object with "status" and "denied" in the error output."""
    found = None

    def walk(value):
        nonlocal found
        if isinstance(value, dict):
            if "status" in value and "denied" in value:
                found = value
            for v in value.values():
                walk(v)
        elif isinstance(value, list):
            for v in value:
                walk(v)

    for line in text.split("\n"):
        if line.startswith("{"):
            try:
                walk(json.loads(line))
            except ValueError:
                pass
    return found


def inside(dtx, name, text, head, scene):
    """None if the jail contains and names the attempt, else what went wrong."""
    paths = [os.path.join(scene.dir, n) for n in ("plan.json", "in.csv", name + ".py", "out.csv")]
    with open(paths[0], "w") as f:
        json.dump(PLAN, f)
    with open(paths[1], "w") as f:
        f.write("int\n1\n2\n3\n")
    with open(paths[2], "w") as f:
        f.write(scene.fill(text))
    argv = [dtx, "run", paths[0], paths[1], "--snippet", paths[2], "--errors=json", "-o", paths[3]]
    done = run(argv + head.get("options", "").split(), scene, timeout=60)
    report = find_report(done.stderr)
    if report is None:
        return "no report: exit %d: %s" % (done.returncode, done.stderr[-500:])
    problem = judge(head["expect"].split(), report) if "expect" in head else None
    if problem:
        return problem
    if done.returncode not in (7, 8):
        return "exit status %d, expected 7 or 8" % done.returncode
    if scene.token in done.stdout + done.stderr or os.path.exists(paths[3]):
        return "the secret or a result came out"
    if "canary" in head and scene.touched(head["canary"]):
        return "the canary was touched"
    return None


def judge(expect, report):
    if report["status"] != expect[0]:
        return "status %s, expected %s: %s" % (report["status"], expect[0], report)
    if len(expect) == 1:
        return None
    for call in report["denied"]:
        if call["name"] == expect[1] and call["verdict"] == expect[2]:
            return None
    return "'%s' is not %s in %s" % (expect[1], expect[2], report["denied"])


def attempt(dtx, path):
    """Lines to print; the last says whether both halves went as expected."""
    name = os.path.basename(path)[:-3]
    with open(path) as f:
        text = f.read()
    head = headers(text)
    skip = ""
    for where, check in (("outside", outside), ("inside", lambda *a: inside(dtx, *a))):
        scene = Scene()
        try:
            problem = check(name, text, head, scene)
        except NotHere as why:
            problem, skip = None, " # SKIP " + str(why)
            head.pop("expect")  # a call that never reaches the jail's filter is not named
        finally:
            scene.end()
        if problem:
            return ["# %s: %s" % (where, problem), "not ok - " + name]
    return ["ok - %s: %s" % (name, head["expect"]) if not skip else "ok - " + name + skip]


def main():
    dtx = os.path.abspath(sys.argv[1])
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    paths = [p for p in sorted(glob.glob(os.path.join(HERE, "*.py")))
             if os.path.basename(p) not in OWN and only in os.path.basename(p)]
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for lines in pool.map(lambda p: attempt(dtx, p), paths):
            print("\n".join(lines), flush=True)
            skipped += "# SKIP" in lines[-1]
            passed += lines[-1].startswith("ok") and "# SKIP" not in lines[-1]
            failed += lines[-1].startswith("not ok")
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
