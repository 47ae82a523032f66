/* Goes back through a step whose op says where each cell comes from (DTX_CELLS_FROM in
 * core/plan/op.h): one on a whole table, or one that passes rows on but takes the asked value from
 * other rows.
 *
 * The traced plan runs such a step once more for each column that is asked for. This gives, for
 * each row of the result, the row and column of the input that the cell comes from. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/plan/lineage/trace_parts.h"

enum { CELLS_WALKS = TRACE_SOURCES / 2 }; /* at most so many for one step */
enum { CELLS_OTHER = 7 };                 /* walks for a column in addition to those for cells */

struct cells {
	struct trace *t;
	uint32_t bit, walk;
	const struct dtx_plan_step *st;
	int32_t id, in;        /* tables: the result of the step, its input */
	bool kept;             /* a cell comes from the column with the same name */
	bool passes;           /* rows are those of the input */
	bool changes;          /* so are columns, with other values */
	bool apart;            /* later steps judged the result's rows, not those of the cells */
	const char *group;     /* the asked rows of the result */
	char made[TRACE_NAME]; /* the origins of one column in these rows */
	char numbered[TRACE_NAME]; /* the input with the place of each row, as dtx_place */
};

/* Makes `rows`: the input rows at the places in `from`, or next to them. */
static void cells_by(const struct cells *c, const char *from, const char *place, const char *rows)
{
	dtx_trace_add(c->t,
	              json_pack("{ss ss ss s[{ss ss}]}", "op", "join", "how", "semi", "with", from,
	                        "on", "left", "dtx_place", "right_expr", place),
	              c->numbered, rows);
}

static void cells_at(const struct cells *c, const char *from, const char *rows)
{
	cells_by(c, from, DTX_CELLS_FROM, rows);
}

/* Makes `out`: the origins of this kind; of this column of the input if it is not NULL. */
static void cells_kind(const struct cells *c, const char *kind, const char *of, const char *out)
{
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_buf_printf(&where, DTX_CELLS_KIND " == '%s'", kind);
	if (of) {
		dtx_buf_add(&where, " and " DTX_CELLS_OF " == ");
		dtx_expr_print_text(dtx_str_of(of), &where);
	}
	c->t->failed |= !dtx_buf_ok(&where);
	dtx_trace_add(c->t, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)),
	              c->made, out);
	dtx_buf_clear(&where);
}

/* Adds a walk with `rows` of the input. `column`: the one whose cells are in the value, "*" for any
 * column; NULL: the rows only decided that the row exists. */
static void cells_walked(const struct cells *c, const char *rows, const char *column)
{
	json_t *cols = column ? json_pack("{sb}", column, true) : NULL;

	c->t->failed |= column && !cols;
	dtx_trace_walked(c->t, rows, c->t->table[c->in].ids, c->in, cols,
	                 &(struct trace_via){ .from = (int32_t)c->walk,
	                                      .bit = c->bit,
	                                      .apart = c->apart && column });
	json_decref(cols);
}

/* Names two tables that no other part of the plan has. */
static void cells_names(const struct cells *c, char kind[TRACE_NAME], char rows[TRACE_NAME])
{
	dtx_trace_name(kind, "kind", c->t->nmeets);
	dtx_trace_name(rows, "from", c->t->nmeets++);
}

/* Cells of one column of the input. */
static void cells_of(const struct cells *c, const char *column)
{
	char kind[TRACE_NAME], rows[TRACE_NAME];

	cells_names(c, kind, rows);
	cells_kind(c, "cell", c->kept ? NULL : column, kind);
	cells_at(c, kind, rows);
	cells_walked(c, rows, column);
}

/* Cells that decided together with the one above. */
static void cells_pair(const struct cells *c, const char *column)
{
	char kind[TRACE_NAME], rows[TRACE_NAME], above[TRACE_NAME];

	cells_names(c, kind, rows);
	cells_kind(c, "pair", NULL, kind);
	cells_at(c, kind, rows);
	cells_walked(c, rows, column);
	dtx_trace_name(above, "above", c->t->nmeets++);
	cells_by(c, kind, DTX_CELLS_FROM " - 1", above);
	cells_walked(c, above, column);
}

/* All rows of the input, if any of the asked cells is of this kind. */
static void cells_all(const struct cells *c, const char *what, const char *column)
{
	char kind[TRACE_NAME], rows[TRACE_NAME];

	cells_names(c, kind, rows);
	cells_kind(c, what, NULL, kind);
	dtx_trace_meets(c->t, c->numbered, kind, "semi", rows);
	cells_walked(c, rows, column);
}

