"""dx: what plain pandas does differently from dtx, done as dtx does it.

Plain pandas inside; nothing is patched.  Rules: a null is a group, a null key matches nothing,
a sum of nothing is null, rows keep their order, halves round away from zero, integers never wrap.
"""
import datetime
import decimal

import numpy as np
import pandas as pd

INT_MIN, INT_MAX = -2**63, 2**63 - 1
# name: (pandas aggregate, keyword arguments)
AGGREGATES = {
    "sum": ("sum", {"min_count": 1}), "mean": ("mean", {}), "min": ("min", {}),
    "max": ("max", {}), "median": ("median", {}), "std": ("std", {}), "var": ("var", {}),
    "first": ("first", {}), "last": ("last", {}), "count": ("count", {}),
    "count_distinct": ("nunique", {}),
}


def names(columns):
    return [columns] if isinstance(columns, str) else list(columns)


# --- groups ---


def one_aggregate(groups, column, fn):
    if fn not in AGGREGATES:
        raise ValueError("no aggregate '%s'; there are %s" % (fn, ", ".join(sorted(AGGREGATES))))
    method, words = AGGREGATES[fn]
    return getattr(groups[column], method)(**words)


def group_ids(df, by):
    """Number of the group of each row, in first-seen order; null is a key like any other."""
    if not by:
        return pd.Series(np.zeros(len(df), "i8"), index=df.index)
    return df.groupby(by, dropna=False, sort=False, observed=True).ngroup()


def group_by(df, by, agg):
    """dx.group_by(df, ["region"], {"total": ("hours", "sum"), "n": "count"})

    One row per distinct key, first seen first; `agg` maps new columns to (column, aggregate),
    or to "count" for the number of rows.  Without keys: one row, even of an empty table.
    """
    by = names(by)
    df = df.reset_index(drop=True)
    ids = group_ids(df, by)
    groups = df.groupby(ids, sort=True)
    keys = df.loc[~ids.duplicated(), by].reset_index(drop=True)
    n = 1 if not by else len(keys)
    out = {}
    for name, what in agg.items():
        if what == "count":
            got = groups.size()
        else:
            column, fn = what
            got = one_aggregate(groups, column, fn)
        fill = {"fill_value": 0} if what == "count" or what[1] in ("count", "count_distinct") else {}
        out[name] = got.reset_index(drop=True).reindex(range(n), **fill)
    return pd.concat([keys, pd.DataFrame(out, index=range(n))], axis=1)


# --- join ---

HOW = ("inner", "left", "right", "full", "semi", "anti")


def with_places(df, keys, place):
    """Rows that can match, with their place; a null key matches nothing."""
    df = df.assign(**{place: np.arange(len(df))})
    return df[df[keys].notna().all(axis=1)]


def join(left, right, on, how="inner", suffix="_right"):
    """dx.join(left, right, on="id", how="left"); on: a name, names, or {left: right}.

    Rows in left order, matches in right order, unmatched right rows last.  Output: left columns,
    then right columns without the keys; a clash takes the suffix.
    """
    if how not in HOW:
        raise ValueError("no join '%s'; there are %s" % (how, ", ".join(HOW)))
    pairs = dict(on) if isinstance(on, dict) else {k: k for k in names(on)}
    lk, rk = list(pairs), list(pairs.values())
    left, right = left.reset_index(drop=True), right.reset_index(drop=True)
    a = with_places(left, lk, "\0l")[lk + ["\0l"]]
    b = with_places(right, rk, "\0r")[rk + ["\0r"]].rename(columns=dict(zip(rk, lk)))
    hit = a.merge(b, on=lk, how="inner").sort_values(["\0l", "\0r"], kind="stable")
    if how in ("semi", "anti"):
        matched = left.index.isin(hit["\0l"])
        return left[matched if how == "semi" else ~matched].reset_index(drop=True)
    rows = [hit[["\0l", "\0r"]].astype("Int64")]
    if how in ("left", "full"):
        rest = left.index[~left.index.isin(hit["\0l"])]
        rows.append(pd.DataFrame({"\0l": rest, "\0r": pd.NA}).astype("Int64"))
    rows = [pd.concat(rows).sort_values(["\0l", "\0r"], kind="stable")]
    if how in ("right", "full"):
        rest = right.index[~right.index.isin(hit["\0r"])]
        rows.append(pd.DataFrame({"\0l": pd.NA, "\0r": rest}).astype("Int64"))
    at = pd.concat(rows, ignore_index=True)
    return glue(left, right, pairs, at, suffix)


def take(column, at):
    """Rows `at`, null where at is."""
    if at.isna().any() and column.dtype.kind in "iub":
        column = column.astype("boolean" if column.dtype.kind == "b" else "Int64")
    return column.reindex(at.to_numpy(dtype="f8", na_value=np.nan)).reset_index(drop=True)


def glue(left, right, pairs, at, suffix):
    out = {}
    for name in left.columns:
        got = take(left[name], at["\0l"])
        if name in pairs:  # a row of the right side alone shows its key here
            other = take(right[pairs[name]], at["\0r"])
            got = got.where(at["\0l"].notna(), other) if at["\0l"].isna().any() else got
        out[name] = got
    for name in right.columns:
        if name in pairs.values():
            continue
        out[name + suffix if name in out else name] = take(right[name], at["\0r"])
    return pd.DataFrame(out)


