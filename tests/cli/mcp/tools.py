"""Every tool on real files: what it gives, and how a step that needs code goes on."""
import base64
import os
import subprocess

from client import Client, show

DTX = os.environ["DTX"]
with open("hours.csv", "w") as f:
    f.write("name,region,hours\nann,west,4\nbob,east,5\ncid,west,x\n")
with open("more.csv", "w") as f:
    f.write("name,region,hours\ndan,west,7\n")
WEST = {"dtx": 1, "steps": [{"op": "filter", "where": "region = 'west'"}]}
SUM = {"dtx": 1, "steps": [{"op": "group_by", "by": ["name"], "agg": {"t": "sum(hours)"}}]}
CODE = """import pandas as pd
def transform(tables, params):
    df = tables["main"].copy()
    df["hours"] = pd.to_numeric(df["hours"], errors="coerce")
    return df.groupby("name", as_index=False, sort=False).agg(t=("hours", "sum"))
"""


def short(result):
    """The members of a result that are the same in each run."""
    if isinstance(result, dict):
        hidden = ("run_id", "uri", "sha", "start_us", "end_us", "path", "ticket", "replay_of", "run", "prompt", "score", "output")
        return {k: short(v) for k, v in result.items() if k not in hidden or isinstance(v, (dict, list))}
    return [short(v) for v in result] if isinstance(result, list) else result


for modern in (True, False):
    c = Client("--sample", "all", modern=modern)
    show("describe", short(c.call("describe", path="hours.csv")))
    show("dry run", short(c.call("run_plan", plan=WEST, files={"main": "hours.csv"}, dry_run=True)))
    ran = c.call("run_plan", plan=WEST, files={"main": "hours.csv"})
    show("run_plan", short(ran))
    show("links", [sorted(block) for block in c.content])
    out = c.ask("resources/read", {"uri": ran["outputs"][0]["uri"]})
    c.fits(out, "ReadResourceResult")
    show("output", [out["contents"][0]["mimeType"], out["contents"][0]["text"]])
    record = c.ask("resources/read", {"uri": "dtx://run/" + ran["run_id"]})
    show("record", '"dtx_record"' in record["contents"][0]["text"])
    show("why", short(c.call("why", run=ran["run_id"], column="hours", row=2)))
    show("why by key", short(c.call("why", run=ran["run_id"], column="hours", key={"name": "cid"})))
    show("why not there", c.call("why", run=ran["run_id"], column="none", row=1))
    show("replay", short(c.call("replay", run=ran["run_id"])))
    show("provenance", sorted(c.call("provenance", run=ran["run_id"])["record"]))
    show("list", short(c.call("list", limit=1)))
    show("end", c.end())
    show("output after the end", os.path.exists(ran["outputs"][0]["path"]))

c = Client("--sample", "all")
two = c.call("run_plan", plan=WEST, files={"main": ["hours.csv", "more.csv"]}, output="west.xlsx")
show("two files", [o["rows"] for o in two["outputs"]] + [os.path.exists("west.xlsx")])
book = c.ask("resources/read", {"uri": two["outputs"][0]["uri"]})["contents"][0]
show("blob", base64.b64decode(book["blob"])[:2].decode())
show("by path", c.call("provenance", run="west.xlsx")["record"]["run"]["run_id"] == two["run_id"])
show("wrong plan", short(c.call("run_plan", plan={"dtx": 1, "steps": [{"op": "filtr"}]}, files={"main": "hours.csv"})))
show("wrong column", short(c.call("run_plan", plan={"dtx": 1, "steps": [{"op": "drop", "columns": ["nam"]}]},
                                  files={"main": "hours.csv"})))
show("parameters", [c.call("run_plan", plan={"dtx": 1, "params": {"r": {"type": "text"}}, "steps": [
    {"op": "filter", "where": "region = $r"}]}, files={"main": "hours.csv"}, params={"r": r})["steps"][0]["rows_out"]
    for r in ("west", "east")])

# a step that needs code
needs = c.call("run_plan", plan=SUM, files={"main": "hours.csv"}, output="sum.csv")
show("needs code", [needs["status"], needs["attempts_left"], needs["errors"][0]["code"], "transform" in needs["prompt"]])
bad = c.call("submit_code", ticket=needs["ticket"], code="def transform(tables, params):\n    return 1 / 0\n")
show("bad code", [bad["status"], bad["attempts_left"], bad["errors"][0]["exception"]["type"],
                  bad["errors"][0]["exception"]["line"]])
