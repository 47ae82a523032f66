/* The jail end to end, on real workers. */
#include "tests/t.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/data/cast.h"
#include "core/data/frame.h"
#include "core/data/rawgrid.h"
#include "sandbox/jail.h"
#include "sandbox/pyhost.h"
#include "sandbox/report.h"
#include "sandbox/super.h"
#include "tests/unit/tablemake.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif
#define SKIP_SANITIZED()                                                                           \
	do {                                                                                       \
		if (SANITIZED) {                                                                   \
			t_skip("a sanitizer build has no jail");                                   \
			return;                                                                    \
		}                                                                                  \
	} while (0)

/* One run with a table of every type as `main`. */
struct run {
	struct dtx_jail_spec spec;
	const char *params;
	int64_t rows;
	bool nulls;
	struct dtx_jail_report r;
	struct dtx_err err;
	struct dtx_table *table;
};

static enum dtx_code run_code(struct run *run, const char *code)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *in = NULL;
	struct dtx_box *box = NULL;

	run->err = (struct dtx_err)DTX_ERR_INIT;
	dtx_jail_report_init(&run->r);
	if (!run->spec.limits.wall_ms)
		run->spec.limits.wall_ms = 20000;
	DTX_TRY(tm_table(run->rows ? run->rows : 20, run->nulls, &in, &run->err));
	DTX_TRY(dtx_provider_local.open(&run->spec, &box, &run->err));
	DTX_TRY(dtx_provider_local.put(box, "main", in, &run->err));
	DTX_TRY(dtx_provider_local.exec(box, dtx_str_of(code), run->params, &run->r, &run->err));
	if (run->spec.mode != DTX_JAIL_CHECK)
		DTX_TRY(dtx_provider_local.get(box, &run->table, &run->err));
out:
	dtx_provider_local.close(box);
	if (in)
		dtx_table_unref(in);
	return rc;
}

static void run_clear(struct run *run)
{
	dtx_jail_report_clear(&run->r);
	dtx_err_clear(&run->err);
	if (run->table)
		dtx_table_unref(run->table);
}

static struct dtx_str cell(const struct dtx_table *t, const char *column, uint32_t row,
                           struct dtx_buf *buf)
{
	int32_t c = dtx_schema_find(t->schema, column);

	dtx_buf_reset(buf);
	if (c < 0 || !t->nbatches)
		return DTX_STR("(no such column)");
	if (dtx_column_is_null(t->batch[0]->col[c], row))
		return DTX_STR("null");
	dtx_cast_print(t->batch[0]->col[c], row, buf);
	return dtx_str_of(dtx_buf_text(buf));
}

static const char *type_of(const struct dtx_table *t, const char *column)
{
	int32_t c = dtx_schema_find(t->schema, column);

	return c < 0 ? "absent" : dtx_type_name(t->schema->field[c].type.type);
}

void test_jail_selftest(void)
{
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dtx_jail_selftest(DTX_JAIL_SEALED, &r, &err);

	if (SANITIZED) {
		T_CODE(rc, DTX_E_SNIPPET_SETUP_REFUSED, &err);
		T_STR(r.layer, "build");
	} else {
		T_OK(rc, &err);
		T_STR(r.verify, "status+probe");
	}
	dtx_jail_report_clear(&r);
	dtx_err_clear(&err);
}

/* A name that comes from a worker is looked up as a name, never as a path. */
void test_jail_modules_of_the_machine(void)
{
	static const struct {
		const char *name;
		enum dtx_py_module is;
	} cases[] = {
		{ "json", DTX_PY_TEXT },
		{ "json.tool", DTX_PY_TEXT },
		{ "xml.dom.minidom", DTX_PY_TEXT },
		{ "pandas.core.frame", DTX_PY_TEXT },
		{ "pandas._libs.lib", DTX_PY_CODE },
		{ "no_such_module", DTX_PY_NO_MODULE },
		{ "json.no_such", DTX_PY_NO_MODULE },
		{ "", DTX_PY_NO_MODULE },
		{ ".", DTX_PY_NO_MODULE },
		{ ".json", DTX_PY_NO_MODULE },
		{ "json.", DTX_PY_NO_MODULE },
		{ "json..tool", DTX_PY_NO_MODULE },
		{ "../../../etc/passwd", DTX_PY_NO_MODULE },
		{ "/etc/passwd", DTX_PY_NO_MODULE },
		{ "json/tool", DTX_PY_NO_MODULE },
		{ "json\ntool", DTX_PY_NO_MODULE },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(cases); i++)
		T_INT(dtx_py_find_module(dtx_str_of(cases[i].name)), cases[i].is);
}

