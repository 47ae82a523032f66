/* Binding of pivot_longer: splits column names into parts.
 *
 * A `piece` is an input column that becomes rows.  A `rest` is a distinct remainder of the pieces'
 * names, without the part ".value"; each input row gives one output row per rest.  A `value` is a
 * distinct value column.  The matrix `col` says which input column belongs to each pair of rest
 * and value: two columns for one pair are an error, no column gives null. */
#include "ops/reshape/longer.h"

#include <stdio.h>

#include "core/expr/regex/regex.h"

struct piece {
	int32_t col;
	const char **part; /* for each entry of names_to */
};
struct longer_bind {
	struct dtx_bind *b;
	const struct dtx_longer_args *a;
	struct dtx_longer_state *s;
	struct piece *piece;
	uint32_t npieces;
	int32_t value_at; /* the entry of names_to that is ".value"; -1: none */
	const char **value_name;
	struct dtx_regex *re; /* of names_pattern */
	struct dtx_rematch *match;
};

/* The columns of a selector; none if there is no selector. */
struct picked {
	int32_t *col;
	uint32_t n;
};

static enum dtx_code pick(struct longer_bind *l, const struct dtx_cols *cols, const char *at,
                          struct picked *out, struct dtx_err *err)
{
	*out = (struct picked){ NULL, 0 };
	return cols ? dtx_bind_cols(l->b, 0, cols, at, &out->col, &out->n, err) : DTX_OK;
}

static void mark(const struct picked *p, bool *marked)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->col[i] >= 0)
			marked[p->col[i]] = true;
}

static void add_piece(struct longer_bind *l, int32_t col)
{
	if (col >= 0)
		l->piece[l->npieces++].col = col;
}

/* Selects the columns that become rows, in the order of the selector or of the table, and those
 * that stay: all others, or those that `keep` names. */
static enum dtx_code pick_pieces(struct longer_bind *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_bind *b = l->b;
	struct picked turns, keeps;
	bool *turned, *kept;
	size_t fields;

	DTX_TRY(pick(l, l->a->cols, "/cols", &turns, err));
	DTX_TRY(pick(l, l->a->keep, "/keep", &keeps, err));
	fields = b->in[0]->nfields; /* the selectors may have added columns to an open input */
	turned = dtx_arena_zalloc(b->arena, fields + 1, sizeof(*turned));
	kept = dtx_arena_zalloc(b->arena, fields + 1, sizeof(*kept));
	l->piece = dtx_arena_zalloc(b->arena, fields + turns.n + 1, sizeof(*l->piece));
	if (!turned || !kept || !l->piece)
		DTX_FAIL_MEM(err);
	mark(&turns, turned);
	mark(&keeps, kept);
	for (uint32_t i = 0; i < turns.n; i++)
		add_piece(l, turns.col[i]);
	for (uint32_t i = 0; i < fields; i++) {
		if (l->a->keep ? kept[i] : !turned[i])
			DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, NULL, err));
		else if (!l->a->cols)
			add_piece(l, (int32_t)i);
	}
	l->s->nkept = b->ncols;
out:
	return rc;
}

/* Splits a name at the literal names_sep and returns the number of parts. */
static size_t split_by_sep(struct longer_bind *l, struct dtx_str rest, struct dtx_str *part,
                           size_t most)
{
	struct dtx_str sep = { "", 0 };
	size_t n = 0;

	if (l->a->names_sep)
		sep = dtx_str_of(l->a->names_sep);
	for (;; n++) {
		ptrdiff_t at = sep.len ? dtx_str_find(rest, sep, 0) : -1;
		size_t len = at < 0 ? rest.len : (size_t)at;

		if (n < most)
			part[n] = (struct dtx_str){ rest.ptr, len };
		if (at < 0)
			return n + 1;
		rest = (struct dtx_str){ rest.ptr + len + sep.len, rest.len - len - sep.len };
	}
}

/* Splits a name by the groups of names_pattern, which must match the whole name.  0: it does
 * not. */
static size_t split_by_pattern(struct longer_bind *l, struct dtx_str rest, struct dtx_str *part,
                               size_t most)
{
	size_t at[2 * (DTX_REGEX_GROUPS + 1)], groups = dtx_regex_groups(l->re);

	if (!dtx_rematch_find(l->match, rest, 0, at) || at[0] != 0 || at[1] != rest.len)
		return 0;
	for (size_t i = 0; i < groups && i < most; i++) {
		size_t from = at[2 * (i + 1)], to = at[2 * (i + 1) + 1];

		part[i] = from == SIZE_MAX ? (struct dtx_str){ "", 0 }
		                           : (struct dtx_str){ rest.ptr + from, to - from };
	}
	return groups;
}

/* Splits a name into its parts; reports a name that does not fit. */
static enum dtx_code split_name(struct longer_bind *l, struct piece *p, struct dtx_err *err)
{
	const struct dtx_longer_args *a = l->a;
	enum dtx_code rc = DTX_OK;
	const char *name = l->b->in[0]->field[p->col].name;
	struct dtx_str rest = dtx_str_of(name), *part;
	size_t n = a->names_to.n, got;

