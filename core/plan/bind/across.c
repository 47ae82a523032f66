/* Writes out the formulas that `across` repeats: see across.h. */
#include "core/plan/bind/across.h"

#include <stdio.h>

#include "core/plan/plan_internal.h"

#define COL "{col}" /* the name of the column, in names */
#define IT  "_"     /* its value, in formulas */

struct across {
	struct dtx_bind *b;
	const struct dtx_param *list, *as, *expr; /* rows of the parameter tables */
	const char **name;                        /* the columns */
	uint32_t n;
	char *item; /* the list that is made, */
	size_t nitems, cap;
	uint32_t *from;   /* for each of its items the one it was made of, */
	const char **col; /* and the column that it is for; NULL: not for one */
};

static const struct dtx_param *row_named(const struct dtx_param *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static struct dtx_cols **cols_of(const struct dtx_plan_step *st, void *args)
{
	const struct dtx_op *op = st->op;
	const struct dtx_param *row =
		op && op->across ? row_named(op->params, op->nparams, "across") : NULL;

	return row && args ? (void *)((char *)args + row->offset) : NULL;
}

/* `text` with the column's name for each {col}; in the arena, NULL: out of memory. */
static const char *with_name(struct dtx_arena *a, const char *text, const char *column)
{
	struct dtx_buf made = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *at, *kept = NULL;

	for (; (at = strstr(text, COL)) != NULL; text = at + strlen(COL)) {
		dtx_buf_addn(&made, text, (size_t)(at - text));
		dtx_buf_add(&made, column);
	}
	dtx_buf_add(&made, text);
	if (dtx_buf_ok(&made))
		kept = dtx_arena_strdup(a, dtx_buf_text(&made));
	dtx_buf_clear(&made);
	return kept;
}

struct swap {
	struct dtx_arena *arena;
	const char *column;
	bool used;
};

static const struct dtx_expr *swap_name(void *arg, const char *name)
{
	struct swap *s = arg;
	const char *other = NULL;

	if (!strcmp(name, IT))
		other = s->column;
	else if (strstr(name, COL))
		other = with_name(s->arena, name, s->column);
	s->used |= other != NULL;
	return other ? dtx_expr_column(s->arena, other) : NULL;
}

static void note_it(void *arg, const char *name)
{
	if (!strcmp(name, IT))
		*(bool *)arg = true;
}

static bool reads_it(const struct dtx_expr *e)
{
	bool found = false;

	dtx_expr_columns(e, note_it, &found);
	return found;
}

/* Appends a copy of an item of the plan, with another name and formula. */
static enum dtx_code add_item(struct across *x, const char *item, uint32_t from, const char *col,
                              const char *as, struct dtx_expr *expr, struct dtx_err *err)
{
	size_t size = x->list->item_size;
	enum dtx_code rc = DTX_OK;
	char *to;

	if (x->nitems == x->cap) {
		size_t cap = 2 * x->cap + 8;
		char *more = dtx_arena_zalloc(x->b->arena, cap, size);
		uint32_t *of = dtx_arena_alloc(x->b->arena, cap, sizeof(*of));
		const char **cols = dtx_arena_zalloc(x->b->arena, cap, sizeof(*cols));

		if (!more || !of || !cols)
			DTX_FAIL_MEM(err);
		if (x->nitems) {
			memcpy(more, x->item, x->nitems * size);
			memcpy(of, x->from, x->nitems * sizeof(*of));
			memcpy(cols, x->col, x->nitems * sizeof(*cols));
		}
		x->item = more;
		x->from = of;
		x->col = cols;
		x->cap = cap;
	}
	if (!as || !expr)
		DTX_FAIL_MEM(err);
	to = x->item + x->nitems * size;
	memcpy(to, item, size);
	memcpy(to + x->as->offset, &as, sizeof(as));
	memcpy(to + x->expr->offset, &expr, sizeof(expr));
	x->col[x->nitems] = col;
	x->from[x->nitems++] = from;
out:
	return rc;
}

/* Repeats an item for each column. */
static enum dtx_code each_column(struct across *x, const char *item, uint32_t from, const char *as,
                                 const struct dtx_expr *expr, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char sub[64];

	for (uint32_t i = 0; i < x->n; i++) {
		struct swap s = { x->b->arena, x->name[i], false };
		struct dtx_expr *made = dtx_expr_replace(x->b->arena, expr, swap_name, &s);

		if (made && !s.used && expr != &dtx_expr_hole) {
			snprintf(sub, sizeof(sub), "/%s/%u/expr", x->list->name, (unsigned)from);
			return dtx_bind_fail_next(x->b, DTX_E_BAD_PARAM_VALUE, sub,
			                          "_ is the column's value, as in round(_, 2)", err,
			                          "'%s' is computed for each column of 'across', "
			                          "but its formula does not use the column",
			                          as);
		}
		DTX_TRY(add_item(x, item, from, x->name[i], with_name(x->b->arena, as, x->name[i]),
		                 made, err));
	}
out:
	return rc;
}

/* An item that is computed once, in which _ is all columns as arguments. */
static enum dtx_code all_columns(struct across *x, const char *item, uint32_t from, const char *as,
                                 const struct dtx_expr *expr, struct dtx_err *err)
{
	struct dtx_expr *made = (struct dtx_expr *)(uintptr_t)expr;
	char sub[64];

	if (reads_it(expr) && x->n)
		made = dtx_expr_spread(x->b->arena, expr, IT, x->name, x->n);
	if (!made || !reads_it(made))
		return add_item(x, item, from, NULL, as, made, err);
	if (!x->n)
		return DTX_OK; /* the columns have a finding */
	snprintf(sub, sizeof(sub), "/%s/%u/expr", x->list->name, (unsigned)from);
	return dtx_bind_fail_next(
		x->b, DTX_E_BAD_PARAM_VALUE, sub,
		"write {col} in the name for a result of each column, or row_sum(_), row_mean(_), "
		"row_min(_), row_max(_), row_count(_), coalesce(_) for one of all of them",
		err,
		"the name '%s' has no {col}, so _ stands for all columns of 'across': it can only "
		"be an argument of a function of the values of one row",
		as);
}

static enum dtx_code write_items(struct across *x, const struct dtx_plist *list,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool taken = dtx_schema_find(x->b->in[0], IT) >= 0;

	for (uint32_t i = 0; i < list->n; i++) {
		const char *item = (const char *)list->item + i * x->list->item_size, *as;
		const struct dtx_expr *expr;

		memcpy(&as, item + x->as->offset, sizeof(as));
		memcpy(&expr, item + x->expr->offset, sizeof(expr));
		if (taken && expr && reads_it(expr))
			return dtx_bind_fail(x->b, DTX_E_NAME_COLLISION, "/across", err,
			                     "the table has a column '_', which means the columns "
			                     "of 'across' here; rename it in a step before");
		if (!expr)
			expr = &dtx_expr_hole;
		if (dtx_param_is_hole(as) || !strstr(as, COL))
			DTX_TRY(all_columns(x, item, i, as, expr, err));
		else
			DTX_TRY(each_column(x, item, i, as, expr, err));
	}
out:
	return rc;
}

/* Whether columns of `across` that are not known yet may bring names that the table lacks: an item
 * called {col} is in place of a column where the op keeps columns. */
static bool brings_names(const struct dtx_plan_step *st, const struct across *x,
                         const struct dtx_plist *list)
{
	bool brings = st->op->facts.values != DTX_VALUES_SET;

	for (size_t i = 0; i < list->n; i++) {
		const char *as;

		memcpy(&as, (const char *)list->item + i * x->list->item_size + x->as->offset,
		       sizeof(as));
		brings |= strstr(as, COL) && strcmp(as, COL) != 0;
	}
	return brings;
}

enum dtx_code dtx_across_open(struct dtx_bind *b, const struct dtx_plan_step *st,
                              struct dtx_err *err)
{
	struct dtx_cols **cols = cols_of(st, st->args);
	const struct dtx_op *op = st->op;
	struct across x = { .b = b };
	enum dtx_code rc = DTX_OK;
	struct dtx_plist list;
	uint32_t n;
	int32_t *col;
	char *args;

	b->args = st->args;
	if (!cols || !*cols)
		goto out;
	x.list = row_named(op->params, op->nparams, op->across);
	DTX_ASSERT(x.list != NULL, err);
	x.as = row_named(x.list->rows, x.list->nrows, "as");
	x.expr = row_named(x.list->rows, x.list->nrows, "expr");
	DTX_ASSERT(x.as && x.expr, err);
	DTX_TRY(dtx_bind_cols(b, 0, *cols, "/across", &col, &n, err));
	x.name = dtx_arena_alloc(b->arena, n + 1u, sizeof(*x.name));
	if (!x.name)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0)
			x.name[x.n++] = b->in[0]->field[col[i]].name;
	memcpy(&list, (char *)st->args + x.list->offset, sizeof(list));
	DTX_TRY(write_items(&x, &list, err));
	args = dtx_arena_zalloc(b->arena, 1, op->args_size + 1);
	if (!args)
		DTX_FAIL_MEM(err);
	memcpy(args, st->args, op->args_size);
	b->across_part = !b->typed && !dtx_cols_static(*cols, b->in[0]);
	if (b->across_part && brings_names(st, &x, &list))
		dtx_bind_open(b);
	list = (struct dtx_plist){ x.item, x.nitems };
	memcpy(args + x.list->offset, &list, sizeof(list));
	*cols_of(st, args) = NULL;
	b->args = args;
	b->across_from = x.from;
	b->across_col = x.col;
	b->across_n = (uint32_t)x.nitems;
out:
	return rc;
}

