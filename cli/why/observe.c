/* Observed lineage: runs of a recorded plan with changed tables. */
#include "cli/why/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/why/cell_ref.h"
#include "cli/why/perturb.h"
#include "cli/textgrid.h"
#include "core/base/mem.h"
#include "core/data/cast/cast.h"

enum { OBSERVE_COLS = 256, OBSERVE_TABLES = 8 };

/* A table that a snippet reads. */
struct observed {
	uint32_t region;
	char name[256];
	uint32_t ncols;
	int64_t nrows;
	char column[OBSERVE_COLS][256];
	char alias[OBSERVE_COLS][64]; /* input that it was read from; "": made */
	bool text[OBSERVE_COLS], direct[OBSERVE_COLS], indirect[OBSERVE_COLS];
	bool *row; /* per row: it changes the cell; dtx_mem */
	struct dtx_cell_ref cells[OBSERVE_COLS];
};
struct observe {
	struct dtx_why_replay *x;
	const struct dtx_observe_ask *ask;
	struct observed table[OBSERVE_TABLES];
	size_t ntables;
	/* of the run as recorded */
	int64_t row, nrows;
	json_t *key; /* what makes the row itself: asked for, or found; NULL: its place */
	char *value; /* dtx_mem; NULL: null */
	/* of the run at work */
	const struct observed *changed; /* NULL: none */
	struct dtx_perturb how;
	bool noting, placing;
	enum { OBSERVE_SAME, OBSERVE_VALUE, OBSERVE_ROWS } seen;
	int runs;
	int64_t deadline;
	bool cut, skipped; /* the time was up; a table was too large to look at */
};

/* --- what the snippet gets --- */

static struct observed *observe_find(struct observe *o, const struct dtx_fallback_request *g,
                                     const char *name)
{
	for (size_t i = 0; i < o->ntables; i++) {
		if (o->table[i].region == g->index && !strcmp(o->table[i].name, name))
			return &o->table[i];
	}
	return NULL;
}

static enum dtx_code observe_note(struct observe *o, const struct dtx_fallback_request *g,
                                  const struct dtx_fallback_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct observed *one = &o->table[o->ntables];

	if (observe_find(o, g, t->name)) /* it was asked for again */
		goto out;
	if (o->ntables == OBSERVE_TABLES || t->table->schema->nfields > OBSERVE_COLS ||
	    strlen(t->name) >= sizeof(one->name)) {
		o->skipped = true;
		goto out;
	}
	one->region = g->index;
	one->ncols = t->table->schema->nfields;
	one->nrows = t->table->nrows;
	dtx_str_copy(one->name, sizeof(one->name), dtx_str_of(t->name));
	one->row = dtx_mem_zalloc((size_t)one->nrows + 1, sizeof(*one->row));
	if (!one->row)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < one->ncols; c++) {
		const struct dtx_field *f = &t->table->schema->field[c];

		one->text[c] = f->type.type == DTX_T_TEXT || f->type.type == DTX_T_DATE;
		dtx_str_copy(one->column[c], sizeof(one->column[c]), dtx_str_of(f->name));
	}
	o->ntables++;
out:
	return rc;
}

/* Where the rows that matter stand in the source. */
static enum dtx_code observe_place(struct observed *one, const struct dtx_table *t,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int64_t nth = 0;

	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; k < b->nsel; k++, nth++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			for (uint32_t c = 0; c < one->ncols && one->row[nth]; c++) {
				struct dtx_err place = DTX_ERR_INIT;
				char at[24];

				if (!one->direct[c])
					continue;
				dtx_batch_blame(b, row, (int32_t)c, &place);
				if (place.cell[0])
					snprintf(at, sizeof(at), "%.23s", place.cell);
				else
					snprintf(at, sizeof(at), "row %lld", (long long)nth + 1);
				if (b->origin && b->origin->alias)
					dtx_str_copy(one->alias[c], sizeof(one->alias[c]),
					             dtx_str_of(b->origin->alias));
				dtx_err_clear(&place);
				dtx_buf_reset(&text);
				if (b->col[c])
					dtx_cast_print(b->col[c], row, &text);
				DTX_TRY(dtx_cell_ref_add(&one->cells[c], at, (uint64_t)nth,
				                         dtx_buf_str(&text), err));
			}
		}
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