# --- shape ---


def pivot_longer(df, cols, names_to="name", values_to="value", drop_nulls=False):
    """Row by row: all pieces of row 1, then those of row 2; nulls stay unless told otherwise."""
    cols = names(cols)
    keep = [c for c in df.columns if c not in cols]
    df = df.reset_index(drop=True)
    parts = []
    for i, c in enumerate(cols):
        part = df[keep].copy()
        part[names_to] = c
        part[values_to] = df[c]
        part["\0row"], part["\0col"] = np.arange(len(df)), i
        parts.append(part)
    out = pd.concat(parts, ignore_index=True).sort_values(["\0row", "\0col"], kind="stable")
    out = out.drop(columns=["\0row", "\0col"])
    if drop_nulls:
        out = out[out[values_to].notna()]
    return out.reset_index(drop=True)


def pivot_wider(df, names_from, values_from, id=None, agg=None, fill=None):
    """One row per id, first seen; columns in order of appearance; a repeated cell needs `agg`."""
    names_from = names(names_from)
    id = [c for c in df.columns if c not in names_from + [values_from]] if id is None else names(id)
    df = df.reset_index(drop=True)
    label = df[names_from].apply(
        lambda r: "_".join("null" if pd.isna(v) else str(v) for v in r), axis=1)
    row = group_ids(df, id)
    cells = pd.DataFrame({"row": row, "label": label, "value": df[values_from]})
    if cells.duplicated(["row", "label"]).any():
        if agg is None:
            raise ValueError("pivot_wider: several rows for one cell; name an aggregate")
        cells = group_by(cells, ["row", "label"], {"value": ("value", agg)})
    out = df.loc[~row.duplicated(), id].reset_index(drop=True)
    for name in dict.fromkeys(label):
        part = cells[cells["label"] == name].set_index("row")["value"]
        got = part.reindex(range(len(out)))
        if fill is not None:
            got = got.where(got.index.isin(part.index), fill)
        elif part.dtype.kind == "i" and got.isna().any():
            got = part.astype("Int64").reindex(range(len(out)))
        out[name] = got.array
    return out


# --- values ---


def round_one(value, digits):
    if value is None or pd.isna(value):
        return value
    exact = decimal.Decimal(repr(float(value)))  # the digits that are shown, not the binary value
    step = decimal.Decimal(1).scaleb(-digits)
    return float(exact.quantize(step, decimal.ROUND_HALF_UP, decimal.Context(prec=400)))


def round(values, digits=0):
    """Halves go away from zero, as on paper: dx.round(2.675, 2) is 2.68."""
    if isinstance(values, pd.Series):
        if values.dtype.kind in "iu" and digits >= 0:
            return values
        return values.map(lambda v: round_one(v, digits))
    return round_one(values, digits)


def if_(condition, yes, no):
    """yes where the condition is true, no where it is false or null."""
    index = condition.index
    true = condition.fillna(False).astype(bool)
    pick = [v if isinstance(v, pd.Series) else pd.Series([v] * len(index), index=index)
            for v in (yes, no)]
    return pick[0].where(true, pick[1])


def case(*pairs, default=None):
    """dx.case((cond, value), ..., default=value): the first condition that is true decides."""
    index = pairs[0][0].index
    out = default if isinstance(default, pd.Series) else pd.Series([default] * len(index), index=index)
    for condition, value in reversed(pairs):
        out = if_(condition, value, out)
    return out.infer_objects()


def to_date(values, format):
    """Dates of one declared format; what does not read is an error, null stays null."""
    def one(v):
        return pd.NaT if v is None or pd.isna(v) else datetime.datetime.strptime(v.strip(), format)
    return pd.to_datetime(values.map(one))


def checked(name, a, b, fn):
    """Integer arithmetic of any width, back to int64 or an error."""
    index = next(v.index for v in (a, b) if isinstance(v, pd.Series))
    side = [v if isinstance(v, pd.Series) else pd.Series([v] * len(index), index=index)
            for v in (a, b)]
    out = []
    for x, y in zip(*side):
        if pd.isna(x) or pd.isna(y):
            out.append(pd.NA)
            continue
        v = fn(int(x), int(y))
        if v is not pd.NA and not INT_MIN <= v <= INT_MAX:
            raise OverflowError("%s(%d, %d) does not fit 64 bits" % (name, x, y))
        out.append(v)
    return pd.Series(out, index=index, dtype="Int64")


def add(a, b):
    return checked("add", a, b, lambda x, y: x + y)


def sub(a, b):
    return checked("sub", a, b, lambda x, y: x - y)


def mul(a, b):
    return checked("mul", a, b, lambda x, y: x * y)


def floordiv(a, b):
    """Null where b is 0."""
    return checked("floordiv", a, b, lambda x, y: x // y if y else pd.NA)


def mod(a, b):
    return checked("mod", a, b, lambda x, y: x % y if y else pd.NA)


def div(a, b):
    """Float division; null where b is 0."""
    got = pd.to_numeric(a).astype("Float64") / pd.to_numeric(b).astype("Float64") \
        if isinstance(b, pd.Series) else a.astype("Float64") / b
    return got.replace([np.inf, -np.inf], np.nan).astype("f8")
