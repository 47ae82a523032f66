/* Findings of a step, each at its JSON pointer, without those that follow from another finding; and
 * what an unknown column name may have meant. */
#include <stdarg.h>
#include <stdio.h>

#include "core/plan/bind/across.h"
#include "core/plan/bind/bind_parts.h"
#include "core/plan/bind/flow.h"
#include "core/plan/plan_internal.h"

bool dtx_bind_at(const struct dtx_bind *b, const char *sub, char *at, size_t size)
{
	char in_list[128];

	at[0] = '\0';
	if (b->flow && !b->end)
		sub = dtx_across_place(b, &b->flow->plan->step[b->step], sub, in_list,
		                       sizeof(in_list));
	if (b->flow && !b->end && !b->flow->plan->step[b->step].at[0])
		/* the union of several files of one input: the plan does not name such a step */
		return false;
	if (b->flow && !b->end)
		return dtx_part_place(&b->flow->plan->step[b->step], sub, b->last, at, size);
	snprintf(at, size, "%s%s", b->at, sub ? sub : "");
	return true;
}

/* Whether pointer `below` is `above` or a place inside it. */
static bool is_inside(const char *below, const char *above)
{
	size_t len = strlen(above);

	return strncmp(below, above, len) == 0 && (below[len] == '\0' || below[len] == '/');
}

/* Whether a finding at this place would repeat one: a parameter that could not be read has its
 * finding, and so has a step that is wrong as a whole. */
static bool is_known(const struct dtx_bind *b, const char *at, bool written)
{
	for (size_t i = 0; b->broken && i < b->nbefore && i < b->errs->n; i++) {
		const struct dtx_err *f = &b->errs->item[i];
		bool whole = strcmp(f->at, b->at) == 0 || f->code == DTX_E_MISSING_PARAM;

		if (f->step != b->step || f->severity == DTX_SEV_WARNING)
			continue;
		if (is_inside(f->at, at) || (is_inside(at, f->at) && !(whole && written)))
			return true;
	}
	return false;
}

/* A step with a broken formula still has all its names, so it does not count. */
bool dtx_bind_is_unread(const struct dtx_bind *b)
{
	for (size_t i = 0; b->broken && i < b->nbefore && i < b->errs->n; i++) {
		const struct dtx_err *f = &b->errs->item[i];

		if (f->step == b->step && f->severity != DTX_SEV_WARNING &&
		    f->code != DTX_E_EXPR_SYNTAX)
			return true;
	}
	return false;
}

static void finding_judge(const struct dtx_bind *b, const char *at, struct dtx_err *f)
{
	dtx_err_at(f, at);
	dtx_err_step(f, b->step, b->op);
	f->run_time = b->typed;
	f->severity = dtx_err_severity(f, b->typed);
}

