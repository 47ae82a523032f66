/* Sorts rows by normalised keys: see sorter.h.
 *
 * The rows of a run are sorted by a radix sort from the most significant bits (MSD).  It does not
 * start at the first bit: keys of one column usually share a tag and many leading bytes, so each
 * step looks for the first bit in which two keys differ at all and splits by up to 11 bits from
 * there on.  Few rows are cheaper to sort by insertion.  Where the 16 bytes of a key that a row
 * holds are all equal, only comparisons of the whole keys can decide, so such rows go to a merge
 * sort.
 *
 * A top-n run drops rows as it goes: when it has several times the rows that can matter, it is
 * sorted and cut, and batches that no row refers to any more are freed. */
#include "ops/sort/sorter.h"

#include "core/base/thread/pool.h"

/* A top-n run is reduced when it has this many times the rows that it keeps. */
#define SLACK 4

void dtx_sorter_init(struct dtx_sorter *s, size_t keep)
{
	*s = (struct dtx_sorter){ .keep = keep };
	dtx_buf_init(&s->bytes, SIZE_MAX / 2);
	dtx_buf_init(&s->one, SIZE_MAX / 2);
}

void dtx_sorter_clear(struct dtx_sorter *s)
{
	dtx_kept_clear(&s->kept);
	dtx_mem_free(s->row);
	dtx_buf_clear(&s->bytes);
	dtx_buf_clear(&s->one);
	s->row = NULL;
	s->n = s->cap = 0;
}

void dtx_sorter_reset(struct dtx_sorter *s)
{
	size_t keep = s->keep;

	dtx_sorter_clear(s);
	dtx_sorter_init(s, keep);
}

static uint64_t big_endian(const unsigned char *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* The end of a key is part of its encoding, so zeros after a short key never decide a
 * comparison. */
static bool row_key(const struct dtx_buf *one, struct dtx_buf *bytes, struct dtx_sort_row *r)
{
	unsigned char head[16] = { 0 };
	uint32_t len;

	if (!dtx_buf_ok(one))
		return false;
	memcpy(head, one->ptr, DTX_MIN(one->len, sizeof(head)));
	r->key[0] = big_endian(head);
	r->key[1] = big_endian(head + 8);
	r->rest = 0;
	if (one->len <= sizeof(head))
		return true;
	if (bytes->len == 0)
		dtx_buf_addc(bytes, 0); /* offset 0 means that there is no rest */
	r->rest = bytes->len;
	len = (uint32_t)one->len;
	dtx_buf_addn(bytes, &len, sizeof(len));
	dtx_buf_addn(bytes, one->ptr, len);
	return dtx_buf_ok(bytes);
}

bool dtx_sort_key(struct dtx_column *const *key, const struct dtx_key_order *order, size_t nkeys,
                  uint32_t row, struct dtx_buf *one, struct dtx_buf *bytes, struct dtx_sort_row *r)
{
	dtx_buf_reset(one);
	for (size_t k = 0; k < nkeys; k++)
		dtx_key_sort(key[k], order[k], row, one);
	return row_key(one, bytes, r);
}

/* --- which row comes first --- */

struct dtx_sorted dtx_sorter_run(const struct dtx_sorter *s)
{
	return (struct dtx_sorted){ s->row, s->n, s->bytes.ptr, s->kept.batch, s->kept.n, NULL };
}

static struct dtx_str rest_of(const struct dtx_sorted *s, const struct dtx_sort_row *r)
{
	uint32_t len;

	memcpy(&len, s->bytes + r->rest, sizeof(len));
	return (struct dtx_str){ s->bytes + r->rest + sizeof(len), len };
}

static uint64_t pos_of(const struct dtx_sorted *s, const struct dtx_sort_row *r)
{
	return s->pos ? s->pos[r - s->row] : dtx_batch_pos(s->batch[r->batch], r->row);
}

int dtx_sorted_cmp(const struct dtx_sorted *a, const struct dtx_sort_row *x,
                   const struct dtx_sorted *b, const struct dtx_sort_row *y)
{
	uint64_t p, q;
	int c;

	if (x->key[0] != y->key[0])
		return x->key[0] < y->key[0] ? -1 : 1;
	if (x->key[1] != y->key[1])
		return x->key[1] < y->key[1] ? -1 : 1;
	if (x->rest && y->rest) {
		c = dtx_str_cmp(rest_of(a, x), rest_of(b, y));
		if (c)
			return c;
	}
	p = pos_of(a, x);
	q = pos_of(b, y);
	return p < q ? -1 : p > q;
}

bool dtx_sorted_same(const struct dtx_sorted *a, const struct dtx_sort_row *x,
                     const struct dtx_sorted *b, const struct dtx_sort_row *y)
{
	if (x->key[0] != y->key[0] || x->key[1] != y->key[1] || !x->rest != !y->rest)
		return false;
	return !x->rest || dtx_str_cmp(rest_of(a, x), rest_of(b, y)) == 0;
}

/* --- one run --- */

static inline bool before(const struct dtx_sorted *s, const struct dtx_sort_row *x,
                          const struct dtx_sort_row *y)
{
	if (x->key[0] != y->key[0])
		return x->key[0] < y->key[0];
	return dtx_sorted_cmp(s, x, s, y) < 0;
}

static void insertion(const struct dtx_sorted *s, struct dtx_sort_row *row, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct dtx_sort_row r = row[i];
		size_t k = i;

		for (; k && before(s, &r, &row[k - 1]); k--)
			row[k] = row[k - 1];
		row[k] = r;
	}
}

