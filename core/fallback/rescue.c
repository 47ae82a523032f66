/* The ladder of one region: supplied, exact, compatible, else the exact next commands. */
#include "core/fallback/rescue.h"

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/fallback/admit.h"
#include "core/fallback/contract.h"
#include "core/fallback/extract.h"
#include "core/fallback/finger.h"
#include "core/fallback/shape.h"

/* What is known of the region before any code is at hand. */
struct rescue {
	struct dtx_rescuer *r;
	const struct dtx_rescue *region;
	struct dtx_finger_table *tables;
	size_t ntables;
	json_t *contract, *doc, *order, *region_json, *params, *shape;
	char fingerprint[DTX_FINGER_TEXT], intent[DTX_FINGER_TEXT], contract_hash[65];
	struct dtx_arena arena;
	struct dtx_buf code;
	struct dtx_snippet snippet; /* from the cache */
	char id[DTX_SNIPPET_ID];
	enum dtx_rung rung;
	struct dtx_admit_result admitted;
};

static struct dtx_snippet_key rescue_key(const struct rescue *s)
{
	return (struct dtx_snippet_key){ s->r->ns, s->fingerprint, s->intent };
}

static enum dtx_code rescue_contract(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i, n = s->region->nneed;
	struct dtx_need_col *need = dtx_arena_zalloc(&s->arena, n + 1, sizeof(*need));

	if (!need)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		need[i] = (struct dtx_need_col){ s->region->need[i].name, s->region->need[i].cls };
	DTX_TRY(dtx_contract_make(need, n, s->region->expect_json, &s->contract, err));
	DTX_TRY(dtx_finger_contract(s->contract, s->contract_hash, err));
out:
	return rc;
}

/* {"kind": "step", "steps": [...]}: what the intent hash is made of; of an input what the plan says
 * of it. */
static json_t *rescue_region_json(const struct dtx_rescue *region)
{
	if (region->raw)
		return json_pack("{ss sO sO}", "kind", "input", "steps", region->steps, "input",
		                 region->input_json);
	return json_pack("{ss sO}", "kind", region->whole_plan ? "plan" : "step", "steps",
	                 region->steps);
}

/* The tables that reach the snippet, or the shape of the cells. */
static enum dtx_code rescue_tables(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_rescue *g = s->region;
	size_t i;

	s->ntables = g->raw ? 1 : g->ntables;
	s->tables = dtx_arena_zalloc(&s->arena, s->ntables + 1, sizeof(*s->tables));
	if (!s->tables)
		DTX_FAIL_MEM(err);
	for (i = 0; i < g->ntables; i++) {
		s->tables[i].alias = g->table[i].name;
		s->tables[i].schema = g->table[i].table->schema;
		s->tables[i].families = g->table[i].families;
	}
	if (g->raw) {
		DTX_TRY(dtx_shape_json(g->raw, &s->shape, err));
		s->tables[0].alias = g->input_name;
		s->tables[0].grid = s->shape;
	}
out:
	return rc;
}

static enum dtx_code rescue_identify(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->region_json = rescue_region_json(s->region);
	if (!s->region_json)
		DTX_FAIL_MEM(err);
	DTX_TRY(rescue_tables(s, err));
	DTX_TRY(rescue_contract(s, err));
	DTX_TRY(dtx_finger_tables(s->tables, s->ntables, &s->doc, s->fingerprint, err));
	DTX_TRY(dtx_finger_order(s->tables, s->ntables, &s->order, err));
	DTX_TRY(dtx_finger_intent(s->region_json, s->contract, DTX_PROMPT_TEMPLATE, s->r->abi,
	                          s->intent, err));
out:
	return rc;
}

/* What transform() gets as its second argument. */
static enum dtx_code rescue_params(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *families = NULL, *steps = json_deep_copy(s->region->steps);
	json_t *date = s->r->run_date ? json_string(s->r->run_date) : json_null();

	s->params = json_object();
	if (!s->params || !dtx_json_set(s->params, "steps", steps))
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_finger_families(s->tables, s->ntables, &families, err));
	if (!dtx_json_set(s->params, "families", families) ||
	    !dtx_json_set(s->params, "run_date", date))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static const char *rescue_op(const struct dtx_rescue *region)
{
	return region->count ? region->plan->step[region->first].name : NULL;
}

