/* Reads cells of the traced row, and puts values into formulas. */
#include "cli/why/why_result.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/why/cell_ref.h"
#include "cli/why/why.h"
#include "cli/why/why_rows.h"
#include "core/base/text/json.h"
#include "core/data/cast/cast.h"
#include "core/expr/parse/formula_parts.h"
#include "core/plan/lineage/trace.h"
#include "core/store/query/query.h"

/* Finds the line of a text result on which a row begins.
 *
 * If no cell can contain a line break, the line follows from the row's number. Otherwise the lines
 * are counted in the file, if it is still the one that the run wrote. */

enum { LINE_BLOCK = 1 << 16 };

static bool line_broken(const char *text)
{
	return text && strpbrk(text, "\r\n");
}

/* Whether a cell of the result or a column name may contain a line break. */
static bool line_may_break(const struct dtx_why *w)
{
	static const char *const whole = "int,float,decimal,bool,date,datetime";
	const struct dtx_plan *plan = w->x.r.plan;
	json_t *field;
	size_t i;

	json_array_foreach(json_object_get(dtx_why_replay_output(&w->x), "schema"), i, field)
	{
		if (!dtx_str_in_list(whole, dtx_json_text(field, "type", "")) ||
		    line_broken(dtx_json_text(field, "name", "")))
			return true;
	}
	return !plan || line_broken(plan->output[w->x.output].opts.null_text);
}

/* Opens the file with the bytes of the result; NULL if it is not available, or packed: then the
 * place is given by the number of the row. The caller closes it. */
static FILE *line_file(const struct dtx_why *w)
{
	const json_t *found = json_object_get(w->x.record, "found");
	const json_t *output = dtx_why_replay_output(&w->x);
	const char *asked = dtx_json_text(found, "asked", NULL);
	const char *path = dtx_json_text(output, "path", "-");

	if (dtx_json_bool(json_object_get(output, "writer"), "gzip", false) ||
	    dtx_json_bool(json_object_get(output, "writer"), "zstd", false))
		return NULL;
	/* If a file was asked for, the run was found by its bytes. */
	if (asked && access(asked, F_OK) == 0)
		return dtx_json_bool(found, "file_changed", false) ? NULL : fopen(asked, "rbe");
	return strcmp(dtx_query_file(path, output), "unchanged") ? NULL : fopen(path, "rbe");
}

struct line_walk {
	int64_t records; /* number of records still to skip */
	int64_t line;
	bool inside, cr; /* inside: in a quoted cell; cr: the last byte was CR */
};

/* CR LF, or CR alone, ends a line as LF does. But the writer ends records with LF, so a CR alone is
 * part of a cell and no record begins after it. */
static void line_pass(struct line_walk *k, const char *p, size_t n)
{
	for (size_t i = 0; i < n && k->records > 0; i++) {
		if (p[i] == '"')
			k->inside = !k->inside;
		else if (p[i] == '\n')
			k->records -= !k->inside;
		k->line += p[i] == '\r' || (p[i] == '\n' && !k->cr);
		k->cr = p[i] == '\r';
	}
}

int64_t dtx_why_line(const struct dtx_why *w)
{
	const json_t *writer = json_object_get(dtx_why_replay_output(&w->x), "writer");
	const struct dtx_writer_class *cls =
		dtx_writer_find(dtx_json_text(writer, "format", ""), NULL);
	struct line_walk k = { .line = 1 };
	char block[LINE_BLOCK];
	FILE *f;
	size_t n;

	if (!cls || !cls->delimiter || w->row < 1)
		return 0;
	k.records = w->row - 1 + dtx_json_bool(writer, "header", true);
	if (!line_may_break(w))
		return k.records + 1;
	f = line_file(w);
	if (!f)
		return 0;
	while (k.records > 0 && (n = fread(block, 1, sizeof(block), f)) > 0)
		line_pass(&k, block, n);
	(void)fclose(f);
	return k.records ? 0 : k.line;
}

static const char *traced_text(struct dtx_why_result *t, const struct dtx_table *table, int32_t c,
                               bool *null)
{
	dtx_buf_reset(&t->text);
	for (size_t i = 0; c >= 0 && i < table->nbatches; i++) {
		const struct dtx_batch *b = table->batch[i];
		uint32_t row = b->sel && b->nsel ? b->sel[0] : 0;

		if (!b->nsel || !b->col[c])
			continue;
		*null = dtx_column_is_null(b->col[c], row);
		dtx_cast_print(b->col[c], row, &t->text);
		break;
	}
	return c < 0 ? NULL : dtx_buf_text(&t->text);
}

const char *dtx_why_result_value(struct dtx_why_result *t, const char *column)
{
	const struct dtx_table *table = t->result->output[1].table;
	bool null = false;

	return traced_text(t, table, dtx_schema_find(table->schema, column), &null);
}

