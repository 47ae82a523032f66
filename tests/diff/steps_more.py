"""Random steps of less frequent ops: repair, texts, ranges, scales, missing values."""
import random

from steps import step_filter
from formulas import TEXTS, number, where
from tables import CENTRED, MIXED, NUMBERS, chance, name, of, one_of, some, weights, without

def new_name(cols):
    return next(n for n in ("new", "new2", "new3", "new4", "new5") if n not in cols)


def texts(cols):
    return of(cols, *TEXTS)


def numbers(cols):
    return of(cols, *NUMBERS)


def few(cols):
    """Columns of few values."""
    return of(cols, "key", "bool")


def step_add_id(cols):
    as_ = new_name(cols)
    step, kind = {"op": "add_id", "as": as_}, "int"
    if chance(0.2):
        step["hash_of"], kind = some(without(cols, of(cols, "float")) or cols), "text"
    else:
        step.update({"by": some(cols)[:2]} if chance(0.5) else {}, start=one_of(1, 0, -3))
    return step, {as_: kind, **cols}


def step_assert(cols):
    c = random.choice(list(cols))
    rules = [{"rule": "not_null", "cols": some(cols)[:2], "max_failures": random.randint(0, 20)},
             {"rule": "unique", "cols": some(cols), "max_failures": random.randint(0, 20)},
             {"rule": "expression", "expr": where(cols), "max_failures": random.randint(0, 60)},
             {"rule": "row_count", "min": random.randint(0, 2)}, {"rule": "columns", "names": list(cols), "exact": chance(0.5)},
             {"rule": "not_null_share", "col": c, "min": 0.7}, {"rule": "sorted", "by": [c], "max_failures": random.randint(0, 40)}]
    if numbers(cols):
        c = random.choice(numbers(cols))
        rules += [{"rule": "range", "col": c, "min": -1000, "max": 1000, "max_failures": random.randint(0, 1)},
                  {"rule": "type", "col": c, "type": "float"}, {"rule": "sum_equals", "col": c, "other": c}]
    if few(cols):
        c = random.choice(few(cols))
        rules += [{"rule": "accepted_values", "col": c, "values": ["red", "green", "blue", True, False], "max_failures": 9},
                  {"rule": "matches", "col": c, "regex": "e", "max_failures": random.randint(0, 40)}]
    return {"op": "assert", "rules": random.sample(rules, random.randint(1, 3))}, cols


def step_bin(cols):
    if not numbers(cols):
        return step_filter(cols)
    as_ = new_name(cols)
    step = {"op": "bin", "col": random.choice(numbers(cols)), "as": as_}
    if chance(0.5):
        step["breaks"] = sorted(random.sample([-50, -1, 0, 0.5, 1, 2.25, 7, 100], random.randint(2, 5)))
        if chance(0.3):
            step["labels"] = ["r%d" % i for i in range(len(step["breaks"]) - 1)]
    else:
        step.update(n=random.randint(1, 5), method=one_of("width", "quantile", "log"))
    if chance(0.4):
        step["closed"] = "right"
    return step, dict(cols, **{as_: "text"})


def step_clean(cols):
    if chance(0.2):
        return {"op": "clean_names"}, cols if all(c.isidentifier() and c == c.lower() for c in cols) else None
    step = {"op": "clean_text", "cols": one_of(some(cols), ["*"])}
    for part in ("trim", "squeeze", "controls", "nbsp", "dashes", "quotes"):
        if chance(0.3):
            step[part] = chance(0.5)
    if chance(0.5):
        step["case"] = one_of("lower", "upper", "title")
    if chance(0.4):
        step["unicode"] = one_of("NFC", "NFD", "NFKC", "NFKD", "none")
    return step, {c: "text" if kind in TEXTS else kind for c, kind in cols.items()}


def step_coalesce(cols):
    picked, as_ = some(without(cols, of(cols, "float")) or cols), new_name(cols)
    kinds = {cols[c] for c in picked}
    kind = kinds.pop() if len(kinds) == 1 else "text" if kinds <= {"key", "text", "amount", "list", "day"} else MIXED
    step = {"op": "coalesce", "cols": picked, "as": as_}
    if chance(0.4):
        step["drop"] = True
        return step, {**without(cols, picked), as_: kind}
    return step, dict(cols, **{as_: kind})


