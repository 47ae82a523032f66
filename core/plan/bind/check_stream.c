/* Streams among the inputs: they can be read once, so the plan must not need them twice, and must
 * declare what cannot be detected from the first rows alone. */
#include <stdio.h>

#include "core/io/source/stream_reader.h"
#include "core/plan/plan_internal.h"

static enum dtx_code check_declared(struct dtx_plan_parse *p, const struct dtx_plan_input *in,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err why = DTX_ERR_INIT;
	const char *member = "";
	char at[sizeof(in->at) + 24];

	if (dtx_stream_reader_check(&in->opts, &member, &why) != DTX_OK) {
		snprintf(at, sizeof(at), "%s/%s", in->at, member);
		DTX_TRY(dtx_part_found(p, &why, at, err));
	}
out:
	dtx_err_clear(&why);
	return rc;
}

static enum dtx_code check_once(struct dtx_plan_parse *p, const struct dtx_plan_input *in,
                                uint32_t readers, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err why = DTX_ERR_INIT;
	char at[sizeof(in->at) + 24];

	snprintf(at, sizeof(at), "%s/stream", in->at);
	if (readers > 1) {
		dtx_err_set(&why, DTX_E_PARAM_CONFLICT, __FILE__, __LINE__,
		            "a stream can be read only once: input '%s' is read by %u steps, "
		            "outputs or checks",
		            in->name, readers);
		dtx_err_hint(&why, "let one step read it, and the others the \"out\" of that step");
		DTX_TRY(dtx_part_found(p, &why, at, err));
	}
	if (p->plan->fallback == DTX_FALLBACK_PLAN)
		DTX_TRY(dtx_part_fail(p, DTX_E_PARAM_CONFLICT, at, err,
		                      "a stream can be read only once: \"fallback\": \"plan\" "
		                      "needs all of input '%s'",
		                      in->name));
out:
	dtx_err_clear(&why);
	return rc;
}

enum dtx_code dtx_part_streams(struct dtx_plan_parse *p, struct dtx_arena *arena,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_plan *plan = p->plan;
	uint32_t *readers = dtx_arena_zalloc(arena, plan->ninputs + plan->nsteps, sizeof(*readers));

	if (!readers)
		DTX_FAIL_MEM(err);
	dtx_plan_readers(plan, readers);
	for (uint32_t i = 0; i < plan->ninputs; i++) {
		const struct dtx_plan_input *in = &plan->input[i];

		if (!in->opts.stream || in->broken)
			continue;
		DTX_TRY(check_declared(p, in, err));
		DTX_TRY(check_once(p, in, readers[i], err));
	}
out:
	return rc;
}
