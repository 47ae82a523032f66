"""The module `dx`: operations for which plain pandas and dtx differ, done as dtx does them.

It uses plain pandas inside and patches nothing. The rules: null is a group of its own, a null
key matches nothing, a sum of nothing is null, rows keep their order, halves round away from
zero, integers never wrap. There is a function for each op of a plan and for each function of a
formula that pandas does in another way."""
import fractions
import itertools

import numpy as np
import pandas as pd

import dxfn
import dxtext
from dxagg import COUNTS, FLOATS, PAIRS, aggregate
from dxfn import *  # noqa: F401,F403
from dxfn import computed, is_none, pattern, typed, written
from dxop import *  # noqa: F401,F403
from dxrepair import *  # noqa: F401,F403
from dxrule import assert_  # noqa: F401
from dxstat import (add_id, bin, complete, dummies, freq, normalize, outliers, sample,  # noqa: F401
                    top)
from dxtext import (clean_text, explode, extract, implode, merge_columns, parse_date,  # noqa: F401
                    split_column)
from dxop import (as_kind, column_of, common, constant, fits, flags, group_rows, keys_of, kind_of, names_of, pick,
                  plain, reader, sort, take, unite)
from dxshort import *  # noqa: F401,F403
from dxtable import *  # noqa: F401,F403
from dxtime import *  # noqa: F401,F403
from dxwin import derive, over, window  # noqa: F401


def coalesce(*values, **params):
    """The first value that is not null: for values of a formula, or, with parameters, as an op on
    columns."""
    return dxtext.coalesce_columns(*values, **params) if params else dxfn.coalesce(*values)


# --- aggregates ---


def kept(values, rows):
    return [v for v, keep in zip(plain(constant(values, len(rows))), rows) if keep]


def agg(fn, group, *args, where=None):
    """dx.agg("sum", g, g["hours"], where=g["paid"]): one value for the rows of a group."""
    rows = [True] * len(group) if where is None else flags(where, len(group))
    if not args:
        return sum(rows)
    if fn == "concat_agg":
        args = (written(args[0]), *args[1:])
    first, *more = (kept(a, rows) if i == 0 or fn in PAIRS else a for i, a in enumerate(args))
    return computed(aggregate(fn, first, *more))


# --- groups ---


def group_table(df, by):
    """The key columns, given as names or as {name: column or function of the table}."""
    by = by if isinstance(by, dict) else {name: name for name in names_of(by)}
    keys = {name: constant(what(df), len(df)) if callable(what) else df[what] for name, what in by.items()}
    return pd.DataFrame(keys, index=df.index)


def result(df, keys, groups, what):
    """One result column: "count", (column, aggregate), or a function of a group and its keys."""
    if what == "count":
        return column_of([len(rows) for _, rows in groups], "int")
    if callable(what):
        out = []
        for key, rows in groups:
            got = what(df.iloc[rows].reset_index(drop=True), dict(zip(keys.columns, key)))
            out.append(None if is_none(got) else got)
        return typed(out, range(len(out)))
    name, fn = what
    values = plain(written(df[name]) if fn == "concat_agg" else df[name])
    out = [aggregate(fn, [values[r] for r in rows]) for _, rows in groups]
    kind = "int" if fn in COUNTS else "float" if fn in FLOATS else kind_of(df[name])
    return column_of(out, kind)


def sets_of(keys, sets):
    """Names of the keys in each grouping set. Without sets there is one set of all keys."""
    if sets == "rollup":
        return [keys[:n] for n in range(len(keys), -1, -1)]
    if sets == "cube":
        return [[k for k, here in zip(keys, choice) if here] for choice in itertools.product((1, 0), repeat=len(keys))]
    return [keys] if sets is None else [[k for k in keys if k in s] for s in sets]