def step_complete(cols):
    keys = few(cols)[:2]
    if not keys:
        return step_filter(cols)
    step = {"op": "complete", "cols": random.sample(keys, len(keys))}
    others = numbers(without(cols, keys))
    if of(cols, "date") and chance(0.3):
        step["cols"] += of(cols, "date")[:1]
        step["seq"] = {of(cols, "date")[0]: one_of("1mo", "1q", "2w", 30)}
    if others and chance(0.5):
        step["fill"] = {others[0]: 0}
    return step, cols


def step_dummies(cols):
    if not few(cols):
        return step_filter(cols)
    step = {"op": "dummies", "cols": some(few(cols))[:2]}
    if chance(0.3):
        step.update(prefix="is", sep=one_of("-", "."), drop_first=chance(0.5))
    return step, None


def step_explode(cols):
    if not texts(cols):
        return step_filter(cols)
    step = {"op": "explode", "cols": random.choice(of(cols, "list") or texts(cols)), "sep": one_of(";", ";", " ", ",")}
    for part in ("trim", "drop_empty"):
        if chance(0.3):
            step[part] = chance(0.5)
    after = dict(cols, **{step["cols"]: "text"})
    if chance(0.3):
        step["index_as"] = new_name(cols)
        after[step["index_as"]] = "int"
    return step, after


def made(cols, c, names, keep):
    """Columns after a step that takes one to pieces."""
    after = {}
    for old, kind in cols.items():
        after.update({old: kind} if old != c or keep else {})
        after.update({n: "text" for n in names} if old == c else {})
    return after


def step_extract(cols):
    if not texts(cols):
        return step_filter(cols)
    c, keep = random.choice(texts(cols)), chance(0.5)
    shape, names = one_of(("([a-z]+)(.*)", ["x1", "x2"]), ("(?P<x1>[0-9]+)", ["x1"]), ("^.", ["x1"]),
                          ("(a)|(e)", ["x1", "x2"]), ("(?P<x1>\\w)(?P<x2>\\s)?", ["x1", "x2"]))
    if {"x1", "x2"} & set(cols):
        return step_filter(cols)
    return {"op": "extract", "col": c, "pattern": shape, "into": names, "keep": keep}, made(cols, c, names, keep)


def step_split(cols):
    if not texts(cols) or {"x1", "x2"} & set(cols):
        return step_filter(cols)
    c, keep = random.choice(of(cols, "list", "day") or texts(cols)), chance(0.3)
    step = {"op": "split_column", "col": c, "into": ["x1", "x2"], "keep": keep, "trim": chance(0.3),
            "extra": one_of("merge", "drop", "drop", "error"), "missing": one_of("null", "null", "error")}
    step.update(one_of({"sep": ";"}, {"sep": "/"}, {"regex": "[;/. ]+"}, {"regex": "e*"}, {"widths": [1, 3]}))
    return step, made(cols, c, ["x1", "x2"], keep)


def step_merge(cols):
    picked, as_ = some(without(cols, of(cols, "float", "stamp")) or cols), new_name(cols)
    step = {"op": "merge_columns", "cols": picked, "as": as_, "sep": one_of(" ", "", "-")}
    if chance(0.3):
        step["skip_null"] = False
    if chance(0.5):
        step["drop"] = False
        return step, dict(cols, **{as_: "text"})
    return step, {**without(cols, picked), as_: "text"}


def step_freq(cols):
    picked = some(cols)[:2]
    step = {"op": "freq", "cols": picked, "sort": chance(0.7)}
    if chance(0.3):
        step["n"] = random.randint(1, 4)
    return step, {**{c: cols[c] for c in picked}, "count": "int", "share": "float"}


def step_implode(cols):
    by = some(few(cols) or cols)[:1]
    rest = [c for c in without(cols, by) if cols[c] not in ("float", "stamp")]
    if not rest:
        return step_filter(cols)
    c = random.choice(rest)
    step = {"op": "implode", "by": by, "col": c, "distinct": chance(0.4), "sort": chance(0.4), "sep": one_of(",", "; ")}
    return step, {by[0]: cols[by[0]], c: "text"}


