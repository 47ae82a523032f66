"""dx: what plain pandas does differently from dtx, done as dtx does it.

Plain pandas inside; nothing is patched.  Rules: a null is a group, a null key matches nothing,
a sum of nothing is null, rows keep their order, halves round away from zero, integers never wrap.
"""
import datetime
import decimal
import math
import re

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
    if not isinstance(condition, pd.Series):
        return yes if not is_none(condition) and condition else no
    index = condition.index
    true = condition.fillna(False).astype(bool)
    pick = [v if isinstance(v, pd.Series) else pd.Series([v] * len(index), index=index)
            for v in (yes, no)]
    return pick[0].where(true, pick[1])


def case(*pairs, default=None):
    """dx.case((cond, value), ..., default=value): the first condition that is true decides."""
    index = index_of(*(cond for cond, _ in pairs))
    if index is None:
        return next((value for cond, value in pairs if not is_none(cond) and cond), default)
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


def is_whole(v):
    """Integers: a column of them or one; bools are none."""
    if isinstance(v, pd.Series):
        return v.dtype.kind in "iu"
    return isinstance(v, (int, np.integer)) and not isinstance(v, bool)


def arith(name, a, b, fn, plain):
    """Checked for integers, days for dates, else what pandas computes."""
    if not isinstance(a, pd.Series) and not isinstance(b, pd.Series):
        return None if is_none(a) or is_none(b) else plain(a, b)
    if is_whole(a) and is_whole(b):
        return checked(name, a, b, fn)
    if is_none(a) or is_none(b):
        return null_column(a, b, "Float64")
    a, b = as_dates(a, b)
    if is_date(a) and is_date(b):
        return ((a - b) // pd.Timedelta(days=1)).astype("Int64")
    if is_date(a) and is_whole(b):
        b = pd.to_timedelta(b, unit="D")
    elif is_date(b) and is_whole(a):
        a = pd.to_timedelta(a, unit="D")
    return finite(plain(a, b))


def add(a, b):
    return arith("add", a, b, lambda x, y: x + y, lambda x, y: x + y)


def sub(a, b):
    return arith("sub", a, b, lambda x, y: x - y, lambda x, y: x - y)


def mul(a, b):
    return arith("mul", a, b, lambda x, y: x * y, lambda x, y: x * y)


def floordiv(a, b):
    """Null where b is 0."""
    return arith("floordiv", a, b, lambda x, y: x // y if y else pd.NA, zero_is_null(np.floor_divide))


def mod(a, b):
    return arith("mod", a, b, lambda x, y: x % y if y else pd.NA, zero_is_null(np.mod))


def div(a, b):
    """Float division; null where b is 0."""
    return floats(a, b, zero_is_null(np.true_divide))


def power(a, b):
    """A float; null where the result is none."""
    return floats(a, b, np.power)


# --- formulas: nulls stay nulls, and a condition on one is null ---


NULL = pd.NA


def is_none(v):
    return not isinstance(v, pd.Series) and (v is None or v is pd.NaT or v is pd.NA or v != v)


def is_date(v):
    return isinstance(v, pd.Timestamp) or isinstance(v, pd.Series) and v.dtype.kind == "M"


def as_dates(a, b):
    """A text beside a date is a date."""
    if is_date(a) and isinstance(b, str):
        b = pd.Timestamp(b)
    if is_date(b) and isinstance(a, str):
        a = pd.Timestamp(a)
    return a, b


def index_of(*values):
    return next((v.index for v in values if isinstance(v, pd.Series)), None)


def null_column(a, b, dtype):
    index = index_of(a, b)
    return pd.Series([pd.NA] * len(index), index=index, dtype=dtype)


def finite(values):
    if isinstance(values, pd.Series) and values.dtype.kind == "f":
        return values.replace([np.inf, -np.inf], np.nan) + 0.0
    return values


def zero_is_null(fn):
    def divide(a, b):
        with np.errstate(all="ignore"):
            zero = b == 0
            if isinstance(b, pd.Series):
                return fn(a, b.mask(zero, np.nan))
            return a * np.nan if zero else fn(a, b)
    return divide


def floats(a, b, fn):
    index = index_of(a, b)
    if is_none(a) or is_none(b):
        return None if index is None else null_column(a, b, "Float64")
    side = [v.astype("Float64").astype("f8") if isinstance(v, pd.Series) else float(v) for v in (a, b)]
    with np.errstate(all="ignore"):
        got = fn(*side)
    if index is None:
        return float(got) if np.isfinite(got) else None
    return finite(pd.Series(got, index=index))


def known(*values):
    """Where no value is null."""
    index = index_of(*values)
    out = pd.Series(True, index=index)
    for v in values:
        out &= v.notna() if isinstance(v, pd.Series) else not is_none(v)
    return out


def compare(a, b, fn):
    a, b = as_dates(a, b)
    if index_of(a, b) is None:
        return pd.NA if is_none(a) or is_none(b) else fn(a, b)
    if is_none(a) or is_none(b):
        return null_column(a, b, "boolean")
    both = known(a, b)
    out = pd.Series(pd.NA, index=both.index, dtype="boolean")
    pick = [v[both] if isinstance(v, pd.Series) else v for v in (a, b)]
    out[both] = fn(*pick).astype("boolean")
    return out


def eq(a, b):
    return compare(a, b, lambda x, y: x == y)


def ne(a, b):
    return compare(a, b, lambda x, y: x != y)


def lt(a, b):
    return compare(a, b, lambda x, y: x < y)


def le(a, b):
    return compare(a, b, lambda x, y: x <= y)


def gt(a, b):
    return compare(a, b, lambda x, y: x > y)


def ge(a, b):
    return compare(a, b, lambda x, y: x >= y)


def not_(a):
    if isinstance(a, pd.Series):
        return ~a.astype("boolean")
    return pd.NA if is_none(a) else not a


def is_null(a):
    return a.isna() if isinstance(a, pd.Series) else is_none(a)


def isin(x, values):
    """True on a hit, else null when x or a value is null."""
    out = False
    for v in values:
        out = eq(x, v) | out
    return out


def is_distinct(a, b):
    """Not equal, null being equal to null."""
    differ = ne(a, b)
    if index_of(a, b) is None:
        return is_none(a) != is_none(b) if is_none(a) or is_none(b) else differ
    nulls = [is_null(v) for v in (a, b)]
    return differ.fillna(False).astype(bool) | (nulls[0] != nulls[1])


def coalesce(*values):
    index = index_of(*values)
    if index is None:
        return next((v for v in values if not is_none(v)), None)
    side = [v if isinstance(v, pd.Series) else pd.Series([v] * len(index), index=index) for v in values]
    out = side[0]
    for v in side[1:]:
        out = out.where(out.notna(), v)
    return out.infer_objects()


def nullif(a, b):
    same = eq(a, b)
    if index_of(a, b) is None:
        return None if same is True else a
    a = a if isinstance(a, pd.Series) else pd.Series([a] * len(same), index=same.index)
    if is_whole(a):
        a = a.astype("Int64")
    return a.mask(same.fillna(False).astype(bool))


def each(fn, values, nulls=False):
    """fn row by row; a null among its values gives null."""
    index = index_of(*values)
    side = [v if isinstance(v, pd.Series) else [v] * (1 if index is None else len(index)) for v in values]
    out = []
    for row in zip(*side):
        row = [None if is_none(v) else v for v in row]
        out.append(None if not nulls and any(v is None for v in row) else fn(*row))
    return out[0] if index is None else typed(out, index)


def typed(out, index):
    kinds = {type(v) for v in out if v is not None}
    if kinds == {int}:
        return pd.Series([pd.NA if v is None else v for v in out], index=index, dtype="Int64")
    if kinds == {bool}:
        return pd.Series([pd.NA if v is None else v for v in out], index=index, dtype="boolean")
    if kinds == {float}:
        return pd.Series([np.nan if v is None else v for v in out], index=index, dtype="f8")
    if kinds and all(issubclass(k, datetime.datetime) for k in kinds):
        return pd.to_datetime(pd.Series(out, index=index, dtype=object))
    return pd.Series(out, index=index, dtype=object)


def most(pick, *values):
    """Smallest or largest in each row, nulls aside."""
    return each(lambda *row: pick((v for v in row if v is not None), default=None), values, True)


def text_of(v):
    """A value as dtx writes it."""
    if isinstance(v, (bool, np.bool_)):
        return "true" if v else "false"
    if isinstance(v, (float, np.floating)):
        v = float(v)
        got = repr(v)
        if "e" in got and 1e-5 <= abs(v) < 1e16:
            return format(decimal.Decimal(got), "f")
        return got.replace("e+", "e").replace("e-0", "e-")
    if isinstance(v, datetime.datetime):
        return v.date().isoformat() if v.time() == datetime.time() else v.isoformat()
    return str(v)


def cut(how):
    def rounded(v, digits=None):
        if isinstance(v, (int, np.integer)) and digits is None:
            return int(v)
        step = decimal.Decimal(1).scaleb(-int(digits or 0))
        context = decimal.Context(prec=400)
        got = decimal.Decimal(repr(v)).quantize(step, how, context)
        if digits is None and not INT_MIN <= got <= INT_MAX:
            raise OverflowError("%s does not fit 64 bits" % v)
        return int(got) if digits is None else type(v)(got) if isinstance(v, int) else float(got) + 0.0
    return rounded


def span(t, start, n):
    if start == 0:
        return None
    at = start - 1 if start > 0 else start + len(t)
    if at < 0:
        n, at = (n + at if n > 0 else n), 0
    return t[at:at + max(n, 0)]


def piece(t, sep, n):
    parts = t.split(sep) if sep else [t]
    at = n - 1 if n > 0 else len(parts) + n
    return parts[at] if n and 0 <= at < len(parts) else None


def pad(t, n, fill, front):
    more = max(n - len(t), 0)
    room = (fill * more)[:more]
    return room + t if front else t + room


def number(fn):
    """Results that are none are null."""
    def value(*v):
        try:
            got = float(fn(*map(float, v)))
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
        return got if np.isfinite(got) else None
    return value


def whole(v):
    if isinstance(v, str):
        return int(v)
    if v != int(v):
        raise ValueError("%r is no whole number" % v)
    return int(v)


def real(v):
    got = float(v)
    if not np.isfinite(got):
        raise ValueError("%r is no number" % v)
    return got


def truth(v):
    words = {"true": True, "false": False, "1": True, "0": False}
    return words[v.strip().lower()] if isinstance(v, str) else words[str(int(v))]


def pattern(p):
    """RE2's text for Python: classes are ASCII, \\z is the end."""
    return re.compile(p.replace("\\z", "\\Z"), re.ASCII)


def like(t, p):
    words = {"%": ".*", "_": "."}
    return re.fullmatch("".join(words.get(c, re.escape(c)) for c in p), t, re.DOTALL) is not None


def extract(t, p, group=None):
    found = pattern(p).search(t)
    if group is None:
        group = 1 if pattern(p).groups else 0
    return found.group(group) if found else None


def replace_re(t, p, template):
    def put(found):
        def part(m):
            name = m.group(1) or m.group(2)
            if name is None:
                return "$"
            return found.group(int(name) if name.isdigit() else name) or ""
        return re.sub(r"\$(?:\$|(\d+)|\{(\w+)\})", part, template)
    return pattern(p).sub(put, t)


UNITS = {"week": 604800, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
MONTHS = {"year": 12, "quarter": 3, "month": 1}


def date_add(d, n, unit):
    if unit in MONTHS:
        return pd.Timestamp(d) + pd.DateOffset(months=n * MONTHS[unit])
    return pd.Timestamp(d) + pd.Timedelta(seconds=n * UNITS[unit])


def date_diff(a, b, unit):
    a, b = pd.Timestamp(a), pd.Timestamp(b)
    if unit in UNITS:
        seconds = (b - a) / pd.Timedelta(seconds=UNITS[unit])
        return int(seconds)
    n = int(((b.year - a.year) * 12 + b.month - a.month) / MONTHS[unit])
    step = 1 if b >= a else -1
    n += step
    while n and (date_add(a, n, unit) > b if step > 0 else date_add(a, n, unit) < b):
        n -= step
    return n


def date_trunc(d, unit):
    d = pd.Timestamp(d)
    if unit == "week":
        return d.normalize() - pd.Timedelta(days=d.weekday())
    if unit in MONTHS:
        month = {"year": 1, "quarter": (d.month - 1) // 3 * 3 + 1, "month": d.month}[unit]
        return d.normalize().replace(month=month, day=1)
    return d.floor({"day": "D", "hour": "H", "minute": "T", "second": "S"}[unit])


def as_time(midnight):
    def read(v, form=None):
        if isinstance(v, str):
            v = v.strip()
            v = datetime.datetime.strptime(v, form) if form else datetime.datetime.fromisoformat(v)
        v = pd.Timestamp(v)
        if midnight and v != v.normalize():
            raise ValueError("%s has a time of day" % v)
        return v
    return read


FUNCTIONS = {
    "abs": abs, "sign": lambda x: (x > 0) - (x < 0),
    "round": cut(decimal.ROUND_HALF_UP), "round_even": cut(decimal.ROUND_HALF_EVEN),
    "floor": cut(decimal.ROUND_FLOOR), "ceil": cut(decimal.ROUND_CEILING),
    "trunc": cut(decimal.ROUND_DOWN),
    "sqrt": number(math.sqrt), "exp": number(math.exp), "ln": number(math.log),
    "log10": number(math.log10),
    "log": number(lambda x, base: math.log2(x) if base == 2 else math.log10(x) if base == 10
                  else math.log(x) / math.log(base)),
    "clamp": lambda x, low, high: max(low, min(high, x)),
    "length": len, "upper": str.upper, "lower": str.lower,
    "trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip,
    "left": lambda t, n: t[:n], "right": lambda t, n: (t[-n:] if n else ""),
    "mid": lambda t, start, n=2**31: span(t, start, n),
    "slice": lambda t, a, b=None: t[a:b],
    "replace": lambda t, a, b: t.replace(a, b) if a else t,
    "starts_with": str.startswith, "ends_with": str.endswith,
    "contains": lambda t, part: part in t, "index_of": lambda t, part: t.find(part) + 1,
    "split_part": piece, "repeat": lambda t, n: t * max(n, 0),
    "pad_left": lambda t, n, fill=" ": pad(t, n, fill, True),
    "pad_right": lambda t, n, fill=" ": pad(t, n, fill, False),
    "year": lambda d: d.year, "quarter": lambda d: (d.month + 2) // 3, "month": lambda d: d.month,
    "day": lambda d: d.day, "hour": lambda d: d.hour, "minute": lambda d: d.minute,
    "second": lambda d: d.second, "weekday": lambda d: d.isoweekday(),
    "matches": lambda t, p: pattern(p).search(t) is not None, "like": like,
    "extract": extract, "replace_re": replace_re,
    "date_add": date_add, "date_diff": date_diff, "date_trunc": date_trunc,
    "format_date": lambda d, form: pd.Timestamp(d).strftime(form),
    "as_date": as_time(True), "as_datetime": as_time(False),
    "make_date": lambda y, m, d: datetime.datetime(y, m, d),
    "as_int": whole, "as_float": real, "as_text": text_of, "as_bool": truth,
}
# These see nulls.
NULL_FUNCTIONS = {
    "concat": lambda *v: "".join(text_of(x) for x in v if x is not None),
    "concat_ws": lambda sep, *v: (sep or "").join(text_of(x) for x in v if x is not None),
    "is_blank": lambda v: v is None or not text_of(v).strip(),
}


def fn(name, *values):
    """A function of the formula language, row by row: dx.fn("left", df0["code"], 2)."""
    if name in NULL_FUNCTIONS:
        return each(NULL_FUNCTIONS[name], values, True)
    return each(FUNCTIONS[name], values)