/* What goes in untouched comes back as it was: every type, nulls, order. */
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
				struct dtx_str a = cell(run.table, tm_fields[c].name, i, &buf);

				wrong += !dtx_str_eq(a, cell(in, tm_fields[c].name, i, &want));
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

/* Numbers are views of the input memory, not copies; params arrive; prints are kept. */
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
		T_CHECK(dtx_str_is(cell(run.table, "shared", 0, &buf), "true"));
		T_CHECK(dtx_str_is(cell(run.table, "shared", 1, &buf), "true"));
		T_CHECK(dtx_str_is(cell(run.table, "first", 0, &buf), "5"));
		T_CHECK(dtx_str_is(cell(run.table, "types", 0, &buf), "int64"));
		T_CHECK(dtx_str_is(cell(run.table, "types", 1, &buf), "float64"));
	}
	T_CHECK(run.r.out.kept == 13 && !memcmp(run.r.out.bytes, "hello [1, 2]\n", 13));
	dtx_buf_clear(&buf);
	run_clear(&run);
}

/* Conversions of a result, in one run. */
void test_jail_takes_results_back(void)
{
	static const char code[] =
		"import pandas as pd\n"
		"import numpy as np\n"
		"import datetime as dt\n"
		"from decimal import Decimal\n"
		"def transform(tables, params):\n"
		"    return pd.DataFrame({\n"
		"        'int': [1.0, 2.0, np.nan],\n" /* was int: int again */
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

		T_STR(type_of(run.table, want[i].column), want[i].type);
		for (k = 0; k < 3; k++) {
			struct dtx_str got = cell(run.table, want[i].column, k, &buf);

			if (!dtx_str_is(got, cells[k]))
				t_fail(__FILE__, __LINE__, "%s[%u]: got %.*s, expected %s",
				       want[i].column, k, (int)got.len, got.ptr, cells[k]);
		}
	}
	T_CHECK(run.r.notes_json && strstr(run.r.notes_json, "\"inf\":1"));
	dtx_buf_clear(&buf);
	run_clear(&run);
}

/* How a run can end: code, status, and a part of the reason. */
static const struct ending {
	const char *body;
	enum dtx_jail_status status;
	enum dtx_code code;
	const char *reason;
	struct dtx_jail_limits limits;
} endings[] = {
	{ "    return tables['nope']",
	  DTX_JAIL_SNIPPET_ERROR,
	  DTX_E_SNIPPET_EXCEPTION,
	  "line 6: KeyError: 'nope'",
	  { 0 } },
	{ "    raise ValueError('DTX_CANNOT: too vague')",
	  DTX_JAIL_SNIPPET_ERROR,
	  DTX_E_SNIPPET_CANNOT,
	  "too vague",
	  { 0 } },
	{ "    return 5",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "expected a DataFrame",
	  { 0 } },
	{ "    return pd.DataFrame({'a': [1, 'x']})",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "column 'a' mixes int (row 0) and text (row 1)",
	  { 0 } },
	{ "    return pd.DataFrame([[1, 2]], columns=['a', 'a'])",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "two columns are named 'a'",
	  { 0 } },
	{ "    return pd.DataFrame({'a': "
	  "pd.to_datetime(['2024-01-01']).tz_localize('Europe/Berlin')})",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "has a time zone",
	  { 0 } },
	{ "    return pd.DataFrame({'a': [2**63]})",
	  DTX_JAIL_BAD_RESULT,
	  DTX_E_SNIPPET_BAD_RESULT,
	  "beyond 64 bits",
	  { 0 } },
	{ "    while True: pass",
	  DTX_JAIL_TIMEOUT,
	  DTX_E_SNIPPET_TIMEOUT,
	  "500 ms",
	  { .wall_ms = 500 } },
	{ "    while True: pass",
	  DTX_JAIL_CPU_LIMIT,
	  DTX_E_SNIPPET_CPU_LIMIT,
	  "CPU",
	  { .cpu_ms = 1000 } },
	{ "    return pd.DataFrame({'a': np.ones(40 << 20)})",
	  DTX_JAIL_MEMORY_LIMIT,
	  DTX_E_SNIPPET_MEMORY_LIMIT,
	  "MiB",
	  { .memory = 64u << 20, .output = 1u << 20 } },
	{ "    return pd.DataFrame({'a': np.ones(1 << 20)})",
	  DTX_JAIL_OUTPUT_LIMIT,
	  DTX_E_SNIPPET_OUTPUT_LIMIT,
	  "1 MiB",
	  { .output = 1u << 20 } },
	{ "    import ctypes\n    ctypes.CDLL(None).free(ctypes.c_void_p(id(pd) + 8))",
	  DTX_JAIL_SIGNALED,
	  DTX_E_SNIPPET_CRASH,
	  "it aborted (signal 6)",
	  { 0 } },
	{ "    import ctypes\n    a = np.ones(59 << 17)\n"
	  "    ctypes.CDLL(None).free(ctypes.c_void_p(id(pd) + 8))",
	  DTX_JAIL_MEMORY_LIMIT,
	  DTX_E_SNIPPET_MEMORY_LIMIT,
	  "of 64 MiB and crashed",
	  { .memory = 64u << 20 } },
	{ "    ctypes.string_at(0)",
	  DTX_JAIL_SNIPPET_ERROR,
	  DTX_E_SNIPPET_EXCEPTION,
	  "NameError",
	  { 0 } },
};

