"""The Python side of the jail, in plain python3: dx, the screen, conversions of results.

Usage: run.py [NAME]   Functions test_* are found by name.
"""
import datetime
import decimal
import os
import struct
import sys
import traceback
import warnings

GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sandbox", "guest")
sys.path[:0] = [GUEST, os.path.join(GUEST, "dx")]
warnings.simplefilter("error", FutureWarning)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

import dx  # noqa: E402
import frames  # noqa: E402
import grids  # noqa: E402
import layout  # noqa: E402
import screen  # noqa: E402


def cells(df):
    """Columns and rows with one spelling of null."""
    rows = [[None if pd.isna(v) else v for v in row] for row in df.itertuples(index=False)]
    return list(df.columns), rows


def same(got, columns, rows):
    assert cells(got) == (columns, rows), "got %r" % (cells(got),)


def fails(kind, text, call, *args, **words):
    try:
        call(*args, **words)
    except kind as error:
        assert text in str(error), "got %r, expected %r" % (str(error), text)
        return
    raise AssertionError("no %s" % kind.__name__)


# --- dx ---

LEFT = pd.DataFrame({"k": ["a", None, "a", "b"], "v": [1.0, 2.0, 3.0, np.nan], "n": [1, 2, 3, 4]})
RIGHT = pd.DataFrame({"k": ["b", None, "a", "a", "z"], "v": [10, 20, 30, 40, 50]})


def test_group_null_is_a_group_in_first_seen_order():
    got = dx.group_by(LEFT, "k", {"n": "count", "v": ("v", "sum")})
    same(got, ["k", "n", "v"], [["a", 2, 4.0], [None, 1, 2.0], ["b", 1, None]])


def test_group_sum_of_nothing_is_null_and_count_zero():
    got = dx.group_by(LEFT.iloc[:0], [], {"n": "count", "s": ("v", "sum"), "c": ("v", "count")})
    same(got, ["n", "s", "c"], [[0, None, 0]])


def test_group_without_keys_and_without_rows_of_keys():
    same(dx.group_by(LEFT.iloc[:0], "k", {"n": "count"}), ["k", "n"], [])
    same(dx.group_by(LEFT, [], {"m": ("n", "max")}), ["m"], [[4]])


def test_group_first_and_last_skip_null():
    df = pd.DataFrame({"k": ["a", "a", "a"], "v": [None, "x", None]})
    got = dx.group_by(df, "k", {"f": ("v", "first"), "l": ("v", "last"),
                                "d": ("v", "count_distinct")})
    same(got, ["k", "f", "l", "d"], [["a", "x", "x", 1]])


def test_group_unknown_aggregate():
    fails(ValueError, "'avg' is not an aggregate", dx.group_by, LEFT, "k", {"x": ("v", "avg")})


def test_join_null_matches_nothing_and_left_order_holds():
    got = dx.join(LEFT[["k", "n"]], RIGHT, "k", "left")
    same(got, ["k", "n", "v"], [["a", 1, 30], ["a", 1, 40], [None, 2, None], ["a", 3, 30],
                                ["a", 3, 40], ["b", 4, 10]])


def test_join_full_puts_unmatched_right_rows_last():
    got = dx.join(LEFT[["k", "n"]], RIGHT, "k", "full")
    assert cells(got)[1][-2:] == [[None, None, 20], ["z", None, 50]]


def test_join_clash_takes_the_suffix():
    assert list(dx.join(LEFT, RIGHT, "k").columns) == ["k", "v", "n", "v_right"]


def test_join_other_names_semi_anti():
    right = RIGHT.rename(columns={"k": "key"})
    same(dx.join(LEFT[["k"]], right, {"k": "key"}, "semi"), ["k"], [["a"], ["a"], ["b"]])
    same(dx.join(LEFT[["k"]], right, {"k": "key"}, "anti"), ["k"], [[None]])
    fails(ValueError, "'sideways' is not a kind of join", dx.join, LEFT, right, {"k": "key"}, "sideways")


def test_pivot_longer_goes_row_by_row_and_keeps_nulls():
    df = pd.DataFrame({"id": [1, 2], "x": [5.0, None], "y": [6.0, 7.0]})
    same(dx.pivot_longer(df, ["x", "y"]), ["id", "name", "value"],
         [[1, "x", 5.0], [1, "y", 6.0], [2, "x", None], [2, "y", 7.0]])
    assert len(dx.pivot_longer(df, ["x", "y"], drop_nulls=True)) == 3


