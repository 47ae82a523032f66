/* The buffers of a record batch: unpacked, and checked once, so that values can be read without
 * checks: offsets are in order and inside, numbers in a dictionary have a value there. */
#include "core/base/memory/mem.h"
#include "core/base/text/le.h"
#include "core/io/archive/archive_limits.h"
#include "core/io/arrow/arrow.h"

/* Smaller buffers may unpack as well as they like: a record batch may have all rows of a file, and
 * zstd packs equal numbers 1 : 10,000. What is needed of a batch is in memory at once, and the
 * memory of the process is limited. */
#define RATIO_FROM     ((size_t)256 << 20)
#define DICTIONARY_MAX ((int64_t)1 << 28)
enum { ZSTD = 6 }; /* as Parquet numbers it */

/* Memory of buffers that were unpacked. */
struct blocks {
	void **item;
	size_t n, cap;
};

static void free_blocks(void *arg)
{
	struct blocks *all = arg;

	for (size_t i = 0; i < all->n; i++)
		dtx_mem_free(all->item[i]);
	dtx_mem_free(all->item);
	dtx_mem_free(all);
}

/* Goes through the arrays of a record batch, in the order of the schema's nodes. */
struct walk {
	struct dtx_arrow_batch *b;
	const struct dtx_arrow_file *f;
	const struct dtx_arrow_message *m;
	const bool *need;
	struct dtx_fb_vector nodes, buffers, variadic;
	uint32_t at_node, at_buffer, at_variadic;
	bool packed, zstd;
	struct blocks *blocks;
};

struct bytes {
	const uint8_t *p;
	uint64_t n;
};

static enum dtx_code corrupt(const struct walk *w, uint32_t node, const char *what,
                             struct dtx_err *err)
{
	return dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	                   "'%s': column '%.100s', rows from %lld on, is damaged: %s", w->f->label,
	                   w->f->node[node].name, (long long)w->m->first_row + 1, what);
}

/* --- buffers --- */

/* A packed buffer begins with the number of its bytes; -1: it is not packed. */
static enum dtx_code unpack(struct walk *w, uint32_t node, struct bytes *io, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_archive_limits *l = w->f->limits;
	struct dtx_pq_file like = { .label = w->f->label, .limits = l };
	struct dtx_str in;
	uint8_t *to;
	uint64_t size;

	if (io->n < 8)
		return corrupt(w, node, "a packed buffer has no size", err);
	size = dtx_le_u64(io->p);
	in = (struct dtx_str){ (const char *)io->p + 8, (size_t)io->n - 8 };
	*io = (struct bytes){ (const uint8_t *)in.ptr, in.len };
	if (size == UINT64_MAX)
		return DTX_OK;
	if (size > l->part)
		return dtx_archive_limits_fail(err, l, "part",
		                               "'%s': a buffer of column '%.100s' unpacks to %llu "
		                               "bytes",
		                               w->f->label, w->f->node[node].name,
		                               (unsigned long long)size);
	if (size > RATIO_FROM && size / l->ratio > in.len)
		return dtx_archive_limits_fail(err, l, "ratio",
		                               "'%s': a buffer of column '%.100s' unpacks from "
		                               "%zu bytes to %llu",
		                               w->f->label, w->f->node[node].name, in.len,
		                               (unsigned long long)size);
	if (!dtx_mem_reserve(&w->blocks->item, &w->blocks->cap, w->blocks->n + 1,
	                     sizeof(*w->blocks->item)))
		DTX_FAIL_MEM(err);
	to = dtx_mem_alloc((size_t)size + 1, 1);
	if (!to)
		DTX_FAIL_MEM(err);
	w->blocks->item[w->blocks->n++] = to;
	if (w->zstd)
		DTX_TRY(dtx_pq_unpack(&like, ZSTD, in, to, (size_t)size, err));
	else
		DTX_TRY(dtx_pq_unpack_lz4_frame(&like, in, to, (size_t)size, err));
	*io = (struct bytes){ to, size };
out:
	return rc;
}

/* The next buffer; it is only read if the node is needed. */
static enum dtx_code next_buffer(struct walk *w, uint32_t node, struct bytes *out,
                                 struct dtx_err *err)
{
	const uint8_t *p;
	uint64_t at, n;

