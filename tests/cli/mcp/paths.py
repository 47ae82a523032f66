"""A client reaches nothing outside the root, and replaces nothing without being asked to."""
import os

from client import Client, show

os.makedirs("root/sub")
os.makedirs("outside")
for path in ("root/in.csv", "root/sub/in.csv", "outside/secret.csv", "root/old.csv", "root/a*.csv"):
    with open(path, "w") as f:
        f.write("a,b\n1,2\n")
os.symlink("../outside/secret.csv", "root/link.csv")
os.symlink("../outside", "root/linked")
os.symlink("in.csv", "root/inner.csv")
os.symlink("old.csv", "root/link_out.csv")
os.mkfifo("root/fifo.csv")
os.makedirs("root/.git")
os.makedirs("root/full/x")
here = os.getcwd()
PLAN = {"dtx": 1, "steps": [{"op": "limit", "n": 1}]}
OUTSIDE = ("../outside/secret.csv", here + "/outside/secret.csv", "link.csv", "linked/secret.csv", "sub/../../outside/secret.csv",
           "/etc/passwd", "/etc/none", "../none.csv", "linked/none.csv")

c = Client("--root", "root")


def status(result):
    return result if isinstance(result, str) else result["status"]


def named(path, *inside):
    plan = dict(PLAN, inputs=[{"name": "main", "path": path, **dict(inside)}])
    return c.call("run_plan", plan=plan)


for path in OUTSIDE:
    ways = {status(c.call("describe", path=path)), status(c.call("run_plan", plan=PLAN, files={"main": path})),
            status(c.call("run_plan", plan=PLAN, files={"main": ["in.csv", path]})), status(named(path)),
            status(named(["in.csv", path])), status(c.call("run_plan", plan=PLAN, files={"main": path}, dry_run=True)),
            status(c.call("run_python", code="1", tables={"t": path})),
            status(c.call("run_python", code="1", files={"t": path})), status(c.call("provenance", run=path))}
    assert len(ways) == 1 and "is not below the root" in ways.pop(), (path, ways)
for path in ("in.csv", "./sub/../in.csv", "inner.csv", here + "/root/in.csv"):
    show(path.replace(here, "HERE"), [status(c.call("describe", path=path)), status(named(path))])
for path in ("", "-", "a*.csv", "fifo.csv", "sub", "none.csv", "x" * 5000):
    show(path[:20], c.call("describe", path=path))
for inside in ({"path": 7}, {"path": "$p"}, {"path": {"x": 1}}):
    show("plan with", status(named(inside["path"])))
# a parameter's value is put into the texts of a plan after its paths were checked
for name in ("$p", "${p}.csv"):
    with open("root/" + name, "w") as f:
        f.write("a\n1\n")
    plan = dict(PLAN, params={"p": {"type": "text"}})
    show("input " + name, status(c.call("run_plan", plan=plan, files={"main": name}, params={"p": "/etc/passwd"})))
    show("output " + name, status(c.call("run_plan", plan=dict(plan, output={"path": "x" + name}), files={"main": "in.csv"},
                                         params={"p": "/../../out"})))


def write(path, **more):
    return c.call("run_plan", plan=PLAN, files={"main": "in.csv"}, output=path, **more)


for path in ("../out.csv", "linked/out.csv", "/tmp/out.csv", ".hidden.csv", ".git/config", "sub/.x/out.csv", "none/out.csv",
             "old.csv", "link_out.csv", "sub", "fifo.csv", "a?.csv", "conftest.py", "Makefile", "run.sh"):
    show(path, status(write(path, replace=path in ("link_out.csv", "sub", "fifo.csv"))))
show("plan's output", status(c.call("run_plan", plan=dict(PLAN, output={"path": "../out.csv"}), files={"main": "in.csv"})))
show("one of two", status(c.call("run_plan", plan=dict(PLAN, output=[{"path": "x.csv"}, {"path": "/tmp/y.csv"}]),
                                 files={"main": "in.csv"})))
show("format", [status(c.call("run_plan", plan=dict(PLAN, output={"path": "a.py", "format": "csv"}), files={"main": "in.csv"})),
                os.path.exists("root/a.py")])
with open("root/torn.csv", "w") as f:
    f.write("a,b\n1,2\n1,2,3\n")
plan = dict(PLAN, inputs=[{"name": "main", "path": "torn.csv", "ragged": "quarantine"}])
show("quarantine", [status(c.call("run_plan", plan=plan, output="q.csv")), os.path.exists("root/q.csv.rejects.csv")])
os.remove("root/q.csv")
show("quarantine again", status(c.call("run_plan", plan=plan, output="q.csv")))
show("rejects", status(named("in.csv", ("rejects", "../r.csv"))))
show("new", status(write("sub/new.csv")))
show("again", status(write("sub/new.csv")))
show("replace", status(write("sub/new.csv", replace=True)))
show("its own input", status(write("in.csv", replace=True)))
for path in ("../o", "full", "old.csv", ".o", "linked/o", "none/o"):
    show("folder " + path, status(c.call("run_python", code="1", out=path)))
assert sorted(os.listdir("outside")) == ["secret.csv"] and not os.path.exists("out.csv")
assert open("root/old.csv").read() == open("root/in.csv").read() == "a,b\n1,2\n"
show("end", c.end())

# runs of another folder are not there
other = Client("--root", "outside")
ran = other.call("run_plan", plan=PLAN, files={"main": "secret.csv"})
assert other.call("provenance", run=ran["run_id"])["status"] == "ok"
c = Client("--root", "root")
for tool, more in (("provenance", {}), ("why", {"column": "a", "row": 1}), ("replay", {})):
    show(tool, c.call(tool, run=ran["run_id"], **more))
show("resource", c.ask("resources/read", {"uri": "dtx://run/" + ran["run_id"]})["code"])
show("list", len([r for r in c.call("list", limit=200)["runs"] if r["run_id"] == ran["run_id"]]))
show("end", [c.end(), other.end()])
for root in ("none", "root/in.csv"):
    bad = Client("--root", root, stderr=-3)
    show("root " + root, [bad.process.wait(), bad.process.stdout.read().decode()])
