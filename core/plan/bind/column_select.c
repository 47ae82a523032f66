/* Resolves column selectors (names, ranges, patterns, types, "not") against the table that a step
 * works on. Each column is taken once, in the order of the selector. */
#include "core/plan/bind/bind_parts.h"

#include <stdio.h>

#include "core/expr/regex/regex.h"

enum { FEW_NAMES = 16 };

struct pick {
	struct dtx_bind *b;
	unsigned t;
	const struct dtx_schema *schema;
	uint8_t *taken; /* per column: it is selected */
	int32_t *col;
	uint32_t n, cap;
};

static bool room(struct pick *p, uint32_t want)
{
	uint32_t cap = want * 2 + 16;
	int32_t *col;
	uint8_t *taken;

	if (want <= p->cap)
		return true;
	col = dtx_arena_alloc(p->b->arena, cap, sizeof(*col));
	taken = dtx_arena_zalloc(p->b->arena, cap, 1);
	if (!col || !taken)
		return false;
	if (p->n)
		memcpy(col, p->col, p->n * sizeof(*col));
	if (p->cap)
		memcpy(taken, p->taken, p->cap);
	p->col = col;
	p->taken = taken;
	p->cap = cap;
	return true;
}

static void add(struct pick *p, int32_t c)
{
	if (p->taken[c])
		return;
	p->taken[c] = 1;
	p->col[p->n++] = c;
}

static bool type_fits(const char *want, enum dtx_type type)
{
	if (strcmp(want, "number") == 0)
		return dtx_type_is_number(type);
	return strcmp(want, dtx_type_name(type)) == 0;
}

static enum dtx_code resolve(struct pick *p, const struct dtx_cols *cols, const char *sub,
                             struct dtx_err *err);

/* Finds a column by name. This may add a column to an open table, so the arrays are enlarged after
 * it. */
static enum dtx_code find(struct pick *p, const char *name, const char *sub, int32_t *c,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_bind_column(p->b, p->t, name, sub, c, err));
	if (!room(p, p->schema->nfields))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code pick_range(struct pick *p, const struct dtx_col_item *it, const char *sub,
                                struct dtx_err *err)
{
	int32_t from, to;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(find(p, it->a, sub, &from, err));
	DTX_TRY(find(p, it->b, sub, &to, err));
	if (from < 0 || to < 0)
		goto out;
	if (from > to && !p->schema->open)
		DTX_TRY(dtx_bind_fail(p->b, DTX_E_BAD_PARAM_VALUE, sub, err,
		                      "column '%s' comes after '%s'", it->a, it->b));
	/* the order of an open table is not known, nor the columns between two of its columns */
	p->b->inputs_may_pass = p->b->inputs_may_pass || p->schema->open;
	for (int32_t c = from; c <= to && !p->schema->open; c++)
		add(p, c);
	if (p->schema->open) {
		add(p, from);
		add(p, to);
	}
out:
	return rc;
}

static enum dtx_code pick_not(struct pick *p, const struct dtx_col_item *it, const char *sub,
                              struct dtx_err *err)
{
	struct pick inner = { .b = p->b, .t = p->t, .schema = p->schema };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(resolve(&inner, it->sub, sub, err));
	if (!room(p, p->schema->nfields))
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < p->schema->nfields; c++)
		if (!inner.taken[c])
			add(p, (int32_t)c);
out:
	return rc;
}

/* Adds the columns that match a pattern, a type or `all`. */
static enum dtx_code pick_fitting(struct pick *p, const struct dtx_col_item *it,
                                  struct dtx_err *err)
{
	struct dtx_rematch *m = NULL;
	enum dtx_code rc = DTX_OK;