enum dtx_code dtx_bind_take(struct dtx_bind *b, const char *sub, struct dtx_err *f,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char at[sizeof(f->at)];
	bool written;

	if (f->code == DTX_E_NO_MEMORY) {
		rc = f->code;
		if (err)
			dtx_err_move(err, f);
		else
			dtx_err_clear(f);
		goto out;
	}
	written = dtx_bind_at(b, sub, at, sizeof(at));
	if (is_known(b, at, written)) {
		dtx_err_clear(f);
		goto out;
	}
	finding_judge(b, at, f);
	if (b->flow && !b->end)
		dtx_across_say(b, &b->flow->plan->step[b->step], sub, f);
	if (b->flow && !b->end)
		dtx_part_hint_example(&b->flow->plan->step[b->step], f);
	b->nfindings += f->severity != DTX_SEV_WARNING;
	if (!dtx_errlist_take(b->errs, f))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* next NULL: without a hint */
static DTX_PRINTF(6, 0) enum dtx_code
	finding_add(struct dtx_bind *b, enum dtx_code code, const char *sub, const char *next,
                    struct dtx_err *err, const char *fmt, va_list ap)
{
	struct dtx_err f = DTX_ERR_INIT;
	char text[sizeof(f.msg)];

	if (b->columns_only)
		return DTX_OK;
	vsnprintf(text, sizeof(text), fmt, ap);
	dtx_err_set(&f, code, __FILE__, __LINE__, "%s", text);
	if (next)
		dtx_err_hint(&f, "%s", next);
	return dtx_bind_take(b, sub, &f, err);
}

enum dtx_code dtx_bind_fail(struct dtx_bind *b, enum dtx_code code, const char *sub,
                            struct dtx_err *err, const char *fmt, ...)
{
	enum dtx_code rc;
	va_list ap;

	va_start(ap, fmt);
	rc = finding_add(b, code, sub, NULL, err, fmt, ap);
	va_end(ap);
	return rc;
}

enum dtx_code dtx_bind_fail_next(struct dtx_bind *b, enum dtx_code code, const char *sub,
                                 const char *next, struct dtx_err *err, const char *fmt, ...)
{
	enum dtx_code rc;
	va_list ap;

	va_start(ap, fmt);
	rc = finding_add(b, code, sub, next, err, fmt, ap);
	va_end(ap);
	return rc;
}

/* Finds the parameter of the step that has the value `name`, such as "/as" or "/into/1". False:
 * none has. */
static bool names_it(const struct dtx_plan_step *st, const char *name, char *sub, size_t size)
{
	for (size_t i = 0; st->op && i < st->op->nparams; i++) {
		const struct dtx_param *p = &st->op->params[i];
		const json_t *v = json_object_get(st->canonical, p->name), *item;
		const char *text = json_string_value(v);
		size_t k;

		if (p->kind != DTX_P_TEXT && p->kind != DTX_P_TEXTS)
			continue;
		snprintf(sub, size, "/%s", p->name);
		if (text && !strcmp(text, name))
			return true;
		json_array_foreach(v, k, item)
		{
			text = json_string_value(item);
			snprintf(sub, size, "/%s/%zu", p->name, k);
			if (text && !strcmp(text, name))
				return true;
		}
	}
	return false;
}

bool dtx_bind_is_core(const struct dtx_bind *b)
{
	return b->flow && b->flow->plan->step[b->step].macro;
}

/* Whether a column of a macro has its name from a cell: the step as written reads none like it. */
static bool is_named_by_cell(const struct dtx_bind *b, const char *name)
{
	const struct dtx_plan *plan = b->flow ? b->flow->plan : NULL;
	const struct dtx_schema *s;

	if (!b->typed || !dtx_bind_is_core(b))
		return false;
	s = b->flow->table[plan->step[plan->step[b->step].macro->first].table[0]].schema;
	return s && dtx_schema_find(s, name) < 0;
}

enum dtx_code dtx_bind_taken(struct dtx_bind *b, const char *name, const char *sub,
                             struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	char found[64], word[32] = "", at[sizeof(f.at)];

	if (b->columns_only)
		return DTX_OK;
	/* where a parameter is broken, the collision may follow from that: no other parameter is
	 * named */
	if (!sub && b->flow && !b->broken &&
	    names_it(&b->flow->plan->step[b->step], name, found, sizeof(found)))
		sub = found;
	else if (!sub && b->suffix)
		sub = "/suffix";
	dtx_err_set(&f, DTX_E_NAME_COLLISION, __FILE__, __LINE__,
	            "two columns would be called '%s'", name);
	if (sub && dtx_bind_is_core(b))
		sub = dtx_bind_at(b, sub, at, sizeof(at)) ? sub : NULL;
	if (sub) { /* "/agg/0/as" gives "agg" */
		const char *param = dtx_bind_is_core(b) ? at + strlen(b->at) : sub;

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(param + 1, "/"), param + 1);
	}
	if (!strcmp(word, "suffix"))
		dtx_err_hint(&f, "\"suffix\" gives the column another ending, for example "
		                 "\"suffix\": \"_2\"");
	else if (word[0] && strcmp(word, "by") != 0)
		dtx_err_hint(&f, "write another name in \"%s\"", word);
	else if (word[0])
		dtx_err_hint(&f, "name each column once in \"by\", or give one of the two another "
		                 "name");
	else if (is_named_by_cell(b, name))
		dtx_err_hint(&f,
		             "a value becomes a column of that name: change the value in a step "
		             "before, as replace_values does");
	else
		dtx_err_hint(&f,
		             "rename the column of that name in a step before: {\"op\": "
		             "\"rename\", \"map\": {\"%s\": \"another_name\"}}",
		             name);
	/* a parameter that is not written has no place: the finding is about the step */
	return dtx_bind_take(b, dtx_bind_at(b, sub, at, sizeof(at)) ? sub : NULL, &f, err);
}

