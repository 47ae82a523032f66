/* Short forms of window: see shortwin.h. */
#include "ops/window/shortwin.h"

#include "ops/group/table/groupvals.h"

enum dtx_code dtx_shortwin_open(struct dtx_shortwin *w, struct dtx_bind *b,
                                const struct dtx_cols *by, const struct dtx_plist *order,
                                uint32_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_buf_init(&w->text, DTX_BUF_TEXT_MAX);
	w->b = b;
	w->window = dtx_arena_zalloc(b->arena, 1, sizeof(*w->window));
	if (!w->window)
		DTX_FAIL_MEM(err);
	w->window->by = (struct dtx_cols *)(uintptr_t)by;
	if (order)
		w->window->order = *order;
	w->window->set.item =
		dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(struct dtx_derive_item));
	if (!w->window->set.item)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_shortwin_set(struct dtx_shortwin *w, const char *as, struct dtx_err *err)
{
	struct dtx_derive_item *item = w->window->set.item;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_buf_check(&w->text, "a formula", err));
	item += w->window->set.n++;
	item->as = as;
	DTX_TRY(dtx_expr_made(w->b->arena, dtx_buf_str(&w->text), &item->expr, err));
	dtx_buf_reset(&w->text);
out:
	return rc;
}

enum dtx_code dtx_shortwin_hide(struct dtx_shortwin *w, const char *as, struct dtx_err *err)
{
	struct dtx_derive_item *item = w->window->set.item;
	enum dtx_code rc = DTX_OK;

	if (!as)
		DTX_FAIL_MEM(err);
	item[w->window->set.n].hidden = true;
	DTX_TRY(dtx_shortwin_set(w, as, err));
out:
	return rc;
}

const char *dtx_shortwin_free_name(struct dtx_shortwin *w, const char *base)
{
	while (base && dtx_schema_find(w->b->in[0], base) >= 0)
		base = dtx_arena_printf(w->b->arena, "%s'", base);
	return base;
}

enum dtx_code dtx_shortwin_add(struct dtx_shortwin *w, const char *as, const char *sub,
                               struct dtx_err *err)
{
	if (!dtx_param_is_hole(as) && dtx_schema_find(w->b->in[0], as) >= 0)
		return dtx_bind_taken(w->b, as, sub, err);
	return dtx_shortwin_set(w, as, err);
}

enum dtx_code dtx_shortwin_bind(struct dtx_shortwin *w, const char *at, struct dtx_err *err)
{
	w->window->at = at;
	return dtx_derive_bind(w->b, w->window, err);
}

void dtx_shortwin_close(struct dtx_shortwin *w)
{
	dtx_buf_clear(&w->text);
}

void dtx_short_floats(struct dtx_buf *out, const char *formula, const struct dtx_field *column)
{
	bool is_float = column->type.type == DTX_T_FLOAT64;

	for (; *formula; formula++) {
		if (*formula != '@') {
			dtx_buf_addc(out, *formula);
			continue;
		}
		dtx_buf_add(out, is_float ? "" : "float(");
		dtx_expr_print_name(column->name, out);
		dtx_buf_add(out, is_float ? "" : ")");
	}
}

void dtx_short_explain(const struct dtx_cols *by, const struct dtx_plist *order,
                       struct dtx_buf *out)
{
	if (by) {
		dtx_buf_add(out, ", within ");
		dtx_cols_print(by, out);
	}
	if (order && order->n) {
		dtx_buf_add(out, ", by order of ");
		dtx_orderkeys_print(order, out);
	}
}

const struct dtx_map dtx_short_map = { .batch = dtx_derive_batch };

enum dtx_code dtx_short_cols_bind(struct dtx_bind *b, const struct dtx_short_cols *s,
                                  struct dtx_err *err)
{
	struct dtx_shortwin w = { .b = NULL };
	enum dtx_code rc = DTX_OK;
	int32_t *col;
	uint32_t n;

	DTX_TRY(dtx_bind_cols(b, 0, s->cols, "/cols", &col, &n, err));
	DTX_TRY(dtx_shortwin_open(&w, b, s->by, s->order, n, err));
	for (uint32_t i = 0; i < n; i++) {
		size_t before = b->nfindings;
		const char *name, *as;

		if (col[i] >= 0 && s->numbers)
			DTX_TRY(dtx_bind_number(b, col[i], "/cols", err));
		if (col[i] < 0 || b->nfindings > before)
			continue;
		name = b->in[0]->field[col[i]].name;
		as = dtx_arena_printf(b->arena, "%s%s", name, s->suffix);
		if (!as)
			DTX_FAIL_MEM(err);
		dtx_buf_printf(&w.text, "%s(", s->fn);
		dtx_expr_print_name(name, &w.text);
		dtx_buf_printf(&w.text, "%s)", s->more);
		DTX_TRY(dtx_shortwin_add(&w, as, "/suffix", err));
	}
	DTX_TRY(dtx_shortwin_bind(&w, "/cols", err));
	/* the input may add columns to the selector that are not known yet */
	if (!b->typed && !dtx_cols_static(s->cols, b->in[0]))
		dtx_bind_open(b);
out:
	dtx_shortwin_close(&w);
	return rc;
}
