/* parse_number: reads numbers in the forms in which people write them: grouped digits, decimal
 * comma, currency, percent, a sign after the number, parentheses for negative. */
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/data/builder.h"
#include "core/data/cast/decimal.h"
#include "core/data/cast/cell_num.h"
#include "ops/kit/text/numtext.h"
#include "ops/kit/opkit.h"

struct parse_args {
	struct dtx_cols *cols;
	const char *type, *decimal, *group;
	bool currency;
	int percent, on_error;
	struct dtx_plist blanks;
};
struct parse_state {
	int32_t *col;
	uint32_t n;
	struct dtx_typeref type;
	struct dtx_numtext_rules rules;
};

#define AT(member) .offset = offsetof(struct parse_args, member)
static const struct dtx_param parse_params[] = {
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .required = true,
	  .nonempty = true,
	  AT(cols),
	  .aliases = "columns",
	  .help = "columns to read" },
	{ .name = "type",
	  .kind = DTX_P_TYPE,
	  AT(type),
	  .def = "\"float\"",
	  .help = "float, int or decimal(p,s)" },
	{ .name = "decimal",
	  .kind = DTX_P_TEXT,
	  AT(decimal),
	  .schema = "{\"type\":\"string\",\"minLength\":1,\"maxLength\":1}",
	  .help = "the decimal mark (default: \".\", or \",\" where group is \".\")" },
	{ .name = "group",
	  .kind = DTX_P_TEXT,
	  AT(group),
	  .schema = "{\"type\":\"string\",\"maxLength\":1}",
	  .help = "the mark between groups of three digits (default: \",\", or \".\" where decimal "
	          "is \",\"); \"\": none; \" \": any blank, also U+00A0 and U+202F" },
	{ .name = "currency",
	  .kind = DTX_P_BOOL,
	  AT(currency),
	  .def = "true",
	  .help = "a currency sign or code may be on either side" },
	{ .name = "percent",
	  .kind = DTX_P_CHOICE,
	  AT(percent),
	  .choices = "ratio,points,error",
	  .def = "\"ratio\"",
	  .help = "12% is 0.12, or 12, or an error" },
	{ .name = "blanks",
	  .kind = DTX_P_TEXTS,
	  AT(blanks),
	  .def = "[\"-\",\"\\u2013\",\"\\u2014\",\"n/a\"]",
	  .help = "texts that mean null" },
	{ .name = "on_error",
	  .kind = DTX_P_CHOICE,
	  AT(on_error),
	  .choices = "error,null",
	  .def = "\"error\"",
	  .help = "what to do with any other text" },
};
static const struct dtx_example parse_examples[] = {
	{ .step = DTX_JSON({ "op" : "parse_number", "cols" : ["a"] }),
	  .in = "a,b\n\"1,234.50\",x\n(5),y\n$12,z\n-,u\n25%,v\n,w\n",
	  .out = "a,b\n1234.5,x\n-5.0,y\n12.0,z\n,u\n0.25,v\n,w\n" },
	{ .step = DTX_JSON({
		  "op" : "to_numeric",
		  "cols" : ["a"],
		  "type" : "decimal(10,2)",
		  "decimal" : ",",
		  "group" : "."
	  }),
	  .in = "a;b\n1.234,5;1\n7-;2\n",
	  .out = "a,b\n1234.50,1\n-7.00,2\n" },
	{ .step = DTX_JSON({ "op" : "parse_number", "cols" : ["a"], "decimal" : "," }),
	  .in = "a;b\n1.234,5;1\n2.000;2\n",
	  .out = "a,b\n1234.5,1\n2000.0,2\n" },
	{ .step = DTX_JSON(
		  { "op" : "parse_number", "cols" : ["a"], "type" : "int", "on_error" : "null" }),
	  .in = "a,b\n\"1,000\",x\nten,y\n",
	  .out = "a,b\n1000,x\n,y\n" },
	{ .step = DTX_JSON(
		  { "op" : "parse_number", "cols" : ["a"], "decimal" : ",", "group" : " " }),
	  .in = "a;b\n1 234,5;1\n1\xc2\xa0"
	        "234,5;2\n1\xe2\x80\xaf"
	        "234,5;3\n",
	  .out = "a,b\n1234.5,1\n1234.5,2\n1234.5,3\n" },
	{ .step = DTX_JSON({ "op" : "parse_number", "cols" : ["a"] }),
	  .in = "a,b\n\"12,34\",x\n",
	  .error = "cast_failed",
	  .message = "parse_number: column 'a' has '12,34', which is not a number" },
};

