/* skip_rows: drops rows above and below a table, and comment lines in it. */
#include "core/base/text/utf8.h"
#include "core/expr/regex/regex.h"
#include "ops/kit/cells_untyped.h"

struct skip_args {
	int64_t head, tail;
	const char *comment, *until;
};
struct skip_state {
	struct dtx_regex *until; /* NULL: no such rule */
};

static const struct dtx_param skip_params[] = {
	{ .name = "head",
	  .kind = DTX_P_INT,
	  .offset = offsetof(struct skip_args, head),
	  .max = INT64_MAX,
	  .def = "0",
	  .aliases = "n,rows",
	  .help = "rows to drop at the top" },
	{ .name = "tail",
	  .kind = DTX_P_INT,
	  .offset = offsetof(struct skip_args, tail),
	  .max = INT64_MAX,
	  .def = "0",
	  .help = "rows to drop at the bottom" },
	{ .name = "until",
	  .kind = DTX_P_REGEX,
	  .offset = offsetof(struct skip_args, until),
	  .help = "drop rows before the first with a cell that matches" },
	{ .name = "comment",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct skip_args, comment),
	  .schema = "{\"type\":\"string\",\"minLength\":1}",
	  .help = "drop rows whose first cell that is not blank starts with this" },
};
static const struct dtx_example skip_examples[] = {
	{ .step = DTX_JSON({ "op" : "skip_rows", "head" : 1, "tail" : 1 }),
	  .in = "a,b\nx,note\n1,2.50\n3,4\nend,\n",
	  .out = "a,b\n1,2.50\n3,4\n" },
	{ .step = DTX_JSON({ "op" : "skip", "comment" : "#" }),
	  .in = "a,b\n#1,x\n1,2\n,# y\n3,4\n",
	  .out = "a,b\n1,2\n3,4\n" },
	{ .step = DTX_JSON({ "op" : "skip_rows", "until" : "^Reg" }),
	  .in = "a,b\nnote,\nx,Region\n1,2\n",
	  .out = "a,b\nx,Region\n1,2\n" },
	{ .step = DTX_JSON({ "op" : "skip_rows", "until" : "^Reg" }),
	  .in = "a\n1\n",
	  .error = "header_not_found",
	  .message = "skip_rows: no cell matches '^Reg'" },
	{ .step = DTX_JSON({ "op" : "skip_rows", "head" : 5 }), .in = "a\n1\n2\n", .out = "a\n" },
	{ .step = DTX_JSON({ "op" : "skip_rows", "comment" : "" }),
	  .in = "a\n1\n",
	  .error = "bad_param_value",
	  .message = "skip_rows: comment is empty" },
};

/* Refuses an empty comment mark: every row would start with it. */
static enum dtx_code skip_check(const void *args, struct dtx_err *err)
{
	const struct skip_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->comment && !*a->comment)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/comment",
		               "skip_rows: comment is empty");
out:
	return rc;
}

static enum dtx_code skip_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct skip_args *a = args;
	struct skip_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_err bad = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	if (a->until &&
	    dtx_regex_compile(b->arena, dtx_str_of(a->until), &s->until, &bad) != DTX_OK)
		DTX_TRY(dtx_bind_fail(b, bad.code, "/until", err, "%s", bad.msg));
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_raw_bind(b, err));
out:
	dtx_err_clear(&bad);
	return rc;
}

static bool is_comment(struct dtx_raw *r, int64_t row, struct dtx_str prefix,
                       struct dtx_buf *scratch)
{
	for (uint32_t c = 0; c < r->ncols; c++) {
		if (dtx_raw_blank(r, row, c))
			continue;
		dtx_buf_reset(scratch);
		return dtx_str_starts(dtx_utf8_trim(dtx_raw_text(r, row, c, scratch)), prefix);
	}
	return false;
}

/* Finds the first row at or after `row` with a cell that matches; the end of the table if there is
 * none. */
