/* drop_rows: rows that are no data: blanks, footnotes, repeated headers, totals, or by condition.
 */
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "ops/kit/cells_untyped.h"
#include "ops/reshape/totals.h"

struct drop_args {
	struct dtx_plist kinds, words;
	struct dtx_expr *where;
	struct dtx_cols *label_cols;
	bool verify;
};
enum row_kind { ROW_NONE, ROW_BLANK, ROW_REPEATED, ROW_FOOTNOTE, ROW_WHERE, ROW_TOTAL, ROW_KINDS };
struct drop_state {
	bool on[ROW_KINDS];
	struct dtx_bound *where;
	uint32_t *label;
	uint32_t nlabels;
	const char **word; /* folded */
	size_t nwords;
};
static const struct {
	const char *name, *reason;
} kinds[ROW_KINDS] = {
	[ROW_NONE] = { "", "" },
	[ROW_BLANK] = { "blank", "blank" },
	[ROW_REPEATED] = { "repeated_header", "repeated_header" },
	[ROW_FOOTNOTE] = { "footnotes", "footnote" },
	[ROW_WHERE] = { "", "where" },
	[ROW_TOTAL] = { "totals", "total" },
};

#define AT(member)       .offset = offsetof(struct drop_args, member)
#define FIRST_WORD(text) "\"" text "\""
#define NEXT_WORD(text)  ", \"" text "\""
static const struct dtx_param drop_params[] = {
	{ .name = "kinds",
	  .kind = DTX_P_TEXTS,
	  AT(kinds),
	  .def = "[]",
	  .schema = "{\"enum\":[\"totals\",\"blank\",\"footnotes\",\"repeated_header\"]}",
	  .help = "totals, blank, footnotes, repeated_header" },
	{ .name = "where",
	  .kind = DTX_P_EXPR,
	  AT(where),
	  .aliases = "condition,predicate,filter",
	  .help = "drop rows for which this is true" },
	{ .name = "words",
	  .kind = DTX_P_TEXTS,
	  AT(words),
	  .def = "[" DTX_TOTAL_WORDS(FIRST_WORD, NEXT_WORD) "]",
	  .help = "words that begin or end the label of a total" },
	{ .name = "label_cols",
	  .kind = DTX_P_COLUMNS,
	  AT(label_cols),
	  .help = "columns that may have the label of a total (default: any)" },
	{ .name = "verify",
	  .kind = DTX_P_BOOL,
	  AT(verify),
	  .def = "true",
	  .help = "drop a total only when its numbers agree with the rows above: at least one is "
	          "the sum of its column, and no more are not. Decimals may differ by rounding, "
	          "half a unit of the last decimal for each number; whole numbers may not" },
};
static const struct dtx_example drop_examples[] = {
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : "footnotes" }),
	  .in = "a\nx\nsource: y\n",
	  .out = "a\nx\nsource: y\n" },
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : [ "blank", "footnotes", "totals" ] }),
	  .in = "region,hours,cost\nNorth,10,1.50\nSouth,20,2.25\nTotal:,30,3.75\n,,\nEast,5,1\n"
	        "East total,5,1\nGrand total,35,4.75\n* rounded,,\n",
	  .out = "region,hours,cost\nNorth,10,1.50\nSouth,20,2.25\nEast,5,1\n" },
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : ["repeated_header"] }),
	  .in = "a,b\n1,x\na,b\n2,y\n",
	  .out = "a,b\n1,x\n2,y\n" },
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : "totals" }),
	  .in = "k,v\na,1\nTotal Energies,7\nb,2\n",
	  .out = "k,v\na,1\nTotal Energies,7\nb,2\n" },
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : "totals", "verify" : false }),
	  .in = "k,v\na,1\nTotal,7\nTotally,2\n",
	  .out = "k,v\na,1\nTotally,2\n" },
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : "totals" }),
	  .in = "k,v\na,10\nb,20\nTotal,31\n",
	  .out = "k,v\na,10\nb,20\nTotal,31\n" },
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : "totals" }),
	  .in = "k,v\na,1.5\nb,2\nZwischensumme,3.5\nc,4.25\nSumme c:,4.25\nGesamtsumme,7.75\n"
	        "insgesamt,7.8\nGesamtergebnis,7.75\n",
	  .out = "k,v\na,1.5\nb,2\nc,4.25\n" },
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : "totals" }),
	  .in = "k,v\na,1\nb,2\nSous-total,3\nc,4\nSubtotale,4\nTotal "
	        "g\u00e9n\u00e9ral,7\nTotale,7\n"
	        "Nord gesamt,7\nGesamtheit,7\n",
	  .out = "k,v\na,1\nb,2\nc,4\nGesamtheit,7\n" },
	{ .step = DTX_JSON({ "op" : "drop_rows", "kinds" : "totals" }),
	  .in = "k,v\na,\"1.010,5\"\nb,\"20,25\"\nSumme,\"1.030,75\"\n",
	  .out = "k,v\na,\"1.010,5\"\nb,\"20,25\"\n" },
	{ .step = DTX_JSON({ "op" : "remove_rows", "where" : "v > 1" }),
	  .in = "k,v\na,1\nb,2\nc,\n",
	  .out = "k,v\na,1\nc,\n" },
};

