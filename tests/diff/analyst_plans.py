"""Name, steps, expected table (and further members of the plan; "data": other tables)."""
import numpy as np
import pandas as pd


def frame(columns, *rows):
    return pd.DataFrame([list(r) for r in rows], columns=columns.split()).astype(object)


def pick(df, *columns):
    return df[list(columns)].reset_index(drop=True)


def plans(shop):
    o, customers, rates, targets = shop["orders"], shop["customers"], shop["rates"], shop["targets"]
    day = pd.to_datetime(o["day"])
    total = o["qty"].astype("Float64") * o["price"]
    w = o.assign(total=total)

    # --- rows ---
    yield ("filter true", [{"op": "filter", "where": "qty >= 3 and region == 'North'"}],
           o[(o.qty.fillna(0) >= 3) & (o.region == "North")])
    yield ("filter not true keeps nulls", [{"op": "filter", "where": "qty >= 3", "keep": "not_true"}],
           o[~(o.qty.fillna(0) >= 3)])
    yield ("filter in, between, like", [{"op": "filter", "where": "region in ('South', 'East') and price between 20 and 90 "
                                         "and product like 'G%'"}],
           o[o.region.isin(["South", "East"]) & o.price.between(20, 90) & o["product"].str.startswith("G")])
    yield ("sort two keys", [{"op": "sort", "by": [{"col": "region", "nulls": "first"}, {"col": "price", "desc": True}]}],
           lambda: pd.concat([o[o.region.isna()].sort_values("price", ascending=False, kind="stable"),
                              o[o.region.notna()].sort_values(["region", "price"], ascending=[True, False], kind="stable")]))
    yield ("sort limit", [{"op": "sort", "by": "-price", "limit": 7}],
           o.sort_values("price", ascending=False, kind="stable").head(7))
    yield ("limit offset", [{"op": "limit", "n": 5, "offset": 3}], o.iloc[3:8])
    yield ("limit from end by", [{"op": "limit", "n": 2, "from": "end", "by": ["region"]}],
           o.groupby("region", dropna=False).tail(2).sort_index())
    yield ("distinct count", [{"op": "distinct", "cols": ["region", "product"], "keep": "last", "count_as": "n"}],
           lambda: o.drop_duplicates(["region", "product"], keep="last").assign(
               n=lambda d: o.groupby(["region", "product"], dropna=False)["id"].transform("size").loc[d.index]))
    yield ("explode tags", [{"op": "select", "cols": ["id", "tags"]},
                            {"op": "explode", "cols": ["tags"], "sep": ";", "trim": True, "drop_empty": True,
                             "index_as": "nr"}],
           lambda: exploded(o))
    yield ("explode json", [{"op": "explode", "cols": ["v"], "json": True, "trim": False}],
           frame("k v", ("a", "1"), ("a", "2"), ("b", "x")), {"data": {"main": 'k,v\na,"[1, 2]"\nb,"[""x""]"\n'}})
    yield ("union", [{"op": "select", "cols": ["id", "customer"]},
                     {"op": "union", "with": ["customers"], "by": "name", "columns": "union", "source_as": "from",
                      "sources": ["orders", "people"]}],
           pd.concat([pick(o, "id", "customer").assign(**{"from": "orders"}),
                      customers.assign(**{"from": "people"})])[["id", "customer", "name", "segment", "from"]])
    yield ("union missing filled", [{"op": "select", "cols": ["customer"]},
                                    {"op": "union", "with": ["customers"], "fill_missing": True},
                                    {"op": "select", "cols": ["customer", "name"]}],
           pd.concat([o[["customer"]], customers])[["customer", "name"]])
    yield ("union with constants", [{"op": "select", "cols": ["customer"]},
                                    {"op": "union", "with": ["customers"], "columns": "intersect",
                                     "constants": [{"name": "year", "type": "int", "values": ["2023", "2024"]}]}],
           pd.concat([o[["customer"]].assign(year=2023), customers[["customer"]].assign(year=2024)]))
    yield ("top by group with ties", [{"op": "top", "n": 2, "expr": "qty", "desc": True, "by": ["product"], "ties": "all"},
                                      {"op": "select", "cols": ["id"]}, {"op": "sort", "by": "id"}],
           lambda: o[o.groupby("product")["qty"].rank(method="min", ascending=False) <= 2][["id"]].sort_values("id"))
    yield ("implode", [{"op": "implode", "by": ["region"], "col": "product", "sep": "|", "distinct": True, "sort": True}],
           lambda: o.groupby("region", dropna=False, sort=False)["product"].agg(
               lambda s: "|".join(sorted(set(s.dropna()), key=lambda t: t.encode()))).reset_index())
    yield ("intersect", [{"op": "select", "cols": ["customer"]}, {"op": "intersect", "with": "customers", "cols": ["customer"],
                                                                    "all": True}],
           o[["customer"]][o.customer.isin(customers.customer)].groupby("customer").head(1).sort_index())
    yield ("except", [{"op": "select", "cols": ["customer"]}, {"op": "except", "with": "customers", "cols": ["customer"],
                                                                 "all": False}],
           o[["customer"]][~o.customer.isin(customers.customer)].drop_duplicates())
    yield ("complete", [{"op": "group_by", "by": ["region", "product"], "agg": {"n": "count()"}},
                        {"op": "filter", "where": "region is not null and n > 9"},
                        {"op": "complete", "cols": ["region", "product"], "fill": [{"col": "n", "value": 0}]},
                        {"op": "sort", "by": ["region", "product"]}],
           lambda: completed(o))
    yield ("complete steps", [{"op": "complete", "cols": ["k", "y"], "seq": [{"col": "y", "step": 2}]}],
           frame("k y", ("a", 1), ("b", 5), ("a", 3), ("a", 5), ("b", 1), ("b", 3)),
           {"data": {"main": "k,y\na,1\nb,5\n"}})
    yield ("pad_time", [{"op": "pad_time", "col": "d", "every": "1d", "by": ["k"], "fill": 0}],
           frame("k d v", ("a", "2024-01-30", 1), ("a", "2024-01-31", 0), ("a", "2024-02-01", 2), ("b", "2024-01-01", 5)),
           {"data": {"main": "k,d,v\na,2024-02-01,2\na,2024-01-30,1\nb,2024-01-01,5\n"}})
    yield ("repeat", [{"op": "repeat", "col": "n"}], frame("k n", ("a", 2), ("a", 2), ("c", 1)),
           {"data": {"main": "k,n\na,2\nb,0\nc,1\nd,\n"}})
    yield ("repeat n", [{"op": "repeat", "n": 2}], frame("k", ("a",), ("a",)), {"data": {"main": "k\na\n"}})
    yield ("diff_tables", [{"op": "diff_tables", "with": "old", "key": ["k"], "cols": ["v"]}, {"op": "sort", "by": "k"}],
           frame("_change k v v_old", ("removed", "a", None, 1), ("changed", "b", 3, 2), ("added", "d", 4, None)),
           {"data": {"main": "k,v\nb,3\nc,9\nd,4\n", "old": "k,v\na,1\nb,2\nc,9\n"}})
    yield ("sample is of the table", [{"op": "sample", "n": 10, "seed": 7, "by": [], "replace": False},
                                      {"op": "group_by", "by": [], "agg": {"n": "count_distinct(id)"}}], frame("n", (10,)))
    yield ("sample frac", [{"op": "sample", "frac": 1.0, "seed": 7}, {"op": "group_by", "by": [], "agg": {"n": "count()"}}],
           frame("n", (len(o),)))

    # --- columns ---
    yield ("select ranges", [{"op": "select", "cols": ["product..price", {"regex": "^i"}, {"type": "bool"}]}],
           pick(o, "product", "qty", "price", "id", "paid"))
    yield ("select not", [{"op": "select", "cols": [{"not": ["tags", "paid"]}]}], o.drop(columns=["tags", "paid"]))
    yield ("drop", [{"op": "drop", "cols": ["tags", "nobody"], "missing": "ignore"}], o.drop(columns=["tags"]))
    yield ("rename map", [{"op": "rename", "map": {"qty": "quantity", "id": "order_id"}}],
           o.rename(columns={"qty": "quantity", "id": "order_id"}))
    yield ("rename regex", [{"op": "rename", "regex": "^p", "replace": "P", "cols": ["product", "price"]}],
           o.rename(columns={"product": "Product", "price": "Price"}))
    yield ("derive after", [{"op": "derive", "set": {"total": "qty * price"}, "after": "price"}],
           w[["id", "day", "customer", "region", "product", "qty", "price", "total", "tags", "paid"]])
    yield ("derive by", [{"op": "derive", "set": {"share": "price / sum(price)"}, "by": ["region"]}],
           o.assign(share=o.price / o.groupby("region", dropna=False)["price"].transform("sum")))
    yield ("reorder", [{"op": "reorder", "cols": ["price", "qty"], "to": "after", "anchor": "id"}],
           pick(o, "id", "price", "qty", "day", "customer", "region", "product", "tags", "paid"))
    yield ("cast", [{"op": "cast", "types": [{"name": "qty", "type": "float"}, {"name": "day", "type": "date", "format": "%Y-%m-%d",
                                                                             "on_error": "null"}]}],
           o.assign(qty=o.qty.astype("Float64")))
    yield ("parse_date", [{"op": "parse_date", "cols": ["d"], "formats": ["%d/%m/%y"], "type": "date", "century": 1990,
                           "excel_serial": False, "on_error": "null"}],
           frame("d", ("2089-02-01",), (None,), ("1999-12-31",)), {"data": {"main": "d\n01/02/89\nx\n31/12/99\n"}})
    yield ("parse_date order", [{"op": "parse_date", "cols": ["d"], "order": "dmy"}],
           frame("d", ("2024-04-03",), ("2024-12-31",)), {"data": {"main": "d\n3.4.2024\n31 Dec 2024\n"}})
    yield ("parse_number", [{"op": "parse_number", "cols": ["v"], "type": "float", "decimal": ",", "group": ".",
                             "currency": True, "percent": "points", "blanks": ["-"], "on_error": "null"}],
           frame("v", (1234.5,), (-7.0,), (12.0,), (None,), (None,)),
           {"data": {"main": 'v\n"€ 1.234,50"\n(7)\n12%\n-\nmany\n'}})
    yield ("replace_values", [{"op": "replace_values", "cols": ["region"], "map": {"North": "N", "South": "S"}, "else": "null"}],
           o.assign(region=o.region.map({"North": "N", "South": "S"})))
    yield ("replace_values regex", [{"op": "replace_values", "cols": ["product"], "map": [{"from": "^G(\\w)", "to": "g-$1"}],
                                     "regex": True}],
           o.assign(product=o["product"].str.replace(r"^G(\w)", r"g-\1", regex=True)))
    yield ("fill_null value", [{"op": "fill_null", "cols": ["qty"], "value": 0}], o.assign(qty=o.qty.fillna(0)))
    yield ("fill_null expr", [{"op": "fill_null", "cols": ["region"], "expr": "concat('no region for ', product)"}],
           o.assign(region=o.region.fillna("no region for " + o["product"])))
    yield ("fill_null strategy", [{"op": "fill_null", "cols": ["qty"], "strategy": "max"}],
           o.assign(qty=o.qty.fillna(o.qty.max())))
    yield ("split_column", [{"op": "split_column", "col": "day", "sep": "-", "into": ["y", "m", "d"], "extra": "error",
                             "missing": "null", "trim": True, "keep": True}, {"op": "select", "cols": ["id", "day", "y", "m", "d"]}],
           lambda: pd.concat([o[["id", "day"]], o.day.str.split("-", expand=True).set_axis(["y", "m", "d"], axis=1)], axis=1))
    yield ("split widths", [{"op": "split_column", "col": "day", "widths": [4, 1, 2], "into": ["y", "dash", "m"],
                             "extra": "drop"}, {"op": "select", "cols": ["y", "m"]}],
           pd.DataFrame({"y": o.day.str[:4], "m": o.day.str[5:7]}))
    yield ("split regex", [{"op": "select", "cols": ["product"]}, {"op": "split_column", "col": "product", "regex": "[' ]+",
                            "into": ["a", "b"], "extra": "merge", "missing": "null"}],
           lambda: o["product"].str.split(r"[' ]+", n=1, expand=True, regex=True).set_axis(["a", "b"], axis=1))
    yield ("clean_text", [{"op": "clean_text", "cols": ["t"], "trim": True, "squeeze": True, "case": "upper", "unicode": "NFC",
                           "controls": True, "nbsp": True, "dashes": True, "quotes": True}],
           frame("t", ("A B-C",), ("\"X\" 'Y'",)), {"data": {"main": "t\n\"  a \u00a0b\u2013c \"\n\u201cx\u201d \u2018y\u2019\n"}})
    yield ("nullify", [{"op": "nullify", "cols": ["qty"], "values": [13, 8]}], o.assign(qty=o.qty.where(~o.qty.isin([13, 8]))))
    yield ("nullify where", [{"op": "nullify", "cols": ["price"], "where": "price > 200"}],
           o.assign(price=o.price.where(o.price <= 200)))
    yield ("extract", [{"op": "extract", "col": "day", "pattern": "^(\\d+)-(\\d+)", "into": ["y", "m"], "keep": False},
                       {"op": "select", "cols": ["id", "y", "m"]}],
           pd.concat([o[["id"]], o.day.str.extract(r"^(?P<y>\d+)-(?P<m>\d+)")], axis=1))
    yield ("merge_columns", [{"op": "merge_columns", "cols": ["region", "product"], "as": "what", "sep": "/", "skip_null": True,
                              "drop": True}, {"op": "select", "cols": ["id", "what"]}],
           pd.DataFrame({"id": o.id, "what": (o.region + "/").fillna("") + o["product"]}))
    yield ("coalesce", [{"op": "coalesce", "cols": ["region", "product"], "as": "what", "drop": True},
                        {"op": "select", "cols": ["id", "what"]}],
           pd.DataFrame({"id": o.id, "what": o.region.fillna(o["product"])}))
    yield ("add_id", [{"op": "add_id", "as": "nr", "start": 10, "by": ["product"]}, {"op": "select", "cols": ["id", "nr"]}],
           pd.DataFrame({"id": o.id, "nr": o.groupby("product").cumcount() + 10}))
    yield ("add_id hash", [{"op": "add_id", "as": "h", "hash_of": ["region", "product"]},
                           {"op": "group_by", "by": [], "agg": {"n": "count_distinct(h)"}}],
           frame("n", (len(o[["region", "product"]].drop_duplicates()),)))
    yield ("dummies", [{"op": "select", "cols": ["region"]}, {"op": "dummies", "cols": ["region"], "prefix": "in", "sep": ".",
                                                               "drop_first": True}],
           pd.get_dummies(o.region, prefix="in", prefix_sep=".").iloc[:, 1:].astype(bool))
    yield ("bin", [{"op": "bin", "col": "price", "as": "b", "breaks": [0, 50, 100, 250], "closed": "left",
                    "labels": ["lo", "mid", "hi"]}, {"op": "select", "cols": ["id", "b"]}],
           pd.DataFrame({"id": o.id, "b": pd.cut(o.price, [0, 50, 100, 250.0001], right=False, labels=["lo", "mid", "hi"]).astype(object)}))
    yield ("bin quantiles", [{"op": "bin", "col": "price", "as": "b", "n": 4, "method": "quantile",
                              "labels": ["1", "2", "3", "4"]}, {"op": "freq", "cols": ["b"], "sort": False},
                             {"op": "select", "cols": ["b", "count"]}, {"op": "sort", "by": "b"}],
           lambda: quartiles(o))
    yield ("normalize", [{"op": "normalize", "cols": ["price"], "method": "zscore", "by": ["product"]}],
           o.assign(price=o.groupby("product")["price"].transform(lambda s: (s - s.mean()) / s.std())))
    yield ("outliers", [{"op": "outliers", "cols": ["price"], "method": "iqr", "k": 0.1, "by": ["product"], "action": "drop"}],
           lambda: o[o.groupby("product")["price"].transform(within).astype(bool)])

    # --- reshape ---
    yield ("pivot_longer", [{"op": "pivot_longer", "cols": ["hours_2023", "hours_2024", "cost_2023"], "names_to": [".value", "year"],
                             "names_sep": "_", "drop_nulls": False, "order": "rows"}],
           frame("id year hours cost", (1, "2023", 10, 5), (1, "2024", 11, None), (2, "2023", 20, 6), (2, "2024", 21, None)),
           {"data": {"main": "id,hours_2023,hours_2024,cost_2023\n1,10,11,5\n2,20,21,6\n"}})
    yield ("melt", [{"op": "pivot_longer", "keep": ["id"], "names_to": "month", "values_to": "hours", "names_prefix": "h_",
                     "names_types": [{"name": "month", "type": "int"}], "drop_nulls": True, "order": "cols"}],
           frame("id month hours", (1, 1, 10), (2, 1, 20), (1, 2, 11)), {"data": {"main": "id,h_1,h_2\n1,10,11\n2,20,\n"}})
    yield ("pivot_longer pattern", [{"op": "pivot_longer", "cols": ["a1", "b2"], "names_to": ["l", "n"], "names_pattern": "(.)(.)",
                                     "values_to": "v"}],
           frame("id l n v", (7, "a", "1", 1), (7, "b", "2", 2)), {"data": {"main": "id,a1,b2\n7,1,2\n"}})
    yield ("pivot_wider", [{"op": "filter", "where": "region is not null"},
                           {"op": "pivot_wider", "id": ["product"], "names_from": ["region"], "values_from": ["price"], "agg": "sum",
                            "fill": 0, "names_sep": "_", "names_prefix": "r_", "names_order": "sorted"},
                           {"op": "sort", "by": "product"}],
           lambda: o[o.region.notna()].pivot_table(index="product", columns="region", values="price", aggfunc="sum", fill_value=0)
           .add_prefix("r_").reset_index().sort_values("product", key=lambda s: s.map(lambda t: t.encode())))
    yield ("pivot_wider names", [{"op": "pivot_wider", "id": ["product"], "names_from": ["region"], "values_from": ["id"],
                                  "agg": "count", "names": ["South", "North", "East", "null"]}, {"op": "sort", "by": "product"}],
           lambda: o.assign(region=o.region.fillna("null")).pivot_table(index="product", columns="region", values="id", aggfunc="count")
           [["South", "North", "East", "null"]].reset_index().sort_values("product", key=lambda s: s.map(lambda t: t.encode())))
    yield ("crosstab", [{"op": "filter", "where": "region is not null"},
                        {"op": "crosstab", "rows": ["product"], "cols": ["region"], "margins": True},
                        {"op": "select", "cols": ["product", "East", "North", "South", "Total"]}, {"op": "sort", "by": "product"}],
           lambda: pd.crosstab(o["product"], o.region, margins=True, margins_name="Total").reset_index()
           .sort_values("product", key=lambda s: s.map(lambda t: t.encode())))
    yield ("crosstab value", [{"op": "filter", "where": "region is not null"},
                              {"op": "crosstab", "rows": ["product"], "cols": ["region"], "value": "price", "agg": "sum",
                               "normalize": "all"}, {"op": "select", "cols": ["product", "North"]}, {"op": "sort", "by": "product"}],
           lambda: (lambda t: (t / t.values.sum())["North"].reset_index().sort_values(
               "product", key=lambda s: s.map(lambda x: x.encode())))(
               o[o.region.notna()].pivot_table(index="product", columns="region", values="price", aggfunc="sum")))
    yield ("add_totals", [{"op": "add_totals", "rows": True, "column": True, "by": [], "label": "All"}],
           frame("k a b All", ("x", 1, 2, 3), ("y", 3, 4, 7), ("All", 4, 6, 10)), {"data": {"main": "k,a,b\nx,1,2\ny,3,4\n"}})
    yield ("add_totals of some", [{"op": "add_totals", "cols": ["a"], "label_as": "what"}],
           frame("a rate what", (1, 0.5, None), (3, 0.25, None), (4, None, "Total")),
           {"data": {"main": "a,rate\n1,0.5\n3,0.25\n"}})
    yield ("add_totals of groups and all", [{"op": "add_totals", "by": ["k"], "grand": True}],
           frame("k t a", ("x", "p", 1), ("x", "Total", 1), ("y", "q", 3), ("y", "Total", 3), (None, "Total", 4)),
           {"data": {"main": "k,t,a\nx,p,1\ny,q,3\n"}})
    yield ("transpose", [{"op": "transpose", "header": True, "names_to": "month"}],
           frame("month North South", ("jan", 1, 3), ("feb", 2, 4)), {"data": {"main": "region,jan,feb\nNorth,1,2\nSouth,3,4\n"}})

    # --- groups and windows ---
    yield ("group_by", [{"op": "group_by", "by": ["region"], "agg": {
        "n": "count()", "q": "sum(qty)", "m": "mean(price)", "md": "median(price)", "sd": "std(price)", "lo": "min(price)",
        "hi": "max(price)", "d": "count_distinct(customer)", "p9": "quantile(price, 0.9)", "f": "first(product)", "l": "last(product)",
        "paid": "count_if(paid)", "v": "sum(price, where: qty > 2)", "w": "wavg(price, qty)"},
        "null_keys": "keep", "order": "first_seen", "having": "n > 3"}], lambda: grouped(o))
    yield ("group_by expr sorted", [{"op": "group_by", "by": [{"as": "month", "expr": "month(date(day))"}],
                                     "agg": {"total": "sum(qty * price)"}, "order": "sorted"}],
           lambda: pd.DataFrame({"month": day.dt.month, "total": total}).groupby("month")["total"].sum().reset_index())
    yield ("group_by null keys drop", [{"op": "group_by", "by": ["region"], "agg": {"n": "count()"}, "null_keys": "drop"}],
           o.groupby("region", sort=False)["id"].size().reset_index(name="n"))
    yield ("group_by rollup", [{"op": "group_by", "by": ["k"], "agg": {"s": "sum(v)"}, "sets": "rollup", "sets_as": "level"},
                               {"op": "select", "cols": ["k", "s"]}],
           frame("k s", ("a", 3), ("b", 4), (None, 7)), {"data": {"main": "k,v\na,1\na,2\nb,4\n"}})
    yield ("window", [{"op": "window", "by": ["product"], "order": ["day", "id"], "set": [
        {"as": "nr", "expr": "row_number()"}, {"as": "run", "expr": "sum(price)"}, {"as": "before", "expr": "lag(price)"},
        {"as": "last3", "expr": "mean(price)", "frame": {"rows": [-2, 0]}}]}], lambda: windows(o))
    yield ("cumulative", [{"op": "cumulative", "cols": ["price"], "fn": "max", "by": ["region"], "order": ["id"], "suffix": "_top"}],
           o.assign(price_top=o.groupby("region", dropna=False)["price"].cummax()))
    yield ("rolling", [{"op": "rolling", "cols": ["price"], "fn": "mean", "n": 3, "min": 2, "by": ["product"], "order": ["id"],
                        "suffix": "_r"}],
           o.assign(price_r=o.groupby("product")["price"].transform(lambda s: s.rolling(3, min_periods=2).mean())))
    yield ("rank", [{"op": "rank", "expr": "qty", "as": "r", "method": "dense", "desc": True, "by": ["product"]}],
           o.assign(r=o.groupby("product")["qty"].rank(method="dense", ascending=False)))
    yield ("lag_lead", [{"op": "lag_lead", "col": "price", "as": "next", "n": -1, "mode": "value", "default": 0.0, "by": ["product"],
                         "order": ["id"]}],
           o.assign(next=o.groupby("product")["price"].shift(-1, fill_value=0.0)))
    yield ("lag_lead over nulls", [{"op": "lag_lead", "col": "qty", "as": "before", "n": 1, "ignore_nulls": True, "by": ["product"],
                                    "order": ["id"]}],
           lambda: o.assign(before=o.groupby("product")["qty"].transform(lambda s: s.ffill().shift(1))))
    yield ("across", [{"op": "derive", "across": ["price", "qty"], "set": {"{col}_2": "_ * 2"}},
                      {"op": "window", "across": ["price"], "by": ["product"], "order": ["id"], "set": {"{col}_run": "sum(_)"}},
                      {"op": "group_by", "by": ["product"], "across": ["price_2", "qty_2"], "agg": {"{col}": "sum(_)", "{col}_n": "count(_)"}}],
           lambda: o.assign(price_2=o.price * 2, qty_2=o.qty * 2).groupby("product", sort=False).agg(
               price_2=("price_2", "sum"), qty_2=("qty_2", "sum"), price_2_n=("price_2", "count"),
               qty_2_n=("qty_2", "count")).reset_index())
    yield ("resample weeks from Sunday", [
        {"op": "cast", "types": {"day": "date"}},
        {"op": "resample", "col": "day", "every": "1w", "across": ["price"], "agg": {"{col}": "sum(_)"}, "week_start": "sunday"},
        {"op": "sort", "by": ["day"]}],
           lambda: o.groupby(day.dt.to_period("W-SAT").dt.start_time.dt.strftime("%Y-%m-%d").rename("day"))["price"].sum()
           .reset_index())
    yield ("percent_of", [{"op": "percent_of", "col": "price", "as": "p", "by": ["product"]}],
           o.assign(p=o.price / o.groupby("product")["price"].transform("sum")))
    yield ("resample", [{"op": "cast", "types": {"day": "date"}},
                        {"op": "resample", "col": "day", "every": "1mo", "by": ["product"], "agg": {"n": "count()", "s": "sum(price)"},
                         "label": "start", "closed": "left", "fill": True}, {"op": "sort", "by": ["product", "day"]}],
           lambda: monthly(o, day))
    yield ("describe", [{"op": "describe", "cols": ["price"], "by": ["product"]},
                        {"op": "select", "cols": ["product", "n", "mean", "sd", "min", "max"]}, {"op": "sort", "by": "product"}],
           lambda: o.groupby("product")["price"].agg(n="count", mean="mean", sd="std", min="min", max="max").reset_index()
           .sort_values("product", key=lambda s: s.map(lambda t: t.encode())).astype({"min": object, "max": object}))
    yield ("freq", [{"op": "freq", "cols": ["region"], "n": 2, "sort": True}],
           lambda: counted(o))

    # --- joins ---
    yield ("join left", [{"op": "join", "with": "customers", "on": ["customer"], "how": "left", "cardinality": "m:1", "match": "any",
                          "suffix": "_c", "indicator_as": "side"}, {"op": "select", "cols": ["id", "name", "side"]}],
           lambda: joined(o, customers))
    yield ("join full using", [{"op": "select", "cols": ["id", "customer"]},
                               {"op": "join", "with": "customers", "using": ["customer"], "how": "full", "coalesce_keys": True}],
           lambda: pd.concat([o[["id", "customer"]].merge(customers, on="customer", how="left"),
                              customers[customers.customer == "C9"].assign(id=pd.NA)[["id", "customer", "name", "segment"]]]))
    yield ("join nulls equal", [{"op": "join", "with": "b", "on": "k", "nulls_equal": True}],
           frame("k v w", ("x", 1, 3), (None, 2, 4)), {"data": {"main": "k,v\nx,1\n,2\n", "b": "k,w\nx,3\n,4\n"}})
    yield ("join anti", [{"op": "join", "with": "customers", "on": "customer", "how": "anti"}],
           o[~o.customer.isin(customers.customer)])
    yield ("lookup_value", [{"op": "lookup_value", "with": "customers", "key": ["customer"], "value": "segment", "as": "seg",
                             "on_missing": "default", "default": "?"}],
           o.assign(seg=o.customer.map(customers.set_index("customer")["segment"]).fillna("?")))
    yield ("asof_join", [{"op": "cast", "types": {"day": "date"}},
                         {"op": "asof_join", "with": "rates", "on": {"left": "day", "right": "day"}, "by": [], "dir": "backward",
                          "tolerance": "3d", "allow_exact": True, "how": "left", "suffix": "_rate"}, {"op": "select", "cols": ["id", "rate"]}],
           lambda: asof(o, rates, day))
    yield ("range_join", [{"op": "select", "cols": ["id", "price"]},
                          {"op": "range_join", "with": "targets", "where": "left.price >= right.lo and left.price < right.hi",
                           "how": "left", "suffix": "_r"}, {"op": "select", "cols": ["id", "band"]}],
           pd.DataFrame({"id": o.id, "band": np.where(o.price < 100, "S", np.where(o.price < 200, "M", "L"))}))

    # --- repair ---
    yield ("promote_header", [{"op": "promote_header", "rows": 2, "sep": "|", "fill": "right", "unique": "suffix"}],
           frame("Region Hours|Jan Hours|Feb", ("North", 1, 2)),
           {"inputs": [{"name": "main", "path": "main.csv", "header_rows": 0}], "data": {"main": "Region,Hours,\n,Jan,Feb\nNorth,1,2\n"}})
    yield ("skip_rows", [{"op": "skip_rows", "head": 1, "tail": 1, "until": "^id$", "comment": "#"}, {"op": "promote_header"}],
           frame("id v", (1, 2), (3, 4)),
           {"inputs": [{"name": "main", "path": "main.csv", "header_rows": 0}],
            "data": {"main": "report,\nby me,\nid,v\n# note,\n1,2\n3,4\nend,\n"}})
    yield ("drop_empty", [{"op": "drop_empty", "axis": "both"}], frame("a c", ("1", "x"), ("2", "y")).assign(a=[1, 2]),
           {"data": {"main": "a,b,c\n1,,x\n,,\n2, ,y\n"}})
    yield ("drop_rows", [{"op": "drop_rows", "kinds": ["totals", "blank", "repeated_header"], "where": "k == 'c'",
                          "words": ["total"], "label_cols": ["k"], "verify": True}],
           frame("k v", ("a", 1), ("b", 2)), {"data": {"main": "k,v\na,1\nk,v\nb,2\n,\nTotal,3\nc,99\n"}})
    yield ("subtitle_to_column", [{"op": "subtitle_to_column", "as": "part", "col": "k", "match": "only_cell", "drop": True}],
           frame("part k v", ("North", "a", 1), ("South", "b", 2)), {"data": {"main": "k,v\nNorth,\na,1\nSouth,\nb,2\n"}})
    yield ("fill", [{"op": "fill", "cols": ["region"], "dir": "down", "by": ["product"], "limit": 1, "only": "blank"}],
           o.assign(region=o.groupby("product")["region"].ffill(limit=1)))
    yield ("pivot_records", [{"op": "pivot_records", "key": "k", "value": "v", "start": "name", "names_order": "sorted"}],
           frame("age name", (3, "Ann"), (None, "Bob")), {"data": {"main": "k,v\nname,Ann\nage,3\nname,Bob\n"}})
    yield ("pivot_records every", [{"op": "pivot_records", "key": "line", "sep": ":", "every": 2}],
           frame("a b", (1, 2), (3, 4)), {"data": {"main": "line\na:1\nb:2\na:3\nb:4\n"}})
    yield ("set_header", [{"op": "set_header", "names": ["x"], "allow_short": True}], frame("x b", (1, 2)),
           {"data": {"main": "a,b\n1,2\n"}})
    yield ("demote_header", [{"op": "demote_header"}], frame("column_1 column_2", ("a", "b"), ("1", "2")), {"data": {"main": "a,b\n1,2\n"}})
    yield ("clean_names", [{"op": "clean_names", "style": "snake", "ascii": True}], frame("order_date prix_ttc", ("x", 1)),
           {"data": {"main": "Order  Date,Prix (TTC)\nx,1\n"}})
    yield ("keep_range", [{"op": "keep_range", "range": "B2:C3"}], frame("b c", (2, 3), (5, 6)), {"data": {"main": "a,b,c\n1,2,3\n4,5,6\n7,8,9\n"}})
    yield ("unmerge does nothing to text", [{"op": "unmerge", "cols": ["a"], "axis": "rows"}], frame("a", (1,)), {"data": {"main": "a\n1\n"}})
    yield ("blank_down", [{"op": "blank_down", "cols": ["k"]}], frame("k v", ("a", 1), (None, 2), ("b", 3)), {"data": {"main": "k,v\na,1\na,2\nb,3\n"}})
    yield ("split_tables", [{"op": "split_tables", "by": "blank_rows", "pick": 2, "prefix": "part"}],
           frame("a b", ("c", "d"), ("3", "4")), {"data": {"main": "a,b\n1,2\n,\nc,d\n3,4\n"}})
    yield ("unstack_blocks", [{"op": "unstack_blocks", "every": 2}], frame("v_1 v_2", (1, 2), (3, None)), {"data": {"main": "v\n1\n2\n3\n"}})

    # --- checks ---
    yield ("assert and checkpoint", [{"op": "assert", "rules": [
        {"rule": "not_null", "cols": ["id"]}, {"rule": "unique", "cols": ["id"]}, {"rule": "range", "col": "price", "min": 0, "max": 250},
        {"rule": "accepted_values", "col": "region", "values": ["North", "South", "East", None]},
        {"rule": "matches", "col": "day", "regex": "^2024-"}, {"rule": "row_count", "min": 1, "max": 999},
        {"rule": "sum_equals", "col": "id", "value": int(o.id.sum())}]}, {"op": "checkpoint", "label": "checked"}], o)


