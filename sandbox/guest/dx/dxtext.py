"""Ops on texts: splitting, joining and cleaning them, and reading dates."""
import datetime
import itertools
import re
import unicodedata

import pandas as pd

from dxfn import pattern, text_of
from dxop import blank, column_of, common, group_rows, kind_of, names_of, plain, texts
from dxwords import (FRACTION, MONTHS, OFFSET, format_reader, iso_time, json_read, json_text, moment_of,
                     names_pattern, title)

SPACES = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


def trimmed(text):
    first = SPACES.match(text)
    text = text[first.end():] if first else text
    for found in SPACES.finditer(text):
        if found.end() == len(text):
            return text[:found.start()]
    return text


# --- one text to several columns ---


def pieces(df, col, into, lists, keep):
    """Columns of texts at the place of the split column, or after it."""
    out = {}
    made = {name: pd.Series([row[k] for row in lists], dtype=object) for k, name in enumerate(into)}
    for name in df.columns:
        new = made if name == col else {}
        old = {name: df[name].reset_index(drop=True)} if name != col or keep else {}
        for part in (old, new):
            if set(part) & set(out):
                raise ValueError("two columns would be called '%s'" % (set(part) & set(out)).pop())
            out.update(part)
    return pd.DataFrame(out, index=range(len(df)))


def split_column(df, col, into, sep=None, regex=None, widths=(), extra="error", missing="error", trim=False, keep=False):
    into, widths = names_of(into), [w["width"] for w in widths]

    def cut(text):
        if widths:
            parts = cut_widths(text, widths, extra)
        else:
            parts = cut_separated(text, pattern(regex or re.escape(sep)), len(into), extra)
        if len(parts) > len(into) and extra == "error" or len(parts) < len(into) and missing == "error":
            raise ValueError("split_column: '%s' has %d parts, not %d" % (text, len(parts), len(into)))
        parts = [trimmed(p) if trim else p for p in parts]
        return (parts + [None] * len(into))[:len(into)]
    return pieces(df, col, into, [[None] * len(into) if t is None else cut(t) for t in texts(df[col])], keep)


def cut_separated(text, separator, most, extra):
    parts, start = [], 0
    for found in separator.finditer(text):
        if len(parts) + 1 == most and extra == "merge":
            break
        if found.end() > found.start():  # an empty match does not separate anything
            parts.append(text[start:found.start()])
            start = found.end()
    return parts + [text[start:]]


def cut_widths(text, widths, extra):
    parts, at = [], 0
    for k, width in enumerate(widths):
        if at >= len(text) and parts:
            break
        end = len(text) if extra == "merge" and k + 1 == len(widths) else at + width
        parts.append(text[at:end])
        at = end
    return parts + [text[at:]] if at < len(text) else parts


def extract(df, col, pattern, into=(), keep=True):
    """The groups of the first match; without groups, the whole match."""
    shape = compiled(pattern)
    named = {at: name for name, at in shape.groupindex.items()}
    groups = range(1, shape.groups + 1) if shape.groups else [0]
    if into and len(into) != len(groups):
        raise ValueError("extract: %d names, the pattern has %d groups" % (len(into), shape.groups))
    taken = [(g, into[k] if into else named.get(g)) for k, g in enumerate(groups)]
    taken = [(g, name) for g, name in taken if name]
    found = [None if t is None else shape.search(t) for t in texts(df[col])]
    return pieces(df, col, [name for _, name in taken], [[f and f.group(g) for g, _ in taken] for f in found], keep)


compiled = pattern  # for functions with a parameter called `pattern`


# --- one text to several rows ---


def json_pieces(text):
    """Texts as they are, null as None, other values as JSON."""
    try:
        items = json_read(text)
    except ValueError:
        items = None
    if not isinstance(items, list):
        raise ValueError("explode: '%s' is not a JSON array" % text)
    return [v if v is None else str(v) if isinstance(v, str) else json_text(v) for v in items]


