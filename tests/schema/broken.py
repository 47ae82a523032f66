"""Plans, tables and command lines that dtx refuses, a line each in commands.jsonl: the code, the JSON pointer,
the span, the place in the input (`where`), and words of the message and of the hint.  A line has the steps of a
plan (`steps`, with further `members`; or the whole, `plan`, or its `text`), or more arguments (`with`), or those of a command
(`args`), perhaps with commands `before` it and with an environment (`env`); {in.csv} and {other.csv} are the tables of all of them, but for those of its own (`files`).
slips.jsonl has plans as people write them who know pandas, SQL, dplyr or a spreadsheet, over {orders.csv} and
{customers.csv}: each answer names the place and leads on, by a hint or by the word that was meant (`meant`).

Usage: broken.py DTX
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

DTX = os.path.abspath(sys.argv[1])
LINES = pathlib.Path(__file__).with_name("commands.jsonl")
SLIPS = pathlib.Path(__file__).with_name("slips.jsonl")
TABLE = "a,b,d,n\n1,x,2024-01-31,2.5\n2,y,9999-12-31,\n3,x,0001-01-01,1\n"
BOTH = [{"name": "main"}, {"name": "other"}]
ORDERS = """order_id,Order Date,customer_id,region,product,qty,unit_price,status,notes
1001,2024-01-05,C01,North,Widget,3,19.99,paid,
1002,2024-01-07,C02,South,Gadget,1,249.00,open,rush
1003,2024-02-11,C01,North,Widget,10,18.50,paid,bulk deal
1004,2024-02-14,C03,,Gizmo,2,75.25,cancelled,
1005,2024-03-02,C02,South,Widget,5,19.99,paid,"gift, wrap"
"""
CUSTOMERS = "id,name,segment,since\n1,Ann,Retail,01/02/2020\n2,Bob,Corporate,15/03/2021\n"
SHOP = [{"name": "main", "path": "orders.csv"}, {"name": "customers", "path": "customers.csv"}]


def arguments(case, where):
    plan = {"dtx": 1, "inputs": BOTH, "steps": case.get("steps", [{"op": "distinct"}]), **case.get("members", {})}
    if "slip" in case:
        plan["inputs"] = SHOP
    with open(os.path.join(where, "plan.json"), "w") as f:
        f.write(case.get("text", json.dumps(case.get("plan", plan))))
    if "slip" in case:
        return ["run", "plan.json", "-q", "--fallback", "off"]
    if "args" in case:
        return case["args"]
    if case.get("check"):
        return ["check", "plan.json"]
    return ["run", "plan.json", "in.csv", "other=other.csv", *case.get("with", ["--fallback", "off"])]


def problem(case):
    """What the program says otherwise, or None."""
    with tempfile.TemporaryDirectory() as where:
        for name, text in {"in.csv": TABLE, "other.csv": TABLE, "orders.csv": ORDERS, "customers.csv": CUSTOMERS,
                           **case.get("files", {})}.items():
            os.makedirs(os.path.dirname(os.path.join(where, name)), exist_ok=True)
            with open(os.path.join(where, name), "w", encoding="latin-1" if "latin" in case else "utf-8") as f:
                f.write(text)
        env = dict(os.environ, DTX_STORE=os.path.join(where, "store.db"))
        command, *rest = arguments(case, where)
        for args in case.get("before", []):
            subprocess.run([DTX, *args, "-q"], cwd=where, env=env, check=True, timeout=100, stdin=subprocess.DEVNULL)
        env.update({key: text.replace("CWD", where) for key, text in case.get("env", {}).items()})
        done = subprocess.run([DTX, command, "--errors=json", *rest], cwd=where, env=env, capture_output=True,
                              text=True, timeout=100, stdin=subprocess.DEVNULL)
    found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    found = [f for f in found if f["severity"] != "warning"]
    if not found:
        return "exit %d, nothing refused: %s" % (done.returncode, done.stderr[:200])
    got = found[0]
    for key in ("code", "at", "span"):
        if key in case and got[key] != case[key]:
            return "%s is %r, expected %r (%s)" % (key, got[key], case[key], got["message"])
    place = {key: (got["where"] or {}).get(key) for key in case.get("where", {})}
    if place != case.get("where", {}):
        return "where is %s, expected %s (%s)" % (got["where"], case["where"], got["message"])
    if case.get("hint", "") not in (got["hint"] or ""):
        return "hint: %s" % got["hint"]
    if "slip" in case:
        if done.returncode != got["exit"]:
            return "exit %d, the error says %d" % (done.returncode, got["exit"])
        if case.get("meant") != (got["did_you_mean"] or [None])[0]:
            return "did you mean %s" % got["did_you_mean"]
    return None if case["says"] in got["message"] else "message: " + got["message"]


def main():
    cases = [json.loads(line) for path in (LINES, SLIPS) for line in path.read_text().splitlines()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(problem, cases))
    for case, what in zip(cases, found):
        if what:
            print("not ok - broken: %s\n#   %s" % (json.dumps(case), what))
    bad = sum(map(bool, found))
    print("%d passed, %d failed" % (len(cases) - bad, bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
