/* fill: blank cells take the last cell that is not blank.
 *
 * For every cell of a filled column the op first works out the place that its value comes from,
 * then moves the cells there. Types are guessed again, as blank texts may have kept a column from
 * being numbers. */
#include "core/data/cast/infer.h"
#include "core/data/cells.h"
#include "ops/kit/cells_untyped.h"
#include "ops/kit/origins.h"
#include "ops/group/table/tablekeys.h"

enum { DIR_DOWN, DIR_UP, DIR_RIGHT, DIR_LEFT };
enum { ONLY_BLANK, ONLY_MERGED };
struct fill_args {
	struct dtx_cols *cols, *by;
	int dir, only;
	int64_t limit;
};
struct fill_state {
	int32_t *col;
	uint32_t n;
	struct dtx_groupkeys by;
};

#define AT(member) .offset = offsetof(struct fill_args, member)
static const struct dtx_param fill_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns to fill" },
	{ .name = "dir",
	  .kind = DTX_P_CHOICE,
	  AT(dir),
	  .aliases = "direction",
	  .choices = "down,up,right,left",
	  .def = "\"down\"",
	  .help = "direction in which values are copied" },
	{ .name = "by",
	  .kind = DTX_P_COLUMNS,
	  AT(by),
	  .aliases = "group_by,groupby,keys",
	  .help = "fill only within groups of these columns" },
	{ .name = "limit",
	  .kind = DTX_P_INT,
	  AT(limit),
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "at most this many blank cells are filled after one value" },
	{ .name = "only",
	  .kind = DTX_P_CHOICE,
	  AT(only),
	  .choices = "blank,merged",
	  .def = "\"blank\"",
	  .help = "merged: only cells of a merged range, from its first cell" },
};
static const struct dtx_example fill_examples[] = {
	{ .step = DTX_JSON({ "op" : "fill", "cols" : ["a"] }),
	  .in = "a,b\n,0\nx,1\n,2\n  ,3\ny,4\n",
	  .out = "a,b\n,0\nx,1\nx,2\nx,3\ny,4\n" },
	{ .step = DTX_JSON({ "op" : "bfill", "cols" : ["a"], "limit" : 1 }),
	  .in = "a,b\n,1\n,2\n7.50,3\n,4\n",
	  .out = "a,b\n,1\n7.50,2\n7.50,3\n,4\n" },
	{ .step = DTX_JSON({ "op" : "fill", "cols" : ["v"], "by" : ["k"] }),
	  .in = "k,v\na,1\nb,\na,\nb,2\nb,\n",
	  .out = "k,v\na,1\nb,\na,1\nb,2\nb,2\n" },
	{ .step = DTX_JSON({ "op" : "fill", "cols" : [ "a", "b", "c" ], "dir" : "right" }),
	  .in = "a,b,c\n1,,x\n,2,\n",
	  .out = "a,b,c\n1,1,x\n,2,2\n" },
};

/* All rows stay: a column is of its own cells, and along a row, or in a range, of the others'. */
static enum dtx_code bind_uses(struct dtx_bind *b, const struct fill_args *a,
                               const struct fill_state *s, struct dtx_err *err)
{
	bool across = a->dir == DIR_RIGHT || a->dir == DIR_LEFT || a->only == ONLY_MERGED;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < b->in[0]->nfields; i++)
		DTX_TRY(dtx_bind_use(b, (int32_t)i, 0, (int32_t)i, DTX_DEMAND_BYTES, err));
	for (uint32_t c = 0; across && c < s->n; c++)
		for (uint32_t i = 0; i < s->n; i++)
			DTX_TRY(dtx_bind_use(b, s->col[c], 0, s->col[i], DTX_DEMAND_BYTES, err));
out:
	return rc;
}

static enum dtx_code fill_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct fill_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct fill_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	if (a->by)
		DTX_TRY(dtx_groupkeys_bind(b, 0, a->by, "/by", &s->by, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_bind_alter_some(b, s->col, s->n, err));
	DTX_TRY(bind_uses(b, a, s, err));
	dtx_bind_kind(b, DTX_KIND_WHOLE);
	/* The types are inferred again when the rows are there; the names are known before. */
	if (b->typed || b->ncols == 0)
		dtx_bind_open(b);
out:
	return rc;
}

