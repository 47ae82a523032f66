/* Cells of many batches as records: see packed.h. */
#include "ops/sort/packed.h"

#include "core/base/memory/prefetch.h"
#include "core/data/cells.h"

void dtx_packed_free(struct dtx_packed *p)
{
	if (!p)
		return;
	dtx_mem_free(p->row);
	dtx_mem_free(p->text);
	dtx_mem_free(p);
}

/* Uses one base for all batches if the offsets of spans reach that far. */
static void place_batches(struct dtx_packed *p, size_t reach)
{
	const struct dtx_column *first = p->batch[0]->col[p->cols->col[0]];
	uintptr_t lo = UINTPTR_MAX, hi = 0;

	for (uint32_t i = 0; i < p->nbatches; i++) {
		const struct dtx_column *c = p->batch[i]->col[p->cols->col[0]];

		p->text[i] = c->base;
		lo = DTX_MIN(lo, (uintptr_t)c->base);
		hi = DTX_MAX(hi, (uintptr_t)c->base);
		p->narrow = p->narrow || c->narrow || !dtx_cells_one_text(first, c);
	}
	if (hi - lo <= reach)
		p->base = (const char *)lo;
}

enum dtx_code dtx_packed_new(const struct dtx_rowspans_cols *cols, struct dtx_batch *const *batch,
                             const struct dtx_rowspans *row, uint32_t nbatches, size_t reach,
                             struct dtx_packed **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_packed *p = dtx_mem_zalloc(1, sizeof(*p));

	if (!p)
		DTX_FAIL_MEM(err);
	*p = (struct dtx_packed){ .batch = batch, .cols = cols, .nbatches = nbatches };
	p->row = dtx_mem_alloc((size_t)nbatches + 1, sizeof(*p->row));
	p->text = dtx_mem_alloc((size_t)nbatches + 1, sizeof(*p->text));
	if (!p->row || !p->text)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < nbatches; i++)
		p->row[i] = row[i];
	if (nbatches)
		place_batches(p, reach);
	*out = p;
	p = NULL;
out:
	dtx_packed_free(p);
	return rc;
}

/* --- picked rows --- */

#define AHEAD 24u

static inline uint32_t batch_of(const struct dtx_pick *pick, uint32_t i)
{
	return pick->packed_at[pick->which[i]];
}

static inline const uint8_t *record_at(const struct dtx_pick *pick, uint32_t i)
{
	const struct dtx_rowspans *r = &pick->packed->row[batch_of(pick, i)];

	return r->rec + (size_t)pick->row[i] * r->stride;
}

/* Sets the spans of picked row i, that of packed column k to to[k * pick->n].  Offsets count from
 * `base` (NULL: from the base of the row's batch). */
static inline void packed_span(const struct dtx_pick *pick, uint32_t i, const char *base,
                               struct dtx_span *to)
{
	const struct dtx_packed *p = pick->packed;
	uint32_t shift = base ? (uint32_t)(p->text[batch_of(pick, i)] - base) : 0;

	if (i + AHEAD < pick->n)
		DTX_PREFETCH(record_at(pick, i + AHEAD));
	dtx_rowspans_get(record_at(pick, i), p->row[batch_of(pick, i)].form, p->cols->n, shift,
	                 pick->n, to);
}

static void packed_spans_near(const struct dtx_pick *pick, struct dtx_span *to)
{
	const struct dtx_packed *p = pick->packed;
	const struct dtx_span *last = to + (p->cols->n - 1) * (size_t)pick->n;

	for (uint32_t i = 0; i < pick->n; i++) {
		packed_span(pick, i, p->base, to + i);
		/* the text of the cells is read next */
		DTX_PREFETCH(p->base + to[i].off);
		DTX_PREFETCH(p->base + last[i].off + DTX_CELL_WIDE - 1);
	}
}

/* --- a text that is too long for the offsets of spans: cells are copied row by row --- */