static enum dtx_code find_until(struct dtx_raw *r, const struct dtx_regex *re, int64_t *row,
                                struct dtx_buf *scratch, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_rematch *m = dtx_rematch_new(&arena, re);

	if (!m)
		DTX_FAIL_MEM(err);
	for (; *row < r->table->nrows; (*row)++) {
		DTX_TRY(dtx_cancel_line((uint64_t)*row, err));
		for (uint32_t c = 0; c < r->ncols; c++) {
			dtx_buf_reset(scratch);
			if (dtx_rematch_test(m, dtx_raw_text(r, *row, c, scratch)))
				goto out;
		}
	}
out:
	dtx_arena_clear(&arena);
	return rc;
}

/* Lists the rows that stay, which the caller frees. *comments: how many rows between them were
 * dropped. */
static enum dtx_code skip_rows(const struct dtx_opctx *ox, struct dtx_table *t, int64_t **out,
                               int64_t *n, int64_t *comments, struct dtx_err *err)
{
	const struct skip_args *a = ox->args;
	const struct skip_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	int64_t first = a->head;
	struct dtx_raw r = DTX_RAW_INIT;
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	int64_t *rows;

	DTX_TRY(dtx_raw_open(&r, t, err));
	rows = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*rows));
	if (!rows)
		DTX_FAIL_MEM(err);
	*out = rows;
	*n = *comments = 0;
	if (s->until)
		DTX_TRY(find_until(&r, s->until, &first, &scratch, err));
	if (s->until && first >= t->nrows)
		DTX_FAIL(err, DTX_E_HEADER_NOT_FOUND, "skip_rows: no cell matches '%.80s'",
		         a->until);
	for (int64_t row = first; row < t->nrows; row++) {
		DTX_TRY(dtx_cancel_row((uint64_t)row, err));
		if (a->comment && is_comment(&r, row, dtx_str_of(a->comment), &scratch))
			(*comments)++;
		else
			rows[(*n)++] = row;
	}
	*n = *n > a->tail ? *n - a->tail : 0;
out:
	dtx_buf_clear(&scratch);
	dtx_raw_close(&r);
	return rc;
}

static enum dtx_code skip_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_arena *arena, const struct dtx_schema **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *rows = NULL, n, comments;

	DTX_TRY(skip_rows(ox, t, &rows, &n, &comments, err));
	DTX_TRY(dtx_raw_schema(t, rows, n, NULL, arena, out, err));
out:
	dtx_mem_free(rows);
	return rc;
}

static enum dtx_code skip_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t *rows = NULL, n, comments;

	DTX_TRY(skip_rows(ox, t, &rows, &n, &comments, err));
	dtx_op_count(ox, "comment", comments);
	dtx_op_count(ox, "skipped", t->nrows - comments - n);
	DTX_TRY(dtx_raw_emit(ox, t, rows, n, out, err));
out:
	dtx_mem_free(rows);
	return rc;
}

static void skip_explain(const void *args, struct dtx_buf *out)
{
	const struct skip_args *a = args;

	dtx_buf_printf(out, "drop %lld rows at the top and %lld at the bottom", (long long)a->head,
	               (long long)a->tail);
	if (a->until)
		dtx_buf_printf(out, ", and rows before the first that matches /%s/", a->until);
	if (a->comment)
		dtx_buf_printf(out, ", and rows that start with '%s'", a->comment);
}

const struct dtx_op dtx_op_skip_rows = {
	.name = "skip_rows",
	.aliases = "skip,remove_top_rows",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Drop rows at the top and the bottom, and comments",
	.notes = "Works on the written cells; column types are found again from the rows that "
		 "stay. A "
		 "quoted "
		 "line break does not end a row.",
	.facts = { .rows = DTX_ROWS_CHOSEN, .values = DTX_VALUES_KEPT, .as_read = true },
	.params = skip_params,
	.nparams = DTX_COUNT(skip_params),
	.examples = skip_examples,
	.nexamples = DTX_COUNT(skip_examples),
	.args_size = sizeof(struct skip_args),
	.check = skip_check,
	.bind = skip_bind,
	.whole = skip_whole,
	.whole_schema = skip_schema,
	.triggers = "header_not_found",
	.explain = skip_explain,
};
