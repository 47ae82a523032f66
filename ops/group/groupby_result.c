/* The result of group_by: the first rows of all workers in order of position, made into batches in
 * parallel. */
#include <stdlib.h>

#include "core/data/key.h"
#include "ops/group/first_row.h"
#include "ops/kit/opkit.h"
#include "ops/sort/ordered.h"

#define PART_GROWS 512u /* smaller batches for groups whose results are expensive */

static bool is_first_row(const struct dtx_gb_local *l, uint32_t id)
{
	uint64_t kind = dtx_gb_link(l, id) & DTX_GB_KIND;

	return kind == DTX_GB_SELF || kind == DTX_GB_FIRST_ROW;
}

int dtx_gb_first_row_cmp(const void *a, const void *b)
{
	const struct dtx_gb_first_row *x = a, *y = b;

	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

uint32_t dtx_gb_next_first_row(const struct dtx_gb_local *l, uint32_t id)
{
	while (id < l->n && !is_first_row(l, id))
		id++;
	return id;
}

static enum dtx_code collect_first_rows(struct dtx_gb_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t most = 0;
	bool unordered = r->s->order == DTX_GB_SORTED && r->s->nkeys;

	for (unsigned w = 0; w < r->n; w++) {
		most += r->l[w]->n;
		unordered = unordered || r->l[w]->unordered;
	}
	if (!unordered) {
		r->nfirst_rows = most;
		goto out;
	}
	r->first_row = dtx_mem_alloc(most + 1, sizeof(*r->first_row));
	if (!r->first_row)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < r->n; w++)
		for (uint32_t id = dtx_gb_next_first_row(r->l[w], 0); id < r->l[w]->n;
		     id = dtx_gb_next_first_row(r->l[w], id + 1))
			r->first_row[r->nfirst_rows++] =
				(struct dtx_gb_first_row){ r->l[w]->pos[id], w, id };
	qsort(r->first_row, r->nfirst_rows, sizeof(*r->first_row), dtx_gb_first_row_cmp);
out:
	return rc;
}

static bool has_written(const struct dtx_gb_local *l, uint32_t i)
{
	return l->state->key[i].written && l->n;
}

enum dtx_code dtx_gb_finish_keys(struct dtx_gb_local *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < l->state->nkeys; i++) {
		const struct dtx_gb_key *k = &l->state->key[i];

		if (has_written(l, i))
			DTX_TRY(dtx_spanbuf_finish(&l->written[i], k->field.type, &l->column[i],
			                           err));
		else
			DTX_TRY(dtx_builder_finish(&l->value[i], NULL, &l->column[i], err));
	}
out:
	return rc;
}

/* --- sorted order --- */

struct sort_key {
	struct dtx_str bytes;
	struct dtx_gb_first_row first_row;
};

static int sort_key_cmp(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int c = dtx_str_cmp(x->bytes, y->bytes);

	return c ? c : dtx_gb_first_row_cmp(&x->first_row, &y->first_row);
}

static enum dtx_code sort_first_rows(struct dtx_gb_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sort_key *key = dtx_mem_alloc(r->nfirst_rows + 1, sizeof(*key));
	struct dtx_buf bytes = DTX_BUF_INIT(SIZE_MAX / 2);
	const struct dtx_key_order order = { false, false, DTX_COLLATE_BINARY };

	if (!key)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < r->nfirst_rows; i++) {
		const struct dtx_gb_local *l = r->l[r->first_row[i].local];
		size_t from = bytes.len;

		DTX_TRY(dtx_cancel_row(i, err));
		for (uint32_t k = 0; k < r->s->nkeys; k++)
			dtx_key_sort(l->column[k], order, r->first_row[i].id, &bytes);
		key[i].first_row = r->first_row[i];
		key[i].bytes = (struct dtx_str){ (const char *)from, bytes.len - from };
	}
	DTX_TRY(dtx_buf_check(&bytes, "sort keys", err));
	for (size_t i = 0; i < r->nfirst_rows; i++)
		key[i].bytes.ptr = bytes.ptr + (size_t)key[i].bytes.ptr;
	qsort(key, r->nfirst_rows, sizeof(*key), sort_key_cmp);
	for (size_t i = 0; i < r->nfirst_rows; i++)
		r->first_row[i] = key[i].first_row;
out:
	dtx_mem_free(key);
	dtx_buf_clear(&bytes);
	return rc;
}

/* Sorting needs the values of keys; afterwards they are replaced by the cells as written. */
static enum dtx_code sorted(struct dtx_gb_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (unsigned w = 0; w < r->n; w++)
		for (uint32_t i = 0; i < r->s->nkeys; i++)
			DTX_TRY(dtx_builder_finish(&r->l[w]->value[i], NULL, &r->l[w]->column[i],
			                           err));
	DTX_TRY(sort_first_rows(r, err));
	for (unsigned w = 0; w < r->n; w++) {
		for (uint32_t i = 0; i < r->s->nkeys; i++) {
			struct dtx_gb_local *l = r->l[w];

			if (!has_written(l, i))
				continue;
			dtx_column_unref(l->column[i]);
			l->column[i] = NULL;
			DTX_TRY(dtx_spanbuf_finish(&l->written[i], r->s->key[i].field.type,
			                           &l->column[i], err));
		}
	}
out:
	return rc;
}

