/* keep_range: a window of the source, by its own rows and columns. */
#include "ops/kit/relayout.h"

struct range_args {
	const char *range;
};
struct window { /* from 0, both ends; UINT32_MAX, INT64_MAX: open */
	uint32_t col[2];
	int64_t row[2];
};

static const struct dtx_param range_params[] = {
	{ .name = "range",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  .offset = offsetof(struct range_args, range),
	  .help = "\"B4:H200\", \"4:200\" or \"B:H\", counted from the source's A1" },
};
static const struct dtx_example range_examples[] = {
	{ .step = DTX_JSON({ "op" : "keep_range", "range" : "B3:C4" }),
	  .in = "a,b,c\n1,x,2.50\n2,y,3\n3,z,4\n4,w,\n",
	  .out = "b,c\ny,3\nz,4\n" },
	{ .step = DTX_JSON({ "op" : "crop", "range" : "3:9" }),
	  .in = "a,b\n1,x\n2,y\n",
	  .out = "a,b\n2,y\n" },
	{ .step = DTX_JSON({ "op" : "keep_range", "range" : "B:B" }),
	  .in = "a,b\n1,x\n2,y\n",
	  .out = "b\nx\ny\n" },
	{ .step = DTX_JSON({ "op" : "keep_range", "range" : "A0:A0" }),
	  .in = "a\n1\n",
	  .error = "bad_param_value",
	  .message = "keep_range needs a range such as B4:H200, 4:200 or B:H, got 'A0:A0'" },
	{ .step = DTX_JSON({ "op" : "keep_range", "range" : "B4:A2" }),
	  .in = "a\n1\n",
	  .error = "bad_param_value",
	  .message = "keep_range needs a range such as B4:H200, 4:200 or B:H, got 'B4:A2'" },
};

/* One end: letters, digits, or both; what is absent stays as it is. */
static bool parse_end(const char **at, uint32_t *col, int64_t *row)
{
	const char *s = *at;
	uint32_t c = 0;
	int64_t r = 0;

	for (; (*s | 0x20) >= 'a' && (*s | 0x20) <= 'z' && c < 100000; s++)
		c = c * 26 + (uint32_t)((*s | 0x20) - 'a') + 1;
	if (*s == '0') /* rows count from 1 */
		return false;
	for (; *s >= '0' && *s <= '9' && r < INT64_MAX / 20; s++)
		r = r * 10 + (*s - '0');
	if (c)
		*col = c - 1;
	if (r)
		*row = r - 1;
	*at = s;
	return c || r;
}

static bool parse_range(const char *text, struct window *w)
{
	const char *at = text;
	bool rows[2], cols[2];

	*w = (struct window){ { UINT32_MAX, UINT32_MAX }, { INT64_MAX, INT64_MAX } };
	if (!parse_end(&at, &w->col[0], &w->row[0]) || *at++ != ':' ||
	    !parse_end(&at, &w->col[1], &w->row[1]) || *at)
		return false;
	for (int i = 0; i < 2; i++) {
		rows[i] = w->row[i] != INT64_MAX;
		cols[i] = w->col[i] != UINT32_MAX;
	}
	if (rows[0] != rows[1] || cols[0] != cols[1])
		return false;
	if (!rows[0])
		w->row[0] = 0;
	if (!cols[0])
		w->col[0] = 0;
	return w->row[0] <= w->row[1] && w->col[0] <= w->col[1];
}

static enum dtx_code range_check(const void *args, struct dtx_err *err)
{
	const struct range_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct window w;

	if (!parse_range(a->range, &w))
		DTX_PARAM_FAIL(
			err, DTX_E_BAD_PARAM_VALUE, "/range",
			"keep_range needs a range such as B4:H200, 4:200 or B:H, got '%.40s'",
			a->range);
out:
	return rc;
}

static enum dtx_code range_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	(void)args;
	return dtx_raw_bind(b, err);
}

