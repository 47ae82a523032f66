/* Files of a run: what it reads must not be what it writes. */
#include "cli/run/runner.h"

#include <string.h>

#include "core/io/write/outfile.h"
#include "core/io/write/reserve.h"
#include "core/plan/exec/outputs.h"

static enum dtx_code places_read(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_run_args *a = r->args;
	const struct {
		const char *path, *what;
	} file[] = {
		{ r->replay ? NULL : r->plan_path, "the plan of this run" },
		{ a->snippet, "the snippet of this run" },
		{ a->author_key_file, "the file with the author's key" },
	};

	for (size_t i = 0; i < DTX_COUNT(file); i++)
		if (file[i].path)
			DTX_TRY(dtx_reserve(file[i].path, file[i].what, err));
	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		if (r->plan->input[i].path)
			DTX_TRY(dtx_reserve(r->plan->input[i].path, "an input of this run", err));
out:
	return rc;
}

enum dtx_code dtx_runner_places_files(const struct dtx_plan_file *file, size_t n,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < n; i++)
		DTX_TRY(dtx_reserve(file[i].path, "an input of this run", err));
out:
	return rc;
}

/* A name that a shell made of a pattern is an input more often than an output. */
static enum dtx_code places_positional(const struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!r->args->positional || r->args->force)
		return DTX_OK;
	DTX_TRY(dtx_outfile_absent(
		r->args->output,
		"--force replaces it, -o FILE writes to another file; several files that are one "
		"input are given as a pattern in quotes: dtx convert '*.csv' -o FILE",
		err));
out:
	return rc;
}

static enum dtx_code places_outputs(const struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < r->plan->noutputs; i++) {
		const char *path = r->plan->output[i].path;

		rc = dtx_outfile_claim(path ? path : "-", "the output", "an output of this run",
		                       err);
		if (rc != DTX_OK)
			dtx_err_at(err, r->plan->output[i].at);
		DTX_TRY(rc);
	}
	DTX_TRY(dtx_outputs_check(r->plan, err));
out:
	/* what is not named in the plan has no place in the plan */
	if (rc != DTX_OK && err && (r->args->output || !json_object_get(r->plan->json, "output")))
		err->at[0] = '\0';
	return rc;
}

enum dtx_code dtx_runner_places(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_err *worst = dtx_errlist_worst(&r->findings);
	const char *rejects = NULL;

	/* a plan that is at fault does not run: its own errors are the ones to report */
	if (worst && worst->severity == DTX_SEV_ERROR)
		return DTX_OK;
	DTX_TRY(places_read(r, err));
	DTX_TRY(places_outputs(r, err));
	DTX_TRY(places_positional(r, err));
	DTX_TRY(dtx_runner_rejects_path(r, &rejects, err));
	if (rejects)
		DTX_TRY(dtx_outfile_claim(rejects, "the rejects", "the rejects of this run", err));
	DTX_TRY(dtx_runner_receipt_claim(r, err));
out:
	return rc;
}
