/* The spans of a batch as records, row by row: see rowspans.h. */
#include "ops/kit/rowspans.h"

#include "core/base/memory/mem.h"

#define COLUMNS_MIN 3u /* with fewer columns records save nothing */
#define GAP_MAX     0xffu

/* --- which columns --- */

void dtx_rowspans_cols_clear(struct dtx_rowspans_cols *cols)
{
	dtx_mem_free(cols->col);
	dtx_mem_free(cols->place);
	*cols = (struct dtx_rowspans_cols){ .n = 0 };
}

static bool is_span(const struct dtx_column *c)
{
	return c && c->form == DTX_F_SPAN;
}

static bool one_text(const struct dtx_column *a, const struct dtx_column *b)
{
	return a->base == b->base && a->apart == b->apart &&
	       dtx_column_owner(a) == dtx_column_owner(b);
}

static bool same_rules(const struct dtx_column *a, const struct dtx_column *b)
{
	return is_span(a) && is_span(b) && dtx_celldialect_same(a->dialect, b->dialect);
}

enum dtx_code dtx_rowspans_choose(const struct dtx_batch *b, const uint32_t *want, uint32_t n,
                                  struct dtx_rowspans_cols *cols, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_rowspans_cols c = { .ncols = b->ncols };
	const struct dtx_column *first = NULL;

	if (n < COLUMNS_MIN)
		return DTX_OK;
	c.col = dtx_mem_alloc(n, sizeof(*c.col));
	c.place = dtx_mem_alloc((size_t)b->ncols + 1, sizeof(*c.place));
	if (!c.col || !c.place)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->ncols; i++)
		c.place[i] = -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct dtx_column *at = b->col[want[i]];

		if (!is_span(at))
			continue;
		first = first ? first : at;
		if (!one_text(at, first))
			goto out;
		c.place[want[i]] = (int32_t)c.n;
		c.col[c.n++] = want[i];
	}
	if (c.n < COLUMNS_MIN)
		goto out;
	*cols = c;
	c = (struct dtx_rowspans_cols){ .n = 0 };
out:
	dtx_rowspans_cols_clear(&c);
	return rc;
}

bool dtx_rowspans_alike(const struct dtx_rowspans_cols *cols, const struct dtx_batch *a,
                        const struct dtx_batch *b)
{
	for (uint32_t k = 0; k < cols->n; k++)
		if (!same_rules(a->col[cols->col[k]], b->col[cols->col[k]]))
			return false;
	return true;
}

static bool suits(const struct dtx_rowspans_cols *cols, const struct dtx_batch *b)
{
	const struct dtx_column *first = b->ncols == cols->ncols ? b->col[cols->col[0]] : NULL;

	for (uint32_t k = 0; first && k < cols->n; k++)
		if (!is_span(b->col[cols->col[k]]) || !one_text(b->col[cols->col[k]], first))
			return false;
	return first != NULL;
}

/* --- records --- */

/* The span of a cell.  That of a null is empty and not quoted. */
static inline struct dtx_span span_of(const struct dtx_column *c, uint32_t row)
{
	struct dtx_span s = c->v.span[row];

	if (c->valid && !dtx_bit(c->valid, row))
		s.len = 0;
	return s;
}

/* Writes the record of a row in a short form.  False: it does not fit. */
static inline bool put_short(const struct dtx_rowspans_cols *cols, const struct dtx_batch *b,
                             uint32_t row, bool gaps, uint8_t *to)
{
	const uint32_t gap_max = gaps ? GAP_MAX : 1, gap_min = gaps ? 0 : 1;
	uint32_t bad = 0, first = 0, end = 0;
	uint8_t *at = to + sizeof(first);

	for (uint32_t k = 0; k < cols->n; k++) {
		struct dtx_span s = span_of(b->col[cols->col[k]], row);
		uint32_t quote = s.len >> 31, len = s.len & DTX_SPAN_LEN;
		uint32_t begin = s.off - quote;

		if (!k)
			first = begin;
		else
			bad |= begin - end - gap_min > gap_max - gap_min;
		if (gaps)
			*at++ = (uint8_t)(k ? begin - end : 0);
		*at++ = (uint8_t)(len | quote << 7);
		bad |= len > DTX_ROWSPANS_LEN || s.off > DTX_ROWSPANS_FAR;
		end = s.off + len + quote;
	}
	memcpy(to, &first, sizeof(first));
	return !bad && end - first <= DTX_ROWSPANS_TEXT;
}

static inline bool put_wide(const struct dtx_rowspans_cols *cols, const struct dtx_batch *b,
                            uint32_t row, uint8_t *to)
{
	uint32_t first = 0, end = 0;

	for (uint32_t k = 0; k < cols->n; k++, to += sizeof(struct dtx_span)) {
		struct dtx_span s = span_of(b->col[cols->col[k]], row);

		if (s.off > DTX_ROWSPANS_FAR || (s.len & DTX_SPAN_LEN) > DTX_ROWSPANS_TEXT ||
		    (k && dtx_span_begin(s) < end))
			return false;
		first = k ? first : dtx_span_begin(s);
		end = dtx_span_end(s);
		memcpy(to, &s, sizeof(s));
	}
	return end - first <= DTX_ROWSPANS_TEXT;
}

