/* Rows in buckets, see buckets.h. */
#include "core/cluster/buckets.h"

#include <string.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/data/cells.h"
#include "core/data/frame/frame_batch.h"
#include "core/data/key.h"

#define SECTION_ROWS DTX_BATCH_ROWS
#define KEYS_BYTES   ((size_t)1 << 30) /* of the keys of a batch */

/* --- writing --- */

enum dtx_code dtx_buckets_add(struct dtx_buckets *x, struct dtx_batch *b,
                              struct dtx_buckets_batch **out, struct dtx_err *err)
{
	struct dtx_buckets_batch *to;
	size_t n = (size_t)b->nsel + 1;
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&x->batch, &x->cap_batches, x->nbatches + 1, sizeof(*x->batch)))
		DTX_FAIL_MEM(err);
	to = &x->batch[x->nbatches++];
	*to = (struct dtx_buckets_batch){ .batch = NULL };
	DTX_TRY(dtx_batch_copy(b, &to->batch, err));
	DTX_TRY(dtx_batch_dense(to->batch, err));
	to->place = dtx_mem_alloc(n, sizeof(*to->place));
	to->id = dtx_mem_alloc(n, sizeof(*to->id));
	to->to = dtx_mem_alloc(n, sizeof(*to->to));
	if (!to->place || !to->id || !to->to)
		DTX_FAIL_MEM(err);
	x->rows += to->batch->nrows;
	*out = to;
out:
	return rc;
}

enum dtx_code dtx_buckets_of(const struct dtx_op *op, const struct dtx_opctx *ox, unsigned input,
                             struct dtx_batch *b, uint32_t nbuckets, uint32_t *to,
                             struct dtx_err *err)
{
	struct dtx_buf keys = DTX_BUF_INIT(KEYS_BYTES);
	struct dtx_column **col = NULL;
	size_t *end = dtx_mem_alloc((size_t)b->nrows + 1, sizeof(*end)), from = 0;
	uint32_t n = 0;
	enum dtx_code rc = DTX_OK;

	if (!end)
		DTX_FAIL_MEM(err);
	DTX_TRY(op->keys(ox, input, b, &col, &n, err));
	dtx_key_equal_rows(col, n, NULL, 0, b->nrows, &keys, end);
	DTX_TRY(dtx_buf_check(&keys, "keys of rows", err));
	for (uint32_t i = 0; i < b->nrows; i++) {
		/* not the bits by which a step finds keys in its own table */
		uint64_t hash = dtx_hash_mix(dtx_hash64(keys.ptr + from, end[i] - from, 0), 1);

		to[i] = (uint32_t)(((hash & UINT32_MAX) * nbuckets) >> 32);
		from = end[i];
	}
out:
	for (uint32_t i = 0; col && i < n; i++)
		dtx_column_unref(col[i]);
	dtx_mem_free(col);
	dtx_mem_free(end);
	dtx_buf_clear(&keys);
	return rc;
}

/* The rows of all batches, bucket by bucket: row k of batch which[k], from start[bucket] on. */
struct sorted {
	uint32_t *which, *row;
	uint64_t *start;
	struct dtx_column **source; /* one column of each batch */
};

static void sorted_clear(struct sorted *s)
{
	dtx_mem_free(s->which);
	dtx_mem_free(s->row);
	dtx_mem_free(s->start);
	dtx_mem_free(s->source);
}

static enum dtx_code sort_rows(const struct dtx_buckets *x, uint32_t nbuckets, struct sorted *s,
                               struct dtx_err *err)
{
	uint64_t at = 0;
	enum dtx_code rc = DTX_OK;