/* A comma on one side makes the other one the point, so that it is enough to declare one of them.
 */
static const char *decimal_of(const struct parse_args *a)
{
	if (a->decimal)
		return a->decimal;
	return a->group && strcmp(a->group, ".") == 0 ? "," : ".";
}

static const char *group_of(const struct parse_args *a)
{
	if (a->group)
		return a->group;
	return strcmp(decimal_of(a), ",") == 0 ? "." : ",";
}

static enum dtx_code parse_check(const void *args, struct dtx_err *err)
{
	const struct parse_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref t = { .type = DTX_T_UNKNOWN };
	const char *decimal = decimal_of(a);
	char group;

	if (!dtx_type_parse(dtx_str_of(a->type), &t) || !dtx_type_is_number(t.type))
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/type",
		               "parse_number: type must be float, int or decimal(p,s), not '%s'",
		               a->type);
	if (strlen(decimal) != 1 || !dtx_group_mark(group_of(a), &group) || decimal[0] == group)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, a->group ? "/group" : "/decimal",
		               "parse_number: decimal and group must be two different single "
		               "characters, not '%.20s' and '%.20s'",
		               decimal, group_of(a));
out:
	if (rc != DTX_OK && strcmp(decimal, group_of(a)) == 0)
		dtx_err_hint(err, "leave one of them out: group is then \".\" with decimal \",\", "
		                  "else \",\"");
	return rc;
}

static enum dtx_code parse_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct parse_args *a = args;
	enum dtx_code rc = DTX_OK;
	int32_t *place;
	struct parse_state *s = dtx_bind_state(b, sizeof(*s));
	char group = 0;

	if (!s)
		DTX_FAIL_MEM(err);
	if (!dtx_type_parse(dtx_str_of(a->type), &s->type))
		s->type.type = DTX_T_FLOAT64;
	(void)!dtx_group_mark(group_of(a), &group); /* parse_check has refused other texts */
	s->rules = (struct dtx_numtext_rules){ decimal_of(a)[0], group, a->currency,
		                               (enum dtx_percent)a->percent };
	DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &s->col, &s->n, err));
	place = dtx_cols_places(b->arena, s->col, s->n, b->in[0]->nfields);
	if (!place)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		if (place[i] < 0) {
			DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, NULL, err));
			continue;
		}
		DTX_TRY(dtx_bind_use(b, (int32_t)b->ncols, 0, (int32_t)i, DTX_DEMAND_BYTES, err));
		DTX_TRY(dtx_bind_make(b, b->in[0]->field[i].name, s->type, NULL, "number of", err));
	}
out:
	return rc;
}

static bool is_blank(const struct parse_args *a, struct dtx_str text)
{
	const char *const *blank = a->blanks.item;

	for (size_t i = 0; i < a->blanks.n; i++)
		if (dtx_str_is(text, blank[i]))
			return true;
	return text.len == 0;
}

/* Appends a number in plain notation as a value of the result's type. */
static bool add_number(struct dtx_builder *to, struct dtx_str plain)
{
	struct dtx_dec128 dec;
	int64_t i;
	double f;

	switch (to->type.type) {
	case DTX_T_INT64:
		if (!dtx_num_parse_i64(plain.ptr, plain.len, &i))
			return false;
		dtx_builder_i64(to, i);
		return true;
	case DTX_T_DECIMAL:
		if (!dtx_dec_parse(plain, to->type, &dec))
			return false;
		dtx_builder_dec(to, dec);
		return true;
	default:
		if (!dtx_num_parse_f64(plain.ptr, plain.len, &f))
			return false;
		dtx_builder_f64(to, f);
		return true;
	}
}

struct tally {
	int64_t blanks, failed;
	uint32_t first; /* row of the first text that is not a number */
};

static void parse_cell(const struct dtx_opctx *ox, const struct dtx_column *c, uint32_t row,
                       struct dtx_buf *scratch, struct dtx_builder *to, struct tally *t)
{
	const struct parse_args *a = ox->args;
	const struct parse_state *s = ox->bound;
	char plain[DTX_NUMTEXT_MAX];
	struct dtx_str text;
	unsigned places;
	size_t len;
	bool null;

