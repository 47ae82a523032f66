/* Binding one step: its output columns, and its uses of input columns. The head of bind.h has the
 * idea. */
#include "core/plan/bind/bind_parts.h"

#include <stdio.h>

#include "core/plan/bind/flow.h"
#include "core/plan/plan_internal.h"

/* --- results --- */

void *dtx_bind_state(struct dtx_bind *b, size_t size)
{
	b->state = dtx_arena_zalloc(b->arena, 1, size);
	return b->state;
}

void dtx_bind_kind(struct dtx_bind *b, enum dtx_op_kind kind)
{
	b->kind = kind;
	b->kind_set = true;
}

void dtx_bind_close(struct dtx_bind *b)
{
	b->closed = true;
}

void dtx_bind_open(struct dtx_bind *b)
{
	b->open = true;
}

enum dtx_code dtx_bind_room(struct dtx_bind *b, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	b->in = dtx_arena_zalloc(b->arena, n, sizeof(*b->in));
	b->table_name = dtx_arena_zalloc(b->arena, n, sizeof(*b->table_name));
	b->named = dtx_arena_zalloc(b->arena, n, sizeof(*b->named));
	b->table = dtx_arena_zalloc(b->arena, n, sizeof(*b->table));
	b->moved = dtx_arena_zalloc(b->arena, n, sizeof(*b->moved));
	b->seen = dtx_arena_zalloc(b->arena, n, sizeof(*b->seen));
	if (!b->in || !b->table_name || !b->named || !b->table || !b->moved || !b->seen)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* --- uncertain names --- */

static enum dtx_code add_guess(struct dtx_bind *b, const char *name, bool made, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_arena_reserve(b->arena, &b->guess, &b->cap_guesses, b->nguesses + 1,
	                       sizeof(*b->guess)))
		DTX_FAIL_MEM(err);
	name = dtx_arena_strdup(b->arena, name);
	if (!name)
		DTX_FAIL_MEM(err);
	b->guess[b->nguesses++] = (struct dtx_bind_guess){ name, made };
out:
	return rc;
}

enum dtx_code dtx_bind_would_make(struct dtx_bind *b, const char *name, struct dtx_err *err)
{
	if (!dtx_param_is_hole(name))
		return add_guess(b, name, true, err);
	b->open = true;
	return DTX_OK;
}

void dtx_bind_unsure(struct dtx_bind *b)
{
	if (!b->typed && (b->nfindings || b->broken))
		b->open = true;
}

enum dtx_code dtx_bind_meant(struct dtx_bind *b, const char *name, const struct dtx_err *f,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (b->typed)
		goto out;
	DTX_TRY(add_guess(b, name, false, err));
	for (size_t i = 0; i < DTX_COUNT(f->did_you_mean) && f->did_you_mean[i][0]; i++)
		DTX_TRY(add_guess(b, f->did_you_mean[i], false, err));
out:
	return rc;
}

bool dtx_bind_is_guess(const struct dtx_bind *b, const char *name)
{
	for (uint64_t i = 0; i < b->nguesses; i++)
		if (strcmp(b->guess[i].name, name) == 0)
			return true;
	return false;
}

static bool name_free(struct dtx_bind *b, const char *name, uint32_t index, bool *taken)
{
	uint32_t found = 0;

	if (!dtx_strmap_put(&b->names, dtx_str_of(name), index, &found))
		return false;
	*taken = found != index;
	return true;
}

static enum dtx_code add_col(struct dtx_bind *b, const struct dtx_bind_col *col,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool taken = false;

	if (b->run && b->run->max_cols > 0 && b->ncols >= b->run->max_cols)
		DTX_FAIL(err, DTX_E_COL_LIMIT, "%s: more than %lld columns", b->op,
		         (long long)b->run->max_cols);
	if (!name_free(b, col->field.name, b->ncols, &taken))
		DTX_FAIL_MEM(err);
	if (taken) {
		rc = dtx_bind_taken(b, col->field.name, NULL, err);
		goto out;
	}
	if (!dtx_arena_reserve(b->arena, &b->col, &b->cap_cols, b->ncols + 1u, sizeof(*b->col)))
		DTX_FAIL_MEM(err);
	b->col[b->ncols++] = *col;
out:
	return rc;
}

enum dtx_code dtx_bind_pass(struct dtx_bind *b, unsigned t, int32_t col, const char *name,
                            struct dtx_err *err)
{
	struct dtx_bind_col c = { .from_table = (int32_t)t, .from_col = col, .formula_text = "" };

	b->moved[t] = true;
	b->seen[t] = b->in[t]->nfields;
	if (col < 0)
		return DTX_OK;
	c.field = b->in[t]->field[col];
	if (name)
		c.field.name = name;
	return add_col(b, &c, err);
}

enum dtx_code dtx_bind_pass_right(struct dtx_bind *b, int32_t col, struct dtx_err *err)
{
	const char *name = b->in[1]->field[col].name;
	uint32_t out = b->ncols;
	enum dtx_code rc = DTX_OK;

	if (dtx_bind_out(b, name) >= 0)
		name = dtx_arena_printf(b->arena, "%s%s", name, b->suffix);
	if (!name)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_pass(b, 1, col, name, err));
	/* the open table 0 may have that name, and then this column is the one of table 0 */
	if (b->ncols > out && b->in[0]->open && !b->typed)
		b->col[out].field.type = (struct dtx_typeref){ .type = DTX_T_UNKNOWN };
out:
	return rc;
}

