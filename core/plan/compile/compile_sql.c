/* Writes a plan as one SQL statement, and as a graph for Graphviz. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "core/base/strmap.h"
#include "core/plan/exec/exec.h"
#include "core/plan/plan_internal.h"
#include "core/plan/bind/column_needs.h"
#include "core/plan/compile/sqltext.h"

struct compiler {
	const struct dtx_plan *plan;
	const struct dtx_exec_result *found; /* NULL: no file was read */
	struct dtx_arena arena;
	struct dtx_flow flow;
	struct dtx_errlist findings;
	struct dtx_buf *out;
	struct dtx_buf
		more; /* the other steps without a form, once there is one: "3 (sort), 5 (bin)" */
};

static enum dtx_code refuse(const struct dtx_plan *plan, uint32_t i, const char *why,
                            struct dtx_err *err)
{
	const struct dtx_plan_step *st = &plan->step[i];

	(void)dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__, "step %d (%s) %s",
	                  dtx_plan_step_number(plan, (int32_t)i), dtx_plan_step_name(st), why);
	dtx_err_hint(err,
	             "dtx compile --to pandas writes more steps; dtx run needs no translation");
	dtx_err_at(err, st->at);
	dtx_err_step(err, (int32_t)i, dtx_plan_step_name(st));
	return DTX_E_NO_TRANSLATION;
}

/* The quoted name of a table's common table expression, in the arena. NULL: out of memory. */
static const char *cte_name(struct compiler *c, int32_t t)
{
	struct dtx_buf name = DTX_BUF_INIT(1 << 16);
	char number[32];
	const char *copy;

	snprintf(number, sizeof(number), "step %d", (int)t - (int)c->plan->ninputs + 1);
	if ((uint32_t)t < c->plan->ninputs) {
		dtx_buf_printf(&name, "input %s", c->plan->input[t].name);
		copy = dtx_arena_strdup(&c->arena, dtx_buf_text(&name));
		dtx_buf_reset(&name);
		dtx_sql_name(&name, copy ? copy : "");
	} else {
		dtx_sql_name(&name, number);
	}
	copy = dtx_arena_strdup(&c->arena, dtx_buf_text(&name));
	dtx_buf_clear(&name);
	return copy;
}

/* SQL must name every column of an input, so they must be found in its file, or be declared. */
static enum dtx_code bind_input(struct compiler *c, uint32_t i, struct dtx_err *err)
{
	const struct dtx_plan_input *in = &c->plan->input[i];
	enum dtx_code rc = DTX_OK;
	struct dtx_schema s;

	if (c->found && c->found->input[i].schema)
		return dtx_flow_set(&c->flow, (int32_t)i, c->found->input[i].schema, err);
	if (!in->opts.ntypes) {
		rc = dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__,
		                 "the columns of input '%s' are not known", in->name);
		dtx_err_at(err, in->at);
		dtx_err_hint(err,
		             "name the file (dtx compile --to sql PLAN FILE), or list them all in "
		             "the input's types");
		goto out;
	}
	DTX_TRY(dtx_column_needs_declared(in, &c->arena, &s, err));
	s.open = false;
	DTX_TRY(dtx_flow_set(&c->flow, (int32_t)i, &s, err));
out:
	return rc;
}

/* SQL does not tell names apart by their case, and some are taken: that of the row's number, and of
 * what steps make below their results. */
static bool is_taken(const char *name)
{
	static const char *const taken[] = { "_row", "_all", "_n", "_p", "_t" };

	for (size_t i = 0; i < DTX_COUNT(taken); i++)
		if (!strcasecmp(name, taken[i]))
			return true;
	return !strncasecmp(name, "_w", 2) && strspn(name + 2, "0123456789") == strlen(name + 2);
}

/* Finds an earlier name that differs from name `at` by its case only, and keeps this one in
 * `names`: *other is NULL if none does. */
static enum dtx_code same_in_sql(const struct dtx_schema *s, uint32_t at, struct dtx_strmap *names,
                                 const char **other, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str name = dtx_str_of(s->field[at].name);
	struct dtx_buf lower = DTX_BUF_INIT(name.len + 1);
	uint32_t first;

	for (size_t i = 0; i < name.len; i++)
		dtx_buf_addc(&lower, (char)tolower((unsigned char)name.ptr[i]));
	DTX_TRY(dtx_buf_check(&lower, "the name of a column", err));
	if (!dtx_strmap_put(names, dtx_buf_str(&lower), at, &first))
		DTX_FAIL_MEM(err);
	*other = first < at ? s->field[first].name : NULL;
out:
	dtx_buf_clear(&lower);
	return rc;
}

