"""The functions of dtx's formula language in plain pandas: nulls stay null, integers never wrap.

Values are columns (Series) or single values. A function of columns gives a column with their
index."""
import datetime
import decimal
import math
import re

import numpy as np
import pandas as pd

import dxwords

INT_MIN, INT_MAX = -2**63, 2**63 - 1
NULL = pd.NA


# --- values ---


def round_one(value, digits):
    return value if value is None or pd.isna(value) else FUNCTIONS["round"](float(value), digits)


def round(values, digits=0):
    """Rounds halves away from zero, in decimal digits: dx.round(2.675, 2) is 2.68."""
    if isinstance(values, pd.Series):
        if values.dtype.kind in "iu" and digits >= 0:
            return values
        return values.map(lambda v: round_one(v, digits))
    return round_one(values, digits)


def spread(v, index):
    """Makes a column of a single value; columns stay as they are."""
    if isinstance(v, pd.Series):
        return v
    return pd.Series([v] * len(index), index=index, dtype=None if len(index) else object)


def if_(condition, yes, no):
    """`yes` where the condition is true, `no` where it is false or null."""
    if not isinstance(condition, pd.Series):
        return yes if not is_none(condition) and condition else no
    index = condition.index
    true = condition.fillna(False).astype(bool)
    pick = [spread(v, index) for v in dates_of(yes, no)]
    return pick[0].where(true, pick[1]).infer_objects()


def case(*pairs, default=None):
    """dx.case((cond, value), ..., default=value): the first condition that is true decides."""
    index = index_of(*(cond for cond, _ in pairs))
    if index is None:
        return next((value for cond, value in pairs if not is_none(cond) and cond), default)
    default, *values = dates_of(default, *(value for _, value in pairs))
    out = spread(default, index)
    for (condition, _), value in reversed(list(zip(pairs, values))):
        out = if_(condition, value, out)
    return out.infer_objects()


def to_date(values, format):
    """Dates in one given format. A text that does not fit is an error, null stays null."""
    def one(v):
        return pd.NaT if v is None or pd.isna(v) else datetime.datetime.strptime(v.strip(), format)
    return pd.to_datetime(values.map(one))


def int64(v, what="%d"):
    """Returns an int that fits its column, or raises an error."""
    if not INT_MIN <= v <= INT_MAX:
        raise OverflowError("%s does not fit 64 bits" % (what % v))
    return v


def checked(name, a, b, fn):
    """Integer arithmetic without a limit, converted back to int64 or an error."""
    index = next(v.index for v in (a, b) if isinstance(v, pd.Series))
    side = [spread(v, index) for v in (a, b)]
    out = []
    for x, y in zip(*side):
        if pd.isna(x) or pd.isna(y):
            out.append(pd.NA)
            continue
        v = fn(int(x), int(y))
        out.append(v if v is pd.NA else int64(v, "%s(%d, %d) = %%d" % (name, x, y)))
    return pd.Series(out, index=index, dtype="Int64")


def is_whole(v):
    """Whether this is an integer or a column of integers. Bools are not."""
    if isinstance(v, pd.Series):
        return v.dtype.kind in "iu"
    return isinstance(v, (int, np.integer)) and not isinstance(v, bool)


class Float(float):
    """A float that was computed, not written with a point: next to a decimal it stays a float."""


def exact(v):
    """A number that was written with a point becomes a decimal next to a decimal."""
    return decimal.Decimal(repr(v)) if type(v) is float and not is_none(v) else v


def is_float(v):
    return v.dtype.kind == "f" if isinstance(v, pd.Series) else isinstance(v, float) and not is_none(v)


def as_float(v):
    if isinstance(v, pd.Series) and is_decimal(v):
        return v.map(lambda x: np.nan if is_none(x) else float(x)).astype("f8")
    return Float(v) if isinstance(v, decimal.Decimal) else v


