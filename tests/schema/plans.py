"""Every plan that the repository holds (fixtures, scripts, C texts) against the published schemas, and
what `dtx compile` and `dtx explain` make of the example plans; the limits of the strict schema."""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

DTX = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What a schema can tell of a plan.  It leaves to dtx which words are names, types or selectors.
TELLABLE = {"unknown_param", "missing_param", "bad_param_type", "plan_version", "empty_plan",
            "unknown_op"}
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
# What providers of models allow: levels of objects and lists, properties, values of all enums, of
# one of them, characters of names and values together.
STRICT = {"levels": 10, "properties": 5000, "values": 500, "values of one": 250, "characters": 15000}


def dtx(*args):
    return subprocess.run([DTX, *args], capture_output=True, text=True, timeout=60)


# --- plans ---


def c_texts(source):
    """String literals of a C file, adjacent ones joined."""
    source = re.sub(r"/\*.*?\*/", " ", source, flags=re.S)
    text, end = None, 0
    for m in LITERAL.finditer(source):
        if text is not None and not source[end:m.start()].strip():
            text += m.group(1)
        else:
            if text is not None:
                yield text
            text = m.group(1)
        end = m.end()
    if text is not None:
        yield text


def as_plan(text):
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, list) and value and isinstance(value[0], dict) and "op" in value[0]:
        value = {"dtx": 1, "steps": value}
    return value if isinstance(value, dict) and "steps" in value else None


def unescape(text):
    text = re.sub(r"\\x([0-9a-fA-F]{2})", r"\\u00\1", text).replace("\\'", "'")
    try:
        return json.loads(f'"{text}"')
    except ValueError:
        return ""


def corpus():
    """place -> plan, each plan once."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/unit/**/*.c"), recursive=True)):
        with open(path, encoding="utf-8") as f:
            texts = [unescape(t) for t in c_texts(f.read()) if t[:1] in ("{", "[")]
        found.update((t, os.path.basename(path)) for t in texts)
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/cli/*/**/*.sh"), recursive=True)):
        with open(path, encoding="utf-8") as f:
            texts = re.findall(r"<<\s*'?END'?\n(.*?)\nEND\n", f.read(), re.S)
        found.update((t, os.path.basename(path)) for t in texts)
    return [(where, plan) for text, where in found.items() if (plan := as_plan(text))]


def judge(plan):
    """Canonical plan or None, and the codes of errors and of what needs a snippet."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(plan, f)
        f.flush()
        run = dtx("check", "--canonical", "--errors=json", f.name)
    lines = [json.loads(x) for x in run.stderr.splitlines() if x.startswith("{")]
    codes = {x["code"] for x in lines if x["severity"] != "warning"}
    return (json.loads(run.stdout) if run.returncode == 0 and not codes else None), codes


def disagreements(valid, plans, judged):
    for (where, plan), (canonical, codes) in zip(plans, judged):
        if canonical is not None:
            for e in valid.iter_errors(canonical):
                yield f"{where}: dtx takes it, the schema not: {list(e.absolute_path)} {e.message[:150]}"
        elif codes & TELLABLE and valid.is_valid(plan):
            yield f"{where}: dtx says {codes & TELLABLE}, the schema takes it: {json.dumps(plan)[:150]}"


# --- the strict schema ---


def levels(schema):
    if isinstance(schema, list):
        return max(map(levels, schema), default=0)
    if not isinstance(schema, dict):
        return 0
    below = [v for k, v in schema.items() if k != "properties"]
    below += list(schema.get("properties", {}).values())
    return max(map(levels, below), default=0) + (schema.get("type") in ("object", "array"))


def subschemas(schema):
    if isinstance(schema, list):
        for v in schema:
            yield from subschemas(v)
    elif isinstance(schema, dict):
        yield schema
        for k, v in schema.items():
            yield from subschemas(list(v.values()) if k == "properties" else v)


def strict_sizes(strict):
    parts = list(subschemas(strict))
    names = [n for p in parts for n in p.get("properties", {})]
    enums = [p["enum"] for p in parts if "enum" in p] + [[p["const"]] for p in parts if "const" in p]
    return {"levels": levels(strict), "properties": len(names), "values": sum(map(len, enums)),
            "values of one": max(map(len, enums)),
            "characters": sum(map(len, names)) + sum(len(str(v)) for e in enums for v in e)}


def strict_faults(strict):
    sizes = strict_sizes(strict)
    yield from (f"{k}: {v}, at most {STRICT[k]}" for k, v in sizes.items() if v > STRICT[k])
    if strict.get("type") != "object":
        yield "the root is not an object"
    for p in subschemas(strict):
        for word in ("oneOf", "allOf", "not", "if", "$ref", "patternProperties", "default"):
            if word in p:
                yield f"{word} in it"
        if "properties" in p and (p.get("additionalProperties") is not False
                                  or sorted(p["required"]) != sorted(p["properties"])):
            yield f"an object that is not closed, or with members that may be left out: {list(p['properties'])[:5]}"


def nullable(schema):
    return "null" in schema.get("type", ()) or any(nullable(s) for s in schema.get("anyOf", ()))


