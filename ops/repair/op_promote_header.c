/* promote_header: the first rows become column names. The header detection of the readers
 * (core/io/header) finds how many rows, joins their parts and makes names unique. */
#include "core/io/header/header.h"
#include "ops/kit/cells_untyped.h"

enum { FILL_AUTO, FILL_MERGED, FILL_RIGHT, FILL_NONE };
enum { UNIQUE_SUFFIX, UNIQUE_ERROR };
struct promote_args {
	const json_t *rows;
	const char *sep;
	int fill, unique;
};

static const struct dtx_param promote_params[] = {
	{ .name = "rows",
	  .kind = DTX_P_VALUE,
	  .offset = offsetof(struct promote_args, rows),
	  .def = "1",
	  .schema = "{\"anyOf\":[{\"const\":\"auto\"},{\"type\":\"integer\",\"minimum\":1,"
	            "\"maximum\":8}]}",
	  .help = "how many rows, 1 to 8, or \"auto\"" },
	{ .name = "sep",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct promote_args, sep),
	  .aliases = "delimiter,separator",
	  .def = "\" \"",
	  .help = "between the parts of a name" },
	{ .name = "fill",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct promote_args, fill),
	  .choices = "auto,merged,right,none",
	  .def = "\"auto\"",
	  .help = "which blank header cells take their neighbour's text" },
	{ .name = "unique",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct promote_args, unique),
	  .choices = "suffix,error",
	  .def = "\"suffix\"",
	  .help = "what to do with equal names" },
};
static const struct dtx_example promote_examples[] = {
	{ .step = DTX_JSON({ "op" : "promote_header" }),
	  .in = "column_1,column_2\nid,amount\n1,2.50\n2,\n",
	  .out = "id,amount\n1,2.50\n2,\n" },
	{ .step = DTX_JSON({ "op" : "promote_header", "rows" : 2, "sep" : "|" }),
	  .in = "a,b,c\nRegion,Hours,\n,Jan,Feb\nNorth,1,2\n",
	  .out = "Region,Hours|Jan,Hours|Feb\nNorth,1,2\n" },
	{ .step = DTX_JSON({ "op" : "row_to_names" }),
	  .in = "a,b,c\nx,x,\n1,2,3\n",
	  .out = "x,x_2,column_3\n1,2,3\n" },
	{ .step = DTX_JSON({ "op" : "promote_header", "unique" : "error" }),
	  .in = "a,b\nx,x\n1,2\n",
	  .error = "ambiguous_column",
	  .message = "two columns are named 'x': row 1, column 1 and row 1, column 2" },
	{ .step = DTX_JSON({ "op" : "promote_header", "rows" : 3 }),
	  .in = "a\nx\n",
	  .error = "header_not_found",
	  .message = "promote_header needs 3 rows, the table has 1" },
};

static enum dtx_code promote_check(const void *args, struct dtx_err *err)
{
	const struct promote_args *a = args;
	enum dtx_code rc = DTX_OK;
	json_int_t n = json_integer_value(a->rows);
	bool automatic = json_is_string(a->rows) && strcmp(json_string_value(a->rows), "auto") == 0;

	if (a->rows && !automatic && (!json_is_integer(a->rows) || n < 1 || n > DTX_HEAD_ROWS_MAX))
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/rows",
		               "rows must be 1 to %d, or \"auto\"", DTX_HEAD_ROWS_MAX);
out:
	return rc;
}

/* The names come from the rows, so they are not known when binding. */
static enum dtx_code promote_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	(void)args;
	return dtx_raw_bind(b, err);
}

/* --- the cells, as the header detection reads them --- */

struct grid {
	struct dtx_raw raw;
	struct dtx_buf text[2]; /* texts of the row that is asked for and of the one before */
	unsigned turn;
};

/* Whether the merged range at this cell spans all columns, as a title does. */
static bool is_wide(struct dtx_raw *r, int64_t row, uint32_t col)
{
	uint32_t from = col, to = col;

	while (from > 0 && dtx_raw_merge(r, row, from) & DTX_CELL_MERGE_LEFT)
		from--;
	while (to + 1 < r->ncols && dtx_raw_merge(r, row, to + 1) & DTX_CELL_MERGE_LEFT)
		to++;
	return from == 0 && to + 1 == r->ncols && to > 0;
}