/* --- where each cell comes from --- */

struct place {
	int64_t row;
	uint32_t col; /* index among the selected columns */
};
struct work {
	const struct fill_args *a;
	const struct fill_state *s;
	struct dtx_raw raw;
	struct dtx_tablekeys group;
	struct place **place; /* per selected column, per row */
	/* The selected columns that column c takes cells from, in any batch, are source[first[c]]
	 * to source[first[c + 1] - 1]. */
	uint32_t *source;
	size_t *first;
	size_t cap;
	uint32_t *slot; /* the place of a selected column: the last column that it was seen as a
	                 * source of */
	int64_t filled;
};

static void work_clear(struct work *w)
{
	for (uint32_t i = 0; w->place && i < w->s->n; i++)
		dtx_mem_free(w->place[i]);
	dtx_mem_free(w->place);
	dtx_mem_free(w->slot);
	dtx_mem_free(w->first);
	dtx_mem_free(w->source);
	dtx_tablekeys_close(&w->group);
	dtx_raw_close(&w->raw);
}

/* A run of blanks, with the last cell before it that is not blank. */
struct run {
	struct place last;
	int64_t length;
	bool any;
};

/* Visits one cell in the direction of the fill: it takes the last value, or becomes the last
 * value. */
static void step_run(struct work *w, struct run *run, struct place self)
{
	if (!dtx_raw_blank(&w->raw, self.row, (uint32_t)w->s->col[self.col])) {
		*run = (struct run){ self, 0, true };
		return;
	}
	if (!run->any || (w->a->limit > 0 && run->length >= w->a->limit))
		return;
	run->length++;
	w->place[self.col][self.row] = run->last;
	w->filled++;
}

static enum dtx_code fill_vertical(struct work *w, int64_t nrows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct run *run = dtx_mem_alloc((size_t)w->group.n + 1, sizeof(*run));

	if (!run)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < w->s->n; c++) {
		memset(run, 0, ((size_t)w->group.n + 1) * sizeof(*run));
		for (int64_t i = 0; i < nrows; i++) {
			int64_t row = w->a->dir == DIR_DOWN ? i : nrows - 1 - i;

			step_run(w, &run[dtx_tablekeys_id(&w->group, row)],
			         (struct place){ row, c });
		}
	}
out:
	dtx_mem_free(run);
	return rc;
}

static void fill_horizontal(struct work *w, int64_t nrows)
{
	for (int64_t row = 0; row < nrows; row++) {
		struct run run = { { 0, 0 }, 0, false };

		for (uint32_t i = 0; i < w->s->n; i++) {
			uint32_t c = w->a->dir == DIR_RIGHT ? i : w->s->n - 1 - i;

			step_run(w, &run, (struct place){ row, c });
		}
	}
}

/* Cells that a merged range covers take the range's first cell, if that is in a selected column. */
static void fill_merged(struct work *w, int64_t nrows)
{
	uint8_t mark = w->a->dir == DIR_DOWN || w->a->dir == DIR_UP ? DTX_CELL_MERGE_UP
	                                                            : DTX_CELL_MERGE_LEFT;

	for (uint32_t c = 0; c < w->s->n; c++) {
		for (int64_t row = 0; row < nrows; row++) {
			uint32_t col = (uint32_t)w->s->col[c];
			int64_t at = row;
			int32_t from;

			if (!(dtx_raw_merge(&w->raw, row, col) & mark))
				continue;
			dtx_raw_anchor(&w->raw, DTX_CELL_MERGE_UP | DTX_CELL_MERGE_LEFT, &at, &col);
			from = dtx_cols_find(w->s->col, w->s->n, (int32_t)col);
			if (from < 0 || dtx_raw_blank(&w->raw, at, col))
				continue;
			w->place[c][row] = (struct place){ at, (uint32_t)from };
			w->filled++;
		}
	}
}

