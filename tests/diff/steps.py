"""Random steps: each function gives a step and the columns after it, by name and kind."""
import random

from formulas import formula, number, where
from tables import MIXED, NUMBERS, Mixed, chance, name, of, one_of, selector, some, weights, without

SIDE = {"k": "key", "w": "int", "e": "date", "f": "float"}


def step_filter(cols):
    step = {"op": "filter", "where": where(cols)}
    if chance(0.2):
        step["keep"] = "not_true"
    return step, cols


def step_derive(cols):
    items, cols = [], dict(cols)
    step = {"op": "derive", "set": items}
    if chance(0.2):
        step["after"] = random.choice(list(cols))
    after = dict(cols)
    for _ in range(random.randint(1, 4)):
        as_ = one_of("n", "m", "o", random.choice(list(cols)))
        text, kind = formula(after)
        items.append({"as": as_, "expr": text})
        after[as_] = kind
    return step, after


def step_sort(cols):
    by = []
    for c in some(cols)[:2]:
        item = {"col": c, "desc": chance(0.5)}
        if chance(0.2):
            item["nulls"] = "first"
        if cols[c] in ("text", "key") and chance(0.3):
            item["collate"] = one_of("nocase", "natural")
        by.append(item)
    if of(cols, *NUMBERS) and chance(0.2):
        by.append({"expr": number(cols)[0]})
    step = {"op": "sort", "by": by}
    if chance(0.2):
        step["limit"] = random.randint(1, 5)
    return step, cols


def step_select(cols):
    spec, names = selector(cols, some(cols))
    return {"op": "select", "cols": spec}, {c: cols[c] for c in names}


def step_drop(cols):
    if len(cols) < 3:
        return step_filter(cols)
    spec, names = selector(cols, [random.choice(list(cols))])
    if len(names) == len(cols):
        spec = names = names[:1]
    return {"op": "drop", "cols": spec}, without(cols, names)


def step_rename(cols):
    if chance(0.3):
        return {"op": "rename", "regex": "^(.)", "replace": "x$1"}, {"x" + c: kind for c, kind in cols.items()}
    old = random.choice(list(cols))
    return {"op": "rename", "map": {old: "r_" + old}}, {"r_" + c if c == old else c: kind for c, kind in cols.items()}


def step_limit(cols):
    step = {"op": "limit", "n": random.randint(0, 20)}
    if chance(0.3):
        step["offset"] = random.randint(0, 3)
    if chance(0.3):
        step["from"] = "end"
    if chance(0.3):
        step["by"] = some(cols)[:2]
    return step, cols


def step_distinct(cols):
    step = {"op": "distinct", "keep": one_of("first", "first", "last", "none", "dups")}
    if chance(0.8):
        step["cols"] = some(cols)
    if chance(0.2):
        step["count_as"] = "times"
        return step, dict(cols, times="int")
    return step, cols


SAME = ("sum", "min", "max", "first", "last", "range", "mode", "quantile_disc", "product")  # of the argument's type


TWO = ["corr({x}, {y})", "cov({x}, {y})", "wavg({x}, {y})", "regr_slope({x}, {y})", "regr_r2({x}, {y})"]


def aggregate_of_two(cols, c):
    """Aggregates of two columns, or of a condition."""
    numbers = of(cols, *NUMBERS)
    if len(numbers) > 1 and chance(0.5):
        x, y = random.sample(numbers, 2)
        return random.choice([f for f in TWO if weights(cols, [y]) or not f.startswith("wavg")]).format(x=name(x), y=name(y)), "float"
    if numbers and chance(0.5):
        return "%s(%s, %s)" % (one_of("arg_max", "arg_min"), name(c), name(random.choice(numbers))), cols[c]
    return one_of(("count_if(%s)" % where(cols), "int"), ("share_null(%s)" % name(c), "float"),
                  ("any(%s)" % where(cols), "bool"), ("all(%s)" % where(cols), "bool"),
                  ("any_value(%s)" % name(c), cols[c]), ("count(%s, where: %s)" % (name(c), where(cols)), "int"),
                  ("mode(%s)" % name(c), cols[c]))


