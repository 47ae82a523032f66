/* From an answer to code that may run: extract, screen, admit, approve. */
#include "core/base/memory/mem.h"
#include "core/fallback/adapter.h"
#include "core/fallback/prompt/extract.h"
#include "core/fallback/fallback_job.h"

static struct dtx_admit_spec admit_spec(struct dtx_fallback_job *w, bool fresh)
{
	return (struct dtx_admit_spec){
		.jail = w->r->jail,
		.region = w->region,
		.code = { w->code.ptr, w->code.len },
		.params = w->params,
		.adapter = w->adapter,
		.limits = w->r->limits,
		.require_layers = w->r->require_layers,
		.no_warm = w->r->no_warm,
		.cancelled = w->r->cancelled,
		.cancel_arg = w->r->cancel_arg,
		.now_us = w->r->now_us,
		.fresh = fresh,
		.record = w->r->record,
		.contract = w->contract,
		.names = w->names,
	};
}

/* The columns that the code reads, by their names in the input; JSON text, to be freed with
 * dtx_mem_free. */
static enum dtx_code admit_needs(const struct dtx_fallback_job *w, char **needs,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *names = NULL;

	*needs = NULL;
	DTX_TRY(dtx_adapter_names(w->adapter, w->admitted.needs, &names, err));
	DTX_TRY(dtx_fingerprint_needs(w->doc, names, needs, err));
out:
	dtx_mem_free(names);
	return rc;
}

/* Keeps the code as a candidate. */
static enum dtx_code admit_add(struct dtx_fallback_job *w, struct dtx_err *err)
{
	const struct dtx_admit_result *a = &w->admitted;
	struct dtx_buf order = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_buf adapter = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_snippet_new add = {
		.key = dtx_fallback_job_key(w),
		.code = { w->code.ptr, w->code.len },
		.contract_hash = w->contract_hash,
		.op = w->region->raw ? "input" : dtx_fallback_job_op(w),
		.abi = w->r->abi,
		.flags = a->flags,
		.formulas = a->formulas,
		.origin = w->origin,
		.call_id = w->call_id[0] ? w->call_id : NULL,
		.template_version = DTX_PROMPT_TEMPLATE,
	};
	enum dtx_code rc = DTX_OK;
	char *needs = NULL;

	dtx_json_canonical(w->order, &order);
	add.col_order = dtx_buf_text(&order);
	if (w->adapter) {
		dtx_json_canonical(w->adapter, &adapter);
		add.adapter = dtx_buf_text(&adapter);
	}
	DTX_TRY(admit_needs(w, &needs, err));
	add.needs = needs;
	DTX_TRY(dtx_snippet_add(w->r->store, dtx_record_id(w->r->record), &add, w->id, err));
out:
	dtx_mem_free(needs);
	dtx_buf_clear(&order);
	dtx_buf_clear(&adapter);
	return rc;
}

static enum dtx_code admit_act(struct dtx_fallback_job *w, enum dtx_snippet_act act, const char *by,
                               struct dtx_err *err)
{
	return dtx_snippet_act(w->r->store, dtx_record_id(w->r->record), w->id, act, by, NULL, err);
}

/* Admits new code. If it passes the screen it is kept as a candidate, even if its run fails. */
static enum dtx_code admit_code(struct dtx_fallback_job *w, bool trial_off, struct dtx_err *err)
{
	struct dtx_admit_spec spec = admit_spec(w, true);
	enum dtx_code ran, added = DTX_OK;

	spec.trial_off = trial_off;
	ran = dtx_admit_run(&spec, &w->admitted, err);
	if (w->admitted.screened)
		added = admit_add(w, ran == DTX_OK ? err : NULL);
	return ran == DTX_OK ? added : ran;
}

enum dtx_code dtx_fallback_job_try(struct dtx_fallback_job *w, struct dtx_str answer,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_extract(answer, &w->code, err));
	DTX_TRY(admit_code(w, w->r->trial_off, err));
out:
	return rc;
}