/* Place of a row in its source; -1: it was made. */
static int64_t source_row(struct dtx_relayout *m, int64_t row)
{
	struct dtx_place place = { -1, -1 };
	uint32_t at;
	const struct dtx_batch *b = dtx_raw_row(&m->raw, row, &at);
	uint64_t id;

	if (!dtx_batch_id(b, at, &id))
		return -1;
	if (!b->origin->locate)
		return (int64_t)id;
	b->origin->locate(b->origin, id, &place);
	return place.row;
}

static enum dtx_code keep_rows(struct dtx_relayout *m, const struct window *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t n = 0;

	DTX_TRY(dtx_relayout_rows(m, err));
	for (int64_t row = 0; row < m->raw.table->nrows; row++) {
		int64_t at;

		DTX_TRY(dtx_cancel_line((uint64_t)row, err)); /* finding a place may read a line */
		at = source_row(m, row);
		if (at < 0) {
			rc = dtx_err_set(err, DTX_E_UNEXPECTED_VALUE, __FILE__, __LINE__,
			                 "keep_range counts rows of a source; these were made by a "
			                 "step");
			dtx_err_hint(err, "put keep_range before the steps that make rows");
			goto out;
		}
		if (at >= w->row[0] && at <= w->row[1])
			m->row[n++] = row;
	}
	dtx_relayout_count(m, "outside", m->raw.table->nrows - n);
	m->nrows = n;
out:
	return rc;
}

static enum dtx_code range_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	const struct range_args *a = m->ox->args;
	const struct dtx_table *t = m->raw.table;
	const struct dtx_origin *o = t->nbatches ? t->batch[0]->origin : NULL;
	enum dtx_code rc = DTX_OK;
	uint32_t n = 0;
	struct window w;

	DTX_ASSERT(parse_range(a->range, &w), err); /* checked with the plan */
	if (o && o->physical_col && o->ncols != m->raw.ncols && w.col[1] != UINT32_MAX)
		DTX_FAIL(err, DTX_E_UNEXPECTED_VALUE,
		         "keep_range counts columns of a source; a step has changed them");
	DTX_TRY(dtx_relayout_size(m, t->nrows, m->raw.ncols, err));
	for (uint32_t c = 0; c < m->raw.ncols; c++) {
		uint32_t at = o && o->physical_col && c < o->ncols ? o->physical_col[c] : c;

		if (at < w.col[0] || at > w.col[1])
			continue;
		m->out[n].name = t->schema->field[c].name;
		m->out[n++].col = (int32_t)c;
	}
	if (!n)
		DTX_FAIL(err, DTX_E_MISSING_COLUMN, "keep_range: no column is in %s", a->range);
	m->ncols = n;
	DTX_TRY(keep_rows(m, &w, err));
out:
	return rc;
}

static enum dtx_code range_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_arena *arena, const struct dtx_schema **out,
                                  struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, range_lay, err);
}

static enum dtx_code range_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, range_lay, err);
}

static void range_explain(const void *args, struct dtx_buf *out)
{
	dtx_buf_printf(out, "keep the range %s of the source",
	               ((const struct range_args *)args)->range);
}

const struct dtx_op dtx_op_keep_range = {
	.name = "keep_range",
	.aliases = "crop",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER | DTX_OP_DX |
	         DTX_OP_PLACES,
	.summary = "Keep a window of the source",
	.notes = "Rows and columns are counted from the source's A1 (a text file: lines from 1), "
		 "whatever was dropped before; rows that a step has made are not counted. Column "
		 "types are found again. Its pandas form takes the header for row 1.",
	.facts = { .rows = DTX_ROWS_CHOSEN, .values = DTX_VALUES_KEPT, .as_read = true },
	.params = range_params,
	.nparams = DTX_COUNT(range_params),
	.examples = range_examples,
	.nexamples = DTX_COUNT(range_examples),
	.args_size = sizeof(struct range_args),
	.check = range_check,
	.bind = range_bind,
	.whole = range_whole,
	.whole_schema = range_schema,
	.triggers = "missing_column",
	.explain = range_explain,
};
