/* Groups, and sort keys, of all rows of a complete table.
 *
 * Groups are numbered in the order of their first rows, whatever the number of workers: each worker
 * numbers the groups of one block of batches, the blocks are merged in order, and the rows of all
 * blocks but the first get the merged numbers.
 *
 * Sort keys of one word (ints, floats, datetimes) are compared as numbers.  All other keys are
 * bytes in one buffer; key[row] is then the end of the row's bytes, and its beginning is the end of
 * the row before. */
#include "ops/group/table/tablekeys.h"

#include "core/base/thread/parallel_for.h"
#include "core/data/blocks.h"
#include "core/data/key.h"
#include "ops/group/table/places.h"

/* --- groups: first of each block of batches, then of all --- */

#define SHARED_MIN 131072 /* with fewer rows one worker is as fast */

struct block {
	const struct dtx_opctx *ox;
	struct dtx_tablekeys *k;
	const struct dtx_groupkeys *keys;
	struct dtx_table *t;
	struct dtx_block is;
	struct dtx_groups *g;
	uint32_t *all; /* for each group of the block its number among all groups; NULL: the same
	                * number */
};

static enum dtx_code block_groups(void *arg, uint64_t i, struct dtx_err *err)
{
	struct block *b = (struct block *)arg + i;
	int64_t at = b->is.at;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_groupkeys_groups(b->keys, &b->g, err));
	for (size_t n = b->is.from; n < b->is.to; n++) {
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(dtx_groupkeys_ids(b->keys, b->g, b->t->batch[n], b->k->id + at, err));
		at += b->t->batch[n]->nrows;
	}
out:
	return rc;
}

/* In the order of the blocks, which is that of the rows. */
static enum dtx_code join_blocks(struct block *b, unsigned n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (unsigned i = 1; i < n; i++) {
		b[i].all = dtx_mem_alloc((size_t)dtx_groups_count(b[i].g) + 1, sizeof(*b[i].all));
		if (!b[i].all)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_groups_merge(b[0].g, b[i].g, b[i].all, err));
	}
out:
	return rc;
}

static enum dtx_code block_renumber(void *arg, uint64_t i, struct dtx_err *err)
{
	const struct block *b = (struct block *)arg + i;
	uint32_t *id = b->k->id;

	(void)err;
	for (int64_t row = b->is.at; b->all && row < b->is.end; row++)
		id[row] = b->all[id[row]];
	return DTX_OK;
}

static enum dtx_code number_groups(struct dtx_tablekeys *k, const struct dtx_opctx *ox,
                                   const struct dtx_groupkeys *keys, struct dtx_table *t,
                                   struct dtx_err *err)
{
	unsigned n = t->nrows < SHARED_MIN ? 1 : DTX_MAX(1, dtx_op_workers(ox));
	struct block *b = dtx_mem_zalloc(n, sizeof(*b));
	enum dtx_code rc = DTX_OK;

	k->id = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*k->id));
	if (!b || !k->id)
		DTX_FAIL_MEM(err);
	for (unsigned i = 0; i < n; i++)
		b[i] = (struct block){ ox, k, keys, t, dtx_block_of(t, n, i), NULL, NULL };
	DTX_TRY(dtx_parallel_for(n, n, block_groups, b, err));
	DTX_TRY(join_blocks(b, n, err));
	DTX_TRY(dtx_parallel_for(n, n, block_renumber, b, err));
	k->n = dtx_groups_count(b[0].g);
out:
	for (unsigned i = 0; b && i < n; i++) {
		dtx_groups_free(b[i].g);
		dtx_mem_free(b[i].all);
	}
	dtx_mem_free(b);
	return rc;
}

enum dtx_code dtx_tablekeys_open(struct dtx_tablekeys *k, const struct dtx_opctx *ox,
                                 const struct dtx_groupkeys *keys, struct dtx_table *t,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*k = (struct dtx_tablekeys){ .n = 1 };
	DTX_TRY(dtx_table_dense(t, err));
	k->nrows = t->nrows;
	if (keys->n)
		DTX_TRY(number_groups(k, ox, keys, t, err));
	k->first = dtx_mem_zalloc((size_t)k->n + 1, sizeof(*k->first));
	if (!k->first)
		DTX_FAIL_MEM(err);
	for (int64_t row = t->nrows - 1; row >= 0; row--)
		k->first[dtx_tablekeys_id(k, row)] = row;
out:
	return rc;
}

void dtx_tablekeys_close(struct dtx_tablekeys *k)
{
	dtx_mem_free(k->id);
	dtx_mem_free(k->first);
	*k = (struct dtx_tablekeys)DTX_TABLEKEYS_INIT;
}

struct gathering {
	struct dtx_places places;
	int64_t *row;
};

static enum dtx_code gather_block(void *arg, uint64_t i, struct dtx_err *err)
{
	struct gathering *g = arg;

	(void)err;
	for (int64_t row = g->places.row[i]; row < g->places.row[i + 1]; row++)
		g->row[dtx_places_next(&g->places, i, row)] = row;
	return DTX_OK;
}

enum dtx_code dtx_tablekeys_rows(const struct dtx_tablekeys *k, const struct dtx_opctx *ox,
                                 int64_t **start, int64_t **row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct gathering g = { DTX_PLACES_INIT,
		               dtx_mem_alloc((size_t)k->nrows + 1, sizeof(*g.row)) };

	if (!g.row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_places_open(&g.places, k, dtx_op_workers(ox), err));
	DTX_TRY(dtx_parallel_for(g.places.nblocks, g.places.nblocks, gather_block, &g, err));
	*start = g.places.start;
	*row = g.row;
	g.places.start = g.row = NULL;
out:
	dtx_places_close(&g.places);
	dtx_mem_free(g.row);
	return rc;
}