void test_jail_endings(void)
{
	char code[1000];
	size_t i;

	SKIP_SANITIZED();
	for (i = 0; i < DTX_COUNT(endings); i++) {
		const struct ending *e = &endings[i];
		struct run run = { .spec = { .limits = e->limits } };

		snprintf(code, sizeof(code),
		         "import pandas as pd\nimport numpy as np\n\n\n"
		         "def transform(tables, params):\n%s\n",
		         e->body);
		T_CODE(run_code(&run, code), e->code, &run.err);
		T_STR(dtx_jail_status_name(run.r.status), dtx_jail_status_name(e->status));
		if (!strstr(run.r.reason, e->reason) || !strstr(run.err.msg, e->reason))
			t_fail(__FILE__, __LINE__, "%s: got '%s', expected '%s'", e->body,
			       run.r.reason, e->reason);
		run_clear(&run);
	}
}

/* The wait status of one killed by `sig`, or ended with `code`. */
#define KILLED(sig)  (sig)
#define EXITED(code) ((code) << 8)

/* A worker that is dying closes its socket first, and on a busy machine long before. */
void test_jail_mute(void)
{
	static const struct {
		enum dtx_kill kill;
		int status;
		enum dtx_jail_status is;
		const char *reason;
	} ends[] = {
		{ DTX_KILL_MUTE, KILLED(SIGSEGV), DTX_JAIL_SIGNALED, "it crashed (signal 11)" },
		{ DTX_KILL_MUTE, KILLED(SIGXCPU), DTX_JAIL_CPU_LIMIT, "of CPU" },
		{ DTX_KILL_MUTE, EXITED(3), DTX_JAIL_BAD_RESULT, "no_result" },
		{ DTX_KILL_MUTE, KILLED(SIGKILL), DTX_JAIL_BAD_RESULT, "the job socket" },
		{ DTX_KILL_PROTOCOL, KILLED(SIGSEGV), DTX_JAIL_BAD_RESULT, "the job socket" },
	};
	struct dtx_jail_report r;
	size_t i;

	for (i = 0; i < DTX_COUNT(ends); i++) {
		struct dtx_box *b = dtx_mem_zalloc(1, sizeof(*b));

		dtx_jail_report_init(&r);
		b->spec.limits.memory = 1u << 30;
		b->kill = ends[i].kill;
		b->dead = b->has_exited = true;
		b->exited.status = ends[i].status;
		dtx_report_outcome(b, &r);
		T_STR(dtx_jail_status_name(r.status), dtx_jail_status_name(ends[i].is));
		T_CHECK(strstr(r.reason, ends[i].reason));
		dtx_jail_report_clear(&r);
		dtx_mem_free(b);
	}
}

void test_jail_screen(void)
{
	struct run ok = { .spec = { .mode = DTX_JAIL_CHECK } };
	struct run bad = { .spec = { .mode = DTX_JAIL_CHECK_RUN } };
	struct run syntax = { .spec = { .mode = DTX_JAIL_CHECK } };

	SKIP_SANITIZED();
	T_OK(run_code(&ok, "FORMULAS = {'x': 'int * 2'}\ndef transform(t, p):\n"
	                   "    return t['main'].assign(x=t['main']['int'] * 2)\n"),
	     &ok.err);
	T_CHECK(ok.r.check_json && strstr(ok.r.check_json, "\"needs\":[\"int\"]") &&
	        strstr(ok.r.check_json, "\"formulas\":{\"x\":\"int * 2\"}"));
	T_CODE(run_code(&bad, "import os\ndef transform(t, p):\n    return t['main']\n"),
	       DTX_E_SNIPPET_IMPORT_DENIED, &bad.err);
	T_STR(dtx_jail_status_name(bad.r.status), "screened");
	T_CODE(run_code(&syntax, "def transform(t, p)\n"), DTX_E_SNIPPET_SYNTAX, &syntax.err);
	run_clear(&ok);
	run_clear(&bad);
	run_clear(&syntax);
}