def step_scale(cols):
    if not numbers(cols):
        return step_filter(cols)
    picked = some(numbers(cols))
    by = some(few(without(cols, picked)))[:1] if chance(0.5) else []
    if chance(0.5):
        step = {"op": "normalize", "cols": picked, "by": by, "method": one_of("zscore", "minmax", "robust", "share")}
        if step["method"] == "share" and picked != weights(cols, picked):
            step["method"] = "minmax"
        return step, dict(cols, **{c: CENTRED if step["method"] == "zscore" else "float" for c in picked})
    step = {"op": "outliers", "cols": picked, "by": by, "method": one_of("iqr", "zscore", "mad"), "k": one_of(0.5, 1.5, 2),
            "action": one_of("flag", "null", "clip", "drop")}
    after = dict(cols)
    if step["action"] == "flag":
        if any(c + "_outlier" in cols for c in picked):
            return step_filter(cols)
        after.update({c + "_outlier": "bool" for c in picked})
    if step["action"] == "clip":
        after.update({c: "float" for c in picked})
    return step, after


def step_nullify(cols):
    step = {"op": "nullify", "cols": some(cols)}
    if chance(0.4):
        step["where"] = where(cols)
    else:
        step["values"] = random.sample([1, 2.0, "red", "", True, "2024-01-31", "none", 0.5, -1], random.randint(1, 4))
    return step, cols


def step_parse_date(cols):
    days = of(cols, "day")
    if not days:
        return step_filter(cols)
    step = {"op": "parse_date", "cols": days, "on_error": one_of("null", "error")}
    step.update(one_of({"order": "dmy"}, {"order": "mdy"}, {"order": "ymd"}, {"formats": ["%d/%m/%Y", "%d.%m.%y", "%d %b %Y"]},
                       {"formats": ["%Y-%m-%d"]}, {}))
    if chance(0.2):
        step["century"] = one_of(1900, 1950)
    return step, dict(cols, **{c: "date" for c in days})


def step_order(cols):
    """Columns and rows that move."""
    c = random.choice(list(cols))
    if chance(0.4):
        rest = without(cols, [c])
        return {"op": "reorder", "cols": [c], "to": "first"}, {c: cols[c], **rest}
    if chance(0.3):
        names = ["c%d" % i for i in range(len(cols))]
        return {"op": "set_header", "names": names}, dict(zip(names, cols.values()))
    if of(cols, "int") and chance(0.5):
        return {"op": "repeat", "n": random.randint(0, 3)}, cols
    return {"op": "blank_down", "cols": some(cols)}, cols


def step_top(cols):
    by = some(few(cols))[:1] if chance(0.5) else []
    expr = number(cols)[0] if numbers(cols) and chance(0.5) else name(random.choice(list(cols)))
    return {"op": "top", "n": random.randint(1, 4), "expr": expr, "desc": chance(0.5), "by": by,
            "ties": one_of("first", "all")}, cols


def step_pick(cols):
    """Rows by rank and by chance."""
    by = some(few(cols))[:1] if chance(0.5) else []
    if chance(0.5):
        return step_top(cols)
    step = {"op": "sample", "seed": random.randint(-9, 99), "by": by, "replace": chance(0.3)}
    step.update(one_of({"n": random.randint(1, 9)}, {"frac": one_of(0.1, 0.5, 1)}))
    return step, cols


def step_subtitle(cols):
    if "subtitle" in cols:
        return step_filter(cols)
    step = {"op": "subtitle_to_column", "drop": chance(0.7)}
    if texts(cols) and chance(0.6):
        step.update(col=random.choice(texts(cols)), match={"regex": one_of("^[a-r]", "e", "total")})
    return step, None


def step_table(cols):
    """The whole table turned: what comes out is known to the data alone."""
    return one_of(lambda: {"op": "transpose"}, lambda: {"op": "transpose", "header": False}, lambda: {"op": "demote_header"},
                  lambda: {"op": "unstack_blocks", "every": random.randint(1, 4)}, lambda: {"op": "unmerge"},
                  lambda: {"op": "split_tables", "by": one_of("blank_rows", "blank_cols", "repeated_header"),
                           "pick": random.randint(1, 2)},
                  lambda: {"op": "promote_header", "rows": random.randint(1, 2)},
                  # its keys are texts: a float has several
                  lambda: {"op": "pivot_records", "key": random.choice(list(without(cols, of(cols, "float"))) or list(cols)),
                           "value": random.choice(list(cols))},
                  lambda: {"op": "drop_empty", "axis": "cols"})(), None


