"""The ops of dtx in plain pandas: one function for each, with the parameters of the plan.

A table goes in and a new one comes out, with the index 0 to n-1. Formulas are functions of a
table."""
import decimal
import math
import re

import numpy as np
import pandas as pd

from dxagg import aggregate
from dxfn import FUNCTIONS, as_time, has_times, is_none, pattern, real, replace_re, same_scale, text_of, truth, typed, whole, written
from dxwords import ISO as ISO_TIME, iso_time

# --- values of columns ---


def plain(column):
    """The values as Python objects, None for null."""
    return [None if is_none(v) else v for v in column.astype(object)]


def kind_of(column):
    """int, float, bool, date, datetime, decimal or text; null if no value shows the type."""
    kind = {"i": "int", "u": "int", "f": "float", "b": "bool"}.get(column.dtype.kind)
    if kind:
        return kind
    if column.dtype.kind == "M":
        return "datetime" if has_times(column) else "date"
    known = [v for v in column if not is_none(v)]
    if not known:
        return "null"
    if any(isinstance(v, decimal.Decimal) for v in known):
        return "decimal"
    return "bool" if isinstance(known[0], bool) else "text"


def column_of(values, kind):
    """Makes a column of the given kind. Each value is None or fits."""
    nulls = any(v is None for v in values)
    if kind == "int":
        return pd.Series(values, dtype="Int64" if nulls else "int64")
    if kind == "float":
        return pd.Series([np.nan if v is None else float(v) for v in values], dtype="float64")
    if kind == "bool":
        return pd.Series(values, dtype="boolean" if nulls else "bool")
    if kind in ("date", "datetime"):
        return pd.to_datetime(pd.Series(values, dtype=object))
    return pd.Series(values, dtype=object)


def common(kinds):
    """The kind of two columns that are combined: int < decimal < float; date < datetime; otherwise
    text."""
    kinds = set(kinds) - {"null"}
    if len(kinds) < 2:
        return kinds.pop() if kinds else "null"
    for kind, below in (("float", {"int", "decimal"}), ("decimal", {"int"}), ("datetime", {"date"})):
        if kinds <= below | {kind}:
            return kind
    return "text"


def unite(parts):
    """Appends columns to each other."""
    kinds = [kind_of(part) for part in parts]
    kind = common(kinds)
    out = []
    for part in parts:
        out += texts(part) if kind == "text" else plain(part)
    return column_of(out, kind)


def pick(column, rows):
    """The values at the given rows; null where the row is None."""
    if not any(r is None for r in rows):
        return column.iloc[rows].reset_index(drop=True)
    values = plain(column)
    return column_of([None if r is None else values[r] for r in rows], kind_of(column))


def keys_of(df, names):
    """A tuple of values for each row. Null is None and equal to null."""
    if not names:
        return [()] * len(df)
    return list(zip(*(plain(df[name]) for name in names)))


def group_rows(df, names):
    """The rows of each key, in order of first appearance."""
    groups = {}
    for row, key in enumerate(keys_of(df, names)):
        groups.setdefault(key, []).append(row)
    return groups


def names_of(columns):
    return [columns] if isinstance(columns, str) else list(columns)


def take(df, rows):
    return df.iloc[list(rows)].reset_index(drop=True)


def is_true(df, condition):
    """The rows for which a condition is true, that is, neither false nor null."""
    return np.array(flags(condition, len(df)), dtype=bool)


def flags(condition, n):
    if not isinstance(condition, pd.Series):
        return [not is_none(condition) and bool(condition)] * n
    if kind_of(condition) not in ("bool", "null"):
        raise TypeError("a condition is true or false, not %s" % kind_of(condition))
    return [v is not None and bool(v) for v in plain(condition)]


def constant(value, n):
    return value if isinstance(value, pd.Series) else typed([None if is_none(value) else value] * n,
                                                            range(n))


# --- text cells and their types ---

