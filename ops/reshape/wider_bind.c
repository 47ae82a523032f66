/* Binding of pivot_wider, and the schema that its rows lead to.
 *
 * The new columns are named by values, so without a list of names they are not known until all rows
 * were read: the output is then open, and steps that name such a column are checked later.
 *
 * With an aggregate, rows are grouped by ids and names while they are read, by the sink of
 * group_by, so only one row per cell of the result is kept.  s->met describes the table of these
 * groups in the way in which s describes the input. */
#include <stdio.h>

#include "core/data/cast/cast.h"
#include "core/expr/fn/fn.h"
#include "ops/kit/newnames.h"
#include "ops/reshape/wider.h"

const char *dtx_wider_name(struct dtx_arena *arena, const struct dtx_wider_args *a,
                           const char *value, uint32_t nvalues, const char *label)
{
	if (nvalues == 1)
		return dtx_arena_printf(arena, "%s%s", a->names_prefix, label);
	return dtx_arena_printf(arena, "%s%s%s%s", value, a->names_sep, a->names_prefix, label);
}

/* --- values --- */

static enum dtx_code bind_agg(struct dtx_bind *b, const struct dtx_wider_args *a,
                              struct dtx_wider_value *v, const char *column, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expr *call = dtx_expr_call1(b->arena, a->agg, column);
	struct dtx_bound *bound = NULL;

	if (!call)
		DTX_FAIL_MEM(err);
	if (!dtx_fn_may_be_agg(dtx_str_of(a->agg), 1)) {
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/agg", err,
		                      "'%s' is not an aggregate of one argument", a->agg));
		goto out;
	}
	DTX_TRY(dtx_bind_agg(b, 0, call, "/agg", NULL, 0, DTX_USE_OPEN, &v->calls, &bound, err));
	if (!bound)
		goto out;
	DTX_ASSERT(v->calls.n == 1 && dtx_bound_column(bound) == 0, err);
	v->field = (struct dtx_field){ .name = column, .type = dtx_agg_type(v->calls.call[0]) };
out:
	return rc;
}

static enum dtx_code bind_value(struct dtx_bind *b, const struct dtx_wider_args *a, int32_t col,
                                struct dtx_wider_value *v, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	v->col = col;
	v->field = b->in[0]->field[col];
	if (a->agg)
		DTX_TRY(bind_agg(b, a, v, v->field.name, err));
	else
		DTX_TRY(dtx_bind_use(b, DTX_USE_OPEN, 0, col,
		                     a->names.n ? DTX_DEMAND_BYTES : DTX_DEMAND_VALUE, err));
	if (a->fill && !dtx_json_fits(a->fill, v->field.type.type))
		DTX_TRY(dtx_bind_misfit(b, "fill", &v->field, "/fill", err));
out:
	return rc;
}

/* --- ids: the listed columns, or all others --- */

static enum dtx_code bind_ids(struct dtx_bind *b, const struct dtx_wider_args *a,
                              struct dtx_wider_state *s, const int32_t *values, uint32_t nvalues,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int32_t *col, *place;
	uint32_t n = 0;

	if (a->id) {
		DTX_TRY(dtx_bind_cols(b, 0, a->id, "/id", &col, &n, err));
	} else {
		col = dtx_arena_alloc(b->arena, (size_t)b->in[0]->nfields + 1, sizeof(*col));
		place = dtx_cols_places(b->arena, values, nvalues, b->in[0]->nfields);
		if (!col || !place)
			DTX_FAIL_MEM(err);
		for (uint32_t i = 0; i < b->in[0]->nfields; i++)
			if (dtx_cols_find(s->names.col, s->names.n, (int32_t)i) < 0 && place[i] < 0)
				col[n++] = (int32_t)i;
	}
	DTX_TRY(dtx_groupkeys_columns(b, 0, col, n, &s->id, err));
	for (uint32_t i = 0; i < s->id.n; i++)
		DTX_TRY(dtx_bind_pass(b, 0, s->id.col[i], NULL, err));
	DTX_TRY(dtx_colmap_bind(b, 0, &s->id_map, err));
out:
	return rc;
}

/* --- columns that are known before the run --- */

static enum dtx_code bind_names(struct dtx_bind *b, const struct dtx_wider_args *a,
                                struct dtx_wider_state *s, struct dtx_err *err)
{
	const char *const *label = a->names.item;
	enum dtx_code rc = DTX_OK;