/* A group_by without keys, and a set without keys, has one row even if the table is empty. */
static enum dtx_code one_row(struct dtx_gb_result *r, uint32_t set, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_local *l = r->l[0];

	for (unsigned w = 0; w < r->n; w++)
		if (r->l[w]->n)
			goto out;
	if (!dtx_mem_reserve(&l->pos, &l->cap_pos, 1, sizeof(*l->pos)) ||
	    (r->s->stride && !dtx_mem_reserve(&l->states, &l->cap_states, 1, r->s->stride)))
		DTX_FAIL_MEM(err);
	l->pos[0] = (uint64_t)set << DTX_GB_SET_SEQ << 36;
	for (uint32_t i = 0; i < r->s->nouts; i++)
		for (size_t c = 0; c < r->s->out[i].calls.n; c++)
			dtx_agg_init(r->s->out[i].calls.call[c], l->states + r->s->out[i].offset[c],
			             r->s->stride, 0, 1);
	for (uint32_t k = 0; k < r->s->nkeys; k++) {
		dtx_builder_null(&l->value[k]);
		if (r->s->key[k].written)
			dtx_spanbuf_null(&l->written[k]);
	}
	l->n = 1;
out:
	return rc;
}

static enum dtx_code in_memory(struct dtx_gb_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!r->s->set && r->s->nkeys == 0)
		DTX_TRY(one_row(r, 0, err));
	for (uint32_t i = 0; i < r->s->nsets; i++)
		if (r->s->set[i].all)
			DTX_TRY(one_row(r, i, err));
	DTX_TRY(collect_first_rows(r, err));
	if (r->s->order == DTX_GB_SORTED && r->s->nkeys) {
		DTX_TRY(sorted(r, err));
		goto out;
	}
	for (unsigned w = 0; w < r->n; w++)
		DTX_TRY(dtx_gb_finish_keys(r->l[w], err));
out:
	return rc;
}

/* --- the result is made in parts --- */

void dtx_gb_drop_locals(const struct dtx_opctx *ox, struct dtx_gb_result *r)
{
	for (unsigned w = 0; r->l && w < r->n; w++)
		dtx_gb_free_local(ox, r->l[w]);
	r->n = 0;
}

static void gb_free_shared(const struct dtx_opctx *ox, void *shared)
{
	struct dtx_gb_result *r = shared;

	if (!r)
		return;
	dtx_gb_drop_locals(ox, r);
	dtx_mem_free(r->l);
	dtx_mem_free(r->first_row);
	dtx_mem_free(r->from);
	dtx_ordered_free(r->rows);
	dtx_mem_free(r);
}

/* Moves the locals of all workers here. */
static enum dtx_code take_locals(struct dtx_gb_result *r, void *const *locals, unsigned n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	r->l = dtx_mem_zalloc((size_t)n + 1, sizeof(struct dtx_gb_local *));
	if (!r->l)
		DTX_FAIL_MEM(err);
	for (; r->n < n; r->n++) {
		struct dtx_gb_local *from = locals[r->n], *to = dtx_mem_alloc(1, sizeof(*to));

		if (!to)
			DTX_FAIL_MEM(err);
		*to = *from;
		*from = (struct dtx_gb_local){ .state = to->state };
		r->l[r->n] = to;
	}
out:
	return rc;
}

static enum dtx_code gb_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                                 void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_result *r = dtx_mem_zalloc(1, sizeof(*r));

	(void)out;
	if (!r)
		DTX_FAIL_MEM(err);
	r->s = ox->bound;
	r->part_rows = r->s->grows ? PART_GROWS : DTX_GB_PART_ROWS;
	DTX_TRY(take_locals(r, locals, n, err));
	if (dtx_gb_any_spilled(r->l, n))
		DTX_TRY(dtx_gb_from_disk(ox, r, err));
	else
		DTX_TRY(in_memory(r, err));
	*shared = r;
	r = NULL;
out:
	gb_free_shared(ox, r);
	return rc;
}

static uint64_t gb_parts(const struct dtx_opctx *ox, const struct dtx_origin **origin)
{
	const struct dtx_gb_result *r = ox->shared;

	*origin = NULL;
	return r->rows ? r->rows->merge.nparts : (r->nfirst_rows + r->part_rows - 1) / r->part_rows;
}

/* --- the first rows of a part --- */

/* Walks the entries of all workers in ascending position: from at[w] to end[w]. */
struct walk {
	const struct dtx_gb_result *r;
	uint32_t *at, *end;
	struct dtx_gb_first_row *first_row;
	size_t next, last; /* range in the array of first rows, if there is one */
};

