/* Runs a recorded plan again to look at its rows, see why_replay.h. */
#include "cli/why/why_replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/store/lookup.h"
#include "core/base/file.h"
#include "core/plan/lineage/trace.h"
#include "core/store/ledger/process.h"

static enum dtx_code replay_labels(struct dtx_why_replay *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *input;
	size_t i;

	x->labels = json_object();
	json_array_foreach(json_object_get(x->record, "inputs"), i, input)
	{
		const char *alias = dtx_json_text(input, "alias", "");

		if (json_object_set(x->labels, alias, json_object_get(input, "label")) != 0 &&
		    json_object_get(input, "label"))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

enum dtx_code dtx_why_replay_find(struct dtx_why_replay *x, const char *what, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_store *store = NULL;

	DTX_TRY(dtx_store_open(x->cli->store, DTX_STORE_READ, &store, err));
	DTX_TRY(dtx_lookup(store, what, true, &x->record, err));
	DTX_TRY(dtx_lookup_model(store, x->record, err));
	DTX_TRY(replay_labels(x, err));
	x->output = (uint32_t)dtx_json_int(json_object_get(x->record, "found"), "output", 0);
	if (!dtx_why_replay_output(x))
		DTX_FAIL(err, DTX_E_NO_RECORD, "run %s has no result",
		         dtx_json_text(json_object_get(x->record, "run"), "short", ""));
	DTX_TRY(dtx_snapshots_restore(store, x->record, &x->kept, err));
out:
	dtx_store_free(store);
	return rc;
}

const json_t *dtx_why_replay_output(const struct dtx_why_replay *x)
{
	return json_array_get(json_object_get(x->record, "outputs"), x->output);
}

const char *dtx_why_replay_name(const struct dtx_why_replay *x)
{
	const char *path = dtx_json_text(dtx_why_replay_output(x), "path", "-");

	return strcmp(path, "-") ? dtx_file_basename(path) : "stdout";
}

const char *dtx_why_replay_label(const struct dtx_why_replay *x, const char *alias)
{
	return dtx_json_text(x->labels, alias, alias);
}

bool dtx_why_replay_by_snippet(const struct dtx_why_replay *x)
{
	return json_array_size(json_object_get(x->record, "regions")) > 0;
}

/* An error in the traced plan is our own; the user cannot correct a plan that they did not write.
 * It becomes no_translation. */
static enum dtx_code replay_own(enum dtx_code rc, struct dtx_err *err)
{
	struct dtx_err own = DTX_ERR_INIT;

	if (rc == DTX_OK || dtx_code_exit(rc, err->run_time) > 4 ||
	    strncmp(err->at, "/steps/", strlen("/steps/")) != 0)
		return rc;
	rc = dtx_err_set(&own, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
	                 "the rows of this plan cannot be followed: with row numbers it fails: %s",
	                 err->msg);
	dtx_err_move(err, &own);
	return rc;
}

static enum dtx_code replay_changed(const json_t *input, const char *state, struct dtx_err *err)
{
	dtx_snapshots_lost(input, state, err);
	if (!strcmp(state, "not kept"))
		dtx_err_hint(err, "%s", dtx_snapshots_way(input));
	else
		dtx_err_hint(err, "run the plan again and ask about that run; dtx run "
		                  "--snapshot-inputs keeps the inputs for later");
	return DTX_E_INPUT_CHANGED;
}

static enum dtx_code replay_there(const struct dtx_why_replay *x, struct dtx_err *err)
{
	json_t *input;
	size_t i;

	json_array_foreach(json_object_get(x->record, "inputs"), i, input)
	{
		const char *uri = dtx_json_text(input, "uri", "-");

		if (!strcmp(uri, "-"))
			return replay_changed(input, "not kept", err);
		if (access(uri, F_OK) < 0)
			return replay_changed(input, "gone", err);
		if (dtx_file_passes(uri))
			return replay_changed(input, "not kept", err);
	}
	return DTX_OK;
}

/* The open source of a recorded input, if it has the recorded size and time; NULL otherwise.  The
 * search begins at the input's place in the record, where it is in the plan as well. */
static struct dtx_source *replay_source(const struct dtx_why_replay *x, const json_t *input,
                                        size_t at)
{
	for (uint32_t k = 0; k < x->r.plan->ninputs; k++) {
		size_t i = (at + k) % x->r.plan->ninputs;
		struct dtx_source *s = x->r.source[i];

		if (!strcmp(x->r.plan->input[i].name, dtx_json_text(input, "alias", "")))
			return dtx_source_mtime_us(s) == dtx_json_int(input, "mtime_us", -2) &&
			                       (int64_t)dtx_source_size(s) ==
			                               dtx_json_int(input, "bytes", -1)
			               ? s
			               : NULL;
	}
	return NULL;
}

/* Whether the file still has the signature that the run recorded, which proves that it was not
 * written since. */
static bool replay_marked(const struct dtx_source *s, const json_t *input)
{
	const struct dtx_stat_signature *mark = dtx_source_mark(s);
	char text[DTX_STAT_SIGNATURE_TEXT];
	struct dtx_process self;

	if (!mark || !json_object_get(input, "mark"))
		return false;
	dtx_process_self(&self);
	dtx_stat_signature_print(mark, self.boot, text);
	return !strcmp(text, dtx_json_text(input, "mark", ""));
}

/* Checks the inputs. If an input has the recorded size and time, its bytes are hashed while the
 * steps run, or not at all if its signature proves them. Any other input is hashed here, so that no
 * steps run on changed bytes. */
static enum dtx_code replay_hash(const struct dtx_why_replay *x, struct dtx_err *err)
{
	json_t *input;
	size_t i;

	json_array_foreach(json_object_get(x->record, "inputs"), i, input)
	{
		struct dtx_source *s = replay_source(x, input, i);
		const char *sha = dtx_json_text(input, "sha", ""), *state = "unchanged";

		if (s && !replay_marked(s, input))
			dtx_source_hash_start(s, dtx_identity_kind(sha), 0);
		else if (!s)
			state = dtx_query_file(dtx_json_text(input, "uri", ""), input);
		if (strcmp(state, "unchanged") != 0)
			return replay_changed(input, state, err);
	}
	return DTX_OK;
}

/* Returns rc, but input_changed if the bytes were not the recorded ones. In that case a success or
 * another error would mean nothing. */
static enum dtx_code replay_held(const struct dtx_why_replay *x, enum dtx_code rc,
                                 struct dtx_err *err)
{
	char sha[DTX_IDENTITY_TEXT];
	json_t *input;
	size_t i;

	json_array_foreach(json_object_get(x->record, "inputs"), i, input)
	{
		struct dtx_source *s = replay_source(x, input, i);

		if (s && replay_marked(s, input))
			continue;
		if (s && dtx_source_hash_wait(s, sha, NULL) == DTX_OK &&
		    !strcmp(sha, dtx_json_text(input, "sha", "")))
			continue;
		if (s) {
			dtx_err_clear(err);
			return replay_changed(input, "changed", err);
		}
	}
	return rc;
}

/* Lets a plan that was made from another one use the inputs of that one. */
static void replay_inputs(struct dtx_plan *plan, const struct dtx_plan *of)
{
	for (uint32_t i = 0; i < plan->ninputs; i++) {
		plan->input[i].path = of->input[i].path;
		plan->input[i].opts = of->input[i].opts;
	}
}

/* Makes the plan with copies of tables that meet the same rows twice (dtx_trace_again). *out stays
 * NULL if none are needed. The caller owns it, also after a failure. */
static enum dtx_code replay_again(struct dtx_runner *r, struct dtx_plan **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *again = NULL;
	char *text = NULL;

	*out = NULL;
	DTX_TRY(dtx_trace_again(r->plan, &again, err));
	if (!again)
		goto out;
	text = json_dumps(again, JSON_COMPACT);
	if (!text)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_plan_parse_made(dtx_str_of(text), &r->findings, out, err));
	DTX_TRY(dtx_plan_check(*out, &r->findings, err));
	dtx_trace_again_places(*out, r->plan);
out:
	json_decref(again);
	free(text);
	return rc;
}

enum dtx_code dtx_why_replay_again(struct dtx_runner *r, struct dtx_plan **plan,
                                   struct dtx_exec_result **bound, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;

	DTX_TRY(replay_again(r, plan, err));
	if (!*plan)
		goto out;
	replay_inputs(*plan, r->plan);
	opts.input = r->source;
	opts.repair = r->args->repair;
	DTX_TRY(dtx_exec_bind(*plan, &opts, &r->findings, bound, err));
out:
	return rc;
}

/* Replaces the plan by the one with copies, if it needs them. */
static enum dtx_code replay_followed(struct dtx_why_replay *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_plan *plan = NULL;

	DTX_TRY(replay_again(&x->r, &plan, err));
	if (!plan)
		goto out;
	dtx_plan_free(x->r.plan);
	x->r.plan = plan;
	plan = NULL;
out:
	dtx_plan_free(plan);
	return rc;
}

enum dtx_code dtx_why_replay_plan(struct dtx_why_replay *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (x->r.plan)
		goto out;
	x->replay = (struct dtx_runner_replay){ .record = x->record, .dir = "" };
	x->r = (struct dtx_runner){
		.cli = x->cli, .args = &x->run_args, .command = x->command, .replay = &x->replay
	};
	x->r.plan_path = dtx_json_text(json_object_get(json_object_get(x->record, "run"), "plan"),
	                               "file", NULL);
	DTX_TRY(dtx_runner_replay_options(x->record, &x->run_args, err));
	DTX_TRY(dtx_runner_plan(&x->r, err));
	DTX_TRY(replay_followed(x, err));
	DTX_TRY(dtx_runner_inputs(&x->r, 0, NULL, err));
	DTX_TRY(dtx_runner_replay_places(&x->r, err));
	DTX_TRY(dtx_runner_spread(&x->r, err));
out:
	return rc;
}

static enum dtx_code replay_open(struct dtx_why_replay *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(replay_there(x, err));
	DTX_TRY(dtx_why_replay_plan(x, err));
	DTX_TRY(dtx_runner_open(&x->r, true, err));
	DTX_TRY(replay_hash(x, err));
out:
	return rc;
}

enum dtx_code dtx_why_replay_bind(struct dtx_why_replay *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;

	if (dtx_why_replay_by_snippet(x))
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "a snippet did a step of this run: its rows cannot be followed");
	DTX_TRY(replay_open(x, err));
	opts.input = x->r.source;
	opts.repair = x->run_args.repair;
	rc = dtx_exec_bind(x->r.plan, &opts, &x->r.findings, &x->bound, err);
	if (rc != DTX_OK)
		rc = replay_held(x, rc, err);
out:
	return rc;
}