enum dtx_code dtx_bind_keep_all(struct dtx_bind *b, unsigned t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	b->moved[t] = true;
	b->seen[t] = b->in[t]->nfields;
	for (uint32_t i = 0; i < b->in[t]->nfields; i++)
		DTX_TRY(dtx_bind_pass(b, t, (int32_t)i, NULL, err));
out:
	return rc;
}

static enum dtx_code col_formula(struct dtx_bind *b, const struct dtx_expr *formula,
                                 struct dtx_bind_col *c, struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	c->formula = formula;
	c->formula_text = "";
	if (!formula)
		goto out;
	dtx_expr_print(formula, &text);
	DTX_TRY(dtx_buf_check(&text, "formula", err));
	c->formula_text = dtx_arena_strdup(b->arena, dtx_buf_text(&text));
	if (!c->formula_text)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code made_col(struct dtx_bind *b, const char *name, struct dtx_typeref type,
                              const struct dtx_expr *formula, const char *how,
                              struct dtx_bind_col *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = (struct dtx_bind_col){ .from_table = -1, .from_col = -1, .how = how };
	out->field.name = dtx_arena_strdup(b->arena, name);
	out->field.type = type;
	if (!out->field.name)
		DTX_FAIL_MEM(err);
	DTX_TRY(col_formula(b, formula, out, err));
out:
	return rc;
}

enum dtx_code dtx_bind_make(struct dtx_bind *b, const char *name, struct dtx_typeref type,
                            const struct dtx_expr *formula, const char *how, struct dtx_err *err)
{
	struct dtx_bind_col c;
	enum dtx_code rc = DTX_OK;

	if (dtx_param_is_hole(name))
		return dtx_bind_would_make(b, name, err);
	DTX_TRY(made_col(b, name, type, formula, how, &c, err));
	DTX_TRY(add_col(b, &c, err));
out:
	return rc;
}

enum dtx_code dtx_bind_remake(struct dtx_bind *b, uint32_t i, struct dtx_typeref type,
                              const struct dtx_expr *formula, const char *how, struct dtx_err *err)
{
	struct dtx_bind_col c;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(made_col(b, b->col[i].field.name, type, formula, how, &c, err));
	b->col[i] = c;
out:
	return rc;
}

void dtx_bind_stands_for(struct dtx_bind *b, uint32_t i, const struct dtx_field *was)
{
	struct dtx_field *f = i < b->ncols ? &b->col[i].field : NULL;

	if (f && f->type.type == DTX_T_TEXT && was->type.type == DTX_T_TEXT)
		f->declared = was->declared;
}

enum dtx_code dtx_bind_alter(struct dtx_bind *b, uint32_t i, const struct dtx_expr *formula,
                             struct dtx_err *err)
{
	b->col[i].altered = true;
	return col_formula(b, formula, &b->col[i], err);
}

enum dtx_code dtx_bind_alter_some(struct dtx_bind *b, const int32_t *col, uint32_t n,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0 && (uint32_t)col[i] < b->ncols)
			DTX_TRY(dtx_bind_alter(b, (uint32_t)col[i], NULL, err));
out:
	return rc;
}

int32_t dtx_bind_out(const struct dtx_bind *b, const char *name)
{
	uint32_t i = dtx_strmap_get(&b->names, dtx_str_of(name));

	return i == DTX_STRMAP_NONE || i >= b->ncols ? -1 : (int32_t)i;
}

enum dtx_code dtx_bind_use(struct dtx_bind *b, int32_t out, unsigned t, int32_t col,
                           enum dtx_demand demand, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (col < 0)
		goto out;
	if (!dtx_arena_reserve(b->arena, &b->use, &b->cap_uses, b->nuses + 1, sizeof(*b->use)))
		DTX_FAIL_MEM(err);
	b->use[b->nuses++] =
		(struct dtx_bind_use){ out, t, (uint32_t)col, (uint8_t)demand, DTX_CLASS_ANY };
out:
	return rc;
}

/* --- columns --- */

int32_t dtx_bind_find(struct dtx_bind *b, unsigned t, const char *name, struct dtx_err *f)
{
	int32_t col = dtx_schema_find(b->in[t], name);

	if (col < 0 && !b->typed && b->in[t]->open && b->flow &&
	    dtx_flow_require(b->flow, b->table[t], name, &col, f) != DTX_OK)
		return -1;
	if (col < 0)
		dtx_bind_unknown(b, t, b->in[t], name, f);
	if (col >= 0 && b->typed && !b->named[t])
		b->named[t] = dtx_arena_zalloc(b->arena, b->in[t]->nfields, 1);
	if (col >= 0 && b->named[t] && (uint32_t)col < b->in[t]->nfields)
		b->named[t][col] = 1;
	return col;
}

enum dtx_code dtx_bind_column(struct dtx_bind *b, unsigned t, const char *name, const char *sub,
                              int32_t *col, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	*col = -1;
	if (dtx_param_is_hole(name)) {
		b->inputs_may_pass = true;
		goto out;
	}
	*col = dtx_bind_find(b, t, name, &f);
	if (*col >= 0)
		goto out;
	DTX_TRY(dtx_bind_meant(b, name, &f, err));
	rc = dtx_bind_take(b, sub, &f, err);
out:
	dtx_err_clear(&f);
	return rc;
}

enum dtx_code dtx_bind_grow(struct dtx_bind *b, unsigned t, const char *name, struct dtx_err *err)
{
	int32_t col;

	if (b->typed || !b->flow || !b->in[t]->open)
		return DTX_OK;
	return dtx_flow_require(b->flow, b->table[t], name, &col, err);
}
