"""Plans, tables and command lines that dtx refuses, a line each in commands.jsonl: the code, the JSON pointer,
the span, the place in the input (`where`), and words of the message and of the hint.  A line has the steps of a
plan (`steps`, with further `members`; or the whole, `plan`), or more arguments (`with`), or those of a command
(`args`), perhaps with commands `before` it and with an environment (`env`); {in.csv} and {other.csv} are the tables of all of them, but for those of its own (`files`).

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
TABLE = "a,b,d,n\n1,x,2024-01-31,2.5\n2,y,9999-12-31,\n3,x,0001-01-01,1\n"
BOTH = [{"name": "main"}, {"name": "other"}]


def arguments(case, where):
    plan = {"dtx": 1, "inputs": BOTH, "steps": case.get("steps", [{"op": "distinct"}]), **case.get("members", {})}
    with open(os.path.join(where, "plan.json"), "w") as f:
        json.dump(case.get("plan", plan), f)
    if "args" in case:
        return case["args"]
    if case.get("check"):
        return ["check", "plan.json"]
    return ["run", "plan.json", "in.csv", "other=other.csv", *case.get("with", ["--fallback", "off"])]


def problem(case):
    """What the program says otherwise, or None."""
    with tempfile.TemporaryDirectory() as where:
        for name, text in {"in.csv": TABLE, "other.csv": TABLE, **case.get("files", {})}.items():
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
    return None if case["says"] in got["message"] else "message: " + got["message"]


def main():
    cases = [json.loads(line) for line in LINES.read_text().splitlines()]
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
