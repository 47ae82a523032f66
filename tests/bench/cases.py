"""The cases of the engine's benchmark: name, what it is called in the table, plan.

peers.mjs holds the same work for each peer under the same name.  A join's right side is `other`:
TABLES names the inputs of such cases, all others read g1.
"""

KEYS = [f"id{i}" for i in range(1, 7)]


def group(by, **agg):
    return [{"op": "group_by", "by": by, "agg": agg}]


CASES = {
    "sum_by_id1": ("sum(v1) by id1 (100 groups)", group(["id1"], v1="sum(v1)")),
    "sum_by_id1_id2": ("sum(v1) by id1, id2 (10,000 groups)", group(["id1", "id2"], v1="sum(v1)")),
    "sum_mean_by_id3": ("sum(v1), mean(v3) by id3 (rows / 100 groups)",
                        group(["id3"], v1="sum(v1)", v3="mean(v3)")),
    "means_by_id4": ("mean(v1), mean(v2), mean(v3) by id4 (100 groups)",
                     group(["id4"], v1="mean(v1)", v2="mean(v2)", v3="mean(v3)")),
    "sums_by_id6": ("sum(v1), sum(v2), sum(v3) by id6 (rows / 100 groups)",
                    group(["id6"], v1="sum(v1)", v2="sum(v2)", v3="sum(v3)")),
    "median_std": ("median(v3), std(v3) by id4, id5 (10,000 groups)",
                   group(["id4", "id5"], m="median(v3)", s="std(v3)")),
    "range_by_id3": ("max(v1) - min(v2) by id3 (rows / 100 groups)",
                     group(["id3"], r="max(v1) - min(v2)")),
    "product_mean": ("mean(v1 * v2) by id2, id4 (10,000 groups)",
                     group(["id2", "id4"], p="mean(v1 * v2)")),
    "six_keys": ("sum(v3), count by six keys (one group a row)", group(KEYS, v3="sum(v3)", n="count()")),
    "count_rows": ("count rows", group([], n="count()")),
    "top_two": ("two largest v3 by id6",
                [{"op": "select", "cols": ["id6", "v3"]},
                 {"op": "top", "n": 2, "expr": "v3", "by": ["id6"]}]),
    "filter_wide": ("filter v1 = 3 and id4 > 50, all columns",
                    [{"op": "filter", "where": "v1 == 3 and id4 > 50"}]),
    "sort_v3": ("sort by v3 descending, all columns", [{"op": "sort", "by": ["-v3"]}]),
    "join_small": ("inner join on id6 (rows / 100 right rows), all columns",
                   [{"op": "join", "with": "other", "on": "id6"}]),
    "join_big": ("inner join on id, as many right rows as left rows",
                 [{"op": "join", "with": "other", "on": "id"}]),
    "unpivot": ("unpivot v1, v2, v3 (3 rows of each)",
                [{"op": "pivot_longer", "cols": ["v1", "v2", "v3"], "names_to": "name", "values_to": "value"}]),
    "pivot": ("pivot sum(v2) by id4, id5 over v1 (5 columns)",
              [{"op": "pivot_wider", "id": ["id4", "id5"], "names_from": ["v1"], "values_from": ["v2"],
                "agg": "sum", "names_order": "sorted"}]),
    "distinct": ("distinct id3, id6 (one a row)",
                 [{"op": "select", "cols": ["id3", "id6"]}, {"op": "distinct"}]),
    "distinct_few": ("distinct id1, id2 (10,000 of them)",
                     [{"op": "select", "cols": ["id1", "id2"]}, {"op": "distinct"}]),
    "window_sum": ("sum(v1) over id3 beside id3 and v1",
                   [{"op": "select", "cols": ["id3", "v1"]},
                    {"op": "window", "by": ["id3"], "set": {"s": "sum(v1)"}}]),
    "window_rank": ("rank by v3 within id1 beside both",
                    [{"op": "select", "cols": ["id1", "v3"]},
                     {"op": "window", "by": ["id1"], "order": ["v3"], "set": {"r": "rank()"}}]),
}

# Tables of unusual shapes, which are measured only when they are named (or `shapes` is).
SHAPES = {
    "wide_sum": ("1,000 columns, a hundredth of the rows: sum of one by another", group(["c1"], s="sum(c2)")),
    "wide_filter": ("the same: rows with c1 = 3, all columns", [{"op": "filter", "where": "c1 == 3"}]),
    "wide_sort": ("the same: sort by c2, all columns", [{"op": "sort", "by": ["c2", "c1", "c4"]}]),
    "one_sum": ("one column: sum, smallest, largest", group([], s="sum(v)", a="min(v)", b="max(v)")),
    "one_count": ("one column: count of each value (1,000,000)", group(["v"], n="count()")),
    "long_length": ("rows / 50,000 texts of 1 MB: longest by a key", group(["g"], n="max(length(t))")),
    "long_filter": ("the same: rows with g = 3", [{"op": "filter", "where": "g == 3"}]),
    "lists": ("sorted values of each key as a list (rows / 10 groups)",
              [{"op": "implode", "by": ["k"], "col": "v", "sep": ";", "sort": True}]),
    "lists_medians": ("median of each key (rows / 10 groups)", group(["k"], m="median(v)")),
}

TABLES = {"join_small": ("g1", "ids"), "join_big": ("left", "right"),
          **{name: (name.split("_", 1)[0],) for name in SHAPES}}
# Inputs: generator and arguments behind the number of rows; ids has one row per value of id6.
SOURCES = {
    "g1": ("gen_g1", 1, []),
    "ids": ("gen_pairs", 100, ["3", "id6", "w"]),
    "left": ("gen_pairs", 1, ["1", "id", "v"]),
    "right": ("gen_pairs", 1, ["2", "id", "w"]),
    "wide": ("gen_shapes", 100, ["wide"]),
    "one": ("gen_shapes", 1, ["one"]),
    "long": ("gen_shapes", 50000, ["long"]),
    "lists": ("gen_shapes", 1, ["lists"]),
}
