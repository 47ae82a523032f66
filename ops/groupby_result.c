/* The result of group_by: faces of all workers in order of position, as batches. */
#include <stdlib.h>

#include "core/data/key.h"
#include "ops/groupby.h"
#include "ops/opkit.h"

struct face {
	uint64_t pos;
	uint32_t local, id;
};
struct result {
	const struct dtx_opctx *ox;
	const struct dtx_gb_state *s;
	struct dtx_gb_local *const *l;
	unsigned n;
	struct face *face;
	size_t nfaces;
	/* scratch of a batch */
	uint32_t *which, *row;
	void **state;
	struct dtx_column **src;
};

static bool is_face(const struct dtx_gb_local *l, uint32_t id)
{
	uint64_t kind = l->link[id] & DTX_GB_KIND;

	return kind == DTX_GB_SELF || kind == DTX_GB_FACE;
}

static int face_cmp(const void *a, const void *b)
{
	const struct face *x = a, *y = b;

	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/* Next entry of worker w that is a face, from id on. */
static uint32_t next_face(const struct dtx_gb_local *l, uint32_t id)
{
	while (id < l->n && !is_face(l, id))
		id++;
	return id;
}

/* Workers' faces come in ascending position: a merge, without a sort. */
static enum dtx_code merge_faces(struct result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *at = dtx_mem_zalloc((size_t)r->n + 1, sizeof(*at));

	if (!at)
		DTX_FAIL_MEM(err);
	for (unsigned w = 0; w < r->n; w++)
		at[w] = next_face(r->l[w], 0);
	for (;;) {
		unsigned best = r->n;

		for (unsigned w = 0; w < r->n; w++)
			if (at[w] < r->l[w]->n &&
			    (best == r->n || r->l[w]->pos[at[w]] < r->l[best]->pos[at[best]]))
				best = w;
		if (best == r->n)
			break;
		r->face[r->nfaces++] = (struct face){ r->l[best]->pos[at[best]], best, at[best] };
		at[best] = next_face(r->l[best], at[best] + 1);
	}
out:
	dtx_mem_free(at);
	return rc;
}

static enum dtx_code collect_faces(struct result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t most = 0;
	bool unordered = false;

	for (unsigned w = 0; w < r->n; w++) {
		most += r->l[w]->n;
		unordered = unordered || r->l[w]->unordered;
	}
	r->face = dtx_mem_alloc(most + 1, sizeof(*r->face));
	if (!r->face)
		DTX_FAIL_MEM(err);
	if (!unordered) {
		DTX_TRY(merge_faces(r, err));
		goto out;
	}
	for (unsigned w = 0; w < r->n; w++)
		for (uint32_t id = next_face(r->l[w], 0); id < r->l[w]->n;
		     id = next_face(r->l[w], id + 1))
			r->face[r->nfaces++] = (struct face){ r->l[w]->pos[id], w, id };
	qsort(r->face, r->nfaces, sizeof(*r->face), face_cmp);
out:
	return rc;
}

static bool has_written(const struct dtx_gb_local *l, uint32_t i)
{
	return l->state->key[i].written && l->n && l->written[i].n == l->n;
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

/* --- one batch of faces --- */

static void *state_of(const struct result *r, const struct face *f)
{
	const struct dtx_gb_local *l = r->l[f->local];
	uint64_t link = l->link[f->id];

	if ((link & DTX_GB_KIND) == DTX_GB_FACE) {
		const struct dtx_gb_local *h = r->l[dtx_gb_ref_local(link)];

		return h->states + (size_t)(uint32_t)link * r->s->stride;
	}
	return l->states + (size_t)f->id * r->s->stride;
}

static enum dtx_code key_column(struct result *r, uint32_t i, uint32_t n, struct dtx_column **out,
                                struct dtx_err *err)
{
	for (unsigned w = 0; w < r->n; w++)
		r->src[w] = r->l[w]->n ? r->l[w]->column[i] : NULL;
	return dtx_cells_gather(r->src, r->n, r->which, r->row, n, &r->s->key[i].field, out, err);
}

/* Result i over the faces: results of its calls, then the formula around them. */
static enum dtx_code out_column(struct result *r, uint32_t i, const struct face *face,
                                const struct dtx_batch *keys, uint32_t n, struct dtx_column **out,
                                struct dtx_err *err)
{
	const struct dtx_gb_out *o = &r->s->out[i];
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *inner = NULL;
	int32_t plain = dtx_bound_column(o->bound);

	DTX_TRY(dtx_batch_new(o->inner, n, &inner, err));
	for (uint32_t k = 0; k < r->s->nkeys; k++)
		inner->col[k] = dtx_column_ref(keys->col[k]);
	for (size_t c = 0; c < o->calls.n; c++) {
		for (uint32_t k = 0; k < n; k++)
			r->state[k] = (char *)state_of(r, &face[k]) + o->offset[c];
		DTX_TRY(dtx_agg_final(o->calls.call[c], r->state, n, &inner->col[r->s->nkeys + c],
		                      err));
	}
	if (plain >= 0 && inner->col[plain])
		*out = dtx_column_ref(inner->col[plain]);
	else
		DTX_TRY(dtx_op_eval(r->ox, o->bound, inner, out, err));
out:
	dtx_batch_free(inner);
	return rc;
}

static enum dtx_code having(struct result *r, struct dtx_batch *b, struct dtx_err *err)
{
	struct dtx_eval_counts counts = { 0 };
	int64_t falses = 0, nulls = 0;
	enum dtx_code rc = DTX_OK;

	if (!r->s->having)
		goto out;
	DTX_TRY(dtx_eval_keep(r->s->having, b, &falses, &nulls, &counts, err));
	dtx_op_count(r->ox, "having", falses + nulls);
	dtx_op_evals(r->ox, &counts);
	DTX_TRY(dtx_batch_dense(b, err));
out:
	return rc;
}

static enum dtx_code emit_faces(struct result *r, const struct face *face, uint32_t n, uint64_t seq,
                                struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_batch_new(r->ox->out, n, &b, err));
	b->seq = seq;
	for (uint32_t k = 0; k < n; k++) {
		r->which[k] = face[k].local;
		r->row[k] = face[k].id;
	}
	for (uint32_t i = 0; i < r->s->nkeys; i++)
		DTX_TRY(key_column(r, i, n, &b->col[i], err));
	for (uint32_t i = 0; i < r->s->nouts; i++)
		if (dtx_gb_wants(r->ox, r->s, i))
			DTX_TRY(out_column(r, i, face, b, n, &b->col[r->s->nkeys + i], err));
	DTX_TRY(having(r, b, err));
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

/* --- sorted order --- */

struct sort_key {
	struct dtx_str bytes;
	struct face face;
};

static int sort_key_cmp(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int c = dtx_str_cmp(x->bytes, y->bytes);

	return c ? c : face_cmp(&x->face, &y->face);
}

static enum dtx_code sort_faces(struct result *r, struct dtx_err *err)
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
static enum dtx_code sorted(struct result *r, struct dtx_err *err)
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

/* by: [] gives one row, even of an empty table. */
static enum dtx_code one_row(struct result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_gb_local *l = r->l[0];

	for (unsigned w = 0; w < r->n; w++)
		if (r->l[w]->n)
			goto out;
	if (!dtx_mem_reserve(&l->pos, &l->cap_pos, 1, sizeof(*l->pos)) ||
	    !dtx_mem_reserve(&l->link, &l->cap_link, 1, sizeof(*l->link)) ||
	    (r->s->stride && !dtx_mem_reserve(&l->states, &l->cap_states, 1, r->s->stride)))
		DTX_FAIL_MEM(err);
	l->pos[0] = 0;
	l->link[0] = DTX_GB_SELF;
	for (uint32_t i = 0; i < r->s->nouts; i++)
		for (size_t c = 0; c < r->s->out[i].calls.n; c++)
			dtx_agg_init(r->s->out[i].calls.call[c], l->states + r->s->out[i].offset[c],
			             r->s->stride, 0, 1);
	l->n = 1;
out:
	return rc;
}

static enum dtx_code result_init(struct result *r, uint32_t most, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	r->which = dtx_mem_alloc(most, sizeof(*r->which));
	r->row = dtx_mem_alloc(most, sizeof(*r->row));
	r->state = dtx_mem_alloc(most, sizeof(void *));
	r->src = dtx_mem_zalloc((size_t)r->n + 1, sizeof(struct dtx_column *));
	if (!r->which || !r->row || !r->state || !r->src)
		DTX_FAIL_MEM(err);
	if (r->s->nkeys == 0)
		DTX_TRY(one_row(r, err));
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

static void result_clear(struct result *r)
{
	dtx_mem_free(r->face);
	dtx_mem_free(r->which);
	dtx_mem_free(r->row);
	dtx_mem_free(r->state);
	dtx_mem_free(r->src);
}

enum dtx_code dtx_gb_finalize(const struct dtx_opctx *ox, void *const *locals, unsigned n,
                              void **shared, struct dtx_emit *out, struct dtx_err *err)
{
	struct result r = {
		.ox = ox, .s = ox->bound, .l = (struct dtx_gb_local *const *)locals, .n = n
	};
	enum dtx_code rc = DTX_OK;
	uint32_t most = dtx_op_batch_rows(ox);
	uint64_t seq = 0;

	(void)shared;
	DTX_TRY(result_init(&r, most, err));
	for (size_t at = 0; at < r.nfaces && !dtx_emit_full(out); at += most)
		DTX_TRY(emit_faces(&r, r.face + at, (uint32_t)DTX_MIN(most, r.nfaces - at), seq++,
		                   out, err));
out:
	result_clear(&r);
	return rc;
}
