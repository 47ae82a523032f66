/* pad_time: rows for the steps of a calendar that are missing.  It is not a macro: group_by,
 * repeat, an anti join, union and sort do it in the same time, but in 12 steps (14 with `fill`),
 * and the limit `growth` would count the rows that repeat makes of a row per group. */
#include "core/data/builder.h"
#include "ops/kit/text/jsonvalue.h"
#include "ops/kit/cells_new.h"
#include "ops/group/table/tablekeys.h"
#include "ops/kit/times.h"

struct pad_args {
	const char *col, *every;
	struct dtx_cols *by;
	const json_t *fill;
};
struct pad_state {
	int32_t col;
	struct dtx_groupkeys by;
	struct dtx_duration every;
};

#define AT(member) .offset = offsetof(struct pad_args, member)
static const struct dtx_param pad_params[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  AT(col),
	  .aliases = "column",
	  .help = "dates or times" },
	{ .name = "every",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  AT(every),
	  .aliases = "freq",
	  .schema = "{\"type\":\"string\",\"pattern\":\"^[0-9]{1,7}(s|min|h|d|w|mo|q|y)$\"}",
	  .help = "the step: 15s 30min 1h 7d 1w 1mo 1q 1y" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "groups, each from its least to its greatest time" },
	{ .name = "fill",
	  .kind = DTX_P_VALUE,
	  AT(fill),
	  .help = "other cells of new rows: a value, or \"down\" for those of the row above "
	          "(default: null)" },
};
static const struct dtx_example pad_examples[] = {
	{ .step = DTX_JSON({ "op" : "pad_time", "col" : "d", "every" : "1d" }),
	  .in = "d,v\n2024-02-28,1.50\n2024-03-02,2\n",
	  .out = "d,v\n2024-02-28,1.50\n2024-02-29,\n2024-03-01,\n2024-03-02,2\n" },
	{ .step = DTX_JSON(
		  { "op" : "asfreq", "col" : "t", "every" : "30min", "by" : ["k"], "fill" : 0 }),
	  .in = "k,t,v\nb,2024-01-01T10:00:00,1\na,2024-01-01T11:00:00,2\n"
	        "a,2024-01-01T10:00:00,3\n",
	  .out = "k,t,v\nb,2024-01-01T10:00:00,1\na,2024-01-01T10:00:00,3\n"
	         "a,2024-01-01T10:30:00,0\na,2024-01-01T11:00:00,2\n" },
	{ .step = DTX_JSON({ "op" : "upsample", "col" : "d", "every" : "1mo", "fill" : "down" }),
	  .in = "d,v\n2024-01-31,x\n2024-03-31,\n2024-02-10,y\n",
	  .out = "d,v\n2024-01-31,x\n2024-02-10,y\n2024-02-29,y\n2024-03-31,\n" },
	{ .step = DTX_JSON({ "op" : "pad_time", "col" : "d", "every" : "1h" }),
	  .in = "d\n2024-01-01\n",
	  .error = "type_mismatch",
	  .message = "steps of 1h do not fit the dates of 'd'" },
	{ .step = DTX_JSON({ "op" : "pad_time", "col" : "d", "every" : "1 day" }),
	  .in = "d\n2024-01-01\n",
	  .error = "bad_param_value",
	  .message = "pad_time: every '1 day' is not a duration" },
	{ .step = DTX_JSON({ "op" : "pad_time", "col" : "d", "every" : "1d", "fill" : 0 }),
	  .in = "d,t\n2024-01-01,x\n",
	  .error = "type_mismatch",
	  .message = "fill does not fit column 't' of type text" },
};

static enum dtx_code pad_check(const void *args, struct dtx_err *err)
{
	return dtx_every_check(((const struct pad_args *)args)->every, "pad_time", err);
}

static bool is_down(const struct pad_args *a)
{
	return json_is_string(a->fill) && strcmp(json_string_value(a->fill), "down") == 0;
}

/* --- binding --- */

/* Column i is filled in new rows: neither the time nor a key. */
static bool is_other(const struct pad_state *s, uint32_t i)
{
	return (int32_t)i != s->col && dtx_cols_find(s->by.col, s->by.n, (int32_t)i) < 0;
}

static enum dtx_code bind_fill(struct dtx_bind *b, const struct pad_args *a,
                               const struct pad_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < b->in[0]->nfields && i < b->ncols; i++) {
		const struct dtx_field *f = &b->in[0]->field[i];

		if (!a->fill || is_down(a) || !is_other(s, i) || f->type.type == DTX_T_UNKNOWN)
			continue;
		/* a column of nulls has no type yet */
		if (f->type.type == DTX_T_NULL)
			b->col[i].field.type.type = dtx_json_type(a->fill);
		else if (!dtx_json_fits(a->fill, f->type.type))
			DTX_TRY(dtx_bind_fail_next(
				b, DTX_E_TYPE_MISMATCH, "/fill",
				"put the column into by, or fill nulls in a separate step", err,
				"fill does not fit column '%s' of type %s", f->name,
				dtx_type_name(f->type.type)));
	}
