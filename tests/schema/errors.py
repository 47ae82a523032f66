"""Every code of core/base/err.h is produced by a test that looks at code, pointer and span: here, from
a plan and a text, or (ELSEWHERE) in a test that makes what no file can.  A new code without one of
the two fails, and so does a code that nothing raises.  With --texts it prints what people read."""
import concurrent.futures
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile

import openpyxl

DTX = os.path.abspath(sys.argv[1])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ANY = object()


def plan(*steps, **members):
    return {"dtx": 1, "inputs": [{"name": "main"}], "steps": list(steps), **members}


def derive(expr, **more):
    return {"op": "derive", "set": [{"as": "x", "expr": expr}], **more}


def window(expr, **more):
    return {"op": "window", "set": [{"as": "x", "expr": expr}], **more}


def two(other, *steps, **members):
    return plan(*steps, inputs=[{"name": "main"}, {"name": "other", "path": other}], **members)


HEAD = {"op": "limit", "n": 1}
EXPR = "/steps/0/set/0/expr"
BOOK = os.path.join(ROOT, "fixtures", "xlsx", "report.xlsx")
ZAP = plan({"op": "zap"})
BODY = "def transform(tables, params):\n    return tables['main']\n"
GIVEN = ("run", "in.csv", "--snippet", "s.py")


def snippet(text):
    return {"in.csv": "a\n1\n", "s.py": text}


def does(line):
    return snippet("import pandas as pd\nimport numpy as np\ndef transform(tables, params):\n"
                   f"    {line}\n")


def hidden_book():
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in (("a", "b"), (1, 2), (3, 4), (5, 6)):
        book.active.append(row)
    book.active.row_dimensions[3].hidden = True
    book.save(out)
    return out.getvalue()


