"""Random typed tables (nulls, duplicates, unicode, extremes, empty, one row) and random plans over them."""
import datetime as dt
import random

WORDS = ["a", "b", "ab", "Zoë", "x y", "", "0042", "total", "naïve", "🙂", 'q"q', "long text of more than twelve bytes"]


def null_or(p, make):
    return None if random.random() < p else make()


def column(kind, n, nulls):
    make = {
        "int": lambda: random.choice([0, 1, 2, 3, -1, 7, 100, random.randint(-1000, 1000)]),
        "float": lambda: random.choice([0.5, 1.25, -2.75, 0.1, 3.0625, round(random.uniform(-100, 100), 3)]),
        "text": lambda: random.choice(WORDS),
        "key": lambda: random.choice(["red", "green", "blue", "a longer key of many bytes"]),
        "bool": lambda: random.random() < 0.5,
        "date": lambda: dt.date(2024, 1, 31) + dt.timedelta(days=random.randint(-400, 400)),
    }[kind]
    return [null_or(nulls, make) for _ in range(n)]


def table(n, kinds):
    names = {"int": "i", "float": "f", "text": "t", "key": "k", "bool": "b", "date": "d"}
    return {names[kind]: (kind, column(kind, n, random.choice([0, 0.2]))) for kind in kinds}


def cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if text == "" or any(c in text for c in ',"\n\r') or text != text.strip() else text


def to_csv(tab):
    rows = zip(*(values for _, values in tab.values()))
    return "\n".join([",".join(tab)] + [",".join(cell(v) for v in row) for row in rows]) + "\n"


def number_expr(cols):
    c = random.choice([c for c in cols if c in "if"] or ["1"])
    return random.choice([c, f"{c} + 1", f"{c} * 2", f"-{c}", f"{c} / 4", f"round({c}, 1)", f"abs({c})", f"coalesce({c}, 0)",
                          f"if({c} > 2, {c}, 0)", f"{c} - 3"])


def where(cols):
    forms = []
    if "i" in cols:
        forms += ["i > 1", "i is not null", "i in (1, 2, 3)", "i between -1 and 7", "not (i == 1)"]
    if "f" in cols:
        forms += ["f < 0.5", "f is null or f > 1"]
    if "k" in cols:
        forms += ["k == 'red'", "k != 'blue'", "k in ('red', 'green')"]
    if "b" in cols:
        forms += ["b", "not b"]
    return random.choice(forms or ["true"])


def step_filter(cols):
    return {"op": "filter", "where": where(cols)}, cols


def step_derive(cols):
    return {"op": "derive", "set": [{"as": "n", "expr": number_expr(cols)}]}, cols + ["n"] * ("n" not in cols)


def step_sort(cols):
    by = random.sample(cols, min(len(cols), random.randint(1, 2)))
    return {"op": "sort", "by": [{"col": c, "desc": random.random() < 0.5} for c in by]}, cols


def step_select(cols):
    keep = random.sample(cols, random.randint(1, len(cols)))
    return {"op": "select", "cols": keep}, keep


def step_drop(cols):
    if len(cols) < 2:
        return step_filter(cols)
    gone = random.choice(cols)
    return {"op": "drop", "cols": [gone]}, [c for c in cols if c != gone]


def step_limit(cols):
    return {"op": "limit", "n": random.randint(0, 20)}, cols


def step_distinct(cols):
    return {"op": "distinct", "cols": random.sample(cols, random.randint(1, len(cols)))}, cols


def step_group(cols):
    by = [c for c in cols if c in "kbt"][:random.randint(1, 2)]
    nums = [c for c in cols if c in "if"]
    agg = [{"as": "rows", "expr": "count()"}]
    for c in nums:
        fn = random.choice(["sum", "mean", "min", "max", "count", "count_distinct", "first", "last", "median"])
        agg.append({"as": f"{fn}_{c}", "expr": f"{fn}({c})"})
    return {"op": "group_by", "by": by, "agg": agg}, by + [a["as"] for a in agg]


def step_join(cols):
    if "k" not in cols:
        return step_filter(cols)
    how = random.choice(["inner", "left", "right", "full", "semi", "anti"])
    out = cols if how in ("semi", "anti") else cols + ["w"]
    return {"op": "join", "with": "side", "on": ["k"], "how": how}, out


def step_longer(cols):
    values = [c for c in cols if c in "if"]
    keep = [c for c in cols if c not in values]
    if len(values) < 2:
        return step_filter(cols)
    return {"op": "pivot_longer", "cols": values, "names_to": ["name"], "values_to": "value"}, keep + ["name", "value"]


STEPS = [step_filter, step_derive, step_sort, step_select, step_drop, step_limit, step_distinct, step_join, step_longer]


def case():
    """Tables by name and a plan over them."""
    n = random.choice([0, 1, 2, 10, 60])
    kinds = ["key"] + random.sample(["int", "float", "text", "bool", "date"], random.randint(2, 5))
    tables = {"main": table(n, kinds)}
    side = {"k": ("key", ["red", "green", "green", None][:random.randint(1, 4)])}
    side["w"] = ("int", list(range(10, 10 + len(side["k"][1]))))
    tables["side"] = side
    cols, steps = list(tables["main"]), []
    for _ in range(random.randint(1, 4)):
        step, cols = random.choice(STEPS)(cols)
        steps.append(step)
    if random.random() < 0.4 and any(c in "kbt" for c in cols):
        steps.append(step_group(cols)[0])
    types = [[{"name": c, "type": {"key": "text"}.get(kind, kind)} for c, (kind, _) in t.items()] for t in tables.values()]
    plan = {"dtx": 1, "inputs": [{"name": name, "types": t} for name, t in zip(tables, types)], "steps": steps}
    return tables, plan