static void merge_two(const struct dtx_sorted *s, const struct dtx_sort_row *from, size_t mid,
                      size_t n, struct dtx_sort_row *to)
{
	size_t i = 0, k = mid, at = 0;

	while (i < mid && k < n)
		to[at++] = before(s, &from[k], &from[i]) ? from[k++] : from[i++];
	memcpy(to + at, from + i, (mid - i) * sizeof(*to));
	at += mid - i;
	memcpy(to + at, from + k, (n - k) * sizeof(*to));
}

/* Called before work on n rows: a cancelled sort ends early, and dtx_sort_rows then returns the
 * reason. */
static bool halted(size_t n)
{
	return n >= DTX_CANCEL_ROWS && dtx_cancel_now();
}

/* Bottom-up merge sort of row[0, n), with insertion sort for blocks of 16.  tmp has the same
 * size. */
static struct dtx_sort_row *merge_sort(const struct dtx_sorted *s, struct dtx_sort_row *row,
                                       struct dtx_sort_row *tmp, size_t n)
{
	for (size_t i = 0; i < n; i += 16)
		insertion(s, row + i, DTX_MIN((size_t)16, n - i));
	for (size_t width = 16; width < n && !halted(n); width *= 2) {
		struct dtx_sort_row *t = row;

		for (size_t i = 0; i < n && !halted(2 * width); i += 2 * width)
			merge_two(s, row + i, DTX_MIN(width, n - i), DTX_MIN(2 * width, n - i),
			          tmp + i);
		row = tmp;
		tmp = t;
	}
	return row;
}

/* --- radix sort by the bits in which keys differ, from the top (MSD) --- */

#define RADIX_BITS 11u
#define RADIX_MIN  64u /* with fewer rows insertion sort is faster */

/* Rows are split by `bits` bits of key[word], from bit `shift` on.  All bits above are equal in all
 * rows. */
struct digit {
	unsigned word, shift, bits;
};

/* Finds the first bits in which keys differ.  False: the first 16 bytes of all keys are equal. */
static bool digit_find(const struct dtx_sort_row *row, size_t n, struct digit *d)
{
	uint64_t differ[2] = { 0, 0 };
	unsigned top, most = 63 - (unsigned)__builtin_clzll(n) - 2;

	for (size_t i = 1; i < n; i++) {
		differ[0] |= row[i].key[0] ^ row[0].key[0];
		differ[1] |= row[i].key[1] ^ row[0].key[1];
	}
	if (!differ[0] && !differ[1])
		return false;
	d->word = differ[0] == 0;
	top = 64 - (unsigned)__builtin_clzll(differ[d->word]);
	d->bits = DTX_MIN(DTX_MIN(top, most), RADIX_BITS);
	d->shift = top - d->bits;
	return true;
}

static inline uint32_t digit_of(const struct digit *d, const struct dtx_sort_row *r)
{
	return (uint32_t)(r->key[d->word] >> d->shift) & ((1u << d->bits) - 1);
}

/* Moves rows to where their digit belongs.  Those of digit k end at end[k], which must be 0
 * before. */
static void split(const struct digit *d, const struct dtx_sort_row *row, struct dtx_sort_row *to,
                  size_t n, uint32_t *end)
{
	for (size_t i = 0; i < n; i++)
		end[digit_of(d, &row[i])]++;
	dtx_counts_to_starts(end, 1u << d->bits, 0);
	for (size_t i = 0; i < n; i++)
		to[end[digit_of(d, &row[i])]++] = row[i];
}

/* Sorts row[0, n) with scratch of the same size.  The result is in `row`, or in `to` if `into` is
 * set. */
static void radix_sort(const struct dtx_sorted *s, struct dtx_sort_row *row,
                       struct dtx_sort_row *to, size_t n, bool into)
{
	uint32_t end[1u << RADIX_BITS] = { 0 };
	struct dtx_sort_row *done = row;
	struct digit d = { 0, 0, 0 };

	if (n < RADIX_MIN)
		insertion(s, row, n);
	else if (!digit_find(row, n, &d))
		done = merge_sort(s, row, to, n);
	else
		done = NULL;
	if (done) {
		if ((done == to) != into)
			memcpy(into ? to : row, done, n * sizeof(*row));
		return;
	}
	if (halted(n))
		return;
	split(&d, row, to, n, end);
	for (uint32_t k = 0, from = 0; k < 1u << d.bits; from = end[k++])
		if (end[k] > from)
			radix_sort(s, to + from, row + from, end[k] - from, !into);
}