# code, pointer, span, plan (or its text), input text (None: `check` alone), further arguments.
# A pointer or span of None: there is none to have.
CASES = [
    # the plan's text
    ("json_syntax", None, None, '{"dtx": 1,', None),
    ("json_duplicate_key", None, None, '{"dtx":1,"steps":[{"op":"limit","n":1}],"steps":[]}', None),
    ("json_depth", None, None, "[" * 40 + "]" * 40, None),
    ("plan_encoding", None, None, b'{"dtx":1,"name":"\xff","steps":[{"op":"limit","n":1}]}', None),
    ("plan_version", "/dtx", None, plan(HEAD, dtx=2), None),
    ("plan_too_large", None, None, '{"dtx":1,"x-":"' + "x" * (9 << 20) + '"}', None),
    ("empty_plan", "/steps", None, plan(), None),
    ("unknown_param", "/steps/0/m", None, plan({"op": "limit", "n": 1, "m": 2}), None),
    ("missing_param", "/steps/0", None, plan({"op": "limit"}), None),
    ("bad_param_type", "/steps/0/n", None, plan({"op": "limit", "n": "x"}), None),
    ("bad_param_value", "/steps/0/n", None, plan({"op": "limit", "n": -1}), None),
    ("param_conflict", "/steps/0/on", None,
     plan({"op": "join", "with": "main", "on": ["a"], "how": "cross"}), None),
    ("unknown_table", "/steps/0/in", None, plan({"op": "limit", "n": 1, "in": "zz"}), None),
    ("duplicate_table", "/steps/0/out", None, plan({"op": "limit", "n": 1, "out": "main"}), None),
    # formulas and the flow of columns
    ("expr_syntax", EXPR, [4, 4], plan(derive("a + ")), None),
    ("expr_limit", EXPR, ANY, plan(derive("(" * 300 + "a" + ")" * 300)), None),
    ("bad_literal", EXPR, ANY, plan(derive("a + 99999999999999999999")), None),
    ("bad_arity", EXPR, [0, 8], plan(derive("abs(a,b)")), None),
    ("bad_format", EXPR, ANY, plan(derive("format_date(run_date(), '%!')")), None),
    ("regex_syntax", EXPR, ANY, plan(derive("matches(a, '(')")), None),
    ("unknown_column", "/steps/1/where", [4, 5],
     plan({"op": "select", "cols": ["a"]}, {"op": "filter", "where": "a > b"}), None),
    ("name_collision", ANY, None,
     plan({"op": "rename", "map": [{"from": "a", "to": "c"}, {"from": "b", "to": "c"}]}), None),
    ("not_boolean", "/steps/0/where", [0, 5], plan({"op": "filter", "where": "1 + 2"}), None),
    ("aggregate_not_allowed", "/steps/0/where", [0, 6],
     plan({"op": "filter", "where": "sum(a) > 1"}), None),
    ("aggregate_required", "/steps/0/agg/0/expr", [0, 1],
     plan({"op": "group_by", "by": ["k"], "agg": [{"as": "x", "expr": "a"}]}), None),
    ("nested_aggregate", "/steps/0/agg/0/expr", [4, 10],
     plan({"op": "group_by", "by": ["k"], "agg": [{"as": "x", "expr": "sum(sum(a))"}]}), None),
    ("window_not_allowed", "/steps/0/where", [0, 6],
     plan({"op": "filter", "where": "lag(a) > 1"}), None),
    ("order_required", EXPR, [0, 6], plan(window("rank()")), None),
    ("type_mismatch", EXPR, [0, 7], plan(derive("'a' + 1")), None),
    ("length_mismatch", ANY, None,
     plan({"op": "bin", "col": "a", "as": "b", "breaks": [0, 1, 2], "labels": ["x"]}), None),
    ("unknown_op", "/steps/0/op", None, plan({"op": "zap"}), None),
    ("unknown_function", EXPR, [0, 6], plan(derive("zap(a)")), None),
    ("unsupported_param", EXPR, ANY, plan(derive("matches(a, '(?=x)')")), None),
    ("no_translation", "/steps/0", None,
     plan({"op": "transpose"}, inputs=[{"name": "main", "types": {"a": "int"}}]), None,
     "compile", "--to", "sql"),
    # the input
    ("missing_column", "/steps/0/where", [0, 2], plan({"op": "filter", "where": "zz > 1"}), "a\n1\n"),
    ("columns_differ", "/steps/0/columns", None,
     two("o.csv", {"op": "union", "with": ["other"], "columns": "same"}),
     {"in.csv": "a\n1\n", "o.csv": "b\nx\n"}),
    ("ambiguous_column", "/inputs/0", None,
     plan(HEAD, inputs=[{"name": "main", "names": "error"}]), "a,a\n1,2\n"),
    ("header_not_found", "/inputs/0", None, plan(HEAD), "17,2\n18,3\n"),
    ("ragged_rows", "/inputs/0", None, plan({"op": "sort", "by": "a"}), "a,b\n1,2\n3\n"),
    ("cast_failed", EXPR, [0, 6], plan(derive("int(t)")), "a,t\n1,x\n"),
    ("ambiguous_date", ANY, None, plan({"op": "parse_date", "cols": ["d"]}),
     "d,n\n01/02/2024,1\n03/04/2024,2\n"),
    ("pivot_not_unique", ANY, None,
     plan({"op": "pivot_wider", "id": ["k"], "names_from": ["n"], "values_from": ["v"]}),
     "k,n,v\na,x,1\na,x,2\n"),
    ("overflow", EXPR, [0, 5], plan(derive("a * a")), "a\n9223372036854775807\n"),
    ("div_zero", EXPR, [0, 5], plan(derive("a / 0"), options={"div_zero": "error"}), "a\n1\n"),
    ("extra_column", "/inputs/0", None,
     plan(HEAD, inputs=[{"name": "main", "requires": ["a"], "extra": "error"}]), "a,b\n1,2\n"),
    ("bad_split", ANY, None, plan({"op": "pivot_records", "key": "a", "sep": ":"}), "a\nx:1\ny\n"),
    ("unexpected_value", ANY, None, plan({"op": "repeat", "col": "a"}), "a\n-1\n"),
    ("input_not_found", "/inputs/0", None, plan(HEAD), "", "run", "nosuch.csv"),
    ("input_io", "/inputs/0", None, plan(HEAD), "", "run", "a" * 300),
    ("unsupported_format", ANY, None, plan(HEAD), "%PDF-1.7\n1 0 obj\n"),
    ("sheet_not_found", ANY, None, plan(HEAD), "", "run", BOOK, "--sheet", "nosuch"),
    ("corrupt_file", ANY, None, plan(HEAD), "PK\x03\x04garbage that is not a zip file at all"),
    ("input_limit", ANY, None, plan(HEAD), 'a\n"' + "x" * (17 << 20) + '"\n'),
    ("bad_encoding", ANY, None, plan(HEAD, inputs=[{"name": "main", "encoding": "utf-8"}]),
     b"a\n\xff\xfe\xfa\n"),
    ("bad_quote", ANY, None, plan({"op": "sort", "by": "a"}), 'a,b\n"x"y,1\n"z",2\n"u",3\n"v",4\n'),
    ("unterminated_quote", ANY, None, plan({"op": "sort", "by": "a"}), 'a,b\n1,"2"\n"x","1"\n3,"4\n'),
    ("empty_input", ANY, None, plan(HEAD), ""),
    ("no_record", None, None, plan(HEAD), None, "provenance", "0f0f0f0f"),
    ("usage", None, None, plan(HEAD), "a\n1\n", "run", "--run-date", "soon"),
    # help that is not there
    ("needs_snippet", "/steps/0/op", None, plan({"op": "zap"}), "a\n1\n"),
    # limits
    ("row_limit", "/steps/0", None, plan(derive("a"), limits={"rows": 1}), "a\n1\n2\n3\n"),
    ("pivot_too_wide", ANY, None,
     plan({"op": "pivot_wider", "id": ["k"], "names_from": ["n"], "values_from": ["v"]},
          limits={"pivot_cols": 1}), "k,n,v\na,x,1\na,y,2\n"),
    ("col_limit", ANY, None, plan(derive("1"), derive("2"), limits={"cols": 1}), "a\n1\n"),
    ("row_growth", ANY, None,
     plan({"op": "repeat", "n": 1100000}, limits={"growth": 1}), "a\n1\n"),
    # writing
    ("output_io", None, None, plan(HEAD), "a\n1\n", "run", "-o", "nosuch/x.csv"),
    ("disk_full", None, None, plan(HEAD), "a\n1\n", "run", "-o", "/dev/full"),
    ("store_io", None, None, plan(HEAD), "a\n1\n", "run", "--store", "/proc/nosuch/s.db"),
    # promises that the data breaks
    ("assert_failed", ANY, None, plan({"op": "assert", "rules": [{"rule": "not_null", "cols": ["a"]}]}),
     "a,b\n,1\n"),
    ("expect_failed", "/expect/rows/min", None, plan(HEAD, expect={"rows": {"min": 2}}), "a\n1\n"),
    ("join_cardinality", ANY, None,
     two("o.csv", {"op": "join", "with": "other", "on": ["a"], "cardinality": "m:1"}),
     {"in.csv": "a\n1\n", "o.csv": "a,v\n1,2\n1,3\n"}),
    ("join_unmatched", ANY, None,
     two("o.csv", {"op": "join", "with": "other", "on": ["a"], "match": "all_left"}),
     {"in.csv": "a\n1\n", "o.csv": "a,v\n2,2\n"}),
    ("lookup_missing", ANY, None,
     two("o.csv", {"op": "lookup_value", "with": "other", "key": "a", "value": "v", "as": "w",
                   "on_missing": "error"}),
     {"in.csv": "a\n1\n", "o.csv": "a,v\n2,2\n"}),
    ("null_key", ANY, None,
     plan({"op": "group_by", "by": ["k"], "agg": {"n": "count()"}, "null_keys": "error"}),
     "k,v\n,1\n"),
    # warnings
    ("unused_input", "/inputs/1", None, plan(HEAD, inputs=[{"name": "main"}, {"name": "b"}]), None),
    ("undeclared_column", "/inputs/0", None,
     plan({"op": "filter", "where": "hourz > 1"}, inputs=[{"name": "main", "requires": ["hours"]}]),
     None),
    ("constant_filter", "/steps/0/where", None, plan({"op": "filter", "where": "1 > 2"}), None),
    ("text_numeric_compare", "/steps/0/where", [0, 8],
     plan({"op": "filter", "where": "k > '10'"}), "k,v\na,1\n9,2\n"),
    ("text_date_compare", "/steps/0/where", [0, 16],
     plan({"op": "filter", "where": "k > '2024-01-01'"}), "k,v\n31/12/2023,1\nx,2\n"),
    ("literal_for_column", "/steps/0/set/0/expr", [0, 4], plan(derive("2024 - v")), "2024,v\n1,2\n"),
    ("duplicate_header", ANY, None, plan(HEAD), "a,a\n1,2\n"),
    ("type_promoted", ANY, None,
     two("o.csv", {"op": "union", "with": ["other"]}), {"in.csv": "a\n1\n", "o.csv": "a\nx\n"}),
    ("div_zero", "/steps/0", None, plan(derive("a / 0")), "a\n1\n"),
    ("not_finite", "/steps/0", None, plan(derive("1e308 * 10 * a")), "a\n1.5\n"),
    ("null_dropped", "/steps/0", None, plan({"op": "filter", "where": "a > 1"}), "a,b\n1,1\n,2\n2,3\n"),
    ("number_rounded", "/output", None, plan(HEAD), "a\n9007199254740993\n", "run", "-o", "o.xlsx"),
    ("hidden_cells", "/inputs/0", None, plan(HEAD), {"in.xlsx": hidden_book()}, "run", "in.xlsx"),
    ("time_limit", "/limits/time_s", None, plan(HEAD, limits={"time_s": 0}), "a\n1\n"),
    # snippets
    ("snippet_screen_denied", ANY, None, ZAP, snippet("x = len([])\n" + BODY), *GIVEN),
    ("snippet_nondeterministic", ANY, None, ZAP,
     does("return pd.DataFrame({'a': list({'u', 'v', 'w', 'x', 'y', 'z', 'p', 'q'})})"), *GIVEN),
    ("snippet_ended", ANY, None, ZAP,
     does("pd.io.common.os._exit(3)"),
     *GIVEN),
    ("snippet_crash", ANY, None, ZAP,
     does("return pd.DataFrame({'a': [np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 40,))[1 << 36]]})"),
     *GIVEN),
]

