"""Aggregates over Python values, with dtx's results. For groups, frames and window calls."""
import datetime
import decimal
import math

from dxfn import int64, text_of


def total(values):
    """The exact sum. An int that does not fit 64 bits is an error."""
    if any(isinstance(v, float) for v in values):
        return math.fsum(values)
    if any(isinstance(v, decimal.Decimal) for v in values):
        with decimal.localcontext(decimal.Context(prec=38)):
            return sum(values)
    return int64(sum(int(v) for v in values), "sum %d")


def quantile(values, p):
    """The quantile with linear interpolation (type 7)."""
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


def integers(values):
    """The floats as integers over one common denominator: (integers, denominator)."""
    parts = [float(v).as_integer_ratio() for v in values]
    under = max(q for _, q in parts)
    return [p * (under // q) for p, q in parts], under


def ratio(top, under):
    """The quotient of two integers, rounded once."""
    try:
        return top / under
    except OverflowError:
        return math.inf


def crossed(pairs):
    """n times the sum of the products of the deviations, exactly, and its denominator."""
    (x, x_under), (y, y_under) = (integers(side) for side in zip(*pairs))
    return len(pairs) * sum(a * b for a, b in zip(x, y)) - sum(x) * sum(y), x_under * y_under


def covariance(pairs):
    """The covariance. It is exact until the last division, so deviations that cancel leave exactly
    zero."""
    n = len(pairs)
    if n < 2:
        return None
    top, under = crossed(pairs)
    return ratio(top, under * n * (n - 1))


def variance(values):
    return covariance([(v, v) for v in values])


def deviation(values):
    got = variance(values)
    return None if got is None else math.sqrt(got)


def population(values):
    return variance(values) * (len(values) - 1) / len(values) if len(values) > 1 else 0.0


def mode(values):
    """The most frequent value; of equally frequent ones, the first seen."""
    times = {}
    for v in values:
        times[v] = times.get(v, 0) + 1
    return max(times, key=times.get)


def quantile_disc(values, p):
    values = sorted(values)
    return values[max(math.ceil(p * len(values)), 1) - 1]


def mad(values):
    middle = median(values)
    return median([abs(float(v) - middle) for v in values])


def extent(values):
    got = max(values) - min(values)
    return got.days if isinstance(got, datetime.timedelta) else int64(got) if isinstance(got, int) else got


def product(values):
    if all(isinstance(v, int) for v in values):
        return int64(math.prod(values), "product %d")
    return math.prod(sorted(float(v) for v in values))


def positive(fn):
    def of(values):
        return fn([float(v) for v in values]) if all(v > 0 for v in values) else None
    return of


def moment(least, power):
    """Skewness and kurtosis of a sample, defined as in pandas."""
    def of(values):
        values, n = [float(v) for v in values], len(values)
        if n < least:
            return None
        middle = mean(values)
        m2 = math.fsum((v - middle)**2 for v in values)
        mk = math.fsum((v - middle)**power for v in values)
        if m2 == 0:
            return 0.0
        if power == 3:
            return n * math.sqrt(n - 1) / (n - 2) * mk / m2**1.5
        low = (n - 2) * (n - 3)
        return n * (n + 1) * (n - 1) * mk / (low * m2 * m2) - 3 * (n - 1) * (n - 1) / low
    return of


def spreads(pairs):
    return [variance([p[i] for p in pairs]) for i in (0, 1)]


def correlation(pairs):
    x, y = spreads(pairs)
    if not x or not y:
        return None
    return max(-1.0, min(1.0, covariance(pairs) / (math.sqrt(x) * math.sqrt(y))))


def slope(pairs):
    if not spreads(pairs)[1]:
        return None
    (top, under), (x, x_under) = crossed(pairs), crossed([(v, v) for _, v in pairs])
    return ratio(top * x_under, under * x)


def explained(pairs):
    y, x = spreads(pairs)
    return None if not x else correlation(pairs)**2 if y else 1.0


def weighted(pairs):
    weight = math.fsum(float(w) for _, w in pairs)
    return math.fsum(float(x) * float(w) for x, w in pairs) / weight if weight else None


def beside(pick):
    """Makes arg_min and arg_max: y of the first row with the smallest or largest x."""
    def of(pairs):
        most = pick(x for _, x in pairs)
        return next(y for y, x in pairs if x == most)
    return of


PAIRS = {  # computed from the rows where neither value is null
    "corr": correlation, "cov": covariance, "wavg": weighted, "regr_slope": slope, "regr_r2": explained,
    "arg_max": beside(max), "arg_min": beside(min),
}
AGGREGATES = {  # computed from the values that are not null; null if there are none
    "sum": total, "mean": mean, "min": min, "max": max,
    "median": median, "quantile": quantile, "std": deviation, "var": variance,
    "first": lambda v: v[0], "last": lambda v: v[-1], "any": any, "all": all,
    "concat_agg": lambda v, sep=",": sep.join(map(text_of, v)),
    "any_value": lambda v: v[0], "mode": mode, "quantile_disc": quantile_disc,
    "var_pop": population, "std_pop": lambda v: math.sqrt(population(v)),
    "iqr": lambda v: quantile(v, 0.75) - quantile(v, 0.25), "mad": mad,
    "range": extent, "product": product, "skew": moment(3, 3), "kurt": moment(4, 4),
    "gmean": positive(lambda v: math.exp(mean([math.log(x) for x in v]))),
    "hmean": positive(lambda v: len(v) / math.fsum(1 / x for x in v)),
}
COUNTS = {  # 0 if there are no values
    "count": len, "count_distinct": lambda v: len(set(v)), "count_if": lambda v: sum(map(bool, v)),
}
FLOATS = ("mean", "median", "std", "var", "std_pop", "var_pop", "iqr", "mad", "skew", "kurt", "gmean", "hmean",
          "share_null")


def aggregate(fn, values, *more):
    """Computes one aggregate of Python values, in which None is null."""
    if fn in PAIRS:
        pairs = [p for p in zip(values, *more) if None not in p]
        return PAIRS[fn](pairs) if pairs else None
    if fn == "share_null":
        return sum(v is None for v in values) / len(values) if values else None
    known = [v for v in values if v is not None]
    if fn in COUNTS:
        return COUNTS[fn](known)
    if fn not in AGGREGATES:
        raise ValueError("'%s' is not an aggregate; use one of %s" % (fn, ", ".join(sorted({**AGGREGATES, **COUNTS}))))
    return AGGREGATES[fn](known, *more) if known else None
