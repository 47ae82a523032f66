/* Writes a plan as a Python module: one assignment per step, in plain pandas where that gives the
 * same result, else a call of the module dx. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/plan/exec/exec.h"
#include "core/plan/plan_internal.h"
#include "core/plan/bind/column_needs.h"
#include "core/plan/compile/pytext.h"

/* The Python name of a table: inputs are tables["name"], results are t1, t2 ... */
static void table_text(const struct dtx_plan *plan, int32_t t, struct dtx_buf *out)
{
	if ((uint32_t)t < plan->ninputs) {
		dtx_buf_add(out, "tables[");
		dtx_buf_json(out, dtx_str_of(plan->input[t].name));
		dtx_buf_addc(out, ']');
	} else {
		dtx_buf_printf(out, "t%u", (unsigned)t - plan->ninputs + 1);
	}
}

/* Whether, as far as the plan shows, the first row of the table is row 2 of its file. */
static bool starts_in_row_2(const struct dtx_plan *plan, int32_t table)
{
	const struct dtx_read_opts *o;

	if (table < 0 || (uint32_t)table >= plan->ninputs)
		return false;
	o = &plan->input[table].opts;
	return !o->range && !o->table && !o->skip && (o->header_rows == 1 || o->header_rows < 0);
}

void dtx_part_formless(struct dtx_buf *text, const char *language, char out[DTX_PART_FORMLESS])
{
	const char *from = strstr(dtx_buf_text(text), DTX_EXPR_LACKS);
	const char *to = from ? strstr(from + 1, DTX_EXPR_LACKS) : NULL;

	if (to)
		snprintf(out, DTX_PART_FORMLESS, "has no %s form: %.*s cannot be translated",
		         language, (int)DTX_MIN(to - from - 1, 100), from + 1);
	else
		snprintf(out, DTX_PART_FORMLESS, "has no %s form with these parameters", language);
}

/* Whether an op that guesses types leaves this column alone: it is declared as text, or may be, or
 * a step made it. Columns of other types have a dtype. */
static bool stays_text(const struct dtx_field *f)
{
	if (f->type.type == DTX_T_TEXT)
		return f->declared || !f->source;
	return f->declared && f->type.type == DTX_T_UNKNOWN;
}

/* Adds the names of those columns to the call "dx.NAME(df0, ...)", with which `out` ends. */
static enum dtx_code add_typed(const struct dtx_schema *table, struct dtx_buf *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf names = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	for (uint32_t i = 0; table && i < table->nfields; i++) {
		const struct dtx_field *f = &table->field[i];

		if (!stays_text(f))
			continue;
		dtx_buf_add(&names, dtx_buf_len(&names) ? ", " : "");
		dtx_py_text(&names, f->name);
	}
	if (dtx_buf_len(&names) && dtx_buf_len(out)) {
		out->len--; /* removes the closing parenthesis */
		dtx_buf_printf(out, ", typed=[%s])", dtx_buf_text(&names));
	}
	DTX_TRY(dtx_buf_check(&names, "module", err));
out:
	dtx_buf_clear(&names);
	return rc;
}

/* A macro whose core steps need the types of columns, which may not be known here.  dx has a
 * function of its own for the whole step, which the first core step calls. */
static bool is_dx_macro(const struct dtx_plan_step *st)
{
	return st->macro && st->macro->op->compose && st->macro->op->flags & DTX_OP_DX;
}

/* Writes one step: plain pandas where that gives the same result, else a call of dx. False: it has
 * no form; `lacks` says why. */
static bool op_text(const struct dtx_plan *plan, const struct dtx_plan_step *st,
                    const struct dtx_bind *b, struct dtx_buf *out, char lacks[DTX_PART_FORMLESS])
{
	const void *args = b ? b->args : st->args;
	struct dtx_buf text = DTX_BUF_INIT(DTX_PART_MAX);
	bool ok = false;

	snprintf(lacks, DTX_PART_FORMLESS, "has no pandas form");

	if (st->op && st->op->flags & DTX_OP_PLACES && !starts_in_row_2(plan, st->table[0]))
		return false;
	if (b && b->across_part) {
		snprintf(lacks, DTX_PART_FORMLESS,
		         "has no pandas form: 'across' does not name its columns one by one");
		return false;
	}
	if (is_dx_macro(st)) {
		ok = dtx_py_call(st->macro->op, b && b->written ? b->written : st->macro->args,
		                 st->table_name, st->ntables, &text);
		goto done;
	}
	if (st->op && !st->broken && st->op->pandas)
		ok = st->op->pandas(args, &text);
	if (st->op && !st->broken && st->op->pandas && !ok)
		dtx_part_formless(&text, "pandas", lacks);
	if (st->op && !st->broken && !ok && st->op->flags & DTX_OP_DX) {
		dtx_buf_reset(&text);
		ok = dtx_py_call(st->op, args, st->table_name, st->ntables, &text);
	}
done:
	if (text.fail == DTX_BUF_MAX) { /* nested forms that hold an argument several times */
		snprintf(lacks, DTX_PART_FORMLESS, DTX_PART_TOO_LONG, "pandas");
		ok = false;
	}
	dtx_buf_add(out, dtx_buf_text(&text));
	dtx_buf_clear(&text);
	return ok;
}

