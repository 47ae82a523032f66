"""Runs plans on a Dask cluster on loopback, and compares them with one process: result, exit status and messages. Workers
are killed, another build is refused, a scheduler is lost, TLS is used.

Usage: dask.py DTX
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

DTX = str(pathlib.Path(sys.argv[1]).resolve())
PYTHON = "/usr/bin/python3"
ENV = dict(os.environ, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="3", PYTHONDONTWRITEBYTECODE="1")
counts = {"passed": 0, "failed": 0, "skipped": 0}
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell ignores it for what it starts in the background


def check(what, good, detail=""):
    counts["passed" if good else "failed"] += 1
    print("%s - %s%s" % ("ok" if good else "not ok", what, "" if good or detail == "" else ": %s" % (detail,)), flush=True)


def wait(what, seconds=20):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.05)
    return False


class Cluster:
    """A scheduler and workers of one thread each, on loopback."""

    def __init__(self, place, workers=2, tls=()):
        self.place, self.tls = place, list(tls)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.address = "%s://127.0.0.1:%d" % ("tls" if tls else "tcp", port)
        self.host = "127.0.0.1:%d" % port
        self.scheduler = self.start("scheduler", "--port", str(port), "--no-dashboard",
                                    *(["--protocol", "tls"] if tls else []))
        self.workers = []
        for _ in range(workers):
            self.add()

    def start(self, what, *args, view=()):
        log = open(self.place / (what + ".log"), "ab")
        return subprocess.Popen([*view, PYTHON, "-m", "distributed.cli.dask_" + what, "--host", "127.0.0.1", *args, *self.tls],
                                env=ENV, cwd=self.place, stdout=log, stderr=log, start_new_session=True)

    def add(self, view=()):
        self.workers.append(self.start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                                       *(["--protocol", "tls"] if self.tls else []), view=view))

    def ready(self):
        """Waits until the workers have registered."""
        want = len(self.workers)
        return wait(lambda: (self.place / "scheduler.log").read_text().count("Register worker") >= want, 40)

    def stop(self):
        for p in [*self.workers, self.scheduler]:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        (self.place / "scheduler.log").unlink(missing_ok=True)


def said(err):
    """Messages without the run's id, and without how many rows of one batch failed: a cut makes batches smaller."""
    return re.sub(r"; at least \d+ such cases in all", "", re.sub(r"\b[0-9a-f]{8}\b", "RUN", err))


class Place:
    def __init__(self):
        base = os.environ.get("T_TMP") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="dtx-dask-", dir=base))
        self.exchange = self.dir / "exchange"
        self.exchange.mkdir()
        self.env = dict(os.environ, DTX_STORE=str(self.dir / "store.db"), TMPDIR=str(self.dir))

    def command(self, *args):
        return [DTX, "run", "plan.json", "in.csv", "-o", "out.csv", *args]

    def run(self, *args, dtx=None):
        (self.dir / "out.csv").unlink(missing_ok=True)
        command = self.command(*args)
        p = subprocess.run([dtx or command[0], *command[1:]], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=120)
        return p.returncode, said(p.stderr), self.result()

    def result(self):
        path = self.dir / "out.csv"
        return path.read_bytes() if path.exists() else None

    def record(self):
        p = subprocess.run([DTX, "provenance", "--json", "--full"], cwd=self.dir, env=self.env, capture_output=True, text=True)
        return json.loads(p.stdout)["run"]["engine"]

    def left(self):
        return sorted(p.name for p in self.exchange.iterdir())


def write_input(path, rows):
    """Quoted ends of lines, so that borders are hard to guess, and a type that only the last rows widen."""
    r = random.Random(7)
    with open(path, "w", newline="") as f:
        f.write("id,city,note,amount\n")
        for i in range(rows):
            note = '"a,\n%d,b,c\n"' % i if r.random() < 0.3 else "plain"
            f.write("%d,%s,%s,%s\n" % (i, r.choice(["Oslo", "Bergen", "Tromsø"]), note, r.randrange(1000) / (1 if i < rows - 9 else 8)))


