/* Values and steps as Python text: a step is a call of the function of dx with the name of the
 * op. */
#include "core/plan/compile/pytext.h"

#include "core/plan/parse/cols.h"

/* --- values --- */

void dtx_py_text(struct dtx_buf *out, const char *text)
{
	dtx_buf_json(out, dtx_str_of(text));
}

static void py_members(struct dtx_buf *out, const json_t *value)
{
	const char *key, *sep = "";
	json_t *member;

	dtx_buf_addc(out, '{');
	json_object_foreach((json_t *)(uintptr_t)value, key, member)
	{
		dtx_buf_add(out, sep);
		dtx_py_text(out, key);
		dtx_buf_add(out, ": ");
		dtx_py_value(out, member);
		sep = ", ";
	}
	dtx_buf_addc(out, '}');
}

static void py_items(struct dtx_buf *out, const json_t *value)
{
	size_t i;
	json_t *item;

	dtx_buf_addc(out, '[');
	json_array_foreach(value, i, item)
	{
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_value(out, item);
	}
	dtx_buf_addc(out, ']');
}

void dtx_py_value(struct dtx_buf *out, const json_t *value)
{
	if (!value || json_is_null(value))
		dtx_buf_add(out, "None");
	else if (json_is_boolean(value))
		dtx_buf_add(out, json_is_true(value) ? "True" : "False");
	else if (json_is_object(value))
		py_members(out, value);
	else if (json_is_array(value))
		py_items(out, value);
	else
		dtx_json_print(value, 0, out);
}

void dtx_py_names(struct dtx_buf *out, const struct dtx_plist *texts)
{
	const char *const *name = texts->item;

	dtx_buf_addc(out, '[');
	for (size_t i = 0; i < texts->n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_text(out, name[i]);
	}
	dtx_buf_addc(out, ']');
}

/* --- parameters --- */

/* Writes a parameter name; reserved words of Python get an underscore. */
static void py_word(struct dtx_buf *out, const char *name)
{
	static const char *const words[] = { "as", "assert", "else", "except", "from",
		                             "in", "is",     "not",  "with" };

	dtx_buf_add(out, name);
	for (size_t i = 0; i < DTX_COUNT(words); i++)
		if (!strcmp(name, words[i]))
			dtx_buf_addc(out, '_');
}

/* The canonical value of a parameter without formulas: a new reference. NULL: it is absent or its
 * default. */
static json_t *py_plain(const struct dtx_param *p, const void *args)
{
	json_t *all = json_object(), *def = NULL, *value;

	if (!all || !dtx_param_canonical(p, 1, args, NULL, all)) {
		json_decref(all);
		return NULL;
	}
	value = json_incref(json_object_get(all, p->name));
	json_decref(all);
	if (p->def && dtx_json_parse(dtx_str_of(p->def), (struct dtx_json_limits){ 0, 0 }, &def,
	                             NULL) != DTX_OK)
		def = NULL;
	if (value && def && json_equal(value, def)) {
		json_decref(value);
		value = NULL;
	}
	json_decref(def);
	return value;
}

static bool py_expr(const struct dtx_expr *e, struct dtx_buf *out)
{
	dtx_buf_add(out, "lambda t: ");
	return dtx_expr_pandas(e, "t", out);
}

/* Writes a formula that makes one value from the rows and the keys of a group. */
static bool py_group_expr(const struct dtx_expr *e, struct dtx_buf *out)
{
	dtx_buf_add(out, "lambda g, k: ");
	return dtx_expr_pandas_group(e, "g", "k", out);
}

/* Writes a selector; "*" is the default of those that have one, and is left out. */
static void py_columns(const struct dtx_cols *cols, bool has_default, struct dtx_buf *out)
{
	json_t *json;

	if (!cols || (has_default && cols->n == 1 && cols->item[0].kind == DTX_COL_ALL))
		return;
	if (dtx_cols_pandas(cols, out))
		return;
	json = dtx_cols_json(cols);
	dtx_buf_add(out, "dx.cols(df0, ");
	dtx_py_value(out, json);
	dtx_buf_addc(out, ')');
	json_decref(json);
}

