"""Ops that look at the values of a column: ranges, scales, outliers, samples, missing values."""
import calendar
import datetime
import fractions
import hashlib
import math
import re

import pandas as pd

from dxagg import deviation, mean, quantile
from dxfn import text_of
from dxop import (as_kind, column_of, constant, fits, group_rows, kind_of, names_of, pick, plain, take,
                  texts)
from dxrepair import numbered, tidy_name
from dxwords import DIGITS, digits_of

# --- counts and keys ---


def freq(df, cols, n=None, sort=True):
    """Counts how often each value occurs."""
    cols = names_of(cols)
    if {"count", "share"} & set(cols):
        raise ValueError("freq: a column is called 'count' or 'share'")
    groups = list(group_rows(df, cols).values())
    if sort:
        groups.sort(key=len, reverse=True)
    groups = groups[:n]
    out = take(df[cols], [rows[0] for rows in groups])
    return out.assign(count=column_of([len(rows) for rows in groups], "int"),
                      share=column_of([len(rows) / len(df) for rows in groups], "float"))


def add_id(df, as_="row_id", start=1, by=(), hash_of=None):
    """Numbers the rows, or gives the SHA-256 of their cells as text, each preceded by its length.
    """
    if as_ in df.columns:
        raise ValueError("add_id: there is already a column '%s'" % as_)
    values = [None] * len(df)
    for rows in group_rows(df, names_of(by)).values() if hash_of is None else ():
        for k, row in enumerate(rows):
            values[row] = start + k
    if hash_of is not None:
        values = [hash_row(row) for row in zip(*(texts(df[c]) for c in names_of(hash_of)))]
    out = df.reset_index(drop=True)
    out.insert(0, as_, column_of(values, "int" if hash_of is None else "text"))
    return out


def hash_row(row):
    sha = hashlib.sha256()
    for text in row:
        raw = b"" if text is None else text.encode()
        sha.update((2**64 - 1 if text is None else len(raw)).to_bytes(8, "little") + raw)
    return sha.hexdigest()


def dummies(df, cols, prefix=None, sep="_", drop_first=False):
    """One bool column per value, at the place of its column."""
    cols, names, out = names_of(cols), [], []
    for name in df.columns:
        if name not in cols:
            names.append(name)
            out.append(df[name].reset_index(drop=True))
            continue
        values, written = plain(df[name]), texts(df[name])
        known = sorted({v for v in values if v is not None})
        for value in known[1:] if drop_first else known:
            names.append(tidy_name((name if prefix is None else prefix) + sep + written[values.index(value)]))
            out.append(pd.Series([v is not None and v == value for v in values], dtype=bool))
    names = numbered([name or "column_%d" % (i + 1) for i, name in enumerate(names)], "suffix")
    return pd.DataFrame(dict(zip(names, out)), index=range(len(df)))


# --- rows by rank and random rows ---


def top(df, n, expr, desc=True, by=(), ties="first"):
    """The rows with the largest or smallest values of each group, in their original order."""
    values, kept = plain(constant(expr(df), len(df))), []
    for rows in group_rows(df, names_of(by)).values():
        rows = sorted((r for r in rows if values[r] is not None), key=lambda r: values[r], reverse=desc)
        kept += rows[:n]
        if ties == "all" and rows[n:]:
            kept += [r for r in rows[n:] if values[r] == values[rows[n - 1]]]
    return take(df, kept)


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def sample(df, seed, n=None, frac=None, by=(), replace=False):
    """Row i of its group has the key splitmix64(seed + i); the rows with the smallest keys are
    kept."""
    kept = []
    for rows in group_rows(df, names_of(by)).values():
        if replace:
            draws = range(n or int(frac * len(rows) + 0.5))
            kept += [rows[splitmix64((seed + j) % 2**64) * len(rows) >> 64] for j in draws]
            continue
        keys = {i: splitmix64((seed + i) % 2**64) for i in range(len(rows))}
        if n:
            chosen = sorted(keys, key=lambda i: (keys[i], i))[:n]
        else:
            chosen = [i for i in keys if keys[i] < fractions.Fraction(frac) * 2**64]
        kept += [rows[i] for i in chosen]
    return take(df, sorted(kept))


