"""Runs a compiled module on the tables as a snippet would see them and compares two results."""
import datetime as dt
import decimal
import json
import math
import os
import pathlib
import re
import sqlite3
import struct
import subprocess
import sys

import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "sandbox/guest/dx"))

import dx  # noqa: E402,F401


def frame(tab):
    """Types as design: int64 or Int64, float64 with NaN, bool or boolean, datetime64, object text."""
    out = {}
    for name, (kind, values) in tab.items():
        nulls = any(v is None for v in values)
        dtype = {"int": "Int64" if nulls else "int64", "float": "float64", "bool": "boolean" if nulls else "bool",
                 "date": "datetime64[ns]", "stamp": "datetime64[ns]"}.get(kind, object)
        out[name] = pd.Series(pd.to_datetime(values) if dtype == "datetime64[ns]" else values, dtype=dtype)
    return pd.DataFrame(out, columns=list(tab))


def run(text, tables, params):
    """Rows of the result, or what was raised."""
    scope = {"__name__": "compiled"}
    try:
        exec(compile(text, "compiled.py", "exec"), scope)
        return rows(scope["transform"](tables, params)), None
    except Exception as e:  # the engine may refuse the same plan; the caller decides
        return None, f"{type(e).__name__}: {e}"


def run_module(text, tables, plan):
    return run(text, {name: frame(t) for name, t in tables.items()}, {"steps": plan["steps"]})


def as_text(v):
    """Days and times as the statement wants them."""
    return v.isoformat() if isinstance(v, dt.date) else float(v) if isinstance(v, decimal.Decimal) else v


def run_sql(text, tables):
    """Rows of the statement over tables of a database in memory, or what SQLite said."""
    db = sqlite3.connect(":memory:")
    for name, tab in tables.items():
        marks = ", ".join("?" * len(tab))
        db.execute("CREATE TABLE %s (%s)" % (name, ", ".join('"%s"' % c for c in tab)))
        values = zip(*([as_text(v) for v in column] for _, column in tab.values()))
        db.executemany("INSERT INTO %s VALUES (%s)" % (name, marks), list(values))
    try:
        got = db.execute(text)
        head = [c[0] for c in got.description]
        return [dict(zip(head, row)) for row in got], None
    except sqlite3.Error as e:
        return None, f"{type(e).__name__}: {e}"
    finally:
        db.close()


class Duck:
    """DuckDB in a process of its own: a statement and its tables on a line, rows on a line."""

    def __init__(self, folder):
        script = pathlib.Path(__file__).with_name("duck.mjs")
        self.process = subprocess.Popen(["node", script, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @staticmethod
    def start():
        folder = os.environ.get("DTX_PEERS")
        return Duck(folder) if folder else None

    def run(self, text, tables):
        tables = {name: {c: [kind, values if kind == "dec" else [as_text(v) for v in values]]
                         for c, (kind, values) in tab.items()} for name, tab in tables.items()}
        print(json.dumps({"sql": text, "tables": tables}, default=str), file=self.process.stdin, flush=True)
        got = json.loads(self.process.stdout.readline(),
                         object_hook=lambda o: int(o["int"]) if list(o) == ["int"] else o)
        return got.get("rows"), "internal" if got.get("internal") else got.get("error")


def plain(v):
    if v is None or v is pd.NA or v is pd.NaT or (isinstance(v, float) and math.isnan(v)):
        return None
    if isinstance(v, (pd.Timestamp, dt.datetime)):
        return v.date().isoformat() if (v.hour, v.minute, v.second) == (0, 0, 0) else v.isoformat()
    if isinstance(v, decimal.Decimal):
        return float(v)
    if hasattr(v, "item"):
        v = v.item()
    if isinstance(v, float) and math.isinf(v):
        return None
    return v


def rows(result):
    if not result.columns.is_unique:  # as the jail does
        raise ValueError("two columns have one name")
    if not len(result.columns):
        return [{} for _ in range(len(result))]
    return [{str(k): plain(v) for k, v in row.items()} for row in result.to_dict("records")]


def short(value):
    """A text whose numbers have no zeros at their end: pandas does not know how they were written."""
    if not isinstance(value, str):
        return value
    return re.sub(r"([0-9])\.([0-9]*?)0+(?![0-9])", lambda m: m[1] + ("." + m[2] if m[2] else ""), value)


NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)")
LONG = 14  # digits of a computed float, whose last ones may differ


NOISE = 1e-14  # smaller numbers are what is left of others that cancelled each other out; zero is not
ULPS = 4096  # sums of powers lose so many units in the last place; the engine rounds once, pandas often


def ulps(a, b):
    """How many floats lie between two, plus one: units in the last place."""
    a, b = (struct.unpack("<q", struct.pack("<d", x))[0] for x in (a, b))
    return abs((a if a >= 0 else -(a & ~(1 << 63))) - (b if b >= 0 else -(b & ~(1 << 63))))


def near(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return a == b or ulps(a, b) <= ULPS or 0 < min(abs(a), abs(b)) and max(abs(a), abs(b)) < NOISE


def digits(number):
    return len(re.sub("e.*|[^0-9]", "", number).lstrip("0"))


def same_number(a, b):
    """As written in texts."""
    return a == b or max(digits(a), digits(b)) >= LONG and "." in a + b and near(float(a), float(b))


def alike(a, b):
    """The same text but for the last digits of the computed floats in it, and midnight, which pandas does
    not tell from no time of day."""
    a, b = short(midnight(a)), short(midnight(b))
    if a == b or not isinstance(a, str) or not isinstance(b, str):
        return a == b
    a, b = NUMBER.split(a), NUMBER.split(b)
    return len(a) == len(b) and a[::2] == b[::2] and all(map(same_number, a[1::2], b[1::2]))


def close(a, b):
    """The same value.  pandas does not know the type of a column of nulls, so a column that such a one
    became part of may be text on one side: then its text counts."""
    if isinstance(a, str) != isinstance(b, str) and a is not None and b is not None:
        return dx.text_of(a).lower() == dx.text_of(b).lower() or number(a) == number(b) is not None
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b or (a in (0, 1) and b in (0, 1) and a == b)
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return near(a, b)
    return alike(a, b)


def number(v):
    try:
        return float(v)
    except ValueError:
        return None


def midnight(v):
    """pandas has one type for dates and datetimes; a step may have made its text one of small letters."""
    return v[:10] if isinstance(v, str) and v.endswith(("T00:00:00", "t00:00:00")) else v


def same_cell(text, value):
    """The text of a cell of a CSV file, and its value in JSON with numbers as they are written."""
    if value is None or isinstance(value, str):  # a date keeps its bytes among datetimes
        return (value or "") in (text, text + "T00:00:00")
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, (list, dict)):
        return json.loads(text, parse_float=decimal.Decimal) == value
    return decimal.Decimal(text) == value


def difference(got, expected):
    if len(got) != len(expected):
        return f"{len(got)} rows, pandas has {len(expected)}"
    for i, (g, e) in enumerate(zip(got, expected)):
        if len(g) != len(e) or not all(map(alike, g, e)):
            return f"columns {list(g)}, pandas has {list(e)}"
        for name, mine, theirs in zip(g, g.values(), e.values()):
            if not close(mine, theirs):
                return f"row {i + 1} {name}: {mine!r}, pandas has {theirs!r}"
    return None
