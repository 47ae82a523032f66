/* Short cells of kept rows as records: see row_store.h.
 *
 * Picking a row at random from columns costs up to two cache misses per column, one for the span
 * and one for its text.  A record costs a few misses for the whole row.  All records of a batch
 * have the same stride, so a record is found without an index; cells are copied as whole words, and
 * bytes after the end of a record are overwritten by the next one. */
#include "ops/kit/row_store.h"

#include "core/base/memory/prefetch.h"
#include "core/data/cells.h"
#include "ops/kit/opkit.h"

#define CELL_LEN    0x7fu
#define CELL_QUOTED 0x80u
#define CELL_MOST   16u /* most bytes of a record per cell: twice the size of its span */
#define STRIDE_MAX  256u
#define WORD        ((uint32_t)sizeof(uint64_t))

void dtx_row_store_free(struct dtx_row_store *r)
{
	if (!r)
		return;
	dtx_mem_free(r->rec);
	dtx_mem_free(r);
}

/* --- from columns to records --- */

enum dtx_code dtx_row_store_new(const struct dtx_row_store *like, uint32_t n,
                                struct dtx_row_store **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_row_store *r = dtx_mem_zalloc(1, sizeof(*r));

	if (!r)
		DTX_FAIL_MEM(err);
	*r = *like;
	r->rec = dtx_mem_alloc64((size_t)n * r->stride + DTX_CELL_WIDE + 1, 1);
	if (!r->rec)
		DTX_FAIL_MEM(err);
	*out = r;
	r = NULL;
out:
	dtx_row_store_free(r);
	return rc;
}

/* The columns whose cells become records, and the end of their text: the bytes before it are
 * readable. */
struct taken {
	const struct dtx_batch *b;
	const uint32_t *col;
	uint32_t n, longest; /* longest: of the records */
	const char **end;    /* per column */
};

static inline const struct dtx_column *taken_column(const struct taken *t, uint32_t k)
{
	return t->b->col[t->col[k]];
}

static inline uint32_t raw_len(struct dtx_span s)
{
	return (s.len & DTX_SPAN_LEN) + 2 * (s.len >> 31);
}

static bool takes(const struct taken *t)
{
	const struct dtx_column *first = taken_column(t, 0);

	for (uint32_t k = 0; k < t->n; k++) {
		const struct dtx_column *c = taken_column(t, k);

		if (!c || c->form != DTX_F_SPAN || c->valid ||
		    !dtx_celldialect_same(c->dialect, first->dialect))
			return false;
	}
	return !t->b->sel;
}

/* False: the cells of a row are too long. */
static bool measure(struct taken *t)
{
	uint32_t most = DTX_MIN(t->n * CELL_MOST, STRIDE_MAX), wide = 0;

	for (uint32_t k = 0; k < t->n; k++)
		t->end[k] = taken_column(t, k)->base;
	for (uint32_t row = 0; row < t->b->nrows; row++) {
		uint32_t bytes = 2 * t->n;

		for (uint32_t k = 0; k < t->n; k++) {
			const struct dtx_column *c = taken_column(t, k);
			struct dtx_span s = c->v.span[row];
			const char *end = c->base + s.off + (s.len & DTX_SPAN_LEN);

			wide |= (s.len & DTX_SPAN_LEN) > CELL_LEN;
			bytes += raw_len(s);
			t->end[k] = end > t->end[k] ? end : t->end[k];
		}
		t->longest = DTX_MAX(t->longest, bytes);
	}
	return !wide && t->longest <= most;
}

/* Copies the cells of one row.  It copies whole words; the bytes after the record are overwritten
 * by the next row. */
static inline void take_row(const struct taken *t, uint32_t row, char delim, uint8_t *to)
{
	char *text = (char *)to + t->n;

	for (uint32_t k = 0; k < t->n; k++) {
		const struct dtx_column *c = taken_column(t, k);
		struct dtx_span s = c->v.span[row];
		uint32_t len = raw_len(s);
		const char *from = c->base + s.off - (s.len >> 31);

		to[k] = (uint8_t)((s.len & DTX_SPAN_LEN) | (s.len >> 31) * CELL_QUOTED);
		if (len <= DTX_CELL_WIDE && !c->narrow &&
		    (size_t)(t->end[k] - from) >= DTX_CELL_WIDE)
			memcpy(text, from, DTX_CELL_WIDE);
		else
			memcpy(text, from, len);
		text += len;
		*text++ = k + 1 < t->n ? delim : '\n';
	}
}

