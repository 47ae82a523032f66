/* Runs a plan: typed attempts, with regions for what they cannot do, until all outputs are there.
 *
 * An attempt binds steps, runs what must run before the rest can be bound (run_barrier), then
 * streams each output. An attempt that fails may have a successor (recover): types are widened, a
 * file is read with a remedy, a step or input becomes a region, a snippet is asked for again, or
 * one worker is used instead of many. Each reason can occur a bounded number of times, so attempts
 * end. */
#include "core/plan/exec/exec.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/plan/exec/exec_parts.h"
#include "core/plan/exec/memory_need.h"
#include "core/plan/exec/outputs.h"
#include "core/plan/exec/stats/run_stats.h"
#include "core/plan/exec/text_cause.h"
#include "core/plan/pipe/spread.h"

/* When a snippet may do what failed, and which snippet made a column that failed. */

bool dtx_exec_may_fallback(const struct dtx_exec_run *x, int32_t step)
{
	bool helper = x->bind_only || (x->host && x->host->fallback);

	return x->mode != DTX_FALLBACK_OFF && helper && step >= 0 &&
	       !x->plan->step[step].fallback_off;
}

bool dtx_exec_fallback_input(void *arg, uint32_t input, const struct dtx_err *why)
{
	struct dtx_exec_run *x = arg;
	bool helper = x->bind_only || (x->host && x->host->fallback);
	struct dtx_err finding = DTX_ERR_INIT;

	if (x->mode == DTX_FALLBACK_OFF || !helper ||
	    dtx_err_severity(why, true) != DTX_SEV_FALLBACK || x->plan->input[input].opts.stream ||
	    !dtx_regions_add_input(&x->regions, input, why, x->max_regions))
		return false;
	if (!x->bind_only)
		return true;
	dtx_err_copy(&finding, why);
	finding.severity = DTX_SEV_FALLBACK;
	return dtx_errlist_take(x->findings, &finding);
}

bool dtx_exec_fallback_read(struct dtx_exec_run *x, const struct dtx_err *why)
{
	int32_t input = why->run_time ? dtx_inputset_find(&x->in, why) : -1;

	return input >= 0 && dtx_exec_fallback_input(x, (uint32_t)input, why);
}

enum dtx_code dtx_exec_too_many(const struct dtx_exec_run *x, struct dtx_err *err)
{
	char was[sizeof(err->msg)];

	if (!err || x->regions.n < x->max_regions)
		return err ? err->code : DTX_E_SNIPPET_CANNOT;
	dtx_str_copy(was, sizeof(was), dtx_str_of(err->msg));
	snprintf(err->msg, sizeof(err->msg),
	         "the plan needs a snippet in more than %u parts; the last: %s: %.250s",
	         (unsigned)x->max_regions, dtx_code_name(err->code), was);
	dtx_text_singular(err->msg);
	err->code = DTX_E_SNIPPET_CANNOT;
	err->severity = DTX_SEV_ERROR;
	return err->code;
}

bool dtx_exec_select_cause(struct dtx_exec_run *x, uint32_t step, const struct dtx_err *why)
{
	struct dtx_region *one = dtx_regions_select_cause(&x->regions, &x->graph, step, why);

	if (!one || x->bind_only)
		return false;
	dtx_region_break(&x->regions, one, why);
	return true;
}