# --- expected tables that take more than a line ---

def exploded(o):
    rows = []
    for i, tags in zip(o.id, o.tags):
        pieces = [p.strip() for p in tags.split(";")] if tags else [None]
        pieces = [p for p in pieces if p != ""]
        rows += [(i, p, nr + 1) for nr, p in enumerate(pieces)]
    return pd.DataFrame(rows, columns=["id", "tags", "nr"])


def completed(o):
    n = o[o.region.notna()].groupby(["region", "product"]).size()
    n = n[n > 9]
    full = pd.MultiIndex.from_product([n.index.levels[0][n.index.codes[0]].unique(), n.index.levels[1][n.index.codes[1]].unique()],
                                      names=["region", "product"])
    return n.reindex(full, fill_value=0).reset_index(name="n").sort_values(
        ["region", "product"], key=lambda s: s.map(lambda t: t.encode()))


def quartiles(o):
    edges = o.price.quantile([0, .25, .5, .75, 1]).to_numpy()
    cut = np.searchsorted(edges[1:-1], o.price, side="right")
    return pd.DataFrame({"b": ["1", "2", "3", "4"], "count": [int((cut == k).sum()) for k in range(4)]})


def within(s):
    a, b = s.quantile(.25), s.quantile(.75)
    return s.between(a - 0.1 * (b - a), b + 0.1 * (b - a))


