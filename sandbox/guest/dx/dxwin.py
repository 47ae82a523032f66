"""Window calls: a value for each row from the rows of its group, with dtx's results.

dx.over("lag", t, t["x"], 2) is used inside a formula of dx.window or dx.derive. Outside of one
it works on the whole table in its order."""
import decimal
import math

import pandas as pd

from dxagg import PAIRS, aggregate, deviation, mean, median, total
from dxfn import exact, int64, same_scale, typed
from dxop import COLLATE, column_of, constant, flags, group_rows, names_of, order_column, plain, sorted_rows
from dxtime import after, duration


class Rows:
    """Row numbers by group, in their order. Peers (rows with equal keys) share the rank of the
    first of them."""

    def __init__(self, df, by=(), order=()):
        groups = group_rows(df, names_of(by)).values() if len(df) else []
        self.ordered, self.frame, self.range = bool(order), None, None
        self.desc = bool(order) and order[0].get("desc", False)
        self.groups, self.key = [list(g) for g in groups], None
        if order:
            place = {row: i for i, row in enumerate(sorted_rows(df, order))}
            self.groups = [sorted(g, key=place.__getitem__) for g in self.groups]
            keys = [plain(order_column(df, item)) for item in order]
            turns = [COLLATE[item.get("collate", "binary")] for item in order]
            self.key = [tuple(v if not isinstance(v, str) else turn(v) for v, turn in zip(row, turns))
                        for row in zip(*keys)]

    def by_range(self, g, k):
        """The rows whose order value lies in (here + from, here + to], in the direction of the
        order."""
        here = self.key[g[k]][0]
        known = [i for i, r in enumerate(g) if self.key[r][0] is not None]

        def first(end, of_open):
            if end is None:
                return of_open
            edge = distant(here, end, self.desc)
            behind = (i for i in known if (self.key[g[i]][0] < edge if self.desc else self.key[g[i]][0] > edge))
            return next(behind, known[-1] + 1)
        return (k, k) if here is None else (first(self.range[0], known[0]), first(self.range[1], known[-1] + 1))

    def bounds(self, g, k):
        n = len(g)
        if self.range:
            return self.by_range(g, k)
        if not self.frame:
            return 0, k + 1 if self.ordered else n
        low, high = self.frame
        return (0 if low is None else min(max(k + low, 0), n), n if high is None else min(max(k + high + 1, 0), n))


def distant(here, end, desc):
    """The order value at a distance, which is a number or a duration with a sign."""
    if not isinstance(end, str):
        return here - end if desc else here + end
    back, n = end[0] == "-", end.lstrip("-0")
    n, unit = duration(n, "datetime") if n[0].isdigit() else (0, "d")
    return after(here, -n if back != desc else n, (1, unit))


def ratio(a, b):
    return None if a is None or not b else float(a) / float(b)


def finite(v):
    return v if v is None or not isinstance(v, float) or math.isfinite(v) else None


# --- ranks ---


def ranks(give):
    def run(rows, g):
        known = [r for r in g if rows.key[r][0] is not None]
        out, before, dense = {}, 0, 0
        while before < len(known):
            same = [r for r in known[before:] if rows.key[r] == rows.key[known[before]]]
            dense += 1
            out.update({r: give(before + 1, dense, before + len(same), len(known)) for r in same})
            before += len(same)
        return [out.get(r) for r in g]
    return run


def ntile(rows, g, n):
    known = [r for r in g if rows.key[r][0] is not None]
    size, more = divmod(len(known), n)
    sizes = [size + (i < more) for i in range(n)]
    tiles = [i + 1 for i, count in enumerate(sizes) for _ in range(count)]
    out = dict(zip(known, tiles))
    return [out.get(r) for r in g]


# --- other rows ---


def default_of(v, values):
    """Converts a literal to the type of the values it is used with."""
    known = next((w for w in values if w is not None), None)
    if isinstance(v, str) and isinstance(known, pd.Timestamp):
        return pd.Timestamp(v)
    return same_scale(exact(v), known)[0] if isinstance(known, decimal.Decimal) else v