def test_pivot_wider_is_rectangular():
    df = pd.DataFrame({"id": [2, 2, 1], "m": ["y", "x", "y"], "v": [5, 6, 7]})
    same(dx.pivot_wider(df, "m", "v"), ["id", "y", "x"], [[2, 5, 6], [1, 7, None]])
    same(dx.pivot_wider(df, "m", "v", fill=0), ["id", "y", "x"], [[2, 5, 6], [1, 7, 0]])


def test_pivot_wider_needs_an_aggregate_for_repeats():
    df = pd.DataFrame({"id": [1, 1], "m": ["x", "x"], "v": [5, 6]})
    fails(ValueError, "name an aggregate", dx.pivot_wider, df, "m", "v")
    same(dx.pivot_wider(df, "m", "v", agg="sum"), ["id", "x"], [[1, 11]])


def test_round_halves_go_away_from_zero():
    assert [dx.round(v) for v in (0.5, 1.5, 2.5, -0.5, -2.5)] == [1.0, 2.0, 3.0, -1.0, -3.0]
    assert dx.round(2.675, 2) == 2.68 and dx.round(1.005, 2) == 1.01
    assert dx.round(1e300) == 1e300 and dx.round(1250.0, -2) == 1300.0
    assert dx.round(pd.Series([1, 2])).tolist() == [1, 2]


def test_integers_never_wrap():
    big = pd.Series([2**62])
    fails(OverflowError, "does not fit 64 bits", dx.mul, big, 4)
    fails(OverflowError, "does not fit 64 bits", dx.add, big, big)
    assert dx.sub(big, 1).tolist() == [2**62 - 1]
    assert dx.floordiv(pd.Series([-7, 7]), 2).tolist() == [-4, 3]
    assert dx.mod(pd.Series([-7]), 2).tolist() == [1]
    assert dx.mod(pd.Series([7]), 0).isna().tolist() == [True]
    assert dx.add(pd.Series([1, None], dtype="Int64"), 1).isna().tolist() == [False, True]


def test_division_by_zero_is_null():
    got = dx.div(pd.Series([1, 7]), pd.Series([0, 2]))
    assert got.isna().tolist() == [True, False] and got[1] == 3.5


def test_nan_of_a_sum_is_null():
    got = dx.add(pd.Series([pd.NA, 1], dtype="Int64"), pd.Series([0.1, np.nan]))
    assert list(dx.le(got, got).isna()) == [True, True]


def test_no_float_is_negative_zero():
    t = pd.DataFrame({"a": [-0.0, 1.5]})
    assert list(dx.demote_header(t)["column_1"]) == ["a", "0.0", "1.5"]


def test_if_and_case():
    n = pd.Series([1, 2, 3])
    assert dx.if_(n > 1, "y", "n").tolist() == ["n", "y", "y"]
    null = pd.Series([True, None, False], dtype="boolean")
    assert dx.if_(null, 1, 2).tolist() == [1, 2, 2]
    assert dx.case((n > 2, "big"), (n > 1, "some"), default="few").tolist() == ["few", "some", "big"]


def test_window_defaults_take_the_type():
    days = pd.DataFrame({"d": pd.to_datetime(["2024-02-01", "2024-02-02"])})
    got = dx.over("lag", days, days["d"], 1, "2024-01-01")
    assert got.tolist() == [pd.Timestamp(2024, 1, 1), pd.Timestamp(2024, 2, 1)]
    sums = pd.DataFrame({"m": [decimal.Decimal("0.50"), decimal.Decimal("1.50")]})
    got = dx.over("lead", sums, sums["m"], 1, 0.25)
    assert got.tolist() == [decimal.Decimal("1.50"), decimal.Decimal("0.25")]


def test_window_aggregates_are_those_of_groups():
    t = pd.DataFrame({"x": [0.1, 0.7, 3.5]})
    for rolling, fn in (("roll_sum", "sum"), ("roll_mean", "mean"), ("roll_median", "median"), ("roll_std", "std")):
        assert dx.over(rolling, t, t["x"], 3)[2] == dx.agg(fn, t, t["x"]), rolling