enum dtx_code dtx_why_replay_exec(struct dtx_runner *r, const json_t *traced,
                                  const struct dtx_why_replay_look *look, struct dtx_plan **plan,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_host host = { 0 };
	struct dtx_exec_result *done = NULL;
	char *text = json_dumps(traced, JSON_COMPACT);

	if (!text)
		DTX_FAIL_MEM(err);
	DTX_TRY(replay_own(dtx_plan_parse_made(dtx_str_of(text), &r->findings, plan, err), err));
	DTX_TRY(replay_own(dtx_plan_check(*plan, &r->findings, err), err));
	if (look->fold)
		DTX_TRY(dtx_together_spread(look->fold, *plan, &r->findings, err));
	replay_inputs(*plan, r->plan);
	opts.input = r->source;
	opts.repair = r->args->repair;
	opts.cancel = r->cancel;
	opts.deadline_ns = r->deadline_ns;
	opts.hash_only = look->hash_only;
	opts.look = look->look;
	opts.look_arg = look->arg;
	DTX_TRY(dtx_runner_date(r, &opts.run_date, err));
	rc = replay_own(dtx_exec(*plan, &opts, &host, &r->findings, &done, err), err);
out:
	dtx_exec_free(done);
	free(text);
	return rc;
}

enum dtx_code dtx_why_replay_run(struct dtx_why_replay *x, const json_t *traced,
                                 const struct dtx_why_replay_look *look, struct dtx_plan **plan,
                                 struct dtx_err *err)
{
	return replay_held(x, dtx_why_replay_exec(&x->r, traced, look, plan, err), err);
}

