/* Performs a run. The order of its steps is that of the record: run.start, execution,
 * run.output, renaming outputs into place, run.end. */
#include "cli/signal_flag.h"
#include "cli/settings/config.h"
#include "cli/run/runner.h"
#include "cli/run/snapshots.h"
#include "cli/progress.h"
#include "cli/terminal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/thread/cancel.h"
#include "core/base/memory/malloc_tuning.h"
#include "core/base/log.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/pool.h"
#include "core/base/memory/ram.h"
#include "core/data/time/time.h"
#include "core/plan/exec/outputs.h"
#include "sandbox/guest.h"
#include "sandbox/main/jail.h"

/* Checks for leaks and coverage need a normal end of the process. */
#if defined(__SANITIZE_ADDRESS__) || defined(DTX_ERRCOV)
#define NORMAL_END true
#else
#define NORMAL_END false
#endif

#define PLAN_BYTES_MAX ((size_t)8 << 20)
#define TIME_MAX_S     ((int64_t)1 << 30)
#define RUNNER_SMALL   ((int64_t)1 << 20) /* bytes of all inputs of a small run */

/* --- plan --- */

/* Decides what a snippet may do. An option wins over everything but a lock. The setting "off"
 * wins over the plan, but the plan wins over other settings: the strictest prohibition counts. */
static enum dtx_code runner_fallback(struct dtx_runner *r, struct dtx_err *err)
{
	static const char *const names[] = { "step", "plan", "off" };
	int option = r->args->fallback - 1;
	struct dtx_config config = { .arena = DTX_ARENA_INIT };
	enum dtx_config_source from;
	enum dtx_code rc = DTX_OK;
	const char *text;
	size_t i;

	if (r->replay) /* as in the recorded run */
		goto option;
	DTX_TRY(dtx_config_open(&config, err));
	text = dtx_config_get(&config, "fallback", option < 0 ? NULL : names[option], &from);
	for (i = 0; text && i < DTX_COUNT(names) && strcmp(text, names[i]) != 0; i++)
		;
	if (text && dtx_config_locks(&config))
		dtx_out_note(r->cli, "dtx: warning: %s\n", dtx_config_locks(&config));
	if (text && (from == DTX_CONFIG_LOCKED || i == DTX_FALLBACK_OFF ||
	             !json_object_get(r->plan->json, "fallback")))
		r->plan->fallback = (enum dtx_fallback)i;
	if (text && from == DTX_CONFIG_LOCKED)
		goto out;
option:
	if (option >= 0)
		r->plan->fallback = (enum dtx_fallback)option;
out:
	dtx_config_clear(&config);
	return rc;
}

/* The text of the plan; empty for convert. */
static enum dtx_code runner_plan_text(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_buf_init(&r->plan_text, PLAN_BYTES_MAX);
	if (r->replay) {
		DTX_TRY(dtx_runner_replay_plan(r, err));
	} else if (r->words) {
		dtx_json_print(r->words->plan, 1, &r->plan_text);
		dtx_buf_addc(&r->plan_text, '\n');
		DTX_TRY(dtx_buf_check(&r->plan_text, "plan", err));
	} else if (r->plan_path) {
		DTX_TRY(dtx_file_slurp(r->plan_path, &r->plan_text, err));
	}
out:
	return rc;
}

/* The values of parameters: those of --params FILE, over which --param wins. *out is NULL if none
 * are given. */