good = c.call("submit_code", ticket=needs["ticket"], code=CODE)
show("good code", [good["status"], os.path.exists("sum.csv")])
shown = subprocess.run([DTX, "snippet", "list", "--json", "--state", "pending"], capture_output=True, text=True)
id = __import__("json").loads(shown.stdout)[0]["cell_id"]
code = c.ask("resources/read", {"uri": f"dtx://snippet/{id}/code"})
show("snippet", code["contents"][0]["text"] == CODE)
subprocess.run([DTX, "snippet", "approve", id, "-q"], check=True, stdout=subprocess.DEVNULL)
ran = c.call("run_plan", plan=SUM, files={"main": "hours.csv"}, output="sum.csv")
show("approved", [ran["status"], open("sum.csv").read()])
with open("other.csv", "w") as f:
    f.write("name,days\nann,4\n")
hidden = Client()
for who in (c, hidden):
    show("snippets", [[[s["op"], s["columns"], s.get("uri") == f"dtx://snippet/{id}/code"] for s in
                       who.call("describe", path=path)["file"]["snippets"]] for path in ("hours.csv", "other.csv")])
show("end", hidden.end())
show("unknown ticket", c.call("submit_code", ticket="x", code=CODE))

# programs
show("program", short(c.call("run_python", code="import sys\nprint(sys.argv[1:], tables['t'].shape)",
                             tables={"t": "hours.csv"}, args=["a", "--b", "-c"])))
show("file", short(c.call("run_python", code="open('/out/d/x.txt', 'w').write(open('/in/n').read()[:4])"
                          if False else "import os\nos.makedirs('/out/d', exist_ok=True)\n"
                          "open('/out/d/x.txt', 'w').write(open('/in/n').read()[:4])",
                          files={"n": "hours.csv"}, out="kept")))
show("kept", open("kept/d/x.txt").read())
show("exception", short(c.call("run_python", code="print(1)\nraise KeyError('k')")))
drawn = c.call("run_python", code="open('/out/figure.png', 'wb').write(bytes([137,80,78,71,13,10,26,10]) + b'0' * 9)")
show("figure", [(b["type"], b["mimeType"]) for b in c.content] + [f["name"] for f in drawn["files"]])
show("no state", c.call("run_python", code="print('x' in globals())\nx = 1")["stdout"] +
     c.call("run_python", code="print('x' in globals())")["stdout"])
show("long output", [len(c.call("run_python", code="print('y' * 100000)")["stdout"])])
show("end", c.end())

# with approve: auto the code of a model may stay
os.makedirs("config/dtx")
with open("config/dtx/config.json", "w") as f:
    f.write('{"approve": "auto", "author": "touch asked"}')
c = Client(env={"XDG_CONFIG_HOME": os.path.abspath("config"), "DTX_STORE": os.path.abspath("other.db"),
                "DTX_AUTHOR_KEY": "a-key-of-the-host"})
needs = c.call("run_plan", plan=SUM, files={"main": "hours.csv"})
show("auto", c.call("submit_code", ticket=needs["ticket"], code=CODE)["status"])
show("author asked", [os.path.exists("asked"), b"a-key-of-the-host" in c.bytes])
show("end", c.end())

# sessions: state, values, and what is withheld once data was given
for sample in ("all", "none"):
    c = Client("--sample", sample)
    s = c.call("open_session")["session"]
    show("session", short(c.call("run_python", session=s, code="x = 20 + 1\nx * 2")))
    show("session again", short(c.call("run_python", session=s, code="print(x)\nx")))
    c.call("run_python", session=s, code="df = tables['t']", tables={"t": "hours.csv"})
    show("session with data", short(c.call("run_python", session=s, code="print(df.name[0])\ndf")))
    show("session failed", short(c.call("run_python", session=s, code="import os\nos._exit(1)"))["session"])
    show("session closed", c.call("close_session", session=s))
    show("session unknown", c.call("run_python", session=s, code="1"))
    c.call("run_python", session=c.call("open_session")["session"], code="1")
    open_before = subprocess.run([DTX, "session", "list"], capture_output=True, text=True).stdout.count("mcp-")
    show("session end", [c.end(), open_before > 0])