/* Clock, randomness, entropy, hash order: the same in every run of one seed, warm or cold. */
void test_jail_repeats(void)
{
	static const char code[] =
		"import pandas as pd, numpy as np, random, uuid, os, time, datetime, secrets\n"
		"def transform(tables, params):\n"
		"    return pd.DataFrame({'v': [str(x) for x in (\n"
		"        datetime.datetime.now().isoformat(), pd.Timestamp.now(), time.time(),\n"
		"        np.datetime64('now'),\n"
		"        random.random(), random.Random().random(), np.random.rand(),\n"
		"        np.random.default_rng().random(), uuid.uuid4(), os.urandom(4).hex(),\n"
		"        secrets.token_hex(4), set('abcdefgh'), time.tzname, hash('x'))]})\n";
	struct run a = { .spec = { .now_us = 1700000000123456, .seed = 7 } };
	struct run b = { .spec = { .now_us = 1700000000123456, .seed = 7, .no_warm = true } };
	struct run c = { .spec = { .now_us = 1700000000123456, .seed = 8, .hash_seed = 1 } };
	struct dtx_buf x = DTX_BUF_INIT(1000), y = DTX_BUF_INIT(1000);
	uint32_t i;

	SKIP_SANITIZED();
	T_OK(run_code(&a, code), &a.err);
	T_OK(run_code(&b, code), &b.err);
	T_OK(run_code(&c, code), &c.err);
	if (a.table && b.table && c.table) {
		for (i = 0; i < a.table->nrows; i++)
			T_CHECK(dtx_str_eq(cell(a.table, "v", i, &x), cell(b.table, "v", i, &y)));
		T_CHECK(dtx_str_is(cell(a.table, "v", 0, &x), "2023-11-14T22:13:20.123456"));
		T_CHECK(dtx_str_is(cell(a.table, "v", 2, &x), "1700000000.123456"));
		for (i = 4; i < 12; i++)
			T_CHECK(!dtx_str_eq(cell(a.table, "v", i, &x), cell(c.table, "v", i, &y)));
	}
	T_CHECK(a.r.notes_json && strstr(a.r.notes_json, "entropy_reads"));
	dtx_buf_clear(&x);
	dtx_buf_clear(&y);
	run_clear(&a);
	run_clear(&b);
	run_clear(&c);
}

/* Nothing of main reaches a worker: neither environment nor descriptors. */
void test_jail_clean_environment(void)
{
	static const char code[] =
		"import os, pandas as pd\n"
		"def transform(tables, params):\n"
		"    open_fds = []\n"
		"    for fd in range(6, 40):\n"
		"        try:\n"
		"            os.fstat(fd)\n"
		"        except OSError as e:\n"
		"            continue\n"
		"        open_fds.append(fd)\n"
		"    return pd.DataFrame({'env': [' '.join(sorted(os.environ))],\n"
		"                         'fds': [str(open_fds)]})\n";
	struct run run = { 0 };
	struct dtx_buf buf = DTX_BUF_INIT(1000);

	SKIP_SANITIZED();
	T_INT(setenv("DTX_TEST_SECRET", "hunter2", 1), 0);
	T_OK(run_code(&run, code), &run.err);
	unsetenv("DTX_TEST_SECRET");
	if (run.table) {
		T_CHECK(dtx_str_is(
			cell(run.table, "env", 0, &buf),
			"HOME LC_ALL MKL_NUM_THREADS NPY_DISABLE_CPU_FEATURES "
			"NUMEXPR_NUM_THREADS OMP_NUM_THREADS OPENBLAS_NUM_THREADS PATH TZ"));
		T_CHECK(dtx_str_is(cell(run.table, "fds", 0, &buf), "[]"));
	}
	dtx_buf_clear(&buf);
	run_clear(&run);
}

