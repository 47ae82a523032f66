/* Limits of archives: their names and bounds, and that each one stops what it is meant to stop. */
#include "tests/t.h"

#include "core/io/sheet/grid.h"
#include "core/io/archive/gzip.h"
#include "core/io/archive/archive_limits.h"
#include "tests/unit/bookmake.h"

void test_archive_limits_by_name(void)
{
	struct dtx_archive_limits l = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	json_t *o;

	T_OK(dtx_archive_limits_set(&l, DTX_STR("ratio"), 5000, &err), &err);
	T_INT(l.ratio, 5000);
	T_CODE(dtx_archive_limits_set(&l, DTX_STR("ratoi"), 1, &err), DTX_E_USAGE, &err);
	T_STR(err.did_you_mean[0], "ratio");
	T_CODE(dtx_archive_limits_set(&l, DTX_STR("entries"), 0, &err), DTX_E_USAGE, &err);
	T_STR(err.msg, "limit 'archive.entries' is 1 to 16777216, got 0");
	o = dtx_archive_limits_json(&l);
	T_INT(json_object_size(o), 1);
	T_INT(json_integer_value(json_object_get(o, "ratio")), 5000);
	json_decref(o);
	dtx_err_clear(&err);
}

/* Nothing is lost when limits are sent to the reader process, and text that is not a list is
 * refused. */
void test_archive_limits_list(void)
{
	struct dtx_archive_limits a = DTX_ARCHIVE_LIMITS_INIT, b = DTX_ARCHIVE_LIMITS_INIT;
	json_t *list;

	a.text = 7;
	a.merges = 9;
	list = dtx_archive_limits_list(&a);
	T_CHECK(dtx_archive_limits_read(list, &b));
	T_CHECK(!memcmp(&a, &b, sizeof(a)));
	json_array_append_new(list, json_integer(1));
	T_CHECK(!dtx_archive_limits_read(list, &b));
	json_array_set_new(list, 0, json_integer(-1));
	T_CHECK(!dtx_archive_limits_read(list, &b));
	T_CHECK(!dtx_archive_limits_read(NULL, &b));
	json_decref(list);
}

/* If there is something that a user can do, the message says it. */
void test_archive_limits_fail_says_how(void)
{
	struct dtx_archive_limits l = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_err err = DTX_ERR_INIT;

	T_CODE(dtx_archive_limits_fail(&err, &l, "ratio", "'%s' is steep", "a.gz"),
	       DTX_E_ARCHIVE_LIMIT, &err);
	T_STR(err.msg, "'a.gz' is steep (limit 'archive.ratio')");
	T_STR(err.hint, "if the file is trusted: --limit archive.ratio=N");
	dtx_archive_limits_fail(&err, &l, "strings", "many");
	T_STR(err.hint, "no option raises it: save the file again, or as CSV, in the program it is "
	                "from");
	T_CODE(dtx_archive_limits_fixed(&err, "fonts", "'%s': over %d fonts", "a.xls", 9),
	       DTX_E_ARCHIVE_LIMIT, &err);
	T_STR(err.msg, "'a.xls': over 9 fonts (limit 'archive.fonts')");
	T_CHECK(strstr(err.hint, "no option raises it"));
	dtx_err_clear(&err);
}

static enum dtx_code open_with(const struct dtx_buf *bytes, const char *name, uint64_t value,
                               struct dtx_err *err)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_archive_limits l = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	enum dtx_code rc;

	opts.header_rows = 0;
	T_OK(dtx_archive_limits_set(&l, dtx_str_of(name), value, err), err);
	T_OK(dtx_source_bytes("b.xlsx", bytes->ptr, bytes->len, &src, err), err);
	dtx_source_limit(src, &l);
	rc = dtx_reader_open(src, &opts, &r, err);
	dtx_reader_close(r);
	dtx_source_free(src);
	return rc;
}

void test_archive_limits_stop_a_workbook(void)
{
	static const struct {
		const char *name;
		uint64_t stops, passes;
	} row[] = {
		{ "entries", 3, 100 }, { "part", 99, 1 << 20 }, { "total", 99, 1 << 20 },
		{ "cells", 3, 100 },   { "strings", 1, 100 },   { "string_bytes", 1, 1000 },
		{ "text", 3, 100 },    { "merges", 1, 2 },
	};
	struct book book = {
		.sheet = "<sheetData><row r=\"1\"><c r=\"A1\" "
			 "t=\"inlineStr\"><is><t>a</t></is></c></row>"
			 "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\" t=\"inlineStr\">"
			 "<is><t>inline</t></is></c><c r=\"C2\" t=\"inlineStr\"><is><t>second"
			 "</t></is></c></row></sheetData><mergeCells><mergeCell ref=\"E1:F1\"/>"
			 "<mergeCell ref=\"E2:F2\"/></mergeCells>",
	};
	struct dtx_buf bytes = DTX_BUF_INIT(1 << 20);
	size_t i;

	book_make(&book, &bytes);
	for (i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_err err = DTX_ERR_INIT;
		char want[64];

		T_CODE(open_with(&bytes, row[i].name, row[i].stops, &err), DTX_E_ARCHIVE_LIMIT,
		       &err);
		snprintf(want, sizeof(want), "(limit 'archive.%s')", row[i].name);
		if (!strstr(err.msg, want))
			t_fail(__FILE__, __LINE__, "expected %s, got: %s", want, err.msg);
		dtx_err_clear(&err);
		T_OK(open_with(&bytes, row[i].name, row[i].passes, &err), &err);
		dtx_err_clear(&err);
	}
	dtx_buf_clear(&bytes);
}

void test_archive_limits_stop_the_texts_of_a_sheet(void)
{
	static const struct {
		const char *limit;
		uint64_t value;
	} row[] = { { "text", 3 }, { "strings", 2 }, { "string_bytes", 9 } };
	static const char *const text[] = { "one", "one", "two", "four" };
	size_t i, k;

	for (i = 0; i < DTX_COUNT(row); i++) {
		struct dtx_err err = DTX_ERR_INIT;
		enum dtx_code rc = DTX_OK;
		struct dtx_grid grid;
		char want[64];
		uint64_t id;

		dtx_grid_init(&grid, "b.xls");
		T_OK(dtx_archive_limits_set(&grid.limits, dtx_str_of(row[i].limit), row[i].value,
		                            &err),
		     &err);
		for (k = 0; rc == DTX_OK && k < DTX_COUNT(text); k++)
			rc = dtx_grid_text_add(&grid, dtx_str_of(text[k]), &id, &err);
		T_CHECK(k == DTX_COUNT(text));
		T_CODE(rc, DTX_E_ARCHIVE_LIMIT, &err);
		snprintf(want, sizeof(want), "(limit 'archive.%s')", row[i].limit);
		T_CHECK(strstr(err.msg, want));
		dtx_err_clear(&err);
		dtx_grid_clear(&grid);
	}
}
