/* Any bytes as a Parquet file, in batches of two sizes: values or an error, never a fault. */
#include <stdlib.h>

#include "core/io/parquet/parquet.h"
#include "tests/unit/bookmake.h"

enum { ROWS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition on each column that can have one, so that statistics are read: its kind and its value
 * are bytes of the file. */
static uint32_t make_ranges(const struct dtx_schema *s, const uint8_t *data, size_t size,
                            struct dtx_scan_range *range)
{
	uint32_t n = 0, i;

	for (i = 0; i < s->nfields && n < DTX_SCAN_RANGES_MAX; i++) {
		enum dtx_type type = s->field[i].type.type;
		size_t at = size / 2 + i % (size / 2);

		if (type == DTX_T_INT64 || type == DTX_T_DATE || type == DTX_T_DATETIME ||
		    type == DTX_T_TEXT)
			range[n++] = (struct dtx_scan_range){ i,
				                              type,
				                              data[at] & 7u,
				                              data[at] - 100,
				                              { (const char *)data + at, 1 } };
	}
	return n;
}

static enum dtx_code read_rows(const uint8_t *data, size_t size, uint32_t batch_rows)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;
	struct dtx_archive_limits limits = dtx_archive_limits_default;
	struct dtx_scan scan = {
		.limit = ROWS, .workers = 1, .batch_rows = batch_rows, .coded = batch_rows
	};
	struct dtx_scan_range range[DTX_SCAN_RANGES_MAX];
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *src = NULL;
	struct dtx_reader *r = NULL;
	struct dtx_batch *b = NULL;
	uint8_t *need = NULL;
	enum dtx_code rc;
	json_t *what;

	opts.format = "parquet";
	limits.part = (uint64_t)1 << 24;
	limits.text = 1 << 16;
	DTX_TRY(dtx_source_bytes("f.parquet", data, size, &src, &err));
	dtx_source_limit(src, &limits);
	DTX_TRY(dtx_reader_open(src, &opts, &r, &err));
	DTX_TRY(r->cls->schema(r, &scan.schema, &err));
	scan.range = range;
	scan.nranges = batch_rows ? make_ranges(scan.schema, data, size, range) : 0;
	need = dtx_mem_alloc(scan.schema->nfields + 1, 1);
	if (!need)
		DTX_FAIL_MEM(&err);
	memset(need, DTX_NEED_VALUE, scan.schema->nfields + 1);
	scan.need = need;
	what = r->cls->describe(r);
	json_decref(what);
	DTX_TRY(r->cls->start(r, &scan, &err));
	do {
		dtx_batch_free(b);
		b = NULL;
		DTX_TRY(r->cls->next(r, 0, &b, &err));
	} while (b);
out:
	dtx_mem_free(need);
	dtx_reader_close(r);
	dtx_source_free(src);
	dtx_err_clear(&err);
	if (rc == DTX_E_BUG)
		abort();
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	dtx_pq_codecs_warm();
	(void)read_rows(data, size, 0);
	(void)read_rows(data, size, 7);
	return 0;
}