def test_iso_times_are_those_of_the_engine():
    texts = pd.Series(["2024-01-31", " 2024-01-31 09:30 ", "20240131", "2024-W05-3", "2024-01-31T09",
                       "2024-01-31T09:30+02:0", "2024-01-31T09:30:00.1234567", "2024-01-31T09:30:00.123456000", "2024-01-31 09:30 +02"])
    assert dx.fn("is_date", texts).tolist() == [True, True] + [False] * 5 + [True] * 2
    assert dx.fn("as_datetime", "2024-01-31 01:30:00.250000000-0230") == pd.Timestamp(2024, 1, 31, 4, 0, 0, 250000)
    assert dx.fn("as_datetime", "2024-01-31T01:30+02:00") == pd.Timestamp(2024, 1, 30, 23, 30)
    fails(ValueError, "no ISO date", dx.fn, "as_date", pd.Series(["20240131"]))
    gone = dx.nullif(pd.Series(["a", None]), pd.Series(["a", "b"]))
    assert gone.tolist() == [None, None] and len(gone.drop_duplicates()) == 1
    for values in ([1, 2], [1.5, 2.5], [True, False], pd.to_datetime(["2020-01-01", "2020-01-02"])):
        kept = dx.nullif(pd.Series(values), pd.Series(values[:1] * 2 if isinstance(values, list) else values[[0, 0]]))
        assert kept.isna().tolist() == [True, False]
    assert dx.fn("contains", pd.Series([12, 30]), pd.Series([2, 2])).tolist() == [True, False]
    assert dx.fn("replace", 122, 2, 3) == "133" and dx.fn("split_part", 10203, 0, 2) == "2"
    assert not dx.fn("is_number", "1.") and dx.fn("is_number", ".5")


def test_title_sees_whole_words():
    assert dx.fn("title", "\u039f\u0394\u039f\u03a3 o'NEILL") == "\u039f\u03b4\u03bf\u03c2 O'neill"


def test_to_date_is_strict():
    got = dx.to_date(pd.Series(["03/04/2024", None]), "%d/%m/%Y")
    assert got[0] == pd.Timestamp(2024, 4, 3) and pd.isna(got[1])
    fails(ValueError, "does not match", dx.to_date, pd.Series(["2024-01-01"]), "%d/%m/%Y")


# --- screen ---

