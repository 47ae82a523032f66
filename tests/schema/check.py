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


def common_mutations(plan):
    for change in ({"in": 5}, {"fallback": "maybe"}, {"expect": {"nothing": 1}}):
        broken = copy.deepcopy(plan)
        broken["steps"][0].update(change)
        yield str(change), broken
    yield "another version", {**plan, "dtx": 2}
    yield "an unknown member", {**plan, "stepps": []}
    yield "an unknown member of an input", {**plan, "inputs": [{"name": "main", "pth": "x"}]}


def whole(schema, part, deep=False):
    """A part of the schema without the reference that it is; with deep without any, but in steps."""
    if isinstance(part, dict) and "$ref" in part:
        part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    if deep and isinstance(part, dict):
        return {k: v if k == "steps" else whole(schema, v, True) for k, v in part.items()}
    return [whole(schema, v, True) for v in part] if deep and isinstance(part, list) else part


def members(schema):
    """Names of all members below, but for rules that are not built in."""
    if isinstance(schema, list):
        return set().union(*map(members, schema))
    if not isinstance(schema, dict):
        return set()
    names = {k for k, v in schema.get("properties", {}).items()
             if "not built in" not in v.get("description", "")}
    return names.union(*(members(v) for v in schema.values()))


WRONG = (5, "", [], {"a": 1}, [[[1]]])
# findings that need more than the member alone
BEYOND = ("name_collision", "unknown_column", "missing_column", "unknown_table", "length_mismatch",
          "missing_param", "param_conflict", "aggregate_required", "order_required", "bad_split")


def values(steps):
    """(what, step) with one member replaced, of canonical steps."""
    for name, step in steps:
        yield f"{name}: an unknown member", {**step, "zz": 1}
        for key in step:
            if key not in ("op", "in", "out"):
                for wrong in WRONG:
                    yield f"{name} {key} {json.dumps(wrong)}", {**step, key: wrong}


def findings(where, steps):
    """Per step the codes of its errors: many steps are one plan."""
    steps = [{"in": "main", **step, "out": f"t{i}"} for i, (_, step) in enumerate(steps)]
    fd, path = tempfile.mkstemp(suffix=".json", dir=where)
    with os.fdopen(fd, "w") as f:
        json.dump({"dtx": 1, "inputs": [{"name": "main"}, {"name": "other"}], "steps": steps}, f)
    found = [[] for _ in steps]
    for line in dtx("check", "--errors=json", path).stderr.splitlines():
        e = json.loads(line) if line.startswith("{") else {}
        at = (e.get("at") or "").split("/")
        if e.get("severity") == "error" and at[1:2] == ["steps"] and len(at) > 2:
            found[int(at[2])].append(e["code"])
    return found


def disagreements(where, pool, schema, canonical):
    """Wrong values that the schema refuses and dtx takes, or the other way round."""
    branch = {b["if"]["properties"]["op"]["const"]: Draft202012Validator({"$defs": schema["$defs"], **whole(schema, b["then"])})
              for b in schema["properties"]["steps"]["items"]["allOf"]}
    wrong = list(values((name, plan["steps"][0]) for name, plan in canonical.items()))
    parts = [wrong[i:i + 25] for i in range(0, len(wrong), 25)]
    bad = []
    for part, found in zip(parts, pool.map(lambda p: findings(where, p), parts)):
        for (what, step), codes in zip(part, found):
            valid = branch[step["op"]].is_valid({k: v for k, v in step.items() if k != "out"})
            if not valid and not codes:
                bad.append(f"{what}: the schema refuses it, dtx does not")
            if valid and {"bad_param_type", "unknown_param"} & set(codes) and not set(codes) & set(BEYOND):
                bad.append(f"{what}: dtx refuses it with {codes}, the schema does not")
    return len(wrong), bad


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
        jobs += list(common_mutations(canonical["filter"]))
        found = list(pool.map(lambda j: check(where, j[1]), jobs))
        bad = []
        for (name, broken), (plan, codes) in zip(jobs, found):
            by_dtx, by_schema = plan is None, not valid.is_valid(broken)
            if by_dtx != by_schema:
                bad.append(f"{name}: dtx {'refuses' if by_dtx else 'takes'} it ({codes})")
        ok(f"schema: {len(jobs)} mutations judged as dtx does", not bad and jobs,
           f"{len(bad)}: " + "\n# ".join(bad[:8]))
        n, bad = disagreements(where, pool, schema, canonical)
        ok(f"schema: {n} wrong values judged as dtx does", not bad and n > 1000,
           f"{len(bad)}: " + "\n# ".join(bad[:8]))
    words = set(re.split(r"[^a-z_]+", dtx("help", "--man", "dtx-plan.5").stdout))
    told = members({k: v for k, v in whole(schema, schema["properties"], deep=True).items() if k != "steps"})
    ok(f"schema: {len(told)} members are in dtx-plan(5)", len(told) > 50 and told <= words,
       ", ".join(sorted(told - words)))
    size = len(dtx("schema").stdout)
    ok("schema: under 300 KB, with an id", size < 300_000 and schema["$id"].startswith("urn:"), str(size))
    text = json.dumps(strict)
    ok("schema: strict has no oneOf", '"oneOf"' not in text, "oneOf")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


sys.exit(main())
