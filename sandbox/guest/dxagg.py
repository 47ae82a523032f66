"""Aggregates over Python values, as dtx computes them: of a group, of a frame, of a window call."""
import decimal
import math

from dxfn import int64, text_of


def total(values):
    """Exact; an int that does not fit is an error."""
    if any(isinstance(v, float) for v in values):
        return math.fsum(values)
    if any(isinstance(v, decimal.Decimal) for v in values):
        with decimal.localcontext(decimal.Context(prec=38)):
            return sum(values)
    return int64(sum(int(v) for v in values), "sum %d")


def quantile(values, p):
    """Linear between values (type 7)."""
    values = sorted(float(v) for v in values)
    at = p * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    if at - low == 0.5:
        return (values[low] + values[high]) / 2
    return values[low] + (at - low) * (values[high] - values[low])


def mean(values):
    return math.fsum(map(float, values)) / len(values)


def median(values):
    return quantile(values, 0.5)


def variance(values):
    if len(values) < 2:
        return None
    values = [float(v) for v in values]
    middle = mean(values)
    return math.fsum((v - middle)**2 for v in values) / (len(values) - 1)


def deviation(values):
    got = variance(values)
    return None if got is None else math.sqrt(got)


AGGREGATES = {  # of the values that are not null; without one: null
    "sum": total, "mean": mean, "min": min, "max": max,
    "median": median, "quantile": quantile, "std": deviation, "var": variance,
    "first": lambda v: v[0], "last": lambda v: v[-1], "any": any, "all": all,
    "concat_agg": lambda v, sep=",": sep.join(map(text_of, v)),
}
COUNTS = {  # without one: 0
    "count": len, "count_distinct": lambda v: len(set(v)), "count_if": lambda v: sum(map(bool, v)),
}
FLOATS = ("mean", "median", "std", "var")


def aggregate(fn, values, *more):
    """Of Python values, None being null."""
    known = [v for v in values if v is not None]
    if fn in COUNTS:
        return COUNTS[fn](known)
    if fn not in AGGREGATES:
        raise ValueError("no aggregate '%s'; there are %s" % (fn, ", ".join(sorted({**AGGREGATES, **COUNTS}))))
    return AGGREGATES[fn](known, *more) if known else None