def aggregate(cols, c):
    if chance(0.2):
        return aggregate_of_two(cols, c)
    if cols[c] == "dec":
        fn = one_of("sum", "min", "max", "mean", "count", "count_distinct", "first", "last", "median", "mode", "range")
        kind = {"count": "int", "count_distinct": "int", "mean": "float", "median": "float"}.get(fn, "dec")
        return "%s(%s)" % (fn, name(c)), kind
    if cols[c] in NUMBERS:
        fn = one_of("sum", "mean", "min", "max", "count", "count_distinct", "first", "last", "median", "std", "var",
                    "std_pop", "var_pop", "iqr", "mad", "skew", "kurt", "range", "mode", "quantile_disc", "quantile", "gmean", "hmean",
                    "product")
        kind = {"count": "int", "count_distinct": "int"}.get(fn, "float" if fn not in SAME else cols[c])
        text = one_of("{fn}({c}{p})", "{fn}({c}{p})", "{fn}({c}{p}) + 1", "{fn}({c} * 2{p})", "{fn}({c}{p}, where: {w})",
                      "coalesce({fn}({c}{p}), 0)" if kind == "int" else "{fn}({c}{p})", "{fn}({c}{p}) / count()")
        kind = "float" if "/" in text else kind
        part = one_of(", 0.3", ", 0", ", 0.95") if fn.startswith("quantile") else ""
        return text.format(fn=fn, c=name(c), p=part, w=where(cols)), kind
    fn = one_of("min", "max", "first", "last", "count", "count_distinct") if cols[c] != "bool" else one_of("any", "all", "count")
    if cols[c] in ("text", "key") and chance(0.3):
        return "concat_agg(%s, '|')" % name(c), "text"
    return f"{fn}({name(c)})", "int" if fn.startswith("count") else cols[c]


def step_group(cols):
    keys, by, after = [], [], {}
    for c in [c for c in some(cols) if cols[c] != "float"][:random.randint(0, 2)]:
        by.append(c)
        after[c] = cols[c]
    keys += by
    if of(cols, "int") and chance(0.2):
        keys.append({"as": "half", "expr": "%s // 2" % name(of(cols, "int")[0])})
        after["half"] = "int"
    agg = [{"as": "rows", "expr": "count()"}]
    after["rows"] = "int"
    for c in cols:
        if c not in by and chance(0.7) and len(agg) < 5:
            text, kind = aggregate(cols, c)
            agg.append({"as": f"g_{c}", "expr": text})
            after[f"g_{c}"] = kind
    step = {"op": "group_by", "by": keys, "agg": agg}
    if chance(0.3):
        step["order"] = "sorted"
    if chance(0.2):
        step["null_keys"] = one_of("drop", "drop", "error")
    if chance(0.2):
        step["having"] = "rows > 1"
    if chance(0.2):
        names = [k if isinstance(k, str) else k["as"] for k in keys]
        sets = [[], *([n] for n in names), names] if len(names) > 1 else [names, []][:len(names) + 1]
        step["sets"] = one_of("rollup", "cube", random.sample(sets, random.randint(1, len(sets))))
        if chance(0.5):
            step["sets_as"] = "set of keys"
            after["set of keys"] = "text"
    return step, after


def key_formulas(cols, names):
    """Pairs of keys that are formulas, on one side at least."""
    out = []
    for c in names:
        text, other, more = {"key": ("upper(left({}, 1))", "k", "upper(left(k, 1))"), "int": ("{} % 3", "w", "w % 3"),
                             "date": ("{} + 1", "e", "date_trunc(e, 'month')")}.get(cols[c], ("floor({})", "w", "w + 1"))
        side = {"right_expr": more} if chance(0.7) else {"right": other}
        out.append({"left_expr": text.format(name(c)), **side})
    return out


def step_join(cols):
    how = one_of("inner", "left", "right", "full", "semi", "anti", "cross")
    step = {"op": "join", "with": "side", "how": how}
    pairs = [("k", "k")] * (cols.get("k") == "key") + [(c, "w") for c in of(cols, *NUMBERS)] + [(c, "e") for c in of(cols, "date")]
    if how == "cross" or not pairs:
        step["how"] = how = "cross"
        on = []
    else:
        on = random.sample(pairs, min(len(pairs), one_of(1, 1, 2)))
        on = list({right: (left, right) for left, right in on}.values())
        if [left for left, _ in on] == ["k"] and chance(0.5):
            step[one_of("on", "using")] = "k" if chance(0.5) else ["k"]
        else:
            step["on"] = [{"left": left, "right": right} for left, right in on]
        if chance(0.2):
            step["on"], on = key_formulas(cols, [left for left, _ in on]), []
            step.pop("using", None)
    if chance(0.2):
        step["nulls_equal"] = True
    if chance(0.2):
        step["suffix"] = "_s"
    if chance(0.2):
        step["cardinality"] = one_of("m:1", "1:m", "1:1")
    if chance(0.2):
        step["match"] = one_of("all_left", "all_right", "all")
    after = dict(cols)
    if how not in ("semi", "anti"):
        show = how in ("right", "full") and chance(0.3)
        if show:
            step["coalesce_keys"] = False
        if how in ("right", "full") and not show:
            for left, right in on:
                if SIDE[right] == "float" or cols[left] == "float":
                    after[left] = "float"
        for c, kind in SIDE.items():
            if show or c not in [right for _, right in on]:
                after[c + step.get("suffix", "_right") if c in after else c] = kind
    if chance(0.2):
        step["indicator_as"] = "which"
        after["which"] = "text"
    return step, after