/* The text from the first cell of picked row i to the end of its last cell. */
static inline struct dtx_str row_text(const struct dtx_pick *pick, uint32_t i,
                                      const struct dtx_span *span)
{
	const struct dtx_packed *p = pick->packed;
	uint32_t begin = dtx_span_begin(span[i]);
	uint32_t end = dtx_span_end(span[(p->cols->n - 1) * (size_t)pick->n + i]);

	return (struct dtx_str){ p->text[batch_of(pick, i)] + begin, end - begin };
}

#define LINE 64u /* a cache line */

static inline void row_near(const struct dtx_pick *pick, uint32_t i, const struct dtx_span *span)
{
	struct dtx_str row = row_text(pick, i, span);

	for (size_t at = 0; at < row.len; at += LINE)
		DTX_PREFETCH(row.ptr + at);
	DTX_PREFETCH(row.ptr + row.len);
}

/* Copies the text of rows one after the other, with a line end after each, and adjusts their
 * spans. */
static void copy_rows(const struct dtx_pick *pick, struct dtx_span *span, char *text)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < pick->n; i++) {
		struct dtx_str row = row_text(pick, i, span);
		uint32_t begin = dtx_span_begin(span[i]);

		if (i + AHEAD < pick->n)
			row_near(pick, i + AHEAD, span);
		memcpy(text + at, row.ptr, row.len);
		for (uint32_t k = 0; k < pick->packed->cols->n; k++) {
			struct dtx_span *s = &span[(size_t)k * pick->n + i];

			s->off = s->off - begin + at;
		}
		at += (uint32_t)row.len;
		text[at++] = '\n';
	}
}

static enum dtx_code packed_spans_far(const struct dtx_pick *pick, struct dtx_span *span,
                                      char **text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t bytes = DTX_CELL_WIDE;

	for (uint32_t i = 0; i < pick->n; i++) {
		packed_span(pick, i, NULL, span + i);
		bytes += row_text(pick, i, span).len + 1;
	}
	*text = dtx_mem_alloc64(bytes, 1);
	if (!*text)
		DTX_FAIL_MEM(err);
	copy_rows(pick, span, *text);
out:
	return rc;
}

enum dtx_code dtx_packed_pick(const struct dtx_pick *pick, struct dtx_packed_cells *cells,
                              struct dtx_err *err)
{
	const struct dtx_packed *p = pick->packed;
	struct dtx_span *to = dtx_mem_alloc64((size_t)pick->n * p->cols->n + 1, sizeof(*to));
	bool near = p->base && pick->held;
	enum dtx_code rc = DTX_OK;
	char *text = NULL;
	void *block[2];

	if (!to)
		DTX_FAIL_MEM(err);
	if (near)
		packed_spans_near(pick, to);
	else
		DTX_TRY(packed_spans_far(pick, to, &text, err));
	block[0] = to;
	block[1] = text;
	*cells = (struct dtx_packed_cells){ to, near ? p->base : text, NULL, near && p->narrow };
	cells->owner = dtx_owner_blocks(block, 2, near ? pick->held : NULL);
	to = NULL;
	text = NULL;
	if (!cells->owner)
		DTX_FAIL_MEM(err);
out:
	dtx_mem_free(to);
	dtx_mem_free(text);
	return rc;
}

enum dtx_code dtx_packed_column(const struct dtx_pick *pick, uint32_t k, struct dtx_typeref type,
                                const struct dtx_packed_cells *cells, struct dtx_column **out,
                                struct dtx_err *err)
{
	const struct dtx_packed *p = pick->packed;
	const struct dtx_column *like = p->batch[0]->col[p->cols->col[k]];
	struct dtx_column *c =
		dtx_column_new(DTX_F_SPAN, type, pick->n, dtx_owner_ref(cells->owner));
	enum dtx_code rc = DTX_OK;

	if (!c)
		DTX_FAIL_MEM(err);
	c->nulls = UINT32_MAX;
	c->v.span = cells->span + (size_t)k * pick->n;
	c->base = cells->base;
	c->dialect = like->dialect;
	c->narrow = cells->narrow;
	*out = c;
out:
	return rc;
}