PLANS = {
    "rows": [{"op": "filter", "where": "amount > 500"}, {"op": "derive", "set": {"double": "amount * 2"}}],
    "groups": [{"op": "group_by", "by": ["city"], "agg": {"n": "count()", "sum": "sum(amount)", "last": "last(id)"}}],
    "order": [{"op": "derive", "set": {"l": "length(note)"}}, {"op": "sort", "by": ["city", "amount"]}, {"op": "limit", "rows": 700}],
    "wrong": [{"op": "derive", "set": {"d": "100 / (id - 2999)"}}, {"op": "cast", "columns": {"note": "integer"}}],
}


def plans(place, engine):
    for name, steps in PLANS.items():
        (place.dir / "plan.json").write_text(json.dumps({"dtx": 1, "steps": steps}))
        alone = place.run()
        there = place.run("--engine", engine, "--exchange", "exchange")
        check("%s: as in one process" % name, alone == there, (alone[:2], there[:2]))
        if alone[0] == 0:
            stages = place.record()["stages"]
            check("%s: in fragments" % name, stages and len(stages[-1]["fragments"]) > 4, stages)
    check("nothing is left in the exchange folder", place.left() == [], place.left())


def start_slow(place, cluster):
    """A run that takes some seconds, and the ids of the commands of its fragments once they run."""
    p = subprocess.Popen(place.command("--engine", "dask://%s?bytes=60000" % cluster.host, "--exchange", "exchange"), cwd=place.dir,
                         env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait(lambda: len(list(place.exchange.glob("*/*.json"))) > 4)
    return p


def fragments(cluster):
    """The commands that workers run now."""
    out = []
    for worker in cluster.workers:
        try:
            for task in pathlib.Path("/proc/%d/task" % worker.pid).iterdir():
                out += (task / "children").read_text().split()
        except OSError:
            pass
    return out


def lost_worker(place, cluster):
    (place.dir / "plan.json").write_text(json.dumps({"dtx": 1, "steps": PLANS["rows"]}))
    alone = place.run()
    (place.dir / "out.csv").unlink()
    p = start_slow(place, cluster)
    cluster.workers[0].kill()
    err = p.communicate(timeout=100)[1]
    check("a worker is killed: the same result", (p.returncode, said(err), place.result()) == alone, err)
    cluster.add()
    check("another worker comes", wait(lambda: (place.dir / "scheduler.log").read_text().count("Register worker") >= 3))


def hung(place, cluster):
    """A fragment that never ends is given up."""
    alone = place.run()
    p = subprocess.Popen(place.command("--engine", "dask://%s?bytes=60000&silence=3" % cluster.host, "--exchange", "exchange"),
                         cwd=place.dir, env=place.env, stderr=subprocess.PIPE, text=True)
    stopped = None
    until = time.monotonic() + 20
    while not stopped and time.monotonic() < until:
        for pid in fragments(cluster):
            try:
                if b"fragment" in pathlib.Path("/proc/%s/cmdline" % pid).read_bytes():
                    os.kill(int(pid), signal.SIGSTOP)
                    stopped = pid
                    break
            except OSError:
                pass
    err = p.communicate(timeout=100)[1]
    check("a fragment hangs: it is given up, the same result", stopped and (p.returncode, said(err), place.result()) == alone, err)
    check("the fragment that hung is ended", wait(lambda: not fragments(cluster)), fragments(cluster))


def resumed(place, what, engine):
    """Goes on with the run that has left its folder."""
    left = place.left()
    alone = place.run()
    there = place.run("--engine", engine, "--exchange", "exchange", "--resume", left[0][4:] if left else "")
    kept = [f["kept"] for s in place.record()["stages"] for f in s["fragments"]] if alone == there else []
    check("%s: --resume goes on, and gives the same" % what, len(left) == 1 and alone == there and any(kept) and place.left() == [],
          (left, alone[:2], there[:2], len(kept)))


def interrupted(place, cluster):
    (place.dir / "out.csv").write_text("as before")
    p = start_slow(place, cluster)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    check("Ctrl-C: exit status, and the previous output stays whole", p.returncode == 130
          and place.result() == b"as before", p.returncode)
    check("Ctrl-C: fragments end", wait(lambda: not fragments(cluster)), fragments(cluster))
    resumed(place, "Ctrl-C", "dask://%s?bytes=60000" % cluster.host)
    p = start_slow(place, cluster)
    p.kill()
    p.communicate()
    check("dtx is killed: fragments end", wait(lambda: not fragments(cluster)), fragments(cluster))
    for folder in place.exchange.iterdir():
        shutil.rmtree(folder)


def other_build(place):
    """A worker that sees another file in the place of dtx."""
    other = place.dir / "dtx"
    other.write_bytes(pathlib.Path(DTX).read_bytes() + b"other")
    view = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(other), DTX]
    if subprocess.run([*view, "true"], capture_output=True).returncode:
        counts["skipped"] += 1
        print("ok - a worker of another build # SKIP bwrap cannot make a view of files here")
        return
    cluster = Cluster(place.dir, 0)
    try:
        cluster.add(view)
        check("the worker of another build comes", cluster.ready())
        status, err, out = place.run("--engine", "dask://" + cluster.host, "--exchange", "exchange")
        check("a worker of another build: refused, with both named", status == 8 and "another build: SHA-256" in err
              and out is None, err)
    finally:
        cluster.stop()