void test_jail_required_layers(void)
{
	struct run run = { .spec = { .require_layers = "userns,landlock9" } };

	SKIP_SANITIZED();
	T_CODE(run_code(&run, "def transform(t, p):\n    return t['main']\n"),
	       DTX_E_SNIPPET_SETUP_REFUSED, &run.err);
	T_STR(run.r.layer, "required");
	T_CHECK(strstr(run.r.reason, "'landlock9'"));
	run_clear(&run);
}

void test_jail_limits_are_checked(void)
{
	const struct dtx_jail_spec small = { .limits = { .memory = 1000 } };
	struct dtx_box *box = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	T_CODE(dtx_provider_local.open(&small, &box, &err), DTX_E_USAGE, &err);
	T_CHECK(!box && strstr(err.msg, "at least 67108864"));
	dtx_err_clear(&err);
}

static bool stop_at_once(void *arg)
{
	(void)arg;
	return true;
}

/* Before there is a worker: whoever waits for the zygote's word is interrupted. */
void test_jail_cancel_while_it_starts(void)
{
	struct run run = { .spec = { .cancelled = stop_at_once, .no_warm = true } };

	SKIP_SANITIZED();
	t_fail_call("poll", 0, EINTR);
	T_CODE(run_code(&run, "def transform(tables, params):\n    return tables['main']\n"),
	       DTX_E_CANCELLED, &run.err);
	T_CHECK(t_failed_call());
	T_STR(run.err.msg, "snippet: cancelled");
	dtx_jail_report_clear(&run.r);
	dtx_err_clear(&run.err);
}

void test_jail_cancel(void)
{
	struct run run = { .spec = { .cancelled = stop_at_once } };

	SKIP_SANITIZED();
	/* one that ends by itself may do so before it is asked about */
	T_CODE(run_code(&run, "def transform(t, p):\n    while True:\n        pass\n"),
	       DTX_E_CANCELLED, &run.err);
	T_STR(dtx_jail_status_name(run.r.status), "cancelled");
	run_clear(&run);
}

/* --- a worker that forges what it sends --- */

/* Reaches the job socket and the result from inside: the worker's own C code is not needed. */
#define FORGE                                                                                      \
	"import pandas as pd, numpy as np, struct\n"                                               \
	"os = pd.io.common.os\n"                                                                   \
	"def message(kind, serial, payload):\n"                                                    \
	"    return struct.pack('<IHHII', 0x4a585444, 1, kind, len(payload), serial) + payload\n"  \
	"def done(code, used, serial=3):\n"                                                        \
	"    os.write(3, message(20, serial, struct.pack('<IIQ', code, 0, used)))\n"               \
	"def result():\n"                                                                          \
	"    frame = os.sys._getframe()\n"                                                         \
	"    while not hasattr(frame.f_locals.get('self'), 'out'):\n"                              \
	"        frame = frame.f_back\n"                                                           \
	"    return frame.f_locals['self'].out\n"                                                  \
	"def transform(tables, params):\n"

static const struct forgery {
	const char *body;
	enum dtx_jail_status status;
	const char *reason;
} forgeries[] = {
	{ "    os.write(3, b'garbage')\n    while True: pass", DTX_JAIL_BAD_RESULT, "protocol" },
	{ "    done(0, 1 << 60)\n    while True: pass", DTX_JAIL_BAD_RESULT, "protocol" },
	{ "    done(77, 0)\n    while True: pass", DTX_JAIL_BAD_RESULT, "protocol" },
	{ "    done(0, 0, 4)\n    while True: pass", DTX_JAIL_BAD_RESULT, "protocol" },
	{ "    done(0, 0)\n    os._exit(0)", DTX_JAIL_BAD_RESULT, "malformed" },
	{ "    r = result()\n    r[:4096] = np.random.bytes(4096)\n    done(0, 4096)\n    "
	  "os._exit(0)",
	  DTX_JAIL_BAD_RESULT, "malformed" },
	{ "    done(1, 0)\n    os._exit(0)", DTX_JAIL_BAD_RESULT, "malformed" },
	{ "    done(0, 0)\n    while True: pass", DTX_JAIL_BAD_RESULT, "" },
	/* what reports is gone: that is no lack of memory */
	{ "    os.sys.modules.clear()\n    return tables['main']", DTX_JAIL_BAD_RESULT,
	  "malformed" },
	{ "    os._exit(0)", DTX_JAIL_BAD_RESULT, "no_result" },
	{ "    os._exit(9)", DTX_JAIL_BAD_RESULT, "no_result" },
	{ "    os.sys.modules['ctypes'].string_at(8)", DTX_JAIL_SIGNALED, "signal 11" },
	{ "    os.abort()", DTX_JAIL_SIGNALED, "signal 6" },
	{ "    while True:\n        try: os.getuid()\n        except OSError: pass",
	  DTX_JAIL_DENIED_SYSCALL, "getuid" },
};