static bool put_rows(const struct dtx_rowspans_cols *cols, const struct dtx_batch *b,
                     const struct dtx_rowspans *r)
{
	uint8_t *to = r->rec;
	bool ok = true;

	for (uint32_t row = 0; row < b->nrows && ok; row++, to += r->stride)
		switch (r->form) {
		case DTX_ROWSPANS_CLOSE: ok = put_short(cols, b, row, false, to); break;
		case DTX_ROWSPANS_GAPS: ok = put_short(cols, b, row, true, to); break;
		default: ok = put_wide(cols, b, row, to);
		}
	return ok;
}

/* The stride that keeps a record within one cache line, unless it is longer than a line. */
static uint32_t stride_of(uint32_t ncols, enum dtx_rowspans_form form)
{
	static const uint32_t head[] = { sizeof(uint32_t), sizeof(uint32_t), 0 };
	static const uint32_t cell[] = { 1, 2, sizeof(struct dtx_span) };
	uint32_t bytes = head[form] + ncols * cell[form], n = 8;

	while (n < bytes && n < 64)
		n *= 2;
	return n < bytes ? (bytes + 63) / 64 * 64 : n;
}

enum dtx_code dtx_rowspans_make(const struct dtx_rowspans_cols *cols, const struct dtx_batch *b,
                                struct dtx_rowspans *out, struct dtx_err *err)
{
	static const enum dtx_rowspans_form form[] = { DTX_ROWSPANS_CLOSE, DTX_ROWSPANS_GAPS,
		                                       DTX_ROWSPANS_WIDE };
	enum dtx_code rc = DTX_OK;
	struct dtx_rowspans r = { .rec = NULL };

	*out = r;
	if (!suits(cols, b))
		return DTX_OK;
	for (size_t i = 0; i < DTX_COUNT(form); i++) {
		r.form = form[i];
		r.stride = stride_of(cols->n, r.form);
		r.rec = dtx_mem_alloc64((size_t)b->nrows + 1, r.stride);
		if (!r.rec)
			DTX_FAIL_MEM(err);
		if (put_rows(cols, b, &r)) {
			*out = r;
			r.rec = NULL;
			break;
		}
		dtx_rowspans_clear(&r);
	}
out:
	dtx_rowspans_clear(&r);
	return rc;
}

void dtx_rowspans_clear(struct dtx_rowspans *r)
{
	dtx_mem_free(r->rec);
	r->rec = NULL;
}

/* --- columns without spans --- */

/* Replaces a column by one with other spans (NULL: none).  Takes owner. */
static enum dtx_code change_spans(struct dtx_batch *b, uint32_t col, const struct dtx_span *span,
                                  struct dtx_owner *owner, struct dtx_err *err)
{
	const struct dtx_column *was = b->col[col];
	struct dtx_column *c = dtx_column_new(DTX_F_SPAN, was->type, b->nrows, owner);
	enum dtx_code rc = DTX_OK;

	if (!c)
		DTX_FAIL_MEM(err);
	c->nulls = UINT32_MAX;
	c->v.span = span;
	c->base = was->base;
	c->dialect = was->dialect;
	c->narrow = was->narrow;
	c->apart = was->apart;
	dtx_column_unref(b->col[col]);
	b->col[col] = c;
out:
	return rc;
}

/* An owner that keeps alive what the columns that had c's memory still need, and `block` (NULL:
 * nothing more). */
static struct dtx_owner *owner_behind(const struct dtx_column *c, void *block)
{
	return dtx_owner_blocks(&block, 1, dtx_column_owner(c));
}

enum dtx_code dtx_rowspans_strip(const struct dtx_rowspans_cols *cols, struct dtx_batch *b,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = 0; k < cols->n; k++) {
		struct dtx_owner *owner = owner_behind(b->col[cols->col[k]], NULL);

		if (!owner)
			DTX_FAIL_MEM(err);
		DTX_TRY(change_spans(b, cols->col[k], NULL, owner, err));
	}
out:
	return rc;
}

enum dtx_code dtx_rowspans_restore(const struct dtx_rowspans_cols *cols,
                                   const struct dtx_rowspans *r, struct dtx_batch *b,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_span *span = dtx_mem_alloc64((size_t)b->nrows * cols->n + 1, sizeof(*span));
	struct dtx_owner *owner = NULL;

	if (!span)
		DTX_FAIL_MEM(err);
	for (uint32_t row = 0; row < b->nrows; row++)
		dtx_rowspans_get(r->rec + (size_t)row * r->stride, r->form, cols->n, 0, b->nrows,
		                 span + row);
	owner = owner_behind(b->col[cols->col[0]], span);
	if (!owner)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < cols->n; k++)
		DTX_TRY(change_spans(b, cols->col[k], span + (size_t)k * b->nrows,
		                     dtx_owner_ref(owner), err));
out:
	dtx_owner_unref(owner);
	return rc;
}
