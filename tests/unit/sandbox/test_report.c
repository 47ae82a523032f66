/* What main makes of the frame that a worker leaves. */
#include <sys/mman.h>

#include "core/data/frame/frame.h"
#include "sandbox/main/report.h"
#include "sandbox/main/super.h"
#include "tests/t.h"
#include "tests/tables.h"

/* The memory of a worker that has finished, with the frame that it left.  The bytes of the frame
 * are freed with the report. */
static void report_of(struct dtx_frame *f, struct dtx_table *in, const char *says)
{
	struct dtx_box b = {
		.spec.mode = DTX_JAIL_RUN, .main = in, .has_done = true, .dead = true
	};
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;

	b.done.code = DTX_DONE_OK;
	b.done.used = dtx_frame_size(f);
	b.copy =
		mmap(NULL, b.done.used, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	T_CHECK(b.copy != MAP_FAILED);
	T_OK(dtx_frame_write(f, b.copy, &err), &err);
	dtx_jail_report_init(&r);
	dtx_report_outcome(&b, &r);
	T_INT(r.status, says ? DTX_JAIL_BAD_RESULT : DTX_JAIL_OK);
	T_STR(r.reason, says ? says : "");
	dtx_jail_report_clear(&r);
	dtx_table_unref(b.table);
	dtx_frame_clear(f);
	dtx_err_clear(&err);
}

/* A result of two rows, with the input rows that it claims they are. */
static void rows_of(const uint64_t *rows, size_t bytes, const char *says)
{
	struct dtx_table *in = t_table("k:text", "a\nb\nc\n"), *out = t_table("k:text", "c\na\n");
	struct dtx_str text = { (const char *)rows, bytes };
	struct dtx_frame f = DTX_FRAME_INIT;
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_frame_add_table(&f, "out", out, &err), &err);
	T_OK(dtx_frame_add_bytes(&f, DTX_FRAME_ROWS, 0, NULL, text, &err), &err);
	report_of(&f, in, says);
	dtx_table_unref(in);
	dtx_table_unref(out);
}

void test_report_of_rows_that_are_none(void)
{
	static const uint64_t good[] = { 2, 0 }, far[] = { 2, 3 };
	struct dtx_frame none = DTX_FRAME_INIT;
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_frame_add_bytes(&none, DTX_FRAME_REPORT, 0, NULL, DTX_STR("{}"), &err), &err);
	rows_of(good, sizeof(good), NULL);
	rows_of(far, sizeof(far), "its result is malformed: row 1 comes from row 3 of 3");
	rows_of(good, sizeof(good[0]),
	        "its result is malformed: 8 bytes of row numbers for 2 rows");
	report_of(&none, NULL, "its result is malformed: there is no table");
}