def group_by(df, by, agg, null_keys="keep", order="first_seen", having=None, sets=None, sets_as=None):
    """dx.group_by(df, ["region"], {"total": ("hours", "sum"), "n": "count"})

    One row per distinct key, first seen first; `agg` maps new columns to (column, aggregate),
    "count" for the number of rows, or a function of a group's rows and its keys.  Without keys:
    one row, even of an empty table.  `sets`: "rollup", "cube" or lists of keys; keys outside a set
    are null in its groups, `sets_as` names the column that tells which.
    """
    df = df.reset_index(drop=True)
    keys = group_table(df, by)
    if null_keys != "keep":
        whole = [r for r, key in enumerate(keys_of(keys, list(keys.columns))) if None not in key]
        if null_keys == "error" and len(whole) < len(df):
            raise ValueError("group_by: a key is null")
        df, keys = take(df, whole), take(keys, whole)
    groups, names = [], []  # for each group: its keys, its rows, and the keys of its set
    for one in sets_of(list(keys.columns), sets):
        for key, rows in (group_rows(keys, one) or ({} if one else {(): []})).items():
            key = dict(zip(one, key))
            groups.append((tuple(key.get(name) for name in keys.columns), rows))
            names.append(one)
    out = {name: pick(keys[name], [rows[0] if name in one else None for (_, rows), one in zip(groups, names)])
           for name in keys}
    for name, what in agg.items():
        out[name] = result(df, keys, groups, what)
    if sets_as:
        out[sets_as] = column_of([",".join(one) for one in names], "text")
    out = pd.DataFrame(out, index=range(len(groups)))
    if order == "sorted":
        out = sort(out, [{"col": name} for name in keys])
    if having:
        out = take(out, [i for i, keep in enumerate(flags(having(out), len(out))) if keep])
    return out


# --- join ---

HOW = ("inner", "left", "right", "full", "semi", "anti", "cross", "outer")


def key_pairs(left, right, on, using):
    on = using if using is not None else on
    sides = {"left", "right", "left_expr", "right_expr"}
    on = [on] if isinstance(on, dict) and len(on) == 2 and set(on) <= sides else on
    if on is None:
        return [], []
    if isinstance(on, dict):
        return list(on), list(on.values())
    if isinstance(on, list) and on and isinstance(on[0], dict):
        return tuple([p.get(side + "_expr") or p[side] for p in on] for side in ("left", "right"))
    return names_of(on), names_of(on)


def key_table(df, keys):
    """The keys as columns 0, 1, ...: columns of the table, or functions of it."""
    made = {i: constant(k(df), len(df)) if callable(k) else df[k] for i, k in enumerate(keys)}
    return pd.DataFrame(made, index=df.index)


def matching(keys, nulls_equal):
    """The key of each row; None if the row matches nothing."""
    return [key if nulls_equal or None not in key else None for key in keys_of(keys, list(keys.columns))]


def check_types(left, right):
    for i in left.columns:
        kinds = {kind_of(left[i]), kind_of(right[i])} - {"null"}
        if len(kinds) > 1 and not kinds <= {"int", "float", "decimal"} and not kinds <= {"date", "datetime"}:
            raise TypeError("join: keys %s cannot be compared" % " and ".join(sorted(kinds)))


def check_unique(keys, side):
    seen = [key for key in keys if key is not None]
    if len(set(seen)) < len(seen):
        raise ValueError("join: keys of the %s table occur more than once" % side)