/* Takes the body.  A prompt is no run: it leaves no record. */
static enum dtx_code rescue_event(const struct rescue *s, const char *kind, json_t *body,
                                  struct dtx_err *err)
{
	if (s->r->record)
		return dtx_record_event(s->r->record, kind, body, err);
	json_decref(body);
	return DTX_OK;
}

static enum dtx_code rescue_event_trigger(struct rescue *s, struct dtx_err *err)
{
	const struct dtx_rescue *g = s->region;

	return rescue_event(s, "run.trigger",
	                    json_pack("{si ss ss ss?}", "idx", (int)g->index, "pointer", g->at,
	                              "code", dtx_code_name(g->trigger->code), "op", rescue_op(g)),
	                    err);
}

static enum dtx_code rescue_event_cache(struct rescue *s, struct dtx_err *err)
{
	return rescue_event(s, "run.cache",
	                    json_pack("{si ss ss?}", "idx", (int)s->region->index, "outcome",
	                              dtx_rung_name(s->rung), "cell_id", s->id[0] ? s->id : NULL),
	                    err);
}

/* --- nobody has the answer --- */

static enum dtx_code rescue_prompt(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_rescue *g = s->region;
	struct dtx_prompt_table *tables =
		dtx_arena_zalloc(&s->arena, g->ntables + 1, sizeof(*tables));
	struct dtx_prompt_spec spec = { .versions = "Python 3.11, pandas 1.5, numpy 1.24" };
	json_t *readers = g->raw ? dtx_plan_steps_json(g->plan, 0, g->plan->nsteps) : NULL;
	size_t i;

	if (!tables || (g->raw && !readers))
		DTX_FAIL_MEM(err);
	for (i = 0; i < g->ntables; i++)
		tables[i] = (struct dtx_prompt_table){ g->table[i].name, g->table[i].table };
	spec.imports = s->r->imports;
	spec.dx_names = s->r->dx_names;
	spec.cpu_s = (s->r->limits.cpu_ms ? s->r->limits.cpu_ms : DTX_JAIL_CPU_MS) / 1000;
	spec.memory_mib =
		(int64_t)((s->r->limits.memory ? s->r->limits.memory : DTX_JAIL_MEMORY) >> 20);
	spec.params = g->raw ? "raw, run_date" : "steps, families, run_date";
	spec.raw = g->raw;
	spec.raw_name = g->input_name;
	spec.input = g->raw ? g->input_json : NULL;
	spec.table = tables;
	spec.ntables = g->ntables;
	spec.steps = g->raw ? readers : g->steps;
	spec.error = g->trigger;
	spec.at = g->at;
	spec.contract = s->contract;
	spec.fingerprint = s->fingerprint;
	spec.sample = s->r->sample;
	DTX_TRY(dtx_prompt_make(&spec, s->r->prompt, err));
out:
	json_decref(readers);
	return rc;
}

static void rescue_nobody_step(const struct dtx_rescue *g, const char *why, struct dtx_err *err)
{
	const struct dtx_err *t = g->trigger;
	const char *op = rescue_op(g);
	char meant[100] = "";

	if (t->did_you_mean[0][0])
		snprintf(meant, sizeof(meant), ", did you mean \"%s\"?", t->did_you_mean[0]);
	dtx_err_set(err, DTX_E_NEEDS_SNIPPET, __FILE__, __LINE__, "step %u of %u \"%s\": %s%s; %s",
	            g->first + 1, g->plan->nsteps, op ? op : "", dtx_code_name(t->code), meant,
	            why);
	dtx_err_at(err, t->at[0] ? t->at : g->at);
	dtx_err_step(err, (int32_t)g->first, op);
}

/* The reader's own words: they tell how the plan could describe the input instead. */
static void rescue_nobody_input(const struct dtx_rescue *g, const char *why, struct dtx_err *err)
{
	const struct dtx_err *t = g->trigger;

	dtx_err_set(err, DTX_E_NEEDS_SNIPPET, __FILE__, __LINE__, "input '%s': %s: %s; %s",
	            g->input_name, dtx_code_name(t->code), t->msg, why);
	dtx_err_at(err, g->at);
	dtx_err_row(err, t->row, t->column);
	memcpy(err->input, t->input, sizeof(err->input));
	memcpy(err->sheet, t->sheet, sizeof(err->sheet));
	memcpy(err->cell, t->cell, sizeof(err->cell));
}

