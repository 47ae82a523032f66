/* Finds the row in its input, and follows it up to where rows are numbered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/why/keycells.h"
#include "cli/why/why_not.h"
#include "core/data/cast/cast.h"

const char *dtx_why_not_cell(struct dtx_why_not *w, const struct dtx_table *t,
                             const struct dtx_batch *b, uint32_t row, const char *column)
{
	int32_t c = dtx_schema_find(t->schema, column);

	dtx_buf_reset(&w->text);
	if (c >= 0 && b->col[c])
		dtx_cast_print(b->col[c], row, &w->text);
	return dtx_buf_text(&w->text);
}

static bool why_not_keys(struct dtx_why_not *w, const struct dtx_table *t,
                         const struct dtx_batch *b, uint32_t row)
{
	const char *name;
	json_t *text;

	json_object_foreach(w->key, name, text)
	{
		if (strcmp(dtx_why_not_cell(w, t, b, row, name), json_string_value(text)) != 0)
			return false;
	}
	return true;
}

static int64_t why_not_place(const struct dtx_batch *b, uint32_t row, char cell[24])
{
	struct dtx_err place = DTX_ERR_INIT;
	int64_t line;

	dtx_batch_blame(b, row, 0, &place);
	snprintf(cell, 24, "%.23s", place.cell);
	line = place.row + 1;
	dtx_err_clear(&place);
	return line;
}

/* Whether this is the row that was asked for; n is its number in the input. */
static bool why_not_match(struct dtx_why_not *w, const struct dtx_table *t,
                          const struct dtx_batch *b, uint32_t row, int64_t n)
{
	char cell[24];

	if (w->args->row)
		return n == w->args->row;
	if (w->args->key.n)
		return why_not_keys(w, t, b, row);
	return why_not_place(b, row, cell) == w->line;
}

static uint64_t why_not_id(const struct dtx_batch *b, uint32_t row)
{
	return b->rec ? b->rec[row] : b->first_row + row;
}

/* Whether the rows belong to the asked input, in a table that may have rows of several files. */
static bool why_not_of(const struct dtx_why_not *w, const struct dtx_batch *b)
{
	return !w->file || (b->origin && !strcmp(b->origin->file, w->file));
}

static enum dtx_code why_not_search(struct dtx_why_not *w, const struct dtx_table *t,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t hits = 0;

	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; why_not_of(w, b) && k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			w->nrows++;
			if (!why_not_match(w, t, b, row, w->nrows) || hits++)
				continue;
			w->id = why_not_id(b, row);
			w->first_cell =
				json_pack("{ss}", t->schema->field[0].name,
			                  dtx_why_not_cell(w, t, b, row, t->schema->field[0].name));
			(void)why_not_place(b, row, w->cell);
		}
	}
	w->found = hits > 0;
	if (hits < 2 || !w->args->key.n)
		goto out;
	rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
	                 "%lld rows of the input have this --key", (long long)hits);
	dtx_err_hint(err, "give a --key more, or --row or --line");
out:
	return rc;
}

/* Whether the row is in another stage; sets the number from the last column if the stage has it. */
static bool why_not_there(struct dtx_why_not *w, const struct dtx_table *t, bool numbered)
{
	char column[32];

	snprintf(column, sizeof(column), "dtx_r%u", w->followed);
	for (size_t i = 0; i < t->nbatches; i++) {
		const struct dtx_batch *b = t->batch[i];

		for (uint32_t k = 0; b->origin && why_not_of(w, b) && k < b->nsel; k++) {
			uint32_t row = b->sel ? b->sel[k] : k;

			if (why_not_id(b, row) != w->id)
				continue;
			if (numbered)
				w->number =
					strtoll(dtx_why_not_cell(w, t, b, row, column), NULL, 10);
			return true;
		}
	}
	return false;
}

static const char *why_not_key_text(struct dtx_why_not *w)
{
	dtx_buf_reset(&w->text);
	dtx_keycells_print(w->key, &w->text);
	return dtx_buf_text(&w->text);
}

static enum dtx_code why_not_look(void *arg, const struct dtx_exec_result *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_not *w = arg;

	DTX_TRY(why_not_search(w, r->output[0].table, err));
	if (!w->found && w->key)
		DTX_FAIL(err, DTX_E_USAGE, "no row of '%s' has %s",
		         w->x.r.plan->input[w->input].name, why_not_key_text(w));
	if (!w->found) {
		rc = dtx_err_set(err, DTX_E_USAGE, __FILE__, __LINE__,
		                 "the input has no such row: %lld were read from '%s'",
		                 (long long)w->nrows,
		                 dtx_why_replay_label(&w->x, w->x.r.plan->input[w->input].name));
		dtx_err_hint(err, "headers, blank lines and skipped lines are no rows; dtx run "
		                  "--verbose counts them");
		goto out;
	}
	for (uint32_t i = 1; i < w->stages.n && !w->lost; i++) {
		if (!why_not_there(w, r->output[i].table, i + 1 == w->stages.n))
			w->lost = i;
	}
	for (uint32_t k = 0; w->lost && k < w->stages.nkinds && !w->kind; k++) {
		if (w->stages.kind_step[k] == w->stages.step[w->lost] &&
		    !why_not_there(w, r->output[w->stages.n + k].table, false))
			w->kind = w->stages.kind_only[k];
	}
out:
	return rc;
}

static json_t *why_not_columns(const struct dtx_why_not *w)
{
	json_t *list = w->key ? json_array() : NULL, *text;
	const char *name;

	json_object_foreach(w->key, name, text) json_array_append_new(list, json_string(name));
	return list;
}

static enum dtx_code why_not_keys_known(struct dtx_why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = w->x.bound->input[w->input].schema;
	const json_t *inputs = json_object_get(w->x.record, "inputs");
	const json_t *input = dtx_json_find(inputs, "alias", w->x.r.plan->input[w->input].name);
	const char *name;
	json_t *text;

	DTX_TRY(dtx_keycells(&w->args->key, json_object_get(input, "schema"), &w->key, err));
	json_object_foreach(w->key, name, text)
	{
		if (s && dtx_schema_find(s, name) < 0)
			DTX_FAIL(err, DTX_E_USAGE, "the input has no column '%s'", name);
	}
out:
	return rc;
}

enum dtx_code dtx_why_not_find(struct dtx_why_not *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_why_replay_look look = { why_not_look, w, 0, w->fold.of ? &w->fold : NULL };
	json_t *columns = NULL;

	DTX_TRY(why_not_keys_known(w, err));
	columns = why_not_columns(w);
	DTX_TRY(dtx_why_not_plan_stages(w->plan, w->fold.of ? &w->fold.bound : w->x.bound,
	                                w->followed, w->x.output, columns, &w->stages, err));
	DTX_TRY(dtx_why_replay_run(&w->x, w->stages.plan, &look, &w->first, err));
out:
	json_decref(columns);
	return rc;
}
