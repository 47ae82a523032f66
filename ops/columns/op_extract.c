/* extract: the groups of a pattern become columns. */
#include "core/expr/regex/regex.h"
#include "ops/kit/text/pieces.h"

struct extract_args {
	const char *col, *pattern;
	struct dtx_plist into;
	bool keep;
};
struct extract_state {
	struct dtx_pieces pieces;
	struct dtx_regex *regex;
	uint32_t *group; /* per new column: its group in the pattern */
};

#define AT(member) .offset = offsetof(struct extract_args, member)
static const struct dtx_param extract_params[] = {
	{ .name = "col",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  AT(col),
	  .aliases = "column",
	  .help = "column to search" },
	{ .name = "pattern",
	  .kind = DTX_P_REGEX,
	  .required = true,
	  AT(pattern),
	  .aliases = "regex",
	  .help = "pattern with groups" },
	{ .name = "into",
	  .kind = DTX_P_TEXTS,
	  AT(into),
	  .help = "names of the new columns, one per group (default: the names of the groups)" },
	{ .name = "keep",
	  .kind = DTX_P_BOOL,
	  AT(keep),
	  .def = "true",
	  .help = "keep the column, before its parts" },
};
static const struct dtx_example extract_examples[] = {
	{ .step = DTX_JSON(
		  { "op" : "extract", "col" : "t", "pattern" : "(?P<code>[A-Z]+)-(?P<n>[0-9]+)" }),
	  .in = "t,v\nitem AB-12,1\nnone,2\n,3\n",
	  .out = "t,code,n,v\nitem AB-12,AB,12,1\nnone,,,2\n,,,3\n" },
	{ .step = DTX_JSON({
		  "op" : "str_extract",
		  "col" : "t",
		  "pattern" : "(a)|(b)",
		  "into" : [ "x", "y" ],
		  "keep" : false
	  }),
	  .in = "t\nb\na\n",
	  .out = "x,y\n,b\na,\n" },
	{ .step = DTX_JSON({ "op" : "extract", "col" : "t", "pattern" : "[0-9]+", "into" : ["n"] }),
	  .in = "t\na 007 b\n",
	  .out = "t,n\na 007 b,007\n" },
	{ .step = DTX_JSON({ "op" : "extract", "col" : "t", "pattern" : "(a)(b)", "into" : ["n"] }),
	  .in = "t\nab\n",
	  .error = "length_mismatch",
	  .message = "extract: 1 name, the pattern has 2 groups" },
};

/* The name of a group in the pattern, in the arena; NULL: it has none. */
static enum dtx_code group_name(struct dtx_bind *b, const struct dtx_regex *re, const char *pattern,
                                uint32_t group, const char **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	for (const char *at = strchr(pattern, '<'); at; at = strchr(at + 1, '<')) {
		const char *end = strchr(at, '>');
		struct dtx_str name = { at + 1, end ? (size_t)(end - at - 1) : 0 };

		if (!name.len || dtx_regex_group(re, name) != (int)group)
			continue;
		*out = dtx_arena_printf(b->arena, "%.*s", (int)name.len, name.ptr);
		if (!*out)
			DTX_FAIL_MEM(err);
		break;
	}
out:
	return rc;
}

/* Sets the names and groups of the new columns. */
static enum dtx_code bind_groups(struct dtx_bind *b, const struct extract_args *a,
                                 struct extract_state *s, const char ***name, uint32_t *n,
                                 struct dtx_err *err)
{
	const char *const *into = a->into.item;
	uint32_t groups = dtx_regex_groups(s->regex), want = groups ? groups : 1;
	enum dtx_code rc = DTX_OK;

