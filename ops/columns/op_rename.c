/* rename: new names for columns, all at once, so that names can be swapped. */
#include "core/expr/regex/regex_replace.h"
#include "core/plan/compile/sqltext.h"
#include "ops/kit/opkit.h"

struct rename_pair {
	const char *from, *to;
};
struct rename_args {
	struct dtx_plist map;
	const char *regex, *replace;
	struct dtx_cols *cols;
};

static const struct dtx_param rename_pair_rows[] = {
	{ .name = "from",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct rename_pair, from),
	  .help = "current name" },
	{ .name = "to",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  .offset = offsetof(struct rename_pair, to),
	  .help = "new name" },
};
static const struct dtx_param rename_params[] = {
	{ .name = "map",
	  .kind = DTX_P_LIST,
	  .offset = offsetof(struct rename_args, map),
	  .aliases = "columns,mapping",
	  .rows = rename_pair_rows,
	  .nrows = DTX_COUNT(rename_pair_rows),
	  .item_size = sizeof(struct rename_pair),
	  .sugar = DTX_SUGAR_MAP,
	  .help = "old and new names" },
	{ .name = "regex",
	  .kind = DTX_P_REGEX,
	  .offset = offsetof(struct rename_args, regex),
	  .help = "pattern to replace in names, in all places" },
	{ .name = "replace",
	  .kind = DTX_P_TEXT,
	  .offset = offsetof(struct rename_args, replace),
	  .help = "replacement; $1 or \\1 is the first group" },
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .offset = offsetof(struct rename_args, cols),
	  .help = "columns whose names regex changes (default: all)" },
};
static const struct dtx_example rename_examples[] = {
	{ .step = DTX_JSON({
		  "op" : "rename",
		  "map" : [ { "from" : "a", "to" : "b" }, { "from" : "b", "to" : "a" } ]
	  }),
	  .in = "a,b,c\n1,2,3\n",
	  .out = "b,a,c\n1,2,3\n" },
	{ .step = DTX_JSON({ "op" : "relabel", "columns" : { "a" : "first name" } }),
	  .in = "a,b\n,0.10\n",
	  .out = "first name,b\n,0.10\n" },
	{ .step = DTX_JSON({ "op" : "rename", "regex" : "^Hours\\|(.*)$", "replace" : "h_$1" }),
	  .in = "k,Hours|Jan,Hours|Feb\n1,2,3\n",
	  .out = "k,h_Jan,h_Feb\n1,2,3\n" },
	{ .step = DTX_JSON({ "op" : "rename", "regex" : "(\\w+) (\\w+)", "replace" : "\\2_\\1" }),
	  .in = "net sales,id\n1,2\n",
	  .out = "sales_net,id\n1,2\n" },
	{ .step = DTX_JSON({ "op" : "rename", "regex" : "(a)", "replace" : "$2" }),
	  .in = "a\n1\n",
	  .error = "bad_literal",
	  .message = "pattern has no group '$2'" },
	{ .step = DTX_JSON({ "op" : "rename", "regex" : "a", "replace" : "b", "cols" : ["a"] }),
	  .in = "a,ca\n1,2\n",
	  .out = "b,ca\n1,2\n" },
	{ .step = DTX_JSON({ "op" : "rename", "map" : { "a" : "b" } }),
	  .in = "a,b\n1,2\n",
	  .error = "name_collision",
	  .message = "two columns would be called 'b'" },
};

/* Finds columns and pairs of the map by number; -1: none. */
struct rename_by {
	int32_t *col;  /* the column of each pair */
	int64_t *pair; /* the pair of each column, with room for all columns there can be */
};

static enum dtx_code rename_columns(struct dtx_bind *b, const struct rename_args *a,
                                    struct rename_by *by, struct dtx_err *err)
{
	const struct rename_pair *pair = a->map.item;
	enum dtx_code rc = DTX_OK;
	char sub[48];