	for (uint32_t v = 0; v < s->nvalues; v++) {
		const char *value = b->in[0]->field[s->value[v].col].name;
		const struct dtx_expr *formula = a->agg ? dtx_expr_call1(b->arena, a->agg, value)
		                                        : dtx_expr_column(b->arena, value);

		if (!formula)
			DTX_FAIL_MEM(err);
		for (size_t i = 0; i < a->names.n; i++) {
			const char *name = dtx_wider_name(b->arena, a, value, s->nvalues, label[i]);
			uint32_t out = b->ncols;

			if (!name)
				DTX_FAIL_MEM(err);
			DTX_TRY(dtx_bind_use(b, (int32_t)out, 0, s->value[v].col, DTX_DEMAND_SAME,
			                     err));
			DTX_TRY(dtx_bind_make(b, name, s->value[v].field.type, formula,
			                      a->agg ? a->agg : "value of", err));
			if (b->ncols == out)
				continue;
			name = b->col[out].field.name;
			b->col[out].field = s->value[v].field;
			b->col[out].field.name = name;
		}
	}
out:
	return rc;
}

/* --- with agg: rows that belong to one cell are grouped while they are read --- */

/* Ids and names are shown as they are written in their first rows. */
static enum dtx_code bind_met_keys(struct dtx_bind *b, struct dtx_gb_state *gb,
                                   const struct dtx_groupkeys *from, struct dtx_groupkeys *to,
                                   struct dtx_field *field, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*to = (struct dtx_groupkeys){ from->n, NULL, from->type };
	to->col = dtx_arena_alloc(b->arena, (size_t)from->n + 1, sizeof(*to->col));
	if (!to->col)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < from->n; i++) {
		const struct dtx_field *f = &b->in[0]->field[from->col[i]];

		to->col[i] = (int32_t)gb->nkeys;
		field[gb->nkeys] = *f;
		gb->key_type[gb->nkeys] = f->type;
		gb->key[gb->nkeys++] = (struct dtx_gb_key){ .col = from->col[i],
			                                    .field = *f,
			                                    .written = f->source };
	}
out:
	return rc;
}

static enum dtx_code bind_met_values(struct dtx_bind *b, struct dtx_gb_state *gb,
                                     const struct dtx_wider_state *s, struct dtx_field *field,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	s->met->value = dtx_arena_zalloc(b->arena, (size_t)s->nvalues + 1, sizeof(*s->met->value));
	if (!s->met->value)
		DTX_FAIL_MEM(err);
	for (uint32_t v = 0; v < s->nvalues; v++) {
		gb->out[v].calls = s->value[v].calls;
		DTX_TRY(dtx_gb_lay_out(b, gb, &gb->out[v], field, err));
		gb->nouts++;
		field[gb->nkeys + v] = s->value[v].field;
		s->met->value[v] = (struct dtx_wider_value){ .col = (int32_t)(gb->nkeys + v),
			                                     .field = s->value[v].field };
	}
out:
	return rc;
}

static enum dtx_code bind_met(struct dtx_bind *b, struct dtx_wider_state *s, struct dtx_err *err)
{
	size_t n = (size_t)s->id.n + s->names.n;
	struct dtx_gb_state *gb = dtx_arena_zalloc(b->arena, 1, sizeof(*gb));
	struct dtx_digest *digest = dtx_arena_zalloc(b->arena, 1, sizeof(*digest));
	struct dtx_field *field = dtx_arena_zalloc(b->arena, n + s->nvalues + 1, sizeof(*field));
	struct dtx_schema *schema = dtx_arena_zalloc(b->arena, 1, sizeof(*schema));
	enum dtx_code rc = DTX_OK;

