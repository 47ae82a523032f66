/* Tables on their way into the jail and back. */
#include "core/data/frame/frame.h"
#include "core/data/frame/rawgrid.h"
#include "tests/unit/jailrun.h"

/* A table that a snippet returns untouched is the same as before: every type, nulls, order. */
void test_jail_identity(void)
{
	static const char code[] = "def transform(tables, params):\n    return tables['main']\n";
	struct dtx_buf buf = DTX_BUF_INIT(1000), want = DTX_BUF_INIT(1000);
	struct run run = { .rows = 70001, .nulls = true };
	struct dtx_table *in = NULL;
	uint32_t c, i;
	int wrong = 0;

	SKIP_SANITIZED();
	T_OK(run_code(&run, code), &run.err);
	T_OK(tm_table(run.rows, true, &in, &run.err), &run.err);
	if (run.table) {
		T_INT(run.table->nrows, run.rows);
		T_INT(run.table->schema->nfields, TM_COLUMNS);
		for (c = 0; c < TM_COLUMNS; c++) {
			T_STR(run.table->schema->field[c].name, tm_fields[c].name);
			T_STR(dtx_type_name(run.table->schema->field[c].type.type),
			      dtx_type_name(tm_fields[c].type.type));
			for (i = 0; i < 1000; i++) {
				struct dtx_str a = run_cell(run.table, tm_fields[c].name, i, &buf);

				wrong += !dtx_str_eq(a, run_cell(in, tm_fields[c].name, i, &want));
			}
		}
		T_INT(wrong, 0);
	}
	T_INT(run.r.denied_total, 0);
	dtx_table_unref(in);
	dtx_buf_clear(&buf);
	dtx_buf_clear(&want);
	run_clear(&run);
}

/* Numbers are views of the input memory, not copies; params arrive; output of print is kept. */
void test_jail_shares_memory(void)
{
	static const char code[] =
		"import numpy as np\n"
		"import pandas as pd\n"
		"def transform(tables, params):\n"
		"    df = tables['main']\n"
		"    print('hello', params['a'])\n"
		"    shared = []\n"
		"    for name in ('int', 'float'):\n"
		"        base = df[name].to_numpy()\n"
		"        while isinstance(base, np.ndarray) and base.base is not None:\n"
		"            base = base.base\n"
		"        shared.append(isinstance(base, memoryview))\n"
		"    df.loc[0, 'int'] = 5\n"
		"    return pd.DataFrame({'shared': shared, 'first': [df['int'][0]] * 2,\n"
		"                         'types': [str(df['int'].dtype), "
		"str(df['float'].dtype)]})\n";
	struct run run = { .params = "{\"a\": [1, 2]}" };
	struct dtx_buf buf = DTX_BUF_INIT(1000);

	SKIP_SANITIZED();
	T_OK(run_code(&run, code), &run.err);
	if (run.table) {
		T_CHECK(dtx_str_is(run_cell(run.table, "shared", 0, &buf), "true"));
		T_CHECK(dtx_str_is(run_cell(run.table, "shared", 1, &buf), "true"));
		T_CHECK(dtx_str_is(run_cell(run.table, "first", 0, &buf), "5"));
		T_CHECK(dtx_str_is(run_cell(run.table, "types", 0, &buf), "int64"));
		T_CHECK(dtx_str_is(run_cell(run.table, "types", 1, &buf), "float64"));
	}
	T_CHECK(run.r.out.kept == 13 && !memcmp(run.r.out.bytes, "hello [1, 2]\n", 13));
	dtx_buf_clear(&buf);
	run_clear(&run);
}