def step_short(cols):
    """Short forms of window."""
    if not numbers(cols):
        return step_filter(cols)
    c, as_ = random.choice(numbers(cols)), new_name(cols)
    by = some(few(cols))[:1] if chance(0.5) else []
    order = {"order": some(without(cols, of(cols, "text")) or cols)[:1]} if chance(0.5) else {}
    op = one_of("cumulative", "rolling", "rank", "lag_lead", *["percent_of"] * len(weights(cols, [c])))
    if op == "cumulative":
        step = {"cols": c, "fn": one_of("sum", "min", "max", "count", "mean"), **order}
        as_ = c + "_cum"
        kind = {"count": "int", "mean": "float"}.get(step["fn"], cols[c])
    elif op == "rolling":
        step = {"cols": c, "n": random.randint(1, 4), "fn": one_of("mean", "sum", "min", "max"), **order}
        as_, kind = c + "_roll", "float" if step["fn"] == "mean" else cols[c]
    elif op == "rank":
        step = {"expr": name(c), "as": as_, "method": one_of("min", "dense", "first", "percent"), "desc": chance(0.5)}
        kind = "float" if step["method"] == "percent" else "int"
    elif op == "lag_lead":
        step = {"col": c, "as": as_, "n": one_of(1, 2, -1), "mode": one_of("value", "diff", "pct"), **order}
        kind = "float" if step["mode"] == "pct" else cols[c]
    else:
        step, kind = {"col": c, "as": as_}, "float"
    if as_ in cols:
        return step_filter(cols)
    return {"op": op, "by": by, **step}, dict(cols, **{as_: kind})


def step_summary(cols):
    """Tables about the table."""
    keys, by = few(cols), some(few(cols))[:1] if chance(0.4) else []
    if len(keys) > 1 and chance(0.4):
        step = {"op": "crosstab", "rows": keys[0], "cols": keys[1], "margins": chance(0.4)}
        if numbers(cols) and chance(0.5):
            step.update(value=random.choice(numbers(cols)), agg=one_of("sum", "max", "count"))
        if chance(0.3) and weights(cols, [step.get("value", keys[0])]):
            step["normalize"] = one_of("rows", "cols", "all")
        return step, None
    if chance(0.4):
        # floats become texts, digit by digit, and a computed one may differ in the last
        return {"op": "describe", "cols": some(without(cols, of(cols, "float", "dec", "stamp")) or cols),
                "by": by}, None
    if numbers(cols) and chance(0.6):
        step = {"op": "add_totals", "by": by, "column": chance(0.4)}
        summed = numbers(without(cols, by))
        if summed and chance(0.4):
            step["cols"] = some(summed)
        if chance(0.2):
            step["label_as"] = "kind"
        return step, None
    return {"op": "diff_tables", "with": "side", "key": "k", "cols": ["*"]}, None


def step_time(cols):
    """Steps of a calendar."""
    if not of(cols, "date"):
        return step_filter(cols)
    c, by, every = random.choice(of(cols, "date")), some(few(cols))[:1] if chance(0.5) else [], one_of("1mo", "1q", "2w", "30d")
    if chance(0.5):
        step = {"op": "pad_time", "col": c, "every": every, "by": by}
        if chance(0.4):
            step["fill"] = "down"
        return step, cols
    step = {"op": "resample", "col": c, "every": every, "by": by, "agg": {"rows": "count()"}, "label": one_of("start", "end"),
            "closed": one_of("left", "right"), "fill": chance(0.3)}
    if numbers(cols):
        step["agg"]["total"] = "sum(%s)" % name(random.choice(numbers(cols)))
    return step, None


STEPS = [step_summary, step_time, step_add_id, step_assert, step_bin, step_clean, step_coalesce, step_complete, step_dummies, step_explode, step_extract,
         step_split, step_merge, step_freq, step_implode, step_scale, step_scale, step_nullify, step_parse_date, step_order,
         step_pick, step_subtitle, step_table, step_short]


def step_keep_range(cols):
    """Rows and columns of the source: the first step."""
    last = max(len(cols) - 1, 0)
    a, b = sorted((random.randint(0, last), random.randint(0, last)))
    top, end = random.randint(2, 6), random.randint(6, 40)
    form = one_of("{a}{t}:{b}{e}", "{t}:{e}", "{a}:{b}")
    return {"op": "keep_range", "range": form.format(a=chr(65 + a), b=chr(65 + b), t=top, e=end)}, None