	*out = (struct bytes){ w->f->bytes, 0 };
	if (w->at_buffer == w->buffers.n)
		return corrupt(w, node, "its record batch has too few buffers", err);
	p = w->buffers.fb->p + w->buffers.at + 16 * (size_t)w->at_buffer++;
	at = dtx_le_u64(p);
	n = dtx_le_u64(p + 8);
	if (at > w->m->nbody || n > w->m->nbody - at)
		return corrupt(w, node, "a buffer is not within its record batch", err);
	if (!w->need[node] || !n)
		return DTX_OK;
	*out = (struct bytes){ w->f->bytes + w->m->body + at, n };
	return w->packed ? unpack(w, node, out, err) : DTX_OK;
}

/* --- checks --- */

static bool absent(const struct dtx_arrow_array *a, int64_t i)
{
	return a->valid && !(a->valid[i >> 3] >> (i & 7) & 1);
}

static int64_t offset(const struct dtx_arrow_array *a, uint32_t width, int64_t i)
{
	return width == 4 ? (int32_t)dtx_le_u32(a->data + 4 * i)
	                  : (int64_t)dtx_le_u64(a->data + 8 * i);
}

/* Whether n + 1 offsets begin at 0 or later, and never go down. */
static bool in_order(const struct dtx_arrow_array *a, uint32_t width)
{
	int64_t last = 0, i;

	for (i = 0; i <= a->n; i++) {
		int64_t at = offset(a, width, i);

		if (at < last)
			return false;
		last = at;
	}
	return true;
}

static enum dtx_code check_views(const struct walk *w, uint32_t node, struct dtx_err *err)
{
	const struct dtx_arrow_array *a = &w->b->array[node];
	int64_t i;

	for (i = 0; i < a->n; i++) {
		const uint8_t *p = a->data + 16 * i;
		uint32_t n = dtx_le_u32(p), piece = dtx_le_u32(p + 8), at = dtx_le_u32(p + 12);

		if (n > DTX_TEXT_INLINE && !absent(a, i) &&
		    (piece >= a->npieces || at > a->piece[piece].len ||
		     n > a->piece[piece].len - at))
			return corrupt(w, node, "a view leads out of its buffer", err);
	}
	return DTX_OK;
}

static enum dtx_code check_codes(const struct walk *w, uint32_t node, struct dtx_err *err)
{
	const struct dtx_arrow_node *n = &w->f->node[node];
	const struct dtx_arrow_array *a = &w->b->array[node];
	uint64_t most = w->b->dict[node] ? w->b->dict[node]->len : 0;
	int64_t i;

	for (i = 0; i < a->n; i++)
		if (!absent(a, i) && dtx_arrow_code(n, a, i) >= most)
			return corrupt(w, node, "a number is not in its dictionary", err);
	return DTX_OK;
}

/* Bytes that the first buffer after the validity must have. */
static bool has_data(const struct dtx_arrow_node *n, int64_t rows, uint64_t bytes)
{
	uint64_t r = (uint64_t)rows;

	switch (n->layout) {
	case DTX_ARROW_FIXED:
	case DTX_ARROW_VIEWS: return r <= bytes / n->width;
	case DTX_ARROW_BITS: return r <= bytes * 8;
	case DTX_ARROW_BYTES:
	case DTX_ARROW_LIST: return !r || (bytes >= n->width && r <= bytes / n->width - 1);
	default: return true;
	}
}

static enum dtx_code read_pieces(struct walk *w, uint32_t node, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arrow_array *a = &w->b->array[node];
	uint64_t n = 0, i;

	if (w->at_variadic < w->variadic.n)
		n = dtx_le_u64(w->variadic.fb->p + w->variadic.at + 8 * (size_t)w->at_variadic++);
	if (n > w->buffers.n - w->at_buffer)
		return corrupt(w, node, "its record batch has too few buffers", err);
	if (w->need[node]) {
		a->piece = dtx_mem_zalloc((size_t)n + 1, sizeof(*a->piece));
		if (!a->piece)
			DTX_FAIL_MEM(err);
	}
	for (i = 0; i < n; i++) {
		struct bytes got;

		DTX_TRY(next_buffer(w, node, &got, err));
		if (w->need[node])
			a->piece[a->npieces++] =
				(struct dtx_str){ (const char *)got.p, (size_t)got.n };
	}
out:
	return rc;
}

/* Checks the values of a node whose buffers were read, and those of its children. */
static enum dtx_code check(const struct walk *w, uint32_t node, struct dtx_err *err)
{
	const struct dtx_arrow_node *n = &w->f->node[node];
	const struct dtx_arrow_array *a = &w->b->array[node];
	const struct dtx_arrow_array *child = &w->b->array[node + 1];
	uint32_t c;