static enum dtx_code runner_params(const struct dtx_runner *r, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(PLAN_BYTES_MAX);
	struct dtx_json_limits limits = { 0, 0 };
	const struct dtx_run_args *a = r->args;

	*out = r->replay ? dtx_runner_replay_params(r) : NULL;
	if (r->replay || (!a->params.n && !a->params_file))
		goto out;
	if (a->params_file) {
		DTX_TRY(dtx_file_slurp(a->params_file, &text, err));
		DTX_TRY(dtx_json_parse(dtx_buf_str(&text), limits, out, err));
	} else {
		*out = json_object();
	}
	if (!json_is_object(*out))
		DTX_FAIL(err, DTX_E_USAGE, "'%s': parameters must be a JSON object",
		         a->params_file ? a->params_file : "--param");
	for (size_t i = 0; i < a->params.n; i++) {
		const char *equals = strchr(a->params.item[i], '=');

		if (!equals || equals == a->params.item[i])
			DTX_FAIL(err, DTX_E_USAGE, "--param '%s': expected NAME=VALUE",
			         a->params.item[i]);
		if (json_object_setn_new(*out, a->params.item[i],
		                         (size_t)(equals - a->params.item[i]),
		                         json_string(equals + 1)))
			DTX_FAIL_MEM(err);
	}
out:
	if (rc != DTX_OK && a->params_file && err && !err->input[0])
		dtx_str_copy(err->input, sizeof(err->input), dtx_str_of(a->params_file));
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_runner_plan(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *params = NULL;
	char dir[4096] = ".";

	DTX_TRY(runner_plan_text(r, err));
	if (!r->plan_text.len && !r->plan_path) {
		DTX_TRY(dtx_plan_empty(&r->plan, err));
		return runner_fallback(r, err);
	}
	DTX_TRY(runner_params(r, &params, err));
	if (r->plan_path)
		dtx_file_dirname(r->plan_path, dir, sizeof(dir));
	DTX_TRY(dtx_plan_parse_with(dtx_buf_str(&r->plan_text), strcmp(dir, ".") ? dir : NULL,
	                            params, &r->findings, &r->plan, err));
	DTX_TRY(runner_fallback(r, err));
	DTX_TRY(dtx_plan_check(r->plan, &r->findings, err));
out:
	json_decref(params);
	if (rc == DTX_E_CELL_LIMIT && err)
		rc = err->code = DTX_E_PLAN_TOO_LARGE;
	return rc;
}

/* --- outputs --- */

static enum dtx_code runner_output_options(struct dtx_runner *r, struct dtx_err *err)
{
	struct dtx_plan_output *o = &r->plan->output[0];
	enum dtx_code rc = DTX_OK;

	/* the outputs of one file stay together */
	for (uint32_t i = r->plan->noutputs; r->args->output && i-- > 0;)
		if (!dtx_outputs_file(r->plan, i))
			r->plan->output[i].path = r->args->output;
	if (r->args->to)
		o->format = r->args->to;
	if (r->args->into)
		o->opts.into = r->args->into;
	if (r->args->if_exists)
		o->opts.if_exists = (unsigned)r->args->if_exists - 1;
	/* rows on a terminal are for a person */
	if (!o->path && !o->format && dtx_terminal(r->cli)) {
		o->format = dtx_write_text.name;
		dtx_terminal_fit(r->cli, &o->opts);
	}
	for (uint32_t i = 0; i < r->plan->noutputs && dtx_terminal(r->cli); i++) {
		const struct dtx_writer_class *cls;

		o = &r->plan->output[i];
		cls = dtx_outputs_class(o);
		if (cls && cls->binary && (!o->path || !strcmp(o->path, "-")))
			DTX_FAIL_NEXT(err, DTX_E_USAGE,
			              "name a file with -o, or send it to one: > FILE",
			              "%s is binary and not for a terminal", o->format);
	}
out:
	return rc;
}

/* Waits for run.start before the temp file is made, because a killed run is cleaned up by its
 * record. */
static enum dtx_code runner_ready(void *arg, struct dtx_err *err)
{
	return dtx_runner_store_wait(arg, err);
}

/* Called when an output is complete. If there is only one, the inputs are not read again. */
static void runner_written(void *arg)
{
	const struct dtx_runner *r = arg;

	for (uint32_t i = 0; i < r->plan->ninputs && r->plan->noutputs == 1; i++)
		if (r->source[i])
			dtx_source_let_go(r->source[i]);
}

static enum dtx_code runner_open_output(void *arg, uint32_t i, struct dtx_outfile **out,
                                        struct dtx_err *err)
{
	struct dtx_runner *r = arg;
	const char *path = r->plan->output[i].path;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_outfile_open(path ? path : "-", r->run_id, DTX_OUTFILE_SPOOL, out, err));
	dtx_outfile_first(*out, runner_ready, r);
	if ((!path || !strcmp(path, "-")) && dtx_terminal(r->cli))
		dtx_outfile_shown(*out, dtx_out_shown, (void *)(uintptr_t)r->cli);
	if (r->args->positional && !r->args->force)
		dtx_outfile_fresh(*out);
	dtx_outfile_last(*out, runner_written, r);
out:
	return rc;
}

/* --- record --- */

/* Makes the record of a warning, without its text, which may quote cells. For a repair, it
 * includes what was changed; for rows that a reader changed or left out, the first place. */
