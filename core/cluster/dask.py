"""Runs fragments on a Dask cluster for `dtx run --engine dask://HOST:PORT`. dtx starts this program and speaks
JSON lines with it on stdin and stdout.

Arguments: the scheduler's address; the files ca, cert and key, or "" for each without TLS; after how many seconds without
an event fragments are given up.

probe    {"do": "probe", "dtx": PATH, "sha256": HASH, "exchange": FOLDER}
         -> {"event": "worker", "worker": ADDRESS, "host", "cores", "reason"} for each worker; reason says why it cannot
         take part, "" if it can; then {"event": "probed"}
submit   {"do": "submit", "id": N, "argv": [...]}
         -> {"event": "done", "id": N, "status": S, "text": WHAT IT PRINTED}, S < 0: ended by signal -S,
         or {"event": "lost", "id": N, "reason"}: its worker was lost, as often as Dask allows, or all are silent
cancel   {"do": "cancel"}: ends all fragments; no event follows for them
         An end of stdin does the same and then ends this program.

At any time: {"event": "failed", "reason"}, after which this program ends.

Tasks do not depend on each other, as those that do can wait for ever after a worker was lost (distributed 2022.12.1).
They are not retried here: dtx knows which failures may pass, and waits before it submits again."""
import itertools
import json
import os
import sys
import threading
import time

LOST_S = 20  # without a connection to the scheduler
ANSWER_S = 20  # for workers to answer at the start
END_S = 3  # for workers to end fragments
AGAIN = (30, 40)  # exit statuses of a fragment that another worker may do better
said = threading.Lock()


def say(**event):
    with said:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()


def fail(reason):
    say(event="failed", reason=" ".join(str(reason).split())[:400])
    os._exit(1)


# --- what runs on a worker; Dask sends these functions there by value, so they import what they use ---

def run_fragment(key, argv):
    """Runs one command. Returns its status, what it printed, the worker's address and the seconds it took."""
    import subprocess
    import time
    from distributed import get_worker
    worker, start = get_worker(), time.monotonic()
    p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    running = worker.__dict__.setdefault("dtx_running", {})
    running[key] = p
    try:
        text = p.communicate()[0]
    finally:
        running.pop(key, None)
    return p.returncode, text.decode("utf-8", "replace"), worker.address, time.monotonic() - start


def end_fragments(keys, dask_worker):
    """Ends the commands of cancelled tasks: Dask itself does not."""
    for key, p in list(dask_worker.__dict__.get("dtx_running", {}).items()):
        if key in keys:
            p.kill()


def look(dtx, sha256, exchange, dask_worker):
    """What dtx must know before it sends work to a worker."""
    import hashlib
    import os
    import socket
    reason = ""
    try:
        with open(dtx, "rb") as f:
            found = hashlib.sha256(f.read()).hexdigest()
        if found != sha256:
            reason = "its '%s' is another build: SHA-256 %s instead of %s" % (dtx, found[:16], sha256[:16])
        elif not os.access(exchange, os.R_OK | os.W_OK | os.X_OK):
            reason = "it cannot write to the exchange folder '%s'" % exchange
    except OSError as e:
        reason = "'%s': %s" % (dtx, e.strerror)
    return {"host": socket.gethostname(), "cores": dask_worker.nthreads, "reason": reason}


# --- what runs here ---

class Cluster:
    def __init__(self, address, ca, cert, key, silence):
        from distributed import Client
        from distributed.security import Security
        security = None
        if ca:
            security = Security(tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key, require_encryption=True)
        self.client = Client(address, security=security, timeout=10, set_as_default=False)
        self.able = set()  # addresses of workers that may take part
        self.avoid = {}  # id of a fragment -> workers where it failed
        self.futures = {}  # key of a task -> its future
        self.count = itertools.count()
        self.silence = float(silence)
        self.slowest = 0.0  # seconds of a fragment
        self.heard = time.monotonic()  # the last event
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """Dask says nothing when its scheduler is lost, or when a task can never run."""
        since = time.monotonic()
        while time.monotonic() < since + LOST_S:
            if self.client.status == "running":
                since = time.monotonic()
            elif self.client.status == "closed":
                break
            if self.futures and time.monotonic() > self.heard + max(self.silence, 3 * self.slowest):
                for id in self.cancel():
                    say(event="lost", id=id, reason="no part ended for %d s" % (time.monotonic() - self.heard))
                self.heard = time.monotonic()
            time.sleep(1)
        fail("the connection to the scheduler was lost")

    def on_workers(self, seconds, function, *args):
        """What a function gives on each worker; None where one of them does not answer in time."""
        got = []
        t = threading.Thread(target=lambda: got.append(self.client.run(function, *args, on_error="return")), daemon=True)
        t.start()
        t.join(seconds)
        return got[0] if got else None

    def probe(self, r):
        found = self.on_workers(ANSWER_S, look, r["dtx"], r["sha256"], r["exchange"])
        if found is None:
            fail("its workers did not answer for %d s" % ANSWER_S)
        for worker, facts in found.items():
            if not isinstance(facts, dict):
                facts = {"host": "", "cores": 0, "reason": str(facts)}
            if not facts["reason"]:
                self.able.add(worker)
            say(event="worker", worker=worker, **facts)
        say(event="probed")

    def submit(self, r):
        present = self.client.scheduler_info()["workers"]
        able = [w for w in present if w in self.able]
        # elsewhere than where it has failed, if that can be
        workers = [w for w in able if w not in self.avoid.get(r["id"], ())] or able
        if not workers:
            say(event="lost", id=r["id"], reason="all workers were lost")
            return
        if len(workers) == len(present):
            workers = None  # no restriction, so that a worker that comes can take it
        key = "dtx-%d-%d-%d" % (os.getpid(), r["id"], next(self.count))
        self.heard = time.monotonic()
        future = self.client.submit(run_fragment, key, r["argv"], key=key, pure=False, workers=workers, retries=0)
        self.futures[key] = r["id"], future
        future.add_done_callback(lambda f: self.ended(key, r["id"], f))

    def ended(self, key, id, future):
        if self.futures.pop(key, None) is None or future.cancelled():
            return
        self.heard = time.monotonic()
        if future.status == "finished":
            status, text, worker, seconds = future.result()
            self.slowest = max(self.slowest, seconds)
            if status < 0 or status in AGAIN:
                self.avoid.setdefault(id, set()).add(worker)
            say(event="done", id=id, status=status, text=text)
        else:
            e = future.exception()
            say(event="lost", id=id, reason="%s: %s" % (type(e).__name__, e))

    def cancel(self):
        """Ends all fragments. Returns their ids."""
        tasks, self.futures = self.futures, {}
        if tasks:
            self.client.cancel([future for _, future in tasks.values()], force=True)
            self.on_workers(END_S, end_fragments, list(tasks))
        return [id for id, _ in tasks.values()]


def main():
    try:
        cluster = Cluster(*sys.argv[1:6])
    except ImportError as e:
        fail("no distributed for /usr/bin/python3: %s" % e)
    except Exception as e:
        fail("%s: %s" % (type(e).__name__, e))
    try:
        for line in sys.stdin:
            r = json.loads(line)
            if r["do"] == "probe":
                cluster.probe(r)
            elif r["do"] == "submit":
                cluster.submit(r)
            else:
                cluster.cancel()
        cluster.cancel()
    except Exception as e:
        fail("%s: %s" % (type(e).__name__, e))
    os._exit(0)


main()
