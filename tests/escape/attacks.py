"""Runs attempts to escape from the tables in families/: each must succeed in plain python3; in the
jail it must reach nothing and must be named in the report.

A table consists of blocks: a head line `--- NAME: VERDICT | WORDS`, then the attempt, which prints REACHED
when it succeeds.  VERDICT is `refused CALL/CALL` or `killed CALL/CALL` (a call of the report with
that verdict; `any` for any), or `status STATUS/STATUS` (`any` for all but ok, `none` for an
attempt that makes no system call).  WORDS: canary=KIND, which must be touched outside and not
inside; root (outside it needs root); options= of `dtx exec`; forged (helpers that speak the wire protocol;
outside there is no peer); then (a second program after `===`, which looks for what the
first left); leaves=NAME (outside: a naive copy into a folder); namespaces (the verdict is that of a
worker with a root of its own).  A table may begin with options= of all its attempts.

An attempt that cannot succeed outside, because the machine lacks what it needs, is still run
inside, and counts as skipped.  The same holds for one whose call the filter of a container refuses
before the jail's filter sees it.

Usage: attacks.py DTX [PART-OF-A-NAME | K/N: every Nth, from the Kth on]
"""
import concurrent.futures
import ctypes
import errno
import glob
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time

from run import HERE, Child, NotHere, Scene, child, read_all

PRELUDE = """
import builtins, ctypes, errno, io, os, socket, struct, sys
OUTSIDE = %r
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(nr, *args):
    words = [a if not isinstance(a, int) else ctypes.c_long(a) for a in args]
    got = libc.syscall(ctypes.c_long(nr), *words)
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got
def run_code(code):
    libc.mmap.restype = ctypes.c_void_p
    at = libc.mmap(None, 4096, 7, 0x22, -1, ctypes.c_long(0))
    if at in (None, 2**64 - 1): raise OSError(ctypes.get_errno(), "mmap")
    ctypes.memmove(at, code, len(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(at)()
"""
FORGED = """
def message(kind, serial, payload, magic=0x4a585444, version=1, size=None):
    size = len(payload) if size is None else size
    return struct.pack("<IHHII", magic, version, kind, size, serial) + payload
def spin():
    while True: pass
def result():
    f = sys._getframe()
    while not hasattr(f.f_locals.get("self"), "out"): f = f.f_back
    return f.f_locals["self"].out
def entry(kind, name=(0, 0), a=(0, 0), ident=0):
    return struct.pack("<6I9Q", kind, ident, 0, 0, 0, name[1], name[0], 0, 0, a[0], a[1], 0, 0, 0, 0)
def frame(entries=(), sections=None, total=4608, directory=64, data=b"x"):
    out = result(); n = len(entries) if sections is None else sections
    out[:64] = struct.pack("<8sIIQQII24x", b"DTXFRM1\\0", 64, n, total, directory, 96, 0)
    out[64:64 + 96 * len(entries)] = b"".join(entries)
    out[512:512 + len(data)] = data
    os.write(3, message(20, 3, struct.pack("<IIQ", 0, 0, 4608))); os._exit(0)
def leave(*names):
    if OUTSIDE: return print("REACHED")
    layout, old = sys.modules["layout"], sys.modules["layout"].write
    layout.write = lambda out, text, table, files: old(out, text, table, [(n, b"x") for n in names])
"""


def has_namespaces():
    """Whether a worker can have its own root: it cannot in a chroot, nor in most containers."""
    return subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode == 0


def is_filtered():
    """Whether this process has a seccomp filter already, as in a container."""
    with open("/proc/self/status") as f:
        return "Seccomp:\t2" in f.read()


FILTERED = is_filtered()
LIBRARY = json.__file__  # the source of a module, which has the same path in the jail
# In a container, as an ordinary user, with an older kernel or without a package, the attempt is
# only possible on other machines.
NOT_HERE = (b"Operation not permitted", b"Function not implemented", b"ModuleNotFoundError",
            b"Name or service not known")


class Attack:
    def __init__(self, family, head, body):
        name, rest = head.split(":", 1)
        verdict, _, words = rest.partition("|")
        self.name = "%s: %s" % (family, name)
        self.kind, self.what = verdict.split()
        self.words = words.split(" options=")[0].split() if words else []
        options = re.search(r"options=(.*)", words)
        self.options = options.group(1).split() if options else []
        if options and "options=" in " ".join(self.words):
            self.words = [w for w in self.words if not w.startswith("options=")]
            self.words = [w for w in self.words if w not in self.options]
        self.body = body

    def word(self, key):
        for w in self.words:
            if w.startswith(key + "="):
                return w.split("=", 1)[1]
        return None


def load(path):
    family = os.path.basename(path)[:-4]
    with open(path) as f:
        first, *blocks = re.split(r"^--- ", f.read(), flags=re.M)
    attacks = [Attack(family, *b.split("\n", 1)) for b in blocks]
    for a in attacks:
        a.options += first.replace("options=", "").split()
    return attacks