static enum dtx_head_kind cell_kind(struct dtx_raw *r, int64_t row, uint32_t col,
                                    struct dtx_str text)
{
	if (dtx_raw_blank(r, row, col))
		return DTX_HEAD_BLANK;
	switch (dtx_raw_kind(r, row, col)) {
	case DTX_CELL_NUMBER:
		return dtx_head_judge(text) == DTX_HEAD_YEAR ? DTX_HEAD_YEAR : DTX_HEAD_VALUE;
	case DTX_CELL_DATE:
	case DTX_CELL_DATETIME:
	case DTX_CELL_ISO: return DTX_HEAD_YEAR;
	case DTX_CELL_WHOLE:
	case DTX_CELL_BOOL:
	case DTX_CELL_ERROR:
	case DTX_CELL_TIME:
	case DTX_CELL_DURATION: return DTX_HEAD_VALUE;
	default: return DTX_HEAD_TEXT;
	}
}

static enum dtx_code grid_row(void *arg, uint64_t row, struct dtx_head_cell *cell, uint32_t *width,
                              struct dtx_err *err)
{
	struct grid *g = arg;
	struct dtx_buf *text = &g->text[g->turn ^= 1];
	enum dtx_code rc = DTX_OK;

	dtx_buf_reset(text);
	if (!dtx_buf_room(text, (size_t)1 << 16))
		DTX_FAIL_MEM(err);
	for (uint32_t c = 0; c < g->raw.ncols; c++) {
		uint8_t merge = dtx_raw_merge(&g->raw, (int64_t)row, c);
		int64_t at = (int64_t)row;
		uint32_t col = c;

		dtx_raw_anchor(&g->raw, DTX_CELL_MERGE_UP | DTX_CELL_MERGE_LEFT, &at, &col);
		cell[c] = (struct dtx_head_cell){ .covered = merge != 0, .covered_left = col != c };
		cell[c].wide = (merge & DTX_CELL_MERGE_LEFT ||
		                (c + 1 < g->raw.ncols &&
		                 dtx_raw_merge(&g->raw, at, c + 1) & DTX_CELL_MERGE_LEFT)) &&
		               is_wide(&g->raw, at, c);
		cell[c].text = dtx_raw_text(&g->raw, at, col, text);
		cell[c].kind = cell_kind(&g->raw, at, col, cell[c].text);
	}
	if (!dtx_buf_ok(text))
		DTX_FAIL_MEM(err);
	if (width)
		*width = g->raw.ncols;
out:
	return rc;
}

static void grid_name(void *arg, uint64_t row, uint32_t col, char out[48])
{
	(void)arg;
	snprintf(out, 48, "row %llu, column %u", (unsigned long long)row + 1, col + 1);
}

static enum dtx_code find_head(const struct promote_args *a, const struct dtx_head_grid *grid,
                               struct dtx_head *head, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (json_is_string(a->rows))
		return dtx_head_find(grid, head, err);
	*head = (struct dtx_head){ .rows = a->rows ? (uint32_t)json_integer_value(a->rows) : 1 };
	if (grid->nrows < head->rows) {
		rc = dtx_err_set(err, DTX_E_HEADER_NOT_FOUND, __FILE__, __LINE__,
		                 "promote_header needs %u rows, the table has %llu", head->rows,
		                 (unsigned long long)grid->nrows);
		dtx_err_hint(err, "an earlier step may have dropped the header");
	}
	return rc;
}

static enum dtx_code names_of(const struct promote_args *a, struct dtx_table *t,
                              struct dtx_arena *arena, struct dtx_errlist *diags,
                              struct dtx_head *head, const char ***names, struct dtx_err *err)
{
	static const enum dtx_header_fill fill[] = { DTX_FILL_AUTO, DTX_FILL_MERGED, DTX_FILL_RIGHT,
		                                     DTX_FILL_NONE };
	enum dtx_code rc = DTX_OK;
	struct grid g = { .raw = DTX_RAW_INIT };
	struct dtx_head_grid grid = { .row = grid_row, .name = grid_name, .arg = &g };