const char *dtx_why_result_cell(struct dtx_why_result *t, const char *column, bool *null)
{
	const struct dtx_table *table = t->result->output[1].table;

	return traced_text(t, table, dtx_schema_find(table->schema, column), null);
}

/* --- formulas with values --- */

struct traced_put {
	struct dtx_why_result *t;
	const struct dtx_table *table;
	struct dtx_arena *arena;
	uint32_t n; /* number of aggregates so far */
	bool failed;
};

static bool traced_is_number(enum dtx_type type)
{
	return type == DTX_T_INT64 || type == DTX_T_FLOAT64 || type == DTX_T_DECIMAL;
}

static const struct dtx_expr *traced_sub(void *arg, const char *name)
{
	struct traced_put *p = arg;
	int32_t c = dtx_schema_find(p->table->schema, name);
	const struct dtx_expr *e = NULL;
	bool null = true;
	const char *text = traced_text(p->t, p->table, c, &null);

	if (c >= 0)
		e = dtx_expr_literal(p->arena, null ? NULL : text,
		                     traced_is_number(p->table->schema->field[c].type.type));
	p->failed |= !e;
	return e;
}

void dtx_why_result_formula(struct dtx_why_result *t, uint32_t output, const char *formula,
                            struct dtx_buf *out)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct traced_put put = { t, t->result->output[output].table, &arena, 0, false };
	struct dtx_expr_reach reach = DTX_EXPR_REACH_INIT;
	struct dtx_expr *e = NULL, *with = NULL;

	if (!put.table || !put.table->nrows ||
	    dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) != DTX_OK)
		goto out;
	dtx_expr_reach(e, false, NULL, &reach); /* a window used more than this row */
	if (!reach.calls)
		with = dtx_expr_replace(&arena, e, traced_sub, &put);
	if (with && !put.failed)
		dtx_expr_print(with, out);
out:
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

static const struct dtx_expr *traced_aggregate(void *arg, const struct dtx_expr *e)
{
	struct traced_put *p = arg;
	char name[24];

	if (!dtx_expr_is_aggregate(e))
		return NULL;
	snprintf(name, sizeof(name), "dtx_a%u", p->n++);
	return traced_sub(arg, name);
}

void dtx_why_result_aggregates(struct dtx_why_result *t, uint32_t output, const char *formula,
                               struct dtx_buf *out)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct traced_put put = { t, t->result->output[output].table, &arena, 0, false };
	struct dtx_expr *e = NULL, *with = NULL;

	/* Several rows mean that it is not known which group was meant. */
	if (put.table && put.table->nrows == 1 &&
	    dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK)
		with = dtx_expr_swap(&arena, e, traced_aggregate, &put);
	if (with && !put.failed)
		dtx_expr_print(with, out);
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

/* Appends all values of the only column, as literals. */
static void traced_list(struct dtx_why_result *t, const struct dtx_table *table,
                        struct dtx_arena *a, struct dtx_buf *out)
{
	bool number = traced_is_number(table->schema->field[0].type.type);
	const struct dtx_expr *e;
	const char *sep = "";

	for (size_t i = 0; i < table->nbatches; i++) {
		const struct dtx_batch *b = table->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			dtx_buf_reset(&t->text);
			dtx_cast_print(b->col[0], row, &t->text);
			e = dtx_expr_literal(
				a,
				dtx_column_is_null(b->col[0], row) ? NULL : dtx_buf_text(&t->text),
				number);
			dtx_buf_add(out, sep);
			if (e)
				dtx_expr_print(e, out);
			sep = ", ";
		}
	}
}

void dtx_why_result_taken(struct dtx_why_result *t, uint32_t output, const char *formula,
                          struct dtx_buf *out)
{
	const struct dtx_table *table = t->result->output[output].table;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	const struct dtx_expr *of, *where;
	struct dtx_expr *e = NULL;
	const char *name;

	if (table && table->nrows && table->nrows <= DTX_TRACE_TAKEN &&
	    dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK &&
	    dtx_expr_one_aggregate(e, &name, &of, &where)) {
		dtx_buf_printf(out, "%s(", name);
		traced_list(t, table, &arena, out);
		dtx_buf_addc(out, ')');
	}
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
}

/* Whether the values that a window used are cells of the source: none was computed, none occurs
 * twice. */
static bool traced_bare(const struct dtx_plan *plan, const char *column)
{
	for (uint32_t i = 0; i < plan->nsteps; i++) {
		const struct dtx_plan_step *st = &plan->step[i];
		struct dtx_op_facts f = dtx_trace_facts(st);
		bool own = f.values == DTX_VALUES_RENAMED || f.rows == DTX_ROWS_WINDOW ||
		           dtx_trace_keeps(st, column);

		if (!own || f.rows == DTX_ROWS_JOINED || f.rows == DTX_ROWS_WHOLE ||
		    !*dtx_json_text(st->canonical, "suffix", "x") ||
		    dtx_json_find(json_object_get(st->canonical, "set"), "as", column))
			return false;
	}
	return true;
}