# --- numbers ---


def floats_of(df, name):
    if kind_of(df[name]) not in ("int", "float", "decimal", "null"):
        raise TypeError("column '%s' holds no numbers" % name)
    return [None if v is None else float(v) for v in plain(df[name])]


def edges_of(values, n, method):
    """Edges of n ranges over ascending values; equal edges are merged."""
    edges, low, high = [], values[0], values[-1]
    if method == "log" and low <= 0:
        raise ValueError("bin: ranges on a log scale need numbers above 0, not %r" % low)
    for k in range(n + 1):
        part = k / n
        at = quantile(values, part) if method == "quantile" else \
            low * math.pow(high / low, part) if method == "log" else low + (high - low) * part
        at = high if k == n else at
        edges += [at] if not edges or at > edges[-1] else []
    return edges + [high] if len(edges) == 1 else edges


def edge_text(v):
    return "%d" % v if v.is_integer() and abs(v) < 2**53 else text_of(v)


def range_text(edges, k, closed):
    left = "[" if closed == "left" or k == 0 else "("
    right = "]" if closed == "right" or k + 2 == len(edges) else ")"
    return "%s%s,%s%s" % (left, edge_text(edges[k]), edge_text(edges[k + 1]), right)


def bin(df, col, as_, breaks=(), n=None, method="width", closed="left", labels=()):
    """The range that each number falls into; null if it is outside all of them."""
    if as_ in df.columns:
        raise ValueError("bin: there is already a column '%s'" % as_)
    values, labels = floats_of(df, col), names_of(labels)
    known = sorted(v for v in values if v is not None)
    edges = [float(b["at"]) for b in breaks] if breaks else edges_of(known, n, method) if known else []
    if labels and edges and len(labels) != len(edges) - 1:
        raise ValueError("bin: %d labels for %d ranges" % (len(labels), len(edges) - 1))

    def label(v):
        if v is None or len(edges) < 2 or not edges[0] <= v <= edges[-1]:
            return None
        above = sum(e <= v if closed == "left" else e < v for e in edges)
        k = 0 if above == 0 else min(above, len(edges) - 1) - 1
        return labels[k] if labels else range_text(edges, k, closed)
    return df.reset_index(drop=True).assign(**{as_: pd.Series([label(v) for v in values], dtype=object)})


SCALES = {
    "zscore": lambda v: (mean(v), deviation(v)),
    "minmax": lambda v: (v[0], v[-1] - v[0]),
    "robust": lambda v: (quantile(v, 0.5), quantile(v, 0.75) - quantile(v, 0.25)),
    "share": lambda v: (0.0, math.fsum(v)),
}


def of_groups(df, name, by, make):
    """Calls `make` with the ascending numbers of each group, and returns its result for each row.
    """
    values, out = floats_of(df, name), [None] * len(df)
    for rows in group_rows(df, names_of(by)).values():
        known = sorted(values[r] for r in rows if values[r] is not None)
        got = make(known) if known else None
        for r in rows:
            out[r] = got
    return values, out


def normalize(df, cols, method="zscore", by=()):
    def scaled(name):
        out = []
        for v, scale in zip(*of_groups(df, name, by, SCALES[method])):
            v = None if v is None or not scale[1] else (v - scale[0]) / scale[1]
            out.append(v or 0.0 if v is not None and math.isfinite(v) else None)
        return column_of(out, "float")
    return df.reset_index(drop=True).assign(**{c: scaled(c) for c in names_of(cols)})


def spread(method, k):
    def bounds(v):
        if method == "zscore":
            middle, unit = mean(v), deviation(v)
            return (middle - k * unit, middle + k * unit) if unit is not None else None
        if method == "iqr":
            low, high = quantile(v, 0.25), quantile(v, 0.75)
            return low - k * (high - low), high + k * (high - low)
        middle = quantile(v, 0.5)
        unit = 1.4826 * quantile(sorted(abs(x - middle) for x in v), 0.5)
        return middle - k * unit, middle + k * unit
    return bounds


