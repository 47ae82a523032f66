"""Ops that are short forms of `window`: their parameters become formulas."""
from dxop import column_of, fits, kind_of, names_of, plain
from dxwin import over, window

__all__ = ["cumulative", "rolling", "rank", "lag_lead", "percent_of"]


OF_ANY = ("min", "max", "count")


def added(df, made, by, order):
    """Adds the columns {name: formula}, whose names must be new."""
    for name in made:
        if name in df.columns:
            raise ValueError("there is already a column '%s'" % name)
    return window(df, [{"as": name, "expr": expr} for name, expr in made.items()], by, order)


def number(df, name):
    if kind_of(df[name]) not in ("int", "float", "decimal", "null"):
        raise TypeError("column '%s' holds no numbers" % name)
    return name


def cumulative(df, cols, fn="sum", by=(), order=(), suffix="_cum"):
    """Running values; null where the value is null."""
    def run(c):
        return lambda t: over("cum_" + fn, t, t[c])
    return added(df, {(c if fn in OF_ANY else number(df, c)) + suffix: run(c) for c in names_of(cols)}, by, order)


def rolling(df, cols, n, fn="mean", min=None, by=(), order=(), suffix="_roll"):
    """An aggregate of the last n rows; null if fewer than `min` of them have a value."""
    def run(c):
        return lambda t: over("roll_" + fn, t, t[c], n, min=min or n)
    return added(df, {(c if fn in OF_ANY else number(df, c)) + suffix: run(c) for c in names_of(cols)}, by, order)


RANKS = {"min": "rank", "dense": "dense_rank", "first": "row_number", "percent": "percent_rank",
         "average": "average_rank"}


def rank(df, expr, as_="rank", method="min", desc=False, by=()):
    """The rank of each row by the value of a formula; null values have none."""
    def place(t):
        places = over(RANKS[method], t)
        known = plain(expr(t))
        return column_of([p if v is not None else None for p, v in zip(plain(places), known)], kind_of(places))
    return added(df, {as_: place}, by, [{"expr": expr, "desc": desc}])


def lag_lead(df, col, as_, n=1, mode="value", default=None, ignore_nulls=False, by=(), order=()):
    """The value n rows before, or the difference to it."""
    if mode == "value":
        if not fits(default, kind_of(df[col])):
            raise ValueError("default does not fit column '%s'" % col)
        return added(df, {as_: lambda t: over("lag", t, t[col], n, default=default,
                                                  ignore_nulls=ignore_nulls)}, by, order)
    number(df, col)
    return added(df, {as_: lambda t: over("diff" if mode == "diff" else "pct_change", t, t[col], n)}, by, order)


def percent_of(df, col, as_, by=()):
    """The share of each value in the sum of its group."""
    return added(df, {as_: lambda t: over("share", t, t[number(df, col)])}, by, ())
