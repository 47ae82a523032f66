"""Calls that take long: others are answered meanwhile, wait goes on, cancel is silent, the end ends all."""
import os
import time

from client import Client, show

SLEEP = "import time\nopen('/out/x', 'w').write('x')\ntime.sleep(600)\n"


def state(client, run_id):
    return {r["run_id"]: r["status"] for r in client.call("list", limit=200)["runs"]}.get(run_id)


def newest(client):
    """The latest run that goes on; waits until there is one."""
    while True:
        time.sleep(0.1)
        runs = [r for r in client.call("list", limit=5)["runs"] if r["status"] == "running"]
        if runs:
            return runs[0]["run_id"]


# a call whose client asks for progress
for modern in (True, False):
    c = Client(modern=modern)
    long = c.request("tools/call", {"name": "run_python", "arguments": {"code": SLEEP, "timeout_s": 900},
                                    "_meta": {"progressToken": "p"}})
    quick = c.start("list")
    while len(c.progress) < 2:
        assert c.read(), "no progress"
    first, second = c.progress[:2]
    show("progress", [first["progressToken"], 0 < first["progress"] < second["progress"], second["message"],
                      quick in c.replies and long not in c.replies])
    c.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": long}})
    c.call("list")
    said = len(c.progress)
    c.call("run_python", code="import time\ntime.sleep(2.5)")
    show("silent after cancel", len(c.progress) == said)
    c.end()

c = Client()
long = c.start("run_python", code=SLEEP, timeout_s=900)
run_id = newest(c)  # answered while the program sleeps
show("interleaved", long not in c.replies)
c.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": long, "reason": "test"}})
while state(c, run_id) in (None, "running"):
    time.sleep(0.1)
show("cancelled", state(c, run_id))
show("silent", long not in c.replies and long not in c.order)
again = c.request("tools/list", id=long)  # the id is free again
show("id again", "result" in c.wait(again))

# the end of stdin ends what runs
c.start("run_python", code=SLEEP, timeout_s=900)
run_id = newest(c)
show("end", c.end())
look = Client()
while state(look, run_id) in (None, "running"):
    time.sleep(0.1)
show("ended with it", state(look, run_id) in ("cancelled", "abandoned"))
show("end", look.end())

# a client that does not wait
c = Client("--answer-within", "1")
short = c.call("run_python", code="import time\ntime.sleep(2)\nprint('done')")
show("running", [short["status"], sorted(short)])
while True:
    got = c.call("wait", run_id=short["run_id"])
    if got["status"] != "running":
        break
show("wait", [got["status"], got["tool"], got["result"]["stdout"], got["result"]["run_id"] == short["run_id"]])
show("once", c.call("wait", run_id=short["run_id"]))
long = c.call("run_python", code=SLEEP, timeout_s=900)
got = c.call("wait", run_id=long["run_id"], stop=True)
while got["status"] == "running":
    got = c.call("wait", run_id=long["run_id"])
show("stopped", [got["status"], got["result"]["status"], got["result"]["error"]["code"]])
show("unknown", c.call("wait", run_id="x"))

# one more than run at a time: it waits for its turn and is answered too
many = [c.start("run_python", code="import time\ntime.sleep(600)", timeout_s=900) for _ in range(5)]
ids = [c.result("run_python", c.wait(i))["run_id"] for i in many]
show("five", len(set(ids)))
for id in ids:
    c.call("wait", run_id=id, stop=True)
show("end", c.end())

# what a killed server leaves is removed by the next one
os.mkdir("tmp")
here = {"TMPDIR": os.path.abspath("tmp")}
c = Client(env=here)
c.call("run_python", code="import os\nos.makedirs('/out/a/b')\nopen('/out/a/b/c', 'w').write('x')")
c.process.kill()
c.process.wait()
left = os.listdir("tmp")
c = Client(env=here)
c.ask("tools/list")
show("left", [len(left), len(os.listdir("tmp")), left == os.listdir("tmp")])
show("end", [c.end(), os.listdir("tmp")])