INT = re.compile(r"-?(0|[1-9][0-9]*)")
FLOAT = re.compile(r"-?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?")
CODE = re.compile(r"[0-9]+[eE][0-9]+")  # counts as a number only among floats in this notation
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def cell_kind(text):
    text = text.strip()
    if INT.fullmatch(text) and text != "-0":
        return "int" if abs(int(text)) <= 2**53 else "text"
    if FLOAT.fullmatch(text) and re.search("[0-9]", re.split("[eE]", text)[0]):
        if not math.isfinite(float(text)):
            return "text"
        return "code" if CODE.fullmatch(text) else "float"
    if text.lower() in ("true", "false"):
        return "bool"
    try:
        iso_time(text)
    except ValueError:
        return "text"
    return "date" if DATE.fullmatch(text) else "zoned" if ISO_TIME.fullmatch(text)[3] else "datetime"


def moment(text):
    return pd.Timestamp(iso_time(text))


READ = {"int": lambda t: int(t), "float": lambda t: float(t), "bool": lambda t: t.strip().lower() == "true",
        "date": moment, "datetime": moment, "text": lambda t: t}


def retype_column(column):
    """Gives a text column the narrowest type that all its values fit. Other columns stay."""
    if column.dtype != object or kind_of(column) == "decimal":
        return column
    values = plain(column)
    if any(not isinstance(v, str) for v in values if v is not None):
        values = [None if v is None else text_of(v) for v in values]
    kinds = {cell_kind(v) for v in values if v is not None}
    kinds = kinds - {"code"} | {"float" if "float" in kinds else "text"} if "code" in kinds else kinds
    kinds = {"datetime"} if kinds == {"zoned"} else {"text"} if "zoned" in kinds else kinds
    kind = kinds.pop() if len(kinds) == 1 else "float" if kinds == {"int", "float"} else \
        "datetime" if kinds == {"date", "datetime"} else "text"
    return column_of([None if v is None else READ[kind](v) for v in values], kind)


def retype(df, names=None, typed=()):
    """Finds the types of columns again, as a reader would, except for those that the plan declares.
    """
    df = df.reset_index(drop=True)
    for at, name in enumerate(df.columns):
        if (names is None or name in names) and name not in typed:
            df.isetitem(at, retype_column(df.iloc[:, at]))
    return df


def texts(column):
    """The cells as texts, None for null."""
    return [None if v is None else text_of(v) for v in plain(written(column))]


def blank(text):
    return text is None or not text.strip()


def grid_of(df):
    """The table as rows of texts."""
    columns = [texts(df.iloc[:, i]) for i in range(df.shape[1])]
    return [list(row) for row in zip(*columns)] if columns else [[] for _ in range(len(df))]


# --- selectors ---


def cols(df, selector, missing="error"):
    """The columns that a selector of the plan means, in its order."""
    have = list(df.columns)
    out = []
    for item in selector if isinstance(selector, list) else [selector]:
        out += [c for c in selected(df, have, item) if c not in out]
    if not out and missing == "error":
        raise KeyError("no column fits %r" % (selector,))
    return out


def selected(df, have, item):
    if isinstance(item, str) or "name" in item:
        name = item if isinstance(item, str) else item["name"]
        if name not in have:
            raise KeyError("no column '%s'" % name)
        return [name]
    if "all" in item:
        return have
    if "range" in item:
        first, last = (have.index(name) for name in item["range"])
        return have[first:last + 1]
    if "regex" in item:
        return [c for c in have if pattern(item["regex"]).search(c)]
    if "type" in item:
        number = {"int", "float", "decimal"}
        return [c for c in have if kind_of(df[c]) in (number if item["type"] == "number" else {item["type"]})]
    gone = cols(df, item["not"])
    return [c for c in have if c not in gone]


# --- columns ---


def select(df, cols):
    return df[names_of(cols)].reset_index(drop=True)


def drop(df, cols, missing="error"):
    df = df.drop(columns=names_of(cols), errors="raise" if missing == "error" else "ignore")
    if not len(df.columns):
        raise ValueError("drop: no column is left")
    return df


