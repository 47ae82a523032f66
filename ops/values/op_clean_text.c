/* clean_text: normalizes spaces, control characters, typographic dashes and quotes, and letter
 * case. The order of the rules is fixed and documented; ops/kit/text/cleantext.h applies them to
 * one text. */
#include "core/data/builder.h"
#include "core/data/cells.h"
#include "ops/kit/text/cleantext.h"
#include "ops/kit/opkit.h"

struct clean_args {
	struct dtx_cols *cols;
	bool trim, squeeze, controls, nbsp, dashes, quotes;
	int kase, unicode;
};
struct clean_state {
	int32_t *col; /* columns of text only */
	uint32_t n;
};

#define AT(member) .offset = offsetof(struct clean_args, member)
#define SWITCH(member, on, text)                                                                   \
	{                                                                                          \
		.name = #member, .kind = DTX_P_BOOL, AT(member), .def = on, .help = text           \
	}
static const struct dtx_param clean_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns to clean; columns without text stay as they are" },
	SWITCH(trim, "true", "cut spaces at both ends"),
	SWITCH(squeeze, "true", "make runs of spaces one space"),
	{ .name = "case",
	  .kind = DTX_P_CHOICE,
	  AT(kase),
	  .choices = "lower,upper,title",
	  .help = "letter case" },
	{ .name = "unicode",
	  .kind = DTX_P_CHOICE,
	  AT(unicode),
	  .choices = "NFC,NFD,NFKC,NFKD,none",
	  .def = "\"NFC\"",
	  .help = "normalization form" },
	SWITCH(controls, "true",
	       "drop control and zero-width characters and soft hyphens; line breaks and tabs "
	       "become spaces"),
	SWITCH(nbsp, "true", "make Unicode spaces plain spaces"),
	SWITCH(dashes, "false", "make dashes hyphens"),
	SWITCH(quotes, "false", "make typographic quotes ASCII"),
};
static const struct dtx_example clean_examples[] = {
	{ .step = DTX_JSON({ "op" : "clean_text", "cols" : ["*"] }),
	  .in = "a,n\n\"  x \u00a0 y \",1.50\nz,2\n\"a\nb\",\n",
	  .out = "a,n\nx y,1.50\nz,2\na b,\n" },
	{ .step = DTX_JSON({
		  "op" : "trim",
		  "cols" : ["a"],
		  "case" : "title",
		  "dashes" : true,
		  "quotes" : true
	  }),
	  .in = "a\nann o’neil–SMITH\n“élan”\n",
	  .out = "a\nAnn O'neil-Smith\n\"\"\"Élan\"\"\"\n" },
	{ .step = DTX_JSON({
		  "op" : "clean_text",
		  "cols" : ["a"],
		  "unicode" : "NFKC",
		  "trim" : false,
		  "case" : "upper"
	  }),
	  .in = "a\n\" ﬁx\"\n",
	  .out = "a\n\" FIX\"\n" },
};

static bool is_text(enum dtx_type t)
{
	return t == DTX_T_TEXT || t == DTX_T_UNKNOWN;
}

static enum dtx_code clean_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct clean_args *a = args;
	const struct dtx_typeref text = { .type = DTX_T_TEXT }, unknown = { DTX_T_UNKNOWN, 0, 0 };
	struct clean_state *s = dtx_bind_state(b, sizeof(*s));
	enum dtx_code rc = DTX_OK;
	int32_t *place;
	int32_t *col;
	uint32_t n;

	if (!s)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	s->col = col;
	for (uint32_t i = 0; i < n; i++)
		if (col[i] >= 0 && is_text(b->in[0]->field[col[i]].type.type))
			s->col[s->n++] = col[i];
	place = dtx_cols_places(b->arena, s->col, s->n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		const struct dtx_field *f = &b->in[0]->field[i];

		if (place[i] < 0) {
			DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, NULL, err));
			continue;
		}
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, (int32_t)i, DTX_DEMAND_BYTES, err));
		DTX_TRY(dtx_bind_make(b, f->name, f->type.type == DTX_T_TEXT ? text : unknown, NULL,
		                      "cleaned", err));
		dtx_bind_stands_for(b, b->ncols - 1, f);
	}
out:
	return rc;
}

