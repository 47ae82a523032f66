/* Gives a snippet the raw cells of a text file: every record as texts, ragged or not. */
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"
#include "core/data/frame/rawgrid.h"
#include "core/io/csv/csv.h"
#include "core/io/csv/csv_ref.h"

struct raw_text {
	const char *label;
	struct dtx_encoding enc;
	struct dtx_dialect dialect;
	struct dtx_csv_text text;
	struct dtx_csv_ref *ref; /* for dialects that the scanner does not read */
	struct dtx_span *span;
	size_t cap;
	struct dtx_buf scratch;
	struct dtx_rawgrid *out;
	uint32_t row;
};

static enum dtx_code raw_put(struct raw_text *t, uint32_t col, struct dtx_str cell, size_t at,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!t->enc.checked && dtx_utf8_bad(cell.ptr, cell.len) >= 0)
		return dtx_encoding_fail(&t->enc, t->label, at, err);
	DTX_TRY(dtx_rawgrid_put(t->out, t->row, col, cell, err));
out:
	return rc;
}

static enum dtx_code raw_record(struct raw_text *t, size_t *at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_row row;
	uint32_t i;

	DTX_TRY(dtx_csv_row_cells(&t->text, *at, &t->span, &t->cap, t->label, &row, err));
	for (i = 0; i < row.ncells; i++) {
		struct dtx_str cell = dtx_span_text(t->text.data + *at, t->span[i], &t->scratch);

		DTX_TRY(dtx_buf_check(&t->scratch, "cell", err));
		DTX_TRY(raw_put(t, i, cell, *at + t->span[i].off, err));
	}
	*at = row.next;
out:
	return rc;
}

/* The same by libcsv. A comment is one cell. */
static enum dtx_code raw_ref_record(struct raw_text *t, size_t *at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_ref_record rec;
	uint32_t i;

	DTX_TRY(dtx_csv_ref_read(t->ref, *at, &rec, err));
	DTX_TRY(dtx_csv_row_limit(rec.row.ncells, t->label, err));
	for (i = 0; !rec.comment && i < rec.row.ncells; i++)
		DTX_TRY(raw_put(t, i,
		                (struct dtx_str){ rec.text + rec.cell[i].off, rec.cell[i].len },
		                *at, err));
	if (rec.comment)
		DTX_TRY(raw_put(t, 0,
		                (struct dtx_str){ t->text.data + rec.row.start,
		                                  rec.row.end - rec.row.start },
		                *at, err));
	*at = rec.row.next;
out:
	return rc;
}

/* If two dialects fit equally well, takes the better one. The snippet sees cells in either case,
 * and the same ones in every run. */
static enum dtx_code raw_dialect(struct raw_text *t, const struct dtx_read_opts *opts,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_dialect *d = &t->dialect;
	struct dtx_str text = { t->enc.text, t->enc.len };
	bool plain = false;

	rc = dtx_dialect_plain(opts, text, t->label, d, &plain, err);
	if (!plain)
		rc = dtx_dialect_find(opts, text, false, t->label, d, err);
	if (rc == DTX_E_AMBIGUOUS_DIALECT) {
		dtx_err_clear(err);
		rc = DTX_OK;
	}
	DTX_TRY(rc);
	t->text = dtx_csv_text_of(&t->enc, d);
	if (!dtx_dialect_is_plain(d))
		DTX_TRY(dtx_csv_ref_new(text.ptr, text.len, d, &t->ref, err));
out:
	return rc;
}

enum dtx_code dtx_csv_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                          struct dtx_rawgrid *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct raw_text t = { .label = dtx_source_name(src),
		              .scratch = DTX_BUF_INIT(DTX_CSV_CELL_MAX),
		              .out = out };
	size_t at = 0;

	out->text_file = true;
	DTX_TRY(dtx_encoding_open(src, opts->encoding, &t.enc, err));
	DTX_TRY(raw_dialect(&t, opts, err));
	for (; at < t.text.end; t.row++) {
		DTX_TRY(dtx_rawgrid_reach(out, (uint64_t)t.row + 1, 0, err));
		DTX_TRY(t.ref ? raw_ref_record(&t, &at, err) : raw_record(&t, &at, err));
	}
out:
	dtx_mem_free(t.span);
	dtx_buf_clear(&t.scratch);
	dtx_csv_ref_free(t.ref);
	dtx_encoding_clear(&t.enc);
	return rc;
}