static json_t *runner_warning(const struct dtx_err *w)
{
	json_t *o = json_pack("{ss ss? ss? sI}", "code", dtx_code_name(w->code), "at",
	                      w->at[0] ? w->at : NULL, "column", w->column[0] ? w->column : NULL,
	                      "count", (json_int_t)w->count);
	json_t *more = json_loads(w->more ? w->more : "", 0, NULL);
	bool placed = w->code == DTX_W_REPAIRED || w->code == DTX_W_DIALECT_RESNIFFED ||
	              json_object_get(more, "kind");

	if (w->count_open)
		json_object_set_new(o, "at_least", json_true());
	if (o && placed && json_is_object(more)) {
		json_object_update(o, more);
		json_object_set_new(o, "input", json_string(w->input));
		json_object_set_new(o, "cell", w->cell[0] ? json_string(w->cell) : json_null());
	}
	json_decref(more);
	return o;
}

/* What authors cost in this run; NULL: none was asked. */
static json_t *runner_spent(const struct dtx_budget *b)
{
	if (!b->spent_attempts)
		return NULL;
	return json_pack("{sI sI so}", "attempts", (json_int_t)b->spent_attempts, "tokens",
	                 (json_int_t)b->spent_tokens, "cost",
	                 b->cost_unknown ? json_null()
	                                 : json_sprintf("%.6f", (double)b->spent_cost / 1e6));
}

static json_t *runner_end_details(const struct dtx_runner *r, const struct dtx_err *err)
{
	json_t *warnings = json_array();
	size_t i;

	for (i = 0; r->result && i < r->result->warnings.n; i++)
		json_array_append_new(warnings, runner_warning(&r->result->warnings.item[i]));
	return json_pack("{si sI so ss? ss? so* so*}", "threads",
	                 r->result ? (int)r->result->workers : 0, "peak_bytes",
	                 (json_int_t)dtx_mem_peak(), "warnings", warnings, "message",
	                 err->code != DTX_OK ? dtx_code_name(err->code) : NULL, "at",
	                 err->at[0] ? err->at : NULL, "author", runner_spent(&r->fallback.budget),
	                 "engine", r->cluster ? dtx_cluster_json(r->cluster) : NULL);
}

/* Ends the record. A failure of that must not hide why the run failed. */
static enum dtx_code runner_end(struct dtx_runner *r, enum dtx_code rc, struct dtx_err *err)
{
	struct dtx_err mine = DTX_ERR_INIT;
	const char *status = rc == DTX_OK ? "ok" : rc == DTX_E_CANCELLED ? "cancelled" : "failed";
	enum dtx_code ended;

	if (!r->record)
		return rc;
	if (rc == DTX_E_CANCELLED)
		dtx_record_discard(r->record);
	if (rc != DTX_OK && rc != DTX_E_CANCELLED && !r->detailed) {
		/* failures are ignored, because rc counts */
		ended = dtx_runner_inputs_seen(r, &mine);
		if (ended == DTX_OK)
			ended = dtx_runner_checks_seen(r, &mine);
	}
	ended = dtx_record_end(r->record, status, rc == DTX_OK ? NULL : dtx_code_name(rc),
	                       rc == DTX_OK ? 0 : dtx_code_exit(rc, err->run_time),
	                       runner_end_details(r, err), &mine);
	if (rc == DTX_OK && ended != DTX_OK) {
		dtx_err_move(err, &mine);
		if (r->result && r->result->noutputs && !r->prompt)
			dtx_err_hint(err, "the result is written and in place, what the record "
			                  "lacks the next run completes; or use another store "
			                  "with --store FILE or DTX_STORE");
		rc = ended;
	}
	dtx_err_clear(&mine);
	return rc;
}

/* --- the fallback to snippets --- */

static void runner_again(struct dtx_runner *r, int argc, char **argv)
{
	int i;

	dtx_buf_init(&r->again, DTX_BUF_TEXT_MAX);
	dtx_buf_init(&r->operands, DTX_BUF_TEXT_MAX);
	dtx_buf_word(&r->operands, r->plan_path ? r->plan_path : "PLAN");
	for (i = 0; i < argc; i++) {
		dtx_buf_addc(&r->operands, ' ');
		dtx_buf_word(&r->operands, argv[i]);
	}
	if (r->words)
		dtx_words_line(r->words, &r->again);
	else
		dtx_buf_printf(&r->again, "dtx run %s", dtx_buf_text(&r->operands));
	if (r->args->output) {
		dtx_buf_add(&r->again, " -o ");
		dtx_buf_word(&r->again, r->args->output);
	}
}