static uint32_t lower_bound(const struct dtx_gb_local *l, uint64_t pos)
{
	uint32_t lo = 0, hi = l->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->pos[mid] < pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Part `part` starts where that share of the entries of the largest worker ends. */
static void part_starts(const struct dtx_gb_result *r, uint64_t part, uint64_t nparts,
                        uint32_t *from)
{
	const struct dtx_gb_local *most = r->l[0];

	for (unsigned w = 1; w < r->n; w++)
		most = r->l[w]->n > most->n ? r->l[w] : most;
	for (unsigned w = 0; w < r->n; w++) {
		from[w] = part ? r->l[w]->n : 0;
		if (part && part < nparts)
			from[w] = lower_bound(r->l[w], most->pos[part * most->n / nparts]);
	}
}

static void walk_clear(struct walk *k)
{
	dtx_mem_free(k->at);
	dtx_mem_free(k->end);
	if (!k->r->first_row)
		dtx_mem_free(k->first_row);
}

static enum dtx_code walk_init(struct walk *k, const struct dtx_gb_result *r, uint64_t part,
                               uint64_t nparts, uint32_t most, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*k = (struct walk){ .r = r, .next = part * r->part_rows };
	k->last = DTX_MIN(k->next + r->part_rows, r->nfirst_rows);
	if (r->first_row)
		goto out;
	k->at = dtx_mem_alloc(r->n + 1u, sizeof(*k->at));
	k->end = dtx_mem_alloc(r->n + 1u, sizeof(*k->end));
	k->first_row = dtx_mem_alloc(most, sizeof(*k->first_row));
	if (!k->at || !k->end || !k->first_row)
		DTX_FAIL_MEM(err);
	part_starts(r, part, nparts, k->at);
	part_starts(r, part + 1, nparts, k->end);
out:
	return rc;
}

/* The next first rows, up to `most`.  Returns 0 at the end. */
static uint32_t walk_next(struct walk *k, uint32_t most)
{
	struct dtx_gb_local *const *l = k->r->l;
	uint32_t n = 0;

	if (k->r->first_row) {
		n = (uint32_t)DTX_MIN(most, k->last - k->next);
		k->first_row = k->r->first_row + k->next;
		k->next += n;
		return n;
	}
	while (n < most) {
		unsigned best = k->r->n;

		for (unsigned w = 0; w < k->r->n; w++)
			if (k->at[w] < k->end[w] &&
			    (best == k->r->n || l[w]->pos[k->at[w]] < l[best]->pos[k->at[best]]))
				best = w;
		if (best == k->r->n)
			break;
		if (is_first_row(l[best], k->at[best]))
			k->first_row[n++] = (struct dtx_gb_first_row){ l[best]->pos[k->at[best]],
				                                       best, k->at[best] };
		k->at[best]++;
	}
	return n;
}

/* Frees the states of these groups now, in the threads that make the rows, instead of in one thread
 * at the end. */
static void drop_made(const struct walk *k, uint32_t n)
{
	for (uint32_t i = 0; k->r->s->grows && i < n; i++)
		dtx_gb_drop_state(k->r->l[k->first_row[i].local], k->first_row[i].id);
}

static enum dtx_code gb_make(const struct dtx_opctx *ox, uint64_t part, struct dtx_emit *out,
                             struct dtx_err *err)
{
	const struct dtx_gb_result *r = ox->shared;
	const struct dtx_colmap map = { ox->out->nfields, r->from };
	uint32_t most = DTX_MIN(dtx_op_batch_rows(ox), DTX_GB_PART_ROWS);
	struct walk k = { .r = r };
	struct dtx_gb_scratch x = { .which = NULL };
	const struct dtx_origin *origin;
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;
	uint32_t n;

	if (r->rows)
		return dtx_merge_part(&r->rows->merge, part, ox, &map, out, err);
	DTX_TRY(dtx_gb_scratch_init(&x, r, most, err));
	DTX_TRY(walk_init(&k, r, part, gb_parts(ox, &origin), most, err));
	while (!dtx_emit_full(out) && (n = walk_next(&k, most)) > 0) {
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(dtx_gb_make_rows(ox, r, &x, k.first_row, n, &b, err));
		drop_made(&k, n);
		DTX_TRY(dtx_batch_dense(b, err));
		DTX_TRY(dtx_emit_batch(out, b, err));
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	walk_clear(&k);
	dtx_gb_scratch_clear(&x);
	return rc;
}

const struct dtx_sink dtx_gb_sink = {
	.nparts = DTX_GROUP_PARTS,
	.init_local = dtx_gb_init_local,
	.consume = dtx_gb_consume,
	.combine = dtx_gb_combine,
	.finalize = gb_finalize,
	.free_local = dtx_gb_free_local,
	.free_shared = gb_free_shared,
	.parts = gb_parts,
	.make = gb_make,
	.save = dtx_gb_save,
	.load = dtx_gb_load,
};