/* --- one worker does the first split, then all workers sort the parts --- */

#define SHARED_MIN 65536u /* with fewer rows one worker is as fast */

struct shared_sort {
	struct dtx_sorted view;
	struct dtx_sort_row *row, *tmp;
	uint32_t end[1u << RADIX_BITS];
	unsigned digits;
	_Atomic unsigned next;
};

static enum dtx_code sort_digits(void *arg, unsigned worker, struct dtx_err *err)
{
	struct shared_sort *h = arg;

	(void)worker;
	(void)err;
	for (unsigned k; (k = atomic_fetch_add(&h->next, 1)) < h->digits;) {
		uint32_t from = k ? h->end[k - 1] : 0;

		if (h->end[k] > from && !halted(h->end[k] - from))
			radix_sort(&h->view, h->tmp + from, h->row + from, h->end[k] - from, true);
	}
	return DTX_OK;
}

/* *done stays false if the first bytes of all keys are equal; then nothing was done. */
static enum dtx_code sort_shared(const struct dtx_sorted *view, struct dtx_sort_row *row,
                                 struct dtx_sort_row *tmp, size_t n, unsigned workers, bool *done,
                                 struct dtx_err *err)
{
	struct shared_sort *h = dtx_mem_zalloc(1, sizeof(*h));
	enum dtx_code rc = DTX_OK;
	struct digit d;

	if (!h)
		DTX_FAIL_MEM(err);
	*done = digit_find(row, n, &d);
	if (!*done)
		goto out;
	h->view = *view;
	h->row = row;
	h->tmp = tmp;
	h->digits = 1u << d.bits;
	split(&d, row, tmp, n, h->end);
	DTX_TRY(dtx_pool_run(workers, sort_digits, h, err));
out:
	dtx_mem_free(h);
	return rc;
}

enum dtx_code dtx_sort_rows(const struct dtx_sorted *view, struct dtx_sort_row *row,
                            struct dtx_sort_row *tmp, size_t n, unsigned workers,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool done = n < 2;

	if (workers > 1 && n >= SHARED_MIN)
		DTX_TRY(sort_shared(view, row, tmp, n, workers, &done, err));
	if (!done)
		radix_sort(view, row, tmp, n, false);
	DTX_TRY(dtx_cancel_look(err));
out:
	return rc;
}

enum dtx_code dtx_sorter_sort(struct dtx_sorter *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_sorted view = dtx_sorter_run(s);
	struct dtx_sort_row *tmp = NULL;

	if (s->n < 2)
		return DTX_OK;
	if (s->n >= UINT32_MAX)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "sort: a run has more than 4 billion rows");
	tmp = dtx_mem_alloc(s->n, sizeof(*tmp));
	if (!tmp)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_sort_rows(&view, s->row, tmp, s->n, 1, err));
	s->n = DTX_MIN(s->n, s->keep);
out:
	dtx_mem_free(tmp);
	return rc;
}

/* --- adding rows --- */

/* Frees batches that no kept row refers to. */
static enum dtx_code drop_batches(struct dtx_sorter *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *to = dtx_mem_zalloc(s->kept.n + 1, sizeof(*to));
	uint32_t at = 0;

	if (!to)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < s->n; i++)
		to[s->row[i].batch] = 1;
	for (size_t i = 0; i < s->kept.n; i++) {
		struct dtx_batch *b = s->kept.batch[i];

		if (!to[i]) {
			dtx_batch_free(b);
			continue;
		}
		to[i] = at;
		s->kept.batch[at++] = b;
	}
	s->kept.n = at;
	for (size_t i = 0; i < s->n; i++)
		s->row[i].batch = to[s->row[i].batch];
out:
	dtx_mem_free(to);
	return rc;
}

static enum dtx_code cut_back(struct dtx_sorter *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (s->keep > SIZE_MAX / SLACK || s->n < s->keep * SLACK + DTX_BATCH_ROWS)
		return DTX_OK;
	DTX_TRY(dtx_sorter_sort(s, err));
	DTX_TRY(drop_batches(s, err));
out:
	return rc;
}

enum dtx_code dtx_sorter_add(struct dtx_sorter *s, const struct dtx_batch *b,
                             struct dtx_column *const *key, const struct dtx_key_order *order,
                             size_t nkeys, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t batch = (uint32_t)s->kept.n;

	if (!s->n)
		s->before = dtx_mem_used();
	if (!dtx_mem_reserve(&s->row, &s->cap, s->n + b->nrows, sizeof(*s->row)))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_kept_add(&s->kept, b, err));
	for (uint32_t row = 0; row < b->nrows; row++) {
		struct dtx_sort_row *r = &s->row[s->n];

		if (!dtx_sort_key(key, order, nkeys, row, &s->one, &s->bytes, r))
			DTX_FAIL_MEM(err);
		r->batch = batch;
		r->row = row;
		s->n++;
	}
	DTX_TRY(cut_back(s, err));
out:
	return rc;
}