/* --- binding --- */

static enum dtx_code bind_kinds(struct dtx_bind *b, const struct drop_args *a, struct drop_state *s,
                                struct dtx_err *err)
{
	const char *const *name = a->kinds.item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t i = 0; i < a->kinds.n; i++) {
		enum row_kind k = ROW_BLANK;

		while (k < ROW_KINDS && (k == ROW_WHERE || strcmp(kinds[k].name, name[i]) != 0))
			k++;
		if (k < ROW_KINDS) {
			s->on[k] = true;
			continue;
		}
		snprintf(sub, sizeof(sub), "/kinds/%zu", i);
		DTX_TRY(dtx_bind_fail(
			b, DTX_E_BAD_PARAM_VALUE, sub, err,
			"'%s' is not one of totals, blank, footnotes, repeated_header", name[i]));
	}
out:
	return rc;
}

static enum dtx_code bind_labels(struct dtx_bind *b, const struct drop_args *a,
                                 struct drop_state *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t fields = b->in[0]->nfields, n = 0;
	int32_t *col = NULL;

	if (a->label_cols)
		DTX_TRY(dtx_bind_cols(b, 0, a->label_cols, "/label_cols", &col, &n, err));
	s->label = dtx_arena_alloc(b->arena, (size_t)fields + n + 1, sizeof(*s->label));
	if (!s->label)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0)
			s->label[s->nlabels++] = (uint32_t)col[i];
	for (uint32_t i = 0; !a->label_cols && i < fields; i++)
		s->label[s->nlabels++] = i;
out:
	return rc;
}

static enum dtx_code bind_words(struct dtx_bind *b, const struct drop_args *a, struct drop_state *s,
                                struct dtx_err *err)
{
	const char *const *word = a->words.item;
	enum dtx_code rc = DTX_OK;
	struct dtx_buf folded = DTX_BUF_INIT(1 << 16);

	s->word = dtx_arena_alloc(b->arena, a->words.n + 1, sizeof(*s->word));
	if (!s->word)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < a->words.n; i++) {
		dtx_buf_reset(&folded);
		dtx_utf8_fold(&folded, dtx_utf8_trim(dtx_str_of(word[i])));
		DTX_TRY(dtx_buf_check(&folded, "a word", err));
		s->word[s->nwords] = dtx_arena_strdup(b->arena, dtx_buf_text(&folded));
		if (!s->word[s->nwords++])
			DTX_FAIL_MEM(err);
	}
out:
	dtx_buf_clear(&folded);
	return rc;
}

