/* Cells of many batches row by row. */
#include "ops/packed.h"

#include "core/base/each.h"
#include "core/base/prefetch.h"
#include "ops/cells.h"

#define PACKED_MIN    3u /* columns: fewer are as soon found where they are */
#define PACKED_LEN    0x7fu
#define PACKED_QUOTED 0x80u
#define PACKED_GAP    0xffu
#define FAR_COLUMNS   2048u /* so that no pick copies more text than a span reaches */

void dtx_packed_free(struct dtx_packed *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; p->rec && i < p->nbatches; i++)
		dtx_mem_free(p->rec[i]);
	dtx_mem_free(p->rec);
	dtx_mem_free(p->text);
	dtx_mem_free(p->col);
	dtx_mem_free(p->place);
	dtx_mem_free(p);
}

/* --- which columns --- */

static bool cells_like(const struct dtx_column *c, const struct dtx_column *like)
{
	return c && c->form == DTX_F_SPAN && !c->valid && c->delim == like->delim &&
	       c->quote == like->quote;
}

/* Whether the cells of column i are spans beside those of column `first`, in all batches. */
static bool packs(const struct dtx_packed *p, uint32_t first, uint32_t i)
{
	for (uint32_t k = 0; k < p->nbatches; k++) {
		const struct dtx_column *c = p->batch[k]->col[i], *f = p->batch[k]->col[first];

		if (!cells_like(c, p->batch[0]->col[i]) || c->base != f->base)
			return false;
	}
	return true;
}

static bool choose(struct dtx_packed *p, const uint32_t *want, uint32_t n)
{
	for (uint32_t i = 0; i < p->ncols; i++)
		p->place[i] = -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct dtx_column *c = p->batch[0]->col[want[i]];

		if (!c || c->form != DTX_F_SPAN || !packs(p, p->n ? p->col[0] : want[i], want[i]))
			continue;
		p->place[want[i]] = (int32_t)p->n;
		p->col[p->n++] = want[i];
	}
	return p->n >= PACKED_MIN;
}

/* One base for all, if spans reach that far.  False: neither do they, nor can a pick copy so many
 * columns. */
static bool place_batches(struct dtx_packed *p, size_t reach)
{
	const struct dtx_column *first = p->batch[0]->col[p->col[0]];
	uintptr_t lo = UINTPTR_MAX, hi = 0;

	for (uint32_t i = 0; i < p->nbatches; i++) {
		const struct dtx_column *c = p->batch[i]->col[p->col[0]];

		p->text[i] = c->base;
		lo = DTX_MIN(lo, (uintptr_t)c->base);
		hi = DTX_MAX(hi, (uintptr_t)c->base);
		p->narrow = p->narrow || c->narrow || !dtx_cells_one_text(first, c);
	}
	if (hi - lo <= reach)
		p->base = (const char *)lo;
	return p->base || p->n <= FAR_COLUMNS;
}

/* --- their cells --- */

/* Rows of a batch; false: one has a cell that is too long, or too far from the one before. */
static bool pack_rows(const struct dtx_packed *p, const struct dtx_batch *b, uint8_t *to)
{
	const uint32_t gap_max = p->gaps ? PACKED_GAP : 1, gap_min = p->gaps ? 0 : 1;
	uint32_t bad = 0;

	for (uint32_t row = 0; row < b->nrows && !bad; row++, to += p->stride) {
		uint8_t *at = to + sizeof(uint32_t);
		uint32_t end = 0;

		for (uint32_t k = 0; k < p->n; k++) {
			struct dtx_span s = b->col[p->col[k]]->v.span[row];
			uint32_t quote = s.len >> 31, len = s.len & DTX_SPAN_LEN;
			uint32_t begin = s.off - quote;

			if (!k)
				memcpy(to, &begin, sizeof(begin));
			else
				bad |= begin - end - gap_min > gap_max - gap_min;
			if (p->gaps)
				*at++ = (uint8_t)(k ? begin - end : 0);
			*at++ = (uint8_t)(len | quote << 7);
			bad |= len > PACKED_LEN || s.off > UINT32_MAX / 2;
			end = s.off + len + quote;
		}
	}
	return !bad;
}