void dtx_why_result_window(const struct dtx_plan *plan, const char *formula, const json_t *sources,
                           struct dtx_buf *out)
{
	const json_t *cells = json_object_get(json_array_get(sources, 0), "cells"), *one;
	size_t open = strcspn(formula, "("), len = strlen(formula), i;
	const char *column = dtx_json_text(json_array_get(sources, 0), "column", "");

	if (strspn(formula, "abcdefghijklmnopqrstuvwxyz_") != open ||
	    json_array_size(sources) != 1 || !json_array_size(cells) ||
	    json_array_size(cells) > DTX_TRACE_TAKEN || len != open + strlen(column) + 2 ||
	    strncmp(formula + open + 1, column, strlen(column)) != 0 || !traced_bare(plan, column))
		return;
	dtx_buf_printf(out, "%.*s(", (int)open, formula);
	json_array_foreach((json_t *)(uintptr_t)cells, i, one)
	{
		dtx_buf_add(out, i ? ", " : "");
		dtx_buf_add(out, dtx_cell_ref_shown(json_object_get(one, "value")));
	}
	dtx_buf_addc(out, ')');
}

/* --- pivot_longer --- */

/* Whether no step after i changes the values of the column, so that the result still shows them. */
static bool traced_kept(const struct dtx_plan *plan, uint32_t i, const char *column)
{
	for (i++; i < plan->nsteps; i++) {
		const struct dtx_plan_step *st = &plan->step[i];
		const json_t *key;

		if (dtx_trace_keeps(st, column))
			continue;
		key = dtx_json_find(json_object_get(st->canonical, "by"), "as", column);
		if (dtx_trace_facts(st).rows != DTX_ROWS_GROUPED || !key ||
		    json_object_get(key, "expr"))
			return false;
	}
	return true;
}

/* Whether a text is a number as it is printed: "07" is read as 7, but 7 is not printed as "07". */
static bool traced_plain(const char *text)
{
	size_t len = strlen(text);

	return len && len < 18 && strspn(text, "0123456789") == len && (*text != '0' || len == 1);
}

enum { TRACED_PART = 256 }; /* longer names are not compared */
enum traced_match { TRACED_SAME, TRACED_DIFFERS, TRACED_UNKNOWN };

/* Whether the asked row has this part of a column's name in the column `to`. */
static enum traced_match traced_part(struct dtx_why_result *t, uint32_t i, const char *to,
                                     const char *part, size_t len)
{
	const json_t *types = json_object_get(t->plan->step[i].canonical, "names_types");
	const char *type = dtx_json_text(dtx_json_find(types, "name", to), "type", "text");
	char text[TRACED_PART];
	const char *value;

	dtx_str_copy(text, sizeof(text), (struct dtx_str){ part, len });
	if (len >= sizeof(text) || !strcmp(to, ".value") || !traced_kept(t->plan, i, to))
		return TRACED_UNKNOWN;
	if (strcmp(type, "text") != 0 && (strcmp(type, "int") != 0 || !traced_plain(text)))
		return TRACED_UNKNOWN;
	value = dtx_why_result_value(t, to);
	if (!value)
		return TRACED_UNKNOWN;
	return strcmp(text, value) ? TRACED_DIFFERS : TRACED_SAME;
}

/* Whether the asked row came from `column`, as its names columns say. A name has as many parts as
 * there are names columns. */
static enum traced_match traced_name(struct dtx_why_result *t, uint32_t i, const char *column)
{
	const json_t *c = t->plan->step[i].canonical, *to = json_object_get(c, "names_to"), *one;
	const char *prefix = dtx_json_text(c, "names_prefix", "");
	const char *sep = dtx_json_text(c, "names_sep", ""), *at = column + strlen(prefix);
	enum traced_match all = TRACED_SAME;
	size_t k;

	if (json_object_get(c, "names_pattern") || strncmp(column, prefix, strlen(prefix)) != 0)
		return TRACED_UNKNOWN;
	json_array_foreach((json_t *)(uintptr_t)to, k, one)
	{
		const char *end = *sep ? strstr(at, sep) : NULL;
		size_t len = end ? (size_t)(end - at) : strlen(at);
		enum traced_match is = traced_part(t, i, json_string_value(one), at, len);

		if (is == TRACED_UNKNOWN || all == TRACED_SAME)
			all = is;
		if (all == TRACED_UNKNOWN)
			break;
		at += end ? len + strlen(sep) : len;
	}
	return all;
}