def step(op, **members):
    return plan({"op": op, **members})


# Further places that raise a code: code, words of the message, and then as above.
PLACES = [
    ("usage", "takes one of", ZAP, "", "run", "--fallback", "maybe"),
    ("usage", "takes a whole number from 1 to 256", ZAP, "", "run", "--threads", "999"),
    ("usage", "takes no value", ZAP, "", "run", "--repair=1"),
    ("usage", "the plan has no input 'zz'", ZAP, "", "run", "in.csv", "zz=in.csv"),
    ("usage", "needs a name", ZAP, "", "run", "in.csv", "in.csv"),
    ("usage", "'--header-rows' takes 0 to 8", ZAP, "a\n1\n", "run", "--header-rows", "9"),
    ("usage", "has no file", two(None, {"op": "union", "with": ["other"]}), "a\n1\n"),
    ("usage", "no operation 'zz'", ZAP, None, "schema", "--op", "zz"),
    ("usage", "option '--row' takes a JSON object", ZAP, None, "eval", "1 + 1", "--row", "7"),
    ("usage", "needs an ID", ZAP, None, "snippet", "show"),
    ("usage", "no verb 'zz'", ZAP, None, "snippet", "zz"),
    ("usage", "operands", ZAP, None, "schema", "zz"),
    ("no_translation", "no pandas form", ZAP, None, "compile", "--to", "pandas"),
    ("no_translation", "cannot be written in SQL",
     plan({"op": "filter", "where": "b > 1"}, inputs=[{"name": "main", "types": {"a": "int"}}]), None,
     "compile", "--to", "sql"),
    ("no_translation", "are not known", plan(HEAD), None, "compile", "--to", "sql"),
    ("needs_snippet", "typed steps alone", ZAP, "a\n1\n", "explain", "--analyze"),
    ("plan_too_large", "at most 1000 steps", plan(*[HEAD] * 1001), None),
    ("plan_version", "has no version", '{"steps":[{"op":"limit","n":1}]}', None),
    ("bad_param_type", "'steps' must be an array", '{"dtx":1,"steps":7}', None),
    ("bad_param_type", "a plan is a JSON object", '"x"', None),
    ("bad_param_type", "'enum' must hold single values", plan(HEAD, expect={"columns": [{"name": "a", "enum": [[1]]}]}), None),
    ("bad_param_type", "'rows' must be", plan(HEAD, expect={"rows": [1]}), None),
    ("bad_param_type", "'name' must be text", plan(HEAD, expect={"columns": [{"name": 7}]}), None),
    ("bad_param_type", "'type' must be text", plan(HEAD, expect={"columns": [{"name": "a", "type": 7}]}), None),
    ("expr_limit", "pattern is longer", plan(derive("matches(a, '" + "x" * 9000 + "')")), None),
    ("expr_limit", "nests deeper", plan(derive("matches(a, '" + "(?:" * 300 + "x" + ")" * 300 + "')")), None),
    ("row_limit", "more than 1 row", plan({"op": "sort", "by": "a"}, limits={"rows": 1}), "a\n1\n2\n"),
    ("row_growth", "join", two("o.csv", {"op": "join", "with": "other", "how": "cross"},
                               limits={"growth": 0}),
     {"in.csv": "a\n" + "1\n" * 1100, "o.csv": "b\n" + "2\n" * 1100}),
    ("pivot_too_wide", "dummies", plan({"op": "dummies", "cols": ["a"]}, limits={"pivot_cols": 1}), "a\nx\ny\n"),
    ("pivot_too_wide", "more than 1 key", plan({"op": "pivot_records"}, limits={"pivot_cols": 1}),
     "k,v\na,1\nb,2\n"),
    ("param_conflict", "either on or using", step("join", **{"with": "main"}, on=["a"], using=["a"]), None),
    ("param_conflict", "names_sep or names_pattern",
     step("pivot_longer", cols=["a"], names_to=["x", "y"], names_sep="_", names_pattern="(a)(b)"), None),
    ("param_conflict", "either every or start", step("pivot_records", every=2, start="a"), None),
    ("param_conflict", "with sep the values come from the key column", step("pivot_records", sep=":", value="v"), None),
    ("missing_param", "rename needs map", step("rename"), None),
    ("bad_param_value", "sep is empty", step("pivot_records", sep=""), None),
    ("bad_param_value", "sep is empty", step("explode", col="a", sep=""), None),
    ("bad_param_value", "type must be float, int or decimal", step("parse_number", cols=["a"], type="text"), None),
    ("missing_param", "either col or expr", step("sort", by=[{"desc": True}]), None),
    ("bad_param_value", "delimiter is one ASCII character", plan(HEAD, output={"path": "x.csv", "delimiter": '"'}), "a\n1\n"),
    ("cell_limit", "a text is longer than", plan(HEAD), "a\n" + "x" * 40000 + "\n", "run", "-o", "o.xlsx"),
    ("no_record", "there is no store", ZAP, None, "provenance"),
    ("store_io", "is damaged", plan(HEAD), {"in.csv": "a\n1\n", "bad.db": "no database" * 500}, "run",
     "--store", "bad.db"),
    ("header_not_found", "\"header_rows\" is 8", plan(HEAD, inputs=[{"name": "main", "header_rows": 8, "range": "A1:B2"}]),
     "", "run", BOOK),
    ("bad_param_value", "a table of a workbook has a header",
     plan(HEAD, output={"path": "o.xlsx", "as_table": True, "header": False}), "a\n1\n"),
    ("cell_limit", "a name in a table of a workbook has 1 to 255 characters",
     plan(HEAD, inputs=[{"name": "main", "header_rows": 1}], output={"path": "o.xlsx", "as_table": True}),
     "x" * 300 + "\n1\n"),
    ("reader_note", "2 bytes after the end of the text", plan(HEAD), b"a\n1\n2\n\x00\x00"),
    ("bad_encoding", "is not shift_jis", plan(HEAD, inputs=[{"name": "main", "encoding": "shift_jis"}]),
     b"a\n\x81\x00\n"),
    ("row_growth", "range_join", two("o.csv", {"op": "range_join", "with": "other", "where": "left.a < right.b"},
                                     limits={"growth": 0}),
     {"in.csv": "a\n" + "1\n" * 1100, "o.csv": "b\n" + "2\n" * 1100}),
    ("plan_too_large", "these stand for more",
     plan(*[{"op": "split_tables", "prefix": f"p{i}", "in": "main"} for i in range(17)],
          {"op": "union", "with": [f"p{i}_{k}" for i in range(17) for k in range(1, 65)]}), None),
    ("col_limit", "a sheet has at most 16384 columns, the table has 16385", plan(HEAD, limits={"cols": 20000}),
     ",".join(f"c{i}" for i in range(16385)) + "\n" + ",".join("1" * 16385) + "\n", "run", "-o", "o.xlsx"),
    ("bad_param_value", "cols", plan(HEAD, limits={"cols": 100001}), None),
    ("col_limit", "pivot_wider: the table would have 4 columns, the limit is 3",
     plan({"op": "pivot_wider", "names_from": ["n"], "values_from": ["v"]}, limits={"cols": 3}),
     "k,n,v\na,x,1\na,y,2\na,z,3\n"),
    ("input_limit", "different members", plan(HEAD),
     {"in.jsonl": "{" + ",".join(f'"k{i}":1' for i in range(100001)) + "}\n"}, "run", "in.jsonl"),
    ("corrupt_file", "a name holds a NUL", plan(HEAD), {"in.jsonl": '["a\\u0000"]\n["x"]\n'}, "run", "in.jsonl"),
    ("unsupported_format", "rows of JSON have one header row",
     plan(HEAD, inputs=[{"name": "main", "header_rows": 2}]), {"in.jsonl": "[1]\n[2]\n[3]\n"}, "run", "in.jsonl"),
    ("unexpected_value", "a value with a NUL byte cannot be a column name",
     plan({"op": "pivot_wider", "id": ["k"], "names_from": ["n"], "values_from": ["v"]}),
     {"in.jsonl": '{"k":1,"n":"a\\u0000","v":1}\n'}, "run", "in.jsonl"),
    ("empty_input", "only blank lines", plan(HEAD), "\n\n\n"),
    ("bad_param_value", "skip_tail is at most", plan(HEAD, inputs=[{"name": "main", "skip_tail": 9999999}]), "a\n1\n"),
    ("no_memory", "out of memory", plan({"op": "window", "order": ["a"], "set": {"c": "cum_sum(a)"}},
                                        limits={"memory_mb": 1}),
     "a\n" + "".join(f"{i}\n" for i in range(700000))),
    ("no_memory", "holds a table of at least", plan({"op": "window", "order": ["a"], "set": {"s": "cum_sum(a)"}},
                                                    limits={"memory_mb": 1}),
     {"in.csv": "a,b,c,d\n" + "".join(f"{i},{i},{i},{i}\n" for i in range(800000))}, "run", "in.csv"),
]