void test_jail_believes_nothing(void)
{
	char code[3000];
	size_t i;

	SKIP_SANITIZED();
	for (i = 0; i < DTX_COUNT(forgeries); i++) {
		const struct forgery *f = &forgeries[i];
		struct run run = { .spec = { .limits = { .wall_ms = 10000, .output = 1 << 20 } } };

		snprintf(code, sizeof(code), "%s%s\n", FORGE, f->body);
		T_CHECK(run_code(&run, code) != DTX_OK);
		if (run.r.status != f->status || !strstr(run.r.reason, f->reason))
			t_fail(__FILE__, __LINE__, "%s: got %s '%s', expected %s '%s'", f->body,
			       dtx_jail_status_name(run.r.status), run.r.reason,
			       dtx_jail_status_name(f->status), f->reason);
		T_CHECK(!run.table);
		run_clear(&run);
	}
}

/* A raw grid of every kind of cell, as the snippet sees it. */
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
		T_STR(cell(run.table, "v", (uint32_t)i, &buf).ptr, want[i]);
	dtx_provider_local.close(box);
	dtx_rawgrid_clear(&g);
	dtx_buf_clear(&buf);
	run_clear(&run);
}

/* Several tables: one empty, one of 1,000 columns, one of every type; all columns come back. */
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
			T_STR(cell(run.table, "c999", 2, &buf).ptr, "2002");
		dtx_provider_local.close(box);
		dtx_table_unref(all);
		dtx_table_unref(none);
		dtx_table_unref(wide);
		run_clear(&run);
	}
	dtx_buf_clear(&buf);
}

/* What colleagues write runs in a worker that opens nothing, and asks for nothing that is refused.
 */
void test_jail_runs_ordinary_code(void)
{
	struct dtx_buf code = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), buf = DTX_BUF_INIT(4000);
	struct run run = { .err = DTX_ERR_INIT };
	uint32_t i;

	SKIP_SANITIZED();
	T_OK(dtx_file_slurp("tests/jail/ordinary.py", &code, &run.err), &run.err);
	T_OK(run_code(&run, dtx_buf_text(&code)), &run.err);
	if (run.table) {
		struct dtx_str error = cell(run.table, "error", 0, &buf);

		T_CHECK(run.table->nrows == 1 && dtx_str_is(error, "null"));
		for (i = 0; !dtx_str_is(error, "null") && i < run.table->nrows; i++) {
			error = cell(run.table, "text", i, &buf);
			printf("# %.*s", (int)error.len, error.ptr);
			error = cell(run.table, "error", i, &buf);
			printf(": %.*s\n", (int)error.len, error.ptr);
		}
	}
	/* pandas asks how wide the terminal is, and is told that there is none */
	T_CHECK(run.r.ndenied <= 1 && (!run.r.ndenied || !strcmp(run.r.denied[0].name, "ioctl")));
	dtx_buf_clear(&code);
	dtx_buf_clear(&buf);
	run_clear(&run);
}

/* Main's own calls of the system, each at every place in turn: the run is refused, and says why. */
void test_jail_calls_of_main_fail(void)
{
	static const struct {
		const char *call;
		int error;
		const char *says;
	} list[] = {
		{ "ftruncate", ENOSPC, "memfd: input of " },
		{ "mmap", ENOMEM, "memfd: mmap: " },
		{ "getrandom", ENOSYS, "verify: getrandom: " },
		{ "poll", ENOMEM, "control: poll: " },
		{ "fcntl", EPERM, "seal: input: " },
		{ "fcntl", EPERM, "seal: result: " },
	};

	SKIP_SANITIZED();
	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		bool said = false, met = true;

		for (int nth = 0; met && !said && nth < 40; nth++) {
			struct run run = { .rows = 3 };
			enum dtx_code rc;

			t_fail_call(list[i].call, nth, list[i].error);
			rc = run_code(&run, "def transform(tables, params):\n"
			                    "    return tables['main']\n");
			met = t_failed_call();
			said = rc != DTX_OK && strstr(run.err.msg, list[i].says);
			run_clear(&run);
		}
		T_STR(said ? list[i].says : list[i].call, list[i].says);
	}
}