/* Cleans the texts of a column into *out; which[row] is 1 where the text has changed. */
static enum dtx_code clean_cells(const struct dtx_clean *how, struct dtx_cleaner *k,
                                 struct dtx_column *c, uint32_t *which, struct dtx_column **out,
                                 struct dtx_err *err)
{
	const struct dtx_typeref text = { .type = DTX_T_TEXT };
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;
	struct dtx_builder to;

	dtx_builder_init(&to, text, c->len);
	for (uint32_t row = 0; row < c->len; row++) {
		struct dtx_str was, is;
		bool null;

		dtx_buf_reset(&scratch);
		was = dtx_cell_text(c, row, &scratch, &null);
		is = null ? was : dtx_clean_text(k, how, was);
		if (!dtx_buf_ok(&scratch) || !dtx_buf_ok(&k->a) || !dtx_buf_ok(&k->b))
			DTX_FAIL_MEM(err);
		which[row] = !dtx_str_eq(was, is);
		if (which[row])
			dtx_builder_text(&to, is);
		else
			dtx_builder_null(&to);
	}
	DTX_TRY(dtx_builder_finish(&to, NULL, out, err));
out:
	dtx_builder_clear(&to);
	dtx_buf_clear(&scratch);
	return rc;
}

/* Makes the column from its changed cells; the others keep their bytes. */
static enum dtx_code clean_column(const struct dtx_clean *how, struct dtx_cleaner *k,
                                  const struct dtx_field *field, struct dtx_column *c,
                                  struct dtx_column **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *which = dtx_mem_alloc((size_t)c->len + 1, sizeof(*which));
	uint32_t *row = dtx_mem_alloc((size_t)c->len + 1, sizeof(*row));
	struct dtx_column *src[2] = { NULL, NULL };
	uint32_t changed = 0;

	if (!which || !row)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_cells_fit(c, field, &src[0], err));
	DTX_TRY(clean_cells(how, k, c, which, &src[1], err));
	for (uint32_t i = 0; i < c->len; i++) {
		row[i] = i;
		changed += which[i];
	}
	if (changed)
		DTX_TRY(dtx_cells_gather(src, 2, which, row, c->len, field, out, err));
	else
		*out = dtx_column_ref(src[0]);
out:
	dtx_column_unref(src[0]);
	dtx_column_unref(src[1]);
	dtx_mem_free(which);
	dtx_mem_free(row);
	return rc;
}

static enum dtx_code clean_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct clean_args *a = ox->args;
	const struct clean_state *s = ox->bound;
	const struct dtx_clean how = { a->unicode > DTX_UTF8_NFKD ? -1 : a->unicode,
		                       a->controls,
		                       a->nbsp,
		                       a->dashes,
		                       a->quotes,
		                       a->squeeze,
		                       a->trim,
		                       a->kase };
	enum dtx_code rc = DTX_OK;
	struct dtx_cleaner k;

	(void)local;
	dtx_cleaner_init(&k);
	for (uint32_t i = 0; i < s->n; i++) {
		struct dtx_column *made = NULL;

		if (!dtx_op_wants(ox, (uint32_t)s->col[i]) || !in->col[s->col[i]])
			continue;
		DTX_TRY(clean_column(&how, &k, &ox->out->field[s->col[i]], in->col[s->col[i]],
		                     &made, err));
		dtx_batch_put(in, (uint32_t)s->col[i], made);
	}
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_cleaner_clear(&k);
	return rc;
}

static void clean_explain(const void *args, struct dtx_buf *out)
{
	static const char *const kase[] = { "lower", "upper", "title" };
	const struct clean_args *a = args;

	dtx_buf_add(out, "clean the texts of ");
	dtx_cols_print(a->cols, out);
	if (a->kase >= 0)
		dtx_buf_printf(out, ", %s case", kase[a->kase]);
}

static const struct dtx_map clean_map = { .batch = clean_batch };

const struct dtx_op dtx_op_clean_text = {
	.name = "clean_text",
	.aliases = "trim,strip",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Clean texts of odd spaces and hidden characters",
	.notes = "In this order: Unicode form, controls, spaces, dashes, quotes, squeeze, trim, "
		 "case. Columns without text, nulls and clean texts stay as they are; a text "
		 "with nothing left is empty, not null.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_CHANGED },
	.params = clean_params,
	.nparams = DTX_COUNT(clean_params),
	.examples = clean_examples,
	.nexamples = DTX_COUNT(clean_examples),
	.args_size = sizeof(struct clean_args),
	.bind = clean_bind,
	.map = &clean_map,
	.explain = clean_explain,
};
