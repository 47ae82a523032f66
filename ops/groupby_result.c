/* The result of group_by: faces of all workers in order of position, as batches. */
#include <stdlib.h>

#include "core/data/key.h"
#include "ops/groupby_face.h"
#include "ops/opkit.h"
#include "ops/ordered.h"

#define PART_FACES 16384u
#define PART_GROWS 512u /* of groups whose results are much work each */

static bool is_face(const struct dtx_gb_local *l, uint32_t id)
{
	uint64_t kind = dtx_gb_link(l, id) & DTX_GB_KIND;

	return kind == DTX_GB_SELF || kind == DTX_GB_FACE;
}

static int face_cmp(const void *a, const void *b)
{
	const struct dtx_gb_face *x = a, *y = b;

	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/* Next entry of worker w that is a face, from id on. */
static uint32_t next_face(const struct dtx_gb_local *l, uint32_t id)
{
	while (id < l->n && !is_face(l, id))
		id++;
	return id;
}

static enum dtx_code collect_faces(struct dtx_gb_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t most = 0;
	bool unordered = r->s->order == DTX_GB_SORTED && r->s->nkeys;

	for (unsigned w = 0; w < r->n; w++) {
		most += r->l[w]->n;
		unordered = unordered || r->l[w]->unordered;
	}
	if (!unordered) {
		r->nfaces = most;
		goto out;
	}
	r->face = dtx_mem_alloc(most + 1, sizeof(*r->face));
	if (!r->face)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < r->n; w++)
		for (uint32_t id = next_face(r->l[w], 0); id < r->l[w]->n;
		     id = next_face(r->l[w], id + 1))
			r->face[r->nfaces++] = (struct dtx_gb_face){ r->l[w]->pos[id], w, id };
	qsort(r->face, r->nfaces, sizeof(*r->face), face_cmp);
out:
	return rc;
}

static bool has_written(const struct dtx_gb_local *l, uint32_t i)
{
	return l->state->key[i].written && l->n;
}

/* Key columns of one worker, all its groups. */
static enum dtx_code finish_keys(struct dtx_gb_local *l, struct dtx_err *err)
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
	struct dtx_gb_face face;
};

static int sort_key_cmp(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int c = dtx_str_cmp(x->bytes, y->bytes);

	return c ? c : face_cmp(&x->face, &y->face);
}

static enum dtx_code sort_faces(struct dtx_gb_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct sort_key *key = dtx_mem_alloc(r->nfaces + 1, sizeof(*key));
	struct dtx_buf bytes = DTX_BUF_INIT(SIZE_MAX / 2);
	const struct dtx_key_order order = { false, false, DTX_COLLATE_BINARY };

	if (!key)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < r->nfaces; i++) {
		const struct dtx_gb_local *l = r->l[r->face[i].local];
		size_t from = bytes.len;

		for (uint32_t k = 0; k < r->s->nkeys; k++)
			dtx_key_sort(l->column[k], order, r->face[i].id, &bytes);
		key[i].face = r->face[i];
		key[i].bytes = (struct dtx_str){ (const char *)from, bytes.len - from };
	}
	DTX_TRY(dtx_buf_check(&bytes, "sort keys", err));
	for (size_t i = 0; i < r->nfaces; i++)
		key[i].bytes.ptr = bytes.ptr + (size_t)key[i].bytes.ptr;
	qsort(key, r->nfaces, sizeof(*key), sort_key_cmp);
	for (size_t i = 0; i < r->nfaces; i++)
		r->face[i] = key[i].face;
out:
	dtx_mem_free(key);
	dtx_buf_clear(&bytes);
	return rc;
}

/* Sorting looks at values; the cells as written take their place afterwards. */
static enum dtx_code sorted(struct dtx_gb_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (unsigned w = 0; w < r->n; w++)
		for (uint32_t i = 0; i < r->s->nkeys; i++)
			DTX_TRY(dtx_builder_finish(&r->l[w]->value[i], NULL, &r->l[w]->column[i],
			                           err));
	DTX_TRY(sort_faces(r, err));
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

/* Without keys, and for a set of none, there is one row, even of an empty table. */
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
	DTX_TRY(collect_faces(r, err));
	if (r->s->order == DTX_GB_SORTED && r->s->nkeys) {
		DTX_TRY(sorted(r, err));
		goto out;
	}
	for (unsigned w = 0; w < r->n; w++)
		DTX_TRY(finish_keys(r->l[w], err));
out:
	return rc;
}