out:
	return rc;
}

static enum dtx_code pad_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct pad_args *a = args;
	struct pad_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_column(b, 0, a->col, "/col", &s->col, err));
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_every_bind(b, s->col, a->every, &s->every, err));
	if (s->col >= 0 && dtx_cols_find(s->by.col, s->by.n, s->col) >= 0)
		DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, "/by", err,
		                      "the time '%s' cannot be a group", a->col));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(bind_fill(b, a, s, err));
	DTX_TRY(dtx_bind_use(b, DTX_USE_ROWS, 0, s->col, DTX_DEMAND_VALUE, err));
	for (uint32_t i = 0; i < b->in[0]->nfields; i++)
		DTX_TRY(dtx_bind_use(b, (int32_t)i, 0, (int32_t)i, DTX_DEMAND_BYTES, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
out:
	return rc;
}

/* --- the rows of the result --- */

struct line {
	int64_t row;        /* of the input, -1: made */
	int64_t made;       /* number of a made time */
	int64_t above, key; /* the input row before it, and the first of its group */
};
struct work {
	struct dtx_relayout *m;
	const struct pad_state *s;
	struct dtx_times times;
	struct line *line;
	size_t n, cap;
	int64_t *made; /* times */
	size_t nmade, cap_made;
};

static enum dtx_code add_line(struct work *w, struct line line, struct dtx_err *err)
{
	const struct dtx_run *run = w->m->ox->run;
	enum dtx_code rc = DTX_OK;

	if (run && run->max_rows >= 0 && (int64_t)w->n >= run->max_rows)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "pad_time: more than %lld rows",
		         (long long)run->max_rows);
	if (!dtx_mem_reserve(&w->line, &w->cap, w->n + 1, sizeof(*w->line)))
		DTX_FAIL_MEM(err);
	w->line[w->n++] = line;
out:
	return rc;
}

/* Steps before `here` that no row has; *k is the next one. */
static enum dtx_code add_steps(struct work *w, int64_t first, int64_t here, int64_t above,
                               int64_t key, int64_t *k, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t step;

	for (; dtx_duration_step(first, *k, w->s->every, &step) && step <= here; (*k)++) {
		if (step == here)
			continue;
		DTX_TRY(dtx_cancel_row(w->nmade, err));
		if (!dtx_mem_reserve(&w->made, &w->cap_made, w->nmade + 1, sizeof(*w->made)))
			DTX_FAIL_MEM(err);
		w->made[w->nmade] = step;
		DTX_TRY(add_line(w, (struct line){ -1, (int64_t)w->nmade, above, key }, err));
		w->nmade++;
	}
out:
	return rc;
}

/* The rows of a group, in order of time, and the steps between. */
static enum dtx_code add_group(struct work *w, const int64_t *row, int64_t n, int64_t key,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t k = 1; /* the first row is step 0 */

	for (int64_t i = 0; i < n; i++) {
		DTX_TRY(dtx_cancel_row((uint64_t)i, err));
		if (i && !w->times.null[row[i]])
			DTX_TRY(add_steps(w, w->times.us[row[0]], w->times.us[row[i]], row[i - 1],
			                  key, &k, err));
		DTX_TRY(add_line(w, (struct line){ row[i], 0, row[i], key }, err));
	}
out:
	return rc;
}

static enum dtx_code find_lines(struct work *w, struct dtx_err *err)
{
	struct dtx_tablekeys keys = DTX_TABLEKEYS_INIT;
	enum dtx_code rc = DTX_OK;
	int64_t *start = NULL, *row = NULL;

	DTX_TRY(dtx_tablekeys_open(&keys, w->m->ox, &w->s->by, w->m->raw.table, err));
	DTX_TRY(dtx_times_open(&w->times, w->m->raw.table, w->s->col, err));
	DTX_TRY(dtx_tablekeys_rows(&keys, w->m->ox, &start, &row, err));
	for (uint32_t g = 0; g < keys.n; g++) {
		int64_t n = start[g + 1] - start[g];

		DTX_TRY(dtx_times_sort(&w->times, row + start[g], n, err));
		DTX_TRY(add_group(w, row + start[g], n, keys.first[g], err));
	}
out:
	dtx_mem_free(start);
	dtx_mem_free(row);
	dtx_tablekeys_close(&keys);
	return rc;
}

/* --- its cells --- */

static enum dtx_code made_times(struct work *w, struct dtx_from *cell, struct dtx_err *err)
{
	struct dtx_typeref type = w->m->raw.table->schema->field[w->s->col].type;
	enum dtx_code rc = DTX_OK;
	struct dtx_column *made = NULL;
	struct dtx_builder to;
	uint32_t n;