/* Adds to the hint of an unknown column whose columns the list shows. */
static void hint_columns(const struct dtx_bind *b, unsigned t, struct dtx_err *f)
{
	const struct dtx_plan *plan = b->flow ? b->flow->plan : NULL;
	int32_t id = b->table[t];

	/* a core step of a macro reads the table of the step as written, as far as the user knows
	 */
	if (plan && dtx_bind_is_core(b) && id >= (int32_t)plan->ninputs &&
	    plan->step[id - (int32_t)plan->ninputs].macro == plan->step[b->step].macro)
		id = plan->step[plan->step[b->step].macro->first].table[0];
	if (!plan || id < 0)
		return;
	if (b->result)
		dtx_err_hint(f, "these are the columns of the step's result");
	else if ((uint32_t)id < plan->ninputs)
		dtx_err_hint(f, "these are the columns of input '%s'", plan->input[id].name);
	else if (plan->step[(uint32_t)id - plan->ninputs].number < 0)
		dtx_err_hint(f, "these are the columns of input '%s'",
		             plan->step[(uint32_t)id - plan->ninputs].out_name);
	else
		dtx_err_hint(f, "these are the columns after step %d (%s)",
		             dtx_plan_step_number(plan, id - (int32_t)plan->ninputs),
		             dtx_plan_step_name(&plan->step[(uint32_t)id - plan->ninputs]));
}

/* The step whose result has lost the name that an open table lacks; -1: unknown. */
static int32_t step_without(const struct dtx_flow *f, int32_t table, const char *name)
{
	int32_t step = table - (int32_t)f->plan->ninputs, found = -1;
	const struct dtx_flow_table *t = &f->table[table];

	if (step < 0 || (uint32_t)step >= f->plan->nsteps || !f->bind[step])
		return -1;
	for (uint32_t i = 0; i < t->ngone; i++)
		if (!strcmp(t->gone[i], name))
			return step;
	for (unsigned k = 0; k < f->bind[step]->ntables && found < 0; k++)
		found = step_without(f, f->bind[step]->table[k], name);
	return found;
}

/* The name that the step has given to a column; NULL: it keeps no such column. */
static const char *renamed(const struct dtx_bind *b, const char *name)
{
	for (uint32_t c = 0; c < b->ncols; c++) {
		const struct dtx_bind_col *col = &b->col[c];

		if (col->from_table >= 0 && col->from_col >= 0 &&
		    !strcmp(b->in[col->from_table]->field[col->from_col].name, name))
			return col->field.name;
	}
	return NULL;
}

/* Explains why an open table cannot have the column.  Its known columns are no list of what there
 * is: the input, which was not read yet, may have more. */
static void hint_gone(const struct dtx_bind *b, unsigned t, const char *name, struct dtx_err *f)
{
	int32_t step = b->flow ? step_without(b->flow, b->table[t], name) : -1;
	const struct dtx_plan *plan = b->flow ? b->flow->plan : NULL;
	const char *now;

	if (step < 0)
		return;
	now = renamed(b->flow->bind[step], name);
	if (now) {
		memset(f->did_you_mean, 0, sizeof(f->did_you_mean));
		dtx_err_suggest(f, now, &now, 1);
		dtx_err_hint(f, "step %d (%s) has given it the name '%.100s'",
		             dtx_plan_step_number(plan, step),
		             dtx_plan_step_name(&plan->step[step]), now);
	} else {
		dtx_err_hint(f,
		             "step %d (%s) has removed '%.100s': use it before that step, or "
		             "keep it there",
		             dtx_plan_step_number(plan, step),
		             dtx_plan_step_name(&plan->step[step]), name);
	}
}