enum dtx_code dtx_exec_judge(struct dtx_exec_run *x, uint32_t step, struct dtx_errlist *found,
                             bool bad, bool *region, struct dtx_err *err)
{
	const struct dtx_err *worst = dtx_errlist_worst(found);
	enum dtx_code rc = DTX_OK;

	*region = bad && worst && worst->severity == DTX_SEV_FALLBACK &&
	          dtx_exec_select_cause(x, step, worst);
	if (*region)
		goto out;
	if (bad && worst && worst->severity == DTX_SEV_FALLBACK &&
	    dtx_exec_may_fallback(x, (int32_t)step)) {
		if (dtx_regions_add(&x->regions, x->plan, x->mode, step, worst, x->max_regions)) {
			*region = true;
			if (!x->bind_only)
				goto out;
		}
	}
	if (bad && worst && !*region) {
		dtx_err_copy(err, worst);
		rc = worst->code;
	}
	/* findings beyond the list's size are still counted */
	x->findings->dropped += found->dropped;
	for (size_t i = 0; i < found->n; i++) {
		struct dtx_err *f = &found->item[i];
		bool warning = f->severity == DTX_SEV_WARNING;

		if (f->severity == DTX_SEV_FALLBACK && !*region)
			f->severity = DTX_SEV_ERROR;
		if (!dtx_errlist_take(warning ? &x->result->warnings : x->findings, f))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

/* Attempts are bounded by their reasons: one per region, one per input whose types widened, and so
 * on. This bound is for a reason that was forgotten. */
#define ATTEMPTS_MAX  200
#define WORKER_MEMORY ((size_t)16 << 20) /* memory budget that each worker should have */
#define FEW_BYTES     ((size_t)8 << 10)  /* inputs of at most this size are read by one thread */
#define TIME_S_MAX    1000000000         /* a plan that allows more has no limit */

/* --- binding with real headers --- */

static bool can_bind(const struct dtx_graph *g, uint32_t i)
{
	const struct dtx_plan_step *st = &g->plan->step[i];

	if (g->step[i].bound || g->step[i].region >= 0)
		return false;
	for (uint32_t k = 0; k < st->ntables; k++)
		if (!dtx_graph_knows(g, st->table[k]))
			return false;
	return true;
}

static enum dtx_code bind_step(struct dtx_exec_run *x, uint32_t i, bool *again, struct dtx_err *err)
{
	struct dtx_graph *g = &x->graph;
	struct dtx_errlist found = DTX_ERRLIST_INIT;
	const struct dtx_bind *b;
	bool bad = false;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_flow_bind(&g->flow, i, true, &g->run, &found, &bad, err));
	for (size_t k = 0; k < found.n; k++)
		DTX_TRY(dtx_text_cause(x, i, &found.item[k], err));
	DTX_TRY(dtx_exec_judge(x, i, &found, bad, again, err));
	if (*again) {
		*again = !x->bind_only;
		if (x->bind_only)
			g->step[i].region = (int32_t)x->regions.n - 1;
		goto out;
	}
	b = g->flow.bind[i];
	g->step[i].bound = true;
	g->step[i].resolved = !(b->open && g->plan->step[i].op->whole_schema);
out:
	dtx_errlist_clear(&found);
	return rc;
}

/* Binds every step that can be bound. *again: a step became a region, and the attempt starts
 * over. */
static enum dtx_code bind_all(struct dtx_exec_run *x, bool *again, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*again = false;
	for (uint32_t i = 0; i < x->plan->nsteps && !*again; i++)
		if (can_bind(&x->graph, i))
			DTX_TRY(bind_step(x, i, again, err));
out:
	return rc;
}

/* --- one attempt --- */

static enum dtx_code output_values(struct dtx_exec_run *x, bool *values, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->plan->noutputs; i++) {
		const struct dtx_writer_class *w = dtx_outputs_class(&x->plan->output[i]);

		values[i] = x->opts->to.open && w && w->values;
	}
	if (x->opts->to.open)
		DTX_TRY(dtx_outputs_check(x->plan, err));
out:
	return rc;
}

/* Runs the first step without which no more can be bound: a region, or an op whose columns depend
 * on its rows. */
static enum dtx_code run_barrier(struct dtx_exec_run *x, bool *found, struct dtx_err *err)
{
	struct dtx_graph *g = &x->graph;
	enum dtx_code rc = DTX_OK;

	*found = true;
	for (uint32_t i = 0; i < x->plan->nsteps; i++) {
		struct dtx_stepx *sx = &g->step[i];

		if (sx->resolved)
			continue;
		if (sx->region >= 0 && x->regions.item[sx->region].first == i &&
		    dtx_region_ready(&x->regions.item[sx->region], g)) {
			DTX_TRY(dtx_region_run(&x->regions, (uint32_t)sx->region, g, x->host, err));
			goto out;
		}
		if (sx->region < 0 && sx->bound) {
			DTX_TRY(dtx_graph_open_step(g, i, err));
			goto out;
		}
	}
	*found = false;
out:
	return rc;
}