	part = dtx_arena_zalloc(l->b->arena, n + 1, sizeof(*part));
	p->part = dtx_arena_zalloc(l->b->arena, n + 1, sizeof(*p->part));
	if (!part || !p->part)
		DTX_FAIL_MEM(err);
	if (a->names_prefix && dtx_str_starts(rest, dtx_str_of(a->names_prefix)))
		rest = dtx_str_of(name + strlen(a->names_prefix));
	got = l->re ? split_by_pattern(l, rest, part, n) : split_by_sep(l, rest, part, n);
	if (got != n)
		DTX_TRY(dtx_bind_fail(l->b, DTX_E_BAD_SPLIT,
		                      l->re ? "/names_pattern" : "/names_sep", err,
		                      "column name '%s' does not split into %zu parts", name, n));
	for (size_t i = 0; i < n; i++) {
		p->part[i] =
			dtx_arena_strndup(l->b->arena, part[i].ptr ? part[i].ptr : "", part[i].len);
		if (!p->part[i])
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

static enum dtx_code compile_pattern(struct longer_bind *l, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err bad = DTX_ERR_INIT;

	if (!l->a->names_pattern)
		goto out;
	if (dtx_regex_compile(l->b->arena, dtx_str_of(l->a->names_pattern), &l->re, &bad) !=
	    DTX_OK) {
		l->re = NULL;
		DTX_TRY(dtx_bind_fail(l->b, bad.code, "/names_pattern", err, "%s", bad.msg));
		goto out;
	}
	l->match = dtx_rematch_new(l->b->arena, l->re);
	if (!l->match)
		DTX_FAIL_MEM(err);
out:
	dtx_err_clear(&bad);
	return rc;
}

static bool same_rest(const struct longer_bind *l, const struct piece *a, const struct piece *b)
{
	for (size_t i = 0; i < l->a->names_to.n; i++)
		if ((int32_t)i != l->value_at && strcmp(a->part[i], b->part[i]) != 0)
			return false;
	return true;
}

/* The index of the rest of piece p; a new rest is appended. */
static uint32_t rest_of(struct longer_bind *l, uint32_t *first, uint32_t p)
{
	struct dtx_longer_state *s = l->s;

	/* without .value every piece is a rest of its own */
	for (uint32_t r = 0; l->value_at >= 0 && r < s->nrests; r++)
		if (same_rest(l, &l->piece[first[r]], &l->piece[p]))
			return r;
	first[s->nrests] = p;
	return s->nrests++;
}

static uint32_t value_of(struct longer_bind *l, uint32_t p)
{
	struct dtx_longer_state *s = l->s;
	const char *name = l->value_at < 0 ? l->a->values_to : l->piece[p].part[l->value_at];

	for (uint32_t v = 0; v < s->nvalues; v++)
		if (strcmp(l->value_name[v], name) == 0)
			return v;
	l->value_name[s->nvalues] = name;
	return s->nvalues++;
}

static enum dtx_code place_pieces(struct longer_bind *l, struct dtx_err *err)
{
	struct dtx_longer_state *s = l->s;
	struct dtx_arena *arena = l->b->arena;
	enum dtx_code rc = DTX_OK;
	size_t n = l->npieces, names = l->a->names_to.n;
	uint32_t *first = dtx_arena_alloc(arena, n + 1, sizeof(*first));
	uint32_t *r = dtx_arena_alloc(arena, n + 1, sizeof(*r));
	uint32_t *v = dtx_arena_alloc(arena, n + 1, sizeof(*v));
	size_t cells;

	l->value_name = dtx_arena_alloc(arena, n + 1, sizeof(*l->value_name));
	if (!first || !r || !v || !l->value_name)
		DTX_FAIL_MEM(err);
	for (uint32_t p = 0; p < n; p++) {
		r[p] = rest_of(l, first, p);
		v[p] = value_of(l, p);
	}
	cells = (size_t)s->nrests * s->nvalues;
	s->part = dtx_arena_zalloc(arena, (size_t)s->nrests * names + 1, sizeof(*s->part));
	s->col = dtx_arena_alloc(arena, cells + 1, sizeof(*s->col));
	s->valued = dtx_arena_zalloc(arena, cells + 1, sizeof(*s->valued));
	s->value = dtx_arena_zalloc(arena, (size_t)s->nvalues + 1, sizeof(*s->value));
	if (!s->part || !s->col || !s->valued || !s->value)
		DTX_FAIL_MEM(err);
	memset(s->col, -1, (cells + 1) * sizeof(*s->col));
	for (uint32_t i = 0; i < s->nrests; i++)
		for (size_t k = 0, at = 0; k < names; k++)
			if ((int32_t)k != l->value_at)
				s->part[(size_t)i * s->nnames + at++] = l->piece[first[i]].part[k];
	for (uint32_t p = 0; p < n; p++) {
		int32_t *cell = &s->col[(size_t)r[p] * s->nvalues + v[p]];

		if (*cell >= 0)
			DTX_TRY(dtx_bind_fail(
				l->b, DTX_E_NAME_COLLISION, "/names_to", err,
				"columns '%s' and '%s' have the same parts in their names",
				l->b->in[0]->field[*cell].name,
				l->b->in[0]->field[l->piece[p].col].name));
		*cell = l->piece[p].col;
	}
out:
	return rc;
}

static enum dtx_code bind_names(struct longer_bind *l, struct dtx_err *err)
{
	const struct dtx_longer_args *a = l->a;
	const char *const *to = a->names_to.item;
	const struct dtx_longer_type *nt = a->names_types.item;
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0, at = 0; i < a->names_to.n; i++) {
		struct dtx_typeref type = { .type = DTX_T_TEXT };

		if ((int32_t)i == l->value_at)
			continue;
		for (size_t k = 0; k < a->names_types.n; k++) {
			if (strcmp(nt[k].name, to[i]) != 0)
				continue;
			if (!dtx_type_parse(dtx_str_of(nt[k].type), &type))
				type.type = DTX_T_TEXT;
		}
		l->s->name_type[at++] = type;
		DTX_TRY(dtx_bind_make(l->b, to[i], type, NULL, "name of", err));
	}
out:
	return rc;
}

/* Binds value column v, from all pieces that belong to it. */
static enum dtx_code bind_value(struct longer_bind *l, uint32_t v, struct dtx_err *err)
{
	struct dtx_longer_state *s = l->s;
	const struct dtx_schema *in = l->b->in[0];
	enum dtx_code rc = DTX_OK;
	uint32_t out = l->b->ncols;
	bool any = false, promoted = false;