def rename(df, map=(), regex=None, replace="", cols=None):
    new = {p["from"]: p["to"] for p in map}
    for name in new:
        if name not in df.columns:
            raise KeyError("no column '%s'" % name)
    if regex is not None:
        new = {c: replace_re(c, regex, replace or "") for c in cols or df.columns}
    out = df.rename(columns=new)
    if not out.columns.is_unique:
        raise ValueError("rename: two columns would have one name")
    return out


ISO = {"date": DATE, "datetime": ISO_TIME}


def reader(type, form):
    """Makes a function that converts a value to `type`. It raises ValueError if that is not
    possible."""
    digits = re.fullmatch(r"decimal\((\d+),(\d+)\)", type.replace(" ", ""))
    if digits:
        return "decimal", lambda v: fixed(v, int(digits[1]), int(digits[2]))
    if type in ISO and not form:
        def moment(v):
            if isinstance(v, str) and not ISO[type].fullmatch(v.strip()):
                raise ValueError("'%s' is no %s" % (v, type))
            return as_time(type == "date")(v)
        return type, moment
    return type, {"text": text_of, "int": whole, "float": real, "bool": truth,
                  "date": lambda v: as_time(True)(text_of(v), form),
                  "datetime": lambda v: as_time(False)(text_of(v), form)}[type]


def fixed(v, precision, scale):
    got = decimal.Decimal(text_of(v).strip())
    cut = got.quantize(decimal.Decimal(1).scaleb(-scale), decimal.ROUND_HALF_UP, decimal.Context(prec=60))
    if (cut != got and not isinstance(v, float)) or len(cut.as_tuple().digits) > precision:
        raise ValueError("%s does not fit decimal(%d,%d)" % (v, precision, scale))
    return cut


def convert(values, read, on_error, refusals=(ValueError, KeyError, OverflowError, decimal.InvalidOperation)):
    """Converts each value; None stays. Also returns how many could not be converted."""
    out, failed = [], 0
    for v in values:
        try:
            out.append(None if v is None else read(v))
        except refusals as error:
            if on_error == "error":
                raise ValueError("cast failed: %s" % error)
            failed += 1
            out.append(None)
    return out, failed


def cast(df, types):
    df = df.reset_index(drop=True)
    for item in types:
        kind, read = reader(item["type"], item.get("format"))
        on_error = item.get("on_error", "error")
        values = plain(written(df[item["name"]]) if kind == "text" else df[item["name"]])
        values, failed = convert(values, read, "null" if on_error == "keep_text" else on_error)
        if on_error == "keep_text" and failed:
            kind, values = "text", texts(df[item["name"]])
        df = df.assign(**{item["name"]: column_of(values, kind)})
    return df


CURRENCIES = ("$ € £ ¥ ₹ ₽ ₩ ₪ ₺ ₴ ฿ kr zł Fr. R$ US$ USD EUR GBP JPY CHF CNY INR AUD CAD NZD SEK NOK DKK PLN "
              "CZK HUF BRL ZAR MXN SGD HKD KRW TRY ILS RUB").split()


def cut_currency(s):
    best, rest = 0, None
    for sign in CURRENCIES:
        if len(sign.encode()) <= best or len(sign) >= len(s):
            continue
        if s.startswith(sign):
            best, rest = len(sign.encode()), s[len(sign):].strip()
        elif s.endswith(sign):
            best, rest = len(sign.encode()), s[:-len(sign)].strip()
    return rest


BLANKS = " \u00a0\u2009\u202f"