/* Rows in which the op made a cell. */
static void cells_row(const struct cells *c)
{
	char kind[TRACE_NAME], rows[TRACE_NAME];

	cells_names(c, kind, rows);
	cells_kind(c, "row", NULL, kind);
	cells_at(c, kind, rows);
	cells_walked(c, rows, NULL);
}

/* All rows with the keys of the row that an origin names. */
static void cells_group(const struct cells *c, const char *what, const json_t *keys,
                        const char *column)
{
	char kind[TRACE_NAME], one[TRACE_NAME], rows[TRACE_NAME];

	dtx_trace_name(one, "one", c->t->nmeets);
	cells_names(c, kind, rows);
	cells_kind(c, what, NULL, kind);
	cells_at(c, kind, one);
	dtx_trace_add(c->t,
	              json_pack("{ss ss ss sO sb}", "op", "join", "how", "semi", "with", one,
	                        "using", keys, "nulls_equal", true),
	              c->numbered, rows);
	cells_walked(c, rows, column);
}

/* Makes the origins of the asked rows in one column of the result. */
static void cells_origins(struct cells *c, const char *column)
{
	struct trace *t = c->t;
	char bare[TRACE_NAME], made[TRACE_NAME], few[TRACE_NAME], all[TRACE_NAME],
		number[TRACE_NAME];
	json_t *step = dtx_trace_step(t, c->st);

	snprintf(bare, sizeof(bare), "dtx_d%d_0", c->id); /* see trace.c */
	dtx_trace_name(made, "made", t->nmeets);
	dtx_trace_name(few, "few", t->nmeets);
	dtx_trace_name(all, "all", t->nmeets);
	dtx_trace_name(c->made, "cells", t->nmeets++);
	dtx_trace_name(number, "r", c->bit);
	t->failed |= !dtx_json_set(step, "dtx_cells", json_string(column));
	dtx_trace_add(t, step, bare, made);
	dtx_trace_add(t,
	              json_pack("{ss s[sss]}", "op", "select", "cols", DTX_CELLS_FROM, DTX_CELLS_OF,
	                        DTX_CELLS_KIND),
	              made, few);
	dtx_trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", number), few, all);
	dtx_trace_semi(t, all, c->group, number, c->made);
}

/* The keys of groups, if they are plain names; NULL otherwise. */
static const json_t *cells_keys(const struct cells *c, const struct dtx_op_facts *f)
{
	const json_t *keys = f->groups ? json_object_get(c->st->canonical, f->groups) : NULL, *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)keys, i, one)
	{
		if (!dtx_trace_plain_name(one))
			return NULL;
	}
	return json_array_size(keys) ? keys : NULL;
}

static uint32_t cells_count(uint64_t bits)
{
	return (uint32_t)__builtin_popcountll(bits);
}

/* Whether so many more walks leave room for their outputs and for those of the other walks. */
static bool cells_fit(const struct cells *c, size_t walks)
{
	const struct trace *t = c->t;
	size_t outputs = t->out->noutputs + walks * cells_count(t->table[c->in].ids);

	for (uint32_t w = 0; w < t->nwalks; w++)
		outputs += cells_count(t->walk[w].ids);
	return t->nwalks + walks <= TRACE_SOURCES && outputs <= DTX_PLAN_OUTPUTS_MADE;
}

/* Whether the cells of a column come from one column of the input, known by its name. */
static bool cells_same(const struct cells *c, const char *column)
{
	return c->kept && (!c->passes || c->changes || !dtx_trace_borrows(c->st, column));
}

/* Whether the columns of the input that cells may come from are known. */
static bool cells_known(const struct cells *c, const json_t *cols)
{
	const struct dtx_schema *in = c->t->table[c->in].schema;
	bool same = c->passes;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)cols, name, value) same &= cells_same(c, name);
	return !json_object_get(cols, "*") && (same || (in && !in->open));
}

/* How many walks cells_column makes at most for these columns. */
static size_t cells_walks(const struct cells *c, const json_t *cols)
{
	const struct dtx_schema *in = c->t->table[c->in].schema;
	size_t n = c->passes;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)cols, name, value)
	{
		n += CELLS_OTHER + (cells_same(c, name) ? 1 : in->nfields);
	}
	return n;
}