def beside(*values):
    """If there are decimals among the values of a formula: all become floats if one is a float."""
    if not any(map(is_decimal, values)):
        return values
    values = tuple(exact(v) for v in values)
    return tuple(map(as_float, values)) if any(map(is_float, values)) else values


def of_scale(v, step):
    """Decimals and whole numbers with the number of digits after the point that `step` has."""
    if isinstance(v, pd.Series):
        return v.astype(object).map(lambda x: of_scale(x, step)) if is_decimal(v) or is_whole(v) else v
    if isinstance(v, decimal.Decimal) or is_whole(v):
        return decimal.Decimal(int(v) if is_whole(v) else v).quantize(step, context=decimal.Context(prec=60))
    return v


def same_scale(*values):
    """Gives all values the same number of digits, so that they can form one column of decimals."""
    scales = [-v.as_tuple().exponent for s in values for v in (s if isinstance(s, pd.Series) else [s])
              if isinstance(v, decimal.Decimal)]
    step = decimal.Decimal(1).scaleb(-max(scales, default=0))
    return tuple(of_scale(v, step) for v in values) if scales else values


def arith(name, a, b, fn, plain):
    """Arithmetic: checked for integers, days for dates, otherwise what pandas computes."""
    fixed = is_decimal(a) or is_decimal(b)
    if fixed:
        a, b = exact(a), exact(b)
    if index_of(a, b) is None:
        if is_none(a) or is_none(b):
            return None
        return computed(value_of(arith(name, pd.Series([a]), pd.Series([b]), fn, plain)))
    if fixed:
        return each(lambda x, y: decimals(x, y, fn, plain), (a, b))
    if is_whole(a) and is_whole(b):
        return checked(name, a, b, fn)
    if is_none(a) or is_none(b):
        return null_column(a, b, "Int64" if is_whole(a) or is_whole(b) else "Float64")
    if is_nothing(a) or is_nothing(b):
        return null_column(a, b, object)
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
    """Floor division; null where b is 0."""
    return arith("floordiv", a, b, lambda x, y: dxwords.floor_pair(x, y)[0] if y else pd.NA,
                 on_digits(dxwords.float_floordiv))


def mod(a, b):
    return arith("mod", a, b, lambda x, y: dxwords.floor_pair(x, y)[1] if y else pd.NA,
                 on_digits(dxwords.float_mod))


def div(a, b):
    """Float division; null where b is 0."""
    return floats(a, b, zero_is_null(np.true_divide))


def power(a, b):
    """A float; null where the result is not a number."""
    return floats(a, b, np.power)


# --- formulas: nulls stay null, and a condition on a null is null ---


def is_none(v):
    return not isinstance(v, pd.Series) and (v is None or v is pd.NaT or v is pd.NA or v != v)


def value_of(column):
    """The single value of a column with one row."""
    got = column.astype(object)[0]  # as a Python value
    return None if is_none(got) else got


def computed(v):
    return Float(v) if type(v) is float else v


def plain_float(v):
    return float(v) if isinstance(v, Float) else v


def is_decimal(v):
    if isinstance(v, pd.Series):
        return v.dtype == object and any(isinstance(x, decimal.Decimal) for x in v)
    return isinstance(v, decimal.Decimal)


def decimals(x, y, fn, plain):
    """Computes exactly with decimals, or with floats if one of the values is a float."""
    if isinstance(x, float) or isinstance(y, float):
        return float(plain(float(x), float(y)))
    with decimal.localcontext(decimal.Context(prec=38)):
        return fn(decimal.Decimal(int(x) if is_whole(x) else x),
                  decimal.Decimal(int(y) if is_whole(y) else y)) + 0  # -0 becomes 0


def is_date(v):
    return isinstance(v, pd.Timestamp) or isinstance(v, pd.Series) and v.dtype.kind == "M"


def as_dates(a, b):
    """A text next to a date is read as a date."""
    if is_date(a) and isinstance(b, str):
        b = pd.Timestamp(b)
    if is_date(b) and isinstance(a, str):
        a = pd.Timestamp(a)
    return a, b


