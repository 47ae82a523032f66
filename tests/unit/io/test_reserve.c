/* Files that no output may replace: paths, links, hard links, and files that move. */
#include "core/io/write/reserve.h"

#include <unistd.h>

#include "core/base/file.h"
#include "core/io/write/outfile.h"
#include "tests/t.h"

static const char *in_dir(const char *name)
{
	static char path[4][512];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", t_dir(), name);
	return path[turn];
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	T_CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

static enum dtx_code checked(const char *name)
{
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dtx_reserve_check(in_dir(name), &err);

	dtx_err_clear(&err);
	return rc;
}

void test_reserve_names(void)
{
	struct dtx_err err = DTX_ERR_INIT;

	put_file(in_dir("in.csv"), "a\n");
	T_CHECK(symlink("in.csv", in_dir("link.csv")) == 0);
	T_CHECK(link(in_dir("in.csv"), in_dir("hard.csv")) == 0);
	T_OK(dtx_reserve(in_dir("in.csv"), "an input", &err), &err);
	T_OK(dtx_reserve(in_dir("later.csv"), "the store", &err), &err);
	T_INT(checked("in.csv"), DTX_E_USAGE);
	T_INT(checked("./in.csv"), DTX_E_USAGE);
	T_INT(checked("link.csv"), DTX_E_USAGE);
	T_INT(checked("hard.csv"), DTX_E_USAGE);
	T_INT(checked("later.csv"), DTX_E_USAGE);
	T_INT(checked("In.csv"), DTX_OK);
	T_INT(checked("other.csv"), DTX_OK);
	/* devices accept output from several writers */
	T_OK(dtx_reserve("/dev/null", "an input", &err), &err);
	T_OK(dtx_reserve_check("/dev/null", &err), &err);
	dtx_reserve_clear();
	T_INT(checked("in.csv"), DTX_OK);
}

void test_reserve_moved(void)
{
	struct dtx_err err = DTX_ERR_INIT;

	put_file(in_dir("in.csv"), "a\n");
	T_OK(dtx_reserve(in_dir("in.csv"), "an input", &err), &err);
	T_CHECK(rename(in_dir("in.csv"), in_dir("out.csv")) == 0);
	T_INT(checked("out.csv"), DTX_E_USAGE);
	/* the file that is at the reserved path now counts too */
	put_file(in_dir("in.csv"), "b\n");
	T_CHECK(link(in_dir("in.csv"), in_dir("hard.csv")) == 0);
	T_INT(checked("hard.csv"), DTX_E_USAGE);
	dtx_reserve_clear();
}

void test_reserve_outputs(void)
{
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_outfile_claim(in_dir("out.csv"), "the output", "an output", &err), &err);
	T_CODE(dtx_outfile_claim(in_dir("./out.csv"), "the rejects", "the rejects", &err),
	       DTX_E_USAGE, &err);
	/* an input that turns out to be an output that will be written */
	T_CODE(dtx_reserve(in_dir("out.csv"), "an input", &err), DTX_E_USAGE, &err);
	/* its own reservation does not prevent writing it */
	T_OK(dtx_reserve_check(in_dir("out.csv"), &err), &err);
	dtx_reserve_clear();
}

/* The file that is being read is moved to the place of the output while that is written. */
void test_reserve_moved_before_commit(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	struct dtx_buf text = DTX_BUF_INIT(100);

	put_file(in_dir("in.csv"), "a\n");
	T_OK(dtx_reserve(in_dir("in.csv"), "an input", &err), &err);
	T_OK(dtx_outfile_open(in_dir("out.csv"), "1", DTX_OUTFILE_SPOOL, &o, &err), &err);
	T_OK(dtx_outfile_write(o, "b\n", 2, &err), &err);
	T_OK(dtx_outfile_finish(o, &err), &err);
	T_CHECK(rename(in_dir("in.csv"), in_dir("out.csv")) == 0);
	T_CODE(dtx_outfile_commit(o, &err), DTX_E_USAGE, &err);
	dtx_outfile_free(o);
	dtx_reserve_clear();
	T_OK(dtx_file_slurp(in_dir("out.csv"), &text, &err), &err);
	T_STR(dtx_buf_text(&text), "a\n");
	dtx_buf_clear(&text);
}

/* Nothing that came to the path in the meantime is replaced. */
void test_reserve_fresh(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_outfile *o = NULL;
	struct dtx_buf text = DTX_BUF_INIT(100);

	T_OK(dtx_outfile_absent(in_dir("out.csv"), "", &err), &err);
	T_OK(dtx_outfile_open(in_dir("out.csv"), "1", DTX_OUTFILE_SPOOL, &o, &err), &err);
	dtx_outfile_fresh(o);
	T_OK(dtx_outfile_finish(o, &err), &err);
	put_file(in_dir("out.csv"), "a\n");
	T_CODE(dtx_outfile_commit(o, &err), DTX_E_OUTPUT_IO, &err);
	dtx_outfile_free(o);
	T_CODE(dtx_outfile_absent(in_dir("out.csv"), "", &err), DTX_E_USAGE, &err);
	T_OK(dtx_file_slurp(in_dir("out.csv"), &text, &err), &err);
	T_STR(dtx_buf_text(&text), "a\n");
	dtx_buf_clear(&text);
}