	if (it->kind == DTX_COL_REGEX) {
		m = dtx_rematch_new(p->b->arena, it->re);
		if (!m)
			DTX_FAIL_MEM(err);
	}
	for (uint32_t i = 0; i < p->schema->nfields; i++) {
		const struct dtx_field *f = &p->schema->field[i];
		bool fits = it->kind == DTX_COL_ALL;

		if (it->kind == DTX_COL_TYPE)
			fits = type_fits(it->a, f->type.type);
		else if (m)
			fits = dtx_rematch_test(m, dtx_str_of(f->name));
		if (fits)
			add(p, (int32_t)i);
	}
out:
	return rc;
}

static enum dtx_code pick_item(struct pick *p, const struct dtx_col_item *it, const char *sub,
                               struct dtx_err *err)
{
	int32_t c = -1;
	enum dtx_code rc = DTX_OK;

	switch (it->kind) {
	case DTX_COL_NAME:
		DTX_TRY(find(p, it->a, sub, &c, err));
		if (c >= 0)
			add(p, c);
		break;
	case DTX_COL_RANGE: DTX_TRY(pick_range(p, it, sub, err)); break;
	case DTX_COL_NOT: DTX_TRY(pick_not(p, it, sub, err)); break;
	default: DTX_TRY(pick_fitting(p, it, err)); break;
	}
out:
	return rc;
}

static enum dtx_code resolve(struct pick *p, const struct dtx_cols *cols, const char *sub,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!room(p, p->schema->nfields + 1))
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < cols->n; i++) {
		char at[128];

		snprintf(at, sizeof(at), "%s/%zu", sub ? sub : "", i);
		DTX_TRY(pick_item(p, &cols->item[i], at, err));
	}
out:
	return rc;
}

/* A few names, as rules and windows have them by the thousand: no list of all columns is made for
 * each. */
static bool is_few_names(const struct dtx_cols *cols)
{
	for (size_t i = 0; i < cols->n; i++)
		if (cols->item[i].kind != DTX_COL_NAME)
			return false;
	return cols->n > 0 && cols->n <= FEW_NAMES;
}

static enum dtx_code pick_names(struct dtx_bind *b, unsigned t, const struct dtx_cols *cols,
                                const char *sub, int32_t *col, uint32_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t k;

	*n = 0;
	for (size_t i = 0; i < cols->n; i++) {
		char at[128];
		int32_t c = -1;

		snprintf(at, sizeof(at), "%s/%zu", sub ? sub : "", i);
		DTX_TRY(dtx_bind_column(b, t, cols->item[i].a, at, &c, err));
		for (k = 0; k < *n && col[k] != c; k++)
			;
		if (c >= 0 && k == *n)
			col[(*n)++] = c;
	}
out:
	return rc;
}

enum dtx_code dtx_bind_cols_any(struct dtx_bind *b, unsigned t, const struct dtx_cols *cols,
                                const char *sub, int32_t **col, uint32_t *n, struct dtx_err *err)
{
	struct pick p = { .b = b, .t = t, .schema = b->in[t] };
	enum dtx_code rc = DTX_OK;

	if (!cols)
		cols = &dtx_cols_hole;
	b->inputs_may_pass = b->inputs_may_pass || cols->holes;
	if (is_few_names(cols)) {
		*col = dtx_arena_alloc(b->arena, cols->n, sizeof(**col));
		if (!*col)
			DTX_FAIL_MEM(err);
		DTX_TRY(pick_names(b, t, cols, sub, *col, n, err));
		goto out;
	}
	DTX_TRY(resolve(&p, cols, sub, err));
	*col = p.col;
	*n = p.n;
out:
	return rc;
}

enum dtx_code dtx_bind_cols(struct dtx_bind *b, unsigned t, const struct dtx_cols *cols,
                            const char *sub, int32_t **col, uint32_t *n, struct dtx_err *err)
{
	size_t before = b->nfindings;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_bind_cols_any(b, t, cols, sub, col, n, err));
	if (*n == 0 && b->nfindings == before && cols && !cols->holes && !b->in[t]->open)
		DTX_TRY(dtx_bind_no_fit(b, t, !cols->n, sub, err));
out:
	return rc;
}