/* Refuses table t, because of a column whose name SQL cannot have; `other` as in same_in_sql. */
static enum dtx_code refuse_name(const struct dtx_plan *plan, uint32_t t, const char *name,
                                 const char *other, struct dtx_err *err)
{
	enum dtx_code rc;
	char why[300];

	if (other)
		snprintf(why, sizeof(why),
		         "has columns '%.100s' and '%.100s', which SQL does not tell apart", other,
		         name);
	else
		snprintf(why, sizeof(why),
		         "has a column '%.100s', a name that the statement needs itself", name);
	if (t >= plan->ninputs)
		return refuse(plan, t - plan->ninputs, why, err);
	rc = dtx_err_set(err, DTX_E_NO_TRANSLATION, __FILE__, __LINE__, "input '%s' %s",
	                 plan->input[t].name, why);
	dtx_err_hint(err, "rename it in the file; dtx run needs no translation");
	dtx_err_at(err, plan->input[t].at);
	return rc;
}

static enum dtx_code names_check(struct compiler *c, uint32_t t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = c->flow.table[t].schema;
	struct dtx_strmap names = DTX_STRMAP_INIT;
	const char *other;

	for (uint32_t i = 0; s && i < s->nfields; i++) {
		DTX_TRY(same_in_sql(s, i, &names, &other, err));
		if (other || is_taken(s->field[i].name)) {
			rc = refuse_name(c->plan, t, s->field[i].name, other, err);
			goto out;
		}
	}
out:
	dtx_strmap_clear(&names);
	return rc;
}

static enum dtx_code bind_all(struct compiler *c, struct dtx_err *err)
{
	struct dtx_run run;
	enum dtx_code rc = DTX_OK;
	const struct dtx_err *worst;

	dtx_column_needs_run(c->plan, &run);
	DTX_TRY(dtx_flow_init(&c->flow, &c->arena, c->plan, err));
	for (uint32_t i = 0; i < c->plan->ninputs; i++) {
		DTX_TRY(bind_input(c, i, err));
		DTX_TRY(names_check(c, i, err));
	}
	for (uint32_t i = 0; i < c->plan->nsteps; i++) {
		bool bad = false;

		DTX_TRY(dtx_flow_bind(&c->flow, i, false, &run, &c->findings, &bad, err));
		worst = bad ? dtx_errlist_worst(&c->findings) : NULL;
		if (worst && worst->severity == DTX_SEV_ERROR) {
			char why[480];

			snprintf(why, sizeof(why), "cannot be written in SQL: %s", worst->msg);
			rc = refuse(c->plan, i, why, err);
			if (!c->found)
				dtx_err_hint(err,
				             "name the files (dtx compile --to sql PLAN FILE), or "
				             "list all columns of the inputs in their types");
			goto out;
		}
		DTX_TRY(names_check(c, c->plan->ninputs + i, err));
	}
out:
	return rc;
}

/* Writes the expression of an input, with its rows numbered in their order. */
static enum dtx_code input_text(struct compiler *c, uint32_t i, struct dtx_err *err)
{
	const struct dtx_plan_input *in = &c->plan->input[i];
	const struct dtx_schema *s = c->flow.table[i].schema;
	enum dtx_code rc = DTX_OK;
	const char *name = cte_name(c, (int32_t)i);

	if (!name)
		DTX_FAIL_MEM(err);
	dtx_buf_printf(c->out, "%s%s AS (SELECT rowid AS \"_row\"", i ? ",\n" : "WITH ", name);
	for (uint32_t k = 0; k < s->nfields; k++) {
		dtx_buf_add(c->out, ", ");
		dtx_sql_name(c->out, s->field[k].name);
	}
	dtx_buf_add(c->out, " FROM ");
	dtx_sql_name(c->out, in->name);
	dtx_buf_addc(c->out, ')');
out:
	return rc;
}

