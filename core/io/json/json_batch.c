/* Makes batches of records. Numbers, bools and dates stay spans of the source; texts point into
 * it unless they contain escapes. */
#include "core/base/mem.h"
#include "core/data/builder.h"
#include "core/io/columns.h"
#include "core/io/json/json_reader.h"

/* A column of the batch being made: spans, or texts. */
struct making {
	struct dtx_span *span;
	struct dtx_builder text;
	bool wanted, as_text;
};
struct filling {
	struct dtx_json *r;
	struct dtx_jwalk walk;
	struct making *col;
	const char *base;
	uint32_t row;
	struct dtx_cast_found *found;
};

static enum dtx_code fill_value(void *arg, uint32_t col, const struct dtx_jvalue *v,
                                struct dtx_err *err)
{
	struct filling *f = arg;
	uint32_t field = f->r->field_of[col];
	struct making *m;
	struct dtx_str text;

	(void)err;
	if (field == UINT32_MAX || !f->col[field].wanted)
		return DTX_OK;
	m = &f->col[field];
	text = dtx_jrows_text(v, &f->walk.text);
	if (dtx_jrows_null(&f->r->rows, v, text))
		return DTX_OK;
	if (!m->as_text) {
		m->span[f->row] =
			(struct dtx_span){ (uint32_t)(v->raw.ptr - f->base), (uint32_t)v->raw.len };
		return DTX_OK;
	}
	/* Records before this one that lack the member have null. */
	while (m->text.len < f->row && !m->text.failed)
		dtx_builder_null(&m->text);
	if (v->kind == DTX_J_STRING && v->escaped)
		dtx_builder_text(&m->text, text);
	else
		dtx_builder_text_borrow(&m->text, text);
	return DTX_OK;
}

static enum dtx_code begin_columns(struct filling *f, const struct dtx_batch *b,
                                   const uint8_t *pick, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	static const struct dtx_typeref text = { .type = DTX_T_TEXT };
	uint32_t i;

	f->col = dtx_mem_zalloc(b->ncols, sizeof(*f->col));
	if (!f->col)
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++) {
		struct making *m = &f->col[i];

		dtx_builder_init(&m->text, text, b->nrows);
		if (!pick[i] || b->col[i])
			continue;
		m->wanted = true;
		m->as_text =
			f->r->declared[i] || f->r->scan.schema->field[i].type.type == DTX_T_TEXT;
		if (!m->as_text)
			m->span = dtx_mem_zalloc(b->nrows, sizeof(*m->span));
		if (!m->as_text && !m->span)
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* The owner of the text that values point into. */
static struct dtx_owner *text_owner(const struct dtx_json *r)
{
	return r->rows.turned ? r->rows.turned : r->enc.owner;
}

static enum dtx_code span_column(struct filling *f, uint32_t col, uint32_t n,
                                 struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct making *m = &f->col[col];
	struct dtx_span *span = m->span;
	void *block[] = { span };
	struct dtx_owner *owner = dtx_owner_blocks(block, 1, text_owner(f->r));
	struct dtx_column *c;

	m->span = NULL;
	if (!owner)
		DTX_FAIL_MEM(err);
	c = dtx_column_new(DTX_F_SPAN, f->r->scan.schema->field[col].type, n, owner);
	if (!c)
		DTX_FAIL_MEM(err);
	c->nulls = UINT32_MAX;
	c->v.span = span;
	c->base = f->base;
	c->dialect = DTX_CELLDIALECT_CSV;
	*out = c;
out:
	return rc;
}

static enum dtx_code end_columns(struct filling *f, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *text = text_owner(f->r);
	uint32_t i;

	for (i = 0; i < b->ncols; i++) {
		struct making *m = &f->col[i];

		if (!m->wanted)
			continue;
		if (!m->as_text) {
			DTX_TRY(span_column(f, i, b->nrows, &b->col[i], err));
			continue;
		}
		while (m->text.len < b->nrows && !m->text.failed)
			dtx_builder_null(&m->text);
		DTX_TRY(dtx_builder_finish(&m->text, text, &b->col[i], err));
		DTX_TRY(dtx_columns_cast(&f->r->head, &f->r->opts, b, i, f->found, err));
	}
out:
	return rc;
}

/* Reads b->nrows records from `from` on, and makes the columns in `pick`. *from moves to the
 * next record. */
static enum dtx_code make_columns(struct dtx_json *r, struct dtx_batch *b, const uint8_t *pick,
                                  struct dtx_jscan *from, bool first, struct dtx_cast_found *found,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct filling f = { .r = r, .base = from->p, .found = found };
	bool more = true;
	uint32_t i;

	dtx_jwalk_init(&f.walk, &r->rows, false, fill_value, &f);
	DTX_TRY(begin_columns(&f, b, pick, err));
	for (f.row = 0; f.row < b->nrows; f.row++) {
		if (f.row || !first)
			DTX_TRY(dtx_jrows_next(&r->rows, from, false, &more, err));
		DTX_TRY(dtx_jwalk_record(&f.walk, from, err));
	}
	DTX_TRY(end_columns(&f, b, err));
out:
	for (i = 0; f.col && i < b->ncols; i++) {
		dtx_mem_free(f.col[i].span);
		dtx_builder_clear(&f.col[i].text);
	}
	dtx_mem_free(f.col);
	dtx_jwalk_clear(&f.walk);
	return rc;
}

enum dtx_code dtx_json_batch(struct dtx_json *r, struct dtx_json_worker *w, struct dtx_batch *b,
                             struct dtx_cast_found *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan again = w->at;
	bool first = !w->done;

	if (r->scan.keep) {
		DTX_TRY(make_columns(r, b, r->scan.keep_need, &again, first, found, err));
		DTX_TRY(r->scan.keep(r->scan.keep_arg, b, err));
	}
	DTX_TRY(make_columns(r, b, r->scan.need, &w->at, first, found, err));
out:
	return rc;
}
