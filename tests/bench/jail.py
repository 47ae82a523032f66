"""Times of the jail: warm runs, a whole `dtx run` with a cached snippet, cold against `import
pandas`, runs a second, and how late a kill is.  Medians of one run; the machine is named.

Usage: jail.py DTX [RUNS]
"""
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

DTX = os.path.abspath(sys.argv[1])
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 200
PLAN = {"dtx": 1, "steps": [{"op": "do_the_impossible"}]}
SNIPPET = """def transform(tables, params):
    return tables["main"].groupby("k", as_index=False)["n"].sum()
"""


def timed(argv, **words):
    t = time.perf_counter()
    subprocess.run(argv, check=True, capture_output=True, **words)
    return (time.perf_counter() - t) * 1000


def show(what, value, bar):
    print("%-44s %10s   %s" % (what, value, bar), flush=True)


def percentiles(values):
    values = sorted(values)
    return ["%.2f" % values[min(len(values) - 1, int(len(values) * p))] for p in (.5, .95, .99)]


def warm(folder):
    # the pool warms up further while nobody is here
    subprocess.check_output([DTX, "doctor", "--jail", "--json", "--runs", "5"])
    time.sleep(3)
    # a run each 20 ms, as a service or a person asks; then one after the other without a pause
    for what, words, bar in (("20 ms apart", [], "3 6 10"), ("back to back", ["--no-pause"], "")):
        got = subprocess.check_output([DTX, "doctor", "--jail", "--json", "--runs", str(RUNS)] + words)
        one = json.loads(got)["latency"]
        show("warm group-by %s, p50 p95 p99, ms" % what, " ".join(
            "%.2f" % (one[k] / 1000) for k in ("p50_us", "p95_us", "p99_us")), bar)
        show("  of %d runs had a ready worker" % one["runs"], one["warm"], "")
    # spaced as single commands are: the pool has time to make the next worker
    spaced = []
    for _ in range(min(RUNS, 100)):
        r = json.loads(subprocess.run([DTX, "exec", "--json", "-c", "1"], capture_output=True).stdout)
        spaced.append(r["report"]["timings_us"]["wall"] / 1000)
        time.sleep(0.03)
    show("a program alone, wall of the jail, ms", " ".join(percentiles(spaced)), "")


def sessions(folder):
    call = lambda name, code: timed([DTX, "exec", "--session", name, "-c", code])  # noqa: E731
    call("first", "1")  # its pool warms up
    time.sleep(3)
    first, later = [], []
    for i in range(min(RUNS, 50)):
        first.append(call("s%d" % i, "x = 1"))
        for _ in range(3):
            time.sleep(0.02)
            later.append(call("s%d" % i, "x + 1"))
        subprocess.run([DTX, "session", "stop", "s%d" % i], check=True)
        time.sleep(0.05)
    subprocess.run([DTX, "session", "stop", "first"], check=True)
    show("first call of a session, whole process, ms", " ".join(percentiles(first)), "12")
    show("later calls, whole process, ms", " ".join(percentiles(later)), "6")


def cached(folder):
    with open("in.csv", "w") as f:
        f.write("k,n\n" + "".join("%s,%d\n" % ("abc"[i % 3], i) for i in range(1000)))
    json.dump(PLAN, open("plan.json", "w"))
    open("s.py", "w").write(SNIPPET)
    run = [DTX, "run", "plan.json", "in.csv", "-o", "out.csv"]
    timed(run + ["--snippet", "s.py"])
    for how, pause in (("20 ms apart", 0.02), ("back to back", 0)):
        times = []
        for _ in range(min(RUNS, 100)):
            time.sleep(pause)
            times.append(timed(run))
        show("dtx run, cached snippet, %s, ms" % how, " ".join(percentiles(times)), "" if not pause else "12")
    # in pairs: what else the machine does is in both
    pairs = [(timed(run + ["--no-warm"]),
              timed(["/usr/bin/python3", "-I", "-c", "import pandas"])) for _ in range(11)]
    cold, pandas = (statistics.median(times) for times in zip(*pairs))
    show("dtx run --no-warm, import pandas, ms", "%.0f %.0f" % (cold, pandas), "")
    show("  median of the ratios of 11 pairs", "%.2f" % statistics.median(a / b for a, b in pairs),
         "1.25")


def mcp(folder):
    """One server, as an agent has it: from a request to its answer."""
    server = subprocess.Popen([DTX, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}

    def call(name, **arguments):
        t = time.perf_counter()
        print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name, "arguments": arguments, "_meta": meta}}), file=server.stdin, flush=True)
        got = json.loads(server.stdout.readline())["result"]["structuredContent"]
        assert got.get("status", "ok") == "ok", got
        return (time.perf_counter() - t) * 1000, got

    plan = {"dtx": 1, "steps": [{"op": "group_by", "by": ["k"], "agg": [{"as": "s", "expr": "sum(n)"}]}]}
    session = call("open_session")[1]["session"]
    for what, bar, words in (
            ("run_python", "15", ("run_python", {"code": "print(6 * 7)"})),
            ("run_python in a session", "15", ("run_python", {"code": "6 * 7", "session": session})),
            ("run_plan, 1,000 rows", "20", ("run_plan", {"plan": plan, "files": {"main": "in.csv"}}))):
        call(words[0], **words[1])
        times = []
        for _ in range(min(RUNS, 50)):
            time.sleep(0.03)
            times.append(call(words[0], **words[1])[0])
        show("mcp %s, ms" % what, " ".join(percentiles(times)), bar)
    server.stdin.close()
    server.wait()


def throughput(folder):
    def client(_):
        got = subprocess.check_output([DTX, "doctor", "--jail", "--json", "--no-pause", "--runs",
                                       str(5 * RUNS)])
        return json.loads(got)["latency"]["per_second"]

    n = 4
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        each = list(pool.map(client, range(n)))
    show("runs a second, %d clients" % n, "%.0f" % sum(each), "100")


def kills(folder):
    def late(_):
        r = json.loads(subprocess.run([DTX, "exec", "--json", "--jail-wall", "1", "-c",
                                       "while True: pass"], capture_output=True).stdout)["report"]
        assert r["status"] == "timeout", r["status"]
        return r["timings_us"]["overdue"] / 1000

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        times = list(pool.map(late, range(min(RUNS, 20))))
    show("dead after the deadline, ms, median worst",
         "%.1f %.1f" % (statistics.median(times), max(times)), "50")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update(DTX_STORE=folder + "/store.db", XDG_RUNTIME_DIR=folder, DTX_POOL_IDLE="20")
        os.chmod(folder, 0o700)
        print("%s, %d CPUs, load %.1f" % (os.uname().release, os.cpu_count(), os.getloadavg()[0]))
        show("", "", "bar")
        for part in (warm, sessions, cached, mcp, throughput, kills):
            part(folder)
        os.chdir("/")


main()
