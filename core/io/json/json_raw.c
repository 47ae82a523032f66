/* The raw cells of records, for a snippet: a row of names, then a row of texts for each record. */
#include "core/base/mem.h"
#include "core/data/frame/rawgrid.h"
#include "core/io/json/json_rows.h"

static enum dtx_code raw_batch(const struct dtx_batch *b, uint32_t *row, struct dtx_rawgrid *out,
                               struct dtx_buf *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, c;

	for (i = 0; i < b->nrows; i++, ++*row) {
		for (c = 0; c < b->ncols; c++) {
			dtx_buf_reset(text);
			dtx_cast_print(b->col[c], i, text);
			DTX_TRY(dtx_buf_check(text, "cell", err));
			DTX_TRY(dtx_rawgrid_put(out, *row, c, dtx_buf_str(text), err));
		}
	}
	DTX_TRY(dtx_rawgrid_reach(out, *row, b->ncols, err));
out:
	return rc;
}

static enum dtx_code raw_records(struct dtx_reader *r, struct dtx_rawgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT((size_t)16 << 20);
	struct dtx_scan scan = { .limit = -1, .workers = 1 };
	struct dtx_batch *b = NULL;
	uint8_t *need = NULL;
	uint32_t row = 1, c;

	DTX_TRY(r->cls->schema(r, &scan.schema, err));
	need = dtx_mem_alloc(scan.schema->nfields, 1);
	if (!need)
		DTX_FAIL_MEM(err);
	memset(need, DTX_NEED_BYTES, scan.schema->nfields);
	scan.need = need;
	for (c = 0; c < scan.schema->nfields; c++)
		DTX_TRY(dtx_rawgrid_put(out, 0, c, dtx_str_of(scan.schema->field[c].name), err));
	DTX_TRY(r->cls->start(r, &scan, err));
	do {
		dtx_batch_free(b);
		b = NULL;
		DTX_TRY(r->cls->next(r, 0, &b, err));
		if (b)
			DTX_TRY(raw_batch(b, &row, out, &text, err));
	} while (b);
out:
	dtx_batch_free(b);
	dtx_mem_free(need);
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_json_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                           struct dtx_rawgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_read_opts plain = *opts; /* without options that drop or change something */
	struct dtx_reader *r = NULL;

	plain.ntypes = plain.nrequires = 0;
	plain.extra = DTX_EXTRA_ALLOW;
	out->text_file = true;
	DTX_TRY(dtx_reader_open(src, &plain, &r, err));
	DTX_TRY(raw_records(r, out, err));
out:
	dtx_reader_close(r);
	return rc;
}