static bool py_param(const struct dtx_param *p, const void *args, struct dtx_buf *out);

/* Writes an item of a list, {"as": ..., "expr": ...}, with the members it has. */
static bool py_item(const struct dtx_param *p, const void *item, struct dtx_buf *out)
{
	struct dtx_buf value = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *sep = "";
	bool ok = true;

	dtx_buf_addc(out, '{');
	for (size_t i = 0; i < p->nrows; i++) {
		const struct dtx_param *row = &p->rows[i];

		dtx_buf_reset(&value);
		if (p->sugar == DTX_SUGAR_AGG && row->kind == DTX_P_EXPR)
			ok = py_group_expr(
				     *(struct dtx_expr *const *)((const char *)item + row->offset),
				     &value) &&
			     ok;
		else
			ok = py_param(row, item, &value) && ok;
		if (!value.len)
			continue;
		dtx_buf_add(out, sep);
		dtx_py_text(out, row->name);
		dtx_buf_printf(out, ": %s", dtx_buf_text(&value));
		sep = ", ";
	}
	dtx_buf_addc(out, '}');
	dtx_buf_clear(&value);
	return ok;
}

static bool py_list(const struct dtx_param *p, const struct dtx_plist *list, struct dtx_buf *out)
{
	bool ok = true;

	if (!list->n)
		return true;
	dtx_buf_addc(out, '[');
	for (size_t i = 0; i < list->n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		ok = py_item(p, (const char *)list->item + i * p->item_size, out) && ok;
	}
	dtx_buf_addc(out, ']');
	return ok;
}

/* Writes the value of a parameter; nothing when it is absent or the default. */
static bool py_param(const struct dtx_param *p, const void *args, struct dtx_buf *out)
{
	const void *at = (const char *)args + p->offset;
	json_t *value;

	if (p->kind == DTX_P_EXPR)
		return !*(void *const *)at || py_expr(*(struct dtx_expr *const *)at, out);
	if (p->kind == DTX_P_COLUMNS) {
		py_columns(*(struct dtx_cols *const *)at, p->def != NULL, out);
		return true;
	}
	if (p->kind == DTX_P_LIST && p->rows)
		return py_list(p, at, out);
	value = py_plain(p, args);
	if (value)
		dtx_py_value(out, value);
	json_decref(value);
	return true;
}

/* --- the call --- */

static void py_tables(const struct dtx_op *op, const char *const *tables, uint32_t ntables,
                      struct dtx_buf *out)
{
	dtx_buf_add(out, op->ninputs ? "df0" : "[df0");
	for (uint32_t i = 1; i < ntables; i++)
		dtx_buf_printf(out, ", df%u", (unsigned)i);
	if (op->ninputs)
		return;
	dtx_buf_add(out, "], names=[");
	for (uint32_t i = 0; i < ntables; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_text(out, tables[i] ? tables[i] : "main");
	}
	dtx_buf_addc(out, ']');
}

bool dtx_py_call(const struct dtx_op *op, const void *args, const char *const *tables,
                 uint32_t ntables, struct dtx_buf *out)
{
	struct dtx_buf value = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool ok = true;

	dtx_buf_add(out, "dx.");
	py_word(out, op->name);
	dtx_buf_addc(out, '(');
	py_tables(op, tables, ntables, out);
	for (size_t i = 0; i < op->nparams; i++) {
		const struct dtx_param *p = &op->params[i];

		if (p->kind == DTX_P_TABLE || (!op->ninputs && !strcmp(p->name, "with")))
			continue;
		dtx_buf_reset(&value);
		ok = py_param(p, args, &value) && ok;
		if (!value.len)
			continue;
		dtx_buf_add(out, ", ");
		py_word(out, p->name);
		dtx_buf_printf(out, "=%s", dtx_buf_text(&value));
	}
	dtx_buf_addc(out, ')');
	dtx_buf_clear(&value);
	return ok;
}