	for (size_t k = 0; k < a->map.n; k++) {
		snprintf(sub, sizeof(sub), "/map/%zu/from", k);
		DTX_TRY(dtx_bind_column(b, 0, pair[k].from, sub, &by->col[k], err));
		if (by->col[k] < 0)
			DTX_TRY(dtx_bind_would_make(b, pair[k].to, err));
		else if (by->pair[by->col[k]] < 0)
			by->pair[by->col[k]] = (int64_t)k;
		else
			DTX_TRY(dtx_bind_fail(b, DTX_E_BAD_PARAM_VALUE, sub, err,
			                      "column '%s' is renamed twice", pair[k].from));
	}
out:
	return rc;
}

/* Sets the names that the map changes. */
static enum dtx_code names_by_map(struct dtx_bind *b, const struct rename_args *a,
                                  const char **name, char (*sub)[32], struct dtx_err *err)
{
	const struct rename_pair *pair = a->map.item;
	enum dtx_code rc = DTX_OK;
	const size_t most = (size_t)b->in[0]->nfields + a->map.n + 1;
	struct rename_by by = { dtx_arena_alloc(b->arena, a->map.n + 1, sizeof(*by.col)),
		                dtx_arena_alloc(b->arena, most, sizeof(*by.pair)) };

	if (!by.col || !by.pair)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < most; i++)
		by.pair[i] = -1;
	DTX_TRY(rename_columns(b, a, &by, err));
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		int64_t k = by.pair[i];

		name[i] = k < 0 ? b->in[0]->field[i].name : pair[k].to;
		snprintf(sub[i], sizeof(sub[i]), k < 0 ? "/map" : "/map/%lld/to", (long long)k);
	}
out:
	return rc;
}

static enum dtx_code replace_name(struct dtx_bind *b, const struct dtx_replacement *with,
                                  struct dtx_rematch *m, const char **name, struct dtx_err *err)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 16);
	enum dtx_code rc = DTX_OK;

	dtx_replacement_run(with, m, dtx_str_of(*name), &out);
	DTX_TRY(dtx_buf_check(&out, "a column name", err));
	*name = dtx_arena_strdup(b->arena, dtx_buf_text(&out));
	if (!*name)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&out);
	return rc;
}

/* Sets the names that the pattern changes. col[0..n): columns to change; NULL: all. */
static enum dtx_code names_by_regex(struct dtx_bind *b, const struct rename_args *a,
                                    const int32_t *col, uint32_t n, const char **name,
                                    char (*sub)[32], struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err bad = DTX_ERR_INIT;
	struct dtx_replacement *with = NULL;
	struct dtx_regex *re = NULL;
	struct dtx_rematch *m;

	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		name[i] = b->in[0]->field[i].name;
		snprintf(sub[i], sizeof(sub[i]), "/regex");
	}
	if (dtx_regex_compile(b->arena, dtx_str_of(a->regex), &re, &bad) != DTX_OK) {
		DTX_TRY(dtx_bind_fail(b, bad.code, "/regex", err, "%s", bad.msg));
		goto out;
	}
	if (!dtx_param_is_hole(a->regex) && a->replace &&
	    dtx_replacement_make(b->arena, re, dtx_str_of(a->replace), &with, &bad) != DTX_OK) {
		DTX_TRY(dtx_bind_fail_next(b, bad.code, "/replace", bad.hint, err, "%s", bad.msg));
		goto out;
	}
	m = dtx_rematch_new(b->arena, re);
	if (!m)
		DTX_FAIL_MEM(err);
	for (uint32_t k = 0; with && k < (col ? n : b->in[0]->nfields); k++)
		if (!col || col[k] >= 0)
			DTX_TRY(replace_name(b, with, m, &name[col ? col[k] : (int32_t)k], err));
out:
	dtx_err_clear(&bad);
	return rc;
}

static enum dtx_code rename_check(const void *args, struct dtx_err *err)
{
	const struct rename_args *a = args;
	enum dtx_code rc = DTX_OK;

