/* subtitle_to_column: section titles between the rows become a column. */
#include "core/expr/regex/regex.h"
#include "ops/kit/relayout.h"

enum { ONLY_CELL, BOLD };
struct subtitle_match {
	int kind;
	const char *regex;
};
struct subtitle_args {
	const char *as, *col;
	struct dtx_plist match;
	bool drop;
};
struct subtitle_state {
	int32_t col;
	struct dtx_regex *regex; /* NULL: a title is bold, or the only cell of its row */
	bool bold;
};

#define AT(member) .offset = offsetof(struct subtitle_args, member)
static const struct dtx_param match_rows[] = {
	{ .name = "kind",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct subtitle_match, kind),
	  .choices = "only_cell,bold",
	  .help = "only_cell: the row has no other cell; bold: a workbook's cell in bold" },
	{ .name = "regex",
	  .kind = DTX_P_REGEX,
	  .offset = offsetof(struct subtitle_match, regex),
	  .help = "the text of the cell matches" },
};
static const struct dtx_param subtitle_params[] = {
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  AT(as),
	  .aliases = "name,new_name",
	  .def = "\"subtitle\"",
	  .help = "name of the new first column" },
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  AT(col),
	  .aliases = "column",
	  .help = "column with the titles (default: the first column)" },
	{ .name = "match",
	  .kind = DTX_P_LIST,
	  AT(match),
	  .rows = match_rows,
	  .nrows = DTX_COUNT(match_rows),
	  .item_size = sizeof(struct subtitle_match),
	  .sugar = DTX_SUGAR_SCALAR,
	  .help = "what makes a title: \"only_cell\" (default), \"bold\" or {\"regex\": ...}" },
	{ .name = "drop",
	  .kind = DTX_P_BOOL,
	  AT(drop),
	  .def = "true",
	  .help = "drop the rows of the titles" },
};
static const struct dtx_example subtitle_examples[] = {
	{ .step = DTX_JSON({ "op" : "subtitle_to_column", "as" : "region" }),
	  .in = "name,hours\nx,0\nNorth,\na,1.50\nb,2\nSouth,\nc,3\n",
	  .out = "region,name,hours\n,x,0\nNorth,a,1.50\nNorth,b,2\nSouth,c,3\n" },
	{ .step = DTX_JSON({
		  "op" : "subtitle",
		  "col" : "v",
		  "match" : { "regex" : "^FY" },
		  "drop" : false
	  }),
	  .in = "k,v\n,FY23\na,1\nb,FY24\nc,2\n",
	  .out = "subtitle,k,v\nFY23,,FY23\nFY23,a,1\nFY24,b,FY24\nFY24,c,2\n" },
	{ .step = DTX_JSON({ "op" : "subtitle_to_column" }),
	  .in = "name,hours\nNorth,\n",
	  .out = "subtitle,name,hours\n" },
	{ .step = DTX_JSON({
		  "op" : "subtitle_to_column",
		  "match" : { "kind" : "only_cell", "regex" : "^FY" }
	  }),
	  .in = "a,b\n1,2\n",
	  .error = "param_conflict",
	  .message = "subtitle_to_column: match must be \"only_cell\", \"bold\" or one regex, not "
	             "both" },
	{ .step = DTX_JSON({ "op" : "subtitle_to_column", "match" : "bold" }),
	  .in = "a,b\n1,2\n",
	  .error = "unexpected_value",
	  .message = "subtitle_to_column: match \"bold\" needs cells of a workbook" },
	{ .step = DTX_JSON({ "op" : "subtitle_to_column", "as" : "a" }),
	  .in = "a,b\n1,2\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'a'" },
};

static enum dtx_code subtitle_check(const void *args, struct dtx_err *err)
{
	const struct subtitle_args *a = args;
	const struct subtitle_match *match = a->match.item;
	enum dtx_code rc = DTX_OK;

	if (a->match.n > 1)
		DTX_PARAM_FAIL(
			err, DTX_E_BAD_PARAM_VALUE, "/match",
			"subtitle_to_column: match must be \"only_cell\", \"bold\" or one regex");
	if (a->match.n && match->kind >= 0 && match->regex)
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/match",
		               "subtitle_to_column: match must be \"only_cell\", \"bold\" or one "
		               "regex, not both");
out:
	return rc;
}

static enum dtx_code subtitle_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct subtitle_args *a = args;
	const struct subtitle_match *match = a->match.item;
	const struct dtx_typeref any = { .type = DTX_T_UNKNOWN };
	struct subtitle_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_err bad = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	if (a->col)
		DTX_TRY(dtx_bind_column(b, 0, a->col, "/col", &s->col, err));
	if (a->match.n && match[0].regex &&
	    dtx_regex_compile(b->arena, dtx_str_of(match[0].regex), &s->regex, &bad) != DTX_OK)
		DTX_TRY(dtx_bind_fail(b, bad.code, "/match/regex", err, "%s", bad.msg));
	s->bold = a->match.n && match[0].kind == BOLD;
	DTX_TRY(dtx_bind_make(b, a->as, any, NULL, "title above", err));
	if (s->col >= 0 && (uint32_t)s->col < b->in[0]->nfields)
		DTX_TRY(dtx_bind_use(b, 0, 0, s->col, DTX_DEMAND_BYTES, err));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_raw_bind(b, err));