enum dtx_code dtx_runner_fallback(struct dtx_runner *r, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_fallback_ctx *s = &r->fallback;
	const struct dtx_run_args *a = r->args;

	snprintf(r->abi, sizeof(r->abi), "py3.11;pandas1.5;numpy1.24;dtx1;%s", dtx_guest_abi);
	runner_again(r, argc, argv);
	s->jail = &dtx_provider_local;
	s->ns = a->ns ? a->ns : r->plan->name ? r->plan->name : "default";
	s->abi = r->abi;
	s->imports = "pandas, numpy, dx, math, re, datetime, decimal, fractions, statistics, "
		     "itertools, functools, collections, operator, string, json, unicodedata";
	s->dx_names =
		"group_by, join, pivot_longer, pivot_wider, window, round, if_, case, to_date";
	s->strict_schema = a->strict_schema;
	s->require_layers = a->require_layers;
	s->no_warm = a->no_warm;
	s->cancelled = dtx_cancel_asked;
	s->now_us = dtx_runner_clock(r);
	s->recorded = r->replay ? json_object_get(r->replay->record, "regions") : NULL;
	s->run_date = a->run_date;
	s->operands = dtx_buf_text(&r->operands);
	s->prompt = r->prompt;
	if (dtx_runner_settles_early(a))
		DTX_TRY(dtx_runner_settle(r, err));
	if (!r->snippet.max)
		dtx_buf_init(&r->snippet, DTX_SNIPPET_CODE_MAX * 4);
	if (a->snippet) {
		DTX_TRY(dtx_file_slurp(a->snippet, &r->snippet, err));
		s->supplied = dtx_buf_str(&r->snippet);
	}
out:
	return rc;
}

/* --- execution --- */

enum dtx_code dtx_runner_date(const struct dtx_runner *r, int32_t *day, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*day = (int32_t)(dtx_runner_clock(r) / DTX_DAY_US);
	if (r->args->run_date && !dtx_day_parse(dtx_str_of(r->args->run_date), day))
		DTX_FAIL(err, DTX_E_USAGE, "option '--run-date' takes YYYY-MM-DD, got '%s'",
		         r->args->run_date);
out:
	return rc;
}

/* A replay uses the run id of the original run, otherwise the bytes could not be equal. */
static const char *runner_stamp(const struct dtx_runner *r)
{
	return r->replay ? dtx_json_text(dtx_runner_model(r->replay->record), "run_id", "")
	                 : r->run_id;
}

/* The deadline from the plan's time limit; 0: none. */
static int64_t runner_deadline(const struct dtx_runner *r)
{
	int64_t most = r->plan->limits.time_s;

	return most < 0 || most > TIME_MAX_S ? 0 : dtx_now_ns() + most * 1000000000;
}

static enum dtx_code runner_snippet(void *arg, const struct dtx_fallback_request *region,
                                    struct dtx_table **out, struct dtx_err *err)
{
	struct dtx_runner *r = arg;
	enum dtx_code rc = DTX_OK;

	if (region->trigger)
		dtx_runlog_fallback(r, region->trigger);
	DTX_TRY(dtx_runner_store_wait(r, err));
	DTX_TRY(dtx_runner_settle(r, err));
	DTX_TRY(dtx_fallback_answer(&r->fallback, region, out, err));
out:
	return rc;
}

static enum dtx_code runner_finish_approval(void *arg, enum dtx_finish_when when, uint64_t stands,
                                            struct dtx_err *err)
{
	struct dtx_runner *r = arg;

	return dtx_fallback_finish(&r->fallback, when, stands, err);
}

/* The bytes of all inputs, if there are several of known size; else 0. */
static uint64_t runner_bytes(const struct dtx_runner *r)
{
	uint64_t all = 0;

	for (uint32_t i = 0; r->plan->ninputs > 1 && i < r->plan->ninputs; i++) {
		if (!r->source[i] || !dtx_source_size(r->source[i]))
			return 0;
		all += dtx_source_size(r->source[i]);
	}
	return all;
}

/* Opens the engine. A replay is one process: the result is the same. */
static enum dtx_code runner_engine(struct dtx_runner *r, struct dtx_err *err)
{
	const struct dtx_cluster_opts opts = { .address = r->args->engine,
		                               .exchange = r->args->exchange,
		                               .resume = r->args->resume,
		                               .run_id = r->run_id };
	enum dtx_code rc = DTX_OK;

	if ((r->args->exchange || r->args->resume) && !r->args->engine)
		DTX_FAIL(err, DTX_E_USAGE, "%s is for the processes of --engine",
		         r->args->exchange ? "--exchange" : "--resume");
	if (!r->args->engine || r->replay || r->prompt)
		goto out;
	DTX_TRY(dtx_cluster_new(&opts, &r->cluster, err));
	for (uint32_t i = 0; i < r->plan->ninputs; i++)
		r->plan->input[i].opts.piece_bytes = dtx_cluster_piece(r->cluster);
out:
	return rc;
}