static void cells_column(struct cells *c, const char *column, const json_t *keys, bool sums)
{
	const struct dtx_schema *in = c->t->table[c->in].schema;
	const char *of = !c->passes && c->kept && dtx_schema_find(in, column) < 0 ? "*" : column;
	bool kept = c->kept;

	c->kept = cells_same(c, column);
	cells_origins(c, column);
	if (c->kept)
		cells_of(c, of);
	for (uint32_t i = 0; !c->kept && i < in->nfields; i++)
		cells_of(c, in->field[i].name);
	if (c->passes && c->kept)
		cells_pair(c, of);
	c->kept = kept;
	cells_row(c);
	cells_all(c, "made", NULL);
	if (sums)
		cells_all(c, "all", of);
	if (!keys)
		return;
	cells_group(c, "group", keys, of);
	cells_group(c, "keys", keys, NULL);
}

/* A column that the step passes on with its rows; NULL: it has none. */
static const char *cells_passed(const struct dtx_plan_step *st, const struct dtx_schema *in)
{
	for (uint32_t i = 0; in && i < in->nfields; i++) {
		if (!dtx_trace_borrows(st, in->field[i].name))
			return in->field[i].name;
	}
	return NULL;
}

/* The rows themselves of a step that passes rows on. Their cells may not be in the value. */
static void cells_own(struct cells *c, bool all)
{
	char kind[TRACE_NAME], rows[TRACE_NAME], number[TRACE_NAME];

	if (!all)
		cells_origins(c, cells_passed(c->st, c->t->table[c->in].schema));
	cells_names(c, kind, rows);
	if (all) { /* then a row has the same number before and after the step */
		dtx_trace_name(number, "r", c->bit);
		dtx_trace_add(c->t,
		              json_pack("{ss ss ss s[{ss ss}]}", "op", "join", "how", "semi",
		                        "with", c->group, "on", "left", "dtx_place", "right",
		                        number),
		              c->numbered, rows);
	} else {
		cells_kind(c, "cell", NULL, kind);
		cells_at(c, kind, rows);
	}
	cells_walked(c, rows, NULL);
}

static bool cells_keep(const struct dtx_op_facts *f)
{
	return f->values == DTX_VALUES_KEPT || f->values == DTX_VALUES_CHANGED;
}

/* Whether what the asked column depends on there is known by name, some of it comes from other
 * rows, and few enough tables are needed to find it. */
static bool cells_asked(const struct trace *t, uint32_t i, const struct dtx_op_facts *f)
{
	const struct dtx_plan_step *st = &t->plan->step[i];
	const json_t *need = t->need[t->plan->ninputs + i];
	const struct dtx_schema *in = t->table[st->table[0]].schema;
	struct cells c = { .t = (struct trace *)(uintptr_t)t,
		           .in = st->table[0],
		           .st = st,
		           .kept = cells_keep(f),
		           .passes = true,
		           .changes = f->values == DTX_VALUES_CHANGED };
	bool asked = false;
	const char *name;
	json_t *value;

	if (!cells_known(&c, need))
		return false;
	json_object_foreach((json_t *)(uintptr_t)need, name, value) asked |=
		dtx_trace_borrows(st, name);
	return asked && cells_walks(&c, need) <= CELLS_WALKS &&
	       (f->rows == DTX_ROWS_SAME || cells_passed(st, in));
}

static bool cells_reads_all(const struct dtx_plan_step *st)
{
	struct dtx_op_facts f = dtx_trace_facts(st);

	return f.as_read && !(f.borrows && json_object_get(st->canonical, "cols"));
}

/* Whether a step looks at all cells of the rows, so that it must not see row numbers. */
static bool cells_reread(const struct trace *t, int32_t id)
{
	for (uint32_t k = 0; k < t->plan->nsteps; k++) {
		const struct dtx_plan_step *st = &t->plan->step[k];

		for (uint32_t n = 0; n < st->ntables; n++) {
			if (st->table[n] == id && cells_reads_all(st) && !t->by_cells[k])
				return true;
		}
	}
	return false;
}

/* Whether a later step judged rows by a value that step i took from another row: then the cell that
 * decided is not one of the judged row. */
static bool cells_decided(const struct trace *t, uint32_t i)
{
	const json_t *judged = t->judged[t->plan->ninputs + i];
	bool borrowed = false;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)judged, name, value) borrowed |=
		!strcmp(name, "*") || dtx_trace_borrows(&t->plan->step[i], name);
	return borrowed;
}