def refused(place, cluster):
    address = "dask://" + cluster.host
    status, err, _ = place.run("--engine", address)
    check("no exchange folder: refused", status == 2 and "--exchange DIR" in err, err)
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    status, err, out = place.run("--engine", address, "--exchange", "exchange")
    check("no scheduler: refused, with the way out", status == 8 and "engine_unavailable" in err and "man dtx-cluster" in err
          and out is None, err)
    check("nothing is left after that", place.left() == [], place.left())


def lost_scheduler(place, cluster):
    p = start_slow(place, cluster)
    cluster.scheduler.kill()
    err = p.communicate(timeout=100)[1]
    check("the scheduler is killed: the run fails and says so", p.returncode == 8 and "engine_unavailable" in err, (p.returncode, err))
    resumed(place, "the scheduler is killed", "local://2?bytes=60000")


def tls(place):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost", "-keyout",
                    "node.key", "-out", "node.pem", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
                   cwd=place.dir, check=True, capture_output=True)
    files = {k: str(place.dir / v) for k, v in (("ca", "node.pem"), ("cert", "node.pem"), ("key", "node.key"))}
    cluster = Cluster(place.dir, 1, ["--tls-ca-file", files["ca"], "--tls-cert", files["cert"], "--tls-key", files["key"]])
    try:
        check("TLS: the workers come", cluster.ready())
        (place.dir / "plan.json").write_text(json.dumps({"dtx": 1, "steps": PLANS["rows"]}))
        alone = place.run()
        query = "&".join("%s=%s" % i for i in files.items())
        there = place.run("--engine", "dask+tls://%s?bytes=60000&%s" % (cluster.host, query), "--exchange", "exchange")
        check("TLS: as in one process", alone == there, there[:2])
        status, err, _ = place.run("--engine", "dask://" + cluster.host, "--exchange", "exchange")
        check("TLS: a client without it is refused", status == 8 and "engine_unavailable" in err, err)
    finally:
        cluster.stop()


def main():
    if subprocess.run([PYTHON, "-c", "import distributed"], capture_output=True).returncode:
        print("ok - dask # SKIP python3-distributed is not installed: make deps-cluster")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    place = Place()
    cluster = None
    try:
        write_input(place.dir / "in.csv", 20000)
        cluster = Cluster(place.dir)
        check("the workers come", cluster.ready())
        plans(place, "dask://%s?bytes=100000" % cluster.host)
        lost_worker(place, cluster)
        hung(place, cluster)
        interrupted(place, cluster)
        lost_scheduler(place, cluster)
        refused(place, cluster)
        cluster.stop()
        other_build(place)
        tls(place)
    finally:
        if cluster:
            cluster.stop()
        shutil.rmtree(place.dir, ignore_errors=True)
    print("%d passed, %d failed, %d skipped" % (counts["passed"], counts["failed"], counts["skipped"]))
    return counts["failed"] > 0


sys.exit(main())