static enum dtx_code runner_exec(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_host host = { .arg = r,
		                 .fallback = runner_snippet,
		                 .finish_approval = runner_finish_approval };
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_ticker ticker = { .running = false };
	uint32_t i;
	size_t k;

	opts.progress = &ticker.now;
	opts.input = r->source;
	opts.workers = (unsigned)r->args->threads;
	opts.batch_rows = (uint32_t)r->args->batch_rows;
	opts.max_regions = (uint32_t)r->args->max_regions;
	opts.table_hash = true;
	opts.repair = r->args->repair;
	opts.cancel = dtx_cancel_flag();
	opts.deadline_ns = r->deadline_ns;
	opts.to.open = runner_open_output;
	opts.to.arg = r;
	DTX_TRY(dtx_runner_date(r, &opts.run_date, err));
	DTX_TRY(runner_engine(r, err));
	opts.spread = r->cluster ? dtx_cluster_spread(r->cluster) : NULL;
	DTX_TRY(dtx_runner_known(r, err));
	dtx_runner_hash_start(r);
	for (i = 0; i < r->plan->ninputs; i++) {
		if (!r->source[i])
			continue;
		dtx_source_patience(r->source[i], opts.cancel, opts.deadline_ns);
		dtx_source_watch(r->source[i], &ticker.now);
	}
	for (i = 0; i < r->plan->noutputs; i++)
		r->plan->output[i].opts.run_id = runner_stamp(r);
	r->ticker = &ticker;
	ticker.plan = r->plan;
	ticker.ninputs = r->plan->ninputs;
	ticker.total = runner_bytes(r);
	if (r->log.open) {
		ticker.now.moved = dtx_runlog_moved;
		ticker.now.moved_arg = r;
	}
	dtx_ticker_start(&ticker, r->cli, (enum dtx_progress_how)r->args->progress,
	                 r->plan->ninputs ? r->plan->input[0].path : NULL);
	DTX_TRY(dtx_exec(r->plan, &opts, &host, &r->findings, &r->result, err));
	for (k = 0; k < r->notes.n; k++)
		if (!dtx_errlist_take(&r->result->warnings, &r->notes.item[k]))
			DTX_FAIL_MEM(err);
	for (k = 0; k < r->fallback.warnings.n; k++)
		if (!dtx_errlist_take(&r->result->warnings, &r->fallback.warnings.item[k]))
			DTX_FAIL_MEM(err);
out:
	/* If a file was cut short, an error of a step about missing bytes is not the cause. */
	for (i = 0; rc != DTX_OK && i < r->plan->ninputs; i++) {
		if (r->source[i])
			rc = dtx_source_check_truncated(r->source[i], rc, err);
	}
	for (i = 0; i < r->plan->ninputs; i++)
		if (r->source[i])
			dtx_source_watch(r->source[i], NULL);
	dtx_ticker_stop(&ticker);
	r->ticker = NULL;
	if (r->cluster)
		dtx_cluster_end(r->cluster, rc, err);
	return rc;
}

/* Commits the outputs that are changed in place, or those that are replaced. */
static enum dtx_code runner_commit_outputs(struct dtx_runner *r, bool in_place, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < r->result->noutputs; i++) {
		const struct dtx_exec_output *o = &r->result->output[i];

		if (o->shared || dtx_outfile_info(o->file)->in_place != in_place)
			continue;
		rc = dtx_outfile_commit(o->file, err);
		if (rc == DTX_E_OUTPUT_CLOSED) {
			/* the other outputs must still be written */
			r->closed = true;
			dtx_err_clear(err);
			rc = DTX_OK;
		}
		DTX_TRY(rc);
	}
out:
	return rc;
}

static enum dtx_code runner_commit(struct dtx_runner *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *outputs = NULL;

	DTX_TRY(dtx_runner_store_wait(r, err));
	r->detailed = true;
	DTX_TRY(dtx_runner_details(r, err));
	DTX_TRY(dtx_runner_rejects_write(r, err));
	DTX_TRY(dtx_runner_receipt_prepare(r, err));
	outputs = dtx_runner_outputs(r);
	if (!outputs)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_runner_lineage(r, outputs, err));
	rc = dtx_record_output(r->record, outputs, err);
	outputs = NULL; /* taken by the call */
	DTX_TRY(rc);
	if (r->rejects)
		DTX_TRY(dtx_outfile_commit(r->rejects, err));
	/* databases first: another process may hold a lock, and then no output has changed */
	DTX_TRY(runner_commit_outputs(r, true, err));
	DTX_TRY(runner_commit_outputs(r, false, err));