out:
	dtx_err_clear(&bad);
	return rc;
}

struct titles {
	const struct subtitle_state *s;
	struct dtx_rematch *match;
	struct dtx_buf text;
};

static bool is_title(struct dtx_relayout *m, struct titles *t, int64_t row)
{
	uint32_t only = 0, col = (uint32_t)t->s->col;

	if (t->s->bold)
		return dtx_raw_bold(&m->raw, row, col) && !dtx_raw_blank(&m->raw, row, col);
	if (!t->match)
		return dtx_raw_filled(&m->raw, row, &only) == 1 && only == col;
	if (dtx_raw_blank(&m->raw, row, col))
		return false;
	dtx_buf_reset(&t->text);
	return dtx_rematch_test(t->match, dtx_raw_text(&m->raw, row, col, &t->text));
}

/* Lists every row that stays, with the last title at or above it. */
static enum dtx_code place_rows(struct dtx_relayout *m, struct titles *t, bool drop,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t all = m->raw.table->nrows, n = 0;
	struct dtx_from title = { 0, DTX_FROM_NULL };

	for (int64_t row = 0; row < all; row++) {
		bool is;

		DTX_TRY(dtx_cancel_line((uint64_t)row, err));
		is = is_title(m, t, row);
		if (is)
			title = (struct dtx_from){ row, t->s->col };
		if (is && drop)
			continue;
		m->out[0].cell[n] = title;
		m->row[n++] = row;
	}
	m->nrows = n;
	dtx_relayout_count(m, "subtitle", all - n);
out:
	return rc;
}

static enum dtx_code subtitle_lay(struct dtx_relayout *m, struct dtx_err *err)
{
	const struct subtitle_args *a = m->ox->args;
	struct titles t = { .s = m->ox->bound, .text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	enum dtx_code rc = DTX_OK;

	if (t.s->regex) {
		t.match = dtx_rematch_new(&m->arena, t.s->regex);
		if (!t.match)
			DTX_FAIL_MEM(err);
	}
	if (t.s->bold && m->raw.table->nrows && !dtx_raw_is_sheet(&m->raw)) {
		dtx_err_set(err, DTX_E_UNEXPECTED_VALUE, __FILE__, __LINE__,
		            "subtitle_to_column: match \"bold\" needs cells of a workbook");
		dtx_err_hint(err, "put the step first, or match \"only_cell\" or a regex");
		rc = DTX_E_UNEXPECTED_VALUE;
		goto out;
	}
	DTX_TRY(dtx_relayout_size(m, m->raw.table->nrows, m->raw.ncols + 1, err));
	DTX_TRY(dtx_relayout_rows(m, err));
	DTX_TRY(dtx_relayout_cells(m, 0, err));
	m->out[0].name = a->as;
	for (uint32_t c = 0; c < m->raw.ncols; c++) {
		m->out[c + 1].name = m->raw.table->schema->field[c].name;
		m->out[c + 1].col = (int32_t)c;
	}
	DTX_TRY(place_rows(m, &t, a->drop, err));
	if (!dtx_buf_ok(&t.text))
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&t.text);
	return rc;
}

static enum dtx_code subtitle_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                     struct dtx_arena *arena, const struct dtx_schema **out,
                                     struct dtx_err *err)
{
	return dtx_relayout_schema(ox, t, arena, out, subtitle_lay, err);
}

static enum dtx_code subtitle_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                    struct dtx_emit *out, struct dtx_err *err)
{
	return dtx_relayout_whole(ox, t, out, subtitle_lay, err);
}

static void subtitle_explain(const void *args, struct dtx_buf *out)
{
	const struct subtitle_args *a = args;
	const struct subtitle_match *match = a->match.item;

	dtx_buf_printf(out, "%s titles in %s ", a->drop ? "move" : "copy",
	               a->col ? a->col : "the first column");
	if (a->match.n && match[0].regex)
		dtx_buf_printf(out, "that match /%s/ ", match[0].regex);
	else
		dtx_buf_add(out, a->match.n && match[0].kind == BOLD
		                         ? "in bold "
		                         : "that stand alone in their row ");
	dtx_buf_printf(out, "into the new column %s of the rows below", a->as);
}

const struct dtx_op dtx_op_subtitle_to_column = {
	.name = "subtitle_to_column",
	.aliases = "subtitle,section_to_column",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Turn section titles between the rows into a column",
	.notes =
		"A title goes to all rows below it, until the next one; rows above the first get "
		"null. With drop false a title's own row has it too. Column types are found again.",
	.facts = { .rows = DTX_ROWS_CHOSEN,
	           .values = DTX_VALUES_KEPT,
	           .as_read = true,
	           .borrows = true,
	           .cells = true },
	.params = subtitle_params,
	.nparams = DTX_COUNT(subtitle_params),
	.examples = subtitle_examples,
	.nexamples = DTX_COUNT(subtitle_examples),
	.args_size = sizeof(struct subtitle_args),
	.check = subtitle_check,
	.bind = subtitle_bind,
	.whole = subtitle_whole,
	.whole_schema = subtitle_schema,
	.explain = subtitle_explain,
};