static enum dtx_code pack_batch(void *arg, uint64_t i, struct dtx_err *err)
{
	struct dtx_packed *p = arg;
	const struct dtx_batch *b = p->batch[i];
	uint8_t *rec = dtx_mem_alloc64((size_t)b->nrows + 1, p->stride);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_halt_look(err));
	if (!rec || !pack_rows(p, b, rec))
		goto out;
	p->rec[i] = rec;
	rec = NULL;
out:
	dtx_mem_free(rec);
	return rc;
}

/* A record lies in one line of the cache, if it is not longer. */
static uint32_t stride_of(uint32_t bytes)
{
	uint32_t n = 8;

	while (n < bytes && n < 64)
		n *= 2;
	return n < bytes ? (bytes + 63) / 64 * 64 : n;
}

static enum dtx_code pack_all(struct dtx_packed *p, unsigned workers, bool gaps, bool *done,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	p->gaps = gaps;
	p->stride = stride_of((uint32_t)sizeof(uint32_t) + p->n * (gaps ? 2 : 1));
	DTX_TRY(dtx_each(workers, p->nbatches, pack_batch, p, err));
	*done = true;
	for (uint32_t i = 0; i < p->nbatches; i++)
		*done = *done && p->rec[i];
	for (uint32_t i = 0; i < p->nbatches && !*done; i++) {
		dtx_mem_free(p->rec[i]);
		p->rec[i] = NULL;
	}
out:
	return rc;
}

/* Where memory is short the rows need it more. */
static bool has_room(const struct dtx_packed *p)
{
	size_t limit = dtx_mem_limit(), rows = 0;

	for (uint32_t i = 0; i < p->nbatches; i++)
		rows += p->batch[i]->nrows;
	return !limit || dtx_mem_used() + rows * stride_of(4 + 2 * p->n) < limit / 2;
}

enum dtx_code dtx_packed_new(unsigned workers, struct dtx_batch *const *batch, uint32_t nbatches,
                             const uint32_t *want, uint32_t n, size_t reach,
                             struct dtx_packed **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_packed *p = NULL;
	bool done = false;

	if (!nbatches || n < PACKED_MIN)
		return DTX_OK;
	p = dtx_mem_zalloc(1, sizeof(*p));
	if (!p)
		DTX_FAIL_MEM(err);
	p->batch = batch;
	p->nbatches = nbatches;
	p->ncols = batch[0]->ncols;
	p->col = dtx_mem_alloc(n, sizeof(*p->col));
	p->place = dtx_mem_alloc(p->ncols, sizeof(*p->place));
	p->rec = dtx_mem_zalloc(nbatches, sizeof(*p->rec));
	p->text = dtx_mem_alloc(nbatches, sizeof(*p->text));
	if (!p->col || !p->place || !p->rec || !p->text)
		DTX_FAIL_MEM(err);
	if (!choose(p, want, n) || !has_room(p) || !place_batches(p, reach))
		goto out;
	DTX_TRY(pack_all(p, workers, false, &done, err));
	if (!done)
		DTX_TRY(pack_all(p, workers, true, &done, err));
	if (!done)
		goto out;
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
	const struct dtx_packed *p = pick->packed;

	return p->rec[batch_of(pick, i)] + (size_t)pick->row[i] * p->stride;
}

/* Spans of the record of picked row i, the one of packed column k at to[k * n]. */
static inline void unpack(const struct dtx_packed *p, const uint8_t *rec, uint32_t shift, bool gaps,
                          size_t n, struct dtx_span *to)
{
	uint32_t at;

	memcpy(&at, rec, sizeof(at));
	at += shift;
	rec += sizeof(at);
	for (uint32_t k = 0; k < p->n; k++) {
		uint32_t quote, len;

		if (gaps)
			at += *rec++;
		else
			at += k != 0;
		quote = *rec >> 7;
		len = *rec++ & PACKED_LEN;
		to[k * n] = (struct dtx_span){ at + quote, len | quote << 31 };
		at += len + 2 * quote;
	}
}

static void unpack_row(const struct dtx_pick *pick, uint32_t i, struct dtx_span *to)
{
	const struct dtx_packed *p = pick->packed;
	const uint8_t *rec = record_at(pick, i);
	uint32_t shift = p->base ? (uint32_t)(p->text[batch_of(pick, i)] - p->base) : 0;

	if (i + AHEAD < pick->n)
		DTX_PREFETCH(record_at(pick, i + AHEAD));
	if (p->gaps)
		unpack(p, rec, shift, true, pick->n, to + i);
	else
		unpack(p, rec, shift, false, pick->n, to + i);
}