static enum dtx_code drop_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct drop_args *a = args;
	const struct dtx_typeref want = { .type = DTX_T_BOOL };
	enum dtx_code rc = DTX_OK;
	struct drop_state *s = dtx_bind_state(b, sizeof(*s));

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(bind_kinds(b, a, s, err));
	DTX_TRY(bind_labels(b, a, s, err));
	DTX_TRY(bind_words(b, a, s, err));
	if (a->where) {
		DTX_TRY(dtx_bind_expr(b, 0, a->where, "/where", want, DTX_USE_ROWS, &s->where,
		                      err));
		s->on[ROW_WHERE] = s->where != NULL;
	}
	DTX_TRY(dtx_bind_keep_all(b, 0, err));
	DTX_TRY(dtx_raw_bind(b, err));
out:
	return rc;
}

/* --- judging rows --- */

struct work {
	const struct dtx_opctx *ox;
	const struct drop_state *s;
	struct dtx_raw raw;
	struct dtx_totals totals;
	struct dtx_buf text;
	bool *where;       /* per row; NULL without */
	int64_t last_data; /* last row with two or more cells */
	int64_t *rows, n;  /* that stay */
	int64_t dropped[ROW_KINDS];
	struct note {
		int64_t n, row; /* how many rows or numbers, and the first row */
		struct dtx_total_gaps gaps;
	} stays, uncached, rounded, off;
};

static void work_clear(struct work *w)
{
	dtx_totals_close(&w->totals);
	dtx_raw_close(&w->raw);
	dtx_buf_clear(&w->text);
	dtx_mem_free(w->where);
	dtx_mem_free(w->rows);
}

static enum dtx_code eval_where(struct work *w, struct dtx_table *t, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL, *flat = NULL;
	int64_t at = 0;

	w->where = dtx_mem_zalloc((size_t)t->nrows + 1, sizeof(*w->where));
	if (!w->where)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < t->nbatches; i++) {
		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(dtx_op_eval(w->ox, w->s->where, t->batch[i], &c, err));
		DTX_TRY(dtx_column_flat(c, &flat, err));
		for (uint32_t k = 0; k < t->batch[i]->nrows; k++, at++)
			w->where[at] = flat->type.type == DTX_T_BOOL &&
			               !dtx_column_is_null(flat, k) && dtx_bit(flat->v.bits, k);
		dtx_column_unref(c);
		dtx_column_unref(flat);
		c = flat = NULL;
	}
out:
	dtx_column_unref(c);
	dtx_column_unref(flat);
	return rc;
}

static bool repeats_header(struct work *w, int64_t row)
{
	for (uint32_t c = 0; c < w->raw.ncols; c++) {
		struct dtx_str name =
			dtx_utf8_trim(dtx_str_of(w->raw.table->schema->field[c].name));

		if (dtx_raw_blank(&w->raw, row, c))
			continue;
		dtx_buf_reset(&w->text);
		if (!dtx_str_eq(dtx_utf8_trim(dtx_raw_text(&w->raw, row, c, &w->text)), name))
			return false;
	}
	return true;
}

static void note_add(struct note *note, int64_t row, int64_t n, const struct dtx_total_gaps *gaps)
{
	if (!note->n)
		*note = (struct note){ .row = row, .gaps = *gaps };
	note->n += n;
}

static bool has_uncached(struct work *w, int64_t row)
{
	for (uint32_t c = 0; c < w->raw.ncols; c++)
		if (dtx_raw_uncached(&w->raw, row, c))
			return true;
	return false;
}

static enum row_kind judge_total(struct work *w, int64_t row)
{
	switch (dtx_totals_row(&w->totals, row)) {
	case DTX_TOTAL_YES:
		note_add(&w->rounded, row, w->totals.rounded.n, &w->totals.rounded);
		note_add(&w->off, row, w->totals.off.n, &w->totals.off);
		return ROW_TOTAL;
	case DTX_TOTAL_UNPROVEN:
		note_add(has_uncached(w, row) ? &w->uncached : &w->stays, row, 1, &w->totals.off);
		break;
	case DTX_TOTAL_NO: break;
	}
	return ROW_NONE;
}

