/* Computed columns in SQL: a formula that reads a column of an earlier one is in a SELECT around
 * that one's.  As few are nested as possible: SQLite reads about 25 levels. */
#include "core/expr/parse/print_code.h"
#include "core/plan/compile/sqltext.h"
#include "ops/window/derive.h"

static bool made_before(const struct dtx_derive_item *item, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(item[i].as, name))
			return true;
	return false;
}

/* Writes the columns that exist before item `from`, except those that items up to `to` make. */
static void seen(const struct dtx_bind *b, const struct dtx_derive_item *item, size_t from,
                 size_t to, struct dtx_buf *out)
{
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		const char *name = b->in[0]->field[i].name;

		if (made_before(item, to, name))
			continue;
		dtx_buf_add(out, ", ");
		dtx_sql_name(out, name);
	}
	for (size_t i = 0; i < from; i++) {
		if (made_before(item, i, item[i].as) ||
		    made_before(item + from, to - from, item[i].as))
			continue;
		dtx_buf_add(out, ", ");
		dtx_sql_name(out, item[i].as);
	}
}

/* Whether a formula reads a column that one of n items makes. */
struct reading {
	const struct dtx_derive_item *item;
	size_t n;
	bool found;
};

static void on_column(void *arg, const char *name)
{
	struct reading *r = arg;

	r->found = r->found || made_before(r->item, r->n, name);
}

/* The first of the items up to `to` that can be in one SELECT: none reads or makes again what
 * another of them makes. */
static size_t layer_start(const struct dtx_derive_item *item, size_t to)
{
	size_t from = 0;

	for (size_t i = 0; i < to; i++) {
		struct reading r = { item + from, i - from,
			             made_before(item + from, i - from, item[i].as) };

		dtx_expr_columns(item[i].expr, on_column, &r);
		from = r.found ? i : from;
	}
	return from;
}

static bool stage(const struct dtx_derive_state *s, uint32_t k, const struct dtx_expr *e,
                  struct dtx_sql_over *over, struct dtx_buf *out)
{
	struct dtx_derive_view view = DTX_DERIVE_VIEW_INIT;
	bool ok = dtx_derive_view_open(&view, s, NULL) == DTX_OK;

	if (ok) {
		dtx_derive_view_to(&view, s, k);
		ok = dtx_expr_sql_over(e, &view.schema, over, out);
	}
	dtx_derive_view_close(&view);
	return ok;
}

/* The texts of `by` and `order`, which are of the table before the step. */
struct rows {
	struct dtx_buf part, order, keys, first;
	const struct dtx_derive_args *args;
	size_t last;     /* the first item of the outermost SELECT that has calls */
	bool set_before; /* an item before sets one of those columns */
};

static size_t last_calls(const struct dtx_derive_state *s)
{
	for (size_t to = s->args->set.n, start; to > 0; to = start) {
		start = layer_start(s->args->set.item, to);
		for (size_t i = start; i < to; i++)
			if (s->stage[i].calls.n)
				return start;
	}
	return 0;
}

static void on_key(void *arg, const char *name)
{
	struct rows *r = arg;

	r->set_before |= made_before(r->args->set.item, r->last, name);
}

static bool rows_open(struct rows *r, const struct dtx_derive_state *s, const struct dtx_bind *b)
{
	const struct dtx_order_item *key = s->args->order.item;
	struct dtx_buf *text[] = { &r->part, &r->order, &r->keys, &r->first };

	r->args = s->args;
	r->last = last_calls(s);
	r->set_before = false;
	for (size_t i = 0; i < DTX_COUNT(text); i++)
		dtx_buf_init(text[i], DTX_PRINT_SQL_MAX);
	dtx_sql_list(b, 0, s->by.col, s->by.n, &r->part);
	for (uint32_t i = 0; i < s->by.n; i++)
		on_key(r, b->in[0]->field[s->by.col[i]].name);
	for (size_t i = 0; i < s->args->order.n; i++) {
		if (key[i].expr)
			dtx_expr_columns(key[i].expr, on_key, r);
		else
			on_key(r, key[i].col);
	}
	return dtx_orderkeys_sql(&s->args->order, b->in[0], &r->order, &r->keys, &r->first);
}

static void rows_close(struct rows *r)
{
	dtx_buf_clear(&r->part);
	dtx_buf_clear(&r->order);
	dtx_buf_clear(&r->keys);
	dtx_buf_clear(&r->first);
}

bool dtx_derive_sql(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct dtx_derive_state *state = s->bind->state;
	const struct dtx_derive_item *item = state->args->set.item;
	size_t n = state->args->set.n;
	struct dtx_buf from = DTX_BUF_INIT(DTX_BUF_TEXT_MAX),
		       below = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct rows r;
	bool ok = rows_open(&r, state, s->bind);
	struct dtx_sql_over over = { .part = dtx_buf_text(&r.part),
		                     .order = dtx_buf_text(&r.order),
		                     .keys = dtx_buf_text(&r.keys),
		                     .first = dtx_buf_text(&r.first),
		                     .below = &below };

	if (r.set_before) {
		dtx_buf_add(out, DTX_EXPR_LACKS
		            "by or order over a column that the step sets" DTX_EXPR_LACKS);
		ok = false;
	}
	dtx_buf_add(out, "SELECT \"_row\"");
	for (uint32_t i = 0; i < s->bind->ncols; i++) {
		dtx_buf_add(out, ", ");
		dtx_sql_name(out, s->bind->col[i].field.name);
	}
	dtx_buf_add(out, " FROM ");
	for (size_t to = n, start; to > 0 && dtx_buf_ok(out); to = start) {
		start = layer_start(item, to);
		dtx_buf_add(out, "(SELECT \"_row\"");
		seen(s->bind, item, start, to, out);
		dtx_buf_reset(&below);
		for (size_t i = start; i < to; i++) {
			dtx_buf_add(out, ", ");
			over.frame = &item[i].frame;
			ok = stage(state, (uint32_t)i, item[i].expr, &over, out) && ok;
			dtx_buf_add(out, " AS ");
			dtx_sql_name(out, item[i].as);
		}
		dtx_buf_add(out, " FROM ");
		if (dtx_buf_len(&below)) {
			dtx_buf_printf(out, "(SELECT *%s FROM ", dtx_buf_text(&below));
			dtx_buf_addc(&from, ')');
		}
		dtx_buf_addc(&from, ')');
	}
	dtx_buf_printf(out, "%s%s", s->from[0], dtx_buf_text(&from));
	ok = ok && dtx_buf_ok(&from) && dtx_buf_ok(&below);
	dtx_buf_clear(&from);
	dtx_buf_clear(&below);
	rows_close(&r);
	return ok;
}