static bool traced_lists(const json_t *list, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
	{
		if (json_is_string(one) && !strcmp(json_string_value(one), name))
			return true;
	}
	return false;
}

/* Whether the pivot passed the asked column on unchanged. */
static bool traced_beside(const struct dtx_why_result *t, uint32_t i, const char *asked)
{
	const json_t *c = t->plan->step[i].canonical, *to = json_object_get(c, "names_to");
	const struct dtx_schema *out = t->result->step[i].schema;

	return dtx_schema_find(out, asked) >= 0 && !traced_lists(to, asked) &&
	       !traced_lists(to, ".value") &&
	       strcmp(dtx_json_text(c, "values_to", "value"), asked) != 0 &&
	       traced_kept(t->plan, i, asked);
}

struct traced_reads {
	const char *column;
	bool reads;
};

static void traced_read(void *arg, const char *name)
{
	struct traced_reads *r = arg;

	r->reads |= !strcmp(name, r->column);
}

/* Whether a formula uses the column, or cannot be parsed. */
static bool traced_formula_reads(const char *formula, const char *column)
{
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct traced_reads r = { column, false };
	struct dtx_expr *e = NULL;

	if (dtx_expr_parse(&arena, dtx_str_of(formula), &e, &err) == DTX_OK)
		dtx_expr_columns(e, traced_read, &r);
	else
		r.reads = true;
	dtx_err_clear(&err);
	dtx_arena_clear(&arena);
	return r.reads;
}

/* Whether the step may copy the column's values to another column, or use its name for another
 * one. */
static bool traced_moves(const struct dtx_plan_step *st, const char *column)
{
	struct dtx_op_facts f = dtx_trace_facts(st);
	const json_t *set = json_object_get(st->canonical, "set");
	const json_t *map = json_object_get(st->canonical, "map"), *one;
	size_t i;

	if (f.values == DTX_VALUES_CHANGED && f.rows != DTX_ROWS_SPLIT)
		return *dtx_json_text(st->canonical, "suffix", "") ||
		       json_object_get(st->canonical, "as") ||
		       json_object_get(st->canonical, "expr");
	if (map)
		return dtx_json_find(map, "from", column) || dtx_json_find(map, "to", column);
	json_array_foreach((json_t *)(uintptr_t)set, i, one)
	{
		if (strcmp(dtx_json_text(one, "as", ""), column) != 0 &&
		    traced_formula_reads(dtx_json_text(one, "expr", ""), column))
			return true;
	}
	return !set && !dtx_trace_keeps(st, column);
}

static bool unions(const struct dtx_plan_step *st)
{
	return dtx_trace_facts(st).rows == DTX_ROWS_UNION;
}

/* Whether a table has rows of the input. */
static bool traced_of(const struct dtx_plan *plan, int32_t table, const char *alias)
{
	while (table >= (int32_t)plan->ninputs) {
		const struct dtx_plan_step *st = &plan->step[table - (int32_t)plan->ninputs];

		for (uint32_t k = 1; k < st->ntables && unions(st); k++) {
			if (traced_of(plan, st->table[k], alias))
				return true;
		}
		table = st->table[0];
	}
	return table >= 0 && !strcmp(plan->input[table].name, alias);
}

/* Whether before step i the name means the column of the input, and no other column has its
 * values. */
static bool traced_own(const struct dtx_plan *plan, uint32_t i, const char *alias,
                       const char *column)
{
	for (uint32_t k = 0; k < i; k++) {
		if (traced_moves(&plan->step[k], column))
			return false;
	}
	return traced_of(plan, plan->step[i].table[0], alias);
}

bool dtx_why_result_elsewhere(struct dtx_why_result *t, const char *asked, const char *alias,
                              const char *column)
{
	for (uint32_t i = 0; i < t->plan->nsteps; i++) {
		const struct dtx_plan_step *st = &t->plan->step[i];
		const struct dtx_schema *out = t->result->step[i].schema;
		enum traced_match is = TRACED_UNKNOWN;
		bool own;

		if (dtx_trace_facts(st).rows != DTX_ROWS_LONGER || !out ||
		    traced_beside(t, i, asked))
			continue;
		own = traced_own(t->plan, i, alias, column);
		if (own && dtx_schema_find(out, column) >= 0)
			continue;
		if (own)
			is = traced_name(t, i, column);
		if (is != TRACED_UNKNOWN)
			return is == TRACED_DIFFERS;
		t->wide = true;
	}
	return false;
}

/* --- fill --- */

bool dtx_why_result_filled(const struct dtx_why_result *t, const char *column)
{
	for (uint32_t i = 0; i < t->plan->nsteps; i++) {
		const struct dtx_plan_step *st = &t->plan->step[i];

		if (dtx_trace_facts(st).as_read && dtx_trace_borrows(st, column))
			return true;
	}
	return false;
}
