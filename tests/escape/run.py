"""Runs every attempt to escape twice: in plain python3, where it must succeed, and in the jail,
where it must reach nothing and must be named in the report.

The targets of the attempts (canaries) belong to this script: files in a fresh folder, child
processes, listeners on 127.0.0.1 and on an abstract unix socket, bounded floods.  Nothing else is
touched.
"""
import concurrent.futures
import glob
import io
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
CALL = 'import pandas as pd\ntransform({"main": pd.DataFrame({"int": [1, 2, 3]})}, {})\n'
PLAN = {"dtx": 1, "steps": [{"op": "do_the_impossible"}]}
OWN = ("run.py", "attacks.py", "sessions.py")
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
    env = dict(os.environ, DTX_CANARY=scene.token,
               DTX_STORE=os.path.join(scene.dir, "store.db"))
    return subprocess.run(argv, capture_output=True, env=env, close_fds=False,
                          cwd=scene.dir, errors="replace", **words)


class NotHere(Exception):
    """This machine lacks what an attempt needs to succeed outside."""


def read_all(fd, deadline):
    out = b""
    while time.monotonic() < deadline:
        if select.select([fd], [], [], 0.05)[0]:
            part = os.read(fd, 65536)
            if not part:
                return out, True
            out = (out + part)[-100000:]
    return out, False


def child(source, write, token):
    """Runs the attempt in a fork of this process, which has imported pandas."""
    try:
        os.environ["DTX_CANARY"] = token
        for fd in (1, 2):
            os.dup2(write, fd)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", 0), write_through=True)
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", 0), write_through=True)
        for text in source:
            exec(compile(text, "<attempt>", "exec"), {"__name__": "__main__"})
        sys.stdout.flush()
    except BaseException as e:
        sys.stderr.write("%s: %s" % (type(e).__name__, str(e)[:300]))
    finally:  # even an error whose text raises another error must not reach the suite
        os._exit(0)


def child_of_its_own(source, write, scene):
    """Runs the attempt in a fork of this fork, so that a signal to the parent does not hit the script."""
    try:
        os.setsid()
        os.chdir(scene.dir)
        pid = os.fork()
        if pid == 0:
            child(source, write, scene.token)
        signal.signal(signal.SIGUSR1, lambda *a: None)
        os.close(write)
        os.waitpid(pid, 0)
    finally:
        os._exit(0)


def outside(name, text, head, scene):
    """None if the attempt succeeds in plain python3, else the reason why it did not."""
    scene.expect_death = True
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        child_of_its_own([scene.fill(text) + CALL], write, scene)
    os.close(write)
    try:
        if name in RUNS_FOREVER:
            return outside_forever(pid, read)
        out = read_all(read, time.monotonic() + 200)[0].decode(errors="replace")
    finally:
        os.killpg(pid, signal.SIGKILL)  # it is not yet waited for, so the group is there
        os.waitpid(pid, 0)
        os.close(read)
    if "REACHED" not in out and re.search(r"\[Errno (1|38)\]", out):
        raise NotHere("this machine denies it outside as well: " + out.split("\n")[-1])
    if "REACHED" not in out:
        return "did not succeed: %s" % out[-500:]
    if "canary" in head and not scene.touched(head["canary"]):
        return "the canary was not touched"
    return None


def outside_forever(pid, read):
    """None if it says that it runs, and still runs a second later."""
    if not select.select([read], [], [], 200)[0]:
        return "it did not start"
    if b"REACHED" not in os.read(read, 100):
        return "it did not start well"
    time.sleep(1)
    return "it ended without being killed" if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) else None


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
    done = run(argv + head.get("options", "").split(), scene, timeout=200)
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


class Attempt:
    def __init__(self, path):
        self.name = os.path.basename(path)[:-3]
        with open(path) as f:
            self.text = f.read()
        self.head = headers(self.text)
        self.skip = self.problem = ""

    def check(self, where, how):
        """Does one half, if the one before it went as expected."""
        if self.problem:
            return
        scene = Scene()
        try:
            problem = how(self.name, self.text, self.head, scene)
            self.problem = "%s: %s" % (where, problem) if problem else ""
        except NotHere as why:
            self.skip = " # SKIP " + str(why)
            self.head.pop("expect")  # a call that never reaches the jail's filter is not named
        finally:
            scene.end()


def main():
    dtx = os.path.abspath(sys.argv[1])
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    attempts = [Attempt(p) for p in sorted(glob.glob(os.path.join(HERE, "*.py")))
                if os.path.basename(p) not in OWN and only in os.path.basename(p)]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # with more, the attempt could not create a user namespace
    import pandas  # noqa: F401
    for a in attempts:  # forks, so it must come before any thread starts
        a.check("outside", outside)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda a: a.check("inside", lambda *p: inside(dtx, *p)), attempts))
    passed = failed = skipped = 0
    for a in attempts:
        if a.problem:
            print("# %s\nnot ok - %s" % (a.problem, a.name))
        else:
            print("ok - " + a.name + (a.skip or ": " + a.head["expect"]))
        skipped += bool(a.skip and not a.problem)
        passed += not a.skip and not a.problem
        failed += bool(a.problem)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