/* The recorded code, on tables of which one may be changed. */
static enum dtx_code observe_fallback(void *arg, const struct dtx_fallback_request *g,
                                      struct dtx_table **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct observe *o = arg;
	struct dtx_fallback_table table[OBSERVE_TABLES];
	struct dtx_table *changed = NULL;
	struct dtx_fallback_request mine = *g;

	o->skipped |= g->ntables > OBSERVE_TABLES;
	for (size_t i = 0; i < g->ntables && i < OBSERVE_TABLES; i++) {
		struct observed *one = NULL;

		table[i] = g->table[i];
		if (o->noting)
			DTX_TRY(observe_note(o, g, &g->table[i], err));
		one = observe_find(o, g, g->table[i].name);
		/* a snippet before may make another table every time */
		if (one && (one->nrows != g->table[i].table->nrows ||
		            one->ncols != g->table[i].table->schema->nfields)) {
			o->skipped = true;
			one = NULL;
		}
		if (one && o->placing)
			DTX_TRY(observe_place(one, g->table[i].table, err));
		if (one && one == o->changed && !changed) {
			DTX_TRY(dtx_perturb(g->table[i].table, &o->how, &changed, err));
			table[i].table = changed;
		}
	}
	if (g->ntables <= OBSERVE_TABLES)
		mine.table = table;
	DTX_TRY(dtx_fallback_answer(&o->x->r.fallback, &mine, out, err));
out:
	dtx_table_unref(changed);
	return rc;
}

static enum dtx_code observe_settle(void *arg, enum dtx_settle when, uint64_t stands,
                                    struct dtx_err *err)
{
	struct observe *o = arg;

	return dtx_fallback_finish(&o->x->r.fallback, when, stands, err);
}

/* --- what comes out --- */

enum { ROW_NONE = -1, ROW_SEVERAL = -2 };

/* The row of the cell, or, below 0, why it is none. */
static int64_t observe_row(const struct observe *o, const struct dtx_textgrid *g)
{
	int64_t found = ROW_NONE;
	const char *name;
	json_t *value;

	if (!o->key)
		return o->noting || g->nrows == o->nrows ? o->ask->row - 1 : ROW_NONE;
	for (int64_t r = 0; r < g->nrows; r++) {
		bool fits = true;

		json_object_foreach(o->key, name, value)
		{
			int32_t c = dtx_textgrid_find(g, name);
			const char *text = c >= 0 ? dtx_textgrid_at(g, r, (uint32_t)c) : NULL;

			fits &= !strcmp(text ? text : "", json_string_value(value));
		}
		if (fits && found >= 0)
			return ROW_SEVERAL;
		found = fits ? r : found;
	}
	return found;
}

/* Text that a column of a snippet's table has as well: it came through. */
static bool observe_names(const struct observe *o, const char *column)
{
	for (size_t i = 0; i < o->ntables; i++)
		for (uint32_t c = 0; c < o->table[i].ncols; c++)
			if (o->table[i].text[c] && !strcmp(o->table[i].column[c], column))
				return true;
	return false;
}

/* Rows may change places: the texts that came through tell which is which, when no other row has
 * the same. */
static void observe_key(struct observe *o, const struct dtx_textgrid *g)
{
	o->key = o->ask->key ? json_incref((json_t *)(uintptr_t)o->ask->key) : json_object();
	for (uint32_t c = 0; c < g->ncols && !o->ask->key; c++) {
		const char *text = dtx_textgrid_at(g, o->row, c);

		if (text && strcmp(g->name[c], o->ask->column) != 0 && observe_names(o, g->name[c]))
			(void)json_object_set_new(o->key, g->name[c], json_string(text));
	}
	if (!json_object_size(o->key) || observe_row(o, g) != o->row) {
		json_decref(o->key);
		o->key = NULL;
	}
}