	*name = dtx_arena_zalloc(b->arena, (size_t)want + 1, sizeof(**name));
	s->group = dtx_arena_zalloc(b->arena, (size_t)want + 1, sizeof(*s->group));
	*n = 0;
	if (!*name || !s->group)
		DTX_FAIL_MEM(err);
	if (a->into.n && a->into.n != want) {
		DTX_TRY(dtx_bind_fail(b, DTX_E_LENGTH_MISMATCH, "/into", err,
		                      "extract: %zu names, the pattern has %u groups", a->into.n,
		                      groups));
		goto out;
	}
	for (uint32_t k = 0; k < want; k++) {
		const char *label = a->into.n ? into[k] : NULL;

		s->group[*n] = groups ? k + 1 : 0;
		if (!label)
			DTX_TRY(group_name(b, s->regex, a->pattern, k + 1, &label, err));
		if (label)
			(*name)[(*n)++] = label;
	}
	if (!*n)
		DTX_TRY(dtx_bind_fail(b, DTX_E_MISSING_PARAM, "/into", err,
		                      "extract needs into, or named groups in the pattern"));
out:
	return rc;
}

static enum dtx_code extract_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct extract_args *a = args;
	struct extract_state *s = dtx_bind_state(b, sizeof(*s));
	struct dtx_err bad = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;
	const char **name = NULL;
	uint32_t n = 0;

	if (!s)
		DTX_FAIL_MEM(err);
	if (dtx_param_is_hole(a->pattern))
		dtx_bind_unsure(b);
	else if (dtx_regex_compile(b->arena, dtx_str_of(a->pattern), &s->regex, &bad) != DTX_OK)
		DTX_TRY(dtx_bind_fail(b, bad.code, "/pattern", err, "%s", bad.msg));
	else
		DTX_TRY(bind_groups(b, a, s, &name, &n, err));
	DTX_TRY(dtx_pieces_bind(b, a->col, name, n, a->keep, &s->pieces, err));
out:
	dtx_err_clear(&bad);
	return rc;
}

struct finder {
	const struct extract_state *s;
	struct dtx_arena arena;
	struct dtx_rematch *match;
	int64_t missed;
};

static enum dtx_code find(void *arg, struct dtx_str text, struct dtx_str *piece,
                          struct dtx_err *err)
{
	size_t at[2 * (DTX_REGEX_GROUPS + 1)];
	struct finder *f = arg;

	(void)err;
	if (!dtx_rematch_find(f->match, text, 0, at)) {
		f->missed++;
		return DTX_OK;
	}
	for (uint32_t k = 0; k < f->s->pieces.n; k++) {
		size_t g = (size_t)2 * f->s->group[k];

		if (at[g] != SIZE_MAX)
			piece[k] = (struct dtx_str){ text.ptr + at[g], at[g + 1] - at[g] };
	}
	return DTX_OK;
}

static enum dtx_code extract_batch(const struct dtx_opctx *ox, void *local, struct dtx_batch *in,
                                   struct dtx_emit *out, struct dtx_err *err)
{
	struct finder f = { .s = ox->bound, .arena = DTX_ARENA_INIT };
	enum dtx_code rc = DTX_OK;

	(void)local;
	f.match = dtx_rematch_new(&f.arena, f.s->regex);
	if (!f.match)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_pieces_batch(ox, &f.s->pieces, in, find, &f, err));
	dtx_op_count(ox, "no_match", f.missed);
	DTX_TRY(dtx_emit_batch(out, in, err));
out:
	dtx_arena_clear(&f.arena);
	return rc;
}

static void extract_explain(const void *args, struct dtx_buf *out)
{
	const struct extract_args *a = args;

	dtx_buf_printf(out, "take the groups of /%s/ out of %s", a->pattern, a->col);
}

static const struct dtx_map extract_map = { .batch = extract_batch };

const struct dtx_op dtx_op_extract = {
	.name = "extract",
	.aliases = "str_extract",
	.ninputs = 1,
	.flags = DTX_OP_MAY_TRIGGER | DTX_OP_DX,
	.summary = "Make columns of the groups of a pattern",
	.notes = "The first match counts; no match gives nulls, which are counted. A pattern "
		 "without groups gives its whole match. The new columns are text until cast.",
	.facts = { .rows = DTX_ROWS_SAME },
	.params = extract_params,
	.nparams = DTX_COUNT(extract_params),
	.examples = extract_examples,
	.nexamples = DTX_COUNT(extract_examples),
	.args_size = sizeof(struct extract_args),
	.bind = extract_bind,
	.map = &extract_map,
	.explain = extract_explain,
};
