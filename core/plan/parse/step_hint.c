/* Makes hints that say what to write instead of a step that cannot be parsed. */
#include <stdio.h>
#include <string.h>

#include "core/expr/fn/fn.h"
#include "core/plan/plan_internal.h"

/* longer examples are no clearer and do not fit into a hint */
#define EXAMPLE_MAX 240

/* names that other tools use for the member `op` */
static const char *const op_words[] = { "type", "name",     "operation", "action", "kind",
	                                "step", "function", "verb",      "method", "transform" };

void dtx_part_hint_op(const json_t *step, struct dtx_err *f)
{
	const char *key;
	json_t *v;

	for (size_t i = 0; i < DTX_COUNT(op_words); i++) {
		const char *text = dtx_json_text(step, op_words[i], NULL);

		if (text && dtx_op_find(text, NULL)) {
			dtx_err_hint(f, "write \"op\": \"%s\" in place of '%s'", text, op_words[i]);
			return;
		}
	}
	json_object_foreach((json_t *)(uintptr_t)step, key, v)
	{
		if (!dtx_op_find(key, NULL))
			continue;
		dtx_err_hint(f, "write {\"op\": \"%.32s\", ...}: its parameters stand beside 'op'",
		             key);
		return;
	}
	dtx_err_hint(f, "as in {\"op\": \"limit\", \"n\": 5}; dtx ops lists the operations");
}

bool dtx_part_hint_function(const char *op, struct dtx_err *f)
{
	const struct dtx_fn *fn = dtx_fn_find(dtx_str_of(op), 1);

	if (!fn)
		return false;
	dtx_err_hint(f,
	             "%s() is a function: formulas call it, as in {\"op\": \"derive\", \"set\": "
	             "{\"x\": \"%s(...)\"}}",
	             fn->name, fn->name);
	f->misnamed = true;
	return true;
}

static const struct dtx_param *find_param(const struct dtx_op *op, const char *name)
{
	for (size_t i = 0; i < op->nparams; i++)
		if (dtx_param_named(&op->params[i], name))
			return &op->params[i];
	return NULL;
}

/* The first example of the op that shows the wrong parameter; NULL: none does. */
static const char *example_of(const struct dtx_op *op, const struct dtx_param *param)
{
	char member[80];

	snprintf(member, sizeof(member), "\"%s\"", param->name);
	for (size_t i = 0; i < op->nexamples; i++) {
		const char *step = op->examples[i].step;

		if (!op->examples[i].error && strlen(step) <= EXAMPLE_MAX && strstr(step, member))
			return step;
	}
	return NULL;
}

/* The parameter that a pointer leads to after that of the step; "": the step itself. */
static void param_of(const struct dtx_plan_step *st, const struct dtx_err *f, char *out,
                     size_t size)
{
	size_t n = strlen(st->at);
	struct dtx_str rest = dtx_str_of(f->at + n + 1), word = DTX_STR("");

	out[0] = '\0';
	if (strncmp(f->at, st->at, n) == 0 && f->at[n] == '/' && dtx_str_next(&rest, '/', &word))
		dtx_str_copy(out, size, word);
}

/* Takes 'as' out of the message "op: 'as' is missing". */
static void param_missing(const struct dtx_err *f, char *out, size_t size)
{
	struct dtx_str rest = dtx_str_of(f->msg), word;

	if (dtx_str_next(&rest, '\'', &word) && dtx_str_next(&rest, '\'', &word))
		dtx_str_copy(out, size, word);
}

/* Appends JSON the way people write it: with a space after commas and colons, and no other
 * spaces. */
static void add_squeezed(struct dtx_buf *out, const char *json)
{
	bool quoted = false;

	for (const char *c = json; *c; c++) {
		quoted ^= *c == '"' && (c == json || c[-1] != '\\');
		if (!quoted && (*c == ' ' || *c == '\n' || *c == '\t'))
			continue;
		dtx_buf_addc(out, *c);
		if (!quoted && (*c == ',' || *c == ':'))
			dtx_buf_addc(out, ' ');
	}
}

void dtx_part_hint_example(const struct dtx_plan_step *st, struct dtx_err *f)
{
	struct dtx_buf text = DTX_BUF_INIT(2 * EXAMPLE_MAX);
	const struct dtx_op *op = st->macro ? st->macro->op : st->op;
	const struct dtx_param *p;
	const char *example;
	char param[64];

	if (f->hint[0] || f->did_you_mean[0][0] || !op ||
	    (f->code != DTX_E_MISSING_PARAM && f->code != DTX_E_BAD_PARAM_TYPE &&
	     f->code != DTX_E_BAD_PARAM_VALUE && f->code != DTX_E_LENGTH_MISMATCH))
		return;
	param_of(st, f, param, sizeof(param));
	if (!param[0] && f->code == DTX_E_MISSING_PARAM)
		param_missing(f, param, sizeof(param));
	p = find_param(op, param);
	if (p || param[0] || !op->nexamples)
		example = p ? example_of(op, p) : NULL;
	else
		example = op->examples[0].step; /* the step lacks a parameter */
	if (!example) {
		dtx_err_hint(f, "dtx ops %s shows its parameters and examples", op->name);
		return;
	}
	add_squeezed(&text, example);
	dtx_err_hint(f, "for example %s", dtx_buf_text(&text));
	dtx_buf_clear(&text);
}
