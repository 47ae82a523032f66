"""Runs the jail many times from many clients, to find leaks.

After a tenth of the runs and at the end it counts descriptors and memory of each client and of the
pool, processes, and files in the pool's folder and in /tmp.  Not part of `make check`.

Usage: soak.py DTX [RUNS [CLIENTS]]
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

DTX = os.path.abspath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
CLIENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 8
PART = 2500  # at most so many runs in one client process


def memory_kb(pid):
    with open("/proc/%d/smaps_rollup" % pid) as f:
        for line in f:
            if line.startswith("Private_Dirty:"):
                return int(line.split()[1])
    return 0


def facts(pid):
    return len(os.listdir("/proc/%d/fd" % pid)), memory_kb(pid)


def zygotes(folder):
    out = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            argv = open(path, "rb").read().split(b"\0")
            pid = int(path.split("/")[2])
            if argv[0] == b"dtx-zygote" and len(argv) > 4:
                out.append((pid, argv[3].decode()))
        except OSError:
            pass
    keys = {os.path.basename(p)[5:21] for p in glob.glob(folder + "/dtx/pool-*.sock*")}
    return [pid for pid, key in out if key in keys]


def state(folder):
    status = json.loads(subprocess.check_output([DTX, "doctor", "--jail", "--json", "--runs", "1"]))
    time.sleep(0.5)
    pids = zygotes(folder)
    zombies = 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(path).read()
            zombies += "(dtx" in text and text.rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            pass
    return {"workers": status["pool"].get("workers"), "processes": len(pids),
            "fds": max((facts(p)[0] for p in pids), default=0), "zombies": zombies,
            "files": len(glob.glob(folder + "/dtx/*")), "tmp": len(glob.glob("/tmp/dtx*"))}


def client(n):
    """One process that does n runs; yields (descriptors, KiB) after a tenth and near its end."""
    p = subprocess.Popen([DTX, "doctor", "--jail", "--json", "--no-pause", "--runs", str(n)],
                         stdout=subprocess.PIPE)
    return p


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        os.environ.update(XDG_RUNTIME_DIR=folder, DTX_POOL_IDLE="60")
        before = state(folder)
        done, began = 0, time.time()
        while done < RUNS:
            part = min(PART, (RUNS - done + CLIENTS - 1) // CLIENTS)
            clients = [client(part) for _ in range(CLIENTS)]
            samples = {p.pid: [] for p in clients}
            while any(p.poll() is None for p in clients):
                time.sleep(1)
                for p in clients:
                    try:
                        samples[p.pid].append(facts(p.pid))
                    except OSError:
                        pass
            for p in clients:
                got = json.loads(p.stdout.read())
                if "error" in got.get("latency", {"error": "none"}):
                    problems.append("a run failed: %s" % got.get("latency"))
                s = samples[p.pid]
                if len(s) > 10:
                    first, last = s[len(s) // 10], s[-2]
                    if last[0] > max(x[0] for x in s[: len(s) // 5 + 1]) + 2:
                        problems.append("descriptors of a client: %s -> %s" % (first, last))
                    if last[1] > first[1] * 1.01 + 256:
                        problems.append("memory of a client, KiB: %s -> %s" % (first, last))
            done += part * CLIENTS
            print("%d runs, %.0f a second" % (done, done / (time.time() - began)), flush=True)
        after = state(folder)
        for key in ("zombies", "files", "tmp"):
            if after[key] > before[key] + 1:
                problems.append("%s: %s -> %s" % (key, before[key], after[key]))
        if after["fds"] > before["fds"] + 16:
            problems.append("descriptors of the pool: %s -> %s" % (before["fds"], after["fds"]))
        print("before %s\nafter  %s" % (before, after))
    for p in problems:
        print("# " + p)
    print("%d passed, %d failed, 0 skipped" % (not problems, len(problems)))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