/* --- rows on disk: a partition at a time, its result into the order --- */

/* The faces of workers [from, to) in the partition. */
static enum dtx_code part_faces(struct dtx_gb_result *r, unsigned part, unsigned from, unsigned to,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t cap = 0;

	dtx_mem_free(r->face);
	r->face = NULL;
	r->nfaces = 0;
	for (unsigned w = from; w < to; w++) {
		for (uint32_t id = next_face(r->l[w], 0); id < r->l[w]->n;
		     id = next_face(r->l[w], id + 1)) {
			if (dtx_groups_part(r->l[w]->groups, id, DTX_DISK_BITS) != part)
				continue;
			if (!dtx_mem_reserve(&r->face, &cap, r->nfaces + 1, sizeof(*r->face)))
				DTX_FAIL_MEM(err);
			r->face[r->nfaces++] = (struct dtx_gb_face){ r->l[w]->pos[id], w, id };
		}
	}
	if (r->nfaces)
		qsort(r->face, r->nfaces, sizeof(*r->face), face_cmp);
out:
	return rc;
}

/* Where the live rows of b came first. */
static enum dtx_code place_column(const struct dtx_batch *b, const struct dtx_gb_face *face,
                                  struct dtx_column **out, struct dtx_err *err)
{
	struct dtx_builder place;

	dtx_builder_init(&place, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, b->nsel);
	for (uint32_t k = 0; k < b->nsel; k++)
		dtx_builder_i64(&place, (int64_t)face[dtx_batch_row(b, k)].pos);
	return dtx_builder_finish(&place, NULL, out, err);
}

static enum dtx_code order_rows(const struct dtx_opctx *ox, const struct dtx_gb_result *r,
                                struct dtx_ordered *o, struct dtx_batch *b,
                                const struct dtx_gb_face *face, struct dtx_err *err)
{
	uint32_t nkeys = r->s->order == DTX_GB_SORTED ? r->s->nkeys : 0;
	struct dtx_column **key = dtx_mem_zalloc(nkeys + 1u, sizeof(struct dtx_column *));
	struct dtx_key_order *order = dtx_mem_zalloc(nkeys + 1u, sizeof(*order));
	enum dtx_code rc = DTX_OK;

	if (!key || !order)
		DTX_FAIL_MEM(err);
	DTX_TRY(place_column(b, face, &key[nkeys], err));
	DTX_TRY(dtx_batch_dense(b, err));
	for (uint32_t i = 0; i < nkeys; i++)
		DTX_TRY(dtx_batch_flat(b, i, &key[i], err));
	DTX_TRY(dtx_ordered_add(o, ox, b, key, order, nkeys + 1u, err));
out:
	for (uint32_t i = 0; key && i <= nkeys; i++)
		dtx_column_unref(key[i]);
	dtx_mem_free(key);
	dtx_mem_free(order);
	return rc;
}

/* What the states of a partition hold, once its rows are made. */
static void drop_states(struct dtx_gb_result *r, unsigned part)
{
	for (unsigned w = 0; r->s->grows && w < r->n; w++)
		for (uint32_t id = 0; id < r->l[w]->n; id++)
			if (dtx_groups_part(r->l[w]->groups, id, DTX_DISK_BITS) == part)
				dtx_gb_drop_state(r->l[w], id);
}

struct part {
	const struct dtx_opctx *ox;
	struct dtx_gb_result *r;
	struct dtx_ordered *o;
	unsigned at, nworkers;
};

/* The rows of the groups whose faces are those of locals [from, to). */
static enum dtx_code part_rows(const struct part *p, unsigned from, unsigned to,
                               struct dtx_err *err)
{
	struct dtx_gb_result *r = p->r;
	struct dtx_gb_scratch x = { .which = NULL };
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_gb_scratch_init(&x, r, PART_FACES, err));
	DTX_TRY(part_faces(r, p->at, from, to, err));
	for (size_t at = 0; at < r->nfaces; at += PART_FACES) {
		uint32_t n = (uint32_t)DTX_MIN(PART_FACES, r->nfaces - at);

		DTX_TRY(dtx_gb_make_faces(p->ox, r, &x, r->face + at, n, &b, err));
		DTX_TRY(order_rows(p->ox, r, p->o, b, r->face + at, err));
		dtx_batch_free(b);
		b = NULL;
	}
