/* The file of records that `quarantine` keeps out of the table: written with the outputs. */
#include "cli/run/runner.h"

#include <stdio.h>
#include <string.h>

static bool rejects_wanted(const struct dtx_runner *r)
{
	uint32_t i;

	for (i = 0; i < r->plan->ninputs; i++) {
		if (r->plan->input[i].opts.ragged == DTX_RAGGED_QUARANTINE)
			return true;
	}
	return false;
}

/* The one file that the plan or the command line names; NULL: none. */
static enum dtx_code rejects_named(const struct dtx_runner *r, const char **path,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	*path = NULL;
	for (i = 0; i < r->plan->ninputs; i++) {
		const struct dtx_read_opts *o = &r->plan->input[i].opts;

		if (o->ragged != DTX_RAGGED_QUARANTINE || !o->rejects)
			continue;
		if (*path && strcmp(*path, o->rejects) != 0)
			DTX_FAIL(err, DTX_E_USAGE,
			         "inputs name two files for rejects, '%s' and '%s': a run has one",
			         *path, o->rejects);
		*path = o->rejects;
	}
out:
	return rc;
}

enum dtx_code dtx_runner_rejects_path(struct dtx_runner *r, const char **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *output = r->plan->output[0].path, *path = NULL;

	*out = NULL;
	if (!rejects_wanted(r)) {
		if (r->args->rejects)
			DTX_FAIL(err, DTX_E_USAGE, "option '--rejects' wants --ragged quarantine");
		goto out;
	}
	DTX_TRY(rejects_named(r, &path, err));
	if (!path && output && strcmp(output, "-") != 0) {
		path = dtx_arena_printf(&r->plan->arena, "%s.rejects.csv", output);
		if (!path)
			DTX_FAIL_MEM(err);
	}
	if (!path) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "quarantine has no file for the rejects of a run to stdout");
		dtx_err_hint(err, "give --rejects FILE, or -o FILE for the output");
		goto out;
	}
	*out = path;
out:
	return rc;
}

/* Durable under its temp name; the caller commits. */
enum dtx_code dtx_runner_rejects_write(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *path = NULL;
	uint32_t i;

	DTX_TRY(dtx_runner_rejects_path(r, &path, err));
	if (!path)
		goto out;
	DTX_TRY(dtx_outfile_open(path, r->run_id, DTX_OUTFILE_SPOOL, &r->rejects, err));
	DTX_TRY(dtx_outfile_write(r->rejects, DTX_REJECTS_HEADER, strlen(DTX_REJECTS_HEADER), err));
	for (i = 0; i < r->result->ninputs; i++) {
		const char *text = r->result->input[i].rejects;

		if (text)
			DTX_TRY(dtx_outfile_write(r->rejects, text, r->result->input[i].nrejects,
			                          err));
	}
	DTX_TRY(dtx_outfile_finish(r->rejects, err));
out:
	return rc;
}
