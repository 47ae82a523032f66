/* Follows workbook cells through operators that move columns, see origin_map.h. */
#include "core/plan/lineage/origin_map.h"

static bool moves_nothing(const int32_t *from, uint32_t n, uint32_t ncols)
{
	for (uint32_t i = 0; i < n; i++)
		if (from[i] != (int32_t)i)
			return false;
	return n == ncols;
}

/* Computes the origin of the batches that leave `pass`. It is the same as before the pass unless
 * the pass moves columns. */
static enum dtx_code move_origin(struct dtx_pass *pass, struct dtx_arena *arena,
                                 struct dtx_err *err)
{
	const struct dtx_opctx *ox = &pass->link->ox[pass->input];
	const int32_t *from = pass->link->from[pass->input];
	const struct dtx_origin *in = pass->in;
	uint32_t n = ox->out->nfields, *physical;
	struct dtx_origin *out;
	enum dtx_code rc = DTX_OK;

	pass->out = in;
	/* A line of a text file is cited by its number and the column's name, so only sheets need
	 * this. */
	if (!in || !in->sheet || moves_nothing(from, n, ox->in[pass->input]->nfields))
		goto out;
	out = dtx_arena_alloc(arena, 1, sizeof(*out));
	physical = dtx_arena_alloc(arena, n + 1u, sizeof(*physical));
	if (!out || !physical)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++) {
		physical[i] = from[i] < 0 ? UINT32_MAX : (uint32_t)from[i];
		if (from[i] >= 0 && in->physical_col)
			physical[i] = (uint32_t)from[i] < in->ncols ? in->physical_col[from[i]]
			                                            : UINT32_MAX;
	}
	*out = *in;
	out->physical_col = physical;
	out->ncols = n;
	pass->out = out;
out:
	return rc;
}

enum dtx_code dtx_origin_map_leg(struct dtx_pipe_source *leg, struct dtx_arena *arena,
                                 struct dtx_err *err)
{
	const struct dtx_origin *in = leg->reader ? &leg->reader->origin : NULL;
	enum dtx_code rc = DTX_OK;

	if (leg->table && leg->table->nbatches)
		in = leg->table->batch[0]->origin;
	if (leg->made.op)
		in = leg->made.origin;
	for (unsigned i = 0; i < leg->npass; i++) {
		leg->pass[i].in = in;
		DTX_TRY(move_origin(&leg->pass[i], arena, err));
		in = leg->pass[i].out;
	}
out:
	return rc;
}