def step_union(cols):
    step = {"op": "union", "with": one_of(["side"], ["side"], ["side", "side"])}
    after = dict(cols)
    if chance(0.2) and len(cols) == len(SIDE):
        step["by"] = "position"
        after = {c: mixed(a, b) for (c, a), b in zip(cols.items(), SIDE.values())}
    else:
        for c, kind in SIDE.items():
            after[c] = mixed(after[c], kind) if c in after else kind
    if chance(0.2):
        step["fill_missing"] = False
    if chance(0.3):
        step["source_as"] = "src"
        after["src"] = "key"
    return step, after


def mixed(a, b):
    if a == b or {a, b} <= {"key", "text", "amount"}:
        return a
    if {a, b} <= {"int", "float", "dec"}:
        return "float" if "float" in (a, b) else "dec"
    return "stamp" if {a, b} == {"date", "stamp"} else MIXED


def step_longer(cols):
    # the digits of a float that is an int in the source stay when it becomes text
    values = of(cols, *NUMBERS) if chance(0.7) else some(c for c in cols if cols[c] != "float")
    keep = [c for c in cols if c not in values]
    if len(values) < 2 or {"name", "value", "what", "part"} & set(keep):
        return step_filter(cols)
    step = {"op": "pivot_longer"}
    if chance(0.5) or not keep:
        step["cols"] = values
    else:
        step["keep"], values = keep, [c for c in cols if c in values]  # in the table's order
    kinds = {cols[c] for c in values}
    kind = kinds.pop() if len(kinds) == 1 else "float" if kinds <= set(NUMBERS) else MIXED
    after = {c: cols[c] for c in keep}
    if chance(0.3):
        step.update(names_to=["what", "part"], names_pattern="(.)(.*)", values_to="v")
        after.update(what="key", part="text", v=kind)
    elif chance(0.3) and not {c[0] for c in values} & set(keep):
        step.update(names_to=[".value", "part"], names_pattern="(.)(.*)")
        after["part"] = "text"
        for c in values:
            after[c[0]] = mixed(after[c[0]], cols[c]) if c[0] in after else cols[c]
    else:
        after.update(name="key", value=kind)
    if chance(0.3):
        step["drop_nulls"] = True
    if chance(0.3):
        step["order"] = "cols"
    return step, after


def step_wider(cols):
    """The last step: its columns come from the data."""
    labels, values = of(cols, "key", "bool", "int", "date"), some(cols)[:2]
    labels = [c for c in labels if c not in values][:random.randint(1, 2)]
    if not labels or len(cols) < 2:
        return step_filter(cols)
    step = {"op": "pivot_wider", "names_from": labels, "values_from": values}
    if chance(0.7):
        numbers = all(cols[c] in NUMBERS for c in values)
        step["agg"] = one_of("sum", "max", "count", "mean") if numbers else one_of("first", "last", "count")
    if chance(0.5):
        step["id"] = [c for c in cols if c not in labels + values][:1] or labels[:1]
    if all(cols[c] in NUMBERS for c in values) and chance(0.4):
        step["fill"] = 0
    if chance(0.3):
        step["names_order"] = "sorted"
    if chance(0.2):
        step.update(names_sep="/", names_prefix="p")
    if labels == ["k"] and chance(0.3):
        step["names"] = ["red", "green", "blue", "a longer key of many bytes", "null"][:random.randint(3, 5)]
    return step, None


def step_cast(cols):
    c = random.choice(list(cols))
    to = {"int": one_of("float", "text", "int"), "float": one_of("int", "text"), "date": "text",
          "bool": one_of("text", "int"), "stamp": one_of("text", "date"), "dec": one_of("text", "float", "int")}.get(cols[c], one_of("text", "int", "float"))
    item = {"name": c, "type": to}
    if chance(0.7):
        item["on_error"] = one_of("null", "null", "keep_text")
    kept = item.get("on_error") == "keep_text"  # then only the data tell the type
    return {"op": "cast", "types": [item]}, None if kept else dict(cols, **{c: to})