def numbers(text):
    lib = ctypes.CDLL("libseccomp.so.2")

    def number(match):
        nr = lib.seccomp_syscall_resolve_name(match.group(1).encode())
        return str(nr)

    return re.sub(r"\bNR_([a-z0-9_]+)", number, text)


def container_refuses(names):
    """Whether the filter of a container refuses all these calls.  They are made in a fork with
    arguments that no call takes (a bad address, size or number), so nothing happens where the
    filter lets one through."""
    libc, lib = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libseccomp.so.2")
    for name in names:
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number < 0:  # newer than libseccomp, so the container treats it as an unknown call
            number = 1 << 20
        pid = os.fork()
        if pid == 0:
            signal.alarm(2)
            libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, which Landlock requires
            got = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
            os._exit(got == -1 and ctypes.get_errno() == errno.EPERM)
        if os.waitpid(pid, 0)[1] != 1 << 8:
            return False
    return True


def program(attack, body, scene, outside):
    helpers = FORGED if "forged" in attack.words or attack.word("leaves") else ""
    return PRELUDE % outside + helpers + numbers(scene.fill(body))


class Place(Scene):
    """The canaries of run.py and three more.  Attempts that do not kill the child share one."""

    shared = None

    def make_child(self):
        if self.own_child or not Place.shared:
            return Child(self.token)
        return Place.shared

    def __init__(self, own_child):
        self.own_child = own_child
        Scene.__init__(self)
        os.mkdir(os.path.join(self.folder, "empty"))
        with open(os.path.join(self.folder, "canary_module.py"), "w") as f:
            f.write("secret = %r\n" % self.token)
        self.link = os.path.join(self.folder, "link")
        os.symlink(os.path.join(self.folder, "secret"), self.link)
        import socket
        self.unix_path = os.path.join(self.folder, "s")
        self.unix = self.listener(socket.AF_UNIX, socket.SOCK_STREAM, self.unix_path)
        self.before = self.listing()

    def listing(self):
        out = {}
        for name in sorted(os.listdir(self.folder)):
            path = os.path.join(self.folder, name)
            if name != "__pycache__":
                out[name] = "(other)"
                if os.path.isfile(path):
                    with open(path, "rb") as f:
                        out[name] = f.read()
        return out

    def fill(self, text):
        for name, value in (("LINK", self.link), ("UNIX", self.unix_path), ("LIBRARY", LIBRARY)):
            text = text.replace("@%s@" % name, value)
        return Scene.fill(self, text)

    def end(self):
        self.unix.close()
        if not self.own_child:
            self.child = Nobody()
        Scene.end(self)


class Nobody:
    """Replaces the shared child where an attempt may kill it."""

    def end(self):
        pass


def outside(attack, parts, scene):
    """None if it succeeds in plain python, else why it did not.  NotHere: because of the machine."""
    if "forged" in attack.words:
        return None  # it speaks to dtx, so only the run inside can show that it works
    if "root" in attack.words and os.geteuid() != 0:
        return None
    scene.expect_death = attack.word("canary") == "child"
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        child([program(attack, p, scene, True) for p in parts], write, scene.token)
    os.close(write)
    out, ended = read_all(read, time.monotonic() + 100)
    os.close(read)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if b"REACHED" not in out and (FILTERED or any(text in out for text in NOT_HERE)):
        raise NotHere("this machine denies it outside as well: %s" %
                      out[-100:].decode("utf-8", "replace").split("\n")[-1])
    if b"REACHED" not in out:
        return "did not succeed: %r" % out[-300:]
    canary = attack.word("canary")
    if canary and not scene.touched(canary):
        return "the canary was not touched"
    return None


def execute(dtx, attack, part, scene):
    code = program(attack, part, scene, False)
    path = os.path.join(scene.dir, "attempt.py")
    with open(path, "w") as f:
        f.write(code)
    argv = [dtx, "exec", path, "--json", "--jail-wall", "100", "--out", os.path.join(scene.dir, "out", "in")]
    env = dict(os.environ, DTX_CANARY=scene.token, DTX_STORE=os.path.join(scene.dir, "store.db"))
    done = subprocess.run(argv + attack.options, capture_output=True, env=env, close_fds=False,
                          cwd=scene.dir, timeout=300, stdin=subprocess.DEVNULL)
    try:
        return done, json.loads(done.stdout)
    except ValueError:
        return done, None


