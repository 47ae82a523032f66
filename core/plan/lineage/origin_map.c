/* Follows workbook cells through operators that move columns, see origin_map.h. */
#include "core/plan/lineage/origin_map.h"

static bool moves_nothing(const int32_t *from, uint32_t n, uint32_t ncols)
{
	for (uint32_t i = 0; i < n; i++)
		if (from[i] != (int32_t)i)
			return false;
	return n == ncols;
}

/* Computes the origin of the batches that leave `stage`. It is the same as before the stage unless
 * the stage moves columns. */
static enum dtx_code move_origin(struct dtx_stage *stage, struct dtx_arena *arena,
                                 struct dtx_err *err)
{
	const struct dtx_opctx *ox = &stage->oper->ox[stage->input];
	const int32_t *from = stage->oper->from[stage->input];
	const struct dtx_origin *in = stage->in;
	uint32_t n = ox->out->nfields, *physical;
	struct dtx_origin *out;
	enum dtx_code rc = DTX_OK;

	stage->out = in;
	/* A line of a text file is cited by its number and the column's name, so only sheets need
	 * this. */
	if (!in || !in->sheet || moves_nothing(from, n, ox->in[stage->input]->nfields))
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
	stage->out = out;
out:
	return rc;
}

enum dtx_code dtx_origin_map_source(struct dtx_pipe_source *source, struct dtx_arena *arena,
                                    struct dtx_err *err)
{
	const struct dtx_origin *in = source->reader ? &source->reader->origin : NULL;
	enum dtx_code rc = DTX_OK;

	if (source->table && source->table->nbatches)
		in = source->table->batch[0]->origin;
	if (source->made.op)
		in = source->made.origin;
	for (unsigned i = 0; i < source->nstages; i++) {
		source->stage[i].in = in;
		DTX_TRY(move_origin(&source->stage[i], arena, err));
		in = source->stage[i].out;
	}
out:
	return rc;
}