static enum dtx_code start_graph(struct dtx_exec_run *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_graph_init(&x->graph, x->plan, x->opts, &x->run, &x->result->warnings, err));
	x->graph.checks = x->result->checks;
	x->graph.reader = x->in.reader;
	x->graph.was_read = x->in.was_read;
	x->graph.read = x->in.opts;
	if (!x->bind_only && x->opts->spread && !x->opts->spread->whole)
		x->graph.spread = x->opts->spread;
	for (uint32_t i = 0; i < x->plan->ninputs; i++)
		if (x->in.schema[i] && !dtx_regions_input(&x->regions, i))
			DTX_TRY(dtx_flow_set(&x->graph.flow, (int32_t)i, x->in.schema[i], err));
	dtx_regions_mark(&x->regions, &x->graph);
	if (!x->bind_only)
		DTX_TRY(dtx_regions_read(&x->regions, &x->graph, x->host, err));
out:
	return rc;
}

/* Binds all steps, running what must run first. */
static enum dtx_code bind_through(struct dtx_exec_run *x, const bool *values, bool *again,
                                  struct dtx_err *err)
{
	bool barrier = true;
	enum dtx_code rc = DTX_OK;

	while (barrier) {
		DTX_TRY(bind_all(x, again, err));
		if (*again)
			goto out;
		DTX_TRY(dtx_graph_needs(&x->graph, values, err));
		DTX_TRY(run_barrier(x, &barrier, err));
	}
out:
	return rc;
}

/* The end of rows without a reader: they are made for their checks only. arg: further checks, or
 * NULL. */
static enum dtx_code eat_checks(void *arg, unsigned worker, struct dtx_batch *b,
                                struct dtx_err *err)
{
	(void)worker;
	return dtx_checks_batch(arg, b, err);
}

static enum dtx_code run_unread(struct dtx_exec_run *x, struct dtx_err *err)
{
	const struct dtx_pipe_end nowhere = { .eat = eat_checks };
	const struct dtx_pipe_end checks = { .eat = eat_checks, .arg = &x->checks };
	struct dtx_graph *g = &x->graph;
	int32_t result = x->plan->result;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->plan->nsteps; i++)
		if (!g->step[i].done && g->node[x->plan->ninputs + i].uses == 0)
			DTX_TRY(dtx_graph_stream(g, (int32_t)(x->plan->ninputs + i), &nowhere,
			                         err));
	if (!dtx_plan_checks_apart(x->plan))
		goto out;
	DTX_TRY(dtx_graph_promise(g, result, -1, x->plan->expect, &x->plan->rules, &x->checks,
	                          err));
	DTX_TRY(dtx_graph_stream(g, result, &checks, err));
out:
	return rc;
}

static enum dtx_code write_outputs(struct dtx_exec_run *x, struct dtx_err *err)
{
	struct dtx_exec_result *r = x->result;
	bool has_checks = false;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->plan->noutputs; i++) {
		int32_t t = x->plan->output[i].table;
		bool with_checks = !has_checks && t == x->plan->result;

		if (!x->graph.flow.table[t].schema)
			DTX_FAIL(err, DTX_E_PARAM_CONFLICT,
			         "table '%s' is not made when a snippet does the whole plan",
			         x->plan->output[i].table_name ? x->plan->output[i].table_name
			                                       : "");
		if (with_checks)
			DTX_TRY(dtx_graph_promise(&x->graph, t, -1, x->plan->expect,
			                          &x->plan->rules, &x->checks, err));
		has_checks |= with_checks;
		DTX_TRY(dtx_outputs_write(&x->graph, i, with_checks ? &x->checks : NULL, r, err));
	}
out:
	return rc;
}

static enum dtx_code finish_checks(struct dtx_exec_run *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->plan->nsteps; i++) {
		rc = dtx_checks_finish(&x->graph.step[i].checks, x->result->checks,
		                       &x->result->warnings, err);
		if (rc != DTX_OK)
			dtx_err_step(err, (int32_t)i, dtx_plan_step_name(&x->plan->step[i]));
		DTX_TRY(rc);
	}
	DTX_TRY(dtx_checks_finish(&x->checks, x->result->checks, &x->result->warnings, err));
out:
	return rc;
}

/* Refuses a table that cannot fit in the memory budget before its rows are read. */
static enum dtx_code fits(struct dtx_exec_run *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t limit = dtx_mem_limit();
	struct dtx_memory_need need;

	if (!limit)
		goto out;
	need = dtx_memory_need(&x->graph);
	x->result->memory_enough = need.enough;
	if (need.least > limit) {
		rc = dtx_err_set(err, DTX_E_NO_MEMORY, __FILE__, __LINE__,
		                 "the step holds a table of at least %llu MiB, the budget is %zu "
		                 "MiB",
		                 (unsigned long long)need.least >> 20, limit >> 20);
		dtx_err_step(err, need.step, dtx_plan_step_name(&x->plan->step[need.step]));
		x->run.workers = 1; /* fewer workers would not help: recover() is not to try them */
	}
out:
	return rc;
}