/* What is often written where a name is wanted, and how to write it here. */
static const struct {
	const char *begins, *holds, *ends, *hint;
} name_slips[] = {
	{ "\u2018", NULL, NULL, "write a text in straight quotes: 'North'" },
	{ "\u201c", NULL, NULL, "write a text in straight quotes: 'North'" },
	{ NULL, NULL, " desc",
	  "a descending key is \"-qty\", or {\"col\": \"qty\", \"desc\": true}" },
	{ NULL, NULL, " DESC",
	  "a descending key is \"-qty\", or {\"col\": \"qty\", \"desc\": true}" },
	{ NULL, NULL, " asc", "an ascending key is its name alone" },
	{ NULL, NULL, " ASC", "an ascending key is its name alone" },
	{ NULL, " as ", NULL, "a rename step gives a column another name" },
	{ NULL, " AS ", NULL, "a rename step gives a column another name" },
	{ NULL, "=", NULL, "two keys are {\"left\": \"a\", \"right\": \"b\"}" },
	{ NULL, "(", ")", "a formula makes a column in a derive or group_by step" },
	{ NULL, ", ", NULL, "several names are a list: [\"a\", \"b\"]" },
};

static bool name_fits(const char *name, const char *begins, const char *holds, const char *ends)
{
	struct dtx_str s = dtx_str_of(name);

	return (!begins || dtx_str_starts(s, dtx_str_of(begins))) &&
	       (!holds || strstr(name, holds)) && (!ends || dtx_str_ends(s, dtx_str_of(ends)));
}

/* Puts such a hint before the list of columns. */
static void hint_name(const char *name, struct dtx_err *f)
{
	char columns[sizeof(f->hint)];

	for (size_t i = 0; i < DTX_COUNT(name_slips); i++) {
		if (!name_fits(name, name_slips[i].begins, name_slips[i].holds, name_slips[i].ends))
			continue;
		dtx_str_copy(columns, sizeof(columns), dtx_str_of(f->hint));
		dtx_err_hint(f, "%s%s%.200s", name_slips[i].hint, columns[0] ? "; " : "", columns);
		return;
	}
}

#define AVAILABLE_MAX 50

static void list_columns(const struct dtx_schema *s, struct dtx_err *f)
{
	struct dtx_buf out = DTX_BUF_INIT((size_t)1 << 16);

	dtx_buf_add(&out, "{\"available\":[");
	for (uint32_t i = 0; i < s->nfields && i < AVAILABLE_MAX; i++) {
		if (i)
			dtx_buf_addc(&out, ',');
		dtx_buf_json(&out, dtx_str_of(s->field[i].name));
	}
	dtx_buf_addc(&out, ']');
	if (s->nfields > AVAILABLE_MAX)
		dtx_buf_printf(&out, ",\"available_left_out\":%u", s->nfields - AVAILABLE_MAX);
	dtx_buf_addc(&out, '}');
	dtx_err_more(f, dtx_buf_steal(&out));
}

enum dtx_code dtx_bind_unknown(struct dtx_bind *b, unsigned t, const struct dtx_schema *s,
                               const char *name, struct dtx_err *f)
{
	enum dtx_code code = b->typed ? DTX_E_MISSING_COLUMN : DTX_E_UNKNOWN_COLUMN;
	const char **names;

	/* the finding is only counted, so it gets no list of names */
	if (b->errs->n >= DTX_ERRLIST_MAX)
		return dtx_err_set(f, code, __FILE__, __LINE__, "no column '%s' here", name);
	names = dtx_arena_alloc(b->arena, s->nfields + 1u, sizeof(*names));
	if (!names)
		return dtx_err_set(f, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
	for (uint32_t i = 0; i < s->nfields; i++)
		names[i] = s->field[i].name;
	dtx_err_set(f, code, __FILE__, __LINE__, "no column '%s' here", name);
	if (!s->open)
		hint_columns(b, t, f);
	dtx_err_suggest(f, name, names, s->nfields);
	if (f->misnamed)
		f->code = code = DTX_E_UNKNOWN_COLUMN; /* the plan is wrong, not the input */
	if (s->open)
		hint_gone(b, t, name, f);
	if (!f->did_you_mean[0][0])
		hint_name(name, f);
	if (!s->open)
		list_columns(s, f);
	return code;
}

enum dtx_code dtx_bind_no_fit(struct dtx_bind *b, unsigned t, bool empty, const char *sub,
                              struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;

	dtx_err_set(&f, empty ? DTX_E_UNKNOWN_COLUMN : DTX_E_MISSING_COLUMN, __FILE__, __LINE__,
	            empty ? "the list names no column" : "no column fits this selector");
	f.misnamed = empty; /* the plan is wrong, not the input */
	hint_columns(b, t, &f);
	list_columns(b->in[t], &f);
	return dtx_bind_take(b, sub, &f, err);
}