def number_text(text, mark=".", group=",", currency=True, percent="ratio"):
    """The plain digits of a number in everyday notation, and how many are decimals. None if it is
    not a number."""
    s, signs, percents, money, negative = text.strip(), 0, 0, 0, False
    while s:
        if len(s) > 2 and s[0] == "(" and s[-1] == ")":
            s, signs, negative = s[1:-1].strip(), signs + 1, True
        elif len(s) > 1 and s[0] in "+-−":
            negative = negative or s[0] != "+"
            s, signs = s[1:].strip(), signs + 1
        elif len(s) > 1 and s[-1] in "-−":
            s, signs, negative = s[:-1].strip(), signs + 1, True
        elif len(s) > 1 and s[-1] == "%":
            s, percents = s[:-1].strip(), percents + 1
        elif currency and not money and cut_currency(s) is not None:
            s, money = cut_currency(s), 1
        else:
            break
    if group and group in BLANKS:  # each of these stands for all of them
        s, group = re.sub("[%s]" % BLANKS, " ", s), " "
    groups = r"[0-9]{1,3}(?:%s[0-9]{3})+|" % re.escape(group) if group else ""
    found = re.fullmatch(r"(%s[0-9]*)(?:%s([0-9]*))?([eE][+-]?[0-9]{1,4})?" % (groups, re.escape(mark)), s)
    if not found or signs > 1 or percents > 1 or (percents and percent == "error"):
        return None
    digits, places, power = found[1].replace(group, "") if group else found[1], found[2] or "", found[3] or ""
    if not digits and not places:
        return None
    out = ("-" if negative else "") + (digits or "0") + ("." + places if places else "") + power
    if percents and percent == "ratio":
        if power:
            return None
        return format(decimal.Decimal(out).scaleb(-2, decimal.Context(prec=120)), "f"), len(places) + 2
    return out, len(places)


def parse_number(df, cols, type="float", decimal=None, group=None, currency=True, percent="ratio",
                 blanks=("-", "–", "—", "n/a"), on_error="error"):
    if decimal is None:
        decimal = "," if group == "." else "."
    if group is None:
        group = "." if decimal == "," else ","

    def number(v):
        text = text_of(v).strip()
        if not text or text in blanks:
            return None
        found = number_text(text, decimal, group, currency, percent)
        if not found:
            raise ValueError("'%s' is not a number" % text)
        return read(found[0])
    kind, read = reader(type, None)
    return df.assign(**{c: column_of(convert(plain(df[c]), number, on_error)[0], kind) for c in names_of(cols)})


def as_number(v):
    """A number in everyday notation, with the defaults of parse_number."""
    text = text_of(v).strip()
    if text in ("", "-", "–", "—", "n/a"):
        return None
    found = number_text(text)
    if not found:
        raise ValueError("cast failed: '%s' is not a number" % (v,))
    return float(found[0])


def as_decimal(v, precision, scale):
    try:
        return fixed(v, precision, scale)
    except (ValueError, decimal.InvalidOperation) as error:
        raise ValueError("cast failed: %s" % error) from None


def run_date():
    """The date of the run: the jail's clock stands at its start."""
    return pd.Timestamp.utcnow().tz_localize(None).normalize()


FUNCTIONS.update(as_number=as_number, as_decimal=as_decimal)


def json_kind(v):
    return {bool: "bool", int: "int", float: "float", str: "text"}.get(type(v), "null")


def fits(v, kind):
    """Whether a value of the plan fits a column of that kind."""
    if v is None or kind == "null" or json_kind(v) == kind:
        return True
    if kind in ("date", "datetime"):
        return isinstance(v, str) and bool(ISO[kind].fullmatch(v))
    return json_kind(v) == "int" and kind in ("float", "decimal") or kind == "decimal" and json_kind(v) == "float"


def as_kind(v, kind):
    if kind == "decimal" and isinstance(v, (int, float)):
        return decimal.Decimal(repr(v))
    return moment(v) if kind in ("date", "datetime") and isinstance(v, str) else v


READ_AS_KEY = {"code": READ["float"], **{kind: READ[kind] for kind in ("int", "float", "bool")}}


def as_key(v, kind):
    """Keys of a JSON object are text; for a column of numbers or bools they are converted."""
    if isinstance(v, str) and kind in ("int", "float", "bool") and cell_kind(v) in READ_AS_KEY:
        return READ_AS_KEY[cell_kind(v)](v)
    return as_kind(v, kind)


def same(a, b):
    """Typed equality: a number never equals a text, a bool never a number."""
    if a is None or b is None or isinstance(a, bool) != isinstance(b, bool):
        return a is b
    return isinstance(a, str) == isinstance(b, str) and a == b