def step_fill(cols):
    names = some(cols)
    step = {"op": "fill", "cols": names, "dir": one_of("down", "up")}
    if chance(0.4):
        step["by"] = some(without(cols, names) or cols)[:1]
    if chance(0.3):
        step["limit"] = random.randint(1, 2)
    numbers = of(cols, one_of(*NUMBERS))
    if chance(0.2) and len(numbers) > 1:
        return {"op": "fill", "cols": numbers, "dir": one_of("right", "left")}, cols
    return step, cols


def step_fill_null(cols):
    c = random.choice(list(cols))
    if isinstance(cols[c], Mixed):  # text, or what else pandas takes it for
        return step_filter(cols)
    step = {"op": "fill_null", "cols": [c]}
    value = {"int": 0, "float": 0.5, "bool": False, "date": "2024-01-01", "stamp": "2024-01-01T10:30:00", "dec": 1.25}.get(cols[c], "none")
    if cols[c] in NUMBERS and chance(0.4):
        step["expr"], kind = formula(cols, *NUMBERS)
        return step, dict(cols, **{c: "float" if "float" in (kind, cols[c]) else "int"})
    step["value"] = value
    return step, cols


def step_replace(cols):
    kind = one_of(*sorted(set(cols.values())))
    if kind not in ("int", "key", "text", "bool"):
        return step_filter(cols)
    pairs = {"int": [{"from": 1, "to": 10}, {"from": 2}], "key": [{"from": "red", "to": "rot"}, {"to": "none"}],
             "text": [{"from": "", "to": "empty"}, {"from": "a", "to": "A"}], "bool": [{"from": True, "to": False}]}[kind]
    step = {"op": "replace_values", "cols": of(cols, kind), "map": pairs}
    if chance(0.4):
        step["else"] = one_of("keep", "null", "error")
    return step, cols


def step_parse_number(cols):
    names = of(cols, "amount", "text")
    if not names:
        return step_filter(cols)
    step = {"op": "parse_number", "cols": names, "on_error": one_of("null", "null", "null", "error")}
    if chance(0.3):
        step["percent"] = "points"
    return step, dict(cols, **{c: "float" for c in names})


def step_set(cols):
    both = [c for c in cols if SIDE.get(c) == cols[c]]
    if not both:
        return step_filter(cols)
    step = {"op": one_of("intersect", "except"), "with": "side", "cols": some(both)}
    if chance(0.4):
        step["all"] = True
    return step, cols


def step_lookup(cols):
    if cols.get("k") != "key" or "rate" in cols:
        return step_filter(cols)
    step = {"op": "lookup_value", "with": "side", "key": "k", "value": one_of("w", "f"), "as": "rate"}
    if chance(0.3):
        step.update(on_missing="default", default=0)
    return step, dict(cols, rate={"w": "int"}.get(step["value"], "float"))


def step_asof(cols):
    pairs = [(c, "f") for c in of(cols, *NUMBERS)] + [(c, "e") for c in of(cols, "date", "stamp")]
    if not pairs:
        return step_filter(cols)
    left, right = random.choice(pairs)
    step = {"op": "asof_join", "with": "side", "on": {"left": left, "right": right},
            "dir": one_of("backward", "forward", "nearest"), "how": one_of("left", "inner"), "allow_exact": chance(0.7)}
    keys = ["k"] if cols.get("k") == "key" and chance(0.5) else []
    if keys:
        step["by"] = "k"
    if chance(0.3):
        step["tolerance"] = "30d" if right == "e" else 2
    suffix = one_of("_right", "_near")
    if suffix != "_right":
        step["suffix"] = suffix
    after = dict(cols)
    for c, kind in SIDE.items():
        if c not in keys:
            after[c + suffix if c in after else c] = kind
    return step, after


def step_range_join(cols):
    """Pairs that meet a condition of both sides."""
    pairs = [(c, "f") for c in of(cols, *NUMBERS)] + [(c, "w") for c in of(cols, *NUMBERS)] + [(c, "e") for c in of(cols, "date")]
    if not pairs or "k_right" in cols:
        return step_filter(cols)
    tests = ["left.%s %s right.%s" % (name(left), one_of(">=", "<", "==", ">"), right)
             for left, right in random.sample(pairs, min(len(pairs), random.randint(1, 2)))]
    if cols.get("k") == "key" and chance(0.4):
        tests.append("left.k == right.k")
    step = {"op": "range_join", "with": "side", "where": " and ".join(tests), "how": one_of("inner", "left")}
    return step, {**cols, **{c + "_right" if c in cols else c: kind for c, kind in SIDE.items()}}