static enum dtx_code take_rows(const struct taken *t, struct dtx_row_store **out,
                               struct dtx_err *err)
{
	const struct dtx_column *first = taken_column(t, 0);
	const struct dtx_row_store like = { (t->longest + WORD - 1) / WORD * WORD, t->longest,
		                            first->dialect, NULL };
	enum dtx_code rc = DTX_OK;
	struct dtx_row_store *r = NULL;

	DTX_TRY(dtx_row_store_new(&like, t->b->nrows, &r, err));
	for (uint32_t row = 0; row < t->b->nrows; row++)
		take_row(t, row, r->dialect.delim, r->rec + (size_t)row * r->stride);
	*out = r;
out:
	return rc;
}

enum dtx_code dtx_row_store_take(struct dtx_batch *b, const uint32_t *col, uint32_t n,
                                 struct dtx_row_store **out, struct dtx_err *err)
{
	struct taken t = { .b = b, .col = col, .n = n, .longest = WORD };
	enum dtx_code rc = DTX_OK;

	if (!n || 2 * n > STRIDE_MAX || !takes(&t))
		return DTX_OK;
	t.end = dtx_mem_alloc(n, sizeof(*t.end));
	if (!t.end)
		DTX_FAIL_MEM(err);
	if (!measure(&t))
		goto out;
	DTX_TRY(take_rows(&t, out, err));
	for (uint32_t k = 0; k < n; k++)
		dtx_batch_put(b, col[k], NULL);
out:
	dtx_mem_free(t.end);
	return rc;
}

/* --- and back --- */

/* Sets the spans of the record at `rec`: that of place k to to[k * n].  Its cells begin at `text`.
 * Returns where the next text begins. */
static inline uint32_t record_spans(const uint8_t *rec, uint32_t ncells, uint32_t text, size_t n,
                                    struct dtx_span *to)
{
	for (uint32_t k = 0; k < ncells; k++) {
		uint32_t quote = rec[k] >> 7, len = rec[k] & CELL_LEN;

		to[k * n] = (struct dtx_span){ text + quote, len | quote << 31 };
		text += len + 2 * quote + 1;
	}
	return text;
}

/* Makes columns of n rows each from spans and a text, which they share. */
static enum dtx_code make_columns(const struct dtx_row_store *like, const struct dtx_typeref *type,
                                  uint32_t ncells, uint32_t n, const struct dtx_span *span,
                                  const char *text, struct dtx_owner *owner, struct dtx_column **to,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t k = 0; k < ncells; k++) {
		to[k] = dtx_column_new(DTX_F_SPAN, type[k], n, dtx_owner_ref(owner));
		if (!to[k])
			DTX_FAIL_MEM(err);
		to[k]->nulls = UINT32_MAX;
		to[k]->v.span = span + (size_t)k * n;
		to[k]->base = text;
		to[k]->dialect = like->dialect;
	}
out:
	for (uint32_t k = 0; rc != DTX_OK && k < ncells; k++) {
		dtx_column_unref(to[k]);
		to[k] = NULL;
	}
	return rc;
}

enum dtx_code dtx_row_store_back(struct dtx_row_store *r, const uint32_t *col, uint32_t n,
                                 struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_span *span = dtx_mem_alloc64((size_t)b->nrows * n + 1, sizeof(*span));
	struct dtx_column **made = dtx_mem_zalloc(n, sizeof(struct dtx_column *));
	struct dtx_typeref *type = dtx_mem_alloc(n, sizeof(*type));
	struct dtx_owner *owner = NULL;
	enum dtx_code rc = DTX_OK;
	void *block[2] = { span, r->rec };
	const char *text = (const char *)r->rec;

	if (!span || !made || !type)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; k < n; k++)
		type[k] = b->schema->field[col[k]].type;
	for (uint32_t row = 0; row < b->nrows; row++) {
		uint32_t at = row * r->stride;

		record_spans(r->rec + at, n, at + n, b->nrows, span + row);
	}
	owner = dtx_owner_blocks(block, DTX_COUNT(block), NULL);
	span = NULL;
	r->rec = NULL;
	if (!owner)
		DTX_FAIL_MEM(err);
	DTX_TRY(make_columns(r, type, n, b->nrows, block[0], text, owner, made, err));
	for (uint32_t k = 0; k < n; k++)
		dtx_batch_put(b, col[k], made[k]);
	dtx_row_store_free(r);
out:
	dtx_owner_unref(owner);
	dtx_mem_free(span);
	dtx_mem_free(made);
	dtx_mem_free(type);
	return rc;
}

/* --- many batches --- */