def judge(attack, report):
    wanted = attack.what.split("/")
    status = report["status"]
    if attack.kind == "status":
        if "none" in wanted:
            return None if status == "snippet_error" and not report["denied"] else \
                "status %s, %s" % (status, report["denied"])
        if "any" in wanted:
            return None if status != "ok" else "status ok"
        return None if status in wanted else "status %s: %s" % (status, report["reason"])
    names = [d["name"] for d in report["denied"] if d["verdict"] == attack.kind]
    if names and ("any" in wanted or set(names) & set(wanted)):
        return None
    if "any" in wanted and status in ("memory_limit", "denied_syscall"):
        return None
    return "not %s: %s %s" % (attack.kind, status, [(d["name"], d["verdict"]) for d in
                                                   report["denied"]])


def inside(dtx, attack, parts, scene, denied):
    """None if the jail contains and names it, else what went wrong.  Calls in DENIED are refused by
    the machine before the jail's filter sees them, so they need not be named."""
    scene.expect_death = False
    before = scene.listing()
    for i, part in enumerate(parts):
        done, value = execute(dtx, attack, part, scene)
        if value is None:
            return "no result: exit %d: %s" % (done.returncode, done.stderr[-300:])
        report = value["report"]
        if i + 1 < len(parts):
            if report["status"] != "ok":
                return "the first half failed: %s" % report["reason"]
            continue
        problem = None if denied else judge(attack, report)
        if problem:
            return problem + " " + json.dumps(report["exception"])[:300]
    text = (report["stdout"].get("text") or "") + (report["stderr"].get("text") or "")
    if re.search("^REACHED", text, re.M) and denied != "by the container":
        return "it got through: %s" % text[-300:]
    if scene.token in text or scene.token in done.stdout.decode("utf-8", "replace"):
        return "the secret came out"
    if scene.listing() != before:
        return "the folder was touched"
    left = [n for _, _, names in os.walk(os.path.join(scene.dir, "out")) for n in names]
    if attack.word("leaves") and left:
        return "files were left: %s" % left
    canary = attack.word("canary")
    if canary in ("tcp", "udp", "abstract", "child") and scene.touched(canary):
        return "the canary was touched"
    return None


def attempt_outside(attack):
    """Tries again: some need processor time before a deadline, which a busy machine may not give."""
    for turn in range(3):
        scene = Place(attack.word("canary") == "child")
        try:
            problem = outside(attack, attack.body.split("\n===\n"), scene)
        finally:
            scene.end()
        if not problem:
            break
    return problem


def attempt_inside(dtx, attack, denied):
    scene = Place(attack.word("canary") == "child")
    try:
        return inside(dtx, attack, attack.body.split("\n===\n"), scene, denied)
    except subprocess.TimeoutExpired:
        return "dtx did not end"
    finally:
        scene.end()


def needs_pandas(attack):
    return "pandas" in attack.body or "numpy" in attack.body


def main():
    dtx = os.path.abspath(sys.argv[1])
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    attacks = [a for path in sorted(glob.glob(os.path.join(HERE, "families", "*.txt")))
               for a in load(path)]
    share = re.fullmatch(r"(\d+)/(\d+)", only)
    if share:
        attacks = attacks[int(share[1]) - 1::int(share[2])]
    else:
        attacks = [a for a in attacks if only in a.name]
    Place.shared = Child("canary-" + secrets.token_hex(8))
    problems, skipped = {}, {}
    if not has_namespaces():
        skipped = {a.name: "user namespaces are denied here" for a in attacks
                   if "namespaces" in a.words}
        attacks = [a for a in attacks if a.name not in skipped]
        for name in skipped:
            print("ok - %s # SKIP %s" % (name, skipped[name]))
    # Forks, so it must come before any thread starts.  A process without pandas is forked in a
    # fraction of the time; the attempts that name pandas or numpy need one with it.
    for a in sorted(attacks, key=needs_pandas):
        if needs_pandas(a):
            import pandas  # noqa: F401
        try:
            problems[a.name] = attempt_outside(a)
        except NotHere as why:
            problems[a.name], skipped[a.name] = None, str(why)
    denied = dict.fromkeys(skipped, "outside")
    for a in attacks if FILTERED else ():
        if a.kind == "killed" and a.what != "any" and not a.word("canary") and \
                container_refuses(a.what.split("/")):
            denied[a.name] = "by the container"
            skipped.setdefault(a.name, "the filter of this container refuses the call first")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda a: attempt_inside(dtx, a, denied.get(a.name)), attacks))
    passed = failed = 0
    skips = len(skipped) - sum(name in problems for name in skipped)
    for a, problem in zip(attacks, results):
        wrong = ["outside: " + problems[a.name]] if problems[a.name] else []
        wrong += ["inside: " + problem] if problem else []
        for text in wrong:
            print("# " + text)
        skip = " # SKIP " + skipped[a.name] if a.name in skipped and not wrong else ""
        print("%s - %s -> %s %s%s" % ("not ok" if wrong else "ok", a.name, a.kind, a.what, skip))
        passed, failed = passed + (not wrong and not skip), failed + bool(wrong)
        skips += bool(skip)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skips))
    Place.shared.end()
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