	s->which = dtx_mem_alloc((size_t)x->rows + 1, sizeof(*s->which));
	s->row = dtx_mem_alloc((size_t)x->rows + 1, sizeof(*s->row));
	s->start = dtx_mem_zalloc((size_t)nbuckets + 2, sizeof(*s->start));
	s->source = dtx_mem_zalloc(x->nbatches + 1, sizeof(struct dtx_column *));
	if (!s->which || !s->row || !s->start || !s->source)
		DTX_FAIL_MEM(err);
	for (size_t k = 0; k < x->nbatches; k++)
		for (uint32_t i = 0; i < x->batch[k].batch->nrows; i++)
			s->start[x->batch[k].to[i] + 2]++;
	for (uint32_t t = 0; t < nbuckets + 2; t++)
		s->start[t] = at += s->start[t];
	/* start[t + 1] moves from the first row of bucket t to its end */
	for (size_t k = 0; k < x->nbatches; k++)
		for (uint32_t i = 0; i < x->batch[k].batch->nrows; i++) {
			uint64_t *to = &s->start[x->batch[k].to[i] + 1];

			s->which[*to] = (uint32_t)k;
			s->row[(*to)++] = i;
		}
out:
	return rc;
}

/* Makes a section of n rows, from row `from` of the sorted ones on. */
static enum dtx_code add_section(struct dtx_buckets *x, const struct sorted *s, uint64_t from,
                                 uint32_t n, struct dtx_err *err)
{
	const struct dtx_schema *schema = x->batch[0].batch->schema;
	struct dtx_buckets_section *to;
	struct dtx_batch *b = NULL;
	uint64_t *id = dtx_mem_alloc(n, sizeof(*id));
	enum dtx_code rc = DTX_OK;

	if (!id ||
	    !dtx_mem_reserve(&x->section, &x->cap_sections, x->nsections + 1, sizeof(*x->section)))
		DTX_FAIL_MEM(err);
	to = &x->section[x->nsections++];
	*to = (struct dtx_buckets_section){ .bytes = DTX_BUF_INIT(SIZE_MAX / 2), .nrows = n };
	to->place = dtx_mem_alloc(n, sizeof(*to->place));
	if (!to->place)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++) {
		const struct dtx_buckets_batch *of = &x->batch[s->which[from + i]];

		to->place[i] = of->place[s->row[from + i]];
		id[i] = of->id[s->row[from + i]];
	}
	DTX_TRY(dtx_batch_new(schema, n, &b, err));
	for (uint32_t c = 0; c < schema->nfields; c++) {
		bool any = false;

		for (size_t k = 0; k < x->nbatches; k++) {
			s->source[k] = x->batch[k].batch->col[c];
			any = any || s->source[k];
		}
		if (any)
			DTX_TRY(dtx_cells_gather(s->source, (uint32_t)x->nbatches, s->which + from,
			                         s->row + from, n, &schema->field[c], &b->col[c],
			                         err));
	}
	b->rec = id;
	rc = dtx_frame_batch_save(b, &to->bytes, err);
	b->rec = NULL;
out:
	dtx_batch_free(b);
	dtx_mem_free(id);
	return rc;
}

static uint64_t section_hash(const void *bytes, size_t len, const uint64_t *place, size_t nplaces)
{
	return dtx_hash64(place, nplaces * sizeof(*place), dtx_hash64(bytes, len, 0));
}

