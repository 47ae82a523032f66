"""Ops that summarise a table or compare two."""
import math

import pandas as pd

from dxagg import COUNTS, FLOATS, aggregate
from dxfn import int64, text_of
from dxop import column_of, common, flags, group_rows, keys_of, kind_of, names_of, pick, plain, take, texts

__all__ = ["describe", "crosstab", "add_totals", "diff_tables", "range_join"]

NUMBERS = ("int", "float", "decimal")


def quarter(p):
    return lambda v: aggregate("quantile", v, p)


# name: (only for numbers, function)
STATS = {"n": (False, lambda v: aggregate("count", v)), "nulls": (False, lambda v: sum(x is None for x in v)),
         "distinct": (False, lambda v: aggregate("count_distinct", v)),
         "min": (False, lambda v: aggregate("min", v)), "q1": (True, quarter(0.25)), "median": (True, quarter(0.5)),
         "q3": (True, quarter(0.75)), "max": (False, lambda v: aggregate("max", v)),
         "mean": (True, lambda v: aggregate("mean", v)), "sd": (True, lambda v: aggregate("std", v))}


def describe(df, cols=None, by=()):
    """Statistics: one row per column, or per group and column."""
    by = names_of(by)
    cols = [c for c in (df.columns if cols is None else names_of(cols)) if c not in by]
    groups = list(group_rows(df, by).values()) if by else [list(range(len(df)))]
    kinds = {c: kind_of(df[c]) for c in cols}
    extreme = common(kinds.values())
    out = {c: pick(df[c], [rows[0] for rows in groups for _ in cols]) for c in by}
    made = {"column": [c for _ in groups for c in cols], "type": [kinds[c] for _ in groups for c in cols]}
    values = {c: plain(df[c]) for c in cols}
    for name, (numbers, what) in STATS.items():
        got = [what([values[c][r] for r in rows]) if not numbers or kinds[c] in NUMBERS else None
               for rows in groups for c in cols]
        if name in ("min", "max") and extreme == "text":
            got = [None if v is None else text_of(v) for v in got]
        made[name] = column_of(got, extreme if name in ("min", "max") else "float" if numbers else "int")
    for name in made:
        if name in out:
            raise ValueError("two columns would be called '%s'" % name)
    return pd.DataFrame({**out, **made}, index=range(len(groups) * len(cols)))


def share(v, whole):
    got = None if v is None or not whole else float(v) / float(whole)
    return got if got is None or math.isfinite(got) else None


def crosstab(df, rows, cols, value=None, agg="count", margins=False, normalize=None):
    """Counts how often values occur together. A total is the aggregate of all its rows."""
    df, rows, cols = df.reset_index(drop=True), names_of(rows), names_of(cols)
    if value is None and agg != "count":
        raise ValueError("crosstab: agg '%s' needs value" % agg)
    left, right = keys_of(df, rows), keys_of(df, cols)
    ids, names = group_rows(df, rows), list(dict.fromkeys(right))
    words = dict(zip(right, zip(*(texts(df[c]) for c in cols))))
    values = plain(df[value]) if value else [1] * len(df)
    cells = {}
    for r, (i, n) in enumerate(zip(left, right)):
        for at in ((i, n), (i, 0), (0, n), (0, 0)):
            cells.setdefault(at, []).append(values[r])
    count = 0 if agg in COUNTS else None

    def cell(i, n):
        return aggregate(agg, cells[i, n]) if (i, n) in cells else count

    def shown(i, n):
        whole = {"rows": (i, 0), "cols": (0, n), "all": (0, 0)}
        return share(cell(i, n), cell(*whole[normalize])) if normalize else cell(i, n)

    kind = "float" if normalize or agg in FLOATS else "int" if agg in COUNTS else kind_of(df[value])
    lines = list(ids) + ([0] if margins else [])
    first = [rows_of[0] for rows_of in ids.values()] + ([None] if margins else [])
    out = {c: pick(df[c], first) for c in rows}
    if margins:
        out[rows[0]] = column_of(texts(out[rows[0]])[:-1] + ["Total"], "text")
    for n in names + ([0] if margins else []):
        name = "_".join("null" if word is None else word for word in words[n]) if n else "Total"
        if name in out:
            raise ValueError("crosstab: two columns would be called '%s'" % name)
        out[name] = column_of([shown(i, n) for i in lines], kind)
    return pd.DataFrame(out, index=range(len(lines)))


def row_sum(values):
    """The sum of a row from left to right, without nulls."""
    known, out = [v for v in values if v is not None], None
    if any(isinstance(v, float) for v in known):
        known = [float(v) for v in known]
    for v in known:
        out = v if out is None else out + v
    return int64(out) if isinstance(out, int) else out