static void admit_view(const struct dtx_fallback_job *w, struct dtx_approval_view *v)
{
	const struct dtx_admit_result *a = &w->admitted;

	*v = (struct dtx_approval_view){ .id = w->id,
		                         .op = dtx_fallback_job_op(w),
		                         .at = w->region->at,
		                         .code = { w->code.ptr, w->code.len },
		                         .origin = w->origin,
		                         .model = w->model,
		                         .needs = a->needs,
		                         .flags = a->flags,
		                         .formulas = a->formulas,
		                         .result = a->table ? a->table->schema : NULL,
		                         .rows_after = a->table ? a->table->nrows : -1,
		                         .cols_after =
		                                 a->table ? (int64_t)a->table->schema->nfields : -1,
		                         .unchanged = a->unchanged,
		                         .checks = a->checks,
		                         .disclosed = w->asked ? &w->disclosed : NULL,
		                         .policy = dtx_sample_name(w->r->sample) };
	v->rows_before = w->before.rows;
	v->cols_before = w->before.cols;
}

enum dtx_code dtx_fallback_job_pending(struct dtx_fallback_job *w, struct dtx_err *err)
{
	return admit_act(w, DTX_SNIPPET_PENDING, "dtx", err);
}

enum dtx_code dtx_fallback_job_approve(struct dtx_fallback_job *w, bool supplied,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_approval_view view;
	const char *by = NULL;

	DTX_TRY(dtx_fallback_job_pending(w, err));
	admit_view(w, &view);
	DTX_TRY(dtx_approval(&w->r->gate, supplied, &view, &by, err));
	if (w->r->trial_off) { /* a person has read the code, so now it may run */
		dtx_admit_clear(&w->admitted);
		DTX_TRY(admit_code(w, false, err));
	}
	DTX_TRY(admit_act(w, DTX_SNIPPET_APPROVE, by, err));
out:
	return rc;
}

static enum dtx_code admit_adapter(struct dtx_fallback_job *w, struct dtx_err *err)
{
	const struct dtx_json_limits limits = { (size_t)1 << 20, 8 };

	json_decref(w->adapter);
	w->adapter = NULL;
	if (!w->snippet.adapter)
		return DTX_OK;
	return dtx_json_parse(dtx_str_of(w->snippet.adapter), limits, &w->adapter, err);
}

static enum dtx_code admit_pending(const struct dtx_fallback_job *w, struct dtx_err *err)
{
	if (w->region->raw)
		dtx_err_set(err, DTX_E_NEEDS_APPROVAL, __FILE__, __LINE__,
		            "snippet %.8s for input '%s' fits but waits for approval", w->id,
		            w->region->input_name);
	else
		dtx_err_set(err, DTX_E_NEEDS_APPROVAL, __FILE__, __LINE__,
		            "snippet %.8s for step %d fits but waits for approval", w->id,
		            dtx_plan_step_number(w->region->plan, (int32_t)w->region->first));
	dtx_err_hint(err, "dtx snippet show %.8s; dtx snippet approve %.8s", w->id, w->id);
	return DTX_E_NEEDS_APPROVAL;
}

/* Approves a pending snippet now, by policy or by asking the user at the terminal. */
static enum dtx_code admit_waiting(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_approval_view view;
	const char *by = NULL;

	admit_view(w, &view);
	view.origin = w->snippet.origin;
	view.needs = w->snippet.needs;
	view.flags = w->snippet.flags;
	view.formulas = w->snippet.formulas;
	view.adapter = w->snippet.adapter;
	rc = dtx_approval(&w->r->gate, false, &view, &by, err);
	if (rc == DTX_E_NEEDS_APPROVAL && !w->r->gate.ask)
		return admit_pending(w, err);
	if (rc != DTX_OK)
		goto out;
	DTX_TRY(admit_act(w, DTX_SNIPPET_APPROVE, by, err));
out:
	return rc;
}

/* --- what is stored about a snippet must agree with its code --- */

