/* The file of records that `quarantine` keeps out of the table: written with the outputs. */
#include "cli/runner.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/mem.h"

static bool rejects_wanted(const struct dtx_runner *r)
{
	uint32_t i;

	for (i = 0; i < r->plan->ninputs; i++) {
		if (r->plan->input[i].opts.ragged == DTX_RAGGED_QUARANTINE)
			return true;
	}
	return false;
}

/* Also by another name, and where neither is made yet; devices take from everybody. */
bool dtx_runner_same_file(const char *a, const char *b)
{
	char *x = NULL, *y = NULL, *temp = NULL, *other = NULL;
	struct stat s, t;
	bool same = stat(a, &s) == 0 && stat(b, &t) == 0 && S_ISREG(s.st_mode) &&
	            s.st_dev == t.st_dev && s.st_ino == t.st_ino;

	if (!same && dtx_outfile_target(a, "", &x, &temp, NULL) == DTX_OK &&
	    dtx_outfile_target(b, "", &y, &other, NULL) == DTX_OK)
		same = (temp || !strcmp(a, "-")) && !strcmp(x, y);
	dtx_mem_free(x);
	dtx_mem_free(y);
	dtx_mem_free(temp);
	dtx_mem_free(other);
	return same;
}

enum dtx_code dtx_runner_apart(const struct dtx_runner *r, const char *path, const char *what,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *is = NULL;
	uint32_t i;

	for (i = 0; i < r->plan->ninputs; i++) {
		const char *input = r->plan->input[i].path;

		if (input && strcmp(input, "-") != 0 && dtx_runner_same_file(path, input))
			is = "an input";
	}
	for (i = 0; i < r->plan->noutputs; i++) {
		const char *output = r->plan->output[i].path;

		if (dtx_runner_same_file(path, output ? output : "-"))
			is = "an output";
	}
	if (r->plan_path && !r->replay && dtx_runner_same_file(path, r->plan_path))
		is = "the plan";
	if (is)
		DTX_FAIL(err, DTX_E_USAGE, "%s cannot go to '%s': it is %s of this run", what, path,
		         is);
out:
	return rc;
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
	DTX_TRY(dtx_runner_apart(r, path, "the rejects", err));
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
