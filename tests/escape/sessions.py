"""Attacks on what a session of `dtx exec --session` adds: state for the next call, other users, the
keeper's socket, limits, memory, clock and entropy.

Where that is sensible an attack is shown to work without the protection first.  Everything is in a
folder of this script.  Usage: sessions.py DTX
"""
import array
import json
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
DTX = os.path.abspath(sys.argv[1])
ASK, TURN, KEEP, BACK, INFO, STOPPED, BUSY = 48, 49, 50, 51, 52, 53, 5
ASK_INFO, ASK_TURN, ASK_NOW, ASK_STOP = range(4)
HEADER = struct.Struct("<IHHII")
MAGIC = 0x4a585444
passed = failed = skipped = 0


def check(name, ok, more=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print("%s - %s%s" % ("ok" if ok else "not ok", name, "" if ok or more == "" else ": %s" % (more,)),
          flush=True)


def skip(name, why):
    global skipped
    skipped += 1
    print("ok - %s # SKIP %s" % (name, why), flush=True)


def dtx(*words, env=None, **more):
    return subprocess.run([DTX, *words], capture_output=True, text=True, env=env, **more)


def call(name, code, *words, env=None):
    r = dtx("exec", "--json", "--session", name, *words, "-c", code, env=env)
    got = json.loads(r.stdout) if r.stdout else {"report": {}, "error": r.stderr, "session": {}}
    got["status"] = got["report"].get("status")
    got["out"] = (got["report"].get("stdout") or {}).get("text", "").strip()
    got["ended"] = got.get("session", {}).get("ended")
    return got


def listed():
    return {s["name"]: s for s in json.loads(dtx("session", "list", "--json").stdout)}


def gone(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def wait(what, seconds=20):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def keeper_of(name):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open("/proc/%s/cmdline" % pid).read().split("\0")
            mine = os.path.realpath("/proc/%s/fd/4" % pid) == os.path.realpath(FOLDER + "/dtx")
        except OSError:
            continue
        if mine and words[:2] == ["dtx-session", name] and not gone(int(pid)):
            return int(pid)


def socket_of(name):
    return os.path.join(FOLDER, "dtx", "session-%s.sock" % name)


class Raw:
    """A client that speaks the protocol itself."""

    def __init__(self, name):
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.s.settimeout(10)
        self.s.connect(socket_of(name))
        self.serial = 0

    def send(self, kind, payload=b"", fds=()):
        self.serial += 1
        packet = HEADER.pack(MAGIC, 1, kind, len(payload), self.serial) + payload
        self.s.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
                       if fds else [])

    def ask(self, what):
        self.send(ASK, struct.pack("<I", what))
        return self.read()

    def read(self):
        """(type, payload, descriptors), or None at the end."""
        try:
            data, more, _, _ = self.s.recvmsg(8192, socket.CMSG_SPACE(64))
        except OSError:
            return None
        fds = array.array("i")
        for _, _, raw in more:
            fds.frombytes(raw[:len(raw) - len(raw) % 4])
        return (HEADER.unpack(data[:16])[2], data[16:], list(fds)) if data else None

    def ended(self):
        return self.read() is None

    def close(self):
        self.s.close()


def worker_of(name):
    """The worker of a session by its pid, from the state that its keeper hands out."""
    def ask():
        try:
            raw = Raw(name)
        except OSError:
            return None
        got = raw.ask(ASK_INFO)
        raw.close()
        return got
    got = wait(ask)
    if not got:
        raise SystemExit("session %s does not answer; there are: %s" % (name, listed()))
    return struct.unpack_from("<i", got[1], WORKER_AT)[0]


# struct dtx_wire_session: calls, busy, 4 times, name 56, id 40, last 40, first 40, store 1024, keeper
WORKER_AT = 8 + 32 + 56 + 40 * 3 + 1024 + 4


def cpu(pid):
    words = open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def state(pid):
    return open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[0]


# --- state ---

def test_state():
    plant = ("import builtins, sys, pandas as pd\nbuiltins.canary = 1\nsys.modules['canary'] = sys\n"
             "pd.DataFrame.canary = 1\nopen('/out/canary', 'w').write('x')\n"
             "open('/tmp/canary', 'w').write('x')\nx = 'canary'")
    look = ("import builtins, sys, os, pandas as pd\nprint([hasattr(builtins, 'canary'), 'canary' in "
            "sys.modules, hasattr(pd.DataFrame, 'canary'), os.path.exists('/out/canary'), "
            "os.path.exists('/tmp/canary'), 'x' in globals()])")
    check("state: planted", call("a", plant)["status"] == "ok")
    check("state: the next call of the session has it", call("a", look)["out"] == str([True] * 6))
    check("state: another session has none of it", call("b", look)["out"] == str([False] * 6))
    r = dtx("exec", "-c", look)
    check("state: a single program has none of it", r.stdout.strip() == str([False] * 6), r.stderr)
    check("state: an exception leaves it", call("a", "1/0")["ended"] is None
          and call("a", "print(x)")["out"] == "canary")
    a, b = worker_of("a"), worker_of("b")
    check("state: the workers are two processes, both stopped", a != b and state(a) == state(b) == "T")
    hook = ("import sys\nclass S:\n    def write(self, t): raise ValueError(t)\n    def flush(self): "
            "raise ValueError(1)\nsys.stdout = S()")
    call("b", hook)
    got = call("b", "print(5)")
    check("state: planted streams fail the next call and nothing else",
          got["status"] == "snippet_error" and got["ended"] is None, got)
    stop("b")


def stop(name):
    return dtx("session", "stop", name)


# --- code between two calls ---

FORGE = r"""
import os, struct, sys
f = sys._getframe()
while not hasattr(f.f_locals.get("self"), "out") or not hasattr(f.f_locals.get("self"), "view"):
    f = f.f_back
job = f.f_locals["self"]
used = sys.modules["layout"].write(job.out, b"{}", None)
os.write(3, struct.pack("<IHHIIIIQ", 0x4a585444, 1, 20, 16, %d, 0, 0, used))
while True:
    pass
"""


def test_between():
    call("c", "x = 1")
    got = call("c", FORGE % 4)
    check("between: a forged end of the call is taken for one", got["status"] == "ok", got)
    pid = worker_of("c")
    before = cpu(pid)
    time.sleep(0.3)
    check("between: the worker does not run", state(pid) == "T" and cpu(pid) == before)
    os.kill(pid, signal.SIGCONT)
    check("between: without the stop it would", wait(lambda: cpu(pid) > before + 5))
    os.kill(pid, signal.SIGSTOP)
    wait(lambda: state(pid) == "T")
    got = call("c", "print(x)", "--jail-wall", "1")
    check("between: the next call ends at its limit, and the session with it",
          got["status"] == "timeout" and got["ended"], got)
    check("between: the worker is dead", wait(lambda: gone(pid)))
    call("c", "x = 1")
    pid = worker_of("c")
    os.kill(pid, signal.SIGCONT)
    got = call("c", "print(x)")
    check("between: a worker that was woken takes no call",
          got["status"] == "setup_refused" and got["ended"], got)
    check("between: and ends", wait(lambda: gone(pid)))


# --- other users ---

def as_other(code):
    """Runs Python as another user, with this folder as its only argument."""
    r = subprocess.run(["/usr/bin/python3", "-c",
                        "import os, sys\nos.setgroups([])\nos.setresgid(65534, 65534, 65534)\n"
                        "os.setresuid(65534, 65534, 65534)\n" + code, socket_of("a")],
                       capture_output=True, text=True)
    return r.stdout.strip() + r.stderr.strip()[-200:]


CONNECT = """
import socket, struct
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(5)
try:
    s.connect(sys.argv[1])
    s.send(struct.pack("<IHHIII", 0x4a585444, 1, 48, 4, 1, 0))
    got = s.recv(8192)
    print("answer" if got else "closed")
except OSError as e:
    print(type(e).__name__)
"""


def test_users():
    if os.getuid() != 0:
        return skip("users", "only root can be another user")
    call("a", "secret = 'canary'")
    check("users: the folder keeps others out", as_other(CONNECT) == "PermissionError")
    pool = os.path.join(FOLDER, "dtx")
    parents = [FOLDER, pool]
    for path in parents:
        os.chmod(path, 0o755)
    os.chmod(socket_of("a"), 0o777)
    got = as_other(CONNECT)
    check("users: with open modes the keeper looks at its peer",
          got in ("closed", "ConnectionResetError", "BrokenPipeError"), got)
    raw = Raw("a")
    check("users: the owner is answered there", raw.ask(ASK_INFO)[0] == INFO)
    raw.close()
    refused = dtx("session", "show", "a")
    check("users: a client refuses a folder that others can enter", refused.returncode == 2,
          refused.stdout)
    for path in reversed(parents):
        os.chmod(path, 0o700)
    os.chmod(socket_of("a"), 0o600)
    check("users: the session is whole", call("a", "print(secret)")["out"] == "canary")
    # a listener of another user in the place of a keeper
    fake = socket_of("fake")
    helper = subprocess.Popen(
        ["/usr/bin/python3", "-c", "import os, socket, sys\ns = socket.socket(socket.AF_UNIX, "
         "socket.SOCK_SEQPACKET)\ns.bind(sys.argv[1])\nos.setresuid(65534, 65534, 65534)\ns.listen(5)\n"
         "print('up', flush=True)\ns.settimeout(20)\nc = s.accept()[0]\nc.settimeout(5)\n"
         "print(len(c.recv(8192)))", fake], stdout=subprocess.PIPE, text=True)
    helper.stdout.readline()
    got = call("fake", "print(1)")
    helper.terminate()
    said = helper.stdout.read().strip()
    check("users: a listener of another user gets no byte", said in ("", "0"), said)
    check("users: and is replaced", got["out"] == "1", got)
    stop("fake")


# --- the keeper's socket ---

def test_parser():
    stop("a")
    call("a", "x = 7")
    call("a", "x")  # it gets its turn when the keeper has done all that the first call left
    keeper = keeper_of("a")
    fds = lambda: len(os.listdir("/proc/%d/fd" % keeper))  # noqa: E731
    before = fds()
    packet = lambda kind, n, serial, body: HEADER.pack(MAGIC, 1, kind, n, serial) + body  # noqa: E731
    bad = {"nothing but zeros": b"\0" * 100, "one byte": b"x", "half a header": packet(ASK, 4, 1, b"")[:9],
           "a payload that is missing": packet(ASK, 4, 1, b""), "a payload of another length":
           packet(ASK, 4000, 1, b"x" * 4000), "a huge packet": b"D" * 60000, "another serial":
           packet(ASK, 4, 9, b"\0" * 4), "an unknown type": packet(999, 0, 1, b""),
           "an unknown question": packet(ASK, 4, 1, struct.pack("<I", 77)),
           "KEEP without the turn": packet(KEEP, 8, 1, b"\0" * 8),
           "BACK without the turn": packet(BACK, 0, 1, b""),
           "a message of the jail": packet(19, 56, 1, b"\0" * 56)}
    for what, data in bad.items():
        raw = Raw("a")
        raw.s.send(data)
        ended = raw.ended()
        raw.close()
        check("socket: %s closes the connection" % what, ended)
    raw = Raw("a")
    raw.send(ASK, struct.pack("<I", ASK_INFO), [0] * 64)
    check("socket: descriptors with a question close it", raw.ended())
    raw.close()
    idle = [Raw("a") for _ in range(20)]
    for one in idle[:10]:
        one.s.send(packet(ASK, 4, 1, b"")[:5])
    check("socket: 20 silent and broken clients do not stop a call", call("a", "print(x)")["out"] == "7")
    for one in idle:
        one.close()
    check("socket: no descriptor is left", wait(lambda: fds() <= before), (fds(), before))
    check("socket: the session is whole after all of it", call("a", "print(x)")["out"] == "7")

    # with the turn, the same ends the session
    for what, act in (
            ("disappears", lambda r: r.close()),
            ("sends garbage", lambda r: r.s.send(b"x" * 50)),
            ("asks again", lambda r: r.send(ASK, struct.pack("<I", ASK_TURN))),
            ("keeps with other descriptors", lambda r: r.send(KEEP, r.state, [0] * 7)),
            ("counts no call", lambda r: r.send(KEEP, r.state)),
            ("wakes the worker", lambda r: (os.kill(r.worker, signal.SIGCONT), r.send(BACK)))):
        call("t", "y = 1")
        keeper, raw = keeper_of("t"), Raw("t")
        kind, raw.state, got = raw.ask(ASK_TURN)
        raw.worker = struct.unpack_from("<i", raw.state, WORKER_AT)[0]
        check("turn: it comes with the worker's descriptors", kind == TURN and len(got) in (7, 8))
        act(raw)
        check("turn: a client that %s ends the session" % what,
              wait(lambda: gone(keeper) and gone(raw.worker) and not os.path.exists(socket_of("t"))))
        for fd in got:
            os.close(fd)
        raw.close()
    call("t", "y = 1")
    raw = Raw("t")
    got = raw.ask(ASK_TURN)
    for fd in got[2]:
        os.close(fd)
    second = dtx("exec", "--session", "t", "--no-wait", "-c", "1")
    check("turn: --no-wait is refused while another has it", second.returncode == 8
          and "busy" in second.stderr, second.stderr)
    waiting = subprocess.Popen([DTX, "exec", "--session", "t", "-c", "print(y)"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.2)
    raw.send(BACK)
    out, err = waiting.communicate(timeout=60)
    check("turn: a second call waits and runs", out == "1\n", err)
    raw.close()
    raw = Raw("t")
    for fd in raw.ask(ASK_TURN)[2]:
        os.close(fd)
    waiting = subprocess.Popen([DTX, "exec", "--session", "t", "-c", "print(y)"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait(lambda: listed()["t"]["busy"])
    time.sleep(0.2)
    raw.close()
    out, err = waiting.communicate(timeout=60)
    check("turn: one that waited for a session that ended gets an error, and starts no new one",
          out == "" and "ended while this call waited" in err, (out, err))


# --- limits ---

def test_limits():
    env = dict(os.environ, DTX_SESSION_IDLE="1")
    call("i", "x = 1", env=env)
    pid = worker_of("i")
    check("limits: idle time ends a session", wait(lambda: gone(pid)) and "i" not in listed()
          and not os.path.exists(socket_of("i")))
    call("i", "x = 1", env=dict(os.environ, DTX_SESSION_AGE="1"))
    pid = worker_of("i")
    check("limits: its age does", wait(lambda: gone(pid)) and not os.path.exists(socket_of("i")))
    call("i", "x = 1", env=env)
    pid, keeper = worker_of("i"), keeper_of("i")
    os.kill(keeper, signal.SIGSTOP)
    check("limits: with a keeper that hangs the zygote ends the worker", wait(lambda: gone(pid)))
    os.kill(keeper, signal.SIGCONT)
    check("limits: and then the keeper ends", wait(lambda: gone(keeper)))
    call("i", "x = 1")
    pid, keeper = worker_of("i"), keeper_of("i")
    os.kill(keeper, signal.SIGKILL)
    check("limits: a killed keeper takes its worker with it", wait(lambda: gone(pid)))
    check("limits: and its name is free", call("i", "print(2)")["out"] == "2" and stop("i").returncode == 0)

    for what, sig in (("killed", signal.SIGKILL), ("stopped", signal.SIGSTOP)):
        call("i", "x = 1")
        pid, keeper = worker_of("i"), keeper_of("i")
        client = subprocess.Popen([DTX, "exec", "--session", "i", "--jail-wall", "1", "-c",
                                   "import time; time.sleep(60)"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        wait(lambda: state(pid) != "T")
        client.send_signal(sig)
        check("limits: a client that is %s in a call ends the session" % what,
              wait(lambda: gone(pid) and gone(keeper)))
        client.kill()
        client.communicate()
    for what, code, words, want in (
            ("wall time", "import time\ntime.sleep(60)", ("--jail-wall", "1"), "timeout"),
            ("CPU time", "while True: pass", ("--jail-cpu", "1"), "cpu_limit"),
            ("printing", "s = 'x' * (1 << 20)\nfor i in range(70): print(s)", (), "output_limit"),
            ("a denied call", "import ctypes\nctypes.CDLL(None).syscall(101, 0, 0, 0, 0)", (),
             "denied_syscall"),
            ("its own end", "import os\nos._exit(3)", (), "ended")):
        call("i", "x = 1")
        pid = worker_of("i")
        got = call("i", code, *words)
        check("limits: %s past its limit ends the session and says so" % what,
              got["status"] == want and got["ended"] == want and wait(lambda: gone(pid))
              and wait(lambda: "i" not in listed()), got["status"])
    # CPU time of a call is its own: earlier calls do not count. The kernel counts ticks, on a busy
    # machine a quarter too many, so a call takes far less than its limit.
    spin = "import time\nt = time.process_time()\nwhile time.process_time() < t + 0.7: pass"
    r = [call("i", spin, "--jail-cpu", "2")["status"] for _ in range(5)]
    check("limits: CPU time is counted for each call", r == ["ok"] * 5, r)
    cpu = call("i", "for i in range(10000000): pass")["report"]["cpu_us"]
    check("limits: user and system time are those of the call", cpu["user"] > cpu["sys"], cpu)
    r = dtx("exec", "--session", "i", "--jail-memory", "512M", "-c", "1")
    check("limits: memory cannot be raised by a later call", r.returncode == 2, r.stderr)
    env = dict(os.environ, DTX_SESSION_MAX=str(len(listed())))
    r = dtx("exec", "--session", "more", "-c", "1", env=env)
    check("limits: the number of sessions", r.returncode == 2 and "session_max" in r.stderr, r.stderr)
    stop("i")


# --- memory ---

def test_memory():
    small = ("--jail-memory", "64M")
    one = "a = bytearray(%d << 20)\nfor i in range(0, len(a), 4096): a[i] = 1"
    check("memory: 40 MiB fit", call("m", one % 40, *small)["status"] == "ok")
    got = call("m", (one % 40).replace("a", "b").replace("rbnge", "range").replace("bytebrrby", "bytearray"))
    check("memory: what a call keeps counts in the next", got["status"] == "memory_limit" and got["ended"],
          got)
    call("m", "open('big', 'wb').write(b'x' * (8 << 20))")
    keeper, pid = keeper_of("m"), worker_of("m")
    held = [os.stat("/proc/%d/fd/%s" % (keeper, fd)).st_blocks
            for fd in os.listdir("/proc/%d/fd" % keeper)
            if "dtx-out" in os.readlink("/proc/%d/fd/%s" % (keeper, fd))]
    check("memory: a result is not kept after its call", held == [0], held)
    check("memory: a worker has six descriptors",
          sorted(map(int, os.listdir("/proc/%d/fd" % pid))) == [0, 1, 2, 3, 4, 5])
    for i in range(20):
        call("m", "x = %d" % i)
    size = [os.stat("/proc/%d/fd/%s" % (keeper, fd)).st_size
            for fd in os.listdir("/proc/%d/fd" % keeper)
            if "dtx-in" in os.readlink("/proc/%d/fd/%s" % (keeper, fd))]
    check("memory: programs without tables do not pile up", size and size[0] <= 65536, size)
    stop("m")
    check("memory: the end of a session frees it at once", wait(lambda: gone(pid), 2))


# --- clock and entropy ---

def test_clock():
    code = "import time, random, os\nprint(time.time(), random.random(), os.urandom(4).hex())"
    one, two = call("k", code)["out"].split(), call("k", code)["out"].split()
    check("clock: it stands still over all calls", one[0] == two[0])
    check("entropy: random numbers go on", one[1] != two[1] and one[2] != two[2])
    stop("k")
    # a call seldom has the time of another session, but always its own seed
    other = call("k", code)["out"].split()
    check("entropy: a session with the same first call has the same numbers", other[1:] == one[1:])
    last = call("k", "print(random.random())")
    r = dtx("replay", last["run_id"])
    check("entropy: a replay has the same numbers and the same clock", r.returncode == 0, r.stdout)
    stop("k")


def main():
    global FOLDER
    with tempfile.TemporaryDirectory(prefix="dtx-sessions-") as FOLDER:
        os.chmod(FOLDER, 0o700)
        os.environ.update(XDG_RUNTIME_DIR=FOLDER, DTX_STORE=FOLDER + "/store.db", TMPDIR=FOLDER,
                          DTX_POOL_IDLE="10", DTX_SESSION_MAX="32")
        for name in ("DTX_NO_WARM", "DTX_JAIL", "DTX_SESSION_IDLE", "DTX_SESSION_AGE"):
            os.environ.pop(name, None)
        try:
            for test in (test_state, test_between, test_users, test_parser, test_limits, test_memory,
                         test_clock):
                if test is test_parser:
                    visible = keeper_of("a")
                if test in (test_parser, test_limits, test_memory) and not visible:
                    skip(test.__name__, "this user may not look into /proc/PID/fd of a keeper")
                else:
                    test()
        finally:
            for name in list(listed()):
                stop(name)
        left = [n for n in os.listdir(FOLDER + "/dtx") if n.startswith("session-")]
        check("nothing is left: sockets, keepers", not left and wait(lambda: not keeper_of("a")), left)
        check("nothing is left in TMPDIR", not [n for n in os.listdir(FOLDER) if n.startswith("dtx-")])
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed > 0


sys.exit(main())