static enum dtx_code see_sources(struct work *w, int64_t nrows, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = 0;

	memset(w->slot, 0xff, w->s->n * sizeof(*w->slot));
	for (uint32_t c = 0; c < w->s->n; c++) {
		w->first[c] = n;
		for (int64_t row = 0; row < nrows; row++) {
			uint32_t from = w->place[c][row].col;

			if (w->slot[from] == c)
				continue;
			w->slot[from] = c; /* the column that it was seen for */
			if (!dtx_mem_reserve(&w->source, &w->cap, n + 1, sizeof(*w->source)))
				DTX_FAIL_MEM(err);
			w->source[n++] = from;
		}
		w->first[c + 1] = n;
	}
out:
	return rc;
}

static enum dtx_code work_init(struct work *w, const struct dtx_opctx *ox, struct dtx_table *t,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*w = (struct work){ .a = ox->args, .s = ox->bound, .raw = DTX_RAW_INIT };
	DTX_TRY(dtx_raw_open(&w->raw, t, err));
	DTX_TRY(dtx_tablekeys_open(&w->group, ox, &w->s->by, t, err));
	w->place = dtx_mem_zalloc((size_t)w->s->n + 1, sizeof(struct place *));
	w->slot = dtx_mem_alloc((size_t)w->s->n + 1, sizeof(*w->slot));
	w->first = dtx_mem_zalloc((size_t)w->s->n + 1, sizeof(*w->first));
	if (!w->place || !w->slot || !w->first)
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < w->s->n; c++) {
		w->place[c] = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(struct place));
		if (!w->place[c])
			DTX_FAIL_MEM(err);
		for (int64_t row = 0; row < t->nrows; row++)
			w->place[c][row] = (struct place){ row, c };
	}
	if (w->a->only == ONLY_MERGED)
		fill_merged(w, t->nrows);
	else if (w->a->dir == DIR_DOWN || w->a->dir == DIR_UP)
		DTX_TRY(fill_vertical(w, t->nrows, err));
	else
		fill_horizontal(w, t->nrows);
	DTX_TRY(see_sources(w, t->nrows, err));
out:
	return rc;
}

/* --- filled columns --- */

/* Converts source columns of batch i that are shown in column c of other batches only. All cells of
 * a column need one form in the whole table, or the way a value is printed would depend on where
 * batches end. */
static enum dtx_code fit_sources(const struct work *w, size_t i, uint32_t c,
                                 const struct dtx_field *field, struct dtx_column **src,
                                 struct dtx_err *err)
{
	const struct dtx_table *t = w->raw.table;
	enum dtx_code rc = DTX_OK;

	for (size_t j = 0; j < w->first[c + 1] - w->first[c]; j++) {
		uint32_t from = w->source[w->first[c] + j];
		struct dtx_column *cell = t->batch[i]->col[w->s->col[from]];
		struct dtx_column **at = &src[j * t->nbatches + i];

		if (cell && !*at)
			DTX_TRY(dtx_cells_fit(cell, field, at, err));
	}
out:
	return rc;
}

/* Makes selected column c for batch i of the table, with type `field`. */
static enum dtx_code filled_column(struct work *w, size_t i, uint32_t c,
                                   const struct dtx_field *field, struct dtx_column **out,
                                   struct dtx_err *err)
{
	const struct dtx_table *t = w->raw.table;
	uint32_t n = t->batch[i]->nrows, nb = (uint32_t)t->nbatches;
	enum dtx_code rc = DTX_OK;
	size_t nsrc = nb * (w->first[c + 1] - w->first[c]);
	struct dtx_column **src = dtx_mem_zalloc(nsrc + 1, sizeof(struct dtx_column *));
	uint32_t *which = dtx_mem_alloc((size_t)n + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)n + 1, sizeof(*row));

	if (!src || !which || !row)
		DTX_FAIL_MEM(err);
	for (size_t j = w->first[c]; j < w->first[c + 1]; j++)
		w->slot[w->source[j]] = (uint32_t)(j - w->first[c]);
	for (uint32_t k = 0; k < n; k++) {
		struct place p = w->place[c][w->raw.start[i] + k];
		const struct dtx_batch *b = dtx_raw_row(&w->raw, p.row, &row[k]);
		struct dtx_column *cell = b->col[w->s->col[p.col]];

		which[k] = w->slot[p.col] * nb + w->raw.hint;
		if (cell && !src[which[k]])
			DTX_TRY(dtx_cells_fit(cell, field, &src[which[k]], err));
	}
	DTX_TRY(fit_sources(w, i, c, field, src, err));
	DTX_TRY(dtx_cells_gather(src, (uint32_t)nsrc, which, row, n, field, out, err));
