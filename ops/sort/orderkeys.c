/* The sort keys of a step: see orderkeys.h. */
#include "ops/sort/orderkeys.h"

#include <stdio.h>

#include "core/plan/compile/sqltext.h"

const struct dtx_param dtx_order_rows[DTX_ORDER_ROWS] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .offset = offsetof(struct dtx_order_item, col),
	  .aliases = "column",
	  .help = "column to sort by" },
	{ .name = "desc",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct dtx_order_item, desc),
	  .def = "false",
	  .help = "largest first" },
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  .offset = offsetof(struct dtx_order_item, expr),
	  .aliases = "expression,formula",
	  .help = "formula to sort by" },
	{ .name = "nulls",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_order_item, nulls),
	  .choices = "last,first",
	  .def = "\"last\"",
	  .help = "where nulls go, in both directions" },
	{ .name = "collate",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct dtx_order_item, collate),
	  .choices = "binary,nocase,natural",
	  .def = "\"binary\"",
	  .help = "order of text: bytes, case folded, digit runs by value" },
};
enum dtx_code dtx_orderkeys_check(const struct dtx_plist *items, const char *op, const char *at,
                                  struct dtx_err *err)
{
	const struct dtx_order_item *item = items->item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t i = 0; i < items->n; i++) {
		snprintf(sub, sizeof(sub), "%s/%zu", at, i);
		if (!item[i].col == !item[i].expr)
			DTX_PARAM_FAIL(err,
			               item[i].col ? DTX_E_PARAM_CONFLICT : DTX_E_MISSING_PARAM,
			               sub, "%s: key %zu needs either col or expr", op, i + 1);
	}
out:
	return rc;
}

static enum dtx_code bind_key(struct dtx_bind *b, const struct dtx_order_item *item, size_t i,
                              const char *at, struct dtx_orderkeys *s, struct dtx_err *err)
{
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	static const enum dtx_collate collate[] = { DTX_COLLATE_BINARY, DTX_COLLATE_NOCASE,
		                                    DTX_COLLATE_NATURAL };
	enum dtx_code rc = DTX_OK;
	char sub[48];

	s->col[i] = -1;
	s->order[i] = (struct dtx_key_order){ item->desc, item->nulls == DTX_NULLS_FIRST,
		                              collate[item->collate] };
	if (item->expr) {
		snprintf(sub, sizeof(sub), "%s/%zu/expr", at, i);
		DTX_TRY(dtx_bind_expr(b, 0, item->expr, sub, any, DTX_USE_ROWS, &s->bound[i], err));
		goto out;
	}
	snprintf(sub, sizeof(sub), "%s/%zu/col", at, i);
	DTX_TRY(dtx_bind_column(b, 0, item->col, sub, &s->col[i], err));
	if (s->col[i] >= 0)
		DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, s->col[i], DTX_DEMAND_VALUE, err));
out:
	return rc;
}

enum dtx_code dtx_orderkeys_bind(struct dtx_bind *b, const struct dtx_plist *items, const char *sub,
                                 struct dtx_orderkeys *k, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	k->n = (uint32_t)items->n;
	k->col = dtx_arena_zalloc(b->arena, items->n + 1, sizeof(*k->col));
	k->bound = dtx_arena_zalloc(b->arena, items->n + 1, sizeof(struct dtx_bound *));
	k->order = dtx_arena_zalloc(b->arena, items->n + 1, sizeof(*k->order));
	if (!k->col || !k->bound || !k->order)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < items->n; i++)
		DTX_TRY(bind_key(b, (const struct dtx_order_item *)items->item + i, i, sub, k,
		                 err));
out:
	return rc;
}

enum dtx_code dtx_orderkeys_eval(const struct dtx_opctx *ox, const struct dtx_orderkeys *k,
                                 struct dtx_batch *in, struct dtx_column **key, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < k->n; i++) {
		if (k->bound[i])
			DTX_TRY(dtx_op_eval(ox, k->bound[i], in, &key[i], err));
		else
			DTX_TRY(dtx_batch_flat(in, (uint32_t)k->col[i], &key[i], err));
	}
out:
	return rc;
}

void dtx_orderkeys_print(const struct dtx_plist *items, struct dtx_buf *out)
{
	const struct dtx_order_item *item = items->item;

	for (size_t i = 0; i < items->n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		if (item[i].expr)
			dtx_expr_print(item[i].expr, out);
		else
			dtx_buf_add(out, item[i].col);
		dtx_buf_add(out, item[i].desc ? " descending" : "");
		dtx_buf_add(out, item[i].nulls == DTX_NULLS_FIRST ? ", nulls first" : "");
	}
}

static bool key_sql(const struct dtx_order_item *item, const struct dtx_schema *in,
                    struct dtx_buf *out)
{
	if (item->expr)
		return dtx_expr_sql(item->expr, in, out);
	dtx_sql_name(out, item->col);
	return true;
}

bool dtx_orderkeys_sql(const struct dtx_plist *items, const struct dtx_schema *in,
                       struct dtx_buf *order, struct dtx_buf *keys, struct dtx_buf *first)
{
	const struct dtx_order_item *item = items->item;
	bool ok = true;

	for (size_t i = 0; i < items->n; i++) {
		if (item[i].collate != DTX_COLLATE_BINARY) {
			dtx_buf_add(order, DTX_EXPR_LACKS "collate" DTX_EXPR_LACKS);
			ok = false;
		}
		dtx_buf_add(order, i ? ", " : "");
		ok = key_sql(&item[i], in, order) && ok;
		dtx_buf_printf(order, "%s NULLS %s", item[i].desc ? " DESC" : "",
		               item[i].nulls == DTX_NULLS_FIRST ? "FIRST" : "LAST");
		if (!keys)
			continue;
		dtx_buf_add(keys, i ? ", " : "");
		ok = key_sql(&item[i], in, keys) && ok;
		if (i == 0)
			ok = key_sql(&item[i], in, first) && ok;
	}
	return ok;
}