	if (n->coded)
		return check_codes(w, node, err);
	if (n->layout == DTX_ARROW_VIEWS)
		return check_views(w, node, err);
	if ((n->layout == DTX_ARROW_BYTES || n->layout == DTX_ARROW_LIST) && a->n) {
		int64_t most = n->layout == DTX_ARROW_LIST ? child->n : (int64_t)a->ntext;

		if (!in_order(a, n->width) || offset(a, n->width, a->n) > most)
			return corrupt(w, node, "its offsets are not in order, or lead too far",
			               err);
	}
	if (n->layout == DTX_ARROW_FIXED_LIST && n->width && a->n > child->n / n->width)
		return corrupt(w, node, "its lists are longer than its items", err);
	for (c = node + 1; n->layout == DTX_ARROW_STRUCT && c < n->end; c = w->f->node[c].end)
		if (w->b->array[c].n < a->n)
			return corrupt(w, node, "a member has fewer rows than its struct", err);
	return DTX_OK;
}

/* --- arrays --- */

static enum dtx_code read_array(struct walk *w, uint32_t node, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_arrow_node *n = &w->f->node[node];
	struct dtx_arrow_array *a = &w->b->array[node];
	struct bytes valid = { 0 }, got = { 0 };
	int64_t nulls;
	uint32_t c;
	unsigned k;

	if (w->at_node == w->nodes.n)
		return corrupt(w, node, "its record batch has too few columns", err);
	a->n = (int64_t)dtx_le_u64(w->nodes.fb->p + w->nodes.at + 16 * (size_t)w->at_node);
	nulls = (int64_t)dtx_le_u64(w->nodes.fb->p + w->nodes.at + 16 * (size_t)w->at_node++ + 8);
	if (a->n < 0 || nulls < 0 || nulls > a->n ||
	    (n->parent == UINT32_MAX && a->n != w->m->rows))
		return corrupt(w, node, "it has another number of rows than its record batch", err);
	for (k = 0; k < n->buffers; k++) {
		DTX_TRY(next_buffer(w, node, &got, err));
		if (k == 0 && !n->no_validity)
			valid = got;
		else if (k == 1)
			a->data = got.p;
		if (w->need[node] && k == 1 && !has_data(n, a->n, got.n))
			return corrupt(w, node, "a buffer is shorter than its rows", err);
	}
	if (n->layout == DTX_ARROW_BYTES) {
		a->text = got.p;
		a->ntext = got.n;
	} else if (n->layout == DTX_ARROW_VIEWS) {
		DTX_TRY(read_pieces(w, node, err));
	}
	if (nulls && w->need[node] && n->layout != DTX_ARROW_NONE) {
		if ((uint64_t)a->n > valid.n * 8)
			return corrupt(w, node, "it does not say which of its values are null",
			               err);
		a->valid = valid.p;
	}
	for (c = node + 1; c < n->end; c = w->f->node[c].end)
		DTX_TRY(read_array(w, c, err));
	if (w->need[node])
		DTX_TRY(check(w, node, err));
out:
	return rc;
}

static enum dtx_code start(struct walk *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arrow_batch *b = w->b;

	b->first_row = w->m->first_row;
	/* one more: the last node has no child, but its place is looked at */
	b->array = dtx_mem_zalloc((size_t)w->f->nnodes + 1, sizeof(*b->array));
	w->blocks = dtx_mem_zalloc(1, sizeof(*w->blocks));
	if (!b->array || !w->blocks)
		DTX_FAIL_MEM(err);
	b->owner = dtx_owner_new(free_blocks, w->blocks);
	if (!b->owner)
		DTX_FAIL_MEM(err);
	dtx_owner_keep(b->owner, w->f->owner);
out:
	if (rc != DTX_OK)
		dtx_mem_free(w->blocks);
	return rc;
}

