/* The jail end to end, on real workers. */
#include <errno.h>
#include <unistd.h>

#include "core/base/cpu.h"
#include "core/base/file.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/zygote/pyhost.h"
#include "sandbox/zygote/pypackages.h"
#include "tests/unit/jailrun.h"

void test_jail_selftest(void)
{
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dtx_jail_selftest(DTX_JAIL_SEALED, &r, &err);

	if (DTX_SANITIZED) {
		T_CODE(rc, DTX_E_SNIPPET_SETUP_REFUSED, &err);
		T_STR(r.layer, "build");
	} else {
		T_OK(rc, &err);
		T_STR(r.verify, "status+probe");
	}
	dtx_jail_report_clear(&r);
	dtx_err_clear(&err);
}

/* A name that comes from a worker is looked up as a name and never used as a path. */
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

void test_jail_packages_of_debian(void)
{
	char version[DTX_PYPACKAGE_VERSION];
	const struct dtx_pypackage *p = dtx_pypackage_of(DTX_STR("pandas.core.frame"));
	struct dtx_pypackage absent = { "no_such_module", "no-such", "python3-no-such", false };

	T_CHECK(p && dtx_pypackage_version(p, version));
	T_CHECK(version[0] >= '1' && version[0] <= '9' && strchr(version, '.'));
	T_STR(dtx_pypackage_of(DTX_STR("sklearn"))->debian, "python3-sklearn");
	T_CHECK(!dtx_pypackage_of(DTX_STR("")) && !dtx_pypackage_of(DTX_STR("scip")));
	T_CHECK(!dtx_pypackage_version(&absent, version));
}

/* Every kind of zygote has its own name, from which it is found again. */
void test_jail_kinds_of_zygotes(void)
{
	char name[DTX_ZKIND_NAME];
	enum dtx_zkind kind;

	for (int i = 0; i < DTX_ZYGOTE_KINDS; i++) {
		dtx_zkind_name((enum dtx_zkind)i, name);
		if ((i & DTX_ZYGOTE_BASE) == DTX_ZYGOTE_BASE)
			continue;
		T_CHECK(dtx_zkind_find(name, &kind) && (int)kind == i);
	}
	dtx_zkind_name(DTX_ZYGOTE_EXEC | DTX_JAIL_SKLEARN << DTX_ZYGOTE_SCIENCE_SHIFT, name);
	T_STR(name, "exec+sklearn");
	T_CHECK(!dtx_zkind_find("exec+pandas", &kind) && !dtx_zkind_find("", &kind));
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

/* Clock, randomness, entropy, hash order: the same in every run with one seed, in warm and in new
 * workers. */
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
			T_CHECK(dtx_str_eq(run_cell(a.table, "v", i, &x),
			                   run_cell(b.table, "v", i, &y)));
		T_CHECK(dtx_str_is(run_cell(a.table, "v", 0, &x), "2023-11-14T22:13:20.123456"));
		T_CHECK(dtx_str_is(run_cell(a.table, "v", 2, &x), "1700000000.123456"));
		for (i = 4; i < 12; i++)
			T_CHECK(!dtx_str_eq(run_cell(a.table, "v", i, &x),
			                    run_cell(c.table, "v", i, &y)));
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
	char env[300];

	SKIP_SANITIZED();
	T_INT(setenv("DTX_TEST_SECRET", "hunter2", 1), 0);
	T_OK(run_code(&run, code), &run.err);
	unsetenv("DTX_TEST_SECRET");
	if (run.table) {
		enum dtx_cpu cpu = dtx_cpu_best();
		bool pinned = cpu == DTX_CPU_AVX2 || cpu == DTX_CPU_AVX512;

		snprintf(env, sizeof(env),
		         "HOME LC_ALL MKL_NUM_THREADS NPY_DISABLE_CPU_FEATURES "
		         "NUMEXPR_NUM_THREADS OMP_NUM_THREADS%s OPENBLAS_NUM_THREADS PATH TZ",
		         pinned ? " OPENBLAS_CORETYPE" : "");
		T_CHECK(dtx_str_is(run_cell(run.table, "env", 0, &buf), env));
		T_CHECK(dtx_str_is(run_cell(run.table, "fds", 0, &buf), "[]"));
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
	T_CHECK(strstr(run.r.reason, t_has_namespaces() ? "'landlock9'" : "'userns'"));
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

/* Before there is a worker: waiting for the message of the zygote can be interrupted. */
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
	/* one that ends on its own may do so before it is asked about */
	T_CODE(run_code(&run, "def transform(t, p):\n    while True:\n        pass\n"),
	       DTX_E_CANCELLED, &run.err);
	T_STR(dtx_jail_status_name(run.r.status), "cancelled");
	run_clear(&run);
}

/* Typical code of colleagues runs in a worker that opens nothing, and makes no call that is
 * refused. */
void test_jail_runs_ordinary_code(void)
{
	struct dtx_buf code = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), buf = DTX_BUF_INIT(4000);
	struct run run = { .err = DTX_ERR_INIT };
	uint32_t i;

	SKIP_SANITIZED();
	T_OK(dtx_file_slurp("tests/jail/ordinary.py", &code, &run.err), &run.err);
	T_OK(run_code(&run, dtx_buf_text(&code)), &run.err);
	if (run.table) {
		struct dtx_str error = run_cell(run.table, "error", 0, &buf);

		T_CHECK(run.table->nrows == 1 && dtx_str_is(error, "null"));
		for (i = 0; !dtx_str_is(error, "null") && i < run.table->nrows; i++) {
			error = run_cell(run.table, "text", i, &buf);
			printf("# %.*s", (int)error.len, error.ptr);
			error = run_cell(run.table, "error", i, &buf);
			printf(": %.*s\n", (int)error.len, error.ptr);
		}
	}
	/* pandas asks for the width of the terminal, and the answer is that there is none */
	T_CHECK(run.r.ndenied <= 1 && (!run.r.ndenied || !strcmp(run.r.denied[0].name, "ioctl")));
	dtx_buf_clear(&code);
	dtx_buf_clear(&buf);
	run_clear(&run);
}

/* Main's own system calls fail at each place in turn: the run is refused, and says why. */
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