static enum dtx_code rescue_nobody(struct rescue *s, struct dtx_err *err)
{
	const struct dtx_rescue *g = s->region;
	const char *way = g->raw ? g->trigger->hint : "";
	const char *why =
		s->r->recorded ? "the recorded run had no snippet here" : "no cached snippet fits";

	if (g->raw)
		rescue_nobody_input(g, why, err);
	else
		rescue_nobody_step(g, why, err);
	err->run_time = true;
	if (s->r->recorded)
		dtx_err_hint(err, "the inputs are not what they were: dtx run does the plan with "
		                  "them, and may ask for a snippet");
	else if (s->r->record)
		dtx_err_hint(
			err,
			"dtx prompt %s > prompt.txt     (give it to a colleague or any model)\n"
			"        %s --snippet answer.txt%s%s",
			dtx_run_id_short(dtx_record_id(s->r->record)), s->r->again,
			way[0] ? "\n        or: " : "", way);
	return DTX_E_NEEDS_SNIPPET;
}

/* --- code at hand --- */

static struct dtx_admit_spec rescue_spec(struct rescue *s, bool fresh)
{
	return (struct dtx_admit_spec){
		.jail = s->r->jail,
		.region = s->region,
		.code = { s->code.ptr, s->code.len },
		.params = s->params,
		.limits = s->r->limits,
		.require_layers = s->r->require_layers,
		.no_warm = s->r->no_warm,
		.cancelled = s->r->cancelled,
		.cancel_arg = s->r->cancel_arg,
		.now_us = s->r->now_us,
		.fresh = fresh,
		.record = s->r->record,
		.contract = s->contract,
	};
}

static enum dtx_code rescue_add(struct rescue *s, struct dtx_err *err)
{
	const struct dtx_admit_result *a = &s->admitted;
	struct dtx_buf order = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_snippet_new add = {
		.key = rescue_key(s),
		.code = { s->code.ptr, s->code.len },
		.contract_hash = s->contract_hash,
		.op = s->region->raw ? "input" : rescue_op(s->region),
		.abi = s->r->abi,
		.flags = a->flags,
		.formulas = a->formulas,
		.origin = "supplied",
		.template_version = DTX_PROMPT_TEMPLATE,
	};
	enum dtx_code rc = DTX_OK;
	char *needs = NULL;

	dtx_json_canonical(s->order, &order);
	add.col_order = dtx_buf_text(&order);
	DTX_TRY(dtx_finger_needs(s->doc, a->needs, &needs, err));
	add.needs = needs;
	DTX_TRY(dtx_snippet_add(s->r->store, dtx_record_id(s->r->record), &add, s->id, err));
out:
	dtx_mem_free(needs);
	dtx_buf_clear(&order);
	return rc;
}

static enum dtx_code rescue_act(struct rescue *s, enum dtx_snippet_act act, const char *by,
                                struct dtx_err *err)
{
	return dtx_snippet_act(s->r->store, dtx_record_id(s->r->record), s->id, act, by, NULL, err);
}

/* EXTRACT, SCREEN, ADMIT, APPROVE of a module given by hand.  One that passed the screen is kept as
 * a candidate even when its run fails. */
static enum dtx_code rescue_supplied(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, ran, added;
	struct dtx_admit_spec spec;
	const char *by = NULL;

	s->rung = DTX_RUNG_SUPPLIED;
	DTX_TRY(rescue_event_cache(s, err));
	DTX_TRY(dtx_extract(s->r->supplied, &s->code, err));
	spec = rescue_spec(s, true);
	ran = dtx_admit_run(&spec, &s->admitted, err);
	added = s->admitted.screened ? rescue_add(s, ran == DTX_OK ? err : NULL) : DTX_OK;
	DTX_TRY(ran);
	DTX_TRY(added);
	DTX_TRY(rescue_act(s, DTX_SNIPPET_PENDING, "dtx", err));
	DTX_TRY(dtx_gate(s->r->approve, true, s->id, &by, err));
	DTX_TRY(rescue_act(s, DTX_SNIPPET_APPROVE, by, err));
out:
	return rc;
}