	if (a->map.n && (a->regex || a->replace || a->cols))
		DTX_PARAM_FAIL(err, DTX_E_PARAM_CONFLICT, "/regex",
		               "rename needs map, or regex and replace");
	if (!a->map.n && (!a->regex || !a->replace))
		DTX_FAIL(err, DTX_E_MISSING_PARAM, "rename needs map, or regex and replace");
out:
	return rc;
}

static enum dtx_code rename_bind(struct dtx_bind *b, void *args, struct dtx_err *err)
{
	const struct rename_args *a = args;
	enum dtx_code rc = DTX_OK;
	struct dtx_colmap *map = dtx_bind_state(b, sizeof(*map));
	int32_t *col = NULL;
	uint32_t n = 0;
	size_t most;
	const char **name;
	char(*sub)[32];

	if (a->cols) /* resolved first, as it may add columns to an open input */
		DTX_TRY(dtx_bind_cols(b, 0, a->cols, "/cols", &col, &n, err));
	most = (size_t)b->in[0]->nfields + a->map.n + 1;
	name = dtx_arena_zalloc(b->arena, most, sizeof(*name));
	sub = dtx_arena_zalloc(b->arena, most, sizeof(*sub));
	if (!map || !name || !sub)
		DTX_FAIL_MEM(err);
	if (a->regex)
		DTX_TRY(names_by_regex(b, a, col, n, name, sub, err));
	else
		DTX_TRY(names_by_map(b, a, name, sub, err));
	for (uint32_t i = 0; i < b->in[0]->nfields; i++) {
		if (dtx_bind_out(b, name[i]) >= 0)
			DTX_TRY(dtx_bind_taken(b, name[i], sub[i], err));
		else
			DTX_TRY(dtx_bind_pass(b, 0, (int32_t)i, name[i], err));
	}
	b->renames = a->regex != NULL;
	if (a->regex || !a->map.n)
		dtx_bind_unsure(b);
	DTX_TRY(dtx_colmap_bind(b, 0, map, err));
out:
	return rc;
}

static void rename_explain(const void *args, struct dtx_buf *out)
{
	const struct rename_args *a = args;
	const struct rename_pair *pair = a->map.item;

	if (a->regex) {
		dtx_buf_printf(out, "in names replace /%s/ by '%s'", a->regex, a->replace);
		return;
	}
	dtx_buf_add(out, "rename ");
	for (size_t i = 0; i < a->map.n; i++)
		dtx_buf_printf(out, "%s%s to %s", i ? ", " : "", pair[i].from, pair[i].to);
}

static bool rename_pandas(const void *args, struct dtx_buf *out)
{
	const struct rename_args *a = args;
	const struct rename_pair *pair = a->map.item;

	if (a->regex)
		return false;
	dtx_buf_add(out, "df0.rename(columns={");
	for (size_t i = 0; i < a->map.n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_py_text(out, pair[i].from);
		dtx_buf_add(out, ": ");
		dtx_py_text(out, pair[i].to);
	}
	dtx_buf_add(out, "})");
	return true;
}

const struct dtx_op dtx_op_rename = {
	.name = "rename",
	.aliases = "relabel",
	.ninputs = 1,
	.flags = DTX_OP_TAKES_SEL | DTX_OP_MAY_TRIGGER | DTX_OP_SAME_ROWS | DTX_OP_DX,
	.summary = "Give columns new names",
	.notes = "All names change at once, so a swap works. Two equal results are name_collision.",
	.facts = { .rows = DTX_ROWS_SAME, .values = DTX_VALUES_RENAMED, .all_cols = "regex" },
	.params = rename_params,
	.nparams = DTX_COUNT(rename_params),
	.examples = rename_examples,
	.nexamples = DTX_COUNT(rename_examples),
	.args_size = sizeof(struct rename_args),
	.check = rename_check,
	.bind = rename_bind,
	.map = &dtx_colmap_move,
	.explain = rename_explain,
	.sql = dtx_sql_project,
	.pandas = rename_pandas,
};