out:
	for (size_t k = 0; src && k < nsrc; k++)
		dtx_column_unref(src[k]);
	dtx_mem_free(src);
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

/* The types of the selected columns when their cells are values: the common type of all columns
 * that each takes cells from. */
static void merge_types(const struct fill_args *a, const struct fill_state *s,
                        const struct dtx_schema *in, struct dtx_field *field)
{
	struct dtx_field all, own;

	if (a->dir == DIR_DOWN || a->dir == DIR_UP)
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		int32_t col = s->col[a->dir == DIR_RIGHT ? i : s->n - 1 - i];

		own = in->field[col];
		if (i) {
			dtx_field_merge(&field[col], &all);
			dtx_field_merge(&all, &own);
		} else {
			all = own;
		}
	}
}

static enum dtx_code infer_filled(struct work *w, uint32_t c, struct dtx_field *field,
                                  struct dtx_err *err)
{
	const struct dtx_table *t = w->raw.table;
	struct dtx_infer f;
	enum dtx_code rc = DTX_OK;
	bool late = t->nrows > 0;

	f = dtx_infer_again(field);
	for (size_t i = 0; late && i < t->nbatches; i++) {
		struct dtx_column *made = NULL;

		DTX_TRY(filled_column(w, i, c, field, &made, err));
		late = dtx_raw_retypes(field, made);
		if (late)
			dtx_infer_column(&f, made, w->raw.start[i]);
		dtx_column_unref(made);
	}
	if (late) {
		field->type = dtx_infer_type(&f);
		field->guessed = false;
	}
out:
	return rc;
}

/* A copy of a schema, with the columns that say where cells come from if they are asked for. */
static struct dtx_schema *copy_schema(const struct dtx_opctx *ox, const struct dtx_schema *in,
                                      struct dtx_arena *arena)
{
	uint32_t n = in->nfields + (ox->cells ? DTX_CELLS_COLUMNS : 0);
	struct dtx_field *field = dtx_arena_zalloc(arena, (size_t)n + 1, sizeof(*field));
	struct dtx_schema made = *in;

	if (!field)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		field[i] = i < in->nfields ? in->field[i] : dtx_cells_fields[i - in->nfields];
	made.field = field;
	made.nfields = n;
	return dtx_schema_copy(arena, &made);
}

static enum dtx_code fill_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_arena *arena, const struct dtx_schema **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_schema *s = copy_schema(ox, t->schema, arena);
	struct dtx_field *field;
	struct work w;

	DTX_TRY(work_init(&w, ox, t, err));
	if (!s)
		DTX_FAIL_MEM(err);
	field = (struct dtx_field *)(uintptr_t)s->field; /* this function made the copy */
	merge_types(w.a, w.s, t->schema, field);
	for (uint32_t c = 0; c < w.s->n; c++)
		DTX_TRY(infer_filled(&w, c, &field[w.s->col[c]], err));
	s->open = false;
	*out = s;
out:
	work_clear(&w);
	return rc;
}

static enum dtx_code fill_batch(const struct dtx_opctx *ox, struct work *w, size_t i,
                                struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_batch_copy(w->raw.table->batch[i], &b, err));
	b->schema = ox->out;
	for (uint32_t c = 0; c < w->s->n; c++) {
		struct dtx_column *made = NULL;

		if (!b->col[w->s->col[c]])
			continue;
		DTX_TRY(filled_column(w, i, c, &ox->out->field[w->s->col[c]], &made, err));
		dtx_batch_put(b, (uint32_t)w->s->col[c], made);
	}
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