GOOD = "def transform(tables, params):\n    return tables['main']\n"
SCREEN = [  # source, class, line
    (GOOD, None, None),
    ("'''doc'''\nimport pandas as pd\nfrom math import floor\nX = {'a': [1, -2]}\n" + GOOD, None, None),
    ("def helper(x):\n    return x\nclass C:\n    pass\n" + GOOD, None, None),
    ("import re\nX = re.compile('|'.join(map_ for map_ in ['a', 'b']))\n" + GOOD, None, None),
    ("import re\nX = re.compile('a')\nY: int = 24 * 60\nZ = frozenset(['a', *'bc'])\n" + GOOD, None, None),
    ("import pandas as pd\nD = pd.Timestamp('2024-01-31') + pd.offsets.MonthEnd(1)\n" + GOOD, None, None),
    ("M = {v: i for i, v in enumerate(['a', 'b'], 1)}\nS = sorted(M, key=lambda v: -M[v])\n" + GOOD,
     None, None),
    ("import pandas as pd\npd.set_option('mode.chained_assignment', None)\n"
     "pd.options.display.width = 80\n" + GOOD, None, None),
    (GOOD + "if __name__ == '__main__':\n    print(transform({}, {}))\n", None, None),
    (GOOD + "if GOOD:\n    print(1)\n", "screen_denied", 3),
    ("FORMULAS = dict(a='b')\n" + GOOD, "screen_denied", 1),
    ("import datetime\nD = datetime.date.today()\n" + GOOD, "screen_denied", 2),
    ("import re\nD = re.compile(open('x'))\n" + GOOD, "screen_denied", 2),
    ("import pandas as pd\nD = pd.DataFrame({'a': [1]}).sum()\n" + GOOD, "screen_denied", 2),
    ("def transform(tables, params) return", "syntax", 1),
    (GOOD + "\0", "syntax", 3),
    ("import os\n" + GOOD, "import_denied", 1),
    ("import numpy, socket\n" + GOOD, "import_denied", 1),
    ("from . import x\n" + GOOD, "import_denied", 1),
    ("def transform(t, p):\n    import subprocess\n", "import_denied", 2),
    ("from os.path import join\n" + GOOD, "import_denied", 1),
    ("print('x')\n" + GOOD, "screen_denied", 1),
    ("X = len('a')\n" + GOOD, "screen_denied", 1),
    ("for x in []:\n    pass\n" + GOOD, "screen_denied", 1),
    ("def transform(tables):\n    pass\n", "screen_denied", 1),
    ("def transform(*tables):\n    pass\n", "screen_denied", 1),
    ("def other(a, b):\n    pass\n", "screen_denied", 0),
    ("def transform(t, p):\n    return eval('1')\n", "screen_denied", 2),
    ("def transform(t, p):\n    return open('x')\n", "screen_denied", 2),
    ("def transform(t, p):\n    return t.__class__\n", "screen_denied", 2),
    ("def transform(t, p):\n    return pd.read_csv('x')\n", "screen_denied", 2),
    ("def transform(t, p):\n    return pd.read_json(open_it('x'))\n", "screen_denied", 2),
    ("def transform(t, p):\n    return pd.read_csv(sep=';')\n", "screen_denied", 2),
    ("def transform(t, p):\n    return pd.read_csv(io.StringIO('a;b'), sep=';')\n", None, 0),
    ("def transform(t, p):\n    text = StringIO('a')\n    return pd.read_csv(text)\n", None, 0),
    ("def transform(t, p):\n    t['main'].to_csv('x')\n", "screen_denied", 2),
    ("def transform(t, p):\n    t['main'].to_csv(path_or_buf='x')\n", "screen_denied", 2),
    ("def transform(t, p):\n    return t['main'].to_csv(sep=';')\n", None, None),
    ("def transform(t, p):\n    return t['main'].to_csv(None)\n", None, None),
    ("def transform(t, p):\n    t['main'].to_csv(io.StringIO())\n    t.to_csv(f())\n", "screen_denied", 3),
    ("def transform(t, p):\n    return pd.read_json('[{\"a\": 1}]')\n", None, None),
    ("def transform(t, p):\n    return pd.read_json(json.dumps(p))\n", None, None),
    ("def transform(t, p):\n    return pd.read_csv('[x]')\n", "screen_denied", 2),
    ("def transform(t, p):\n    return json.load(io.StringIO('1')), t.load, np.loadtxt(f)\n", None, None),
    ("def transform(t, p):\n    return np.load(f)\n", "screen_denied", 2),
    ("import ast, fnmatch, scipy.stats, ipaddress, inspect, urllib.parse\nfrom urllib.parse import quote\n" + GOOD, None, None),
    ("import sys, gzip, shlex, xml.etree.ElementTree as ET\nfrom lxml import etree\n" + GOOD, None, None),
    ("import urllib.request\n" + GOOD, "import_denied", 1),
    ("from urllib import request\n" + GOOD, "import_denied", 1),
    ("def transform(t, p):\n    for open, close in t:\n        x = open + close\n    return f(lambda input: input)\n", None, None),
    ("def transform(t, p):\n    return [t.__name__, t.__class__.__name__, t.__class__(1), t.__hidden]\n", None, None),
    ("class C:\n    def __init__(self):\n        super().__init__()\n" + GOOD, None, None),
    ("def transform(t, p):\n    return t.__class__.__mro__\n", "screen_denied", 2),
    ("def transform(t, p):\n    return t.__globals__\n", "screen_denied", 2),
    ("FORMULAS = {'a': 1}\n" + GOOD, "screen_denied", 1),
    ("FORMULAS = ['a']\n" + GOOD, "screen_denied", 1),
    ("ASSUMES = 'n > 0'\n" + GOOD, "screen_denied", 1),
]


def test_kinds_of_cells():
    kinds = {"E300": "text", "e300": "text", ".": "text", "1E3": "code", "-1E3": "float", "1.0E3": "float", "1E+3": "float", ".5": "float", "007": "text", "-0": "float"}
    for text, kind in kinds.items():
        assert sys.modules["dxop"].cell_kind(text) == kind, (text, sys.modules["dxop"].cell_kind(text))


def test_source_rows_are_of_an_index_without_a_name():
    for index, rows in [(pd.RangeIndex(1, 3), [1, 2]), (pd.Index([2, 0]), [2, 0]),
                        (pd.Index([0, 1], name="key"), []), (pd.Index([0, 3]), []),
                        (pd.Index([0, None], dtype="Int64"), []), (pd.RangeIndex(2, 4), [])]:
        got = frames.Table(pd.DataFrame({"a": [5, 6]}, index=index), {}, 3).source_rows
        assert np.frombuffer(got, "<u8").tolist() == rows, (index, got)