enum dtx_code dtx_across_done(const struct dtx_bind *b, const struct dtx_plan *plan,
                              struct dtx_plan_step *st, struct dtx_err *err)
{
	json_t *c = NULL;
	enum dtx_code rc = DTX_OK;

	if (!b->typed || b->args == st->args)
		goto out;
	c = json_copy(st->canonical);
	if (!c || json_array_append_new(plan->kept, c) != 0)
		DTX_FAIL_MEM(err);
	json_object_del(c, "across");
	if (!dtx_param_canonical(st->op->params, st->op->nparams, b->args, &dtx_part_hooks_template,
	                         c))
		DTX_FAIL_MEM(err);
	st->canonical = c;
out:
	return rc;
}

/* The item of the list that was written out at place "/set/5/expr"; false: it is another place. */
static bool item_at(const struct dtx_bind *b, const struct dtx_plan_step *st, const char *sub,
                    unsigned long *item, char **rest)
{
	size_t len = st->op && st->op->across ? strlen(st->op->across) : 0;

	if (!sub || !b->across_from || !len || sub[0] != '/' ||
	    strncmp(sub + 1, st->op->across, len) != 0 || sub[len + 1] != '/')
		return false;
	*item = strtoul(sub + len + 2, rest, 10);
	return *item < b->across_n;
}

const char *dtx_across_place(const struct dtx_bind *b, const struct dtx_plan_step *st,
                             const char *sub, char *buf, size_t size)
{
	unsigned long item;
	char *rest;

	if (!item_at(b, st, sub, &item, &rest))
		return sub;
	snprintf(buf, size, "/%s/%u%s", st->op->across, (unsigned)b->across_from[item], rest);
	return buf;
}

void dtx_across_say(const struct dtx_bind *b, const struct dtx_plan_step *st, const char *sub,
                    struct dtx_err *f)
{
	size_t len = strlen(f->msg);
	unsigned long item;
	char *rest;

	if (item_at(b, st, sub, &item, &rest) && b->across_col[item])
		snprintf(f->msg + len, sizeof(f->msg) - len, " (for column '%s' of 'across')",
		         b->across_col[item]);
}

void dtx_across_explain(const struct dtx_plan_step *st, struct dtx_buf *out)
{
	struct dtx_cols **cols = cols_of(st, st->args);

	if (!cols || !*cols)
		return;
	dtx_buf_add(out, ", across ");
	dtx_cols_print(*cols, out);
}
