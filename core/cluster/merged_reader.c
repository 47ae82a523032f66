/* Merges the buckets of a table, see merged_reader.h. A worker merges one range at a time. */
#include "core/cluster/merged_reader.h"

#include <string.h>

#include "core/base/memory/mem.h"
#include "core/cluster/buckets.h"
#include "core/data/cells.h"

#define BATCH_ROWS 8192u /* cells of many places stay in cache until they are used */

struct run { /* the rows of a section that are still to come */
	const uint64_t *place;
	uint32_t at, n, section;
};
struct range { /* that a worker merges */
	uint64_t number;
	struct dtx_batch **section;
	struct dtx_column **source;
	struct run *heap;
	size_t nsections, cap_sections, nheap, cap_heap;
	uint64_t left; /* rows */
	uint32_t *which, *row;
	bool open;
};
struct merged_reader {
	struct dtx_reader head;
	struct dtx_merged of;
	struct range *range; /* one per worker */
	unsigned workers;
	_Atomic uint64_t claimed;
	uint64_t begin, end; /* ranges; the numbers of batches count from the first one */
};

/* Says that a file is damaged, if that is why reading it failed. */
static enum dtx_code note_damage(const struct merged_reader *r, const struct dtx_rows_file *f,
                                 enum dtx_code rc)
{
	if (rc == DTX_E_INPUT_IO || rc == DTX_E_INPUT_NOT_FOUND)
		r->of.damaged(r->of.arg, f);
	return rc;
}

static void end_range(struct range *m)
{
	for (size_t i = 0; i < m->nsections; i++)
		dtx_batch_free(m->section[i]);
	m->nsections = m->nheap = 0;
	m->open = false;
}

/* --- the heap: the run with the lowest place first --- */

/* Several results of one row have the same place; they are in sections of one bucket, in order. */
static bool before(const struct run *a, const struct run *b)
{
	uint64_t x = a->place[a->at], y = b->place[b->at];

	return x != y ? x < y : a->section < b->section;
}

static void sift_down(struct range *m, size_t i)
{
	for (;;) {
		size_t least = i, k = 2 * i + 1;
		struct run swap;

		for (size_t j = k; j < k + 2 && j < m->nheap; j++)
			if (before(&m->heap[j], &m->heap[least]))
				least = j;
		if (least == i)
			return;
		swap = m->heap[i];
		m->heap[i] = m->heap[least];
		m->heap[least] = swap;
		i = least;
	}
}

/* --- one range --- */

static enum dtx_code add_section(struct merged_reader *r, struct range *m, struct dtx_rows_file *f,
                                 uint32_t entry, struct dtx_err *err)
{
	struct dtx_batch *b = NULL;
	const uint64_t *place;
	enum dtx_code rc = DTX_OK;

	if (!dtx_mem_reserve(&m->section, &m->cap_sections, m->nsections + 1,
	                     sizeof(struct dtx_batch *)) ||
	    !dtx_mem_reserve(&m->heap, &m->cap_heap, m->nheap + 1, sizeof(*m->heap)))
		DTX_FAIL_MEM(err);
	DTX_TRY(note_damage(r, f, dtx_buckets_read(f, entry, r->of.schema, &b, &place, err)));
	m->left += b->nrows;
	m->heap[m->nheap++] =
		(struct run){ .place = place, .n = b->nrows, .section = (uint32_t)m->nsections };
	m->section[m->nsections++] = b;
out:
	return rc;
}

static enum dtx_code open_range(struct merged_reader *r, struct range *m, uint64_t number,
                                struct dtx_err *err)
{
	uint32_t from, to;
	enum dtx_code rc = DTX_OK;

	m->number = number;
	m->left = 0;
	m->open = true;
	for (size_t i = 0; i < r->of.nfiles; i++) {
		dtx_buckets_find(&r->of.file[i], (uint32_t)number, &from, &to);
		for (; from < to; from++)
			DTX_TRY(add_section(r, m, &r->of.file[i], from, err));
	}
	for (size_t i = m->nheap / 2; i-- > 0;)
		sift_down(m, i);
	dtx_mem_free(m->source);
	m->source = dtx_mem_zalloc(m->nsections + 1, sizeof(struct dtx_column *));
	if (!m->which)
		m->which = dtx_mem_alloc(BATCH_ROWS, sizeof(*m->which));
	if (!m->row)
		m->row = dtx_mem_alloc(BATCH_ROWS, sizeof(*m->row));
	if (!m->source || !m->which || !m->row)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Chooses the next n rows of the range. */
static void merge(struct range *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct run *first = m->heap;

		m->which[i] = first->section;
		m->row[i] = first->at++;
		if (first->at == first->n)
			*first = m->heap[--m->nheap];
		sift_down(m, 0);
	}
}