static enum row_kind judge(struct work *w, int64_t row)
{
	uint32_t only, filled = dtx_raw_filled(&w->raw, row, &only);

	if (!filled)
		return w->s->on[ROW_BLANK] ? ROW_BLANK : ROW_NONE;
	if (w->s->on[ROW_REPEATED] && repeats_header(w, row))
		return ROW_REPEATED;
	if (w->s->on[ROW_FOOTNOTE] && w->last_data >= 0 && row > w->last_data)
		return ROW_FOOTNOTE;
	if (w->where && w->where[row])
		return ROW_WHERE;
	return w->s->on[ROW_TOTAL] ? judge_total(w, row) : ROW_NONE;
}

static enum dtx_code work_init(struct work *w, const struct dtx_opctx *ox, struct dtx_table *t,
                               struct dtx_err *err)
{
	const struct drop_args *a = ox->args;
	enum dtx_code rc = DTX_OK;
	uint32_t only;

	*w = (struct work){ .ox = ox, .s = ox->bound, .raw = DTX_RAW_INIT, .last_data = -1 };
	dtx_buf_init(&w->text, DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_raw_open(&w->raw, t, err));
	w->totals.words = w->s->word;
	w->totals.nwords = w->s->nwords;
	w->totals.label = w->s->label;
	w->totals.nlabels = w->s->nlabels;
	w->totals.verify = a->verify && w->s->on[ROW_TOTAL];
	DTX_TRY(dtx_totals_open(&w->totals, &w->raw, err));
	w->rows = dtx_mem_alloc((size_t)t->nrows + 1, sizeof(*w->rows));
	if (!w->rows)
		DTX_FAIL_MEM(err);
	if (w->s->on[ROW_WHERE])
		DTX_TRY(eval_where(w, t, err));
	for (int64_t row = t->nrows - 1; row >= 0 && w->last_data < 0; row--) {
		DTX_TRY(dtx_cancel_look(err));
		if (dtx_raw_filled(&w->raw, row, &only) >= 2)
			w->last_data = row;
	}
	for (int64_t row = 0; row < t->nrows; row++) {
		enum row_kind k = judge(w, row);

		DTX_TRY(dtx_cancel_look(err));
		if (k == ROW_NONE)
			w->rows[w->n++] = row;
		else
			w->dropped[k]++;
	}
out:
	return rc;
}

static enum dtx_code drop_schema(const struct dtx_opctx *ox, struct dtx_table *t,
                                 struct dtx_arena *arena, const struct dtx_schema **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct work w;

	DTX_TRY(work_init(&w, ox, t, err));
	DTX_TRY(dtx_raw_schema(t, w.rows, w.n, NULL, arena, out, err));
out:
	work_clear(&w);
	return rc;
}

/* Warns about the first row of a note, with the number there and the sum if they differ. */
static void warn(struct work *w, const struct note *note, const char *text)
{
	const struct dtx_total_gaps *g = &note->gaps;
	char sum[DTX_NUM_TEXT + 340];
	const struct dtx_batch *b;
	struct dtx_str number;
	uint32_t at;

	if (!note->n)
		return;
	b = dtx_raw_row(&w->raw, note->row, &at);
	if (!g->n) {
		dtx_op_warn_at(w->ox, DTX_W_TOTAL_NOT_VERIFIED, b, at, -1, note->n, "%s", text);
		return;
	}
	dtx_buf_reset(&w->text);
	number = dtx_str_cut(dtx_utf8_trim(dtx_raw_text(&w->raw, note->row, g->col, &w->text)), 40);
	if (g->places <= 6)
		snprintf(sum, sizeof(sum), "%.*f", (int)g->places, g->sum);
	else
		snprintf(sum, sizeof(sum), "%.15g", g->sum);
	dtx_op_warn_at(w->ox, DTX_W_TOTAL_NOT_VERIFIED, b, at, (int32_t)g->col, note->n,
	               "%s: it has %.*s, the sum is %s", text, (int)number.len, number.ptr, sum);
}