def explode(df, cols, sep=None, json=False, trim=True, drop_empty=False, index_as=None):
    cols, df = names_of(cols), df.reset_index(drop=True)

    def cut(text):
        if blank(text):
            return [None]
        parts = json_pieces(text) if json else text.split(sep)
        parts = [trimmed(p) if trim and p is not None else p for p in parts]
        return [p for p in parts if not (drop_empty and blank(p))] or [None]
    lists = {c: [cut(t) for t in texts(df[c])] for c in cols}
    counts = [len(parts) for parts in lists[cols[0]]]
    for c in cols:
        if [len(parts) for parts in lists[c]] != counts:
            raise ValueError("explode: columns '%s' and '%s' have different numbers of pieces" % (cols[0], c))
    if index_as in df.columns:
        raise ValueError("explode: there is already a column '%s'" % index_as)
    out = df.iloc[[row for row, n in enumerate(counts) for _ in range(n)]].reset_index(drop=True)
    out = out.assign(**{c: pd.Series(list(itertools.chain(*lists[c])), dtype=object) for c in cols})
    if index_as:
        out[index_as] = column_of([k + 1 for n in counts for k in range(n)], "int")
    return out


def implode(df, by, col, sep=",", distinct=False, sort=False):
    """Joins the values of each group to one text."""
    by = names_of(by)
    if col in by:
        raise ValueError("implode: column '%s' is also in by" % col)
    groups, values, written, out = group_rows(df, by), plain(df[col]), texts(df[col]), []
    for rows in groups.values():
        rows = [r for r in rows if values[r] is not None]
        if distinct:
            rows = list({values[r]: r for r in reversed(rows)}.values())[::-1]
            rows.sort()
        if sort:
            rows.sort(key=lambda r: values[r])
        out.append(sep.join(written[r] for r in rows) if rows else None)
    first = df.iloc[[rows[0] for rows in groups.values()]][by].reset_index(drop=True)
    return first.assign(**{col: pd.Series(out, dtype=object)})


# --- several columns to one ---


def beside(df, cols, as_, values, drop, behind=False):
    """A new column at the place of the leftmost dropped column; without `drop`, after the leftmost
    one or at the end."""
    cols, names = names_of(cols), list(df.columns)
    at = min(names.index(c) for c in cols)
    out = [df[name].reset_index(drop=True) for name in names if name not in cols or not drop]
    out.insert(at + (not drop) if drop or behind else len(out), values.rename(as_))
    if len({column.name for column in out}) < len(out):
        raise ValueError("two columns would be called '%s'" % as_)
    return pd.concat(out, axis=1)


def merge_columns(df, cols, as_, sep=" ", skip_null=True, drop=True):
    cols, out = names_of(cols), []
    for row in zip(*(texts(df[c]) for c in cols)):
        known = [t for t in row if t is not None]
        out.append(sep.join(known) if known and (skip_null or len(known) == len(row)) else None)
    return beside(df, cols, as_, pd.Series(out, dtype=object), drop, True)


def coalesce_columns(df, cols, as_, drop=False):
    """The first value of several columns that is not null."""
    cols = names_of(cols)
    kind = common(kind_of(df[c]) for c in cols)
    out = []
    for row in zip(*(texts(df[c]) if kind == "text" else plain(df[c]) for c in cols)):
        out.append(next((v for v in row if v is not None), None))
    return beside(df, cols, as_, column_of(out, kind), drop)


# --- clean texts ---