def grouped(o):
    rows = []
    for region in o.region.unique():
        g = o[o.region.isna()] if region is None else o[o.region == region]
        k = g[g.qty.notna()]
        rows.append({"region": region, "n": len(g), "q": int(g.qty.sum()), "m": g.price.mean(), "md": g.price.median(),
                     "sd": g.price.std(), "lo": g.price.min(), "hi": g.price.max(), "d": g.customer.nunique(),
                     "p9": g.price.quantile(.9), "f": g["product"].iloc[0], "l": g["product"].iloc[-1], "paid": int(g.paid.sum()),
                     "v": g.price[g.qty.fillna(0) > 2].sum(), "w": float((k.price * k.qty).sum() / k.qty.sum())})
    return pd.DataFrame(rows)


def windows(o):
    s = o.sort_values(["day", "id"])
    g = s.groupby("product")["price"]
    return o.assign(nr=g.cumcount() + 1, run=g.cumsum(), before=g.shift(),
                    last3=g.transform(lambda v: v.rolling(3, min_periods=1).mean()))


def monthly(o, day):
    rows = []
    for product, g in o.assign(month=day.dt.to_period("M")).groupby("product"):
        for m in pd.period_range(g.month.min(), g.month.max(), freq="M"):
            v = g.price[g.month == m]
            rows.append((product, m.strftime("%Y-%m-01"), len(v), v.sum() if len(v) else None))
    return pd.DataFrame(rows, columns=["product", "day", "n", "s"]).sort_values(
        ["product", "day"], key=lambda s: s.map(lambda t: t.encode()))


def counted(o):
    n = o.region.fillna("~").value_counts()
    first = {r: i for i, r in reversed(list(enumerate(o.region.fillna("~"))))}
    top = sorted(n.index, key=lambda r: (-n[r], first[r]))[:2]
    return pd.DataFrame([(None if r == "~" else r, int(n[r]), n[r] / len(o)) for r in top], columns=["region", "count", "share"])


def joined(o, customers):
    got = o[["id", "customer"]].merge(customers, on="customer", how="left")
    return pd.DataFrame({"id": got.id, "name": got.name, "side": np.where(got["name"].isna(), "left_only", "both")}).assign(name=got["name"])


def asof(o, rates, day):
    left = pd.DataFrame({"id": o.id, "at": day, "i": range(len(o))}).sort_values("at", kind="stable")
    right = pd.DataFrame({"at": pd.to_datetime(rates["day"]), "rate": rates.rate})
    return pd.merge_asof(left, right, on="at", tolerance=pd.Timedelta("3D")).sort_values("i")[["id", "rate"]]