static enum dtx_code step_text(const struct dtx_flow *flow, uint32_t i, struct dtx_buf *out,
                               struct dtx_err *err)
{
	const struct dtx_plan *plan = flow->plan;
	const struct dtx_plan_step *st = &plan->step[i];
	enum dtx_code rc = DTX_OK;
	char lacks[DTX_PART_FORMLESS];

	if (st->part && is_dx_macro(st)) {
		dtx_buf_printf(out, "    t%u = t%u\n", (unsigned)i + 1, (unsigned)i);
		goto out;
	}
	if (!st->part) /* of a macro the first core step has its name */
		dtx_buf_printf(out, "    # step %d: %s\n", dtx_plan_step_number(plan, (int32_t)i),
		               dtx_plan_step_name(st));
	/* df0, df1 ...: the names that the texts of ops use for the tables they read */
	for (uint32_t k = 0; k < st->ntables; k++) {
		dtx_buf_printf(out, "    df%u = ", (unsigned)k);
		table_text(plan, st->table[k], out);
		dtx_buf_addc(out, '\n');
	}
	dtx_buf_printf(out, "    t%u = ", (unsigned)i + 1);
	if (!op_text(plan, st, flow->bind[i], out, lacks)) {
		rc = dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__, "step %d (%s) %s",
		                 dtx_plan_step_number(plan, (int32_t)i), dtx_plan_step_name(st),
		                 lacks);
		dtx_err_hint(err, "dtx run needs no translation");
		dtx_err_at(err, st->at);
		dtx_err_step(err, (int32_t)i, dtx_plan_step_name(st));
		return rc;
	}
	if (st->op->flags & DTX_OP_RETYPES && !is_dx_macro(st))
		DTX_TRY(add_typed(flow->table[st->table[0]].schema, out, err));
	dtx_buf_printf(out, "\n    t%u = t%u.reset_index(drop=True)\n", (unsigned)i + 1,
	               (unsigned)i + 1);
out:
	return rc;
}

enum dtx_code dtx_part_translated(const struct dtx_plan *plan, int32_t *table, struct dtx_err *err)
{
	*table = plan->noutputs ? plan->output[0].table : plan->result;
	if (plan->options.overflow || plan->options.div_zero_error) {
		(void)dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
		                  "a translation cannot express the plan's options for overflow "
		                  "and division by 0");
		dtx_err_at(err, plan->options.overflow ? "/options/overflow" : "/options/div_zero");
		dtx_err_hint(err, "leave the option out: then a sum that is too large is an error, "
		                  "and a division by 0 gives null");
		return DTX_E_NO_TRANSLATION;
	}
	for (uint32_t i = 1; i < plan->noutputs; i++) {
		if (plan->output[i].table == *table)
			continue;
		(void)dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
		                  "a translation gives one table, the outputs have several");
		dtx_err_at(err, plan->output[i].at);
		dtx_err_hint(err, "compile a plan with the outputs of one table");
		return DTX_E_NO_TRANSLATION;
	}
	return DTX_OK;
}

struct dtx_flow *dtx_part_known(const struct dtx_plan *plan, const struct dtx_exec_result *found,
                                struct dtx_arena *arena)
{
	struct dtx_flow *known = dtx_arena_zalloc(arena, 1, sizeof(*known));

	if (known)
		known->table = dtx_arena_zalloc(arena, plan->ninputs + 1u, sizeof(*known->table));
	if (!known || !known->table)
		return NULL;
	for (uint32_t i = 0; found && i < plan->ninputs; i++)
		known->table[i].schema = (struct dtx_schema *)(uintptr_t)found->input[i].schema;
	return known;
}

enum dtx_code dtx_compile_pandas(const struct dtx_plan *plan, const struct dtx_exec_result *found,
                                 struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	/* not used: they are reported when the plan is checked */
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_flow flow = { 0 }, *known = dtx_part_known(plan, found, &arena);
	int32_t result;

	if (!known)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_part_translated(plan, &result, err));
	DTX_TRY(dtx_column_needs_static(plan, known, &arena, &flow, &findings, NULL, err));
	dtx_buf_add(out, "def transform(tables, params):\n");
	for (uint32_t i = 0; i < plan->nsteps; i++)
		DTX_TRY(step_text(&flow, i, out, err));
	dtx_buf_add(out, "    return ");
	table_text(plan, result, out);
	dtx_buf_addc(out, '\n');
	DTX_TRY(dtx_buf_check(out, "module", err));
out:
	dtx_flow_clear(&flow);
	dtx_errlist_clear(&findings);
	dtx_arena_clear(&arena);
	return rc;
}
