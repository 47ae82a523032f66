/* What compositions put into their core steps: see compose.h. */
#include "ops/kit/compose.h"

#include <stdarg.h>
#include <stdio.h>

#include "ops/group/table/tableagg.h"

const char *dtx_compose_text(struct dtx_compose *c, const char *fmt, ...)
{
	struct dtx_buf made = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	dtx_buf_vprintf(&made, fmt, ap);
	va_end(ap);
	if (dtx_buf_ok(&made))
		text = dtx_arena_strdup(c->b->arena, dtx_buf_text(&made));
	dtx_buf_clear(&made);
	c->failed |= !text;
	return text ? text : "";
}

const char *dtx_compose_name(struct dtx_compose *c, const char *column)
{
	struct dtx_buf name = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *text;

	dtx_expr_print_name(column, &name);
	c->failed |= !dtx_buf_ok(&name);
	text = dtx_compose_text(c, "%s", dtx_buf_text(&name));
	dtx_buf_clear(&name);
	return text;
}

static bool is_taken(const struct dtx_bind *b, const struct dtx_plist *list, const char *name)
{
	const struct dtx_agg_item *item = list ? list->item : NULL;

	for (size_t i = 0; list && i < list->n; i++)
		if (!strcmp(item[i].as, name))
			return true;
	return dtx_schema_find(b->in[0], name) >= 0;
}

const char *dtx_compose_free(struct dtx_compose *c, const struct dtx_plist *list, const char *base)
{
	const char *name = base;

	for (unsigned k = 2; is_taken(c->b, list, name); k++)
		name = dtx_compose_text(c, "%s_%u", base, k);
	return name;
}

json_t *dtx_compose_names(struct dtx_compose *c, const int32_t *col, uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0)
			dtx_compose_add(c, list, json_string(c->b->in[0]->field[col[i]].name));
	return list;
}

void dtx_compose_add(struct dtx_compose *c, json_t *list, json_t *value)
{
	c->failed |= json_array_append_new(list, value) != 0;
}

json_t *dtx_compose_item(const char *as, const char *expr)
{
	return json_pack("{ss ss}", "as", as, "expr", expr);
}

void dtx_compose_set(struct dtx_compose *c, const char *op, const char *name, json_t *value)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(dtx_json_text(c->step[i], "op", ""), op))
			c->failed |= json_object_set(c->step[i], name, value) != 0;
	c->failed |= !value;
	json_decref(value);
}

void dtx_compose_unknown(struct dtx_compose *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_clear(c->step[i]);
}

enum dtx_code dtx_compose_end(const struct dtx_compose *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (c->failed)
		DTX_FAIL_MEM(err);
out:
	return rc;
}
