"""The published schemas against their meta-schema, and against what dtx itself accepts: canonical
examples of every operation pass both, mutations are refused by both."""
import concurrent.futures
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

DTX = os.path.abspath(sys.argv[1])


def dtx(*args):
    return subprocess.run([DTX, *args], capture_output=True, text=True, timeout=60)


def check(where, plan):
    """Canonical plan (or None) and the codes that dtx finds."""
    fd, path = tempfile.mkstemp(suffix=".json", dir=where)
    with os.fdopen(fd, "w") as f:
        json.dump(plan, f)
    run = dtx("check", "--canonical", "--errors=json", path)
    codes = {json.loads(line)["code"] for line in run.stderr.splitlines() if line.startswith("{")}
    return (json.loads(run.stdout) if run.returncode == 0 and run.stdout.strip() else None), codes


def plan_of(step):
    return {"dtx": 1, "inputs": [{"name": "main"}, {"name": "other"}], "steps": [step]}


def mutations(plan):
    step = plan["steps"][0]
    for key in step:
        if key in ("op", "in", "out", "note"):
            continue
        broken = copy.deepcopy(plan)
        broken["steps"][0][key] = [[[1]]]
        yield f"{key} is a list of lists", broken
    broken = copy.deepcopy(plan)
    broken["steps"][0]["zz"] = 1
    yield "an unknown member", broken


def common_mutations(plan):
    for change in ({"in": 5}, {"fallback": "maybe"}, {"expect": {"nothing": 1}}):
        broken = copy.deepcopy(plan)
        broken["steps"][0].update(change)
        yield str(change), broken
    yield "another version", {**plan, "dtx": 2}
    yield "an unknown member", {**plan, "stepps": []}
    yield "an unknown member of an input", {**plan, "inputs": [{"name": "main", "pth": "x"}]}


def members(schema):
    """Names of all members below, but for rules that are not built in."""
    if isinstance(schema, list):
        return set().union(*map(members, schema))
    if not isinstance(schema, dict):
        return set()
    names = {k for k, v in schema.get("properties", {}).items()
             if "not built in" not in v.get("description", "")}
    return names.union(*(members(v) for v in schema.values()))


def main():
    results = []

    def ok(name, good, why=""):
        results.append(bool(good))
        print(("ok - " if good else "not ok - ") + name + ("" if good else f"\n# {why}"))

    schema, strict = json.loads(dtx("schema").stdout), json.loads(dtx("schema", "--strict").stdout)
    for name, one in (("plan", schema), ("strict", strict)):
        try:
            Draft202012Validator.check_schema(one)
            ok(f"schema: {name} is a schema", True)
        except Exception as e:  # the meta-schema says what
            ok(f"schema: {name} is a schema", False, str(e)[:300])
    valid = Draft202012Validator(schema)
    jobs, ops = [], json.loads(dtx("ops", "--json").stdout)
    with tempfile.TemporaryDirectory() as where, concurrent.futures.ThreadPoolExecutor(2) as pool:
        steps = [(op["name"], e["step"]) for op in ops for e in op["examples"]
                 if "error" not in e]
        checked = list(pool.map(lambda s: check(where, plan_of(s[1])), steps))
        bad, canonical = [], {}
        for (name, step), (plan, codes) in zip(steps, checked):
            if plan is None:
                bad.append(f"{name}: dtx refuses {json.dumps(step)}: {codes}")
                continue
            canonical.setdefault(name, plan)
            errors = [e.message for e in valid.iter_errors(plan)]
            if errors:
                bad.append(f"{name}: {json.dumps(plan['steps'])}: {errors[0][:200]}")
        ok("schema: canonical examples of every operation", not bad and canonical,
           "\n# ".join(bad[:5]))
        for name, plan in canonical.items():
            jobs += [(f"{name}: {what}", broken) for what, broken in mutations(plan)]
        jobs += list(common_mutations(canonical["filter"]))
        found = list(pool.map(lambda j: check(where, j[1]), jobs))
        bad = []
        for (name, broken), (plan, codes) in zip(jobs, found):
            by_dtx, by_schema = plan is None, not valid.is_valid(broken)
            if by_dtx != by_schema:
                bad.append(f"{name}: dtx {'refuses' if by_dtx else 'takes'} it ({codes})")
        ok(f"schema: {len(jobs)} mutations judged as dtx does", not bad and jobs,
           f"{len(bad)}: " + "\n# ".join(bad[:8]))
    words = set(re.split(r"[^a-z_]+", dtx("help", "--man", "dtx-plan.5").stdout))
    told = members({k: v for k, v in schema["properties"].items() if k != "steps"})
    ok(f"schema: {len(told)} members are in dtx-plan(5)", len(told) > 50 and told <= words,
       ", ".join(sorted(told - words)))
    text = json.dumps(strict)
    ok("schema: strict has no oneOf", '"oneOf"' not in text, "oneOf")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


sys.exit(main())
