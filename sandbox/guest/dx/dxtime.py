"""Ops along the calendar: missing steps and buckets."""
import re

import pandas as pd

from dxfn import DAYS, is_none, typed
from dxop import as_kind, column_of, fits, group_rows, kind_of, names_of, pick, plain, take
from dxstat import STEP_MONTHS, STEPS

__all__ = ["pad_time", "resample"]


def duration(every, kind):
    found = re.fullmatch("([0-9]+)(s|min|h|d|w|mo|q|y)", every)
    if not found or not int(found[1]):
        raise ValueError("'%s' is not a duration" % every)
    if kind not in ("date", "datetime", "null"):
        raise TypeError("expected dates or times, got %s" % kind)
    if kind == "date" and found[2] in ("s", "min", "h"):
        raise TypeError("steps of %s do not fit dates" % every)
    return int(found[1]), found[2]


def after(start, k, every):
    """The time k steps later. A day that a month does not have becomes its last day."""
    n, unit = every
    if unit in STEP_MONTHS:
        return start + pd.DateOffset(months=k * n * STEP_MONTHS[unit])
    return start + pd.Timedelta(seconds=k * n * STEPS[unit])


def by_time(times, rows):
    """Rows in order of time, nulls last."""
    return sorted(rows, key=lambda r: (times[r] is None, times[r] or 0))


def pad_time(df, col, every, by=(), fill=None):
    """Adds rows for missing steps, from the first to the last time of each group."""
    df, every, by = df.reset_index(drop=True), duration(every, kind_of(df[col])), names_of(by)
    if col in by:
        raise ValueError("the time '%s' cannot be a group" % col)
    # a line: row or None, time, row above, first row of the group
    times, lines = plain(df[col]), []
    for rows in group_rows(df, by).values():
        first, rows, k, above = rows[0], by_time(times, rows), 0, None
        for r in rows:
            while times[r] is not None:
                step = after(times[rows[0]], k, every)
                if step > times[r]:
                    break
                if step != times[r] and above is not None:
                    lines.append((None, step, above, first))
                k += 1
            lines.append((r, times[r], r, first))
            above = r
    out = {}
    for c in df.columns:
        kind, values = kind_of(df[c]), plain(df[c])
        if c == col:
            got = [t for _, t, _, _ in lines]
        elif c in by or fill == "down":
            got = [values[first if c in by else above] for _, _, above, first in lines]
        else:
            if not fits(fill, kind):
                raise ValueError("fill does not fit column '%s'" % c)
            got = [as_kind(fill, kind) if r is None else values[r] for r, _, _, _ in lines]
        out[c] = column_of(got, kind)
    return pd.DataFrame(out, index=range(len(lines)))


ORIGIN = pd.Timestamp("1970-01-01")


def bucket(at, every):
    """The start of the bucket that contains the time."""
    n, unit = every
    if unit in STEP_MONTHS:
        month = (at.year * 12 + at.month - 1) // (n * STEP_MONTHS[unit]) * (n * STEP_MONTHS[unit])
        return pd.Timestamp(month // 12, month % 12 + 1, 1)
    origin = ORIGIN - pd.Timedelta(days=3) if unit == "w" else ORIGIN
    size = pd.Timedelta(seconds=n * STEPS[unit])
    return origin + (at - origin) // size * size


def result_of(df, keys, parts, what):
    """Calls a function with the rows and keys of each part; returns the results as a column."""
    values, out = {c: plain(keys[c]) for c in keys.columns}, []
    for i, rows in enumerate(parts):
        got = what(df.iloc[rows].reset_index(drop=True), {c: v[i] for c, v in values.items()})
        out.append(None if is_none(got) else got)
    return typed(out, range(len(out)))


def resample(df, col, every, agg, by=(), label="start", closed="left", fill=False, week_start="monday"):
    """One row per bucket of time. `agg` is a list of {as, expr}, where expr is a function of rows
    and keys."""
    by = names_of(by)
    if col in by:
        raise ValueError("the time '%s' cannot be a group" % col)
    kind = kind_of(df[col])
    every = duration(every, kind)
    df = take(df, [row for row, at in enumerate(plain(df[col])) if at is not None])
    early = pd.Timedelta(microseconds=1 if closed == "right" else 0)
    ahead = pd.Timedelta(days=-DAYS.index(week_start) % 7)
    times, buckets = plain(df[col]), []
    for rows in group_rows(df, by).values():
        first, known = rows[0], {}
        for r in rows:
            known.setdefault(bucket(times[r] - early + ahead, every) - ahead, []).append(r)
        at = min(known)
        while at <= max(known):
            if at in known or fill:
                buckets.append((first, at, known.get(at, [])))
            at = after(at, 1, every)
    out = {c: pick(df[c], [first for first, _, _ in buckets]) for c in by}
    out[col] = column_of([after(at, 1, every) if label == "end" else at for _, at, _ in buckets], kind)
    keys = pd.DataFrame(out, index=range(len(buckets)))
    for item in agg:
        if item["as"] in out:
            raise ValueError("two columns would be called '%s'" % item["as"])
        out[item["as"]] = result_of(df, keys, [rows for _, _, rows in buckets], item["expr"])
    return pd.DataFrame(out, index=range(len(buckets)))
