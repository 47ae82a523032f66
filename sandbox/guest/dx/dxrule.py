"""The op assert: returns the table unchanged, or raises an error if a rule about it is broken."""
import math
import re

import pandas as pd

from dxfn import pattern
from dxop import ISO, common, flags, group_rows, kind_of, moment, names_of, plain, sorted_rows, texts


def alike(column, v):
    """Converts a value of the plan to the column's kind; None if no value of the column can equal
    it."""
    kind = kind_of(column)
    if isinstance(v, bool) or kind == "bool":
        return v if isinstance(v, bool) and kind == "bool" else None
    if isinstance(v, str):
        if kind in ISO:
            return moment(v) if ISO["datetime"].fullmatch(v) else None
        return v if kind == "text" else None
    return v if kind in ("int", "float", "decimal") else None


def outside(df, rule):
    column = df[rule["col"]]
    low, high = (alike(column, rule[end]) if end in rule else None for end in ("min", "max"))
    return [v is not None and (low is not None and v < low or high is not None and v > high) for v in plain(column)]


def others(df, rule):
    column = df[rule["col"]]
    wanted = [alike(column, v) for v in rule["values"]]
    return [v is not None and not any(w is not None and v == w for w in wanted) for v in plain(column)]


def nulls(df, names):
    return [any(v is None for v in row) for row in zip(*(plain(df[c]) for c in names_of(names)))]


def repeats(df, rule):
    later = {r for rows in group_rows(df, names_of(rule["cols"])).values() for r in rows[1:]}
    return [r in later for r in range(len(df))]


def misplaced(df, rule):
    """Rows that are smaller than the row before."""
    place = {}
    for k, row in enumerate(sorted_rows(df, rule["by"])):
        place[row] = k
    keys = list(zip(*(plain(df[item["col"]]) for item in rule["by"])))
    return [r > 0 and place[r] < place[r - 1] and keys[r] != keys[r - 1] for r in range(len(df))]


def strays(df, rule):
    """Values that the column of the other table does not have."""
    known = set(plain(rule["table"][rule["to"]]))
    return [v is not None and v not in known for v in plain(df[rule["col"]])]


ROWS = {  # functions that return which rows break the rule
    "not_null": lambda df, rule: nulls(df, rule["cols"]),
    "relationship": strays, "unique": repeats, "accepted_values": others, "range": outside, "sorted": misplaced,
    "matches": lambda df, rule: [t is not None and not pattern(rule["regex"]).search(t) for t in texts(df[rule["col"]])],
    "expression": lambda df, rule: [not keep for keep in flags(rule["expr"](df), len(df))],
}


def total(column):
    return math.fsum(float(v) for v in plain(column) if v is not None)


def sum_equals(df, rule):
    if "table" in rule:
        other = total(rule["table"][rule["to"]])
    else:
        other = total(df[rule["other"]]) if "other" in rule else rule["value"]
    return abs(total(df[rule["col"]]) - other) <= rule.get("tol", 0)


def has_columns(df, rule):
    names = names_of(rule["names"])
    return list(df.columns) == names if rule.get("exact") else set(names) <= set(df.columns)


def has_type(df, rule):
    have, want = kind_of(df[rule["col"]]), rule["type"].split("(")[0]
    return have == "null" or common([have, want]) == want


AGES = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days", "w": "weeks", "mo": "months", "y": "years"}


def recent(df, rule):
    """Whether the latest value is recent enough. The jail's clock stands at the date of the run."""
    n, unit = re.fullmatch(r"([0-9]+)([a-z]+)", rule["max_age"]).groups()
    n, unit = (int(n) * 3, "mo") if unit == "q" else (int(n), unit)
    since = pd.Timestamp.now().normalize() - pd.DateOffset(**{AGES[unit]: n})
    return any(v is not None and v >= since for v in plain(df[rule["col"]]))


TABLES = {  # functions that return whether the table keeps the rule
    "row_count": lambda df, rule: rule.get("min", 0) <= len(df) <= rule.get("max", math.inf),
    "not_null_share": lambda df, rule: not len(df) or 1 - sum(nulls(df, rule["col"])) / len(df) >= rule["min"],
    "equal_rows": lambda df, rule: len(df) == len(rule["table"]),
    "sum_equals": sum_equals, "recency": recent, "columns": has_columns, "type": has_type,
}


def holds(df, rule):
    kind = rule["rule"]
    if kind in TABLES:
        return TABLES[kind](df, rule)
    return sum(ROWS[kind](df, rule)) <= rule.get("max_failures", 0)


def assert_(df, *others, rules):
    """Checks all rules. `others` are the tables that the rules name, in that order."""
    tables = dict(zip(dict.fromkeys(rule["with"] for rule in rules if "with" in rule), others))
    rules = [dict(rule, table=tables[rule["with"]]) if "with" in rule else rule for rule in rules]
    broken = [rule["rule"] for rule in rules if not holds(df, rule) and rule.get("severity", "error") == "error"]
    if broken:
        raise AssertionError("assert: broken: %s" % ", ".join(broken))
    return df