static enum dtx_code attempt(struct dtx_exec_run *x, bool *again, struct dtx_err *err)
{
	bool values[DTX_PLAN_OUTPUTS_MADE] = { false };
	enum dtx_code rc = DTX_OK;

	*again = false;
	DTX_TRY(output_values(x, values, err));
	DTX_TRY(start_graph(x, err));
	DTX_TRY(bind_through(x, values, again, err));
	if (*again)
		goto out;
	DTX_TRY(fits(x, err));
	DTX_TRY(run_unread(x, err));
	DTX_TRY(write_outputs(x, err));
	DTX_TRY(finish_checks(x, err));
out:
	return rc;
}

/* --- between attempts --- */

static void discard(struct dtx_exec_run *x, const struct dtx_err *why)
{
	struct dtx_exec_result *r = x->result;

	for (uint32_t i = 0; i < r->noutputs; i++)
		dtx_outputs_clear(&r->output[i]);
	dtx_checks_clear(&x->checks);
	dtx_errlist_clear(&r->warnings);
	json_array_clear(r->checks);
	if (x->host && x->host->discard)
		x->host->discard(x->host->arg, why);
	r->restarts++;
	if (x->run.progress) { /* the inputs are read again */
		atomic_store(&x->run.progress->reader, NULL);
		atomic_store(&x->run.progress->reader_bytes, 0);
		atomic_store(&x->run.progress->readers, 0);
		atomic_store(&x->run.progress->passed, 0);
		atomic_store(&x->run.progress->step, 0);
	}
}

/* The bound rules of the result live in the graph, so they are cleared first. */
static void clear_graph(struct dtx_exec_run *x)
{
	struct dtx_spread *spread = x->graph.plan ? x->graph.spread : NULL;

	dtx_checks_clear(&x->checks);
	dtx_graph_clear(&x->graph);
	if (spread)
		spread->clear(spread->arg);
}

/* Reads the input again with a remedy for what its reader refused, where there is one. */
static enum dtx_code reopen(struct dtx_exec_run *x, enum dtx_code rc, struct dtx_err *why,
                            bool *again, struct dtx_err *err)
{
	enum dtx_code opened;

	clear_graph(x); /* its batches refer to the reader */
	dtx_regions_forget(&x->regions);
	dtx_err_move(why, err);
	opened = dtx_inputset_repair(&x->in, why, again, err);
	if (*again || opened != DTX_OK)
		return opened;
	dtx_err_move(err, why);
	dtx_repair_hint(err);
	return rc;
}

/* Out of memory with several workers: how much each held was chance. One worker needs the least,
 * and the same each time, so the next attempt uses one. */
static bool alone_next(struct dtx_exec_run *x, enum dtx_code rc)
{
	if (rc != DTX_E_NO_MEMORY || !dtx_mem_limit() || x->run.workers < 2)
		return false;
	x->run.workers = x->in.workers = x->result->workers = 1;
	return true;
}

/* Whether a reader failed. A promise about the result has no step either, but a place in the plan.
 */
static bool of_reader(const struct dtx_err *err)
{
	return err->step < 0 &&
	       (!err->at[0] || dtx_str_starts(dtx_str_of(err->at), DTX_STR("/inputs")));
}