void dtx_row_store_set_free(struct dtx_row_store_set *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->batch && i < s->nbatches; i++)
		dtx_row_store_free(s->batch[i]);
	dtx_mem_free(s->batch);
	dtx_mem_free(s->place);
	dtx_mem_free(s);
}

bool dtx_row_store_alike(struct dtx_row_store *const *batch, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!batch[i] || !dtx_celldialect_same(batch[i]->dialect, batch[0]->dialect))
			return false;
	return n > 0;
}

enum dtx_code dtx_row_store_set_new(const uint32_t *col, uint32_t n, uint32_t ncols,
                                    struct dtx_row_store **batch, uint32_t nbatches,
                                    struct dtx_row_store_set **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_row_store_set *s = dtx_mem_zalloc(1, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	s->n = n;
	s->batch = batch;
	s->nbatches = nbatches;
	batch = NULL;
	s->widest = 2 * n; /* the record of a row of nulls */
	for (uint32_t i = 0; i < nbatches; i++)
		s->widest = DTX_MAX(s->widest, s->batch[i]->stride);
	s->place = dtx_mem_alloc(ncols, sizeof(*s->place));
	if (!s->place)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < ncols; i++)
		s->place[i] = -1;
	for (uint32_t k = 0; k < n; k++)
		s->place[col[k]] = (int32_t)k;
	*out = s;
	s = NULL;
out:
	for (uint32_t i = 0; batch && i < nbatches; i++)
		dtx_row_store_free(batch[i]);
	dtx_mem_free(batch);
	dtx_row_store_set_free(s);
	return rc;
}

/* --- picked rows --- */

#define AHEAD 48u

static inline const uint8_t *record_at(const struct dtx_row_store_set *s, uint32_t which,
                                       uint32_t row)
{
	const struct dtx_row_store *r = s->batch[which];

	return r->rec + (size_t)row * r->stride;
}

/* Records are in random places: prefetch later ones while earlier ones are copied. */
static inline void record_near(const struct dtx_row_store_set *s, uint32_t which, uint32_t row)
{
	const uint8_t *rec;

	if (which == DTX_NOWHERE)
		return;
	rec = record_at(s, which, row);
	DTX_PREFETCH(rec);
	DTX_PREFETCH(rec + s->batch[which]->stride - 1);
}

/* The record of a row of nulls. */
static void record_empty(const struct dtx_row_store_set *s, uint8_t *rec)
{
	memset(rec, 0, s->n);
	memset(rec + s->n, s->batch[0]->dialect.delim, s->n);
	rec[2 * s->n - 1] = '\n';
}

/* Copies the text of the rows one after the other and sets the spans of its cells: to[k * n + i]
 * for place k. */
static void copy_rows(const struct dtx_row_store_set *s, const uint32_t *which, const uint32_t *row,
                      uint32_t n, char *text, struct dtx_span *to)
{
	uint8_t none[STRIDE_MAX + WORD];
	uint32_t at = 0;

	record_empty(s, none);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *rec = none;
		uint32_t bytes = 2 * s->n;

		if (i + AHEAD < n)
			record_near(s, which[i + AHEAD], row[i + AHEAD]);
		if (which[i] != DTX_NOWHERE) {
			rec = record_at(s, which[i], row[i]);
			bytes = s->batch[which[i]]->stride;
		}
		/* it copies whole words; the next row overwrites what is too much */
		for (uint32_t b = s->n; b < bytes; b += WORD)
			memcpy(text + at + b - s->n, rec + b, WORD);
		at = record_spans(rec, s->n, at, n, to + i);
	}
}

enum dtx_code dtx_row_store_pick(const struct dtx_row_store_set *s, const uint32_t *which,
                                 const uint32_t *row, uint32_t n, const struct dtx_typeref *type,
                                 struct dtx_column **to, struct dtx_err *err)
{
	struct dtx_span *span = dtx_mem_alloc64((size_t)n * s->n + 1, sizeof(*span));
	char *text = dtx_mem_alloc64((size_t)n * s->widest + 2 * WORD, 1);
	enum dtx_code rc = DTX_OK;
	struct dtx_owner *owner = NULL;
	void *block[2] = { span, text };

	if (!span || !text)
		DTX_FAIL_MEM(err);
	copy_rows(s, which, row, n, text, span);
	owner = dtx_owner_blocks(block, DTX_COUNT(block), NULL);
	span = NULL;
	text = NULL;
	if (!owner)
		DTX_FAIL_MEM(err);
	DTX_TRY(make_columns(s->batch[0], type, s->n, n, block[0], block[1], owner, to, err));
out:
	dtx_owner_unref(owner);
	dtx_mem_free(span);
	dtx_mem_free(text);
	return rc;
}