def fill(schema, value):
    """The value as a model has to write it: absent members are null."""
    if isinstance(value, list) and "items" in schema:
        return [fill(schema["items"], v) for v in value]
    for s in schema.get("anyOf", ()):
        if (isinstance(value, list) and "items" in s) or (isinstance(value, dict) and "properties" in s):
            return fill(s, value)
    if isinstance(value, dict) and "properties" in schema:
        return {k: fill(s, value.get(k)) if value.get(k) is not None else None
                for k, s in schema["properties"].items()}
    return value


def strict_examples(steps):
    """Examples of each operation said in the strict way: dtx has to take them as the same plan."""
    missing, wrong = [], []
    for op, examples in steps.items():
        schema = json.loads(dtx("schema", "--strict", "--op", op).stdout)
        valid, fits = Draft202012Validator(schema), 0
        for plan in examples:
            step = fill(schema, plan["steps"][0])
            if not valid.is_valid(step):
                continue
            fits += 1
            given = {**plan, "steps": [step]}
            if judge(given)[0] != judge(plan)[0]:
                wrong.append(f"{op}: {json.dumps(step)[:200]}")
            break
        if not fits:
            missing.append(op)
    return missing, wrong


# --- compile and explain ---

DOT_LINE = re.compile(
    r'digraph plan \{|  rankdir=LR;|  node \[fontname="monospace"\];|\}'
    r'|  [to]\d+ \[shape=\w+, label="(?:[^"\\\n]|\\.)*"\];|  t\d+ -> [to]\d+;')


def compile_faults(path, target):
    run = dtx("compile", "--to", target, path)
    name = f"{os.path.basename(path)} {target}"
    if run.returncode:
        if target == "dot" or not run.stderr.startswith("dtx: no_translation: "):
            yield f"{name}: {run.stderr[:150]}"
    elif target in ("pandas", "snippet"):
        try:
            compile(run.stdout, name, "exec")
        except SyntaxError as e:
            yield f"{name}: {e}"
    elif target == "dot":
        lines = run.stdout.splitlines()
        nodes = {x.split()[0] for x in lines if "[shape" in x}
        yield from (f"{name}: {x}" for x in lines if not DOT_LINE.fullmatch(x))
        yield from (f"{name}: {x}: no such node" for x in lines if " -> " in x
                    and not set(x.strip(" ;").split(" -> ")) <= nodes)


def explain_faults(valid, path):
    for args in ((), ("--analyze",)):
        run = dtx("explain", "--json", path, *args)
        if run.returncode == 5:
            continue
        if run.returncode:
            yield f"{os.path.basename(path)} {args}: {run.stderr[:150]}"
            continue
        for e in valid.iter_errors(json.loads(run.stdout)):
            yield f"{os.path.basename(path)} {args}: {list(e.absolute_path)} {e.message[:150]}"


def main():
    results = []

    def ok(name, bad, enough=True):
        bad = list(bad)
        results.append(not bad and bool(enough))
        print(("ok - " if results[-1] else "not ok - ") + name + "".join(f"\n# {x}" for x in bad[:8]))

    schema, strict, explain = (json.loads(dtx("schema", *a).stdout)
                               for a in ((), ("--strict",), ("--explain",)))
    valid = Draft202012Validator(schema)
    Draft202012Validator.check_schema(explain)
    plans = corpus()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        judged = list(pool.map(lambda p: judge(p[1]), plans))
    broken = sum(bool(codes & TELLABLE) for _, codes in judged)
    ok(f"plans: {len(plans)} of the tests, {broken} of them broken where a schema can tell",
       disagreements(valid, plans, judged), len(plans) > 80 and broken > 25)

    examples = sorted(glob.glob(os.path.join(ROOT, "fixtures/plans/*.json")))
    for path in examples:
        with open(path, encoding="utf-8") as f:
            errors = [list(e.absolute_path)[:3] for e in valid.iter_errors(json.load(f))]
        unknown = os.path.basename(path) == "balance.json"  # shows an operation that nobody knows
        ok(f"plans: {os.path.basename(path)} as written", (errors != [["steps", 1, "op"]]) * [errors]
           if unknown else errors)
    ok("plans: strict schema within the limits of providers", set(strict_faults(strict)))
    steps = {op["name"]: [{"dtx": 1, "inputs": [{"name": "main"}, {"name": "other"}],
                           "steps": [e["step"]]} for e in op["examples"] if "error" not in e]
             for op in json.loads(dtx("ops", "--json").stdout)}
    canonical = {op: [c for p in ps if (c := judge(p)[0])][:3] for op, ps in steps.items()}
    missing, wrong = strict_examples(canonical)
    ok(f"plans: examples of {len(steps)} operations in the strict way", wrong + missing)
    ok("plans: examples compile or say why not",
       [x for p in examples for t in ("pandas", "sql", "dot") for x in compile_faults(p, t)])
    ok("plans: explanations as their schema says",
       [x for p in examples for x in explain_faults(Draft202012Validator(explain), p)])
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


sys.exit(main())