def replace_values(df, cols, map, else_="keep", regex=False):
    how = replace_patterns if regex else replace_column
    return df.assign(**{c: how(df[c], map, else_) for c in names_of(cols)})


def replace_patterns(column, map, other):
    """Replaces all matches of the first pattern that matches."""
    if kind_of(column) not in ("text", "null"):
        raise TypeError("a pattern needs a text column")
    out = []
    for v in plain(column):
        pair = next((p for p in map if v is not None and pattern(p["from"]).search(v)), None)
        if pair is None and other == "error" and v is not None:
            raise ValueError("'%s' has no pair" % v)
        new = None if pair is None or pair.get("to") is None else replace_re(v, pair["from"], pair["to"])
        out.append(new if pair is not None else v if other == "keep" else None)
    return column_of(out, "text")


def replace_column(column, map, other):
    kind, out, words = kind_of(column), [], []
    pairs = [(as_key(p.get("from"), kind), p.get("to")) for p in map]
    for v, word in zip(plain(column), texts(column)):
        hit = next((to for old, to in pairs if same(v, old)), column)
        if hit is column and other == "error" and v is not None:
            raise ValueError("'%s' has no pair" % text_of(v))
        if hit is column and other != "keep":
            hit = None
        out.append(v if hit is column else hit)
        words.append(word if hit is column else None if hit is None else text_of(hit))
    new = common(json_kind(to) for _, to in pairs)
    if all(fits(to, kind) for _, to in pairs) and kind != "null" and (other == "keep" or new != "bool"):
        return column_of([as_kind(v, kind) for v in out], kind)
    kind = common([new, kind]) if other == "keep" else new
    return column_of(words if kind == "text" else out, kind)


def nullify(df, cols, values=(), where=None):
    """Makes values null: those in the list, or all for which a condition is true."""
    hit, out = None if where is None else flags(where(df), len(df)), {}
    for c in names_of(cols):
        kind = kind_of(df[c])
        gone = [as_kind(v["value"], kind) for v in values if fits(v["value"], kind) or numbers(v["value"], kind)]
        rows = hit if hit is not None else [any(same(v, g) for g in gone) for v in plain(df[c])]
        out[c] = pick(df[c], [None if is_hit else row for row, is_hit in enumerate(rows)])
    return df.reset_index(drop=True).assign(**out)


def numbers(v, kind):
    return json_kind(v) in ("int", "float") and kind in ("int", "float", "decimal")


def fill_null(df, cols, value=None, expr=None, strategy=None):
    """Replaces nulls by a value, a formula, or a value from the column: its mean, median, mode, min
    or max; "zero" is 0."""
    out = {}
    for c in names_of(cols):
        kind = kind_of(df[c])
        if strategy in ("mean", "median") and kind not in ("int", "float", "decimal", "null"):
            raise TypeError("no %s of column '%s'" % (strategy, c))
        if strategy:
            value = 0 if strategy == "zero" else aggregate(strategy, plain(df[c]))
        if expr is None and (strategy in (None, "zero")) and df[c].notna().any() and not fits(value, kind):
            raise ValueError("%r does not fit column '%s'" % (value, c))
        fill = plain(constant(value if expr is None else expr(df), len(df)))
        own, kind = kind_of(df[c]), kind_of(typed(fill, range(len(df))))
        kind = own if expr is None and own != "null" else common([own, kind])
        if strategy in ("mean", "median") and kind == "decimal":
            kind = "float"
        fill = [as_kind(f, kind) for f in fill]
        values = [f if v is None else v for v, f in zip(plain(df[c]), fill)]
        out[c] = column_of(same_scale(*values, *fill)[:len(df)] if kind == "decimal" else values, kind)
    return df.assign(**out)


# --- rows ---


def natural(text):
    """Sort key in which a run of digits counts by its value, at the place of the digit 0."""
    return [(48, int(p)) if "0" <= p[0] <= "9" else (ord(p), 0) for p in re.findall(r"[0-9]+|[^0-9]", text, re.DOTALL)]