def add_totals(df, rows=True, column=False, cols=None, by=(), grand=False, label="Total", label_as=None):
    """Adds rows and a column of totals."""
    df, by = df.reset_index(drop=True), names_of(by)
    if not rows and (by or not column) or grand and not by:
        raise ValueError("add_totals: nothing to add")
    numbers = [c for c in df.columns if c not in by and kind_of(df[c]) in NUMBERS] if cols is None else names_of(cols)
    words = [c for c in df.columns if kind_of(df[c]) == "text"]
    words = [c for c in words if c not in by][:1] or words[-1:]
    if column:
        if label in df.columns:
            raise ValueError("there is already a column '%s'" % label)
        sums = [row_sum(v) for v in zip(*(plain(df[c]) for c in numbers))] if numbers else [None] * len(df)
        kind = common(kind_of(df[c]) for c in numbers)
        df, numbers = df.assign(**{label: column_of(sums, "int" if kind == "null" else kind)}), numbers + [label]
    if not rows:
        return df
    if label_as is not None:
        df, words = df.assign(**{label_as: None}), [label_as]
    groups = list(group_rows(df, by).values()) if by else [list(range(len(df)))]
    ends = {part[-1]: part for part in groups if part}
    lines = []  # a row, or the list of rows that are summed
    for r in range(len(df)):
        lines += [r] + ([ends[r]] if r in ends else [])
    if not by and not len(df):
        lines.append([])
    if grand:
        lines.append(list(range(len(df))))
    out = {}
    for c in df.columns:
        values = plain(df[c])

        def total(part):
            if c in numbers:
                return aggregate("sum", [values[r] for r in part])
            key = values[part[0]] if c in by and not (grand and part is lines[-1]) else None
            if c not in words:
                return key
            return label if key is None else key + " " + label
        out[c] = column_of([total(at) if isinstance(at, list) else values[at] for at in lines],
                           "text" if c == label_as else kind_of(df[c]))
    return pd.DataFrame(out, index=range(len(lines)))


def diff_tables(df, other, key, cols=None):
    """What changed from another table to this one: added and changed rows, then removed ones."""
    df, other = df.reset_index(drop=True), other.reset_index(drop=True)
    pairs = [(p["left"], p["right"]) if isinstance(p, dict) else (p, p) for p in names_of(key)]
    key = [left for left, _ in pairs]
    cols = [c for c in (df.columns if cols is None else names_of(cols)) if c not in key]
    sides = []
    for side, names in (df, key), (other, [right for _, right in pairs]):
        keys = keys_of(side, names)
        if len(set(keys)) < len(keys):
            raise ValueError("diff_tables: a key occurs more than once")
        sides.append({k: r for r, k in enumerate(keys)})
    new, old = sides
    values = {c: (plain(df[c]), plain(other[c])) for c in cols}
    lines = []
    for k, r in new.items():
        if k not in old:
            lines.append(("added", r, None))
        elif any(now[r] != was[old[k]] for now, was in values.values()):
            lines.append(("changed", r, old[k]))
    lines += [("removed", None, r) for k, r in old.items() if k not in new]
    out = {"_change": column_of([what for what, _, _ in lines], "text")}
    news, olds = [n for _, n, _ in lines], [o for _, _, o in lines]
    for c, theirs in pairs:
        now, was = plain(df[c]), plain(other[theirs])
        out[c] = column_of([was[o] if n is None else now[n] for n, o in zip(news, olds)],
                           common([kind_of(df[c]), kind_of(other[theirs])]))
    for c in cols:
        out[c] = pick(df[c], news)
    for c in cols:
        if c + "_old" in out:
            raise ValueError("two columns would be called '%s_old'" % c)
        out[c + "_old"] = pick(other[c], olds)
    return pd.DataFrame(out, index=range(len(lines)))


def range_join(df, other, where, how="inner", suffix="_right"):
    """The pairs of rows for which a condition over left.NAME and right.NAME is true."""
    df, other = df.reset_index(drop=True), other.reset_index(drop=True)
    pairs, m = [], len(other)
    for i in range(len(df)):
        t = pd.concat([pick(df[c], [i] * m).rename("left." + c) for c in df.columns] +
                      [other[c].rename("right." + c) for c in other.columns], axis=1)
        met = [r for r, yes in enumerate(flags(where(t), m)) if yes]
        pairs += [(i, r) for r in met or ([None] if how == "left" else [])]
    out = {c: pick(df[c], [i for i, _ in pairs]) for c in df.columns}
    for c in other.columns:
        name = c + suffix if c in out else c
        if name in out:
            raise ValueError("range_join: two columns would be called '%s'" % name)
        out[name] = pick(other[c], [r for _, r in pairs])
    return pd.DataFrame(out, index=range(len(pairs)))