enum dtx_code dtx_arrow_batch_open(struct dtx_arrow_batch *b, const struct dtx_arrow_message *m,
                                   const bool *need, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fb fb = { b->f->bytes + m->meta, m->nmeta, false };
	struct dtx_fb_table root = dtx_fb_root(&fb), batch = dtx_fb_child(&root, 2), packed;
	struct walk w = { .b = b, .f = b->f, .m = m, .need = need };
	uint32_t i;

	if (m->dictionary)
		batch = dtx_fb_child(&batch, 1);
	w.nodes = dtx_fb_items(&batch, 1, 16);
	w.buffers = dtx_fb_items(&batch, 2, 16);
	packed = dtx_fb_child(&batch, 3);
	w.variadic = dtx_fb_items(&batch, 4, 8);
	w.packed = packed.size != 0;
	w.zstd = dtx_fb_u8(&packed, 0, 0) == 1;
	if (fb.bad || dtx_fb_u8(&packed, 0, 0) > 1 || dtx_fb_u8(&packed, 1, 0) != 0)
		return dtx_arrow_corrupt(b->f, "the head of a record batch is malformed", err);
	DTX_TRY(start(&w, err));
	for (i = 0; i < b->f->nnodes; i = b->f->node[i].end)
		DTX_TRY(read_array(&w, i, err));
	if (w.at_node != w.nodes.n || w.at_buffer != w.buffers.n)
		rc = dtx_arrow_corrupt(b->f, "a record batch has more columns than the schema",
		                       err);
out:
	return rc;
}

void dtx_arrow_batch_close(struct dtx_arrow_batch *b)
{
	uint32_t i;

	for (i = 0; b->array && i < b->f->nnodes; i++)
		dtx_mem_free(b->array[i].piece);
	dtx_mem_free(b->array);
	dtx_owner_unref(b->owner);
	b->array = NULL;
	b->owner = NULL;
}

/* --- dictionaries --- */

/* Adds the values of `more` after those of *io, which it replaces. Takes `more`. */
static enum dtx_code append(struct dtx_column **io, struct dtx_column *more, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *both = NULL;
	struct dtx_builder b;
	uint32_t i;

	dtx_builder_init(&b, more->type, (*io)->len + more->len);
	for (i = 0; i < (*io)->len; i++)
		dtx_builder_copy(&b, *io, i);
	for (i = 0; i < more->len; i++)
		dtx_builder_copy(&b, more, i);
	DTX_TRY(dtx_builder_finish(&b, NULL, &both, err));
	dtx_column_unref(*io);
	*io = both;
out:
	dtx_builder_clear(&b);
	dtx_column_unref(more);
	return rc;
}

/* Reads the values as the column of a file that has no other. */
static enum dtx_code read_values(const struct dtx_arrow_file *f, const struct dtx_arrow_message *m,
                                 uint32_t node, struct dtx_typed_counts *counts,
                                 struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arrow_node one = f->node[node];
	struct dtx_arrow_file alone = *f;
	struct dtx_arrow_batch b = { .f = &alone };
	struct dtx_builder none;
	static const bool need = true;

	one.coded = false;
	one.layout = one.value_layout;
	one.width = one.value_width;
	one.buffers = one.layout == DTX_ARROW_BYTES ? 3 : 2;
	one.parent = UINT32_MAX;
	one.end = 1;
	alone.node = &one;
	alone.nnodes = 1;
	DTX_TRY(dtx_arrow_batch_open(&b, m, &need, err));
	if (m->rows) {
		rc = dtx_arrow_column(&b, 0, one.name, 0, (uint32_t)m->rows, SIZE_MAX, counts, out,
		                      err);
	} else {
		dtx_builder_init(&none, one.value.as_type, 0);
		rc = dtx_builder_finish(&none, NULL, out, err);
	}
out:
	dtx_arrow_batch_close(&b);
	return rc;
}

enum dtx_code dtx_arrow_dictionary(const struct dtx_arrow_file *f,
                                   const struct dtx_arrow_message *m, const bool *need,
                                   struct dtx_column **dict, struct dtx_typed_counts *counts,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fb fb = { f->bytes + m->meta, m->nmeta, false };
	struct dtx_fb_table root = dtx_fb_root(&fb), head = dtx_fb_child(&root, 2);
	int64_t id = dtx_fb_i64(&head, 0, 0);
	bool goes_on = dtx_fb_u8(&head, 2, 0) != 0;
	uint32_t i;

	if (m->rows > DICTIONARY_MAX)
		return dtx_arrow_corrupt(f, "a dictionary has an impossible number of values", err);
	for (i = 0; i < f->nnodes; i++) {
		struct dtx_column *got = NULL;

		if (!need[i] || !f->node[i].coded || f->node[i].dictionary != id)
			continue;
		DTX_TRY(read_values(f, m, i, counts, &got, err));
		if (goes_on && dict[i]) {
			if (dict[i]->len > DICTIONARY_MAX) {
				dtx_column_unref(got);
				return dtx_arrow_corrupt(
					f, "a dictionary has an impossible number of values", err);
			}
			DTX_TRY(append(&dict[i], got, err));
		} else {
			dtx_column_unref(dict[i]);
			dict[i] = got;
		}
	}
out:
	return rc;
}