static enum dtx_code observe_first(struct observe *o, const struct dtx_textgrid *g, int64_t row,
                                   const char *value, const char *hash, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const char *want = dtx_json_text(dtx_why_replay_output(o->x), "table_hash", "");

	if (strcmp(hash, want) != 0)
		DTX_FAIL(err, DTX_E_NO_TRANSLATION,
		         "the recorded run gives another table now: there is nothing to observe");
	if (row < 0 || row >= g->nrows) {
		bool several = row == ROW_SEVERAL;

		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "%s of the result %s this --key",
		                 several ? "several rows" : "no row", several ? "have" : "has");
		dtx_err_hint(err, several ? "give a --key more, or --row N"
		                          : "--row N names it by its place");
		goto out;
	}
	o->row = row;
	o->nrows = g->nrows;
	observe_key(o, g);
	o->value = value ? dtx_mem_strdup(value) : NULL;
	if (value && !o->value)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code observe_look(void *arg, const struct dtx_exec_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct observe *o = arg;
	const struct dtx_exec_output *out = &r->output[o->x->output];
	struct dtx_textgrid g = DTX_TEXTGRID_INIT;
	const char *value = NULL;
	int64_t row;
	int32_t c;

	DTX_TRY(dtx_textgrid_make(&g, out->table, err));
	if (o->noting)
		o->key = (json_t *)(uintptr_t)o->ask->key;
	row = observe_row(o, &g);
	c = dtx_textgrid_find(&g, o->ask->column);
	if (row >= 0 && row < g.nrows && c >= 0)
		value = dtx_textgrid_at(&g, row, (uint32_t)c);
	if (o->noting)
		DTX_TRY(observe_first(o, &g, row, value, out->table_hash, err));
	else if (row < 0 || c < 0)
		o->seen = OBSERVE_ROWS;
	else if (!dtx_textgrid_same(value, o->value))
		o->seen = OBSERVE_VALUE;
out:
	dtx_textgrid_clear(&g);
	return rc;
}

/* --- one run --- */

static enum dtx_code observe_exec(struct observe *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_runner *r = &o->x->r;
	struct dtx_host host = { .arg = o, .fallback = observe_fallback, .settle = observe_settle };
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_exec_result *done = NULL;

	opts.input = r->source;
	opts.repair = o->x->run_args.repair;
	opts.table_hash = true;
	opts.look = observe_look;
	opts.look_arg = o;
	o->runs++;
	DTX_TRY(dtx_runner_date(r, &opts.run_date, err));
	DTX_TRY(dtx_exec(r->plan, &opts, &host, &r->findings, &done, err));
out:
	dtx_exec_free(done);
	return rc;
}

/* A run that fails because of the change tells nothing. */
static enum dtx_code observe_probe(struct observe *o, struct dtx_err *err)
{
	struct dtx_err why = DTX_ERR_INIT;
	enum dtx_code rc;

	o->seen = OBSERVE_SAME;
	if (o->runs >= DTX_OBSERVE_RUNS ||
	    (o->runs >= DTX_OBSERVE_LEAST && dtx_now_ns() > o->deadline)) {
		o->cut = true;
		return DTX_OK;
	}
	rc = observe_exec(o, &why);
	if (rc == DTX_E_NO_MEMORY || rc == DTX_E_CANCELLED)
		dtx_err_move(err, &why);
	else
		rc = DTX_OK;
	dtx_err_clear(&why);
	return rc;
}

/* --- the search --- */

static enum dtx_code observe_column(struct observe *o, struct observed *t, uint32_t c,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool column[OBSERVE_COLS] = { false };

	column[c] = true;
	o->changed = t;
	for (int how = 0; how < DTX_PERTURB_HOWS && !t->direct[c]; how++) {
		o->how = (struct dtx_perturb){ column, (enum dtx_perturb_how)how, 0, t->nrows };
		DTX_TRY(observe_probe(o, err));
		t->direct[c] = o->seen == OBSERVE_VALUE;
		t->indirect[c] |= o->seen == OBSERVE_ROWS;
	}
out:
	o->changed = NULL;
	return rc;
}

/* Halves the rows until single ones change the cell. */
static enum dtx_code observe_rows(struct observe *o, struct observed *t, const bool *column,
                                  int64_t from, int64_t to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	o->changed = t;
	o->how = (struct dtx_perturb){ column, DTX_PERTURB_RELABEL, from, to };
	DTX_TRY(observe_probe(o, err));
	if (o->seen == OBSERVE_SAME) {
		o->how.how = DTX_PERTURB_NULL;
		DTX_TRY(observe_probe(o, err));
	}
	if (o->seen == OBSERVE_SAME || o->cut)
		goto out;
	if (to - from == 1) {
		t->row[from] = true;
		goto out;
	}
	DTX_TRY(observe_rows(o, t, column, from, from + (to - from) / 2, err));
	DTX_TRY(observe_rows(o, t, column, from + (to - from) / 2, to, err));
out:
	o->changed = NULL;
	return rc;
}

static bool observe_any(const bool *flag, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (flag[i])
			return true;
	}
	return false;
}