void dtx_trace_choose_cells(struct trace *t)
{
	t->by_cells = t->lists ? NULL : dtx_mem_zalloc(t->plan->nsteps + 1, sizeof(bool));
	t->failed |= !t->lists && !t->by_cells;
	for (uint32_t i = t->plan->nsteps; t->by_cells && i-- > 0;) {
		struct dtx_op_facts f = dtx_trace_facts(&t->plan->step[i]);

		t->by_cells[i] = f.cells && f.borrows && cells_asked(t, i, &f) &&
		                 !cells_decided(t, i) &&
		                 !cells_reread(t, (int32_t)(t->plan->ninputs + i));
	}
}

static bool cells_back(struct trace *t, uint32_t bit, uint32_t w, const char *group)
{
	const struct dtx_plan_step *st = &t->plan->step[t->bit_step[bit]];
	struct dtx_op_facts f = dtx_trace_facts(st);
	struct cells c = { .t = t,
		           .bit = bit,
		           .walk = w,
		           .st = st,
		           .id = (int32_t)(t->plan->ninputs + t->bit_step[bit]),
		           .in = st->table[0],
		           .kept = cells_keep(&f),
		           .passes = f.rows != DTX_ROWS_WHOLE,
		           .changes = f.values == DTX_VALUES_CHANGED,
		           .group = group };
	const json_t *keys = cells_keys(&c, &f);
	json_t *cols = dtx_trace_reached(t, w, c.id), *value;
	char name[TRACE_NAME];
	const char *column;

	if (!f.cells || (!cols && !c.passes) || !cells_known(&c, cols))
		return false;
	if (f.groups && json_object_get(st->canonical, f.groups) && !keys)
		return false;
	if (!cells_fit(&c, cells_walks(&c, cols)))
		return false;
	t->out->cells = true;
	c.apart = c.passes && json_object_size(t->judged[c.id]);
	dtx_trace_name(c.numbered, "places", bit * TRACE_SOURCES + w);
	dtx_trace_add(t, json_pack("{ss ss}", "op", "add_id", "as", "dtx_place"),
	              dtx_trace_name(name, "t", (uint32_t)c.in), c.numbered);
	json_object_foreach(cols, column, value) cells_column(&c, column, keys, f.groups != NULL);
	if (c.passes)
		cells_own(&c, f.rows == DTX_ROWS_SAME);
	return true;
}

/* The keys by which rows of the result are those of the rows of table k, as pairs for a join; a new
 * list. NULL: they are not known, or not all are columns. */
static json_t *keyed_pairs(struct trace *t, const json_t *keys, uint32_t k)
{
	json_t *on = json_array(), *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)keys, i, one)
	{
		const char *made = dtx_json_text(one, "left", NULL);
		const char *own = dtx_json_text(one, k ? "right" : "left", NULL);

		if (made && own)
			dtx_trace_append(t, on, json_pack("{ss ss}", "left", own, "right", made));
	}
	if (json_array_size(on) == json_array_size(keys) && json_array_size(on))
		return on;
	json_decref(on);
	return NULL;
}

/* Goes back to the rows of all tables that have the keys of the asked rows, if the op states that
 * no others affect these. */
static bool keyed_back(struct trace *t, uint32_t bit, uint32_t w, const char *group)
{
	const struct dtx_plan_step *st = &t->plan->step[t->bit_step[bit]];
	int32_t id = (int32_t)(t->plan->ninputs + t->bit_step[bit]);
	struct dtx_op_facts f = dtx_trace_facts(st);
	json_t *any = dtx_trace_reached(t, w, id) ? json_pack("{sb}", "*", true) : NULL;
	bool keyed = f.groups && !f.cells;

	for (uint32_t k = 0; k < st->ntables && keyed; k++) {
		char in[TRACE_NAME], rows[TRACE_NAME];
		json_t *on = keyed_pairs(t, json_object_get(st->canonical, f.groups), k);

		keyed = on != NULL;
		if (!on)
			continue;
		dtx_trace_name(in, "t", (uint32_t)st->table[k]);
		dtx_trace_name(rows, "from", t->nmeets++);
		dtx_trace_add(t,
		              json_pack("{ss ss ss so sb}", "op", "join", "how", "semi", "with",
		                        group, "on", on, "nulls_equal", true),
		              in, rows);
		dtx_trace_walked(t, rows, t->table[st->table[k]].ids, st->table[k], any,
		                 &(struct trace_via){ .from = (int32_t)w, .bit = bit });
	}
	t->out->cells |= keyed;
	json_decref(any);
	return keyed;
}

bool dtx_trace_back_cells(struct trace *t, uint32_t bit, uint32_t w, const char *group)
{
	/* stored walks go from step to step by row numbers alone */
	return !t->lists && (cells_back(t, bit, w, group) || keyed_back(t, bit, w, group));
}
