/* Inputs of several files: which, and those of a recorded run. */
#include <string.h>

#include "cli/run/runner.h"
#include "core/plan/parse/expand_globs.h"

enum dtx_code dtx_runner_spread(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan_file *file;
	size_t n;

	/* from the last: those before it keep their place */
	for (uint32_t i = r->plan->ninputs; i-- > 0;) {
		if (!r->plan->input[i].path)
			continue;
		DTX_TRY(dtx_expand_files(r->plan, i, &file, &n, err));
		/* a pattern that takes in what the run writes would read it the next time */
		DTX_TRY(dtx_runner_places_files(file, n, err));
		DTX_TRY(dtx_expand_input(r->plan, i, file, n, &r->findings, err));
	}
out:
	return rc;
}

static const json_t *recorded_file(const struct dtx_runner *r, const char *input, size_t k)
{
	char name[256];

	dtx_expand_name(name, sizeof(name), input, k);
	return dtx_json_find(json_object_get(r->replay->record, "inputs"), "alias", name);
}

enum dtx_code dtx_runner_replay_files(struct dtx_runner *r, uint32_t i, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan_input *in = &r->plan->input[i];
	size_t n = 0;

	while (recorded_file(r, in->name, n))
		n++;
	if (!n)
		goto out;
	in->file = dtx_arena_zalloc(&r->plan->arena, n, sizeof(*in->file));
	if (!in->file)
		DTX_FAIL_MEM(err);
	for (size_t k = 0; k < n; k++) {
		const json_t *row = recorded_file(r, in->name, k);

		in->file[k].path = dtx_json_text(row, "uri", "-");
		in->file[k].shown = dtx_json_text(json_object_get(row, "reader"), "source_file",
		                                  in->file[k].path);
	}
	in->nfiles = n;
	in->path = in->file[0].path;
out:
	return rc;
}
