/* drop_empty: drops rows or columns, or both, whose cells are all blank. */
#include "ops/kit/cells_untyped.h"

enum { AXIS_ROWS, AXIS_COLS, AXIS_BOTH };
struct empty_args {
	int axis;
};

static const struct dtx_param empty_params[] = {
	{ .name = "axis",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct empty_args, axis),
	  .choices = "rows,cols,both",
	  .def = "\"rows\"",
	  .help = "what to drop; both: rows first" },
};
static const struct dtx_example empty_examples[] = {
	{ .step = DTX_JSON({ "op" : "drop_empty" }),
	  .in = "a,b\n1,\n  ,\"\"\n,x\n",
	  .out = "a,b\n1,\n,x\n" },
	{ .step = DTX_JSON({ "op" : "remove_empty", "axis" : "cols" }),
	  .in = "a,b,c\n1,,2\n3,,4\n",
	  .out = "a,c\n1,2\n3,4\n" },
	{ .step = DTX_JSON({ "op" : "drop_empty", "axis" : "both" }),
	  .in = "a,b,c\n1,,2\n,,\n3, ,4\n",
	  .out = "a,c\n1,2\n3,4\n" },
};

static enum dtx_code empty_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	(void)args;
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_raw_bind(b, err));
out:
	return rc;
}

struct rest { /* what stays */
	int64_t *rows, n;
	int32_t *col;
	uint32_t ncols;
};

static void rest_clear(struct rest *r)
{
	dtx_mem_free(r->rows);
	dtx_mem_free(r->col);
}

static enum dtx_code column_blank(struct dtx_raw *raw, const struct rest *r, uint32_t c,
                                  bool *blank, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*blank = true;
	for (int64_t i = 0; i < r->n && *blank; i++) {
		DTX_TRY(dtx_cancel_row((uint64_t)i, err));
		*blank = dtx_raw_blank(raw, r->rows[i], c);
	}
out:
	return rc;
}

static enum dtx_code rest_of(const struct empty_args *a, struct dtx_table *t, struct rest *r,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_raw raw = DTX_RAW_INIT;
	uint32_t only;

	DTX_TRY(dtx_raw_open(&raw, t, err));
	r->rows = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*r->rows));
	r->col = dtx_mem_alloc((size_t)raw.ncols + 1, sizeof(*r->col));
	if (!r->rows || !r->col)
		DTX_FAIL_MEM(err);
	for (int64_t row = 0; row < t->nrows; row++) {
		DTX_TRY(dtx_cancel_look(err));
		if (a->axis == AXIS_COLS || dtx_raw_filled(&raw, row, &only))
			r->rows[r->n++] = row;
	}
	for (uint32_t c = 0; c < raw.ncols; c++) {
		bool blank = false;

		if (a->axis != AXIS_ROWS)
			DTX_TRY(column_blank(&raw, r, c, &blank, err));
		if (!blank)
			r->col[r->ncols++] = (int32_t)c;
	}
out:
	dtx_raw_close(&raw);
	return rc;
}

static enum dtx_code empty_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_arena *arena, const struct dtx_schema **out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct rest r = { .rows = NULL };
	const struct dtx_schema *all;
	struct dtx_schema *some = dtx_arena_zalloc(arena, 1, sizeof(*some));
	struct dtx_field *field;

	DTX_TRY(rest_of(ox->args, t, &r, err));
	DTX_TRY(dtx_raw_schema(t, r.rows, r.n, NULL, arena, &all, err));
	field = dtx_arena_zalloc(arena, (size_t)r.ncols + 1, sizeof(*field));
	if (!some || !field)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < r.ncols; i++)
		field[i] = all->field[r.col[i]];
	some->nfields = r.ncols;
	some->field = field;
	*out = some;
out:
	rest_clear(&r);
	return rc;
}

static enum dtx_code empty_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct rest r = { .rows = NULL };
	struct dtx_colmap map;

	DTX_TRY(rest_of(ox->args, t, &r, err));
	map = (struct dtx_colmap){ r.ncols, r.col };
	dtx_op_count(ox, "blank", t->nrows - r.n);
	DTX_TRY(dtx_table_emit(ox, t, &map, r.rows, r.n, out, err));
out:
	rest_clear(&r);
	return rc;
}

static void empty_explain(const void *args, struct dtx_buf *out)
{
	static const char *const what[] = { "rows", "columns", "rows and columns" };

	dtx_buf_printf(out, "drop blank %s", what[((const struct empty_args *)args)->axis]);
}

const struct dtx_op dtx_op_drop_empty = {
	.name = "drop_empty",
	.aliases = "remove_empty,drop_blank",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Drop blank rows and columns",
	.notes = "Blank is null, empty text or spaces. A header does not count as a cell. Column "
		 "types are found again.",
	.facts = { .rows = DTX_ROWS_CHOSEN, .values = DTX_VALUES_KEPT, .as_read = true },
	.params = empty_params,
	.nparams = DTX_COUNT(empty_params),
	.examples = empty_examples,
	.nexamples = DTX_COUNT(empty_examples),
	.args_size = sizeof(struct empty_args),
	.bind = empty_bind,
	.whole = empty_whole,
	.whole_schema = empty_schema,
	.explain = empty_explain,
};