	for (size_t from = 0; from < w->nmade; from += n) {
		DTX_TRY(dtx_cancel_look(err));
		n = (uint32_t)DTX_MIN(w->nmade - from, (size_t)DTX_BATCH_ROWS);
		dtx_builder_init(&to, type, n);
		for (uint32_t i = 0; i < n; i++)
			dtx_times_build(&to, type.type, w->made[from + i]);
		rc = dtx_builder_finish(&to, NULL, &made, err);
		dtx_builder_clear(&to);
		if (rc == DTX_OK)
			rc = dtx_made_cells(w->m, (uint32_t)w->s->col, made, cell + from, err);
		dtx_column_unref(made);
		made = NULL;
		DTX_TRY(rc);
	}
out:
	return rc;
}

static enum dtx_code lay_column(struct work *w, int32_t c, const struct dtx_from *times, bool down,
                                struct dtx_from fill, struct dtx_err *err)
{
	bool other = is_other(w->s, (uint32_t)c);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_cells(w->m, (uint32_t)c, err));
	for (size_t i = 0; i < w->n; i++) {
		const struct line *line = &w->line[i];
		struct dtx_from *cell = &w->m->out[c].cell[i];

		DTX_TRY(dtx_cancel_row(i, err));
		if (line->row >= 0)
			*cell = (struct dtx_from){ line->row, c };
		else if (c == w->s->col)
			*cell = times[line->made];
		else if (other && !down)
			*cell = fill;
		else
			*cell = (struct dtx_from){ other ? line->above : line->key, c };
	}
out:
	return rc;
}

static enum dtx_code lay_table(struct work *w, const struct dtx_from *times, struct dtx_err *err)
{
	const struct pad_args *a = w->m->ox->args;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_same(w->m, (int64_t)w->n, err));
	DTX_TRY(dtx_relayout_rows(w->m, err));
	for (size_t i = 0; i < w->n; i++)
		w->m->row[i] = w->line[i].row;
	for (uint32_t c = 0; c < w->m->ncols; c++) {
		struct dtx_from fill = { 0, DTX_FROM_NULL };

		if (is_other(w->s, c) && !is_down(a))
			DTX_TRY(dtx_made_value(w->m, c, a->fill, &fill, err));
		DTX_TRY(lay_column(w, (int32_t)c, times, is_down(a), fill, err));
	}
out:
	return rc;
}

static enum dtx_code pad_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	struct work w = { .m = m, .s = m->ox->bound };
	enum dtx_code rc = DTX_OK;
	struct dtx_from *times = NULL;

	if (m->raw.table->schema->field[w.s->col].type.type == DTX_T_NULL) {
		DTX_TRY(dtx_relayout_same(m, m->raw.table->nrows, err));
		goto out;
	}
	DTX_TRY(find_lines(&w, err));
	times = dtx_mem_alloc(w.nmade + 1, sizeof(*times));
	if (!times)
		DTX_FAIL_MEM(err);
	DTX_TRY(made_times(&w, times, err));
	DTX_TRY(lay_table(&w, times, err));
out:
	dtx_mem_free(times);
	dtx_mem_free(w.line);
	dtx_mem_free(w.made);
	dtx_times_close(&w.times);
	return rc;
}

static enum dtx_code pad_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                               struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, pad_lay, err);
}

static void pad_explain(const void *args, struct dtx_buf *out)
{
	const struct pad_args *a = args;

	dtx_buf_printf(out, "add rows for the missing steps of %s in %s", a->every, a->col);
	if (a->by) {
		dtx_buf_add(out, " within ");
		dtx_cols_print(a->by, out);
	}
	if (is_down(a)) {
		dtx_buf_add(out, ", other cells from the row above");
	} else if (a->fill) {
		dtx_buf_add(out, ", other cells ");
		dtx_json_print(a->fill, 0, out);
	}
}

const struct dtx_op dtx_op_pad_time = {
	.name = "pad_time",
	.aliases = "asfreq,upsample",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Add rows for the steps of time that are missing",
	.notes = "Steps count from the least time of each group to its greatest; months clamp, so "
		 "that Jan 31 goes to Feb 29 and Mar 31. Groups come in order of first "
		 "appearance, their rows in order of time; times off the steps stay, a null time "
		 "is the last.",
	.facts = { .values = DTX_VALUES_KEPT, .cells = true },
	.params = pad_params,
	.nparams = DTX_COUNT(pad_params),
	.examples = pad_examples,
	.nexamples = DTX_COUNT(pad_examples),
	.args_size = sizeof(struct pad_args),
	.check = pad_check,
	.bind = pad_bind,
	.whole = pad_whole,
	.explain = pad_explain,
};