	for (uint32_t r = 0; r < s->nrests; r++) {
		int32_t col = s->col[(size_t)r * s->nvalues + v];

		if (col < 0)
			continue;
		if (any)
			promoted = dtx_field_merge(&s->value[v], &in->field[col]) || promoted;
		else
			s->value[v] = in->field[col];
		any = true;
		DTX_TRY(dtx_bind_use(l->b, (int32_t)out, 0, col, DTX_DEMAND_SAME, err));
		if (s->drop_nulls)
			DTX_TRY(dtx_bind_use(l->b, DTX_USE_ROWS, 0, col, DTX_DEMAND_BYTES, err));
	}
	for (uint32_t r = 0; r < s->nrests; r++) {
		int32_t col = s->col[(size_t)r * s->nvalues + v];

		if (col >= 0 && s->value[v].type.type != DTX_T_TEXT)
			s->valued[(size_t)r * s->nvalues + v] =
				!dtx_field_same_rules(&s->value[v], &in->field[col]);
	}
	if (promoted && l->b->typed)
		DTX_TRY(dtx_bind_fail(l->b, DTX_W_TYPE_PROMOTED, "/cols", err,
		                      "column '%s' becomes text: the types of its pieces differ",
		                      l->value_name[v]));
	DTX_TRY(dtx_bind_make(l->b, l->value_name[v], s->value[v].type, NULL, "value of", err));
	if (l->b->ncols > out) {
		const char *name = l->b->col[out].field.name;

		l->b->col[out].field = s->value[v];
		l->b->col[out].field.name = name;
		s->value[v].name = name;
	}
out:
	return rc;
}

enum dtx_code dtx_longer_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct dtx_longer_args *a = args;
	const char *const *to = a->names_to.item;
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	enum dtx_code rc = DTX_OK;
	struct dtx_longer_state *s = dtx_bind_state(b, sizeof(*s));
	struct longer_bind l = { .b = b, .a = a, .s = s, .value_at = -1 };

	if (!s)
		DTX_FAIL_MEM(err);
	s->drop_nulls = a->drop_nulls;
	for (size_t i = 0; i < a->names_to.n; i++)
		if (strcmp(to[i], ".value") == 0)
			l.value_at = (int32_t)i;
	s->nnames = (uint32_t)a->names_to.n - (l.value_at >= 0);
	s->name_type = dtx_arena_zalloc(b->arena, a->names_to.n + 1, sizeof(*s->name_type));
	if (!s->name_type)
		DTX_FAIL_MEM(err);
	DTX_TRY(compile_pattern(&l, err));
	DTX_TRY(pick_pieces(&l, err));
	for (uint32_t p = 0; p < l.npieces; p++)
		DTX_TRY(split_name(&l, &l.piece[p], err));
	DTX_TRY(place_pieces(&l, err));
	DTX_TRY(bind_names(&l, err));
	for (uint32_t v = 0; v < s->nvalues; v++)
		DTX_TRY(bind_value(&l, v, err));
	b->renames = l.value_at >= 0;
	if (!b->typed && s->nvalues == 0 &&
	    l.value_at < 0) /* an open input gets its columns later */
		DTX_TRY(dtx_bind_make(b, a->values_to, any, NULL, "value of", err));
	if (b->typed && s->nvalues == 0)
		DTX_TRY(dtx_bind_fail(b, DTX_E_MISSING_COLUMN, a->cols ? "/cols" : "/keep", err,
		                      "no column is left to become rows"));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->map, err));
	dtx_bind_unsure(b);
	dtx_bind_kind(b, a->order == DTX_LONGER_COLS ? DTX_KIND_WHOLE : DTX_KIND_MAP);
out:
	return rc;
}
