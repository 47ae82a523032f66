/* split_column: the parts of a text become columns. Cuts by separator, by pattern or by widths. */
#include "core/base/text/utf8.h"
#include "core/expr/regex/regex.h"
#include "ops/kit/text/pieces.h"

enum { EXTRA_ERROR, EXTRA_MERGE, EXTRA_DROP };
enum { MISSING_ERROR, MISSING_NULL };
struct width {
	int64_t width;
};
struct split_args {
	const char *col, *sep, *regex;
	struct dtx_plist widths, into;
	int extra, missing;
	bool trim, keep;
};
struct split_state {
	struct dtx_pieces pieces;
	struct dtx_regex *regex;
};

#define AT(member) .offset = offsetof(struct split_args, member)
static const struct dtx_param width_rows[] = {
	{ .name = "width",
	  .kind = DTX_P_INT,
	  .required = true,
	  .offset = offsetof(struct width, width),
	  .min = 1,
	  .max = INT32_MAX,
	  .help = "characters" },
};
static const struct dtx_param split_params[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  AT(col),
	  .aliases = "column",
	  .help = "column to split" },
	{ .name = "sep",
	  .kind = DTX_P_TEXT,
	  AT(sep),
	  .aliases = "delimiter,separator,by",
	  .schema = "{\"type\":\"string\",\"minLength\":1}",
	  .help = "text between the parts" },
	{ .name = "regex", .kind = DTX_P_REGEX, AT(regex), .help = "pattern of the separator" },
	{ .name = "widths",
	  .kind = DTX_P_LIST,
	  AT(widths),
	  .rows = width_rows,
	  .nrows = DTX_COUNT(width_rows),
	  .item_size = sizeof(struct width),
	  .sugar = DTX_SUGAR_SCALAR,
	  .help = "characters of each part" },
	{ .name = "into",
	  .kind = DTX_P_TEXTS,
	  .required = true,
	  .nonempty = true,
	  AT(into),
	  .aliases = "names,as,columns",
	  .help = "names of the new columns" },
	{ .name = "extra",
	  .kind = DTX_P_CHOICE,
	  AT(extra),
	  .choices = "error,merge,drop",
	  .def = "\"error\"",
	  .help = "what to do with more parts than names; merge: the last part gets all the rest" },
	{ .name = "missing",
	  .kind = DTX_P_CHOICE,
	  AT(missing),
	  .choices = "error,null",
	  .def = "\"error\"",
	  .help = "what to do with fewer parts than names" },
	{ .name = "trim",
	  .kind = DTX_P_BOOL,
	  AT(trim),
	  .def = "false",
	  .help = "cut spaces around the parts" },
	{ .name = "keep",
	  .kind = DTX_P_BOOL,
	  AT(keep),
	  .def = "false",
	  .help = "keep the column, before its parts" },
};
static const struct dtx_example split_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "split_column",
		  "col" : "n",
		  "sep" : ", ",
		  "into" : [ "last", "first" ]
	  }),
	  .in = "id,n,v\n1,\"Doe, Ann\",2.50\n2,,3\n",
	  .out = "id,last,first,v\n1,Doe,Ann,2.50\n2,,,3\n" },
	{ .step = DTX_JSON({
		  "op" : "separate",
		  "col" : "c",
		  "regex" : "[-/]+",
		  "into" : [ "a", "b" ],
		  "extra" : "merge",
		  "missing" : "null",
		  "keep" : true
	  }),
	  .in = "c\n1-2/3\nx\n",
	  .out = "c,a,b\n1-2/3,1,2/3\nx,x,\n" },
	{ .step = DTX_JSON({
		  "op" : "split_column",
		  "col" : "c",
		  "widths" : [ 2, 3 ],
		  "into" : [ "a", "b" ],
		  "trim" : true,
		  "extra" : "drop"
	  }),
	  .in = "c\nÄÖ 1x\nab234\n",
	  .out = "a,b\nÄÖ,1x\nab,234\n" },
	{ .step = DTX_JSON(
		  { "op" : "split_column", "col" : "c", "sep" : "-", "into" : [ "a", "b" ] }),
	  .in = "c\n1-2\n1-2-3\n",
	  .error = "bad_split",
	  .message = "split_column: '1-2-3' has more than 2 parts" },
	{ .step = DTX_JSON(
		  { "op" : "split_column", "col" : "c", "sep" : "-", "into" : [ "a", "b" ] }),
	  .in = "c\n1\n",
	  .error = "bad_split",
	  .message = "split_column: '1' has fewer than 2 parts" },
};

static enum dtx_code split_check(const void *args, struct dtx_err *err)
{
	const struct split_args *a = args;
	int ways = (a->sep != NULL) + (a->regex != NULL) + (a->widths.n > 0);
	enum dtx_code rc = DTX_OK;

	if (ways != 1)
		DTX_FAIL(err, ways ? DTX_E_PARAM_CONFLICT : DTX_E_MISSING_PARAM,
		         "split_column needs one of sep, regex or widths");
	if (a->sep && !*a->sep)
		DTX_PARAM_FAIL(err, DTX_E_BAD_PARAM_VALUE, "/sep", "split_column: sep is empty");
	if (a->widths.n && a->widths.n != a->into.n)
		DTX_PARAM_FAIL(err, DTX_E_LENGTH_MISMATCH, "/widths",
		               "split_column: %zu widths, %zu names", a->widths.n, a->into.n);
out:
	return rc;
}