def dates_of(*values):
    """Converts values that will form one column: a text next to dates becomes a date, an int next
    to floats a float, decimals get one scale, and integers without nulls the nullable type if
    others have it."""
    values = same_scale(*beside(*values))
    if any(isinstance(v, pd.Series) and v.dtype.kind == "f" for v in values):
        return tuple(v.astype("Float64").astype("f8") if isinstance(v, pd.Series) and is_whole(v) else v for v in values)
    if any(isinstance(v, pd.Series) and v.dtype == "Int64" for v in values):
        return tuple(v.astype("Int64") if isinstance(v, pd.Series) and is_whole(v) else v for v in values)
    if not any(is_date(v) for v in values):
        return values
    return tuple(pd.Timestamp(v) if isinstance(v, str) else v for v in values)


def is_nothing(v):
    """Whether this is a column in which no value shows the type."""
    return isinstance(v, pd.Series) and v.dtype == object and v.isna().all()


def index_of(*values):
    return next((v.index for v in values if isinstance(v, pd.Series)), None)


def null_column(a, b, dtype):
    index = index_of(a, b)
    return pd.Series([pd.NA] * len(index), index=index, dtype=dtype)


def without_nan(values):
    """Turns NaN into null in a column whose type has its own nulls."""
    if isinstance(values, pd.Series) and str(values.dtype) == "Float64":
        return values.mask(values.isna() | np.isnan(values.to_numpy("f8", na_value=np.nan)))
    return values


def finite(values):
    if isinstance(values, pd.Series) and values.dtype.kind == "f":
        return without_nan(values.replace([np.inf, -np.inf], np.nan)) + 0.0
    return values


def zero_is_null(fn):
    def divide(a, b):
        with np.errstate(all="ignore"):
            zero = b == 0
            if isinstance(b, pd.Series):
                return fn(a, b.mask(zero, np.nan))
            return a * np.nan if zero else fn(a, b)
    return divide


def on_digits(fn):
    """Makes a function of two floats work on columns; null where the second is 0."""
    def divide(a, b):
        index = index_of(a, b)
        side = [spread(v, index).astype("Float64").astype("f8") for v in (a, b)]
        return pd.Series([fn(x, y) if x == x and y == y and y else np.nan for x, y in zip(*side)], index=index, dtype="f8")
    return divide


def floats(a, b, fn):
    index = index_of(a, b)
    if is_none(a) or is_none(b):
        return None if index is None else null_column(a, b, "Float64")
    side = [v.astype("Float64").astype("f8") if isinstance(v, pd.Series) else float(v) for v in (a, b)]
    with np.errstate(all="ignore"):
        got = fn(*side)
    if index is None:
        return Float(got) if np.isfinite(got) else None
    return finite(pd.Series(got, index=index))


def known(*values):
    """Where none of the values is null."""
    index = index_of(*values)
    out = pd.Series(True, index=index)
    for v in values:
        out &= v.notna() if isinstance(v, pd.Series) else not is_none(v)
    return out


def is_text(v):
    if isinstance(v, pd.Series):
        return v.dtype == object and any(isinstance(x, str) for x in v)
    return isinstance(v, str)


def is_number(v):
    if isinstance(v, pd.Series):
        return v.dtype.kind in "iuf"
    return isinstance(v, (int, float)) and not isinstance(v, bool) and not is_none(v)


def compare(a, b, fn):
    a, b = beside(*as_dates(a, b))
    if is_text(a) and is_number(b) or is_number(a) and is_text(b):
        raise TypeError("text cannot be compared with a number")
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


def and_(a, b):
    """Logical and after Kleene: null if the other value does not decide."""
    return logic(a, b) & logic(b, a)


def or_(a, b):
    return logic(a, b) | logic(b, a)