/* Conversions of results, in one run. */
void test_jail_takes_results_back(void)
{
	static const char code[] =
		"import pandas as pd\n"
		"import numpy as np\n"
		"import datetime as dt\n"
		"from decimal import Decimal\n"
		"def transform(tables, params):\n"
		"    return pd.DataFrame({\n"
		"        'int': [1.0, 2.0, np.nan],\n" /* it was int and is int again */
		"        'f': [1.0, 2.0, 3.0],\n"
		"        'inf': [1.5, np.inf, -0.0],\n"
		"        'b': pd.array([True, None, False], dtype='boolean'),\n"
		"        'I': pd.array([1, None, 3], dtype='Int64'),\n"
		"        's': ['x', None, 'a text that is long enough'],\n"
		"        'cat': pd.Categorical(['u', 'v', 'u']),\n"
		"        'date': pd.to_datetime(['2024-01-31', None, '2024-02-01']),\n"
		"        'd2': pd.to_datetime(['2024-01-31', None, '2024-02-01']),\n"
		"        'day': [dt.date(2024, 1, 2), None, dt.date(1, 1, 1)],\n"
		"        'dec': [Decimal('1.50'), None, Decimal('-12')],\n"
		"        'obj': np.array([1, 2.5, None], dtype=object),\n"
		"        'none': [None, None, None],\n"
		"        7: [1, 2, 3],\n"
		"        'u8': np.array([1, 2, 3], dtype='uint8'),\n"
		"    }, index=pd.Index(['i', 'j', 'k'], name='key'))\n";
	static const struct {
		const char *column, *type, *first, *second, *third;
	} want[] = {
		{ "key", "text", "i", "j", "k" },
		{ "int", "int", "1", "2", "null" },
		{ "f", "float", "1.0", "2.0", "3.0" },
		{ "inf", "float", "1.5", "null", "0.0" },
		{ "b", "bool", "true", "null", "false" },
		{ "I", "int", "1", "null", "3" },
		{ "s", "text", "x", "null", "a text that is long enough" },
		{ "cat", "text", "u", "v", "u" },
		{ "date", "date", "2024-01-31", "null", "2024-02-01" },
		{ "d2", "datetime", "2024-01-31T00:00:00", "null", "2024-02-01T00:00:00" },
		{ "day", "date", "2024-01-02", "null", "0001-01-01" },
		{ "dec", "decimal", "1.50", "null", "-12.00" },
		{ "obj", "float", "1.0", "2.5", "null" },
		{ "none", "null", "null", "null", "null" },
		{ "7", "int", "1", "2", "3" },
		{ "u8", "int", "1", "2", "3" },
	};
	struct run run = { 0 };
	struct dtx_buf buf = DTX_BUF_INIT(1000);
	size_t i;

	SKIP_SANITIZED();
	T_OK(run_code(&run, code), &run.err);
	for (i = 0; run.table && i < DTX_COUNT(want); i++) {
		const char *const cells[] = { want[i].first, want[i].second, want[i].third };
		uint32_t k;

		T_STR(run_type(run.table, want[i].column), want[i].type);
		for (k = 0; k < 3; k++) {
			struct dtx_str got = run_cell(run.table, want[i].column, k, &buf);

			if (!dtx_str_is(got, cells[k]))
				t_fail(__FILE__, __LINE__, "%s[%u]: got %.*s, expected %s",
				       want[i].column, k, (int)got.len, got.ptr, cells[k]);
		}
	}
	T_CHECK(run.r.notes_json && strstr(run.r.notes_json, "\"inf\":1"));
	dtx_buf_clear(&buf);
	run_clear(&run);
}