/* Whether a failed attempt is followed by another (*again). */
static enum dtx_code recover(struct dtx_exec_run *x, enum dtx_code rc, bool *again,
                             struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;

	*again = false;
	if (x->regions.failed)
		return rc;
	if (x->graph.spread && (x->graph.spread->whole || x->graph.spread->again)) {
		x->graph.spread->again = false;
		/* one process says what is wrong, or does what several cannot */
		*again = true;
		dtx_err_move(&why, err);
		dtx_regions_forget(&x->regions);
		discard(x, &why);
		dtx_err_clear(&why);
		return DTX_OK;
	}
	if (dtx_inputset_spent(&x->in))
		return dtx_inputset_passed(rc, err);
	if (rc != DTX_E_RETYPE && rc != DTX_E_NO_MEMORY && dtx_outputs_caused(err))
		return rc;
	if (alone_next(x, rc)) {
		*again = true;
		dtx_err_move(&why, err);
		dtx_regions_forget(&x->regions);
	} else if (rc == DTX_E_NO_MEMORY) {
		return rc;
	} else if (rc == DTX_E_RETYPE) {
		dtx_err_move(&why, err);
		rc = dtx_inputset_widen(&x->in, &x->graph.push, &why, err);
		dtx_regions_forget(&x->regions);
		*again = rc == DTX_OK;
	} else if (of_reader(err) && x->graph.step) {
		rc = reopen(x, rc, &why, again, err);
		if (!*again && dtx_exec_fallback_read(x, err)) {
			*again = true;
			dtx_err_move(&why, err);
		}
	} else if (dtx_err_severity(err, true) == DTX_SEV_FALLBACK && err->run_time &&
	           dtx_exec_may_fallback(x, err->step) && x->graph.step &&
	           x->graph.step[err->step].region < 0) {
		*again = dtx_exec_select_cause(x, (uint32_t)err->step, err) ||
		         dtx_regions_add(&x->regions, x->plan, x->mode, (uint32_t)err->step, err,
		                         x->max_regions);
		if (*again)
			dtx_err_move(&why, err);
		else
			rc = dtx_exec_too_many(x, err);
	}
	if (*again)
		discard(x, &why);
	dtx_err_clear(&why);
	return *again ? DTX_OK : rc;
}

/* Lets the host decide on the answers of snippets. Where the run failed for another reason, that
 * error is reported and not the host's. */
static enum dtx_code finish_approval(const struct dtx_exec_run *x, enum dtx_code rc,
                                     struct dtx_err *err)
{
	bool failed = rc != DTX_OK;

	if (!x->host || !x->host->finish_approval)
		return DTX_OK;
	return x->host->finish_approval(x->host->arg, failed ? DTX_FINISH_FAILED : DTX_FINISH_DONE,
	                                dtx_regions_stand(&x->regions), failed ? NULL : err);
}

static enum dtx_code run_attempts(struct dtx_exec_run *x, struct dtx_err *err)
{
	bool again = true;
	enum dtx_code rc = DTX_OK, finished;

	for (int i = 0; again && i < ATTEMPTS_MAX; i++) {
		struct dtx_err none = DTX_ERR_INIT;

		rc = attempt(x, &again, err);
		if (rc == DTX_OK && again)
			discard(x, &none);
		else if (rc != DTX_OK)
			rc = recover(x, rc, &again, err);
		if (again)
			clear_graph(x);
	}
	DTX_ASSERT(!again, err);
	finished = finish_approval(x, rc, err);
	rc = rc == DTX_OK ? finished : rc;
out:
	return rc;
}

/* --- start and end of a run --- */

/* Moves notes on repairs before all other warnings, also those of a run that failed. Where there is
 * no memory for a warning it is dropped. */
static void tell_repairs(struct dtx_exec_run *x)
{
	struct dtx_errlist rest;

	if (!x->result || !x->in.repaired.n)
		return;
	rest = x->result->warnings;
	x->result->warnings = x->in.repaired;
	memset(&x->in.repaired, 0, sizeof(x->in.repaired));
	for (size_t i = 0; i < rest.n; i++)
		if (!dtx_errlist_take(&x->result->warnings, &rest.item[i]))
			break;
	x->result->warnings.dropped += rest.dropped;
	dtx_errlist_clear(&rest);
}

/* On a few lines, starting a thread takes longer than the work, and each thread has batches of its
 * own. */
static unsigned workers(const struct dtx_exec_run *x)
{
	const struct dtx_exec_opts *o = x->opts;
	size_t bytes = 0, most;
	unsigned n;

	for (uint32_t i = 0; o->input && i < x->plan->ninputs; i++)
		if (o->input[i])
			bytes += dtx_source_passes(o->input[i]) ? FEW_BYTES + 1
			                                        : dtx_source_size(o->input[i]);
	most = dtx_mem_limit() ? DTX_MAX(dtx_mem_limit() / WORKER_MEMORY, 1) : SIZE_MAX;
	n = o->workers ? o->workers : bytes <= FEW_BYTES ? 1 : dtx_pool_cpus();
	return (unsigned)DTX_MIN((size_t)n, most);
}