CONTROL = re.compile("[\0-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
DASH = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
QUOTES = {"'": re.compile("[\u2018-\u201b\u2032]"), '"': re.compile("[\u201c-\u201f\u2033\xab\xbb]")}


CASES = {None: str, "lower": str.lower, "upper": str.upper, "title": title}


def clean_text(df, cols, trim=True, squeeze=True, case=None, unicode="NFC", controls=True, nbsp=True, dashes=False,
               quotes=False):
    def clean(text):
        text = text if unicode == "none" else unicodedata.normalize(unicode, text)
        text = CONTROL.sub(lambda m: " " if SPACES.match(m[0]) else "", text) if controls else text
        text = SPACES.sub(lambda m: re.sub("[^\0-\x7f]", " ", m[0]), text) if nbsp else text
        text = DASH.sub("-", text) if dashes else text
        for plain_quote, found in QUOTES.items():
            text = found.sub(plain_quote, text) if quotes else text
        text = SPACES.sub(lambda m: m[0] if len(m[0]) == 1 else " ", text) if squeeze else text
        return CASES[case](trimmed(text) if trim else text)
    made = {c: pd.Series([None if v is None else clean(v) for v in plain(df[c])], index=df.index, dtype=object)
            for c in names_of(cols) if kind_of(df[c]) == "text"}
    return df.assign(**made)


# --- dates in everyday notation ---

PART = {"d": "(?P<d>[0-9]{1,2})(?![0-9])", "m": "(?:(?P<m>[0-9]{1,2})(?![0-9])|(?P<b>%s)(?![a-zA-Z]))" % names_pattern(MONTHS),
        "y": "(?P<y>[0-9]{4}|[0-9]{2})(?![0-9])"}
CLOCK = (r"(?:(?:T| )\s*(?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})(?![0-9])(?::(?P<S>[0-9]{2})(?![0-9])(?:\.(?P<f>%s)"
         r"(?![0-9]))?)?\s*(?P<p>am|pm)?(?P<z>%s)?)?" % (FRACTION, OFFSET))


def order_reader(order, century):
    """Makes a reader of dates whose parts come in that order, with one separator between them, and
    maybe a time after them."""
    one = r"(?:, +| +|,?[-/.])"
    shape = re.compile("(?i:%s(?P<s>%s)%s(?P<t>%s)%s%s)" % (PART[order[0]], one, PART[order[1]], one, PART[order[2]], CLOCK))

    def read(text):
        found = shape.fullmatch(text)
        if not found or found["s"].lstrip(",")[0] != found["t"].lstrip(",")[0]:
            return None
        parts = {k: v.lower() for k, v in found.groupdict().items() if v and k not in "st"}
        year = parts.pop("y")
        parts["Y" if len(year) == 4 else "y"] = year
        if "p" in parts:
            parts["I"] = parts.pop("H")
        return moment_of(parts, century)
    return read


def iso_reader(text):
    try:
        return iso_time(text)
    except ValueError:
        return None


def serial_reader(text):
    """A day number of a spreadsheet (1900 epoch). Day 60 does not exist."""
    try:
        ms = float(text) * 86400000.0
    except ValueError:
        return None
    ms = int(ms + 0.5) if ms >= 0 else -1
    day = ms // 86400000
    if not 1 <= day < 2958466 or day == 60:
        return None
    return datetime.datetime(1899, 12, 30) + datetime.timedelta(days=day < 60, milliseconds=ms)


def parse_date(df, cols, formats=(), order=None, type="date", excel_serial=False, century=1969, on_error="error"):
    """Reads each column with the first format that all its values fit."""
    readers = [format_reader(form, century) for form in names_of(formats)]
    readers += [order_reader(order, century)] if order else []
    readers = (readers or [iso_reader]) + ([serial_reader] if excel_serial else [])

    def attempt(values, read):
        out = []
        for v in values:
            got = v if v is None or isinstance(v, datetime.datetime) else read(trimmed(text_of(v)))
            day = got is None or type == "datetime" or pd.Timestamp(got) == pd.Timestamp(got).normalize()
            out.append(got if day else None)
        return out, sum(v is not None and got is None for v, got in zip(values, out))

    def column(name):
        values = [None if v is None or isinstance(v, str) and blank(v) else v for v in plain(df[name])]
        tries = [attempt(values, read) for read in readers]
        out, failed = min(tries, key=lambda t: t[1])  # the first of the best
        if failed and (on_error == "error" or readers[0] is iso_reader and not any(v is not None for v in out)):
            raise ValueError("parse_date: no date format fits all values of column '%s'" % name)
        return column_of(out, type)
    return df.reset_index(drop=True).assign(**{c: column(c) for c in names_of(cols)})