	s->met = dtx_arena_zalloc(b->arena, 1, sizeof(*s->met));
	if (!gb || !digest || !field || !schema || !s->met)
		DTX_FAIL_MEM(err);
	*s->met = (struct dtx_wider_state){ .op = s->op, .nvalues = s->nvalues, .fixed = s->fixed };
	gb->key = dtx_arena_zalloc(b->arena, n + 1, sizeof(*gb->key));
	gb->key_type = dtx_arena_zalloc(b->arena, n + 2, sizeof(*gb->key_type));
	gb->out = dtx_arena_zalloc(b->arena, (size_t)s->nvalues + 1, sizeof(*gb->out));
	if (!gb->key || !gb->key_type || !gb->out)
		DTX_FAIL_MEM(err);
	DTX_TRY(bind_met_keys(b, gb, &s->id, &s->met->id, field, err));
	s->met->id_map = (struct dtx_colmap){ s->id.n, s->met->id.col };
	DTX_TRY(bind_met_keys(b, gb, &s->names, &s->met->names, field, err));
	DTX_TRY(bind_met_values(b, gb, s, field, err));
	*schema = (struct dtx_schema){ .nfields = gb->nkeys + gb->nouts, .field = field };
	*digest = (struct dtx_digest){ &dtx_gb_sink, gb, schema };
	b->digest = digest;
out:
	return rc;
}

/* Whether everything that rows are grouped by and for could be bound. */
static bool is_bound(const struct dtx_bind *b, const struct dtx_wider_state *s)
{
	for (uint32_t v = 0; v < s->nvalues; v++)
		if (s->value[v].calls.n != 1)
			return false;
	return b->typed && s->names.n > 0;
}

enum dtx_code dtx_wider_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct dtx_wider_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct dtx_wider_state *s = dtx_bind_state(b, sizeof(*s));
	int32_t *values;
	uint32_t n;

	if (!s)
		DTX_FAIL_MEM(err);
	s->op = b->op;
	s->fixed = a->names.n > 0;
	DTX_TRY(dtx_groupkeys_bind(b, 0, a->names_from, "/names_from", &s->names, err));
	DTX_TRY(dtx_bind_cols(b, 0, a->values_from, "/values_from", &values, &n, err));
	s->value = dtx_arena_zalloc(b->arena, (size_t)n + 1, sizeof(*s->value));
	if (!s->value)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++)
		if (values[i] >= 0)
			DTX_TRY(bind_value(b, a, values[i], &s->value[s->nvalues++], err));
	DTX_TRY(bind_ids(b, a, s, values, n, err));
	if (s->fixed) {
		DTX_TRY(bind_names(b, a, s, err));
		if (a->id)
			dtx_bind_close(b);
	} else {
		dtx_bind_open(b);
	}
	if (a->agg && is_bound(b, s))
		DTX_TRY(bind_met(b, s, err));
	dtx_bind_unsure(b);
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

/* --- the schema that the rows lead to --- */

#define APART "\"names_prefix\": \"v_\" before the new names makes them differ"

enum dtx_code dtx_wider_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                               struct dtx_arena *arena, const struct dtx_schema **out,
                               struct dtx_err *err)
{
	const struct dtx_opctx over = dtx_wider_over(ox);
	const struct dtx_wider_args *a = ox->args;
	const struct dtx_wider_state *s = over.bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_wider_plan p = DTX_WIDER_PLAN_INIT;
	struct dtx_strmap names = DTX_STRMAP_INIT;
	struct dtx_schema *schema = dtx_arena_zalloc(arena, 1, sizeof(*schema));
	struct dtx_field *field;
	uint32_t n = 0;

	DTX_TRY(dtx_wider_columns(&over, t, &p, err));
	field = dtx_arena_zalloc(arena, (size_t)s->id.n + (size_t)p.ncols * s->nvalues + 1,
	                         sizeof(*field));
	if (!schema || !field)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < s->id.n; i++) {
		field[n] = t->schema->field[s->id.col[i]];
		DTX_TRY(dtx_names_note(&names, "pivot_wider", field[n].name, n, APART, err));
		n++;
	}
	for (uint32_t v = 0; v < s->nvalues; v++) {
		for (uint32_t c = 0; c < p.ncols; c++) {
			const char *name =
				dtx_wider_name(arena, a, t->schema->field[s->value[v].col].name,
			                       s->nvalues, p.label[c]);

			if (!name)
				DTX_FAIL_MEM(err);
			DTX_TRY(dtx_names_note(&names, "pivot_wider", name, n, APART, err));
			field[n] = a->agg ? s->value[v].field : t->schema->field[s->value[v].col];
			field[n++].name = name;
		}
	}
	schema->nfields = n;
	schema->field = field;
	*out = schema;
out:
	dtx_strmap_clear(&names);
	dtx_wider_plan_clear(&p);
	return rc;
}