/* A raw grid with every kind of cell, as the snippet sees it. */
void test_jail_hands_raw_cells_over(void)
{
	static const char code[] =
		"import pandas as pd\n"
		"def transform(tables, params):\n"
		"    raw = params['raw']['sheet one']\n"
		"    cells, formats = raw['cells'], raw['formats']\n"
		"    return pd.DataFrame({'v': [repr(v) for v in cells.to_numpy().ravel()]\n"
		"        + [repr(list(formats.to_numpy().ravel())), repr(raw['merged']),\n"
		"           repr(raw['sheet']), repr([str(t) for t in cells.dtypes])]})\n";
	static const char *const want[] = {
		"'a text'",
		"7",
		"2.5",
		"True",
		"datetime.datetime(1970, 1, 2, 0, 0)",
		"None",
		"['General', None, None, None, None, None]",
		"[[0, 0, 0, 1]]",
		"'Q1'",
		"['object', 'object', 'object']",
	};
	struct dtx_jail_spec spec = { .mode = DTX_JAIL_CHECK_RUN };
	struct dtx_buf buf = DTX_BUF_INIT(1000);
	struct run run = { 0 };
	struct dtx_raw_cell c[] = {
		{ .row = 0, .col = 0, .kind = DTX_RAW_TEXT },
		{ .row = 0, .col = 1, .kind = DTX_RAW_NUMBER, .value.num = 7 },
		{ .row = 0, .col = 2, .kind = DTX_RAW_NUMBER, .value.num = 2.5 },
		{ .row = 1, .col = 0, .kind = DTX_RAW_BOOL, .value.id = 1 },
		{ .row = 1, .col = 1, .kind = DTX_RAW_TIME, .value.us = 86400000000 },
		{ .row = 1, .col = 2, .kind = DTX_RAW_ERROR },
	};
	struct dtx_rawgrid g;
	struct dtx_box *box = NULL;
	size_t i;

	SKIP_SANITIZED();
	dtx_rawgrid_init(&g);
	run.err = (struct dtx_err)DTX_ERR_INIT;
	T_OK(dtx_rawgrid_text(&g, DTX_STR("a text"), &c[0].value.id, &run.err), &run.err);
	T_OK(dtx_rawgrid_format(&g, DTX_STR("General"), &c[0].format, &run.err), &run.err);
	for (i = 0; i < DTX_COUNT(c); i++)
		T_OK(dtx_rawgrid_add(&g, &c[i], &run.err), &run.err);
	T_OK(dtx_rawgrid_merge(&g, (struct dtx_raw_range){ 0, 0, 0, 1 }, &run.err), &run.err);
	T_OK(dtx_rawgrid_sheet(&g, "Q1", &run.err), &run.err);
	T_OK(dtx_provider_local.open(&spec, &box, &run.err), &run.err);
	T_OK(dtx_provider_local.put_raw(box, "sheet one", &g, &run.err), &run.err);
	T_OK(dtx_provider_local.exec(box, dtx_str_of(code), NULL, &run.r, &run.err), &run.err);
	T_OK(dtx_provider_local.get(box, &run.table, &run.err), &run.err);
	for (i = 0; run.table && i < DTX_COUNT(want); i++)
		T_STR(run_cell(run.table, "v", (uint32_t)i, &buf).ptr, want[i]);
	dtx_provider_local.close(box);
	dtx_rawgrid_clear(&g);
	dtx_buf_clear(&buf);
	run_clear(&run);
}

/* Several tables: one is empty, one has 1,000 columns, one has every type; all columns come
 * back. */
void test_jail_many_shapes(void)
{
	static const char code[] =
		"import pandas as pd\n"
		"def transform(tables, params):\n"
		"    none, wide = tables['none'], tables['wide']\n"
		"    assert list(tables) == ['main', 'none', 'wide'] and len(tables['main']) == "
		"20\n"
		"    assert none.shape == (0, 7) and wide.shape == (3, 1000)\n"
		"    assert list(none.columns) == list(tables['main'].columns)\n"
		"    want = ['int64', 'float64', 'bool', 'datetime64[ns]', 'datetime64[ns]', "
		"'object',\n"
		"            'object']\n"
		"    assert [str(t) for t in none.dtypes] == want, list(none.dtypes)\n"
		"    return wide.iloc[:params['rows']] * 2\n";
	struct dtx_jail_spec spec = { .mode = DTX_JAIL_RUN };
	struct dtx_table *all = NULL, *none = NULL, *wide = NULL;
	struct dtx_buf buf = DTX_BUF_INIT(1000);
	struct run run = { 0 };
	struct dtx_box *box = NULL;

	SKIP_SANITIZED();
	for (int rows = 0; rows <= 3; rows += 3) {
		run = (struct run){ .err = DTX_ERR_INIT };
		T_OK(tm_table(20, true, &all, &run.err), &run.err);
		T_OK(tm_table(0, true, &none, &run.err), &run.err);
		T_OK(tm_wide(1000, 3, &wide, &run.err), &run.err);
		T_OK(dtx_provider_local.open(&spec, &box, &run.err), &run.err);
		T_OK(dtx_provider_local.put(box, "main", all, &run.err), &run.err);
		T_OK(dtx_provider_local.put(box, "none", none, &run.err), &run.err);
		T_OK(dtx_provider_local.put(box, "wide", wide, &run.err), &run.err);
		T_OK(dtx_provider_local.exec(box, dtx_str_of(code),
		                             rows ? "{\"rows\":3}" : "{\"rows\":0}", &run.r,
		                             &run.err),
		     &run.err);
		T_OK(dtx_provider_local.get(box, &run.table, &run.err), &run.err);
		T_INT(run.table ? run.table->schema->nfields : 0, 1000);
		T_INT(run.table ? run.table->nrows : -1, rows);
		if (run.table && rows)
			T_STR(run_cell(run.table, "c999", 2, &buf).ptr, "2002");
		dtx_provider_local.close(box);
		dtx_table_unref(all);
		dtx_table_unref(none);
		dtx_table_unref(wide);
		run_clear(&run);
	}
	dtx_buf_clear(&buf);
}