out:
	json_decref(outputs);
	return rc;
}

/* Reports a supplied module that did nothing: it failed where a cached snippet did the work. */
static enum dtx_code runner_supplied(struct dtx_runner *r, struct dtx_err *err)
{
	struct dtx_fallback_ctx *s = &r->fallback;

	if (!s->supplied.ptr || s->supplied_used)
		return DTX_OK;
	if (s->supplied_err.code == DTX_OK) {
		if (!r->prompt)
			dtx_out_note(r->cli,
			             "dtx: --snippet was not needed: every step is typed\n");
		return DTX_OK;
	}
	dtx_err_move(err, &s->supplied_err);
	return err->code;
}

static void runner_say_ledger(const struct dtx_runner *r, uint32_t i)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (!r->result->input[i].read)
		return;
	dtx_out_ledger(&r->result->input[i].stats, &text);
	dtx_out_note(r->cli, "dtx: %s: %s\n", r->plan->input[i].path, dtx_buf_text(&text));
	dtx_buf_clear(&text);
}

static void runner_say(const struct dtx_runner *r)
{
	uint32_t i;

	for (i = 0; r->cli->verbose && i < r->result->ninputs; i++)
		runner_say_ledger(r, i);
	if (!isatty(STDERR_FILENO))
		return;
	for (i = 0; i < r->result->noutputs; i++) {
		const struct dtx_exec_output *x = &r->result->output[i];

		if (r->plan->output[i].path)
			dtx_out_note(r->cli, "dtx: %s: %lld rows x %u columns; run %s\n",
			             r->plan->output[i].path, (long long)x->rows,
			             (unsigned)x->schema->nfields, dtx_run_id_short(r->run_id));
	}
}

/* Fails if there is any finding of severity error: the plan is invalid, whatever else it needs. */
static enum dtx_code runner_refuse(struct dtx_runner *r, struct dtx_err *err)
{
	const struct dtx_err *worst = dtx_errlist_worst(&r->findings);

	if (!worst || worst->severity != DTX_SEV_ERROR)
		return DTX_OK;
	dtx_err_copy(err, worst);
	return worst->code;
}

/* Whether the plan's own memory budget is the lower one, so that no option can raise it. */
static bool runner_plan_memory(const struct dtx_runner *r)
{
	int64_t mb = r->plan ? r->plan->limits.memory_mb : -1;

	return mb >= 0 && (!r->args->memory || mb < r->args->memory >> 20);
}

void dtx_runner_memory(const struct dtx_runner *r)
{
	int64_t mb = DTX_MIN(r->plan->limits.memory_mb, (int64_t)1 << 40);
	int64_t most = r->args->memory;

	if (runner_plan_memory(r))
		most = DTX_MAX(mb, (int64_t)16) << 20;
	if (most)
		dtx_mem_set_limit((size_t)most);
	else
		dtx_mem_set_ceiling(dtx_ram_bytes("") / 4 * 3);
}

/* Names the memory with which the plan is known to succeed. Where only the rows show how much it
 * takes, twice the limit is the next to try. The run has been tried with one thread by then. */
static void runner_hint_memory(const struct dtx_runner *r, struct dtx_err *err)
{
	uint64_t mib = dtx_mem_limit() >> 20,
		 enough = r->result ? r->result->memory_enough >> 20 : 0;
	bool of_plan = runner_plan_memory(r), known = enough >= mib;
	char option[48];

	if (err->hint[0])
		return;
	if (!mib && dtx_mem_ceiling())
		dtx_err_hint(err,
		             "a run may take %zu MiB, three quarters of the memory there is: with "
		             "--memory %zuM tables that do not fit go to disk",
		             dtx_mem_ceiling() >> 20, dtx_mem_ceiling() >> 21);
	if (!mib)
		return;
	snprintf(option, sizeof(option), of_plan ? "%llu" : "--memory %lluM",
	         (unsigned long long)(known ? enough + 1 : 2 * mib));
	dtx_err_hint(err,
	             known ? "the budget is %llu MiB%s: %s is enough"
	                   : "the budget is %llu MiB%s; how much is enough is not known: try %s, "
	                     "and more if that fails",
	             (unsigned long long)mib, of_plan ? ", of the plan's limits.memory_mb" : "",
	             option);
}

/* Opens the inputs. Ctrl-C and the time limit also end the wait for a pipe. */
static enum dtx_code runner_files(struct dtx_runner *r, struct dtx_err *err)
{
	const struct dtx_cancel halt = { dtx_cancel_flag(), r->deadline_ns };
	const struct dtx_cancel *before = dtx_cancel_set(&halt);
	enum dtx_code rc = dtx_runner_open(r, true, err);