/* Where the cells of one column in batch i come from; nothing else is needed then. */
static enum dtx_code fill_origins(const struct dtx_opctx *ox, const struct work *w, size_t i,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	const struct dtx_schema *in = w->raw.table->schema;
	int32_t asked = dtx_schema_find(in, ox->cells);
	int32_t c = dtx_cols_find(w->s->col, w->s->n, asked);
	int64_t start = w->raw.start[i];
	struct dtx_batch *b = NULL;
	enum dtx_code rc = DTX_OK;
	struct dtx_origins to;

	DTX_TRY(dtx_batch_new(ox->out, w->raw.table->batch[i]->nrows, &b, err));
	dtx_origins_init(&to, b->nrows);
	for (int64_t row = start; row < start + b->nrows; row++) {
		struct place p = c < 0 ? (struct place){ row, 0 } : w->place[c][row];
		int32_t from = c < 0 ? asked : w->s->col[p.col];

		dtx_origins_add(&to, p.row, from < 0 ? NULL : in->field[from].name,
		                asked < 0 ? "made" : "cell");
	}
	DTX_TRY(dtx_origins_put(&to, b, err));
	DTX_TRY(dtx_emit_batch(out, b, err));
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code fill_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct work w;

	DTX_TRY(work_init(&w, ox, t, err));
	for (size_t i = 0; i < t->nbatches && !dtx_emit_full(out); i++)
		DTX_TRY(ox->cells ? fill_origins(ox, &w, i, out, err)
		                  : fill_batch(ox, &w, i, out, err));
out:
	work_clear(&w);
	return rc;
}

static void fill_explain(const void *args, struct dtx_buf *out)
{
	static const char *const dir[] = { "down", "up", "right", "left" };
	const struct fill_args *a = args;

	dtx_buf_printf(out, "fill %s cells of ", a->only == ONLY_MERGED ? "merged" : "blank");
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " %s", dir[a->dir]);
	if (a->by) {
		dtx_buf_add(out, " within ");
		dtx_cols_print(a->by, out);
	}
}

extern const struct dtx_op dtx_op_fill;

/* A pandas table has no merged cells. */
static bool fill_pandas(const void *args, struct dtx_buf *out)
{
	const struct fill_args *a = args;

	return a->only == ONLY_BLANK && dtx_py_call(&dtx_op_fill, args, NULL, 1, out);
}

/* Along a row, values come from other columns. For merged cells, only the ranges of the sheet show
 * where a value comes from. */
static void fill_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	bool vertical = dtx_str_in_list("down,up", dtx_json_text(canonical, "dir", "down"));

	facts->values = vertical ? DTX_VALUES_CHANGED : DTX_VALUES_ANY;
	facts->fills = vertical && strcmp(dtx_json_text(canonical, "only", ""), "merged") != 0;
}

const struct dtx_op dtx_op_fill = {
	.name = "fill",
	.aliases = "ffill,fill_down,bfill,fill_up",
	.presets = "bfill:dir=up,fill_up:dir=up",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER,
	.summary = "Fill blank cells from their neighbours",
	.notes =
		"Blank is null, empty text or spaces. Right and left go along the row in the order "
		"of cols. The types of filled columns are found again.",
	.facts = { .rows = DTX_ROWS_SAME,
	           .values = DTX_VALUES_CHANGED,
	           .as_read = true,
	           .fills = true,
	           .borrows = true,
	           .cells = true },
	.facts_of = fill_facts,
	.params = fill_params,
	.nparams = DTX_COUNT(fill_params),
	.examples = fill_examples,
	.nexamples = DTX_COUNT(fill_examples),
	.args_size = sizeof(struct fill_args),
	.bind = fill_bind,
	.whole = fill_whole,
	.pandas = fill_pandas,
	.whole_schema = fill_schema,
	.explain = fill_explain,
};
