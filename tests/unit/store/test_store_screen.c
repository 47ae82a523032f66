/* The default screen of a record that is written out here. */
#include "core/base/text/json.h"
#include "core/store/query/query.h"
#include "tests/t.h"

void test_store_screen_of_fallback(void)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	json_t *record = json_loads(
		DTX_JSON({
			"run" : {
				"short" : "19c2be04",
				"status" : "ok",
				"start_us" : 1795327203000000,
				"end_us" : 1795327203094000,
				"user" : "etl",
				"plan_hash" : "8d20f6b1ff",
				"plan" : { "file" : "plans/util.json", "steps" : 5 }
			},
			"outputs" : [ {
				"path" : "/w/out.csv",
				"rows" : 4,
				"columns" : 4,
				"bytes" : 128,
				"sha" : "3f9c41d2ff",
				"file" : "unchanged"
			} ],
			"inputs" : [
				{
					"alias" : "main",
					"label" : "input.xlsx!Q1",
					"rows" : 5000,
					"columns" : 7,
					"sha" : "ab12c07eff",
					"file" : "unchanged"
				},
				{
					"alias" : "hc",
					"label" : "hc.csv",
					"rows" : 4,
					"columns" : 2,
					"sha" : "77aa19f0ff",
					"file" : "unchanged"
				}
			],
			"regions" : [ {
				"cell_id" : "c7d2a1f000000000",
				"pointer" : "/steps/1/op",
				"code" : "unknown_op",
				"op" : "weekly_balance",
				"steps" : [ 1, 1 ],
				"rung" : "exact",
				"cell" : {
					"state" : "approved",
					"state_us" : 1790899200000000,
					"state_by" : "etl",
					"hits" : 37,
					"formulas" : { "hours" : "sum(hours)" }
				},
				"jail" : {
					"jail" : {
						"layers" : [ "seccomp", "landlock", "userns" ],
						"runtime" : {
							"python" : "3.11.2",
							"pandas" : "1.5.3",
							"numpy" : "1.24.2"
						}
					},
					"timings_us" : { "wall" : 52000 },
					"memory" : { "peak_rss" : 88000000 }
				}
			} ],
			"steps" : [
				{ "op" : "filter", "rows_in" : 5000, "rows_out" : 4488 }, {
					"op" : "weekly_balance",
					"rows_in" : 4488,
					"rows_out" : 0,
					"detail" : { "rescued" : true }
				},
				{
					"op" : "b",
					"rows_in" : 0,
					"rows_out" : 4,
					"detail" : { "rescued" : true }
				},
				{
					"op" : "join",
					"rows_in" : 4,
					"rows_out" : 4,
					"detail" : { "counts" : { "unmatched" : 0 } }
				}
			],
			"lineage" : [
				{
					"out_col" : "utilization",
					"formula" : "hours / (headcount * 40 * weeks)",
					"class" : "exact after the snippet"
				},
				{
					"out_col" : "weeks",
					"formula" : "nunique(week)",
					"class" : "static"
				}
			],
			"checks" : [
				{ "name" : "rows", "severity" : "error", "status" : "pass" }, {
					"name" : "all_null",
					"severity" : "warn",
					"status" : "fail",
					"col" : "band"
				}
			],
			"env" : { "dtx" : "0.1.0" }
		}),
		0, NULL);

	dtx_query_screen(record, &out);
	T_STR(dtx_buf_text(&out),
	      "out.csv     4 rows x 4 columns  128 bytes  sha256 3f9c41d2  file unchanged\n"
	      "run         19c2be04  2026-11-22 06:00:03Z  ok  0.094 s  user etl  plan util.json "
	      "8d20f6b1\n"
	      "how         SNIPPET c7d2a1f0 for step 2 of 5 \"weekly_balance\"; 4 steps typed\n"
	      "            cache exact; approved 2026-10-02 by etl; used 37 times from the cache; "
	      "no model "
	      "call in this run\n"
	      "why         unknown_op at /steps/1/op\n"
	      "from        main  input.xlsx!Q1  5,000 rows x 7 columns  sha256 ab12c07e  file "
	      "unchanged\n"
	      "            hc    hc.csv         4 rows x 2 columns  sha256 77aa19f0  file "
	      "unchanged\n"
	      "rows        5,000 > filter 4,488 > snippet 4 > join 4 (0 unmatched)\n"
	      "formula     utilization = hours / (headcount * 40 * weeks)  [exact after the "
	      "snippet]\n"
	      "            weeks = nunique(week) [static]; hours = sum(hours) [declared]\n"
	      "checks      1 pass, 1 warn (column band all null), 0 fail\n"
	      "disclosed   nothing\n"
	      "ran in      dtx 0.1.0; jail python 3.11.2 pandas 1.5.3 numpy 1.24.2; seccomp "
	      "landlock "
	      "userns; 0.052 s, 88 MB\n"
	      "more        dtx snippet show c7d2a1f0; dtx why 19c2be04 --row 1 --col utilization; "
	      "dtx replay 19c2be04; dtx verify 19c2be04\n");
	json_decref(record);
	dtx_buf_clear(&out);
}
