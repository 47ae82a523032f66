/* What a plan does, for people and as JSON. */
#include <stdio.h>

#include "core/plan/exec.h"
#include "core/plan/push.h"

/* Step, op, kind, what it does, result; one row per step. */
struct row {
	const char *kind;
	struct dtx_buf text;
	const struct dtx_schema *schema;
};

static const char *static_kind(const struct dtx_plan_step *st)
{
	if (!st->op || st->trigger != DTX_OK)
		return "snippet";
	if (st->op->flags & DTX_OP_BUILD)
		return "sink";
	if (st->op->map)
		return "map";
	return st->op->sink ? "sink" : "whole";
}

static void describe_step(const struct dtx_plan *plan, uint32_t i, struct dtx_buf *out)
{
	const struct dtx_plan_step *st = &plan->step[i];
	struct dtx_buf json = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	if (st->op && !st->broken && st->op->explain) {
		st->op->explain(st->args, out);
		return;
	}
	if (st->canonical) {
		dtx_json_print(st->canonical, 0, &json);
		dtx_buf_add(out, dtx_buf_text(&json));
	}
	dtx_buf_clear(&json);
}

static void count_cols(const struct dtx_schema *s, struct dtx_buf *out)
{
	uint32_t unknown = 0;

	if (!s) {
		dtx_buf_add(out, "columns known when it runs");
		return;
	}
	for (uint32_t i = 0; i < s->nfields; i++)
		unknown += s->field[i].type.type == DTX_T_UNKNOWN;
	dtx_buf_printf(out, "%u column%s", (unsigned)s->nfields, s->nfields == 1 ? "" : "s");
	if (unknown)
		dtx_buf_printf(out, ", %u of unknown type", (unsigned)unknown);
	if (s->open)
		dtx_buf_add(out, ", open");
}

struct view {
	const struct dtx_plan *plan;
	const struct dtx_exec_result *r;
	struct dtx_arena arena;
	struct dtx_flow flow;
	struct dtx_errlist findings;
};

static const struct dtx_schema *schema_of(const struct view *v, int32_t t)
{
	uint32_t n = v->plan->ninputs;

	if (!v->r)
		return v->flow.table[t].schema;
	return (uint32_t)t < n ? v->r->input[t].schema : v->r->step[(uint32_t)t - n].schema;
}

static enum dtx_code open_view(struct view *v, const struct dtx_plan *plan,
                               const struct dtx_exec_result *r, struct dtx_err *err)
{
	*v = (struct view){ .plan = plan, .r = r };
	if (r)
		return DTX_OK;
	/* the static pass notes nothing, so the plan stays as it is */
	return dtx_push_static((struct dtx_plan *)(uintptr_t)plan, &v->arena, &v->flow,
	                       &v->findings, false, err);
}

static void close_view(struct view *v)
{
	dtx_flow_clear(&v->flow);
	dtx_errlist_clear(&v->findings);
	dtx_arena_clear(&v->arena);
}

static void input_text(const struct view *v, uint32_t i, struct dtx_buf *out)
{
	const struct dtx_plan_input *in = &v->plan->input[i];
	const struct dtx_exec_input *x = v->r ? &v->r->input[i] : NULL;
	const struct dtx_schema *s = schema_of(v, (int32_t)i);
	uint32_t read = 0, values = 0;
	bool rescued = x && x->reader && !strcmp(x->reader, "snippet");

	dtx_buf_printf(out, "  %-12s %s", in->name, rescued ? "snippet " : "read   ");
	if (in->path)
		dtx_buf_add(out, in->path);
	if (!s) {
		dtx_buf_add(out, rescued ? "  columns known when it runs\n" : "  not read\n");
		return;
	}
	for (uint32_t c = 0; x && x->need && c < s->nfields; c++) {
		read += x->need[c] > DTX_NEED_SKIP;
		values += x->need[c] == DTX_NEED_VALUE;
	}
	dtx_buf_add(out, "  ");
	count_cols(s, out);
	if (x && x->need)
		dtx_buf_printf(out, "; %u read, %u as values", (unsigned)read, (unsigned)values);
	dtx_buf_addc(out, '\n');
}

static void step_text(const struct view *v, uint32_t i, struct dtx_buf *out)
{
	const struct dtx_plan_step *st = &v->plan->step[i];
	const struct dtx_exec_step *x = v->r ? &v->r->step[i] : NULL;

	dtx_buf_printf(out, "%u %-12s %-6s ", (unsigned)i + 1, st->name,
	               x && x->kind[0] ? x->kind : static_kind(st));
	describe_step(v->plan, i, out);
	dtx_buf_add(out, "  ");
	count_cols(schema_of(v, (int32_t)(v->plan->ninputs + i)), out);
	if (x && (x->rows_in || x->rows_out))
		dtx_buf_printf(out, "; %lld rows in, %lld out, %.3f s", (long long)x->rows_in,
		               (long long)x->rows_out, (double)x->ns / 1e9);
	for (uint32_t k = 0; x && k < x->ndrops; k++)
		dtx_buf_printf(out, ", %lld %s", (long long)x->drop[k].n, x->drop[k].reason);
	if (st->out_name)
		dtx_buf_printf(out, "  -> %s", st->out_name);
	dtx_buf_addc(out, '\n');
	if (st->note)
		dtx_buf_printf(out, "  # %s\n", st->note);
}