COLLATE = {"binary": lambda t: t, "nocase": lambda t: (t.casefold(), t), "natural": lambda t: (natural(t), t)}


def sorted_rows(df, by):
    """Row numbers in sorted order. The sort is stable; nulls come last in both directions unless
    the plan says first."""
    rows = list(range(len(df)))
    for item in reversed(by):
        column = order_column(df, item)
        values = plain(column)
        turn = COLLATE[item.get("collate", "binary")] if kind_of(column) == "text" else COLLATE["binary"]
        known = [r for r in rows if values[r] is not None]
        known.sort(key=lambda r: turn(values[r]), reverse=item.get("desc", False))
        nulls = [r for r in rows if values[r] is None]
        rows = nulls + known if item.get("nulls") == "first" else known + nulls
    return rows


def order_column(df, item):
    return df[item["col"]] if "col" in item else constant(item["expr"](df), len(df))


def sort(df, by, limit=None):
    rows = sorted_rows(df, by)
    return take(df, rows[:limit] if limit else rows)


def distinct(df, cols=None, keep="first", count_as=None):
    groups = group_rows(df, list(df.columns) if cols is None else names_of(cols))
    kept = {}
    for rows in groups.values():
        if keep == "none" and len(rows) > 1 or keep == "dups" and len(rows) == 1:
            continue
        for row in {"first": rows[:1], "last": rows[-1:]}.get(keep, rows):
            kept[row] = len(rows)
    out = take(df, sorted(kept))
    if not count_as:
        return out
    # also if there are no rows
    return out.assign(**{count_as: np.array([kept[row] for row in sorted(kept)], "i8")})


def limit(df, n, offset=0, from_="start", by=()):
    keep = set()
    for rows in group_rows(df, names_of(by)).values():
        rows = rows[::-1] if from_ == "end" else rows
        keep.update(rows[offset:offset + n])
    return take(df, sorted(keep))


def repeat(df, n=None, col=None):
    """Copies each row n times, one after the other; 0 or null drops it."""
    if col is not None and kind_of(df[col]) not in ("int", "null"):
        raise TypeError("repeat: column '%s' is not an int" % col)
    times = [n] * len(df) if col is None else plain(df[col])
    if any(k is not None and k < 0 for k in times):
        raise ValueError("repeat: a negative number of copies")
    return take(df, [row for row, k in enumerate(times) for _ in range(k or 0)])


def union(tables, names=(), by="name", fill_missing=True, source_as=None, columns=None, sources=None, constants=()):
    """Appends tables to each other, matching columns by name or by position."""
    first = tables[0]
    if by == "position":
        if any(t.shape[1] != first.shape[1] for t in tables):
            raise ValueError("union: tables have different numbers of columns")
        tables = [t.set_axis(first.columns, axis=1) for t in tables]
    found = list(dict.fromkeys(c for t in tables for c in t.columns))
    if (columns == "same" or not fill_missing) and any(set(found) != set(t.columns) for t in tables):
        raise KeyError("union: a table lacks a column")
    if columns == "intersect":
        found = [c for c in found if all(c in t.columns for t in tables)]
    out = {}
    for c in found:
        out[c] = unite([t[c] if c in t.columns else pd.Series([None] * len(t), dtype=object) for t in tables])
    if source_as:
        if source_as in out:
            raise ValueError("union: there is already a column '%s'" % source_as)
        out[source_as] = pd.Series([n for n, t in zip(sources or names, tables) for _ in range(len(t))], dtype=object)
    for c in constants:
        if c["name"] in out:
            raise ValueError("union: there is already a column '%s'" % c["name"])
        values = [v for v, t in zip(c["values"], tables) for _ in range(len(t))]
        made = pd.DataFrame({c["name"]: pd.Series(values, dtype=object)})
        out[c["name"]] = cast(made, [{"name": c["name"], "type": c["type"]}])[c["name"]]
    return pd.DataFrame(out)