out:
	dtx_batch_free(b);
	dtx_gb_scratch_clear(&x);
	return rc;
}

/* Groups of rows that were on disk.  Those that they have no room for are of other groups: all of
 * theirs is there. */
static enum dtx_code late_rows(const struct part *p, struct dtx_diskparts *const *from, unsigned n,
                               unsigned sub, unsigned late, struct dtx_err *err)
{
	struct dtx_gb_result *r = p->r;
	struct dtx_diskparts *rest = NULL;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_gb_late(p->ox, from, n, sub, late, &r->l[p->nworkers], err));
	r->n = p->nworkers + 1;
	DTX_TRY(finish_keys(r->l[p->nworkers], err));
	rest = r->l[p->nworkers]->spilled;
	r->l[p->nworkers]->spilled = NULL;
	DTX_TRY(dtx_gb_combine_one(r->l, p->nworkers, p->at, DTX_DISK_BITS, err));
	DTX_TRY(part_rows(p, p->nworkers, r->n, err));
	dtx_gb_free_local(p->ox, r->l[p->nworkers]);
	r->n = p->nworkers;
	for (unsigned i = 0; rest && i < DTX_DISK_PARTS; i++)
		DTX_TRY(late_rows(p, &rest, 1, i, late + 1, err));
out:
	dtx_diskparts_free(rest);
	return rc;
}

/* The groups that the workers have come last: a late one may be one of them. */
static enum dtx_code disk_part(const struct part *p, struct dtx_diskparts *const *from,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_gb_combine_part(p->r->l, p->nworkers, p->at, DTX_DISK_BITS, err));
	DTX_TRY(late_rows(p, from, p->nworkers, p->at, 1, err));
	DTX_TRY(part_rows(p, 0, p->nworkers, err));
	drop_states(p->r, p->at);
out:
	return rc;
}

static void drop_locals(const struct dtx_opctx *ox, struct dtx_gb_result *r)
{
	for (unsigned w = 0; r->l && w < r->n; w++)
		dtx_gb_free_local(ox, r->l[w]);
	r->n = 0;
}

static enum dtx_code disk_parts(const struct dtx_opctx *ox, struct dtx_gb_result *r,
                                struct dtx_ordered *o, struct dtx_err *err)
{
	struct part p = { ox, r, o, 0, r->n };
	enum dtx_code rc = DTX_OK;
	struct dtx_diskparts **from = dtx_mem_alloc(r->n + 1u, sizeof(struct dtx_diskparts *));

	if (!from)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < r->n; w++)
		from[w] = r->l[w]->spilled;
	for (; p.at < DTX_DISK_PARTS; p.at++)
		DTX_TRY(disk_part(&p, from, err));
out:
	dtx_mem_free(from);
	return rc;
}

static enum dtx_code from_disk(const struct dtx_opctx *ox, struct dtx_gb_result *r,
                               struct dtx_err *err)
{
	struct dtx_ordered o, *all = &o;
	enum dtx_code rc = DTX_OK;

	dtx_ordered_init(&o, SIZE_MAX);
	r->from = dtx_mem_alloc(ox->out->nfields + 1u, sizeof(*r->from));
	if (!r->from)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < ox->out->nfields; i++)
		r->from[i] = (int32_t)i;
	for (unsigned w = 0; w < r->n; w++) {
		dtx_gb_drop_scratch(r->l[w]);
		DTX_TRY(finish_keys(r->l[w], err));
	}
	DTX_TRY(disk_parts(ox, r, &o, err));
	drop_locals(ox, r);
	DTX_TRY(dtx_sorter_sort(&o.sorter, err));
	DTX_TRY(dtx_ordered_take(&all, 1, SIZE_MAX, &r->rows, err));
out:
	dtx_ordered_clear(&o);
	return rc;
}

/* --- the result, made in parts --- */

void dtx_gb_free_shared(const struct dtx_opctx *ox, void *shared)
{
	struct dtx_gb_result *r = shared;

	if (!r)
		return;
	drop_locals(ox, r);
	dtx_mem_free(r->l);
	dtx_mem_free(r->face);
	dtx_mem_free(r->from);
	dtx_ordered_free(r->rows);
	dtx_mem_free(r);
}

/* The workers' locals are left empty. */
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