enum dtx_code dtx_explain_text(const struct dtx_plan *plan, const struct dtx_exec_result *r,
                               struct dtx_buf *out, struct dtx_err *err)
{
	struct view v;
	enum dtx_code rc = open_view(&v, plan, r, err);

	DTX_TRY(rc);
	for (uint32_t i = 0; i < plan->ninputs; i++)
		input_text(&v, i, out);
	for (uint32_t i = 0; i < plan->nsteps; i++)
		step_text(&v, i, out);
	for (size_t i = 0; r && i < r->nlineage; i++) {
		const struct dtx_exec_lineage *l = &r->lineage[i];
		bool first = !i || l->out_col != l[-1].out_col || l->output != l[-1].output;

		if (l->composed && first)
			dtx_buf_printf(out, "  %s = %s\n", l->out_col, l->composed);
	}
	DTX_TRY(dtx_buf_check(out, "explanation", err));
out:
	close_view(&v);
	return rc;
}

/* --- JSON --- */

static json_t *schema_json(const struct dtx_schema *s)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *out = NULL;

	if (!s)
		return json_null();
	dtx_schema_json(s, &text);
	if (dtx_buf_ok(&text))
		out = json_loadb(text.ptr, text.len, 0, NULL);
	dtx_buf_clear(&text);
	return out;
}

static json_t *input_json(const struct view *v, uint32_t i)
{
	static const char *const needs[] = { "skip", "bytes", "value" };
	const struct dtx_exec_input *x = v->r ? &v->r->input[i] : NULL;
	const struct dtx_schema *s = schema_of(v, (int32_t)i);
	json_t *need = json_object();

	for (uint32_t c = 0; need && x && x->need && s && c < s->nfields; c++)
		if (!dtx_json_set(need, s->field[c].name, json_string(needs[x->need[c]]))) {
			json_decref(need);
			need = NULL;
		}
	return json_pack("{s:s,s:s?,s:o,s:b,s:o}", "name", v->plan->input[i].name, "path",
	                 v->plan->input[i].path, "schema", schema_json(s), "open",
	                 s ? (int)s->open : 1, "need", need);
}

static json_t *drops_json(const struct dtx_exec_step *x)
{
	json_t *out = json_object();

	for (uint32_t k = 0; out && x && k < x->ndrops; k++)
		if (!dtx_json_set(out, x->drop[k].reason, json_integer(x->drop[k].n))) {
			json_decref(out);
			out = NULL;
		}
	return out;
}

static json_t *step_json(const struct view *v, uint32_t i)
{
	const struct dtx_plan_step *st = &v->plan->step[i];
	const struct dtx_exec_step *x = v->r ? &v->r->step[i] : NULL;
	const struct dtx_schema *s = schema_of(v, (int32_t)(v->plan->ninputs + i));
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *out;

	describe_step(v->plan, i, &text);
	out = json_pack("{s:i,s:s,s:s,s:s,s:s?,s:s?,s:o,s:b,s:s?,s:I,s:I,s:I,s:o,s:O}", "step",
	                (int)i, "op", st->name, "kind", x && x->kind[0] ? x->kind : static_kind(st),
	                "text", dtx_buf_text(&text), "note", st->note, "out", st->out_name,
	                "schema", schema_json(s), "open", s ? (int)s->open : 1, "trigger",
	                st->trigger == DTX_OK ? NULL : dtx_code_name(st->trigger), "rows_in",
	                (json_int_t)(x ? x->rows_in : 0), "rows_out",
	                (json_int_t)(x ? x->rows_out : 0), "ns", (json_int_t)(x ? x->ns : 0),
	                "counts", drops_json(x), "canonical", st->canonical);
	dtx_buf_clear(&text);
	return out;
}

static json_t *formulas_json(const struct dtx_exec_result *r)
{
	json_t *out = json_array();

	for (size_t i = 0; out && r && i < r->nlineage; i++) {
		const struct dtx_exec_lineage *l = &r->lineage[i];
		bool first = !i || l->out_col != l[-1].out_col || l->output != l[-1].output;

		if (l->formula && first &&
		    json_array_append_new(out, json_pack("{s:s,s:s,s:s}", "column", l->out_col,
		                                         "formula", l->formula, "composed",
		                                         l->composed)) != 0) {
			json_decref(out);
			out = NULL;
		}
	}
	return out;
}

json_t *dtx_explain_json(const struct dtx_plan *plan, const struct dtx_exec_result *r)
{
	struct view v;
	json_t *inputs = json_array(), *steps = json_array(), *out = NULL;
	bool ok = inputs && steps && open_view(&v, plan, r, NULL) == DTX_OK;

	for (uint32_t i = 0; ok && i < plan->ninputs; i++)
		ok = json_array_append_new(inputs, input_json(&v, i)) == 0;
	for (uint32_t i = 0; ok && i < plan->nsteps; i++)
		ok = json_array_append_new(steps, step_json(&v, i)) == 0;
	if (ok)
		out = json_pack("{s:s,s:s?,s:O,s:O,s:o}", "id", plan->id, "name", plan->name,
		                "inputs", inputs, "steps", steps, "formulas", formulas_json(r));
	if (inputs && steps)
		close_view(&v);
	json_decref(inputs);
	json_decref(steps);
	return out;
}
