/* check: reports the findings of a plan before anything runs. */
#include "cli/run/read_opts.h"
#include "cli/run/runner.h"

struct check_args {
	struct dtx_run_args run; /* first, because the runner reads it */
	bool typed, canonical, id;
};

static const struct dtx_opt check_opts[] = {
	{ .name = "typed",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct check_args, typed),
	  .help = "what would need a snippet is an error" },
	{ .name = "canonical",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct check_args, canonical),
	  .help = "print the canonical plan" },
	{ .name = "id",
	  .kind = DTX_O_FLAG,
	  .offset = offsetof(struct check_args, id),
	  .help = "print the plan id" },
	DTX_PARAM_OPTS(check_args, run.),
	{ .name = "sheet",
	  .kind = DTX_O_TEXT,
	  .metavar = "NAME|N",
	  .offset = offsetof(struct check_args, run.sheet),
	  .help = "sheet of the first input" },
	{ .name = "limit",
	  .kind = DTX_O_LIST,
	  .metavar = "archive.NAME=N",
	  .offset = offsetof(struct check_args, run.limit),
	  .help = "change a limit on what workbooks and gzip files may unpack to, see dtx run" },
};

/* Looks up in the cache what could answer the steps and inputs that need a snippet. */
struct check_look {
	struct dtx_runner *r;
	bool ready;
	uint32_t asked, fits;
	int status; /* of the first one without an answer; 0: all have one */
};

static enum dtx_code check_ready(struct check_look *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (l->ready)
		goto out;
	DTX_TRY(dtx_runner_fallback(l->r, 0, NULL, err));
	DTX_TRY(dtx_runner_store_look(l->r, err));
	l->ready = true;
out:
	return rc;
}

/* The fallback of struct dtx_host: only looks an answer up. */
static enum dtx_code check_look(void *arg, const struct dtx_fallback_request *region,
                                struct dtx_table **out, struct dtx_err *err)
{
	struct check_look *l = arg;
	enum dtx_rung rung = DTX_RUNG_NONE;
	enum dtx_code rc = DTX_OK;
	char id[DTX_SNIPPET_ID] = "";

	(void)out;
	l->asked++;
	DTX_TRY(check_ready(l, err));
	DTX_TRY(dtx_fallback_look(&l->r->fallback, region, &rung, id, err));
	if (rung == DTX_RUNG_EXACT || rung == DTX_RUNG_COMPATIBLE) {
		l->fits++;
		dtx_out_note(l->r->cli, "dtx: %s: snippet %.8s of the cache fits\n", region->at,
		             id);
	} else if (rung == DTX_RUNG_PENDING) {
		dtx_out_note(l->r->cli, "dtx: %s: snippet %.8s fits and waits for approval\n",
		             region->at, id);
		l->status = l->status ? l->status : dtx_code_exit(DTX_E_NEEDS_APPROVAL, false);
	}
	if (rung != DTX_RUNG_EXACT && rung != DTX_RUNG_COMPATIBLE && !l->status) {
		struct dtx_err why = DTX_ERR_INIT;

		dtx_err_copy(&why, region->trigger);
		why.severity = DTX_SEV_FALLBACK;
		l->status = dtx_err_exit(&why);
		dtx_err_clear(&why);
	}
out:
	return rc == DTX_OK ? DTX_E_NEEDS_SNIPPET : rc;
}

/* The exit status that a run would end with: 5 if something needs a snippet that is not there;
 * if a snippet might help, the status of the error. */
static int check_status(const struct dtx_runner *r, const struct check_look *l, bool typed)
{
	const struct dtx_err *worst = dtx_errlist_worst(&r->findings);

	if (!worst)
		return 0;
	if (worst->severity == DTX_SEV_ERROR || typed)
		return dtx_code_exit(worst->code, worst->run_time);
	if (l->status)
		return l->status;
	return r->result && l->asked == r->result->nregions && l->fits == l->asked
	               ? 0
	               : dtx_err_exit(worst);
}

static int check_print(const struct dtx_runner *r, const struct check_args *a)
{
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err err = DTX_ERR_INIT;
	int status = 0;

	if (a->id)
		dtx_buf_printf(&out, "%s\n", r->plan->id);
	if (a->canonical) {
		if (dtx_plan_canonical(r->plan, &out, &err) != DTX_OK)
			status = dtx_out_fail(r->cli, &err);
		dtx_buf_add(&out, "\n");
	}
	if (!status && (a->id || a->canonical))
		status = dtx_out_print(r->cli, &out);
	dtx_buf_clear(&out);
	return status;
}

static bool is_known(const struct dtx_errlist *list, const struct dtx_err *w)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->item[i].code == w->code && !strcmp(list->item[i].at, w->at))
			return true;
	return false;
}

/* Adds the warnings that a run would also give once the columns are known. */
static void add_warnings(struct dtx_runner *r)
{
	for (size_t i = 0; r->result && i < r->result->warnings.n; i++) {
		struct dtx_err *w = &r->result->warnings.item[i];

		if (w->step >= 0 && !is_known(&r->findings, w))
			/* if memory runs out, one warning is missing */
			(void)dtx_errlist_take(&r->findings, w);
	}
}

static int check_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct check_args *a = args;
	struct dtx_runner r = {
		.cli = cli, .args = &a->run, .plan_path = argv[0], .command = "check"
	};
	struct check_look look = { .r = &r };
	const struct dtx_host host = { .arg = &look, .fallback = check_look };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_out_where where = { .plan_path = argv[0] };
	const struct dtx_err *worst;
	enum dtx_code rc;
	int status;

	r.looks = &host;
	rc = dtx_runner_bind(&r, argc - 1, argv + 1, &err);
	worst = dtx_errlist_worst(&r.findings);
	where.plan = r.plan ? r.plan->json : NULL;
	where.inputs = r.plan;
	add_warnings(&r);
	dtx_out_errors(cli, &r.findings, &where);
	if (rc != DTX_OK && !(worst && worst->code == rc))
		dtx_out_error(cli, &err, &where);
	status = check_status(&r, &look, a->typed);
	if (rc != DTX_OK && !status)
		status = dtx_code_exit(rc, err.run_time);
	/* A plan that only lacks a snippet is still a plan, so it is printed. */
	if (r.plan && (!status || (!a->typed && worst && worst->severity == DTX_SEV_FALLBACK))) {
		int printed = check_print(&r, a);

		status = status ? status : printed;
	}
	dtx_err_clear(&err);
	dtx_runner_clear(&r);
	return status;
}

const struct dtx_cmd dtx_cmd_check = {
	.name = "check",
	.usage = "PLAN [FILE | NAME=FILE]...",
	.summary = "Check a plan: all findings at once, with files also against their headers",
	.notes = "  dtx check plan.json\n"
		 "  dtx check plan.json report.xlsx --typed\n"
		 "  dtx check plan.json --errors=json 2>&1 | jq .",
	.exits =
		"as run would end: 0 the plan can run; 3 it is invalid; 4 it does not fit the "
		"input; 5 a step needs a snippet and none fits; 6 one that fits waits for approval",
	.opts = check_opts,
	.nopts = DTX_COUNT(check_opts),
	.args_size = sizeof(struct check_args),
	.min_args = 1,
	.max_args = -1,
	.run = check_run,
};