/* All columns at once; changes of two may cancel out, so else one by one. */
static enum dtx_code observe_table(struct observe *o, struct observed *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!t->nrows || !observe_any(t->direct, t->ncols))
		goto out;
	DTX_TRY(observe_rows(o, t, t->direct, 0, t->nrows, err));
	for (uint32_t c = 0; c < t->ncols && !observe_any(t->row, t->nrows); c++) {
		bool column[OBSERVE_COLS] = { false };

		column[c] = t->direct[c];
		if (column[c])
			DTX_TRY(observe_rows(o, t, column, 0, t->nrows, err));
	}
out:
	return rc;
}

static enum dtx_code observe_search(struct observe *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < o->ntables; i++)
		for (uint32_t c = 0; c < o->table[i].ncols; c++)
			DTX_TRY(observe_column(o, &o->table[i], c, err));
	for (size_t i = 0; i < o->ntables; i++)
		DTX_TRY(observe_table(o, &o->table[i], err));
	o->placing = true;
	DTX_TRY(observe_exec(o, err));
	o->placing = false;
out:
	return rc;
}

/* --- the report --- */

static json_t *observe_source(struct observe *o, struct observed *t, uint32_t c, bool direct)
{
	const char *alias = t->alias[c][0] ? t->alias[c] : t->name;
	json_t *one = json_pack("{ss ss ss ss}", "alias", alias, "column", t->column[c], "label",
	                        dtx_why_replay_label(o->x, alias), "how",
	                        direct ? "OBSERVED" : "OBSERVED_ROWS");

	if (direct && one)
		(void)json_object_set_new(one, "cells",
		                          dtx_cell_ref_json(&t->cells[c], o->ask->values));
	return one;
}

static json_t *observe_report(struct observe *o)
{
	json_t *cells = json_array(), *decided = json_array(), *report;

	for (size_t i = 0; i < o->ntables; i++)
		for (uint32_t c = 0; c < o->table[i].ncols; c++) {
			struct observed *t = &o->table[i];

			if (t->direct[c])
				(void)json_array_append_new(cells, observe_source(o, t, c, true));
			else if (t->indirect[c])
				(void)json_array_append_new(decided,
				                            observe_source(o, t, c, false));
		}
	report = json_pack("{sI ss? si sb so so}", "row", (json_int_t)o->row + 1, "value", o->value,
	                   "runs", o->runs, "complete", !o->cut && !o->skipped, "cells", cells,
	                   "decided_by", decided);
	if (!o->ask->values)
		(void)json_object_del(report, "value");
	return report;
}

static void observe_clear(struct observe *o)
{
	for (size_t i = 0; i < o->ntables; i++) {
		dtx_mem_free(o->table[i].row);
		for (uint32_t c = 0; c < o->table[i].ncols; c++)
			dtx_cell_ref_clear(&o->table[i].cells[c]);
	}
	if (!o->noting)
		json_decref(o->key);
	dtx_mem_free(o->value);
	dtx_mem_free(o);
}

enum dtx_code dtx_observe(struct dtx_why_replay *x, const struct dtx_observe_ask *ask, json_t **out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_store *store = NULL;
	struct observe *o = dtx_mem_zalloc(1, sizeof(*o));

	if (!o)
		DTX_FAIL_MEM(err);
	o->x = x;
	o->ask = ask;
	DTX_TRY(dtx_store_open(x->cli->store, DTX_STORE_READ, &store, err));
	DTX_TRY(dtx_why_replay_open(x, err));
	DTX_TRY(dtx_why_replay_held(x, err));
	x->r.fallback.store = store;
	o->noting = true;
	DTX_TRY(observe_exec(o, err));
	o->noting = false;
	o->deadline = dtx_now_ns() + (int64_t)DTX_OBSERVE_MS * 1000000;
	DTX_TRY(observe_search(o, err));
	*out = observe_report(o);
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	if (o) {
		dtx_fallback_ctx_clear(&x->r.fallback);
		x->r.fallback.store = NULL;
		observe_clear(o);
	}
	dtx_store_free(store);
	return rc;
}

void dtx_observe_print(const json_t *report, size_t most, struct dtx_buf *out)
{
	dtx_cell_ref_print("observed", json_object_get(report, "cells"), most, false, out);
	dtx_cell_ref_columns("decided by", json_object_get(report, "decided_by"), out);
	dtx_buf_printf(out,
	               "%-12sfound in %lld runs with changed inputs%s: too little may be named\n",
	               "note", (long long)dtx_json_int(report, "runs", 0),
	               dtx_json_bool(report, "complete", true) ? "" : ", and not at the end of it");
}