enum dtx_code dtx_rowkeys_open(struct dtx_rowkeys *k, int64_t nrows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*k = (struct dtx_rowkeys)DTX_ROWKEYS_INIT;
	dtx_buf_init(&k->bytes, (size_t)1 << 40);
	k->key = dtx_mem_zalloc((size_t)nrows + 1, sizeof(*k->key));
	k->null = dtx_mem_zalloc((size_t)nrows + 1, sizeof(*k->null));
	if (!k->key || !k->null)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

#define SIGN ((uint64_t)1 << 63)

static uint64_t float_word(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits & SIGN ? ~bits : bits | SIGN;
}

static bool is_word(const struct dtx_column *c)
{
	return c->form == DTX_F_FLAT &&
	       (c->type.type == DTX_T_INT64 || c->type.type == DTX_T_FLOAT64 ||
	        c->type.type == DTX_T_DATETIME);
}

/* Keys of one word, which are compared as numbers. */
static void add_words(struct dtx_rowkeys *k, int64_t at, const struct dtx_column *c, bool desc)
{
	uint64_t flip = desc ? ~(uint64_t)0 : 0;

	for (uint32_t row = 0; row < c->len; row++)
		k->key[at + row] =
			flip ^ (c->type.type == DTX_T_FLOAT64 ? float_word(c->v.f64[row])
		                                              : (uint64_t)c->v.i64[row] ^ SIGN);
}

static void add_bytes(struct dtx_rowkeys *k, int64_t at, const struct dtx_column *c, bool desc)
{
	const struct dtx_key_order order = { desc, false, DTX_COLLATE_BINARY };

	for (uint32_t row = 0; row < c->len; row++) {
		dtx_key_sort(c, order, row, &k->bytes);
		k->key[at + row] = k->bytes.len;
	}
}

enum dtx_code dtx_rowkeys_add(struct dtx_rowkeys *k, int64_t at, const struct dtx_column *c,
                              bool desc, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t row = 0; row < c->len; row++)
		k->null[at + row] = dtx_column_is_null(c, row);
	if (at == 0)
		k->words = is_word(c);
	if (!k->words)
		add_bytes(k, at, c, desc);
	else if (is_word(c)) /* otherwise all its values are null */
		add_words(k, at, c, desc);
	if (!dtx_buf_ok(&k->bytes))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_rowkeys_column(struct dtx_rowkeys *k, struct dtx_table *t, int32_t col,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t at = 0;

	DTX_TRY(dtx_rowkeys_open(k, t->nrows, err));
	for (size_t i = 0; i < t->nbatches; i++) {
		struct dtx_column *c = NULL;

		DTX_TRY(dtx_batch_flat(t->batch[i], (uint32_t)col, &c, err));
		rc = dtx_rowkeys_add(k, at, c, false, err);
		dtx_column_unref(c);
		DTX_TRY(rc);
		at += t->batch[i]->nrows;
	}
out:
	return rc;
}

void dtx_rowkeys_close(struct dtx_rowkeys *k)
{
	dtx_buf_clear(&k->bytes);
	dtx_mem_free(k->key);
	dtx_mem_free(k->null);
	*k = (struct dtx_rowkeys)DTX_ROWKEYS_INIT;
}

static struct dtx_str rowkey(const struct dtx_rowkeys *k, int64_t row)
{
	size_t from = row ? (size_t)k->key[row - 1] : 0;

	return (struct dtx_str){ k->bytes.ptr + from, (size_t)k->key[row] - from };
}

int dtx_rowkeys_cmp(const struct dtx_rowkeys *k, int64_t a, int64_t b)
{
	if (k->null[a] || k->null[b])
		return k->null[a] - k->null[b];
	if (k->words)
		return k->key[a] < k->key[b] ? -1 : k->key[a] > k->key[b];
	return dtx_str_cmp(rowkey(k, a), rowkey(k, b));
}

/* Merge sort: it is stable, and the comparison needs a context, which qsort does not pass. */
enum dtx_code dtx_rowkeys_sort(const struct dtx_rowkeys *k, int64_t *row, int64_t n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *from = row, *to = dtx_mem_alloc((size_t)n + 1, sizeof(*to)), *spare = to;

	if (!to)
		DTX_FAIL_MEM(err);
	for (int64_t width = 1; width < n; width *= 2) {
		for (int64_t lo = 0; lo < n; lo += 2 * width) {
			if (lo % (8 * DTX_CANCEL_ROWS) == 0)
				DTX_TRY(dtx_cancel_look(err));
			int64_t mid = DTX_MIN(lo + width, n), hi = DTX_MIN(lo + 2 * width, n);
			int64_t a = lo, b = mid;

			for (int64_t i = lo; i < hi; i++)
				to[i] = a < mid && (b >= hi ||
				                    dtx_rowkeys_cmp(k, from[a], from[b]) <= 0)
				                ? from[a++]
				                : from[b++];
		}
		int64_t *t = from;

		from = to;
		to = t;
	}
	if (from != row)
		memcpy(row, from, (size_t)n * sizeof(*row));
out:
	dtx_mem_free(spare);
	return rc;
}