static enum dtx_code rescue_pending(struct rescue *s, struct dtx_err *err)
{
	if (s->region->raw)
		dtx_err_set(err, DTX_E_NEEDS_APPROVAL, __FILE__, __LINE__,
		            "snippet %.8s for input '%s' fits but waits for approval", s->id,
		            s->region->input_name);
	else
		dtx_err_set(err, DTX_E_NEEDS_APPROVAL, __FILE__, __LINE__,
		            "snippet %.8s for step %u fits but waits for approval", s->id,
		            s->region->first + 1);
	dtx_err_hint(err, "dtx snippet show %.8s; dtx snippet approve %.8s", s->id, s->id);
	return DTX_E_NEEDS_APPROVAL;
}

static enum dtx_code rescue_find(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf order = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_snippet_ask ask = { .key = rescue_key(s), .tables = s->doc };

	s->rung = DTX_RUNG_NONE;
	if (!s->r->store)
		goto out;
	dtx_json_canonical(s->order, &order);
	ask.col_order = dtx_buf_text(&order);
	ask.strict = s->r->strict_schema;
	DTX_TRY(dtx_snippet_resolve(s->r->store, &ask, &s->arena, &s->snippet, &s->rung, err));
	if (s->rung != DTX_RUNG_NONE)
		dtx_str_copy(s->id, sizeof(s->id), dtx_str_of(s->snippet.id));
out:
	dtx_buf_clear(&order);
	return rc;
}

static enum dtx_code rescue_cached(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_admit_spec spec;

	DTX_TRY(rescue_find(s, err));
	DTX_TRY(rescue_event_cache(s, err));
	if (s->rung == DTX_RUNG_NONE || (s->rung == DTX_RUNG_PENDING && s->r->prompt)) {
		if (s->r->prompt)
			DTX_TRY(rescue_prompt(s, err));
		rc = rescue_nobody(s, err);
		goto out;
	}
	if (s->rung == DTX_RUNG_PENDING) {
		rc = rescue_pending(s, err);
		goto out;
	}
	DTX_TRY(dtx_snippet_code(s->r->store, s->snippet.code_hash, &s->code, err));
	spec = rescue_spec(s, false);
	DTX_TRY(dtx_admit_run(&spec, &s->admitted, err));
out:
	return rc;
}

/* --- a replay --- */

static const json_t *rescue_recorded(const struct rescue *s)
{
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)s->r->recorded, i, row)
	{
		if (!strcmp(dtx_json_text(row, "pointer", ""), s->region->at))
			return row;
	}
	return NULL;
}

/* The code that the recorded run ended with, and no other. */
static enum dtx_code rescue_replay(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *row = rescue_recorded(s), *cell = json_object_get(row, "cell");
	const json_t *code = json_object_get(cell, "code");
	struct dtx_admit_spec spec;

	if (!row)
		return rescue_nobody(s, err);
	if (!strcmp(dtx_json_text(cell, "state", ""), "revoked"))
		DTX_FAIL(err, DTX_E_SNIPPET_REVOKED, "snippet %.8s was revoked since",
		         dtx_json_text(row, "cell_id", ""));
	if (!json_is_string(code))
		DTX_FAIL(err, DTX_E_STORE_IO, "the code of snippet %.8s is not in the store",
		         dtx_json_text(row, "cell_id", ""));
	s->rung = DTX_RUNG_RECORDED;
	dtx_str_copy(s->id, sizeof(s->id), dtx_str_of(dtx_json_text(row, "cell_id", "")));
	dtx_buf_addn(&s->code, json_string_value(code), json_string_length(code));
	DTX_TRY(dtx_buf_check(&s->code, "snippet", err));
	DTX_TRY(rescue_event_cache(s, err));
	spec = rescue_spec(s, false);
	DTX_TRY(dtx_admit_run(&spec, &s->admitted, err));
out:
	return rc;
}

/* --- the record --- */

/* snippet_bad_result is class bad_result; what is no snippet code has no class. */
static const char *rescue_class(enum dtx_code code)
{
	const char *name = dtx_code_name(code);

	if (code == DTX_OK)
		return "ok";
	return strncmp(name, "snippet_", 8) ? name : name + 8;
}

static enum dtx_code rescue_record(struct rescue *s, enum dtx_code how, struct dtx_err *err)
{
	const struct dtx_rescue *g = s->region;
	json_t *jail = s->admitted.report_json ? json_incref(s->admitted.report_json) : json_null();
	json_t *steps = g->count ? json_pack("[ii]", (int)g->first, (int)(g->first + g->count - 1))
	                         : json_null();

