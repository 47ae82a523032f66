/* Makes, compares and rewrites trees.
 *
 * A tree is not changed once it is complete; a rewrite (dtx_expr_swap) makes a new one, with copies
 * of all texts, in the arena that is passed. */
#include "core/expr/parse/tree.h"

#include "core/expr/fn/fn.h"

const struct dtx_expr dtx_expr_hole = {
	.kind = DTX_EX_LIT, .op = DTX_LIT_NULL, .span = { -1, -1 }, .height = 1
};

struct dtx_expr *dtx_expr_node(struct dtx_arena *a, enum dtx_ekind kind, uint32_t nargs)
{
	struct dtx_expr *e = dtx_arena_zalloc(a, 1, sizeof(*e));

	if (!e)
		return NULL;
	e->kind = kind;
	e->nargs = nargs;
	e->height = 1;
	e->span[0] = e->span[1] = -1;
	if (nargs) {
		e->arg = dtx_arena_zalloc(a, nargs, sizeof(*e->arg));
		if (!e->arg)
			return NULL;
	}
	return e;
}

void dtx_expr_measure(struct dtx_expr *e)
{
	uint32_t i;

	e->height = 1;
	for (i = 0; i < e->nargs; i++)
		e->height = DTX_MAX(e->height, e->arg[i]->height + 1);
}

const struct dtx_expr *dtx_expr_where(const struct dtx_expr *e, uint32_t *nargs)
{
	bool has = e->nargs && e->argname && e->argname[e->nargs - 1] &&
	           !strcmp(e->argname[e->nargs - 1], "where");

	*nargs = e->nargs - has;
	return has ? e->arg[e->nargs - 1] : NULL;
}

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool dtx_expr_equal(const struct dtx_expr *a, const struct dtx_expr *b)
{
	uint32_t i;

	if (a->kind != b->kind || a->op != b->op || a->nargs != b->nargs ||
	    !text_equal(a->name, b->name) || !text_equal(a->table, b->table) ||
	    !dtx_str_eq(a->text, b->text))
		return false;
	for (i = 0; i < a->nargs; i++) {
		if (!text_equal(a->argname ? a->argname[i] : NULL,
		                b->argname ? b->argname[i] : NULL) ||
		    !dtx_expr_equal(a->arg[i], b->arg[i]))
			return false;
	}
	return true;
}

struct dtx_expr *dtx_expr_column(struct dtx_arena *a, const char *column)
{
	struct dtx_expr *e = dtx_expr_node(a, DTX_EX_COL, 0);

	if (!e)
		return NULL;
	e->name = dtx_arena_strdup(a, column);
	return e->name ? e : NULL;
}

struct dtx_expr *dtx_expr_call1(struct dtx_arena *a, const char *fn, const char *column)
{
	const struct dtx_fn *row = dtx_fn_find(dtx_str_of(fn), 1);
	struct dtx_expr *e = dtx_expr_node(a, DTX_EX_CALL, column ? 1 : 0);

	if (!e)
		return NULL;
	e->name = row ? row->name : dtx_arena_strdup(a, fn);
	if (column)
		e->arg[0] = dtx_expr_column(a, column);
	if (!e->name || (column && !e->arg[0]))
		return NULL;
	dtx_expr_measure(e);
	return e;
}

const char *dtx_expr_is_column(const struct dtx_expr *e)
{
	return e->kind == DTX_EX_COL && !e->table ? e->name : NULL;
}

void dtx_expr_columns(const struct dtx_expr *e, void (*fn)(void *arg, const char *name), void *arg)
{
	uint32_t i;

	if (e->kind == DTX_EX_COL)
		fn(arg, e->name);
	for (i = 0; i < e->nargs; i++)
		dtx_expr_columns(e->arg[i], fn, arg);
}

static bool copy_texts(struct dtx_arena *a, struct dtx_expr *to, const struct dtx_expr *from)
{
	const char **names;
	uint32_t i;

	to->name = from->name ? dtx_arena_strdup(a, from->name) : NULL;
	to->table = from->table ? dtx_arena_strdup(a, from->table) : NULL;
	to->text.len = from->text.len;
	to->text.ptr = from->text.ptr ? dtx_arena_strndup(a, from->text.ptr, from->text.len) : NULL;
	if ((from->name && !to->name) || (from->table && !to->table) ||
	    (from->text.ptr && !to->text.ptr))
		return false;
	if (!from->argname)
		return true;
	names = dtx_arena_zalloc(a, from->nargs, sizeof(*names));
	for (i = 0; names && i < from->nargs; i++) {
		if (from->argname[i] && !(names[i] = dtx_arena_strdup(a, from->argname[i])))
			return false;
	}
	to->argname = names;
	return names != NULL;
}

struct dtx_expr *dtx_expr_swap(struct dtx_arena *a, const struct dtx_expr *e,
                               const struct dtx_expr *(*sub)(void *arg, const struct dtx_expr *e),
                               void *arg)
{
	const struct dtx_expr *other = sub ? sub(arg, e) : NULL;
	struct dtx_expr *copy;
	uint32_t i;

	/* what replaces a part is copied without replacements */
	if (other)
		return dtx_expr_swap(a, other, NULL, NULL);
	copy = dtx_expr_node(a, e->kind, e->nargs);
	if (!copy || !copy_texts(a, copy, e))
		return NULL;
	copy->op = e->op;
	copy->double_quoted = e->double_quoted;
	memcpy(copy->span, e->span, sizeof(copy->span));
	for (i = 0; i < e->nargs; i++) {
		copy->arg[i] = dtx_expr_swap(a, e->arg[i], sub, arg);
		if (!copy->arg[i])
			return NULL;
	}
	dtx_expr_measure(copy);
	return copy;
}