def join(left, right, on=None, how="inner", suffix="_right", using=None, cardinality="m:m", match="any",
         nulls_equal=False, coalesce_keys=True, indicator_as=None):
    """dx.join(left, right, on="id", how="left"); on: a name, names, {left: right}, or a list of
    {"left" or "left_expr", "right" or "right_expr"} whose formulas are functions of their table.

    Rows in left order, matches in right order, unmatched right rows last.  Output: left columns,
    then right columns without the keys; a clash takes the suffix.
    """
    if how not in HOW:
        raise ValueError("join: '%s' is not a kind of join; use one of %s" % (how, ", ".join(HOW)))
    how = "full" if how == "outer" else how
    lk, rk = key_pairs(left, right, on, using)
    left, right = left.reset_index(drop=True), right.reset_index(drop=True)
    left_keys, right_keys = key_table(left, lk), key_table(right, rk)
    check_types(left_keys, right_keys)
    a, b = matching(left_keys, nulls_equal), matching(right_keys, nulls_equal)
    if cardinality in ("1:m", "1:1"):
        check_unique(a, "left")
    if cardinality in ("m:1", "1:1"):
        check_unique(b, "right")
    rows = {}
    for r, key in enumerate(b):
        if key is not None:
            rows.setdefault(key, []).append(r)
    hits = [rows.get(key, []) if key is not None else [] for key in a]
    met = {r for found in hits for r in found}
    if match in ("all_left", "all") and not all(hits) or match in ("all_right", "all") and len(met) < len(b):
        raise ValueError("join: rows match nothing")
    if how in ("semi", "anti"):
        out = take(left, [i for i, found in enumerate(hits) if bool(found) == (how == "semi")])
        sides = ["both" if how == "semi" else "left_only"] * len(out)
    else:
        pairs = [(i, r) for i, found in enumerate(hits)
                 for r in (found or ([None] if how in ("left", "full") else []))]
        if how in ("right", "full"):
            pairs += [(None, r) for r in range(len(b)) if r not in met]
        keep_keys = how in ("right", "full") and not coalesce_keys
        columns = [(k, r) for k, r in zip(lk, rk) if not callable(k) and not callable(r)]
        out = glue(left, right, [] if keep_keys else columns, pairs, suffix, how)
        sides = ["right_only" if i is None else "left_only" if r is None else "both" for i, r in pairs]
    return out.assign(**{indicator_as: pd.Series(sides, dtype=object)}) if indicator_as else out


def glue(left, right, pairs, at, suffix, how):
    """Columns of both sides. An unmatched row of the right side shows its key in the left column.
    """
    ls, rs = [i for i, _ in at], [r for _, r in at]
    out = {}
    for name in left.columns:
        out[name] = pick(left[name], ls)
        other = next((r for k, r in pairs if k == name), None)
        if other and how in ("right", "full"):
            kind = common([kind_of(left[name]), kind_of(right[other])])
            mine, theirs = plain(out[name]), plain(pick(right[other], rs))
            out[name] = column_of([t if i is None else m for m, t, i in zip(mine, theirs, ls)], kind)
    for name in right.columns:
        if name in [r for _, r in pairs]:
            continue
        new = name + suffix if name in out else name
        if new in out:
            raise ValueError("join: two columns would be called '%s'" % new)
        out[new] = pick(right[name], rs)
    return pd.DataFrame(out, index=range(len(at)))


def lookup_value(df, other, key, value, as_, on_missing="null", default=None):
    """Looks up one value of another table by key. Keys of that table must be unique; a null key
    matches nothing."""
    lk, rk = key_pairs(df, other, key, None)
    left_keys, right_keys = key_table(df, lk), key_table(other, rk)
    check_types(left_keys, right_keys)
    keys = matching(right_keys, False)
    check_unique(keys, "right")
    rows = {key: r for r, key in enumerate(keys) if key is not None}
    found = [rows.get(key) if key is not None else None for key in matching(left_keys, False)]
    if on_missing == "error" and None in found:
        raise ValueError("lookup_value: a key is missing")
    if as_ in df.columns:
        raise ValueError("lookup_value: there is already a column '%s'" % as_)
    kind = kind_of(other[value])
    if default is not None and not fits(default, kind):
        raise ValueError("default does not fit column '%s'" % value)
    got = plain(pick(other[value].reset_index(drop=True), found))
    if on_missing == "default":
        got = [as_kind(default, kind) if r is None else v for v, r in zip(got, found)]
    return df.reset_index(drop=True).assign(**{as_: column_of(got, kind)})


UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def asof_join(df, other, on, by=None, dir="backward", tolerance=None, allow_exact=True, how="left",
              suffix="_right"):
    """Joins the row of another table that is nearest in time; of equal times, the last one."""
    (lt,), (rt,) = key_pairs(df, other, on, None)
    lk, rk = key_pairs(df, other, by, None)
    left_keys, right_keys = key_table(df, lk), key_table(other, rk)
    check_types(left_keys, right_keys)
    for kinds in ({"int", "float", "null"}, {"date", "datetime", "null"}):
        if {kind_of(df[lt]), kind_of(other[rt])} <= kinds:
            break
    else:
        raise TypeError("asof_join: both columns must be numbers, or both must be times")
    if isinstance(tolerance, str):
        unit = tolerance.lstrip("0123456789")
        tolerance = pd.Timedelta(seconds=int(tolerance[:-len(unit)]) * UNITS[unit])
    rows = {}
    for r, (key, at) in enumerate(zip(matching(right_keys, False), plain(other[rt]))):
        if key is not None and at is not None:
            rows.setdefault(key, []).append((at, r))
    found = []
    for key, at in zip(matching(left_keys, False), plain(df[lt])):
        best = None
        for there, r in rows.get(key, []) if key is not None and at is not None else []:
            side = (there > at) - (there < at)
            if side == 0 and not allow_exact or side < 0 and dir == "forward" or side > 0 and dir == "backward":
                continue
            gap = abs(exact(there) - exact(at))
            if tolerance is None or gap <= tolerance:
                best = max(best, (-gap, -side, r)) if best else (-gap, -side, r)
        found.append(best[2] if best else None)
    pairs = [(i, r) for i, r in enumerate(found) if r is not None or how == "left"]
    return glue(df, other, [(None, k) for k in rk], pairs, suffix, "left")


def exact(v):
    """A number as a fraction, so that differences are not rounded; times stay as they are."""
    return fractions.Fraction(v if isinstance(v, float) else int(v)) if isinstance(v, (int, float, np.integer)) else v


def meet(df, other, cols, all, keep):
    """Rows that another table has too, or has not. Null equals null; with `all`, repeated rows
    count."""
    names = list(df.columns) if cols is None else names_of(cols)
    check_types(key_table(df, names), key_table(other, names))
    left, right = {}, {}
    for key in keys_of(other, names):
        right[key] = right.get(key, 0) + 1
    rows = []
    for i, key in enumerate(keys_of(df, names)):
        left[key] = left.get(key, 0) + 1
        found = left[key] <= right.get(key, 0) if all else key in right
        if found == keep and (all or left[key] == 1):
            rows.append(i)
    return take(df, rows)


def intersect(df, other, cols=None, all=False):
    return meet(df, other, cols, all, True)


def except_(df, other, cols=None, all=False):
    return meet(df, other, cols, all, False)


# --- shape ---


def name_parts(name, n, prefix, sep, shape):
    rest = name[len(prefix):] if prefix and name.startswith(prefix) else name
    if shape:
        found = pattern(shape).search(rest)
        parts = [g or "" for g in found.groups()] if found and found.span() == (0, len(rest)) else []
    else:
        parts = rest.split(sep) if sep else [rest]
    if len(parts) != n:
        raise ValueError("column name '%s' does not split into %d parts" % (name, n))
    return parts