static void start_run(struct dtx_exec_run *x)
{
	const struct dtx_exec_opts *o = x->opts;

	dtx_column_needs_run(x->plan, &x->run);
	x->run.workers = workers(x);
	x->run.batch_rows = o->batch_rows ? o->batch_rows : DTX_BATCH_ROWS;
	x->run.cancel = o->cancel;
	x->run.progress = o->progress;
	x->run.log = x->host ? x->host->log : NULL;
	x->run.run_date = o->run_date;
	x->result->workers = x->run.workers;
	x->mode = o->fallback >= 0 ? (enum dtx_fallback)o->fallback : x->plan->fallback;
	x->deadline_ns = o->deadline_ns;
	if (x->plan->limits.time_s >= 0 && x->plan->limits.time_s < TIME_S_MAX) {
		int64_t own = dtx_now_ns() + x->plan->limits.time_s * 1000000000;

		if (!x->deadline_ns || own < x->deadline_ns)
			x->deadline_ns = own;
	}
	x->cancel = (struct dtx_cancel){ o->cancel, x->deadline_ns };
	x->max_regions = o->max_regions ? o->max_regions : DTX_REGIONS_MAX;
}

/* Refuses a plan with a finding that no run, or no snippet, can mend. */
static enum dtx_code refuse(struct dtx_exec_run *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < x->plan->noutputs; i++)
		DTX_ASSERT(x->plan->output[i].table >= 0, err);
	for (size_t i = 0; i < x->findings->n; i++) {
		const struct dtx_err *f = &x->findings->item[i];

		if (f->severity == DTX_SEV_WARNING ||
		    (f->severity == DTX_SEV_FALLBACK && dtx_exec_may_fallback(x, f->step)))
			continue;
		dtx_err_copy(err, f);
		return f->code;
	}
out:
	return rc;
}

static enum dtx_code start(struct dtx_exec_run *x, struct dtx_plan *plan,
                           const struct dtx_exec_opts *opts, const struct dtx_host *host,
                           struct dtx_errlist *findings, struct dtx_exec_result **out,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	x->plan = plan;
	x->opts = opts;
	x->host = host;
	x->findings = findings;
	pthread_mutex_init(&x->checks.lock, NULL);
	DTX_TRY(dtx_exec_result_new(plan, out, err));
	x->result = *out;
	start_run(x);
	dtx_cancel_set(&x->cancel);
	DTX_TRY(dtx_spill_new(&x->run.spill, err));
	DTX_TRY(refuse(x, err));
	DTX_TRY(dtx_regions_static(&x->regions, plan, x->mode, x->max_regions, findings, err));
	x->in = (struct dtx_inputset){ .plan = plan,
		                       .source = opts->input,
		                       .arena = &x->result->arena,
		                       .workers = x->run.workers,
		                       .home = dtx_outputs_home(plan),
		                       .repair = opts->repair,
		                       .fallback = dtx_exec_fallback_input,
		                       .fallback_arg = x };
	DTX_TRY(dtx_inputset_open(&x->in, err));
out:
	return rc;
}

static void stop(struct dtx_exec_run *x)
{
	clear_graph(x);
	dtx_regions_clear(&x->regions);
	pthread_mutex_destroy(&x->checks.lock);
	dtx_inputset_close(&x->in);
	dtx_spill_free(x->run.spill);
	dtx_mem_free(x);
}

/* Names the op that the user wrote, not the core step that failed, and shows no formula that the
 * user has not written: one of the user's has its own place by now. */
static void name_macro(const struct dtx_plan_step *st, struct dtx_err *err)
{
	const char *name = dtx_plan_step_name(st);
	size_t n = strlen(st->name);
	char rest[sizeof(err->msg)];

	dtx_str_copy(err->op, sizeof(err->op), dtx_str_of(name));
	if (!strncmp(err->msg, st->name, n) && err->msg[n] == ':') {
		snprintf(rest, sizeof(rest), "%s", err->msg + n);
		snprintf(err->msg, sizeof(err->msg), "%s%.300s", name, rest);
	}
	if (!err->at[0] && err->span[0] >= 0) {
		err->span[0] = err->span[1] = -1;
		err->hint[0] = '\0';
	}
	if (err->code == DTX_E_NAME_COLLISION && !err->at[0]) {
		err->hint[0] = '\0';
		dtx_err_hint(err, "a value becomes a column of that name: change the value in a "
		                  "step before, as replace_values does");
	}
}

/* Puts an error of the running plan at its step, or at the input that was read, or at the declared
 * type that a cell does not fit, whichever step asked for the value. */