/* --- without running --- */

enum dtx_code dtx_why_replay_row_lineage(const struct dtx_why_replay *x,
                                         struct dtx_row_lineage **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf bytes = DTX_BUF_INIT(DTX_ROW_LINEAGE_MAX);
	const char *hash = dtx_json_text(dtx_why_replay_output(x), "lineage_hash", NULL);
	struct dtx_store *store = NULL;

	if (!hash)
		goto out;
	DTX_TRY(dtx_store_open(x->cli->store, DTX_STORE_READ, &store, err));
	rc = dtx_query_blob(store, hash, &bytes, err);
	if (rc == DTX_E_NO_RECORD) { /* purged, which is the same as never kept */
		dtx_err_clear(err);
		rc = DTX_OK;
		goto out;
	}
	DTX_TRY(rc);
	DTX_TRY(dtx_row_lineage_unpack(dtx_buf_str(&bytes), out, err));
out:
	dtx_store_free(store);
	dtx_buf_clear(&bytes);
	return rc;
}

/* Looks at the size and time first, as hashing is slow. What the files contain now does not matter:
 * the addresses are those of what the run read. */
json_t *dtx_why_replay_moved(const struct dtx_why_replay *x)
{
	json_t *list = json_array(), *input;
	size_t i;

	json_array_foreach(json_object_get(x->record, "inputs"), i, input)
	{
		const char *uri = dtx_json_text(input, "uri", "-"), *state = NULL;
		struct stat st;

		if (!strcmp(uri, "-") || stat(uri, &st) < 0)
			state = strcmp(uri, "-") ? "gone" : "not kept";
		else if ((int64_t)st.st_size != dtx_json_int(input, "bytes", -1) ||
		         (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000 !=
		                 dtx_json_int(input, "mtime_us", -1))
			state = dtx_query_file(uri, input);
		if (state && strcmp(state, "unchanged") != 0)
			json_array_append_new(
				list, json_pack("{ss ss ss}", "alias",
			                        dtx_json_text(input, "alias", ""), "label",
			                        dtx_json_text(input, "label", ""), "file", state));
	}
	return list;
}

void dtx_why_replay_clear(struct dtx_why_replay *x)
{
	dtx_exec_free(x->bound);
	dtx_runner_clear(&x->r);
	dtx_snapshots_clear(&x->kept);
	json_decref(x->labels);
	json_decref(x->record);
}