	for (int i = 0; i < 2; i++)
		dtx_buf_init(&g.text[i], DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_raw_open(&g.raw, t, err));
	grid.nrows = (uint64_t)t->nrows;
	grid.ncols = g.raw.ncols;
	grid.text_file = !dtx_raw_is_sheet(&g.raw);
	DTX_TRY(find_head(a, &grid, head, err));
	DTX_TRY(dtx_head_names(&grid, head, a->sep, fill[a->fill], a->unique == UNIQUE_ERROR, arena,
	                       diags, names, err));
out:
	for (int i = 0; i < 2; i++)
		dtx_buf_clear(&g.text[i]);
	dtx_raw_close(&g.raw);
	return rc;
}

/* Lists the rows below the header. */
static enum dtx_code rows_below(struct dtx_table *t, const struct dtx_head *head, int64_t **out,
                                int64_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t first = (int64_t)head->first + head->rows;
	int64_t *rows = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*rows));

	if (!rows)
		DTX_FAIL_MEM(err);
	*n = t->nrows - first;
	for (int64_t i = 0; i < *n; i++)
		rows[i] = first + i;
	*out = rows;
out:
	return rc;
}

static enum dtx_code promote_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_arena *arena, const struct dtx_schema **out,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_errlist diags = DTX_ERRLIST_INIT;
	struct dtx_head head;
	const char **names;
	int64_t *rows = NULL, n;

	DTX_TRY(names_of(ox->args, t, arena, &diags, &head, &names, err));
	for (size_t i = 0; i < diags.n; i++)
		dtx_op_warn(ox, diags.item[i].code, "%s", diags.item[i].msg);
	DTX_TRY(rows_below(t, &head, &rows, &n, err));
	DTX_TRY(dtx_raw_schema(t, rows, n, names, arena, out, err));
out:
	dtx_errlist_clear(&diags);
	dtx_mem_free(rows);
	return rc;
}

static enum dtx_code promote_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_errlist diags = DTX_ERRLIST_INIT;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_head head;
	const char **names;
	int64_t *rows = NULL, n;

	DTX_TRY(names_of(ox->args, t, &arena, &diags, &head, &names, err));
	DTX_TRY(rows_below(t, &head, &rows, &n, err));
	dtx_op_count(ox, "above_header", (int64_t)head.first);
	dtx_op_count(ox, "header", head.rows);
	DTX_TRY(dtx_raw_emit(ox, t, rows, n, out, err));
out:
	dtx_errlist_clear(&diags);
	dtx_arena_clear(&arena);
	dtx_mem_free(rows);
	return rc;
}

static void promote_explain(const void *args, struct dtx_buf *out)
{
	const struct promote_args *a = args;

	if (json_is_string(a->rows))
		dtx_buf_add(out, "find the header and make its rows the column names");
	else
		dtx_buf_printf(out, "make the first %lld rows the column names",
		               a->rows ? (long long)json_integer_value(a->rows) : 1LL);
}

extern const struct dtx_op dtx_op_promote_header;

/* The header detection has no pandas form. */
static bool promote_pandas(const void *args, struct dtx_buf *out)
{
	const struct promote_args *a = args;

	return !json_is_string(a->rows) && dtx_py_call(&dtx_op_promote_header, args, NULL, 1, out);
}

const struct dtx_op dtx_op_promote_header = {
	.name = "promote_header",
	.aliases = "use_first_row_as_header,row_to_names",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_MAY_TRIGGER,
	.summary = "Make the first rows the column names",
	.notes =
		"Parts of a name are joined top to bottom; blank and repeated parts are skipped. A "
		"column without any is column_N, repeated names get _2, _3. Column types are "
		"found again.",
	.facts = { .rows = DTX_ROWS_CHOSEN, .values = DTX_VALUES_RENAMED, .as_read = true },
	.params = promote_params,
	.nparams = DTX_COUNT(promote_params),
	.examples = promote_examples,
	.nexamples = DTX_COUNT(promote_examples),
	.args_size = sizeof(struct promote_args),
	.check = promote_check,
	.bind = promote_bind,
	.whole = promote_whole,
	.pandas = promote_pandas,
	.whole_schema = promote_schema,
	.triggers = "header_not_found",
	.explain = promote_explain,
};