enum dtx_code dtx_buckets_save(struct dtx_buckets *x, uint32_t nbuckets, struct dtx_frame *frame,
                               char *hash, struct dtx_err *err)
{
	struct sorted s = { .which = NULL };
	struct dtx_weak weak;
	uint32_t *bucket = NULL;
	size_t cap = 0;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(sort_rows(x, nbuckets, &s, err));
	for (uint32_t t = 0; t < nbuckets; t++)
		for (uint64_t at = s.start[t]; at < s.start[t + 1]; at += SECTION_ROWS) {
			if (!dtx_mem_reserve(&bucket, &cap, x->nsections + 1, sizeof(*bucket)))
				DTX_FAIL_MEM(err);
			bucket[x->nsections] = t;
			DTX_TRY(add_section(x, &s, at,
			                    (uint32_t)DTX_MIN(s.start[t + 1] - at, SECTION_ROWS),
			                    err));
		}
	x->index = dtx_mem_alloc(2 * x->nsections + 1, sizeof(*x->index));
	if (!x->index)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < x->nsections; i++) {
		x->index[2 * i] = bucket[i];
		x->index[2 * i + 1] = section_hash(x->section[i].bytes.ptr, x->section[i].bytes.len,
		                                   x->section[i].place, x->section[i].nrows);
	}
	dtx_weak_init(&weak);
	dtx_weak_add(&weak, x->index, 2 * x->nsections * sizeof(*x->index));
	dtx_weak_done(&weak, hash);
	DTX_TRY(dtx_frame_add_bytes(
		frame, DTX_FRAME_REPORT, 0, NULL,
		(struct dtx_str){ (const char *)x->index, 2 * x->nsections * sizeof(*x->index) },
		err));
	for (size_t i = 0; i < x->nsections; i++)
		DTX_TRY(dtx_frame_add_pair(
			frame, DTX_FRAME_BATCH, bucket[i], x->section[i].nrows,
			dtx_buf_str(&x->section[i].bytes),
			(struct dtx_str){ (const char *)x->section[i].place,
		                          x->section[i].nrows * sizeof(uint64_t) },
			err));
out:
	sorted_clear(&s);
	dtx_mem_free(bucket);
	return rc;
}

void dtx_buckets_clear(struct dtx_buckets *x)
{
	for (size_t i = 0; i < x->nbatches; i++) {
		dtx_batch_free(x->batch[i].batch);
		dtx_mem_free(x->batch[i].place);
		dtx_mem_free(x->batch[i].id);
		dtx_mem_free(x->batch[i].to);
	}
	for (size_t i = 0; i < x->nsections; i++) {
		dtx_buf_clear(&x->section[i].bytes);
		dtx_mem_free(x->section[i].place);
	}
	dtx_mem_free(x->batch);
	dtx_mem_free(x->section);
	dtx_mem_free(x->index);
	*x = (struct dtx_buckets){ .batch = NULL };
}

/* --- reading --- */

/* The index: two numbers per section after the first. */
static const uint64_t *index_of(const struct dtx_rows_file *f)
{
	return (const uint64_t *)(const void *)dtx_frame_bytes(&f->view, &f->view.entry[0]).ptr;
}

void dtx_buckets_find(const struct dtx_rows_file *f, uint32_t bucket, uint32_t *from, uint32_t *to)
{
	const uint64_t *index = index_of(f);
	uint32_t low = 0, high = (uint32_t)f->sections;

	while (low < high) { /* the first section whose bucket is not lower */
		uint32_t mid = low + (high - low) / 2;

		if (index[2 * (size_t)mid] < bucket)
			low = mid + 1;
		else
			high = mid;
	}
	*from = *to = low + 1; /* entry 0 is the index */
	while (*to <= f->sections && index[2 * (size_t)(*to - 1)] == bucket)
		(*to)++;
}

enum dtx_code dtx_buckets_read(const struct dtx_rows_file *f, uint32_t entry,
                               const struct dtx_schema *schema, struct dtx_batch **out,
                               const uint64_t **place, struct dtx_err *err)
{
	const struct dtx_frame_entry *e = &f->view.entry[entry];
	struct dtx_str bytes = dtx_frame_bytes(&f->view, e);
	const uint64_t *at = (const uint64_t *)(const void *)(f->view.ptr + e->b_off);
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	if (section_hash(bytes.ptr, bytes.len, at, e->b_len / sizeof(*at)) !=
	    index_of(f)[2 * (size_t)(entry - 1) + 1])
		DTX_FAIL(err, DTX_E_INPUT_IO,
		         "'%s' does not have the bytes that its fragment wrote", f->path);
	DTX_TRY(dtx_frame_batch_load(bytes, f->owner, schema, &b, err));
	DTX_ASSERT(b->nrows == e->b_len / sizeof(*at), err);
	*place = at;
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}