static enum dtx_code drop_whole(const struct dtx_opctx *ox, struct dtx_table *t,
                                struct dtx_emit *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct work w;

	DTX_TRY(work_init(&w, ox, t, err));
	for (enum row_kind k = ROW_BLANK; k < ROW_KINDS; k++)
		dtx_op_count(ox, kinds[k].reason, w.dropped[k]);
	warn(&w, &w.off, "a dropped total does not add up in one of its columns");
	warn(&w, &w.rounded, "a dropped total differs by rounding in one of its columns");
	warn(&w, &w.stays, "a row looks like a total but does not add up, and stays");
	warn(&w, &w.uncached,
	     "a row looks like a total but has a formula without a cached value, and stays");
	DTX_TRY(dtx_raw_emit(ox, t, w.rows, w.n, out, err));
out:
	work_clear(&w);
	return rc;
}

static void drop_explain(const void *args, struct dtx_buf *out)
{
	const struct drop_args *a = args;
	const char *const *name = a->kinds.item;

	dtx_buf_add(out, "drop rows: ");
	for (size_t i = 0; i < a->kinds.n; i++)
		dtx_buf_printf(out, "%s%s", i ? ", " : "", name[i]);
	if (a->where) {
		dtx_buf_add(out, a->kinds.n ? ", where " : "where ");
		dtx_expr_print(a->where, out);
	}
}

/* Of a step with one kind, or with `where` alone. */
static void drop_dropped(const json_t *canonical, const char *with, struct dtx_buf *out)
{
	const json_t *kind = json_array_get(json_object_get(canonical, "kinds"), 0);
	enum row_kind k = ROW_BLANK;

	(void)with;
	while (k < ROW_KINDS && (!kind || strcmp(kinds[k].name, json_string_value(kind)) != 0))
		k++;
	switch (k) {
	case ROW_BLANK: dtx_buf_add(out, "blank: all of its cells are empty"); break;
	case ROW_REPEATED:
		dtx_buf_add(out, "repeated_header: its cells are the column names");
		break;
	case ROW_FOOTNOTE:
		dtx_buf_add(out, "footnotes: it comes after the last row with two or more cells");
		break;
	case ROW_TOTAL:
		dtx_buf_add(out, "totals: a label in it begins or ends with a word for a total");
		if (dtx_json_bool(canonical, "verify", true))
			dtx_buf_add(out, ", and at least one of its numbers is the sum of the rows "
			                 "above, within rounding; a warning names the first number "
			                 "that is not exactly the sum");
		break;
	default:
		dtx_buf_printf(out, "%s is true",
		               dtx_json_text(canonical, "where", "its condition"));
	}
}

const struct dtx_op dtx_op_drop_rows = {
	.name = "drop_rows",
	.aliases = "remove_rows,drop_totals",
	.presets = "drop_totals:kinds=totals",
	.ninputs = 1,
	.flags = DTX_OP_OPEN | DTX_OP_RAW | DTX_OP_RETYPES | DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Drop rows that are not data: totals, blanks, footnotes, repeated headers",
	.notes =
		"A total has a label and is confirmed by its numbers: they must agree with the sum "
		"of the rows since the last total, or of all rows before. A number of a dropped "
		"total that is not exactly the sum is named in a warning. Other rows with such a "
		"label stay, with a warning. Column types are found again from the rows that stay.",
	.facts = { .rows = DTX_ROWS_CHOSEN,
	           .values = DTX_VALUES_KEPT,
	           .decides = "where",
	           .as_read = true,
	           .kinds = "kinds" },
	.dropped = drop_dropped,
	.params = drop_params,
	.nparams = DTX_COUNT(drop_params),
	.examples = drop_examples,
	.nexamples = DTX_COUNT(drop_examples),
	.args_size = sizeof(struct drop_args),
	.bind = drop_bind,
	.whole = drop_whole,
	.whole_schema = drop_schema,
	.explain = drop_explain,
};