enum dtx_code dtx_gb_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                              void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_result *r = dtx_mem_zalloc(1, sizeof(*r));

	(void)out;
	if (!r)
		DTX_FAIL_MEM(err);
	r->s = ox->bound;
	r->part_faces = r->s->grows ? PART_GROWS : PART_FACES;
	DTX_TRY(take_locals(r, locals, n, err));
	if (dtx_gb_any_spilled(r->l, n))
		DTX_TRY(from_disk(ox, r, err));
	else
		DTX_TRY(in_memory(r, err));
	*shared = r;
	r = NULL;
out:
	dtx_gb_free_shared(ox, r);
	return rc;
}

uint64_t dtx_gb_parts(const struct dtx_opctx *ox, const struct dtx_origin **origin)
{
	const struct dtx_gb_result *r = ox->shared;

	*origin = NULL;
	return r->rows ? r->rows->merge.nparts : (r->nfaces + r->part_faces - 1) / r->part_faces;
}

/* --- faces of a part --- */

/* Workers' entries in ascending position: from at[w] to end[w]. */
struct walk {
	const struct dtx_gb_result *r;
	uint32_t *at, *end;
	struct dtx_gb_face *face;
	size_t next, last; /* where faces are in an array */
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

/* Part `part` starts where that share of the largest worker's entries is over. */
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
	if (!k->r->face)
		dtx_mem_free(k->face);
}

static enum dtx_code walk_init(struct walk *k, const struct dtx_gb_result *r, uint64_t part,
                               uint64_t nparts, uint32_t most, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*k = (struct walk){ .r = r, .next = part * r->part_faces };
	k->last = DTX_MIN(k->next + r->part_faces, r->nfaces);
	if (r->face)
		goto out;
	k->at = dtx_mem_alloc(r->n + 1u, sizeof(*k->at));
	k->end = dtx_mem_alloc(r->n + 1u, sizeof(*k->end));
	k->face = dtx_mem_alloc(most, sizeof(*k->face));
	if (!k->at || !k->end || !k->face)
		DTX_FAIL_MEM(err);
	part_starts(r, part, nparts, k->at);
	part_starts(r, part + 1, nparts, k->end);
out:
	return rc;
}

/* The next ones, up to `most`; 0: no more. */
static uint32_t walk_next(struct walk *k, uint32_t most)
{
	struct dtx_gb_local *const *l = k->r->l;
	uint32_t n = 0;

	if (k->r->face) {
		n = (uint32_t)DTX_MIN(most, k->last - k->next);
		k->face = k->r->face + k->next;
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
		if (is_face(l[best], k->at[best]))
			k->face[n++] = (struct dtx_gb_face){ l[best]->pos[k->at[best]], best,
				                             k->at[best] };
		k->at[best]++;
	}
	return n;
}

/* What the states of these groups hold goes with their rows: by the workers, not at the end by one.
 */
static void drop_made(const struct walk *k, uint32_t n)
{
	for (uint32_t i = 0; k->r->s->grows && i < n; i++)
		dtx_gb_drop_state(k->r->l[k->face[i].local], k->face[i].id);
}

enum dtx_code dtx_gb_make(const struct dtx_opctx *ox, uint64_t part, struct dtx_emit *out,
                          struct dtx_err *err)
{
	const struct dtx_gb_result *r = ox->shared;
	const struct dtx_colmap map = { ox->out->nfields, r->from };
	uint32_t most = DTX_MIN(dtx_op_batch_rows(ox), PART_FACES);
	struct walk k = { .r = r };
	struct dtx_gb_scratch x = { .which = NULL };
	const struct dtx_origin *origin;
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;
	uint32_t n;

	if (r->rows)
		return dtx_merge_part(&r->rows->merge, part, ox, &map, out, err);
	DTX_TRY(dtx_gb_scratch_init(&x, r, most, err));
	DTX_TRY(walk_init(&k, r, part, dtx_gb_parts(ox, &origin), most, err));
	while (!dtx_emit_full(out) && (n = walk_next(&k, most)) > 0) {
		DTX_TRY(dtx_halt_look(err));
		DTX_TRY(dtx_gb_make_faces(ox, r, &x, k.face, n, &b, err));
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
	.finalize = dtx_gb_finalize,
	.free_local = dtx_gb_free_local,
	.free_shared = dtx_gb_free_shared,
	.parts = dtx_gb_parts,
	.make = dtx_gb_make,
};