static void unpack_near(const struct dtx_pick *pick, struct dtx_span *to)
{
	const struct dtx_packed *p = pick->packed;
	const struct dtx_span *last = to + (p->n - 1) * (size_t)pick->n;

	for (uint32_t i = 0; i < pick->n; i++) {
		unpack_row(pick, i, to);
		/* who wants the cells reads their text next */
		DTX_PREFETCH(p->base + to[i].off);
		DTX_PREFETCH(p->base + last[i].off + DTX_CELL_WIDE - 1);
	}
}

/* --- of a text that is longer than spans reach: copied, row by row --- */

static inline uint32_t span_begin(struct dtx_span s)
{
	return s.off - (s.len >> 31);
}

static inline uint32_t span_end(struct dtx_span s)
{
	return s.off + (s.len & DTX_SPAN_LEN) + (s.len >> 31);
}

/* From the first cell of picked row i to the end of its last one. */
static inline struct dtx_str row_text(const struct dtx_pick *pick, uint32_t i,
                                      const struct dtx_span *span)
{
	const struct dtx_packed *p = pick->packed;
	uint32_t begin = span_begin(span[i]);
	uint32_t end = span_end(span[(p->n - 1) * (size_t)pick->n + i]);

	return (struct dtx_str){ p->text[batch_of(pick, i)] + begin, end - begin };
}

#define LINE 64u /* of a cache */

static inline void row_near(const struct dtx_pick *pick, uint32_t i, const struct dtx_span *span)
{
	struct dtx_str row = row_text(pick, i, span);

	for (size_t at = 0; at < row.len; at += LINE)
		DTX_PREFETCH(row.ptr + at);
	DTX_PREFETCH(row.ptr + row.len);
}

/* Rows of text one after the other, a line end behind each; their spans move along. */
static void copy_rows(const struct dtx_pick *pick, struct dtx_span *span, char *text)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < pick->n; i++) {
		struct dtx_str row = row_text(pick, i, span);
		uint32_t begin = span_begin(span[i]);

		if (i + AHEAD < pick->n)
			row_near(pick, i + AHEAD, span);
		memcpy(text + at, row.ptr, row.len);
		for (uint32_t k = 0; k < pick->packed->n; k++) {
			struct dtx_span *s = &span[(size_t)k * pick->n + i];

			s->off = s->off - begin + at;
		}
		at += (uint32_t)row.len;
		text[at++] = '\n';
	}
}

static enum dtx_code unpack_far(const struct dtx_pick *pick, struct dtx_span *span, char **text,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t bytes = DTX_CELL_WIDE;

	for (uint32_t i = 0; i < pick->n; i++) {
		unpack_row(pick, i, span);
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
	struct dtx_span *to = dtx_mem_alloc64((size_t)pick->n * p->n + 1, sizeof(*to));
	enum dtx_code rc = DTX_OK;
	char *text = NULL;
	void *block[2];

	if (!to)
		DTX_FAIL_MEM(err);
	if (p->base)
		unpack_near(pick, to);
	else
		DTX_TRY(unpack_far(pick, to, &text, err));
	block[0] = to;
	block[1] = text;
	*cells = (struct dtx_packed_cells){ to, p->base ? p->base : text, NULL };
	cells->owner = dtx_owner_blocks(block, text ? 2 : 1, p->base ? pick->held : NULL);
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
	const struct dtx_column *like = p->batch[0]->col[p->col[k]];
	struct dtx_column *c =
		dtx_column_new(DTX_F_SPAN, type, pick->n, dtx_owner_ref(cells->owner));
	enum dtx_code rc = DTX_OK;

	if (!c)
		DTX_FAIL_MEM(err);
	c->nulls = UINT32_MAX;
	c->v.span = cells->span + (size_t)k * pick->n;
	c->base = cells->base;
	c->delim = like->delim;
	c->quote = like->quote;
	c->narrow = p->base && p->narrow;
	*out = c;
out:
	return rc;
}