static enum dtx_code step_text(struct compiler *c, uint32_t i, struct dtx_err *err)
{
	const struct dtx_plan_step *st = &c->plan->step[i];
	const char **from = dtx_arena_alloc(&c->arena, st->ntables + 1, sizeof(*from));
	const struct dtx_bind *b = c->flow.bind[i];
	struct dtx_sql_step s = { b ? b->args : st->args, b, from };
	enum dtx_code rc = DTX_OK;
	char what[DTX_PART_FORMLESS];
	struct dtx_buf text = DTX_BUF_INIT(DTX_PART_MAX);
	const char *name = cte_name(c, (int32_t)(c->plan->ninputs + i));

	if (!from)
		DTX_FAIL_MEM(err);
	if (b && b->across_part) {
		rc = refuse(c->plan, i,
		            "has no SQL form: 'across' does not name its columns one by one", err);
		goto out;
	}
	if (!st->op || st->broken || !st->op->sql || !s.bind || s.bind->unmade) {
		rc = refuse(c->plan, i, "has no SQL form", err);
		goto out;
	}
	for (uint32_t k = 0; k < st->ntables; k++) {
		from[k] = st->table[k] < 0 ? NULL : cte_name(c, st->table[k]);
		if (!from[k])
			DTX_FAIL_MEM(err);
	}
	if (!name)
		DTX_FAIL_MEM(err);
	if (!st->op->sql(&s, &text)) {
		dtx_part_formless(&text, "SQL", what);
		rc = refuse(c->plan, i, what, err);
		goto out;
	}
	if (text.fail == DTX_BUF_MAX) { /* nested forms that hold an argument several times */
		snprintf(what, sizeof(what), DTX_PART_TOO_LONG, "SQL");
		rc = refuse(c->plan, i, what, err);
		goto out;
	}
	dtx_buf_printf(c->out, ",\n%s AS (%s)", name, dtx_buf_text(&text));
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code result_text(struct compiler *c, struct dtx_err *err)
{
	const struct dtx_schema *s;
	const char *name;
	int32_t result;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_part_translated(c->plan, &result, err));
	s = c->flow.table[result].schema;
	name = cte_name(c, result);
	if (!name)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; s && k < s->nfields; k++) {
		dtx_buf_add(c->out, k ? ", " : "\nSELECT ");
		dtx_sql_name(c->out, s->field[k].name);
	}
	dtx_buf_printf(c->out, " FROM %s ORDER BY \"_row\";\n", name);
out:
	return rc;
}

static const char *sql_type(enum dtx_type t)
{
	return t == DTX_T_INT64     ? "BIGINT"
	       : t == DTX_T_FLOAT64 ? "DOUBLE"
	       : t == DTX_T_BOOL    ? "BOOLEAN"
	       : t == DTX_T_DECIMAL ? "NUMERIC"
	                            : "TEXT";
}

/* Says which tables the statement reads, as comments. A line end in a name would end the comment.
 */
static void tables_text(struct compiler *c)
{
	struct dtx_buf line = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_buf_add(c->out,
	            "-- It reads these tables, whose rows are in the order of the files. An empty "
	            "cell is "
	            "NULL; dates and\n-- times are texts as 2024-12-31 and 2024-12-31T23:59:00.\n");
	for (uint32_t i = 0; i < c->plan->ninputs; i++) {
		const struct dtx_schema *s = c->flow.table[i].schema;

		dtx_buf_reset(&line);
		dtx_buf_add(&line, "CREATE TABLE ");
		dtx_sql_name(&line, c->plan->input[i].name);
		for (uint32_t k = 0; s && k < s->nfields; k++) {
			dtx_buf_add(&line, k ? ", " : " (");
			dtx_sql_name(&line, s->field[k].name);
			dtx_buf_printf(&line, " %s", sql_type(s->field[k].type.type));
		}
		dtx_buf_add(c->out, "-- ");
		for (const char *at = dtx_buf_text(&line); *at; at++)
			dtx_buf_addc(c->out, *at == '\n' || *at == '\r' ? ' ' : *at);
		dtx_buf_add(c->out, ");\n");
	}
	dtx_buf_clear(&line);
}