def logic(a, other):
    if isinstance(a, pd.Series):
        return a.astype("boolean")
    if isinstance(other, pd.Series):
        return pd.Series(pd.NA if is_none(a) else a, index=other.index, dtype="boolean")
    return pd.NA if is_none(a) else bool(a)


def not_(a):
    if isinstance(a, pd.Series):
        return ~a.astype("boolean")
    return pd.NA if is_none(a) else not a


def is_null(a):
    return a.isna() if isinstance(a, pd.Series) else is_none(a)


def isin(x, values):
    """True if x is among the values, otherwise null if x or one of them is null."""
    out = False
    for v in values:
        out = or_(eq(x, v), out)
    return out


def is_distinct(a, b):
    """Whether a and b differ, where null equals null."""
    differ = ne(a, b)
    if index_of(a, b) is None:
        return is_none(a) != is_none(b) if is_none(a) or is_none(b) else differ
    nulls = [is_null(v) for v in (a, b)]
    return differ.fillna(False).astype(bool) | (nulls[0] != nulls[1])


def coalesce(*values):
    index = index_of(*values)
    if index is None:
        return next((v for v in values if not is_none(v)), None)
    side = [spread(v, index) for v in dates_of(*values)]
    out = side[0]
    for v in side[1:]:
        out = out.where(out.notna(), v)
    return out.infer_objects()


def nullif(a, b):
    same = eq(a, b)
    if index_of(a, b) is None:
        return None if same is True else a
    a = spread(a, same.index)
    if is_whole(a):
        a = a.astype("Int64")
    if a.dtype.kind == "b":
        a = a.astype("boolean")
    # NaN next to None would count as a second value
    return a.mask(same.fillna(False).astype(bool), None)


def each(fn, values, nulls=False):
    """Applies fn row by row. Null if one of its values is null, unless `nulls` is set."""
    index = index_of(*values)
    side = [v.astype(object) if isinstance(v, pd.Series) else [plain_float(v)] * (1 if index is None else len(index))
            for v in values]
    out = []
    for row in zip(*side):
        row = [None if is_none(v) else v for v in row]
        out.append(None if not nulls and any(v is None for v in row) else fn(*row))
    return computed(out[0]) if index is None else typed(out, index)


def typed(out, index):
    out = [plain_float(v) for v in out]
    kinds = {type(v) for v in out if v is not None}
    if kinds == {int}:
        return pd.Series([pd.NA if v is None else v for v in out], index=index, dtype="Int64")
    if kinds == {bool}:
        return pd.Series([pd.NA if v is None else v for v in out], index=index, dtype="boolean")
    if kinds and kinds <= {int, float}:
        return pd.Series([np.nan if v is None else v for v in out], index=index, dtype="f8")
    if kinds and all(issubclass(k, datetime.datetime) for k in kinds):
        return pd.to_datetime(pd.Series(out, index=index, dtype=object))
    return pd.Series(out, index=index, dtype=object)


def most(pick, *values):
    """The smallest or largest value of each row, without nulls. If one column is float, the result
    is."""
    values = dates_of(*values)
    got = each(lambda *row: pick((v for v in row if v is not None), default=None), values, True)
    if with_floats(values) and is_whole(got):
        return got.astype("Float64").astype("f8") if isinstance(got, pd.Series) else float(got)
    return pd.to_datetime(got) if is_nothing(got) and any(map(is_date, values)) else got


def with_floats(values):
    return any(isinstance(v, float) or isinstance(v, pd.Series) and v.dtype.kind == "f" for v in values)


def sum_of(*values):
    """The exact sum of the values of each row, without nulls. If one column is float, the result is."""
    floats = with_floats(values)

    def total(*row):
        row = [v for v in row if v is not None]
        if floats or not row:
            return math.fsum(map(float, row)) if row else None
        with decimal.localcontext(decimal.Context(prec=38)):
            got = sum(row)
        return got if isinstance(got, decimal.Decimal) else int64(got, "row_sum %d")
    return each(total, values, True)


