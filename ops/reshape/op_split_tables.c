/* split_tables: one of several tables in one sheet or file. */
#include "core/base/text/utf8.h"
#include "ops/kit/relayout.h"

enum { BY_BLANK_ROWS, BY_BLANK_COLS, BY_HEADER };
struct tables_args {
	int by;
	int64_t pick;
	const char *prefix;
};

static const struct dtx_param tables_params[] = {
	{ .name = "by",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct tables_args, by),
	  .choices = "blank_rows,blank_cols,repeated_header",
	  .def = "\"blank_rows\"",
	  .help = "what separates the tables" },
	{ .name = "pick",
	  .kind = DTX_P_INT,
	  .offset = offsetof(struct tables_args, pick),
	  .min = 1,
	  .max = INT64_MAX,
	  .def = "1",
	  .help = "which table is kept" },
	{ .name = "prefix",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct tables_args, prefix),
	  .help = "later steps read table k as prefix_k; the plan has one step for each" },
};
static const struct dtx_example tables_examples[] = {
	{ .step = DTX_JSON({ "op" : "split_tables", "pick" : 2 }),
	  .in = "a,b\nx,1\ny,2\n,\n,\nz,3\n,4\n",
	  .out = "a,b\nz,3\n,4\n" },
	{ .step = DTX_JSON({ "op" : "split_tables", "by" : "blank_cols", "pick" : 2 }),
	  .in = "a,b,c,d\n1,,x,2.50\n3,,,4\n",
	  .out = "c,d\nx,2.50\n,4\n" },
	{ .step = DTX_JSON({ "op" : "split_tables", "by" : "repeated_header", "pick" : 2 }),
	  .in = "a,b\n1,x\na,b\n2,y\na,b\n3,z\n",
	  .out = "a,b\n2,y\n" },
	{ .step = DTX_JSON({ "op" : "split_tables", "pick" : 3 }),
	  .in = "a\n1\n",
	  .error = "unexpected_value",
	  .message = "split_tables needs table 3, there are 1" },
};

/* Parsing a plan replaces the step by one for each table, without prefix. */
static enum dtx_code tables_check(const void *args, struct dtx_err *err)
{
	const struct tables_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->prefix)
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "'prefix' is for a step of a plan");
out:
	return rc;
}

static enum dtx_code tables_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct tables_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->by != BY_BLANK_COLS)
		DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_raw_bind(b, err));
out:
	return rc;
}

static enum dtx_code no_table(const struct tables_args *a, int64_t n, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_UNEXPECTED_VALUE, __FILE__, __LINE__,
	            "split_tables needs table %lld, there are %lld", (long long)a->pick,
	            (long long)n);
	dtx_err_hint(err, "set pick to the number of a table, or by to what separates them");
	return DTX_E_UNEXPECTED_VALUE;
}

/* Every cell that is not blank holds the name of its column, and there is such a cell. */
static bool is_header(struct dtx_relayout *m, int64_t row, struct dtx_buf *text)
{
	bool any = false;

	for (uint32_t c = 0; c < m->raw.ncols; c++) {
		struct dtx_str name = dtx_str_of(m->raw.table->schema->field[c].name);

		if (dtx_raw_blank(&m->raw, row, c))
			continue;
		dtx_buf_reset(text);
		if (!dtx_str_eq(dtx_utf8_trim(dtx_raw_text(&m->raw, row, c, text)),
		                dtx_utf8_trim(name)))
			return false;
		any = true;
	}
	return any;
}

/* Rows of the picked table.  A repeated header begins a table even when no row follows it; a blank
 * row only ends one. */
static enum dtx_code pick_rows(struct dtx_relayout *m, const struct tables_args *a,
                               struct dtx_buf *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t all = m->raw.table->nrows, n = 0, table = a->by == BY_HEADER && all;
	bool inside = a->by == BY_HEADER;
	uint32_t only;

	DTX_TRY(dtx_relayout_rows(m, err));
	for (int64_t row = 0; row < all; row++) {
		bool between;

		DTX_TRY(dtx_cancel_line((uint64_t)row, err));
		between = a->by == BY_HEADER ? is_header(m, row, text)
		                             : !dtx_raw_filled(&m->raw, row, &only);
		/* a header in the first row opens the first table */
		if (between && a->by == BY_HEADER)
			table += row > 0;
		else if (!between && !inside)
			table++;
		inside = a->by == BY_HEADER || !between;
		if (!between && table == a->pick)
			m->row[n++] = row;
	}
	if (a->pick > table) {
		rc = no_table(a, table, err);
		goto out;
	}
	m->nrows = n;
	dtx_relayout_count(m, "other_table", all - n);
out:
	return rc;
}

static bool column_blank(struct dtx_relayout *m, uint32_t c)
{
	for (int64_t r = 0; r < m->raw.table->nrows; r++)
		if (!dtx_raw_blank(&m->raw, r, c))
			return false;
	return true;
}

static enum dtx_code pick_cols(struct dtx_relayout *m, const struct tables_args *a,
                               struct dtx_err *err)
{
	int64_t table = 0;
	bool inside = false;
	uint32_t n = 0;

	for (uint32_t c = 0; c < m->raw.ncols; c++) {
		bool blank = column_blank(m, c);

		table += !blank && !inside;
		inside = !blank;
		if (blank || table != a->pick)
			continue;
		m->out[n] = (struct dtx_relayout_col){ m->raw.table->schema->field[c].name,
			                               (int32_t)c, NULL };
		n++;
	}
	m->ncols = n;
	return a->pick > table ? no_table(a, table, err) : DTX_OK;
}

static enum dtx_code tables_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	const struct tables_args *a = m->ox->args;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_relayout_same(m, m->raw.table->nrows, err));
	if (a->by == BY_BLANK_COLS)
		DTX_TRY(pick_cols(m, a, err));
	else
		DTX_TRY(pick_rows(m, a, &text, err));
out:
	dtx_buf_clear(&text);
	return rc;
}

static enum dtx_code tables_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                   struct dtx_arena *arena, const struct dtx_schema **out,
                                   struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, tables_lay, err);
}

static enum dtx_code tables_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, tables_lay, err);
}

/* With blank columns between, only the rows show which columns there are. */
static void tables_facts(const json_t *canonical, struct dtx_op_facts *facts)
{
	if (!strcmp(dtx_json_text(canonical, "by", ""), "blank_cols"))
		facts->values = DTX_VALUES_ANY;
}

static void tables_explain(const void *args, struct dtx_buf *out)
{
	static const char *const by[] = { "blank rows", "blank columns", "repeated headers" };
	const struct tables_args *a = args;

	dtx_buf_printf(out, "keep table %lld of those separated by %s", (long long)a->pick,
	               by[a->by]);
}

const struct dtx_op dtx_op_split_tables = {
	.name = "split_tables",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Keep one of several tables in a sheet",
	.notes = "Tables are counted from 1; what separates them is dropped. A later table's own "
		 "header "
		 "is its first row: promote_header makes it the header. Column types are found "
		 "again.",
	.facts = { .values = DTX_VALUES_KEPT, .cells = true },
	.facts_of = tables_facts,
	.params = tables_params,
	.nparams = DTX_COUNT(tables_params),
	.examples = tables_examples,
	.nexamples = DTX_COUNT(tables_examples),
	.prefix = "prefix",
	.pick = "pick",
	.args_size = sizeof(struct tables_args),
	.check = tables_check,
	.bind = tables_bind,
	.whole = tables_whole,
	.whole_schema = tables_schema,
	.explain = tables_explain,
};