def shift(sign):
    def run(rows, g, x, n=1, default=None, ignore_nulls=False):
        default = default_of(default, x)
        if ignore_nulls and n:
            step, count = sign if n > 0 else -sign, abs(n)
            found = [[r for r in (g[:k][::-1] if step > 0 else g[k + 1:]) if x[r] is not None] for k in range(len(g))]
            return [x[found[k][count - 1]] if count <= len(found[k])
                    else default[g[k]] if isinstance(default, list) else default for k in range(len(g))]

        def at(k):
            other = k - sign * n
            return x[g[other]] if 0 <= other < len(g) else default[g[k]] if isinstance(default, list) else default
        return [at(k) for k in range(len(g))]
    return run


def of_frame(place):
    def run(rows, g, x, n=1):
        out = []
        for k in range(len(g)):
            low, high = rows.bounds(g, k)
            at = place(low, high, n)
            out.append(x[g[at]] if low <= at < high else None)
        return out
    return run


def fill(rows, g, x):
    out, last = [], None
    for r in g:
        last = last if x[r] is None else x[r]
        out.append(last)
    return out


def fill_up(rows, g, x):
    return fill(rows, g[::-1], x)[::-1]


# --- running and relative numbers ---


def change(give):
    def run(rows, g, x, n=1):
        pairs = [(x[r], x[g[k - n]] if 0 <= k - n < len(g) else None) for k, r in enumerate(g)]
        return [None if a is None or b is None else give(a, b) for a, b in pairs]
    return run


def running(give):
    """Makes a running function: `give` gets the values so far. Null where the value is null."""
    def run(rows, g, x=None):
        out, seen = [], []
        for r in g:
            here = True if x is None else x[r]
            if here is not None:
                seen.append(here)
            out.append(None if here is None else finite(give(seen)))
        return out
    return run


def cum_sum(rows, g, x, low=None, high=None, reset=None):
    """The running sum, held between two limits; it starts again where `reset` is true."""
    def at(v, r):
        return v[r] if isinstance(v, list) else v
    out, seen = [], []
    for r in g:
        if at(reset, r):
            seen = []
        if x[r] is not None:
            seen.append(x[r])
            got, floor, top = total(seen), at(low, r), at(high, r)
            if top is not None and got > top:
                seen = [default_of(top, x)]
            if floor is not None and total(seen) < floor:
                seen = [default_of(floor, x)]
        out.append(None if x[r] is None else finite(total(seen)))
    return out


def product(values):
    if any(isinstance(v, (float, decimal.Decimal)) for v in values):
        return math.prod(float(v) for v in values)
    return int64(math.prod(values))


def share(rows, g, x):
    known = [float(x[r]) for r in g if x[r] is not None]
    return [ratio(x[r], math.fsum(known)) for r in g]


def ewm_mean(rows, g, x, alpha):
    out, total, weight = [], 0.0, 0.0
    for r in g:
        total, weight = total * (1 - alpha), weight * (1 - alpha)
        if x[r] is not None:
            total, weight = total + float(x[r]), weight + 1
        out.append(None if x[r] is None else total / weight)
    return out


def interpolate(rows, g, x):
    known = [k for k in range(len(g)) if x[g[k]] is not None]
    out = [None if x[r] is None else float(x[r]) for r in g]
    for a, b in zip(known, known[1:]):
        for k in range(a + 1, b):
            out[k] = out[a] + (out[b] - out[a]) * (k - a) / (b - a)
    return out


def rolling(give):
    def run(rows, g, x, n, min=None):
        need, out = n if min is None else min, []
        for k in range(len(g)):
            known = [x[r] for r in g[max(0, k - n + 1):k + 1] if x[r] is not None]
            out.append(finite(give(known)) if known and len(known) >= need else None)
        return out
    return run