static void place_error(const struct dtx_exec_run *x, struct dtx_err *err)
{
	int32_t input = err->input[0] && x->in.reader ? dtx_inputset_find(&x->in, err) : -1;

	if (input >= 0 && err->declared[0])
		dtx_run_stats_type_at(x->plan, (uint32_t)input, err);
	if (err->code == DTX_E_TIME_LIMIT && x->plan->limits.time_s >= 0)
		dtx_err_at(err, "/limits/time_s");
	if (err->step >= 0 && (uint32_t)err->step < x->plan->nsteps) {
		if (x->plan->step[err->step].macro)
			name_macro(&x->plan->step[err->step], err);
		dtx_err_at(err, x->plan->step[err->step].at);
	}
	if (input >= 0)
		dtx_err_at(err, dtx_run_stats_input_at(x->plan, (uint32_t)input));
}

/* Puts warnings of an op at its step. */
static void place_warnings(struct dtx_exec_run *x)
{
	for (size_t i = 0; i < x->result->warnings.n; i++) {
		struct dtx_err *w = &x->result->warnings.item[i];

		if (w->step < 0 || (uint32_t)w->step >= x->plan->nsteps)
			continue;
		dtx_err_at(w, x->plan->step[w->step].at);
		if (!w->op[0])
			dtx_str_copy(w->op, sizeof(w->op),
			             dtx_str_of(dtx_plan_step_name(&x->plan->step[w->step])));
	}
}

/* All members are 0, except for the regions: each is set as a whole when it is added.  Clearing
 * them would touch 50 pages, a fiftieth of the time of a small run.  NULL: no memory. */
static struct dtx_exec_run *new_run(void)
{
	struct dtx_exec_run *x = dtx_mem_alloc(1, sizeof(*x));

	if (x)
		memset(x, 0, offsetof(struct dtx_exec_run, regions.item));
	return x;
}

enum dtx_code dtx_exec(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                       const struct dtx_host *host, struct dtx_errlist *findings,
                       struct dtx_exec_result **out, struct dtx_err *err)
{
	struct dtx_exec_run *x = new_run();
	struct dtx_err local = DTX_ERR_INIT, *e = err ? err : &local;
	const struct dtx_cancel *before = dtx_cancel_get();
	int64_t begin = dtx_now_ns();
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (!x)
		DTX_FAIL_MEM(e);
	DTX_TRY(start(x, plan, opts, host, findings, out, e));
	(*out)->phase = DTX_PHASE_RUN;
	DTX_TRY(run_attempts(x, e));
	tell_repairs(x);
	(*out)->ns = dtx_now_ns() - begin;
	DTX_TRY(dtx_run_stats(&x->graph, &x->regions, x->in.reader, x->in.schema, x->result, e));
	if (opts->look)
		DTX_TRY(opts->look(opts->look_arg, x->result, e));
out:
	dtx_cancel_set(before);
	if (x && rc != DTX_OK)
		place_error(x, e);
	if (x && x->result)
		place_warnings(x);
	if (x) {
		tell_repairs(x);
		stop(x);
	}
	dtx_err_clear(&local);
	return rc;
}

enum dtx_code dtx_exec_bind(struct dtx_plan *plan, const struct dtx_exec_opts *opts,
                            struct dtx_errlist *findings, struct dtx_exec_result **out,
                            struct dtx_err *err)
{
	struct dtx_exec_run *x = new_run();
	struct dtx_err local = DTX_ERR_INIT, *e = err ? err : &local;
	const struct dtx_cancel *before = dtx_cancel_get();
	bool again = false;
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (!x)
		DTX_FAIL_MEM(e);
	x->bind_only = true;
	DTX_TRY(start(x, plan, opts, NULL, findings, out, e));
	(*out)->phase = DTX_PHASE_BOUND;
	DTX_TRY(start_graph(x, e));
	DTX_TRY(bind_all(x, &again, e));
	if (opts->looks)
		DTX_TRY(dtx_regions_look(&x->regions, &x->graph, opts->looks, e));
	DTX_TRY(dtx_graph_needs(&x->graph, NULL, e));
	DTX_TRY(dtx_run_stats(&x->graph, &x->regions, x->in.reader, x->in.schema, x->result, e));
	if (opts->spread)
		opts->spread->draw(opts->spread->arg, &x->graph, &x->result->phys);
out:
	dtx_cancel_set(before); /* what start() has set points into x */
	if (x)
		stop(x);
	dtx_err_clear(&local);
	return rc;
}
