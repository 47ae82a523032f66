/* Text columns that are made of pieces of another column: see pieces.h. */
#include "ops/kit/text/pieces.h"

#include "core/data/builder.h"

static enum dtx_code bind_new(struct dtx_bind *b, const char *const *name, uint32_t n,
                              struct dtx_pieces *p, struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;

	p->first = b->ncols;
	p->n = n;
	for (uint32_t k = 0; k < n; k++) {
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, p->col, DTX_DEMAND_BYTES, err));
		DTX_TRY(dtx_bind_make(b, name[k], text, NULL, "part of", err));
	}
out:
	return rc;
}

enum dtx_code dtx_pieces_bind(struct dtx_bind *b, const char *col, const char *const *name,
                              uint32_t n, bool keep, struct dtx_pieces *p, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_bind_column(b, 0, col, "/col", &p->col, err));
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		if ((int32_t)i != p->col || keep)
			DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, NULL, err));
		if ((int32_t)i == p->col)
			DTX_TRY(bind_new(b, name, n, p, err));
	}
	DTX_TRY(dtx_colmap_bind(b, 0, &p->map, err));
out:
	return rc;
}

struct work {
	struct dtx_builder *to;
	struct dtx_str *piece;
	struct dtx_buf scratch;
	uint32_t n;
};

static void work_clear(struct work *w)
{
	for (uint32_t k = 0; w->to && k < w->n; k++)
		dtx_builder_clear(&w->to[k]);
	dtx_mem_free(w->to);
	dtx_mem_free(w->piece);
	dtx_buf_clear(&w->scratch);
}

static enum dtx_code work_init(struct work *w, const struct dtx_pieces *p, uint32_t rows,
                               struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	enum dtx_code rc = DTX_OK;

	*w = (struct work){ .scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	w->piece = dtx_mem_zalloc((size_t)p->n + 1, sizeof(*w->piece));
	w->to = dtx_mem_zalloc((size_t)p->n + 1, sizeof(*w->to));
	if (!w->to || !w->piece)
		DTX_FAIL_MEM(err);
	w->n = p->n;
	for (uint32_t k = 0; k < w->n; k++)
		dtx_builder_init(&w->to[k], text, rows);
out:
	return rc;
}

static enum dtx_code cut_row(struct work *w, const struct dtx_column *c, uint32_t row,
                             dtx_pieces_fn *fn, void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str text;
	bool null;

	dtx_buf_reset(&w->scratch);
	text = dtx_cell_text(c, row, &w->scratch, &null);
	memset(w->piece, 0, w->n * sizeof(*w->piece));
	if (!dtx_buf_ok(&w->scratch))
		DTX_FAIL_MEM(err);
	if (!null)
		DTX_TRY(fn(arg, text, w->piece, err));
	for (uint32_t k = 0; k < w->n; k++) {
		if (w->piece[k].ptr)
			dtx_builder_text(&w->to[k], w->piece[k]);
		else
			dtx_builder_null(&w->to[k]);
	}
out:
	return rc;
}

enum dtx_code dtx_pieces_batch(const struct dtx_opctx *ox, const struct dtx_pieces *p,
                               struct dtx_batch *b, dtx_pieces_fn *fn, void *arg,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = dtx_column_ref(b->col[p->col]);
	struct work w;

	DTX_TRY(work_init(&w, p, b->nrows, err));
	for (uint32_t row = 0; c && row < b->nrows; row++) {
		rc = cut_row(&w, c, row, fn, arg, err);
		if (rc != DTX_OK) {
			dtx_batch_set_position(b, row, p->col, err);
			goto out;
		}
	}
	DTX_TRY(dtx_colmap_apply(ox, &p->map, b, err));
	for (uint32_t k = 0; c && k < p->n; k++) {
		struct dtx_column *made = NULL;

		DTX_TRY(dtx_builder_finish(&w.to[k], NULL, &made, err));
		dtx_batch_put(b, p->first + k, made);
	}
out:
	work_clear(&w);
	dtx_column_unref(c);
	return rc;
}