static enum dtx_code make_ids(const struct range *m, struct dtx_batch *b, struct dtx_err *err)
{
	uint64_t *id = dtx_mem_alloc((size_t)b->nrows + 1, sizeof(*id));
	enum dtx_code rc = DTX_OK;

	if (!id)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->nrows; i++)
		id[i] = m->section[m->which[i]]->rec[m->row[i]];
	b->rec_owner = dtx_owner_new(dtx_mem_free, id);
	if (!b->rec_owner) {
		dtx_mem_free(id);
		DTX_FAIL_MEM(err);
	}
	b->rec = id;
out:
	return rc;
}

static enum dtx_code merged_next(struct dtx_reader *reader, unsigned worker, struct dtx_batch **out,
                                 struct dtx_err *err)
{
	struct merged_reader *r = (struct merged_reader *)reader;
	struct range *m = &r->range[worker];
	struct dtx_batch *b = NULL;
	uint64_t number;
	uint32_t n;
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (!m->open) {
		number = atomic_fetch_add(&r->claimed, 1);
		if (number >= r->end)
			return DTX_OK;
		DTX_TRY(open_range(r, m, number, err));
	}
	n = (uint32_t)DTX_MIN(m->left, (uint64_t)BATCH_ROWS);
	merge(m, n);
	DTX_TRY(dtx_batch_new(r->of.schema, n, &b, err));
	for (uint32_t c = 0; c < b->ncols; c++) {
		bool any = !n; /* a batch without rows has all columns */

		for (size_t k = 0; k < m->nsections; k++) {
			m->source[k] = m->section[k]->col[c];
			any = any || m->source[k];
		}
		if (any)
			DTX_TRY(dtx_cells_gather(m->source, (uint32_t)m->nsections, m->which,
			                         m->row, n, &r->of.schema->field[c], &b->col[c],
			                         err));
	}
	DTX_TRY(make_ids(m, b, err));
	m->left -= n;
	b->seq = m->number - r->begin;
	b->last = !m->left;
	b->origin = r->of.origin[m->number];
	if (b->last)
		end_range(m);
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

/* --- the reader --- */

static enum dtx_code merged_start(struct dtx_reader *reader, const struct dtx_scan *scan,
                                  struct dtx_err *err)
{
	struct merged_reader *r = (struct merged_reader *)reader;
	unsigned workers = scan && scan->workers ? scan->workers : 1;
	enum dtx_code rc = DTX_OK;

	r->end = scan && scan->slice ? DTX_MIN(scan->slice->end, r->of.nranges) : r->of.nranges;
	r->begin = scan && scan->slice ? scan->slice->first : 0;
	atomic_store(&r->claimed, r->begin);
	for (unsigned i = 0; i < r->workers; i++)
		end_range(&r->range[i]);
	if (workers > r->workers) {
		if (!dtx_mem_grow(&r->range, workers, sizeof(*r->range)))
			DTX_FAIL_MEM(err);
		memset(r->range + r->workers, 0, (workers - r->workers) * sizeof(*r->range));
		r->workers = workers;
	}
	for (size_t i = 0; i < r->of.nfiles; i++) {
		if (!r->of.file[i].owner)
			DTX_TRY(note_damage(r, &r->of.file[i],
			                    dtx_rows_file_open(&r->of.file[i], err)));
	}
out:
	return rc;
}

static uint64_t merged_pieces(struct dtx_reader *reader, uint64_t *bytes)
{
	const struct merged_reader *r = (struct merged_reader *)reader;

	*bytes = r->of.bytes;
	return r->of.nranges;
}

static void merged_close(struct dtx_reader *reader)
{
	struct merged_reader *r = (struct merged_reader *)reader;

	for (unsigned i = 0; i < r->workers; i++) {
		end_range(&r->range[i]);
		dtx_mem_free(r->range[i].section);
		dtx_mem_free(r->range[i].heap);
		dtx_mem_free(r->range[i].source);
		dtx_mem_free(r->range[i].which);
		dtx_mem_free(r->range[i].row);
	}
	dtx_mem_free(r->range);
	for (size_t i = 0; i < r->of.nfiles; i++)
		dtx_rows_file_close(&r->of.file[i]);
	dtx_arena_clear(&r->head.arena);
	dtx_mem_free(r);
}

static const struct dtx_reader_class merged_class = {
	.name = "buckets",
	.start = merged_start,
	.next = merged_next,
	.pieces = merged_pieces,
	.close = merged_close,
};

enum dtx_code dtx_merged_reader_new(const struct dtx_merged *what, struct dtx_reader **out,
                                    struct dtx_err *err)
{
	struct merged_reader *r = dtx_mem_zalloc(1, sizeof(*r));
	enum dtx_code rc = DTX_OK;

	if (!r)
		DTX_FAIL_MEM(err);
	r->head.cls = &merged_class;
	r->of = *what;
	*out = &r->head;
out:
	return rc;
}