struct by_name {
	const struct dtx_expr *(*sub)(void *arg, const char *name);
	void *arg;
};

static const struct dtx_expr *swap_named(void *arg, const struct dtx_expr *e)
{
	const struct by_name *by = arg;

	return e->kind == DTX_EX_COL ? by->sub(by->arg, e->name) : NULL;
}

struct dtx_expr *dtx_expr_replace(struct dtx_arena *a, const struct dtx_expr *e,
                                  const struct dtx_expr *(*sub)(void *arg, const char *name),
                                  void *arg)
{
	struct by_name by = { sub, arg };

	return dtx_expr_swap(a, e, swap_named, &by);
}

struct spread {
	struct dtx_arena *arena;
	const char *name, *const *with;
	uint32_t n;
};

static bool is_spread(const struct spread *s, const struct dtx_expr *e, uint32_t i)
{
	const char *column = dtx_expr_is_column(e->arg[i]);

	return e->kind == DTX_EX_CALL && column && !strcmp(column, s->name) &&
	       !(e->argname && e->argname[i]);
}

static bool spread_args(const struct spread *s, struct dtx_expr *e)
{
	const char **names = NULL;
	const struct dtx_expr **arg;
	uint32_t hits = 0, more, at = 0;
	const struct dtx_fn *fn;

	for (uint32_t i = 0; i < e->nargs; i++) {
		hits += is_spread(s, e, i);
		if (!spread_args(s, (struct dtx_expr *)(uintptr_t)e->arg[i]))
			return false;
	}
	more = e->nargs + hits * s->n - hits;
	fn = hits ? dtx_fn_find(dtx_str_of(e->name), more) : NULL;
	if (!hits || (fn && fn->kind != DTX_FN_SCALAR))
		return true;
	arg = dtx_arena_zalloc(s->arena, more + 1u, sizeof(*arg));
	names = dtx_arena_zalloc(s->arena, more + 1u, sizeof(*names));
	if (!arg || !names)
		return false;
	for (uint32_t i = 0; i < e->nargs; i++) {
		for (uint32_t k = 0; is_spread(s, e, i) && k < s->n; k++) {
			arg[at] = dtx_expr_column(s->arena, s->with[k]);
			if (!arg[at++])
				return false;
		}
		if (is_spread(s, e, i))
			continue;
		names[at] = e->argname ? e->argname[i] : NULL;
		arg[at++] = e->arg[i];
	}
	e->argname = e->argname ? names : NULL;
	e->arg = arg;
	e->nargs = more;
	return true;
}

struct dtx_expr *dtx_expr_spread(struct dtx_arena *a, const struct dtx_expr *e, const char *name,
                                 const char *const *with, uint32_t n)
{
	struct spread s = { a, name, with, n };
	struct dtx_expr *copy = dtx_expr_swap(a, e, NULL, NULL);

	return copy && spread_args(&s, copy) ? copy : NULL;
}

static bool qualify(struct dtx_arena *a, struct dtx_expr *e)
{
	bool ok = true;

	if (e->kind == DTX_EX_COL && e->table) {
		e->name = dtx_arena_printf(a, "%s.%s", e->table, e->name);
		e->table = NULL;
		ok = e->name != NULL;
	}
	for (uint32_t i = 0; ok && i < e->nargs; i++)
		ok = qualify(a, (struct dtx_expr *)(uintptr_t)e->arg[i]);
	return ok;
}

struct dtx_expr *dtx_expr_qualified(struct dtx_arena *a, const struct dtx_expr *e)
{
	struct dtx_expr *copy = dtx_expr_swap(a, e, NULL, NULL);

	return copy && qualify(a, copy) ? copy : NULL;
}

bool dtx_expr_is_aggregate(const struct dtx_expr *e)
{
	const struct dtx_fn *fn = NULL;
	uint32_t n;

	if (e->kind == DTX_EX_CALL) {
		(void)dtx_expr_where(e, &n);
		fn = dtx_fn_find(dtx_str_of(e->name), n);
	}
	return fn && fn->kind == DTX_FN_AGG;
}

bool dtx_expr_has_aggregate(const struct dtx_expr *e)
{
	if (dtx_expr_is_aggregate(e))
		return true;
	for (uint32_t i = 0; i < e->nargs; i++) {
		if (dtx_expr_has_aggregate(e->arg[i]))
			return true;
	}
	return false;
}

bool dtx_expr_may_cast(const struct dtx_expr *e)
{
	uint32_t i, n;
	const struct dtx_fn *fn = NULL;

	if (e->kind == DTX_EX_CALL) {
		(void)dtx_expr_where(e, &n);
		fn = dtx_fn_find(dtx_str_of(e->name), n);
	}
	if (fn && fn->form == DTX_FORM_TRY) /* its default is outside of the try, so an error there
	                                     * is not caught */
		return e->nargs > 1 && dtx_expr_may_cast(e->arg[1]);
	if (fn && ((fn->form == DTX_FORM_CAST && fn->detail != (int)DTX_T_TEXT) ||
	           fn->flags & DTX_FN_CASTS))
		return true;
	for (i = 0; i < e->nargs; i++)
		if (dtx_expr_may_cast(e->arg[i]))
			return true;
	return false;
}