def test_screen_classes():
    for source, kind, line in SCREEN:
        got = screen.check(source, {})
        assert got["class"] == kind, (source, got)
        assert kind is None or got["line"] == line, (source, got)
        assert kind is None or got["message"], (source, got)


def test_screen_deep_nesting_is_a_finding():
    got = screen.check("X = " + "(" * 5000 + ")" * 5000 + "\n" + GOOD, {})
    assert got["class"] == "syntax"


def test_screen_needs_flags_formulas():
    source = ("import pandas as pd\nFORMULAS = {'c': 'a + b'}\nASSUMES = ['a > 0']\n"
              "def transform(tables, params):\n    df = tables['main']\n"
              "    df['c'] = df.a + df['b']\n    print(pd.Timestamp.now())\n    return df\n")
    got = screen.check(source, {"main": ["a", "b", "c", "unused"]})
    assert got["needs"] == ["a", "b", "c"] and got["flags"] == ["clock"]
    assert got["formulas"] == {"c": "a + b"} and got["assumes"] == ["a > 0"]


def test_screen_flags():
    for body, flag in [("df.melt()", "whole_frame"), ("df.dropna()", "whole_frame"),
                       ("df.columns", "whole_frame"), ("df.sum(axis=1)", "whole_frame"),
                       ("df.iloc[:, 0]", "positional"), ("np.random.rand()", "random")]:
        source = "def transform(df, np):\n    return %s\n" % body
        assert flag in screen.check(source, {})["flags"], body
    for line, flag in [("import time", "clock"), ("from uuid import uuid4", "random"),
                       ("from numpy.random import default_rng", "random")]:
        assert screen.check(line + "\n" + GOOD, {})["flags"] == [flag], line
    for body in ("df.melt(id_vars='a', value_vars=['b'])", "df.dropna(subset=['a'])",
                 "df.drop_duplicates(['a'])"):
        source = "def transform(df, np):\n    return %s\n" % body
        assert screen.check(source, {})["flags"] == [], body


# --- results ---