# Codes that no plan and no text alone make, and who makes them: a file, and words that stand in it.
ELSEWHERE = {
    "almost_type": ("tests/unit/io/test_csv_open.c", "almost_type"),
    "ambiguous_dialect": ("tests/unit/io/test_csv_open.c", "DTX_E_AMBIGUOUS_DIALECT"),
    "archive_limit": ("tests/unit/io/test_zip.c", "DTX_E_ARCHIVE_LIMIT"),
    "bad_cell": ("tests/unit/io/test_xlsx.c", "bad_cell"),
    "cancelled": ("tests/unit/sandbox/test_jail.c", "DTX_E_CANCELLED"),
    "cell_errors": ("tests/cli/convert/ledger.stderr", "cell_errors"),
    "cell_limit": ("tests/unit/data/test_rawgrid.c", "DTX_E_CELL_LIMIT"),
    "dialect_resniffed": ("tests/unit/io/test_refusal.c", "DTX_W_DIALECT_RESNIFFED"),
    "encrypted_file": ("tests/unit/io/test_xls.c", "encrypted_file"),
    "header_assumed": ("tests/cli/run/errors/warnings.stderr", "header_assumed"),
    "input_changed": ("tests/unit/io/test_source.c", "DTX_E_INPUT_CHANGED"),
    "engine_unavailable": ("tests/cluster/dask.py", "engine_unavailable"),
    "jail_unavailable": ("tests/unit/sandbox/test_reader_start.c", "DTX_E_JAIL_UNAVAILABLE"),
    "mixed_types": ("tests/cli/inspect/report.stderr", "mixed_types"),
    "multiple_tables": ("tests/unit/io/test_csv_read.c", "DTX_E_MULTIPLE_TABLES"),
    "no_memory": ("tests/unit/base/test_base.c", "DTX_E_NO_MEMORY"),
    "output_closed": ("tests/cli/run/output/closed_pipe.stdout", "exit 141"),
    "reader_note": ("tests/cli/convert/repair.stderr", "reader_note"),
    "records_assumed": ("tests/cli/convert/json.stderr", "records_assumed"),
    "repaired": ("tests/cli/convert/repair.stderr", "repaired"),
    "resniff": ("tests/unit/io/test_refusal.c", "DTX_E_RESNIFF"),
    "result_note": ("tests/cli/run/errors/expect_rules.stderr", "result_note"),
    "retype": ("tests/unit/data/test_column.c", "DTX_E_RETYPE"),
    "sheet_assumed": ("tests/cli/inspect/report.stderr", "sheet_assumed"),
    "author_failed": ("tests/cli/jail/author.stdout", "author_failed"),
    "snippet_assumption": ("tests/unit/fallback/test_fallback.c", "DTX_E_SNIPPET_ASSUMPTION"),
    "snippet_family_literal": ("tests/unit/fallback/test_fallback_cached.c", "family_literal"),
    "snippet_cpu_limit": ("tests/unit/sandbox/test_jail_ends.c", "DTX_E_SNIPPET_CPU_LIMIT"),
    "snippet_denied_syscall": ("tests/unit/plan/test_provider.c", "DTX_E_SNIPPET_DENIED_SYSCALL"),
    "snippet_memory_limit": ("tests/unit/sandbox/test_jail_ends.c", "DTX_E_SNIPPET_MEMORY_LIMIT"),
    "snippet_output_limit": ("tests/unit/sandbox/test_jail_ends.c", "DTX_E_SNIPPET_OUTPUT_LIMIT"),
    "snippet_revoked": ("tests/unit/store/test_snippet.c", "DTX_E_SNIPPET_REVOKED"),
    "snippet_setup_refused": ("tests/unit/sandbox/test_jail_closed.c", "DTX_E_SNIPPET_SETUP_REFUSED"),
    "snippet_timeout": ("tests/unit/sandbox/test_jail_ends.c", "DTX_E_SNIPPET_TIMEOUT"),
    "snippet_unchanged": ("tests/cli/jail/unchanged.stderr", "snippet_unchanged"),
    "snippet_truncated": ("tests/unit/fallback/test_extract.c", "DTX_E_SNIPPET_TRUNCATED"),
    "total_not_verified": ("tests/unit/ops/test_op_semantics.c", "DTX_W_TOTAL_NOT_VERIFIED"),
    "snippet_no_code": ("tests/cli/jail/bad_snippets.stdout", "snippet_no_code"),
    "snippet_syntax": ("tests/cli/jail/bad_snippets.stdout", "snippet_syntax"),
    "snippet_import_denied": ("tests/cli/jail/bad_snippets.stdout", "snippet_import_denied"),
    "snippet_exception": ("tests/cli/jail/bad_snippets.stdout", "snippet_exception"),
    "snippet_cannot": ("tests/cli/jail/bad_snippets.stdout", "snippet_cannot"),
    "snippet_bad_result": ("tests/cli/jail/bad_snippets.stdout", "snippet_bad_result"),
    "snippet_contract": ("tests/cli/jail/bad_snippets.stdout", "snippet_contract"),
    "needs_approval": ("tests/cli/jail/supplied_needs_approval.stdout", "needs_approval"),
    "store_busy": ("tests/unit/store/test_store_damage.c", "DTX_E_STORE_BUSY"),
    "bug": ("tests/unit/io/test_zip.c", "DTX_E_BUG"),
}