	return dtx_record_add(s->r->record, DTX_PART_REGION,
	                      json_pack("{ss ss ss ss? si ss so ss? so}", "pointer", g->at, "code",
	                                dtx_code_name(g->trigger->code), "rung",
	                                dtx_rung_name(s->rung), "cell_id", s->id[0] ? s->id : NULL,
	                                "attempts", 1, "class", rescue_class(how), "jail", jail,
	                                "op", rescue_op(g), "steps", steps),
	                      err);
}

static enum dtx_code rescue_checks(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *row;
	size_t i;

	json_array_foreach(s->admitted.checks, i, row)
		DTX_TRY(dtx_record_add(s->r->record, DTX_PART_CHECK, json_incref(row), err));
out:
	return rc;
}

static void rescue_clear(struct rescue *s)
{
	dtx_admit_clear(&s->admitted);
	dtx_buf_clear(&s->code);
	json_decref(s->contract);
	json_decref(s->doc);
	json_decref(s->order);
	json_decref(s->region_json);
	json_decref(s->params);
	json_decref(s->shape);
	dtx_arena_clear(&s->arena);
}

/* Whether a module that failed here may be meant for a region to come: this one has another. */
static enum dtx_code rescue_waits(struct rescue *s, enum dtx_code how, bool *waits,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char id[DTX_SNIPPET_ID];

	*waits = false;
	if (strncmp(dtx_code_name(how), "snippet_", 8))
		goto out;
	memcpy(id, s->id, sizeof(id));
	DTX_TRY(rescue_find(s, err));
	*waits = s->rung == DTX_RUNG_EXACT || s->rung == DTX_RUNG_COMPATIBLE;
	if (*waits) {
		dtx_admit_clear(&s->admitted);
		dtx_buf_reset(&s->code);
	} else {
		s->rung = DTX_RUNG_SUPPLIED;
		memcpy(s->id, id, sizeof(id));
	}
out:
	return rc;
}

/* *done: the module did it, or nobody else can. */
static enum dtx_code rescue_try(struct rescue *s, bool *done, struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	enum dtx_code rc = rescue_supplied(s, &why), found;
	bool waits = false;

	*done = true;
	if (rc == DTX_OK) {
		s->r->supplied_used = true;
		return rc;
	}
	found = rescue_waits(s, rc, &waits, err);
	if (found != DTX_OK || !waits) {
		rc = found != DTX_OK ? found : rc;
		if (found == DTX_OK)
			dtx_err_move(err, &why);
	} else {
		rc = DTX_OK;
		*done = false;
		if (s->r->supplied_err.code == DTX_OK)
			dtx_err_move(&s->r->supplied_err, &why);
	}
	dtx_err_clear(&why);
	return rc;
}

static enum dtx_code rescue_answer(struct rescue *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, recorded;
	bool done = false;

	if (s->r->recorded) {
		DTX_TRY(rescue_replay(s, err));
		goto out;
	}
	if (s->r->supplied.ptr && !s->r->prompt && !s->r->supplied_used)
		DTX_TRY(rescue_try(s, &done, err));
	if (!done)
		DTX_TRY(rescue_cached(s, err));
out:
	if (!s->r->record)
		return rc;
	/* a region that failed is in the record as well; its own error comes first */
	recorded = rescue_record(s, rc, rc == DTX_OK ? err : NULL);
	if (rc == DTX_OK)
		rc = recorded;
	recorded = rescue_checks(s, rc == DTX_OK ? err : NULL);
	return rc == DTX_OK ? recorded : rc;
}

enum dtx_code dtx_rescue_region(void *arg, const struct dtx_rescue *region, struct dtx_table **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct rescue s = { .r = arg,
		            .region = region,
		            .code = DTX_BUF_INIT(DTX_SNIPPET_CODE_MAX) };

	if (!s.r->prompt && (!s.r->store || dtx_store_is_memory(s.r->store)))
		DTX_FAIL(err, DTX_E_STORE_IO, "a run without a store may not leave the typed path");
	DTX_TRY(rescue_event_trigger(&s, err));
	DTX_TRY(rescue_identify(&s, err));
	DTX_TRY(rescue_params(&s, err));
	DTX_TRY(rescue_answer(&s, err));
	*out = s.admitted.table;
	s.admitted.table = NULL;
out:
	rescue_clear(&s);
	return rc;
}