def pivot_longer(df, cols=None, keep=None, names_to="name", values_to="value", names_prefix=None, names_sep=None,
                 names_pattern=None, names_types=(), drop_nulls=False, order="rows"):
    """Makes rows of columns: all values of row 1, then those of row 2. Nulls stay unless drop_nulls
    is set."""
    df = df.reset_index(drop=True)
    to = names_of(names_to)
    cols = names_of(cols) if cols is not None else [c for c in df.columns if c not in names_of(keep)]
    parts = {c: name_parts(c, len(to), names_prefix, names_sep, names_pattern) for c in cols}
    if not cols:
        raise KeyError("no column is left to become rows")
    value_at = to.index(".value") if ".value" in to else None
    rests, values, place = [], [], {}
    for c in cols:  # a rest becomes a row of the result, a value one of its columns
        rest = tuple(p for i, p in enumerate(parts[c]) if i != value_at)
        value = values_to if value_at is None else parts[c][value_at]
        if value_at is None or rest not in rests:
            rests.append(rest)
        values += [value] if value not in values else []
        at = len(rests) - 1 if value_at is None else rests.index(rest), value
        if at in place:
            raise ValueError("columns '%s' and '%s' have the same parts in their names" % (place[at], c))
        place[at] = c
    n = len(df)
    rows = [(i, r) for i in range(n) for r in range(len(rests))]
    if order == "cols":
        rows = [(i, r) for r in range(len(rests)) for i in range(n)]
    cells = {v: unite([df[place[r, v]] if (r, v) in place else pd.Series([None] * n, dtype=object)
                       for r in range(len(rests))]) for v in values}
    if drop_nulls:
        known = {v: column.notna().tolist() for v, column in cells.items()}
        rows = [(i, r) for i, r in rows if any(k[r * n + i] for k in known.values())]
    stay = names_of(keep) if keep is not None else [c for c in df.columns if c not in cols]
    out = {c: pick(df[c], [i for i, _ in rows]) for c in df.columns if c in stay}
    types = {t["name"]: t["type"] for t in names_types}
    for at, name in enumerate(t for t in to if t != ".value"):
        kind, read = reader(types.get(name, "text"), None)
        out[name] = column_of([read(rests[r][at]) for _, r in rows], kind)
    for v, column in cells.items():
        out[v] = pick(column, [r * n + i for i, r in rows])
    return pd.DataFrame(out, index=range(len(rows)))


def pivot_wider(df, names_from, values_from, id=None, agg=None, fill=None, names=None, names_sep="_",
                names_prefix="", names_order="appearance"):
    """Makes columns of rows: one row per id, in order of first appearance; columns in order of
    appearance. A cell that occurs more than once needs `agg`."""
    names_from, values = names_of(names_from), names_of(values_from)
    df = df.reset_index(drop=True)
    id = [c for c in df.columns if c not in names_from + values] if id is None else names_of(id)
    ids = list(group_rows(df, id))
    groups, words = group_rows(df, names_from), [texts(df[c]) for c in names_from]
    combos = list(groups)
    label = {key: names_sep.join("null" if w[rows[0]] is None else w[rows[0]] for w in words) for key, rows in groups.items()}
    if names_order == "sorted" and not names:
        combos.sort(key=lambda key: [(v is None, "" if v is None else v) for v in key])
    for key in combos:
        if names and label[key] not in names:
            raise ValueError("pivot_wider: '%s' is not in names" % label[key])
    cells = {}
    for row, at in enumerate(zip(keys_of(df, id), keys_of(df, names_from))):
        cells.setdefault((at[0], label[at[1]]) if names else at, []).append(row)
    if agg is None and any(len(rows) > 1 for rows in cells.values()):
        raise ValueError("pivot_wider: several rows for one cell; name an aggregate")
    first = {key: rows[0] for key, rows in group_rows(df, id).items()}
    out = {c: pick(df[c], [first[key] for key in ids]) for c in id}
    for v in values:
        column, kind = plain(df[v]), kind_of(df[v])
        if agg:
            kind = "int" if agg in COUNTS else "float" if agg in FLOATS else kind
        if not fits(fill, kind):
            raise ValueError("fill does not fit column '%s'" % v)
        for key in names or combos:
            name = names_prefix + (key if names else label[key])
            name = v + names_sep + name if len(values) > 1 else name
            if name in out:
                raise ValueError("pivot_wider: two columns would be called '%s'" % name)
            got = []
            for row in ids:
                rows = cells.get((row, key))
                got.append(as_kind(fill, kind) if rows is None else
                           aggregate(agg, [column[r] for r in rows]) if agg else column[rows[0]])
            out[name] = column_of(got, kind)
    return pd.DataFrame(out, index=range(len(ids)))