def outliers(df, cols, method="iqr", k=1.5, by=(), action="flag"):
    """Finds numbers that are far from the others of their group."""
    df, out, gone = df.reset_index(drop=True), {}, set()
    for name in names_of(cols):
        values, bounds = of_groups(df, name, by, spread(method, k))
        far = [v is not None and b is not None and not b[0] <= v <= b[1] for v, b in zip(values, bounds)]
        gone |= {row for row, is_far in enumerate(far) if is_far}
        if action == "flag":
            if name + "_outlier" in df.columns:
                raise ValueError("outliers: there is already a column '%s_outlier'" % name)
            out[name + "_outlier"] = column_of([None if v is None else f for v, f in zip(values, far)], "bool")
        elif action == "null":
            out[name] = pick(df[name], [None if is_far else row for row, is_far in enumerate(far)])
        elif action == "clip":
            out[name] = column_of([v if v is None or b is None else max(b[0], min(b[1], v))
                                   for v, b in zip(values, bounds)], "float")
    return take(df, [row for row in range(len(df)) if row not in gone]) if action == "drop" else df.assign(**out)


# --- missing combinations ---

STEPS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
STEP_MONTHS = {"mo": 1, "q": 3, "y": 12}


def later(start, k, step):
    """Value number k of a sequence. A day that a month does not have becomes its last day."""
    if isinstance(start, float) or isinstance(step, float):
        return float(DIGITS.add(digits_of(start), DIGITS.multiply(digits_of(step), k)))
    if not isinstance(start, datetime.datetime):
        return start + k * step
    n, unit = (step, "d") if isinstance(step, int) else (int(re.match("[0-9]+", step)[0]), step.lstrip("0123456789"))
    if unit in STEPS:
        return start + datetime.timedelta(seconds=k * n * STEPS[unit])
    months = start.year * 12 + start.month - 1 + k * n * STEP_MONTHS[unit]
    year, month = months // 12, months % 12 + 1
    return start.replace(year=year, month=month, day=min(start.day, calendar.monthrange(year, month)[1]))


def with_steps(values, step):
    """The ascending values and all steps between the first and the last."""
    out, k = set(values), 1
    while values:
        at = later(values[0], k, step)
        if at > values[-1]:
            break
        out.add(at)
        k += 1
    return sorted(out)


def check_step(column, step):
    kind, duration = kind_of(column), isinstance(step, str)
    if kind == "text" or kind == "bool" or duration != (kind == "datetime") and kind not in ("date", "null"):
        raise TypeError("complete: the step does not fit column '%s'" % column.name)


def complete(df, cols, fill=(), seq=()):
    """Adds rows for the combinations of values that are missing, after the others, in sorted order.
    """
    cols, df, steps = names_of(cols), df.reset_index(drop=True), {s["col"]: s["step"] for s in seq}
    fill = {f["col"]: f["value"] for f in fill}
    for name in list(steps) + list(fill):
        if (name in cols) != (name in steps):
            raise ValueError("complete: column '%s'" % name)
    axes = []
    for name in cols:
        values = plain(df[name])
        known = sorted({v for v in values if v is not None})
        if name in steps:
            check_step(df[name], steps[name])
            known = with_steps(known, steps[name])
        axes.append(known + [None] * (None in values))
    there = set(zip(*(plain(df[name]) for name in cols)))
    absent = [()]
    for axis in axes:
        absent = [row + (v,) for row in absent for v in axis]
    absent = [row for row in absent if row not in there]
    out = {}
    for name in df.columns:
        kind, value = kind_of(df[name]), fill.get(name)
        if not fits(value, kind):
            raise TypeError("complete: the value does not fit column '%s'" % name)
        if name in cols:
            new = [row[cols.index(name)] for row in absent]
        else:
            new = [as_kind(value, kind)] * len(absent)
        kind = kind if kind != "null" or not new else None
        out[name] = column_of(plain(df[name]) + new, kind or kind_of(pd.Series(new)))
    return pd.DataFrame(out, index=range(len(df) + len(absent)))
