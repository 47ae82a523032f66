/* Any bytes: as found, and as the scanner and libcsv read them, which must be the same. */
#include <stdlib.h>

#include "core/io/repair.h"
#include "tests/unit/csv_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum dtx_code fuzz_read(const uint8_t *data, size_t size, const struct dump_how *how,
                               struct dtx_buf *out)
{
	struct dtx_read_stats st = { 0 };
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dump_csv((const char *)data, size, how, out, &st, NULL, &err);
	int64_t rows = st.rows_out;
	int i;

	for (i = 0; i < DTX_DROP_COUNT; i++)
		rows += st.dropped[i];
	if (rc == DTX_E_BUG || (rc == DTX_OK && rows != st.rows_read))
		abort();
	dtx_err_clear(&err);
	return rc;
}

static void fuzz_found(const uint8_t *data, size_t size, struct dtx_buf *out)
{
	struct dump_how how = DUMP_HOW;

	how.chunk = 16;
	(void)fuzz_read(data, size, &how, out);
	how.opts.encoding = "auto:windows-1252";
	how.opts.ragged = DTX_RAGGED_PAD;
	how.opts.header_rows = 0;
	(void)fuzz_read(data, size, &how, out);
	how.opts.quotes = "lenient";
	how.opts.escape = "\\";
	how.opts.comment = "#";
	how.opts.trim = true;
	how.opts.delimiter = "||";
	(void)fuzz_read(data, size, &how, out);
}

/* Every remedy in turn: it ends, and the rows add up. */
static void fuzz_repaired(const uint8_t *data, size_t size, struct dtx_buf *out)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_errlist done = DTX_ERRLIST_INIT;
	struct dtx_repair fix = { .on = true, .arena = &arena, .done = &done };
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dtx_source_bytes("t.csv", data, size, &src, &err);
	bool again = rc == DTX_OK;

	how.opts.format = "csv";
	while (again) {
		dtx_buf_reset(out);
		dtx_err_clear(&err);
		rc = dtx_repair_open(&fix, src, &how.opts, &r, &err);
		if (rc == DTX_OK && r->cls == &dtx_read_csv)
			rc = dump_read(r, &how, out, &err);
		if (rc == DTX_OK && !dtx_read_stats_add_up(&r->stats))
			abort();
		dtx_reader_close(r);
		r = NULL;
		again = rc != DTX_OK && dtx_repair_take(&fix, &err, &how.opts);
	}
	if (rc == DTX_E_BUG || rc == DTX_E_RESNIFF || rc == DTX_E_RAGGED_ROWS ||
	    rc == DTX_E_BAD_QUOTE || rc == DTX_E_UNTERMINATED_QUOTE)
		abort();
	dtx_err_clear(&err);
	dtx_errlist_clear(&done);
	dtx_arena_clear(&arena);
	dtx_source_free(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dump_how how = DUMP_HOW;
	struct dtx_buf a = DTX_BUF_INIT(DUMP_MAX), b = DTX_BUF_INIT(DUMP_MAX);
	enum dtx_code x, y;

	if (size > 1 << 16)
		return 0;
	fuzz_found(data, size, &a);
	fuzz_repaired(data, size, &a);
	how.opts.delimiter = ",";
	how.opts.quote = "\"";
	how.opts.header_rows = 0;
	how.opts.ragged = DTX_RAGGED_PAD;
	how.chunk = 7;
	x = fuzz_read(data, size, &how, &a);
	how.opts.reader = "libcsv";
	y = fuzz_read(data, size, &how, &b);
	if (x != y || (x == DTX_OK && strcmp(dtx_buf_text(&a), dtx_buf_text(&b)) != 0))
		abort();
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
	return 0;
}