static enum dtx_code split_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct split_args *a = args;
	struct split_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_err bad = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	if (!s)
		DTX_FAIL_MEM(err);
	if (a->regex &&
	    dtx_regex_compile(b->arena, dtx_str_of(a->regex), &s->regex, &bad) != DTX_OK)
		DTX_TRY(dtx_bind_fail(b, bad.code, "/regex", err, "%s", bad.msg));
	DTX_TRY(dtx_pieces_bind(b, a->col, a->into.item, (uint32_t)a->into.n, a->keep, &s->pieces,
	                        err));
out:
	dtx_err_clear(&bad);
	return rc;
}

/* --- cutting one text --- */

struct cutter {
	const struct split_args *a;
	struct dtx_arena arena;
	struct dtx_rematch *match;
};

/* Finds the next separator at or after `from`. An empty match is not a separator. */
static bool find_separator(struct cutter *k, struct dtx_str text, size_t from, size_t end[2])
{
	size_t at[2 * (DTX_REGEX_GROUPS + 1)];
	ptrdiff_t hit;

	if (!k->match) {
		hit = dtx_str_find(text, dtx_str_of(k->a->sep), from);
		end[0] = (size_t)hit;
		end[1] = (size_t)hit + strlen(k->a->sep);
		return hit >= 0;
	}
	while (from <= text.len && dtx_rematch_find(k->match, text, from, at)) {
		end[0] = at[0];
		end[1] = at[1];
		if (at[1] > at[0])
			return true;
		from = at[1] + 1;
	}
	return false;
}

/* Cuts the text into parts, at most one more than there are names; the last may be the whole
 * rest. */
static size_t cut_separated(struct cutter *k, struct dtx_str text, struct dtx_str *piece)
{
	size_t n = 0, from = 0, end[2];

	for (;;) {
		bool last = n + 1 == k->a->into.n && k->a->extra == EXTRA_MERGE;

		if (n == k->a->into.n)
			return n + 1;
		if (last || !find_separator(k, text, from, end)) {
			piece[n] = (struct dtx_str){ text.ptr + from, text.len - from };
			return n + 1;
		}
		piece[n++] = (struct dtx_str){ text.ptr + from, end[0] - from };
		from = end[1];
	}
}

static size_t cut_widths(struct cutter *k, struct dtx_str text, struct dtx_str *piece)
{
	const struct width *w = k->a->widths.item;
	size_t n = 0, from = 0;

	for (; n < k->a->into.n && (from < text.len || !n); n++) {
		bool rest = n + 1 == k->a->into.n && k->a->extra == EXTRA_MERGE;
		struct dtx_str tail = { text.ptr + from, text.len - from };
		size_t len =
			rest ? tail.len : dtx_utf8_offset(tail.ptr, tail.len, (size_t)w[n].width);

		piece[n] = (struct dtx_str){ tail.ptr, len };
		from += len;
	}
	return n + (from < text.len);
}

static enum dtx_code cut(void *arg, struct dtx_str text, struct dtx_str *piece, struct dtx_err *err)
{
	struct cutter *k = arg;
	size_t want = k->a->into.n,
	       n = k->a->widths.n ? cut_widths(k, text, piece) : cut_separated(k, text, piece);
	bool bad =
		n > want ? k->a->extra == EXTRA_ERROR : n < want && k->a->missing == MISSING_ERROR;

	if (bad) {
		dtx_err_set(err, DTX_E_BAD_SPLIT, __FILE__, __LINE__,
		            "split_column: '%.*s' has %s than %zu parts",
		            (int)DTX_MIN(text.len, (size_t)80), text.ptr,
		            n > want ? "more" : "fewer", want);
		dtx_err_hint(err, n > want ? "set extra to merge or drop" : "set missing to null");
		return DTX_E_BAD_SPLIT;
	}
	for (size_t i = 0; k->a->trim && i < want; i++)
		if (piece[i].ptr)
			piece[i] = dtx_utf8_trim(piece[i]);
	return DTX_OK;
}

static enum dtx_code split_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                 struct dtx_emit *out, struct dtx_err *err)
{
	const struct split_state *s = ox->bound;
	struct cutter k = { .a = ox->args, .arena = DTX_ARENA_INIT };
	enum dtx_code rc = DTX_OK;

	(void)local;
	if (s->regex) {
		k.match = dtx_rematch_new(&k.arena, s->regex);
		if (!k.match)
			DTX_FAIL_MEM(err);
	}
	DTX_TRY(dtx_pieces_batch(ox, &s->pieces, in, cut, &k, err));
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_arena_clear(&k.arena);
	return rc;
}

static void split_explain(const void *args, struct dtx_buf *out)
{
	const struct split_args *a = args;
	const char *const *name = a->into.item;

	dtx_buf_printf(out, "split %s ", a->col);
	if (a->sep)
		dtx_buf_printf(out, "at '%s'", a->sep);
	else if (a->regex)
		dtx_buf_printf(out, "at /%s/", a->regex);
	else
		dtx_buf_add(out, "by width");
	for (size_t i = 0; i < a->into.n; i++)
		dtx_buf_printf(out, "%s%s", i ? ", " : " into ", name[i]);
}

static const struct dtx_map split_map = { .batch = split_batch };

const struct dtx_op dtx_op_split_column = {
	.name = "split_column",
	.aliases = "separate,split",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Split a text into columns",
	.notes = "The parts take the column's place and are text until cast. A wrong number of "
		 "parts is bad_split. A null cell gives nulls. Widths count characters.",
	.facts = { .rows = DTX_ROWS_SAME },
	.params = split_params,
	.nparams = DTX_COUNT(split_params),
	.examples = split_examples,
	.nexamples = DTX_COUNT(split_examples),
	.args_size = sizeof(struct split_args),
	.check = split_check,
	.bind = split_bind,
	.map = &split_map,
	.explain = split_explain,
};