	dtx_buf_reset(scratch);
	text = dtx_utf8_trim(dtx_cell_text(c, row, scratch, &null));
	if (null || is_blank(a, text)) {
		t->blanks += !null;
		dtx_builder_null(to);
		return;
	}
	if (dtx_numtext(text, &s->rules, plain, &len, &places) &&
	    add_number(to, (struct dtx_str){ plain, len }))
		return;
	if (!t->failed++)
		t->first = row;
	dtx_builder_null(to);
}

static enum dtx_code misfit(const struct dtx_opctx *ox, const struct dtx_batch *in, int32_t col,
                            const struct tally *t, struct dtx_err *err)
{
	const struct parse_state *s = ox->bound;
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX), type = DTX_BUF_INIT(32);
	char plain[DTX_NUMTEXT_MAX];
	unsigned places;
	size_t len;
	bool null;
	struct dtx_str text = dtx_utf8_trim(dtx_cell_text(in->col[col], t->first, &scratch, &null));
	bool number = dtx_numtext(text, &s->rules, plain, &len, &places);

	dtx_type_print(s->type, &type);
	dtx_err_set(err, DTX_E_CAST_FAILED, __FILE__, __LINE__,
	            "parse_number: column '%s' has '%.*s', which %s%s", in->schema->field[col].name,
	            (int)DTX_MIN(text.len, (size_t)80), text.ptr,
	            number ? "does not fit " : "is not a number",
	            number ? dtx_buf_text(&type) : "");
	if (!number || !dtx_cast_hint_digits((struct dtx_str){ plain, len }, s->type, err))
		dtx_err_hint(err,
		             "add it to blanks, set decimal (\"%c\") and group (\"%s\") as it "
		             "has them, or on_error null",
		             s->rules.decimal, (char[]){ s->rules.group, '\0' });
	dtx_batch_set_position(in, t->first, col, err);
	if (err)
		err->count = t->failed;
	dtx_buf_clear(&scratch);
	dtx_buf_clear(&type);
	return DTX_E_CAST_FAILED;
}

static enum dtx_code parse_column(const struct dtx_opctx *ox, struct dtx_batch *in, int32_t col,
                                  struct dtx_err *err)
{
	const struct parse_args *a = ox->args;
	const struct parse_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct dtx_buf scratch = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct tally t = { 0 };
	struct dtx_column *made = NULL;
	struct dtx_builder to;

	dtx_builder_init(&to, s->type, in->nrows);
	for (uint32_t row = 0; row < in->nrows; row++)
		parse_cell(ox, in->col[col], row, &scratch, &to, &t);
	if (!dtx_buf_ok(&scratch))
		DTX_FAIL_MEM(err);
	if (t.failed && !a->on_error) {
		rc = misfit(ox, in, col, &t, err);
		goto out;
	}
	dtx_op_count(ox, "blank", t.blanks);
	dtx_op_count(ox, "cast_failed", t.failed);
	DTX_TRY(dtx_builder_finish(&to, NULL, &made, err));
	dtx_batch_put(in, (uint32_t)col, made);
out:
	dtx_builder_clear(&to);
	dtx_buf_clear(&scratch);
	return rc;
}

static enum dtx_code parse_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct parse_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	(void)local;
	for (uint32_t i = 0; i < s->n; i++)
		if (dtx_op_wants(ox, (uint32_t)s->col[i]) && in->col[s->col[i]])
			DTX_TRY(parse_column(ox, in, s->col[i], err));
	in->schema = ox->out;
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	return rc;
}

static void parse_explain(const void *args, struct dtx_buf *out)
{
	const struct parse_args *a = args;

	dtx_buf_add(out, "read numbers in ");
	dtx_cols_print(a->cols, out);
	dtx_buf_printf(out, " as %s", a->type);
}

static const struct dtx_map parse_map = { .batch = parse_batch };

const struct dtx_op dtx_op_parse_number = {
	.name = "parse_number",
	.aliases = "to_numeric",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Read numbers as people write them",
	.notes = "Signs on either side, (1,234) is negative, currency signs and codes, groups of "
		 "exactly three digits, percent. `blanks` become null and are counted.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_CHANGED },
	.params = parse_params,
	.nparams = DTX_COUNT(parse_params),
	.examples = parse_examples,
	.nexamples = DTX_COUNT(parse_examples),
	.args_size = sizeof(struct parse_args),
	.check = parse_check,
	.bind = parse_bind,
	.map = &parse_map,
	.triggers = "cast_failed",
	.explain = parse_explain,
};