BAD = [  # column or frame, part of the message
    (5, "returned int"),
    (None, "returned None"),
    (pd.Series([1]), "returned Series"),
    (pd.DataFrame(), "no columns"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are named 'a'"),
    (pd.DataFrame([[1, 2]], columns=[1, "1"]), "two columns are named '1'"),
    (pd.DataFrame(np.zeros((1, 65001))), "the result has 65001 columns, at most 65000"),
    (pd.DataFrame({"": [1]}), "empty name"),
    (pd.DataFrame({"a\0b": [1]}), "NUL"),
    (pd.DataFrame({("a", "b"): [1]}), "MultiIndex"),
    (pd.DataFrame({"a": [1]}, index=pd.Index([1], name="a")), "both an index level and a column"),
    (pd.DataFrame({"a": [1, "x"]}), "mixes int (row 0) and text (row 1)"),
    (pd.DataFrame({"a": [True, 1]}, dtype=object), "mixes bool (row 0) and int (row 1)"),
    (pd.DataFrame({"a": [[1], [2]]}), "holds a list"),
    (pd.DataFrame({"a": [{}]}), "holds a dict"),
    (pd.DataFrame({"a": [1j]}), "complex128"),
    (pd.DataFrame({"a": pd.to_timedelta(["1d"])}), "timedelta64"),
    (pd.DataFrame({"a": pd.period_range("2024", periods=1, freq="M")}), "period"),
    (pd.DataFrame({"a": pd.interval_range(0, 1)}), "interval"),
    (pd.DataFrame({"a": pd.to_datetime(["2024-01-01"]).tz_localize("UTC")}), "time zone"),
    (pd.DataFrame({"a": [pd.Timestamp("2024-01-01", tz="UTC"), None, datetime.date(2024, 1, 1)]},
                  dtype=object), "time zone"),
    (pd.DataFrame({"a": pd.to_datetime(["2024-01-01T00:00:00.000000001"])}), "microsecond"),
    (pd.DataFrame({"a": [2**63]}), "beyond 64 bits"),
    (pd.DataFrame({"a": np.array([2**63], ">u8")}), "beyond 64 bits"),
    (pd.DataFrame({"a": [2**70]}), "beyond 64 bits"),
    (pd.DataFrame({"a": [decimal.Decimal("Infinity")]}), "not a number"),
    (pd.DataFrame({"a": [decimal.Decimal("1e40")]}), "38 digits"),
    (pd.DataFrame({"a": ["\ud800"]}), "not Unicode"),
    (pd.DataFrame({"\ud800": [1]}), "name of column 0 is not Unicode"),
    ({"a": [1]}, "returned dict, expected a DataFrame; pd.DataFrame"),
    (pd.DataFrame({"a": [2**60 + 1, 0.5]}, dtype=object), "an integer that no float holds (row 0)"),
    (pd.DataFrame({"a": [0.5, 10**400]}, dtype=object), "an integer that no float holds (row 1)"),
    (pd.DataFrame({"a": [np.timedelta64(1, "D")]}, dtype=object), "holds a timedelta64"),
    (pd.DataFrame({"a": [datetime.timedelta(1), "x"]}), "pd.to_timedelta(df[column])"),
    (pd.DataFrame({"a": [datetime.time(1)]}), "holds a time; a cell is a number, text, bool, date or null; df[column].astype(str)"),
    (pd.DataFrame({"a": [{1}, {2}]}), ".str.join"),
    (pd.DataFrame({"a": [np.datetime64("2024-01-01T00:00:00.000000001")]}, dtype=object), "microsecond"),
    (pd.DataFrame({"a": pd.Series([pd.Timestamp("2024-01-01", tz="UTC")], dtype="category")}), "time zone"),
]


def test_results_that_are_refused():
    for frame, text in BAD:
        fails(layout.BadResult, text, frames.Table, frame, {})


def back(df, types_of=None):
    """The DataFrame after a trip through a frame."""
    out = memoryview(bytearray(1 << 20))
    used = layout.write(out, b"{}", frames.Table(df, types_of or {}))
    return frames.Reader(out[:used]).tables()["result"]


def test_results_there_and_back():
    df = pd.DataFrame({
        "i": [1, -2, 3], "f": [1.5, np.nan, -0.0], "b": [True, False, True],
        "s": ["x", None, "longer than twelve bytes ä"], "t": ["", "exactly 12 b", "x" * 13],
        "d": [datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)],
        "D": [decimal.Decimal("1.5"), None, decimal.Decimal("-1234567890123456789012345.67")],
        "n": [None, None, None]})
    got = back(df)
    assert cells(got)[1] == [[None if pd.isna(v) else v for v in r]
                             for r in df.itertuples(index=False)], cells(got)
    assert str(got["i"].dtype) == "int64" and str(got["f"].dtype) == "float64"
    assert not np.signbit(got["f"][2])


def test_results_int_again():
    df = pd.DataFrame({"a": [1.0, None], "b": [1.0, 2.5], "c": [1e300, 1.0], "d": [1.0, 2.0]})
    got = back(df, {"a": "int", "b": "int", "c": "int", "d": "float"})
    assert [str(t) for t in got.dtypes] == ["Int64", "float64", "float64", "float64"]


def test_results_infinity_is_counted():
    table = frames.Table(pd.DataFrame({"a": [np.inf, -np.inf, 1.0]}), {})
    assert table.notes == {"infinite_to_null": {"a": 2}} and table.columns[0].nulls == 2


def test_results_too_large():
    table = frames.Table(pd.DataFrame({"a": np.zeros(1000)}), {})
    fails(layout.OutputLimit, "", layout.write, memoryview(bytearray(4096)), b"{}", table)


def test_results_index_levels():
    df = pd.DataFrame({"v": [1, 2]}, index=pd.MultiIndex.from_tuples(
        [("a", 1), ("b", 2)], names=["k", None]))
    assert list(back(df).columns) == ["k", "v"]
    assert list(back(pd.DataFrame({"v": [1]}, index=[7])).columns) == ["v"]


def test_results_index_of_apply_is_not_said_twice():
    df = pd.DataFrame({"k": ["a", "a", "b", None], "v": [1, 2, 3, 4]})
    got = df.groupby("k", dropna=False).apply(lambda g: g.head(1))
    assert got.index.names == ["k", None] and list(back(got).columns) == ["k", "v"]
    other = df.groupby("k").apply(lambda g: g.head(1).assign(k="z"))
    fails(layout.BadResult, "both an index level and a column", frames.Table, other, {})