	dtx_cancel_set(before);
	return rc;
}

/* Whether all inputs are small files that the command line names.  False: at least one is not, or
 * the plan names them, which is not read yet. */
static bool runner_is_small(int argc, char **argv)
{
	int64_t left = RUNNER_SMALL;
	int i;

	for (i = 0; i < argc && left >= 0; i++) {
		const char *named = strchr(argv[i], '=');
		struct stat st;

		if (stat(argv[i], &st) && (!named || stat(named + 1, &st)))
			return false;
		left = S_ISREG(st.st_mode) ? left - st.st_size : -1;
	}
	return argc && left >= 0;
}

static enum dtx_code runner_all(struct dtx_runner *r, int argc, char **argv, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	/* Must be done before the thread that opens the store, when the plan's own budget is not
	 * known yet.  SQLite takes many small blocks while the main thread does the same: on one
	 * heap they waited for each other for 0.5 ms, a tenth of a small run. */
	if (r->args->memory || !runner_is_small(argc, argv))
		dtx_malloc_tuning_one((size_t)r->args->memory);
	DTX_TRY(dtx_runlog_open(r, argc, argv, err));
	if (!r->prompt)
		dtx_runner_store_open(r);
	DTX_TRY(dtx_runner_plan(r, err));
	dtx_runner_memory(r);
	DTX_TRY(dtx_runner_inputs(r, argc, argv, err));
	if (r->replay)
		DTX_TRY(dtx_runner_replay_places(r, err));
	else
		DTX_TRY(runner_output_options(r, err));
	if (!r->prompt)
		DTX_TRY(dtx_runner_places(r, err));
	DTX_TRY(dtx_runlog_start(r, err));
	DTX_TRY(dtx_runner_fallback(r, argc, argv, err));
	DTX_TRY(r->prompt ? dtx_runner_store_look(r, err) : dtx_runner_store_start(r, err));
	if (!r->prompt)
		DTX_TRY(dtx_runner_receipt_check(r, err));
	DTX_TRY(runner_refuse(r, err));
	DTX_TRY(dtx_runner_spread(r, err));
	r->deadline_ns = runner_deadline(r);
	DTX_TRY(runner_files(r, err));
	DTX_TRY(dtx_snapshots_check(r, err));
	if (!r->prompt)
		DTX_TRY(dtx_runner_lineage_check(r, err));
	DTX_TRY(runner_exec(r, err));
	DTX_TRY(runner_supplied(r, err));
	if (!r->prompt)
		DTX_TRY(runner_commit(r, err));
out:
	if (rc == DTX_E_NO_MEMORY)
		runner_hint_memory(r, err);
	if (rc == DTX_E_CANCELLED && !err->hint[0])
		dtx_err_hint(err, "outputs are as they were; the same command starts again");
	if (rc == DTX_E_TIME_LIMIT && strcmp(err->at, "/limits/time_s") == 0)
		dtx_err_hint(err,
		             "raise \"time_s\" of the plan's limits; outputs are as they were");
	rc = dtx_runner_store_settle(r, rc, err);
	return runner_end(r, rc, err);
}

/* Lists cached snippets that would fit with columns renamed. */
static void runner_say_near(const struct dtx_runner *r)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *row;
	size_t i;

	json_array_foreach(r->fallback.near, i, row)
	{
		dtx_buf_printf(&text,
		               "  near: %.8s fits by %.0f %%: ", dtx_json_text(row, "snippet", ""),
		               100 * json_number_value(json_object_get(row, "score")));
		dtx_out_safe(&text, dtx_json_text(row, "adopt", ""), false);
		dtx_buf_addc(&text, '\n');
	}
	if (text.len)
		dtx_out_note(r->cli, "%s", dtx_buf_text(&text));
	dtx_buf_clear(&text);
}

/* Printed last, so that users who do not want a snippet have read the finding before. */
static void runner_offer(struct dtx_runner *r, int status, const struct dtx_out_where *where)
{
	const struct dtx_err *why = &r->fallback.finding;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_err offer = DTX_ERR_INIT;

	if (!r->fallback.offered || !r->record || !dtx_str_in_list("run,pipe", r->command))
		return;
	dtx_buf_printf(&text,
	               "or let a snippet %s: dtx prompt %s > prompt.txt, then %s --snippet "
	               "answer.txt",
	               why->step >= 0 ? "do this step" : "read this input",
	               dtx_run_id_short(r->run_id), dtx_buf_text(&r->again));
	dtx_err_set(&offer, DTX_E_NEEDS_SNIPPET, __FILE__, __LINE__, "%s", dtx_buf_text(&text));
	offer.severity = DTX_SEV_FALLBACK;
	offer.run_time = true;
	dtx_err_step(&offer, why->step, why->op);
	dtx_err_at(&offer, why->at);
	dtx_out_offer(r->cli, dtx_buf_text(&text), &offer, r->fallback.near, status, where);
	dtx_err_clear(&offer);
	dtx_buf_clear(&text);
}