CALLS = {
    "row_number": lambda rows, g: list(range(1, len(g) + 1)),
    "rank": ranks(lambda first, dense, last, n: first),
    "dense_rank": ranks(lambda first, dense, last, n: dense),
    "percent_rank": ranks(lambda first, dense, last, n: (first - 1) / (n - 1) if n > 1 else 0.0),
    "cume_dist": ranks(lambda first, dense, last, n: last / n),
    "average_rank": ranks(lambda first, dense, last, n: (first + last) / 2),
    "ntile": ntile, "lag": shift(1), "lead": shift(-1),
    "first_value": of_frame(lambda low, high, n: low),
    "last_value": of_frame(lambda low, high, n: high - 1),
    "nth_value": of_frame(lambda low, high, n: low + n - 1),
    "fill_down": fill, "fill_up": fill_up,
    "diff": change(lambda a, b: int64(a - b) if isinstance(a, int) else a - b), "pct_change": change(lambda a, b: ratio(a - b, b)),
    "cum_sum": cum_sum, "cum_mean": running(mean), "cum_min": running(min), "cum_max": running(max),
    "cum_prod": running(product), "cum_count": running(len), "share": share,
    "ewm_mean": ewm_mean, "interpolate": interpolate,
    "roll_sum": rolling(total), "roll_mean": rolling(mean), "roll_min": rolling(min), "roll_max": rolling(max),
    "roll_std": rolling(deviation), "roll_median": rolling(median),
}
# even if all values are null
KINDS = {**dict.fromkeys(("row_number", "rank", "dense_rank", "ntile", "cum_count"), "int"),
         **dict.fromkeys(("percent_rank", "cume_dist", "average_rank", "share"), "float")}
CONSTANTS = {"ntile": 0}  # the first argument that is not a column


def over_frames(fn, rows, g, x, keep, more):
    """An aggregate over the frame of each row."""
    def value(part):
        values = [x[r] for r in part if keep[r]] if x else None
        also = [[a[r] for r in part if keep[r]] if isinstance(a, list) else a for a in more]
        return sum(keep[r] for r in part) if values is None else aggregate(fn, values, *also)
    if not rows.ordered and not rows.frame and not rows.range:
        return [value(g)] * len(g)
    return [value(g[slice(*rows.bounds(g, k))]) for k in range(len(g))]


def evaluate(fn, df, rows, args, named, where):
    first = CONSTANTS.get(fn, 1)
    columns = [plain(constant(a, len(df))) for a in args[:first]]
    more = [plain(a) if isinstance(a, pd.Series) else a for a in args[first:]]
    named = {k: plain(a) if isinstance(a, pd.Series) else a for k, a in named.items()}
    if fn in CALLS:
        return lambda g: CALLS[fn](rows, g, *columns, *more, **named)
    if fn in PAIRS:
        more = [plain(constant(a, len(df))) for a in args[first:]]
    keep = [True] * len(df) if where is None else flags(where, len(df))
    return lambda g: over_frames(fn, rows, g, columns[0] if columns else None, keep, more)


def over(fn, df, *args, where=None, **named):
    """One value for each row, from the rows of its group."""
    rows = df.attrs.get("rows") or Rows(df)
    call, out = evaluate(fn, df, rows, args, named, where), [None] * len(df)
    for g in rows.groups:
        for row, value in zip(g, call(g)):
            out[row] = value + 0.0 if isinstance(value, float) else value  # -0.0 becomes 0.0
    return column_of(out, KINDS[fn]) if fn in KINDS else typed(out, df.index)


def window(df, set, by=(), order=()):
    """Adds columns computed from the rows of a group in an order. The rows stay in place."""
    df = df.reset_index(drop=True)
    rows = Rows(df, by or (), order or ())
    for item in set:
        rows.frame, rows.range = ((item.get("frame") or {}).get(by) for by in ("rows", "range"))
        df.attrs["rows"] = rows
        df = df.assign(**{item["as"]: constant(item["expr"](df), len(df))})
    df.attrs.pop("rows", None)
    return df


def derive(df, set, by=(), after=None):
    """Adds columns, computed from left to right. Window calls see the groups of `by` in the table's
    order."""
    df = df.reset_index(drop=True)
    rows = Rows(df, by) if by else None
    place = list(df.columns).index(after) + 1 if after else len(df.columns)
    for item in set:
        df.attrs["rows"] = rows
        value = constant(item["expr"](df), len(df))
        if item["as"] in df.columns:
            df = df.assign(**{item["as"]: value})
        else:
            df = df.copy()
            df.insert(place, item["as"], value)
            place += 1
    df.attrs.pop("rows", None)
    return df