static json_t *admit_loads(const char *text)
{
	return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

/* Whether two JSON texts are equal; an empty list or object counts as nothing. */
static bool admit_equal(const char *a, const char *b)
{
	json_t *x = admit_loads(a), *y = admit_loads(b);
	bool equal = (!json_array_size(x) && !json_object_size(x) && !json_array_size(y) &&
	              !json_object_size(y)) ||
	             json_equal(x, y);

	json_decref(x);
	json_decref(y);
	return equal;
}

static bool admit_flagged(const struct dtx_fallback_job *w, const char *flag)
{
	json_t *flags = admit_loads(w->admitted.flags), *one;
	bool found = false;
	size_t i;

	json_array_foreach(flags, i, one) found =
		found || !strcmp(flag, json_is_string(one) ? json_string_value(one) : "");
	json_decref(flags);
	return found;
}

static bool admit_order_fits(const struct dtx_fallback_job *w)
{
	json_t *order = admit_loads(w->snippet.col_order);
	bool fits = order && json_equal(order, w->order);

	json_decref(order);
	return fits;
}

/* If the snippet was imported from a file, checks what the file claims about it: the user who
 * approved it has seen these claims. */
static enum dtx_code admit_imported(const struct dtx_fallback_job *w, const char **wrong,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *needs = NULL;

	DTX_TRY(admit_needs(w, &needs, err));
	if (!admit_equal(w->snippet.flags, w->admitted.flags))
		*wrong = "flags that its code does not have";
	else if (!admit_equal(w->snippet.formulas, w->admitted.formulas))
		*wrong = "formulas that its code does not have";
	else if (!admit_equal(w->snippet.needs, needs))
		*wrong = "columns that its code does not read";
out:
	dtx_mem_free(needs);
	return rc;
}

/* Checks what is stored about the snippet. The screen has read the code again in the jail, and
 * its findings decide, not what is stored. */
static enum dtx_code admit_agrees(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool imported = w->snippet.origin && !strcmp(w->snippet.origin, "import");
	bool compatible = w->rung == DTX_RUNG_COMPATIBLE;
	const char *wrong = NULL;

	if (imported)
		DTX_TRY(admit_imported(w, &wrong, err));
	if (!wrong && admit_flagged(w, "positional") && !admit_order_fits(w))
		wrong = "no column order, or a different one, although its code reads by position";
	if (!wrong && compatible && admit_flagged(w, "whole_frame"))
		wrong = "no mark that its code reads all columns";
	if (!wrong)
		goto out;
	rc = dtx_err_set(err, DTX_E_NEEDS_APPROVAL, __FILE__, __LINE__,
	                 "the approval of snippet %.8s lists %s: it does not run", w->id, wrong);
	dtx_err_hint(err,
	             "dtx snippet show %.8s --code > FILE; dtx snippet add FILE --plan PLAN "
	             "INPUT... reads it here, then it waits for approval",
	             w->id);
out:
	return rc;
}

enum dtx_code dtx_fallback_job_run(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_admit_spec spec;
	char policy[65];

	DTX_TRY(admit_adapter(w, err));
	DTX_TRY(dtx_snippet_code(w->r->store, w->snippet.code_hash, &w->code, err));
	if (w->rung == DTX_RUNG_PENDING)
		DTX_TRY(admit_waiting(w, err));
	spec = admit_spec(w, false);
	DTX_TRY(dtx_snippet_policy(w->r->store, w->id, policy, err));
	spec.policy = policy;
	DTX_TRY(dtx_admit_run(&spec, &w->admitted, err));
	DTX_TRY(admit_agrees(w, err));
out:
	return rc;
}

enum dtx_code dtx_fallback_job_recorded(struct dtx_fallback_job *w, const json_t *adapter,
                                        struct dtx_err *err)
{
	struct dtx_admit_spec spec;

	if (json_is_object(adapter))
		w->adapter = json_incref((json_t *)(uintptr_t)adapter);
	spec = admit_spec(w, false);
	return dtx_admit_run(&spec, &w->admitted, err);
}