/* Goes on after a step that has no form, to name all of them. */
static enum dtx_code steps_text(struct compiler *c, struct dtx_err *err)
{
	struct dtx_err next = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK, found;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->plan->nsteps; i++) {
		found = step_text(c, i, rc == DTX_OK ? err : &next);
		if (rc == DTX_OK)
			rc = found;
		else if (found != DTX_OK)
			dtx_buf_printf(&c->more, "%s%d (%s)", n++ ? ", " : "",
			               dtx_plan_step_number(c->plan, (int32_t)i),
			               dtx_plan_step_name(&c->plan->step[i]));
		dtx_err_clear(&next);
		if (rc != DTX_OK && rc != DTX_E_NO_TRANSLATION)
			break;
	}
	if (n)
		dtx_err_hint(err,
		             "step%s %s %s no SQL form either; dtx compile --to pandas writes more "
		             "steps; "
		             "dtx run needs no translation",
		             n == 1 ? "" : "s", dtx_buf_text(&c->more), n == 1 ? "has" : "have");
	dtx_buf_clear(&c->more);
	return rc;
}

enum dtx_code dtx_compile_sql(const struct dtx_plan *plan, const struct dtx_exec_result *found,
                              struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct compiler c = {
		.plan = plan, .found = found, .out = out, .more = DTX_BUF_INIT(4096)
	};

	DTX_TRY(bind_all(&c, err));
	dtx_buf_printf(out, "-- Made by dtx %s from plan %s\n", DTX_VERSION, plan->id);
	tables_text(&c);
	for (uint32_t i = 0; i < plan->ninputs; i++)
		DTX_TRY(input_text(&c, i, err));
	DTX_TRY(steps_text(&c, err));
	DTX_TRY(result_text(&c, err));
	DTX_TRY(dtx_buf_check(out, "statement", err));
out:
	dtx_flow_clear(&c.flow);
	dtx_errlist_clear(&c.findings);
	dtx_arena_clear(&c.arena);
	return rc;
}

/* --- graph --- */

/* Writes a Graphviz label of two parts with a line break between them. */
static void dot_label(struct dtx_buf *out, const char *head, const char *text)
{
	dtx_buf_printf(out, "label=\"%s\\n", head);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			dtx_buf_addc(out, '\\');
		dtx_buf_addc(out, *text == '\n' ? ' ' : *text);
	}
	dtx_buf_addc(out, '"');
}

static void dot_step(const struct dtx_plan *plan, uint32_t i, struct dtx_buf *out)
{
	const struct dtx_plan_step *st = &plan->step[i];
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	char head[160];

	if (st->op && !st->broken && st->op->explain)
		st->op->explain(st->args, &text);
	snprintf(head, sizeof(head), "%d %.100s", dtx_plan_step_number(plan, (int32_t)i),
	         dtx_plan_step_name(st));
	dtx_buf_printf(out, "  t%u [shape=%s, ", (unsigned)(plan->ninputs + i),
	               st->op ? "box" : "component");
	dot_label(out, head, dtx_buf_text(&text));
	dtx_buf_add(out, "];\n");
	for (uint32_t k = 0; k < st->ntables; k++)
		if (st->table[k] >= 0)
			dtx_buf_printf(out, "  t%d -> t%u;\n", (int)st->table[k],
			               (unsigned)(plan->ninputs + i));
	dtx_buf_clear(&text);
}

enum dtx_code dtx_compile_dot(const struct dtx_plan *plan, struct dtx_buf *out, struct dtx_err *err)
{
	dtx_buf_add(out, "digraph plan {\n  rankdir=LR;\n  node [fontname=\"monospace\"];\n");
	for (uint32_t i = 0; i < plan->ninputs; i++) {
		dtx_buf_printf(out, "  t%u [shape=cylinder, ", (unsigned)i);
		dot_label(out, "input", plan->input[i].name);
		dtx_buf_add(out, "];\n");
	}
	for (uint32_t i = 0; i < plan->nsteps; i++)
		dot_step(plan, i, out);
	for (uint32_t i = 0; i < plan->noutputs; i++) {
		const char *path = plan->output[i].path;

		dtx_buf_printf(out, "  o%u [shape=note, ", (unsigned)i);
		dot_label(out, "output", path ? path : "stdout");
		dtx_buf_printf(out, "];\n  t%d -> o%u;\n", (int)plan->output[i].table, (unsigned)i);
	}
	dtx_buf_add(out, "}\n");
	return dtx_buf_check(out, "graph", err);
}