def mean_of(*values):
    def mean(*row):
        row = [float(v) for v in row if v is not None]
        return math.fsum(row) / len(row) if row else None
    got = each(mean, values, True)
    return got.astype("f8") if isinstance(got, pd.Series) else got


def text_of(v):
    """The text that dtx writes for a value."""
    if isinstance(v, (bool, np.bool_)):
        return "true" if v else "false"
    if isinstance(v, (float, np.floating)):
        v = float(v) + 0.0  # -0.0 becomes 0.0
        got = repr(v)
        if "e" in got and 1e-5 <= abs(v) < 1e16:
            return format(decimal.Decimal(got), "f")
        return got.replace("e+", "e").replace("e-0", "e-")
    if isinstance(v, datetime.datetime):
        return v.date().isoformat() if v.time() == datetime.time() else v.isoformat()
    return str(v)


def has_times(column):
    """Whether some of the datetimes are not at midnight; if none is, they are dates."""
    known = column.dropna()
    return not (known == known.dt.normalize()).all()


def written(values):
    """Turns a column of datetimes into texts. Other values stay: written one by one, a time at
    midnight would look like a date."""
    if not isinstance(values, pd.Series) or values.dtype.kind != "M" or not has_times(values):
        return values
    return pd.Series([None if is_none(v) else v.isoformat() for v in values], index=values.index, dtype=object)


def cut(how):
    """Makes a rounding function that works on the shown digits, not on the binary value."""
    def rounded(v, digits=None):
        if isinstance(v, (int, np.integer)) and digits is None:
            return int(v)
        step = decimal.Decimal(1).scaleb(-int(digits or 0))
        context = decimal.Context(prec=400)
        fixed = isinstance(v, decimal.Decimal)
        got = (v if fixed else decimal.Decimal(repr(v))).quantize(step, how, context)
        if digits is None:
            return int64(int(got))
        if fixed:
            last = max(v.as_tuple().exponent, min(-int(digits), 0))
            return context.add(got.quantize(decimal.Decimal(1).scaleb(last), how, context), 0)
        return type(v)(got) if isinstance(v, int) else float(got) + 0.0
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
    """Makes a function whose result is null where it is not a number."""
    def value(*v):
        try:
            got = float(fn(*map(float, v)))
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
        return got if np.isfinite(got) else None
    return value


def whole(v):
    if isinstance(v, str):
        if not re.fullmatch(r"[+-]?[0-9]+", v.strip()):
            raise ValueError("'%s' is not an int" % v)
        v = int(v)
        if not INT_MIN <= v <= INT_MAX:
            raise ValueError("%d does not fit 64 bits" % v)
        return v
    if v != int(v):
        raise ValueError("%r is not a whole number" % v)
    return int(v)


def real(v):
    if isinstance(v, str) and "_" in v or isinstance(v, datetime.date):
        raise ValueError("'%s' is not a number" % v)
    got = float(v)
    if not np.isfinite(got):
        raise ValueError("%r is not a number" % v)
    return got


def truth(v):
    words = {"true": True, "false": False, "1": True, "0": False}
    if isinstance(v, decimal.Decimal):
        raise ValueError("a decimal is not a bool")
    return words[v.strip().lower()] if isinstance(v, str) else {0: False, 1: True}[v]


def pattern(p):
    """Translates a pattern of RE2 to Python: classes are ASCII, \\z is the end of the text."""
    return re.compile(re.sub(r"(?<!\\)\(\?<(?![=!])", "(?P<", p.replace("\\z", "\\Z")), re.ASCII)


def like(t, p):
    words = {"%": ".*", "_": "."}
    return re.fullmatch("".join(words.get(c, re.escape(c)) for c in p), t, re.DOTALL) is not None


def extract(t, p, group=None):
    found = pattern(p).search(t)
    if group is None:
        group = 1 if pattern(p).groups else 0
    return found.group(group) if found else None


GROUP = re.compile(r"\$(?:(\$)|(\d+)|\{(\w+)\})|\\(?:(\d+)|g<(\w+)>|(\\(?:\d|g<)))", re.ASCII)


