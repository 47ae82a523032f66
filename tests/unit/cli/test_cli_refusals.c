/* Refusals of the command line that a run of it cannot show: damaged records, no terminal, a full
 * disk that is reported by close. */
#include <errno.h>
#include <unistd.h>

#include "cli/run/approve.h"
#include "cli/out.h"
#include "cli/run/runner.h"
#include "core/base/file.h"
#include "tests/t.h"
#include "tests/unit/planrun.h"

void test_approve_without_a_terminal(void)
{
	struct dtx_approval_view view = { .at = "" };
	struct dtx_err err = DTX_ERR_INIT;
	bool yes = true;

	t_fail_call("open", 0, ENXIO);
	T_CODE(dtx_approve_ask(&view, &yes, &err), DTX_E_NEEDS_APPROVAL, &err);
	T_CHECK(t_failed_call());
	T_CHECK(!yes);
	T_STR(err.msg, "there is no terminal to ask for approval");
	dtx_err_clear(&err);
}

/* A record without its plan, and one whose outputs are not those of its plan. */
void test_replay_of_a_damaged_record(void)
{
	json_t *record = json_pack("{s{s{}}s[]s[]}", "run", "plan", "inputs", "outputs");
	struct dtx_runner_replay replay = { .record = record, .dir = "." };
	struct dtx_plan plan = { .noutputs = 1 };
	struct dtx_runner r = { .plan = &plan, .replay = &replay };
	struct dtx_err err = DTX_ERR_INIT;

	T_CODE(dtx_runner_replay_plan(&r, &err), DTX_E_STORE_IO, &err);
	T_STR(err.msg, "the plan of this run is not in the store");
	T_CODE(dtx_runner_replay_places(&r, &err), DTX_E_STORE_IO, &err);
	T_STR(err.msg, "the record does not have the outputs of its plan");
	json_decref(record);
	dtx_err_clear(&err);
}

/* Redirects stderr to a file. */
void test_out_print_tells_of_close(void)
{
	struct dtx_cli cli = { .argc = 0 };
	struct dtx_buf none = DTX_BUF_INIT(16), said = DTX_BUF_INIT(1000);
	struct dtx_err err = DTX_ERR_INIT;
	int was = dup(STDERR_FILENO), fd = -1, status;

	T_OK(dtx_file_temp(t_dir(), &fd, &err), &err);
	T_CHECK(was >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	t_fail_call("close", 0, EIO);
	status = dtx_out_print(&cli, &none);
	T_CHECK(t_failed_call());
	T_CHECK(dup2(was, STDERR_FILENO) >= 0);
	T_INT(status, dtx_code_exit(DTX_E_OUTPUT_IO, true));
	T_CHECK(dtx_buf_room(&said, 500));
	said.len = (size_t)DTX_MAX(pread(fd, said.ptr, 500, 0), (ssize_t)0);
	T_CHECK(strstr(dtx_buf_text(&said), "output_io: cannot write stdout: Input/output error"));
	dtx_file_close(&fd);
	dtx_file_close(&was);
	dtx_buf_clear(&said);
	dtx_buf_clear(&none);
}

/* Row numbers of another table must not be shown as those of the run. */
void test_lineage_of_another_table(void)
{
	struct dtx_run_args args = { .lineage = 1 };
	struct dtx_source *source = NULL;
	struct dtx_runner r = { .args = &args, .source = &source };
	struct dtx_err err = DTX_ERR_INIT;
	json_t *outputs = json_pack("[{}]");
	struct planrun p;

	planrun_init(&p, PLANCASE("{\"op\":\"limit\",\"n\":1}"), "a\n1\n2\n");
	p.keep = true;
	T_OK(planrun(&p), &p.err);
	T_OK(dtx_source_bytes("in.csv", "a\n3\n2\n", 6, &source, &err), &err);
	r.plan = p.parsed;
	r.result = p.result;
	T_CODE(dtx_runner_lineage(&r, outputs, &err), DTX_E_NO_TRANSLATION, &err);
	T_STR(err.msg, "the rows of this plan cannot be followed: with row numbers it gives "
	               "another table");
	T_CHECK(strstr(err.hint, "without --lineage rows"));
	dtx_err_clear(&err);
	dtx_errlist_clear(&r.findings);
	dtx_source_free(source);
	json_decref(outputs);
	planrun_clear(&p);
}

/* Names in a plan cannot write lines of their own to the screen, or hide the code. */
void test_approve_spells_names(void)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_approval_view view = { .id = "c7d2a1f000000000",
		                          .op = "tidy\n  reads nothing\x1b[8m",
		                          .at = "/steps/1/a\u202eb" };

	dtx_approve_text(&view, &out);
	T_CHECK(strstr(dtx_buf_text(&out),
	               "step tidy\\n  reads nothing\\x1b[8m at /steps/1/a\\u202eb\n"));
	dtx_buf_clear(&out);
}

/* A person who approves sees how the table has changed. */
void test_approve_shows_sizes(void)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const struct dtx_schema result = { .nfields = 0, .field = NULL };
	struct dtx_approval_view view = { .id = "c7d2a1f000000000",
		                          .at = "/steps/1",
		                          .result = &result,
		                          .rows_before = 19,
		                          .cols_before = 4,
		                          .rows_after = 7,
		                          .cols_after = 3 };

	dtx_approve_text(&view, &out);
	T_CHECK(strstr(dtx_buf_text(&out), "  before     19 rows x 4 columns\n"
	                                   "  after      7 rows x 3 columns\n"));
	dtx_buf_reset(&out);
	view.unchanged = true;
	dtx_approve_text(&view, &out);
	T_CHECK(strstr(dtx_buf_text(&out), "WARNING, nothing is changed"));
	dtx_buf_clear(&out);
}