/* Prints all findings if the plan is invalid. Otherwise prints what a snippet was needed for,
 * and the error of the run if it is another one. */
static void runner_report(struct dtx_runner *r, enum dtx_code rc, const struct dtx_err *err,
                          int status)
{
	struct dtx_out_where where = { .plan_path = r->plan_path,
		                       .words = r->words,
		                       .plan = r->plan ? r->plan->json : NULL,
		                       .inputs = r->plan };
	const struct dtx_err *worst = dtx_errlist_worst(&r->findings);
	struct dtx_err *finding = &r->fallback.finding;
	bool asked = rc != DTX_OK && finding->code != DTX_OK && finding->code != rc;

	if (asked) {
		finding->severity = DTX_SEV_FALLBACK;
		dtx_out_error(r->cli, finding, &where);
	}
	if (rc != DTX_OK && worst && worst->code == rc)
		dtx_out_errors(r->cli, &r->findings, &where);
	else if (rc != DTX_OK && !(asked && r->fallback.offered))
		dtx_out_error(r->cli, err, &where);
	if (r->result)
		dtx_out_errors(r->cli, &r->result->warnings, &where);
	if (rc != DTX_OK) {
		runner_say_near(r);
		runner_offer(r, status, &where);
	}
}

int dtx_runner_main(struct dtx_runner *r, int argc, char **argv)
{
	const struct dtx_cancel halt = { dtx_cancel_flag(), 0 };
	const struct dtx_cancel *before = dtx_cancel_set(&halt);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc;
	int status;

	r->start_us = dtx_wall_us();
	dtx_cancel_catch();
	r->cancel = dtx_cancel_flag();
	rc = dtx_run_id_take(dtx_runner_given_id(r), r->run_id, &err);
	if (rc == DTX_OK)
		rc = runner_all(r, argc, argv, &err);
	if (rc == DTX_OK && !r->prompt)
		rc = dtx_runner_receipt(r, &err);
	status = rc == DTX_OK ? 0 : dtx_code_exit(rc, err.run_time);
	if (!r->prompt || rc != DTX_E_NEEDS_SNIPPET)
		runner_report(r, rc, &err, status);
	if (rc == DTX_OK && !r->replay)
		runner_say(r);
	if (!r->prompt)
		dtx_runner_full(r);
	if (rc == DTX_OK && r->closed)
		status = dtx_code_exit(DTX_E_OUTPUT_CLOSED, err.run_time);
	dtx_runlog_end(r, rc, &err, status);
	dtx_cancel_set(before);
	dtx_err_clear(&err);
	return status;
}

void dtx_runner_leave(int status)
{
	if (!status && !NORMAL_END && fflush(NULL) == 0)
		_exit(0);
}

void dtx_runner_clear(struct dtx_runner *r)
{
	uint32_t i;

	dtx_exec_free(r->result);
	dtx_cluster_free(r->cluster);
	dtx_outfile_free(r->rejects);
	for (i = 0; i < DTX_COUNT(r->copy); i++)
		dtx_outfile_free(r->copy[i]);
	dtx_runner_store_clear(r);
	for (i = 0; r->source && r->plan && i < r->plan->ninputs; i++)
		dtx_source_free(r->source[i]);
	dtx_mem_free(r->source);
	dtx_mem_free(r->known);
	dtx_plan_free(r->plan);
	dtx_errlist_clear(&r->findings);
	dtx_errlist_clear(&r->notes);
	dtx_buf_clear(&r->plan_text);
	dtx_buf_clear(&r->snippet);
	dtx_buf_clear(&r->again);
	dtx_buf_clear(&r->operands);
	dtx_arena_clear(&r->texts);
	dtx_runner_author_free(r->asks);
	dtx_fallback_ctx_clear(&r->fallback);
	json_decref(r->fallback.near);
	dtx_err_clear(&r->fallback.supplied_err);
	dtx_err_clear(&r->fallback.finding);
	dtx_errlist_clear(&r->fallback.warnings);
}