def replace_re(t, p, template):
    def put(found):
        def part(m):
            name = m[2] or m[3] or m[4] or m[5]
            return m[1] or m[6] if name is None else found.group(int(name) if name.isdigit() else name) or ""
        return GROUP.sub(part, template)
    return pattern(p).sub(put, t)


def extract_all(t, p, sep):
    found = [m.group(1 if pattern(p).groups else 0) for m in pattern(p).finditer(t)]
    found = [m for m in found if m is not None]
    return sep.join(found) if found else None


def split_re_part(t, p, n):
    parts, done = [], 0
    for m in pattern(p).finditer(t):
        if m.end() > m.start():
            parts.append(t[done:m.start()])
            done = m.end()
    parts.append(t[done:])
    at = n - 1 if n > 0 else len(parts) + n
    return parts[at] if n and 0 <= at < len(parts) else None


def pi():
    return math.pi


UNITS = {"week": 604800, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
MONTHS = {"year": 12, "quarter": 3, "month": 1}


SHORT = {"s": "second", "min": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month", "q": "quarter", "y": "year"}


def unit_of(unit):
    """A unit, and how many of it: '15min' is 15 minutes."""
    found = re.fullmatch("([0-9]{1,7})(s|min|h|d|w|mo|q|y)", unit)
    return (SHORT[found[2]], int(found[1])) if found else (unit, 1)


def date_add(d, n, unit):
    unit, many = unit_of(unit)
    n *= many
    if unit in MONTHS:
        return pd.Timestamp(d) + pd.DateOffset(months=n * MONTHS[unit])
    return pd.Timestamp(d) + pd.Timedelta(seconds=n * UNITS[unit])


def date_diff(a, b, unit):
    a, b, (unit, many) = pd.Timestamp(a), pd.Timestamp(b), unit_of(unit)
    if many > 1:
        return int(date_diff(a, b, unit) / many)
    if unit in UNITS:
        seconds = (b - a) / pd.Timedelta(seconds=UNITS[unit])
        return int(seconds)
    n = int(((b.year - a.year) * 12 + b.month - a.month) / MONTHS[unit])
    step = 1 if b >= a else -1
    n += step
    while n and (date_add(a, n, unit) > b if step > 0 else date_add(a, n, unit) < b):
        n -= step
    return n


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def date_trunc(d, unit, week_start="monday"):
    d, (unit, many) = pd.Timestamp(d), unit_of(unit)
    if many > 1 and unit in MONTHS:
        many *= MONTHS[unit]
        month = (d.year * 12 + d.month - 1) // many * many
        return pd.Timestamp(month // 12, month % 12 + 1, 1)
    if many > 1:
        origin = pd.Timestamp("1970-01-01") - pd.Timedelta(days=-DAYS.index(week_start) % 7 + 3 if unit == "week" else 0)
        size = pd.Timedelta(seconds=many * UNITS[unit])
        return origin + (d - origin) // size * size
    if unit == "week":
        return d.normalize() - pd.Timedelta(days=(d.weekday() - DAYS.index(week_start)) % 7)
    if unit in MONTHS:
        month = {"year": 1, "quarter": (d.month - 1) // 3 * 3 + 1, "month": d.month}[unit]
        return d.normalize().replace(month=month, day=1)
    return d.floor({"day": "D", "hour": "h", "minute": "min", "second": "s"}[unit])


def in_format(text, form):
    got = dxwords.format_reader(form, 1969)(text)
    if got is None:
        raise ValueError("cast failed: '%s' is not a date of the form %s" % (text, form))
    return got


def as_time(midnight):
    def read(v, form=None):
        if isinstance(v, str):
            v = v.strip()
            v = in_format(v, form) if form else dxwords.iso_time(v)
        v = pd.Timestamp(v)
        if midnight and v != v.normalize():
            raise ValueError("%s has a time of day" % v)
        return v
    return read


def clamp(x, low, high):
    """Of the common type of all three, as in the engine: clamp(7.5, 0, 5) is 5.0."""
    value = max(low, min(high, x))
    return float(value) if float in (type(x), type(low), type(high)) else value


FUNCTIONS = {
    "abs": abs, "sign": lambda x: int(x > 0) - int(x < 0),
    "round": cut(decimal.ROUND_HALF_UP), "round_even": cut(decimal.ROUND_HALF_EVEN),
    "floor": cut(decimal.ROUND_FLOOR), "ceil": cut(decimal.ROUND_CEILING),
    "trunc": cut(decimal.ROUND_DOWN),
    "sqrt": number(math.sqrt), "exp": number(math.exp), "ln": number(math.log),
    "log10": number(math.log10),
    "log": number(lambda x, base: math.log2(x) if base == 2 else math.log10(x) if base == 10
                  else math.log(x) / math.log(base)),
    "clamp": clamp,
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
    "count_re": lambda t, p: sum(1 for _ in pattern(p).finditer(t)),
    "extract_all": extract_all, "split_re_part": split_re_part,
    "months_between": lambda a, b: date_diff(a, b, "month"),
    **dxwords.TEXTS, **dxwords.VALUES, **{name: number(call) for name, call in dxwords.FLOATS.items()},
    "as_int": whole, "as_float": real, "as_text": text_of, "as_bool": truth,
}
# These functions are called even if a value is null.
NULL_FUNCTIONS = {
    "concat": lambda *v: "".join(text_of(x) for x in v if x is not None),
    "concat_ws": lambda sep, *v: (sep or "").join(text_of(x) for x in v if x is not None),
    "is_blank": lambda v: v is None or not text_of(v).strip(),
    "safe_div": dxwords.safe_div,
    "row_count": lambda *v: sum(x is not None for x in v),
}


# The result is one of the arguments.
ONE_TYPE = {"clamp"}
# All arguments are converted to text.
TEXTS_ONLY = {"as_text", "concat", "concat_ws", "is_blank"}
# The first argument is converted to text.
TEXT_FUNCTIONS = {
    "length", "upper", "lower", "trim", "ltrim", "rtrim", "left", "right", "mid", "slice", "replace",
    "starts_with", "ends_with", "contains", "index_of", "split_part", "repeat", "pad_left",
    "pad_right", "matches", "like", "extract", "replace_re", "count_re", "extract_all", "split_re_part",
    *dxwords.TEXTS,
}
# These arguments after the first, given by place, are converted too: a cell of a source column is
# text there.
TEXT_PLACES = {
    "starts_with": (0,), "ends_with": (0,), "contains": (0,), "index_of": (0,), "replace": (0, 1),
    "split_part": (0,), "pad_left": (1,), "pad_right": (1,), "levenshtein": (0,), "jaro_winkler": (0,),
}


CONDITIONS = {"starts_with", "ends_with", "contains", "matches", "like", "is_blank", *dxwords.CONDITIONS}


def fn(name, *values):
    """Calls a function of the formula language row by row: dx.fn("left", df0["code"], 2)."""
    call = NULL_FUNCTIONS.get(name) or FUNCTIONS[name]
    if name in TEXT_FUNCTIONS:
        places = TEXT_PLACES.get(name, ())
        values = [written(v) if at == 0 or at - 1 in places else v for at, v in enumerate(values)]
        got = each(lambda first, *rest: call(text_of(first), *(
            text_of(v) if at in places else v for at, v in enumerate(rest))), values)
    elif name in TEXTS_ONLY:
        got = each(call, [written(v) for v in values], name in NULL_FUNCTIONS)
    else:
        got = each(call, dates_of(*values) if name in ONE_TYPE else beside(*values), name in NULL_FUNCTIONS)
    if name in CONDITIONS and isinstance(got, pd.Series):
        return got.astype("boolean")  # also if there are no rows
    return got