def step_checkpoint(cols):
    return {"op": "checkpoint", "label": "here"}, cols


def step_repair(cols):
    step = one_of({"op": "skip_rows", "head": random.randint(0, 3), "tail": random.randint(0, 3)},
                  {"op": "skip_rows", "until": "red"}, {"op": "skip_rows", "comment": "t"},
                  {"op": "drop_empty"}, {"op": "drop_rows", "kinds": ["blank", "totals"]},
                  {"op": "drop_rows", "kinds": ["footnotes", "repeated_header"]}, {"op": "drop_rows", "where": where(cols)},
                  {"op": "drop_rows", "kinds": "totals", "verify": False})
    return step, cols


def window_call(cols, ordered):
    """A window call and the kind of its value."""
    c = random.choice(list(cols))
    number = random.choice(of(cols, *NUMBERS)) if of(cols, *NUMBERS) else None
    if ordered and chance(0.3):
        form = one_of("rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(3)")
        return form, "float" if form[0] in "pc" else "int"
    if number is None or chance(0.4):
        form = one_of("lag({})", "lead({}, 2)", "first_value({})", "last_value({})", "nth_value({}, 2)", "fill_down({})",
                      "fill_up({})", "row_number()", "cum_count({})")
        return form.format(name(c)), "int" if form[0] in "rc" else cols[c]
    form, kind = one_of(("cum_sum({})", None), ("cum_min({})", None), ("cum_max({})", None), ("diff({})", None),
                        ("roll_sum({}, 3)", None), ("roll_min({}, 2, 1)", None), ("roll_max({}, 3, 1)", None),
                        ("cum_mean({})", "float"), ("roll_mean({}, 3, 1)", "float"), ("roll_median({}, 4, 2)", "float"),
                        ("roll_std({}, 4, 2)", "float"), ("pct_change({})", "float"), ("share({})", "float"),
                        ("ewm_mean({}, 0.5)", "float"), ("interpolate({})", "float"), ("lag({}, 1, 0)", None),
                        ("mean({})", "float"), ("sum({})", None), ("min({})", None), ("median({})", "float"),
                        ("sum({}, where: {} > 1)", None), ("count({})", "int"), ("{} - mean({})", "float"), ("cum_prod({} % 3)", None), ("std({})", "float"), ("max({})", None),
                        ("roll_sum({}, 2, 2) / roll_mean({}, 2)", "float"), ("quantile({}, 0.25)", "float"), ("count()", "int"),
                        ("count_distinct({})", "int"), ("share({}) * 100", "float"), ("lead({}, 1)", None))
    if form.startswith("share") and not weights(cols, [number]):
        form = "cum_max({})"
    return form.format(*[name(number)] * form.count("{}")), kind or cols[number]


def step_window(cols):
    """Without `order` and `frame` the step may be a derive."""
    plain = chance(0.4)
    keys = some(of(cols, "key", "int", "bool") or list(cols)) if chance(0.6) else []
    step = {"op": "derive" if plain else "window", "set": []}
    if keys:
        step["by"] = keys
    if not plain and chance(0.6):
        step["order"] = [{"col": c, "desc": chance(0.5), "nulls": one_of("last", "first")} for c in some(cols)[:2]]
    made = {}
    for i in range(random.randint(1, 3)):
        text, kind = window_call(cols, "order" in step)
        item = {"as": "w%d" % i, "expr": text}
        if not plain and chance(0.4) and text.startswith(("first", "last", "nth", "mean", "sum", "min", "count")):
            item["frame"] = {"rows": one_of([-1, 1], [None, 0], [0, None], [-2, -1], [1, 2])}
            order = step.get("order", [])
            along = cols[order[0]["col"]] if len(order) == 1 else None
            if along in (*NUMBERS, "date") and chance(0.7):
                low, high, here = ("-7d", "1mo", "0d") if along == "date" else (-2, 1.5, 0)
                item["frame"] = {"range": one_of([low, high], [None, high], [low, None], [low, here])}
        step["set"].append(item)
        made[item["as"]] = kind
    return step, dict(cols, **made)


STEPS = [step_window, step_filter, step_derive, step_derive, step_derive, step_derive, step_sort, step_select, step_drop, step_rename,
         step_limit, step_distinct,
         step_join, step_join, step_union, step_longer, step_longer, step_group, step_cast, step_fill, step_fill_null,
         step_replace, step_parse_number, step_repair, step_set, step_lookup, step_asof, step_asof,
         step_range_join, step_checkpoint]