def findings(text):
    return [json.loads(x) for x in text.splitlines() if x.startswith("{")]


def setup(where, case):
    _, _, _, written, data, *args = case
    name = os.path.join(where, "plan.json")
    if isinstance(written, dict):
        written = json.dumps(written)
    with open(name, "wb") as f:
        f.write(written if isinstance(written, bytes) else written.encode())
    files = data if isinstance(data, dict) else {"in.csv": data or ""}
    for file, text in files.items():
        with open(os.path.join(where, file), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
    if args and args[0] in ("provenance", "schema", "snippet", "eval"):
        return args
    if args and args[0] != "run":
        return [args[0], "plan.json", *args[1:]]
    if data is None:
        return ["check", "plan.json"]
    given = args[1:] if len(args) > 1 and not args[1].startswith("-") else ["in.csv", *args[1:]]
    return ["run", "plan.json", *given]


def execute(case, form="json"):
    with tempfile.TemporaryDirectory() as where:
        args = setup(where, case)
        if args[0] == "run" and "--snippet" not in args and case[0] not in ("needs_snippet", "usage"):
            args += ["--fallback", "off"]
        store = [] if "--store" in args else ["--store", "s.db"]
        return subprocess.run([DTX, *args, *store, "--errors=" + form], cwd=where,
                              capture_output=True, text=True, timeout=60)


def place(case):
    """What is wrong with one of PLACES, or None."""
    code, words, *rest = case
    run = execute((code, None, None, *rest))
    got = [(f["code"], f["message"]) for f in findings(run.stderr) if run.returncode or f["severity"] == "warning"]
    if code == "usage" and run.returncode == 2 and words in run.stderr:
        return None
    if not any(c == code and words in m for c, m in got):
        return f"{code} '{words}': got {got or run.stderr[:150]}"
    return None


def complaint(case):
    """What is wrong with one case, or None."""
    code, at, span = case[:3]
    run = execute(case)
    got = findings(run.stderr)
    hits = [f for f in got if f["code"] == code]
    if not hits:
        return f"{code}: got {[f['code'] for f in got]} {run.stderr[:200]!r}"
    f = hits[-1] if code == "needs_snippet" else hits[0]
    if at is not ANY and (f["at"] or None) != at:
        return f"{code}: at {f['at']}, expected {at}"
    if at is ANY and not (f["at"] or f.get("where")):
        return f"{code}: no place"
    if span is not ANY and (f["span"] or None) != span:
        return f"{code}: span {f['span']}, expected {span}"
    if span is ANY and not f["span"]:
        return f"{code}: no span"
    if f["severity"] != "warning" and code != "usage" and run.returncode != f["exit"] \
            and not (f["fallback"] and run.returncode in (0, 5)):
        return f"{code}: exit {run.returncode}, it says {f['exit']}"
    return None


def table():
    """symbol -> name of every code in core/base/err.h."""
    with open(os.path.join(ROOT, "core/base/err.h"), encoding="utf-8") as f:
        return dict(re.findall(r'X\((DTX_[EW]_\w+), "(\w+)"', f.read()))


def never_raised(symbols):
    text = ""
    for folder in ("core", "ops", "sandbox", "cli"):
        for path in glob.glob(os.path.join(ROOT, folder, "**/*.[ch]"), recursive=True):
            if not path.endswith("core/base/err.h"):
                with open(path, encoding="utf-8") as f:
                    text += f.read()
    return [s for s in symbols if not re.search(rf"\b{s}\b", text)]


def stale(where):
    with open(os.path.join(ROOT, where[0]), encoding="utf-8") as f:
        return where[1] not in f.read()


def told():
    """Every finding that the cases raise, as a person reads it: for reading the texts in one go."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda c: execute(c, "text"), CASES + [(c, None, None, *r) for c, _, *r in PLACES]))
    last = None
    for code, text in sorted((c[0], r.stderr) for c, r in zip(CASES + PLACES, runs)):
        if text != last:
            print(f"== {code}\n{text}", end="")
        last = text
    return 0


def main():
    if "--texts" in sys.argv:
        return told()
    results = []

    def ok(name, bad):
        results.append(not bad)
        print(("ok - " if not bad else "not ok - ") + name + "".join(f"\n# {x}" for x in bad))

    codes = table()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bad = [x for x in pool.map(complaint, CASES) if x]
    ok(f"errors: {len(CASES)} codes with place and span", bad)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bad = [x for x in pool.map(place, PLACES) if x]
    ok(f"errors: {len(PLACES)} further places", bad)
    known = {c[0] for c in CASES} | set(ELSEWHERE)
    ok(f"errors: each of {len(codes)} codes has a test",
       sorted(set(codes.values()) - known) + sorted(f"no code '{c}'" for c in known - set(codes.values())))
    ok("errors: tests elsewhere are there", [c for c, w in ELSEWHERE.items() if stale(w)])
    ok("errors: each code is raised somewhere", never_raised(codes))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