def test_results_integers_of_categories_beside_nulls():
    big = pd.Series([2**60 + 1, None], dtype=pd.CategoricalDtype([2**60 + 1]))
    got = back(pd.DataFrame({"a": big, "b": big.astype("category").cat.rename_categories(["x"])}))
    assert got["a"][0] == 2**60 + 1 and cells(got)[1][1] == [None, None]
    nullable = pd.Series([1, None], dtype="Int64").astype("category")
    assert cells(back(pd.DataFrame({"a": nullable})))[1] == [[1], [None]]


def through(values):
    """Texts as a column of a frame, and read from it again."""
    out = frames.text_out(frames.objects(values), np.array([v is None for v in values], bool))
    a, b = bytes(out.a), bytes(out.b)
    reader = object.__new__(frames.Reader)
    reader.view = memoryview(a + b)
    got = list(frames.texts(reader, 0, len(a), len(values)))
    assert got == ["" if v is None else v for v in values], "got %r" % got[:5]
    return a, b


def test_texts_of_all_lengths():
    for text in ("", "x", "twelve bytes", "thirteen byte", "Ärger", "über zwölf Zeichen", "\U0001f600" * 4):
        through([text])
        through([text, "", text, None, "a text that is long enough", text])
    a, b = through(["thirteen byte", "Übermorgen früh"])
    assert b == "thirteen byteÜbermorgen früh".encode() and len(a) == 32


def test_texts_with_nul_are_taken_one_by_one():
    through(["a\0b", "", "\0", "a text that is long enough\0", None])


def test_texts_across_chunks():
    many = ["%d" % i if i % 3 else "a long text, number %d" % i for i in range(frames.CHUNK + 5)]
    through(many)
    few = ["ab"[i % 2] * 20 for i in range(2 * frames.CHUNK)]
    through(few)


def test_texts_that_repeat_are_shared():
    limit, frames.REPEATED = frames.REPEATED, 100
    try:
        a, b = through(["a text that is long enough"] * 50)
    finally:
        frames.REPEATED = limit
    assert len(b) == 26
    reader = object.__new__(frames.Reader)
    reader.view = memoryview(a + b)
    assert len({id(v) for v in frames.texts(reader, 0, len(a), 50)}) == 1


def test_grid_as_params():
    texts, formats, sheet = ["Région", "#N/A"], ["General", "0.00"], "Q1"
    blob = b"".join(t.encode() for t in texts + formats) + sheet.encode()
    ends = np.cumsum([len(t.encode()) for t in texts + formats]).astype("<u8").tobytes()
    b = struct.pack("<4I", 2, 2, 1, 2) + ends + struct.pack("<4I", 0, 0, 0, 1) + blob
    cells = [(0, 0, 3, 1, 0), (1, 0, 1, 2, struct.unpack("<Q", struct.pack("<d", 2.5))[0]),
             (1, 1, 1, 0, struct.unpack("<Q", struct.pack("<d", -3.0))[0]), (2, 1, 5, 0, 1),
             (2, 2, 4, 0, 86400000001)]
    a = b"".join(struct.pack("<IIHHIQ", r, c, kind, f, 0, v) for r, c, kind, f, v in cells)
    entry = [layout.GRID, 0, 0, 3, 0, 0, 0, 4, 0, 0, len(a), len(a), len(b), 0, 0]
    got = grids.grid(memoryview(a + b), entry)
    assert got["cells"].to_numpy().tolist() == [
        ["Région", None, None], [2.5, -3, None],
        [None, None, datetime.datetime(1970, 1, 2, 0, 0, 0, 1)], [None, None, None]]
    assert type(got["cells"].iat[1, 1]) is int
    assert got["formats"].to_numpy().tolist()[:2] == [["General", None, None], ["0.00", None, None]]
    assert got["merged"] == [[0, 0, 0, 1]] and got["sheet"] == "Q1"


def test_grid_without_cells():
    b = struct.pack("<4I", 0, 0, 0, 0)
    got = grids.grid(memoryview(b), [layout.GRID, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, len(b), 0, 0])
    assert got["cells"].shape == (0, 0) and got["sheet"] is None and got["merged"] == []


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    passed = failed = 0
    for name, test in sorted(globals().items()):
        if not name.startswith("test_") or only not in name:
            continue
        try:
            test()
        except Exception:
            failed += 1
            print("# " + traceback.format_exc().strip().replace("\n", "\n# "))
            print("not ok - " + name)
        else:
            passed += 1
            print("ok - " + name)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
