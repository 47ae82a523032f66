/* The report of a run: its JSON, and its error. */
#include "tests/t.h"

#include "core/base/text/json.h"
#include "core/plan/exec/provider.h"

static void fill(struct dtx_jail_report *r)
{
	dtx_jail_report_init(r);
	r->status = DTX_JAIL_DENIED_SYSCALL;
	r->code = DTX_E_SNIPPET_DENIED_SYSCALL;
	snprintf(r->reason, sizeof(r->reason), "it called execve, which the jail denies");
	snprintf(r->layers, sizeof(r->layers), "userns,landlock7");
	r->exception.type = "OSError";
	r->exception.message = "\"quoted\"\n";
	r->exception.line = 3;
	r->exception.nframes = 1;
	r->exception.frame[0] = (struct dtx_jail_frame){ 3, "transform", "x = 1" };
	r->ndenied = 1;
	r->denied_total = 1;
	r->denied[0] = (struct dtx_jail_denied){ .nr = 59,
		                                 .name = "execve",
		                                 .verdict = DTX_JAIL_KILLED,
		                                 .count = 1,
		                                 .args = { 1, 0xffffffffffffffff } };
	r->out = (struct dtx_jail_stream){ "hi", 2, 2, false };
	r->err = (struct dtx_jail_stream){ "\xff\x00\x01\x02", 4, 900, true };
	r->seed = UINT64_MAX;
	r->check_json = "{\"class\":null}";
}

void test_report_json(void)
{
	struct dtx_jail_report r;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	const json_t *denied, *jail;
	json_t *all = NULL;

	fill(&r);
	dtx_jail_report_json(&r, &text);
	T_OK(dtx_json_parse((struct dtx_str){ text.ptr, text.len },
	                    (struct dtx_json_limits){ 0, 0 }, &all, &err),
	     &err);
	T_STR(dtx_json_text(all, "status", ""), "denied_syscall");
	T_STR(dtx_json_text(all, "code", ""), "snippet_denied_syscall");
	T_STR(dtx_json_text(json_object_get(all, "exception"), "message", ""), "\"quoted\"\n");
	denied = json_array_get(json_object_get(all, "denied"), 0);
	T_STR(dtx_json_text(denied, "name", ""), "execve");
	T_STR(dtx_json_text(denied, "verdict", ""), "killed");
	T_STR(json_string_value(json_array_get(json_object_get(denied, "args"), 1)),
	      "0xffffffffffffffff");
	T_STR(dtx_json_text(json_object_get(all, "stdout"), "text", ""), "hi");
	T_STR(dtx_json_text(json_object_get(all, "stderr"), "base64", ""), "/wABAg==");
	jail = json_object_get(all, "jail");
	T_INT(json_array_size(json_object_get(jail, "layers")), 2);
	T_STR(dtx_json_text(jail, "seed", ""), "18446744073709551615");
	T_CHECK(json_is_null(json_object_get(all, "notes")));
	json_decref(all);
	dtx_buf_clear(&text);
	dtx_jail_report_clear(&r);
}

void test_report_json_of_nothing(void)
{
	struct dtx_jail_report r;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *all = NULL;

	dtx_jail_report_init(&r);
	dtx_jail_report_json(&r, &text);
	T_CODE(dtx_json_parse((struct dtx_str){ text.ptr, text.len },
	                      (struct dtx_json_limits){ 0, 0 }, &all, NULL),
	       DTX_OK, NULL);
	json_decref(all);
	dtx_buf_clear(&text);
	dtx_jail_report_clear(&r);
}

void test_report_error(void)
{
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;

	fill(&r);
	T_CODE(dtx_jail_report_err(&r, &err), DTX_E_SNIPPET_DENIED_SYSCALL, &err);
	T_STR(err.msg, "snippet: it called execve, which the jail denies");
	T_CHECK(err.hint[0] && err.more && strstr(err.more, "\"execve\""));
	T_CODE(dtx_jail_report_err(&r, NULL), DTX_E_SNIPPET_DENIED_SYSCALL, NULL);
	r.status = DTX_JAIL_SETUP_REFUSED;
	r.code = DTX_E_SNIPPET_SETUP_REFUSED;
	snprintf(r.layer, sizeof(r.layer), "python");
	T_CODE(dtx_jail_report_err(&r, &err), DTX_E_SNIPPET_SETUP_REFUSED, &err);
	T_CHECK(strstr(err.hint, "python3-pandas"));
	r.status = DTX_JAIL_SNIPPET_ERROR;
	r.code = DTX_E_SNIPPET_EXCEPTION;
	r.lacks = DTX_JAIL_LACKS_PACKAGE;
	r.package = "python3-sklearn";
	T_CODE(dtx_jail_report_err(&r, &err), DTX_E_SNIPPET_EXCEPTION, &err);
	T_STR(err.hint, "apt-get install python3-sklearn");
	r.lacks = DTX_JAIL_LACKS_PACKAGE_RO;
	T_CODE(dtx_jail_report_err(&r, &err), DTX_E_SNIPPET_EXCEPTION, &err);
	T_CHECK(strstr(err.hint, "--jail-profile lib-ro"));
	r.code = DTX_OK;
	T_OK(dtx_jail_report_err(&r, &err), &err);
	dtx_err_clear(&err);
	dtx_jail_report_clear(&r);
}

void test_report_packages_that_code_wants(void)
{
	static const struct {
		const char *code;
		unsigned wants;
	} cases[] = {
		{ "print(1)", 0 },
		{ "from scipy import stats", DTX_JAIL_SCIPY },
		{ "df.corr('kendall')", DTX_JAIL_SCIPY },
		{ "s.interpolate('cubic')", DTX_JAIL_SCIPY },
		{ "import sklearn.svm", DTX_JAIL_SKLEARN },
		{ "from joblib import Parallel", DTX_JAIL_SKLEARN },
		{ "import patsy", DTX_JAIL_STATSMODELS },
		{ "import seaborn as sns, statsmodels.api as sm",
		  DTX_JAIL_SEABORN | DTX_JAIL_STATSMODELS },
	};

	for (size_t i = 0; i < DTX_COUNT(cases); i++)
		T_INT(dtx_jail_wants_science(dtx_str_of(cases[i].code)), cases[i].wants);
}

void test_report_every_status_has_name_and_code(void)
{
	int i;

	for (i = 0; i < DTX_JAIL_STATUS_COUNT; i++) {
		T_CHECK(strcmp(dtx_jail_status_name((enum dtx_jail_status)i), "unknown") != 0);
		T_INT(dtx_jail_status_code((enum dtx_jail_status)i) == DTX_OK, i == DTX_JAIL_OK);
	}
	T_STR(dtx_jail_status_name(DTX_JAIL_STATUS_COUNT), "unknown");
}
