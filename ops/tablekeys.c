/* Groups and sort keys of all rows of a table that is at rest. */
#include "ops/tablekeys.h"

#include "core/data/key.h"

enum dtx_code dtx_tablekeys_open(struct dtx_tablekeys *k, const struct dtx_groupkeys *keys,
                                 struct dtx_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_groups *g = NULL;
	int64_t at = 0;

	*k = (struct dtx_tablekeys){ .n = 1 };
	DTX_TRY(dtx_table_dense(t, err));
	k->nrows = t->nrows;
	if (keys->n) {
		k->id = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*k->id));
		if (!k->id)
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_groupkeys_groups(keys, &g, err));
		for (size_t i = 0; i < t->nbatches; i++) {
			DTX_TRY(dtx_groupkeys_ids(keys, g, t->batch[i], k->id + at, err));
			at += t->batch[i]->nrows;
		}
		k->n = dtx_groups_count(g);
	}
	k->first = dtx_mem_zalloc((size_t)k->n + 1, sizeof(*k->first));
	if (!k->first)
		DTX_FAIL_MEM(err);
	for (int64_t row = t->nrows - 1; row >= 0; row--)
		k->first[dtx_tablekeys_id(k, row)] = row;
out:
	dtx_groups_free(g);
	return rc;
}

void dtx_tablekeys_close(struct dtx_tablekeys *k)
{
	dtx_mem_free(k->id);
	dtx_mem_free(k->first);
	*k = (struct dtx_tablekeys)DTX_TABLEKEYS_INIT;
}

enum dtx_code dtx_tablekeys_rows(const struct dtx_tablekeys *k, int64_t **start, int64_t **row,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *at = dtx_mem_zalloc((size_t)k->n + 2, sizeof(*at));
	int64_t *to = dtx_mem_alloc((size_t)k->nrows + 1, sizeof(*to));

	if (!at || !to)
		DTX_FAIL_MEM(err);
	/* counting sort: at[g + 1] is where group g goes on, and in the end where it stops */
	for (int64_t r = 0; r < k->nrows; r++)
		if (dtx_tablekeys_id(k, r) + 2 <= k->n)
			at[dtx_tablekeys_id(k, r) + 2]++;
	for (uint32_t g = 2; g <= k->n; g++)
		at[g] += at[g - 1];
	for (int64_t r = 0; r < k->nrows; r++)
		to[at[dtx_tablekeys_id(k, r) + 1]++] = r;
	*start = at;
	*row = to;
	at = to = NULL;
out:
	dtx_mem_free(at);
	dtx_mem_free(to);
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

/* Keys of one word: they are compared as numbers. */
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
	else if (is_word(c)) /* else it is all nulls */
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

/* Merge sort: stable, and the comparison may look at its context. */
enum dtx_code dtx_rowkeys_sort(const struct dtx_rowkeys *k, int64_t *row, int64_t n,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *from = row, *to = dtx_mem_alloc((size_t)n + 1, sizeof(*to)), *spare = to;

	if (!to)
		DTX_FAIL_MEM(err);
	for (int64_t width = 1; width < n; width *= 2) {
		for (int64_t lo = 0; lo < n; lo += 2 * width) {
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
