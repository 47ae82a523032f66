/* Parameter rows: findings, sugar, canonical form, schema. */
#include "core/base/param/param.h"

#include "core/base/hash/hash.h"
#include "tests/t.h"

struct item {
	const char *col, *expr;
	bool desc;
	int nulls, collate;
};
static const struct dtx_param item_rows[] = {
	{ .name = "col", .kind = DTX_P_COLUMN, .offset = offsetof(struct item, col) },
	{ .name = "expr", .kind = DTX_P_EXPR, .offset = offsetof(struct item, expr) },
	{ .name = "desc",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct item, desc),
	  .def = "false" },
	{ .name = "nulls",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct item, nulls),
	  .choices = "last,first",
	  .def = "\"last\"" },
	{ .name = "collate",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct item, collate),
	  .choices = "binary,nocase",
	  .unsupported = "natural",
	  .def = "\"binary\"" },
};

struct set_item {
	const char *as, *expr;
};
static const struct dtx_param set_rows[] = {
	{ .name = "as",
	  .kind = DTX_P_TEXT,
	  .required = true,
	  .aliases = "new_name",
	  .offset = offsetof(struct set_item, as) },
	{ .name = "expr",
	  .kind = DTX_P_EXPR,
	  .required = true,
	  .aliases = "formula",
	  .offset = offsetof(struct set_item, expr) },
};

struct pair {
	const char *left, *right;
};
static const struct dtx_param pair_rows[] = {
	{ .name = "left",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct pair, left) },
	{ .name = "right",
	  .kind = DTX_P_COLUMN,
	  .required = true,
	  .offset = offsetof(struct pair, right) },
};

struct args {
	int64_t n, limit;
	double share;
	bool flag;
	const char *name, *where;
	int keep, mode;
	const json_t *fill;
	struct dtx_plist by, set, agg, on, words;
	const char *cols;
};
#define LIST(list, item) .rows = list, .nrows = DTX_COUNT(list), .item_size = sizeof(struct item)
static const struct dtx_param params[] = {
	{ .name = "n",
	  .kind = DTX_P_INT,
	  .offset = offsetof(struct args, n),
	  .min = 0,
	  .max = 100,
	  .def = "5",
	  .aliases = "count",
	  .help = "rows to keep" },
	{ .name = "limit", .kind = DTX_P_INT, .offset = offsetof(struct args, limit) },
	{ .name = "share", .kind = DTX_P_NUMBER, .offset = offsetof(struct args, share) },
	{ .name = "flag",
	  .kind = DTX_P_BOOL,
	  .offset = offsetof(struct args, flag),
	  .def = "true" },
	{ .name = "name", .kind = DTX_P_TEXT, .offset = offsetof(struct args, name) },
	{ .name = "where", .kind = DTX_P_EXPR, .offset = offsetof(struct args, where) },
	{ .name = "keep",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct args, keep),
	  .choices = "true,not_true",
	  .def = "\"true\"" },
	{ .name = "mode",
	  .kind = DTX_P_CHOICE,
	  .offset = offsetof(struct args, mode),
	  .choices = "a,b" },
	{ .name = "fill",
	  .kind = DTX_P_VALUE,
	  .offset = offsetof(struct args, fill),
	  .def = "\"auto\"" },
	{ .name = "by",
	  .kind = DTX_P_LIST,
	  .offset = offsetof(struct args, by),
	  LIST(item_rows, item),
	  .sugar = DTX_SUGAR_SORT,
	  .nonempty = true },
	{ .name = "set",
	  .kind = DTX_P_LIST,
	  .offset = offsetof(struct args, set),
	  LIST(set_rows, set_item),
	  .sugar = DTX_SUGAR_MAP },
	{ .name = "agg",
	  .kind = DTX_P_LIST,
	  .offset = offsetof(struct args, agg),
	  LIST(set_rows, set_item),
	  .sugar = DTX_SUGAR_AGG },
	{ .name = "on",
	  .kind = DTX_P_LIST,
	  .offset = offsetof(struct args, on),
	  LIST(pair_rows, pair),
	  .sugar = DTX_SUGAR_BOTH },
	{ .name = "words",
	  .kind = DTX_P_TEXTS,
	  .offset = offsetof(struct args, words),
	  .def = "[]" },
	{ .name = "cols",
	  .kind = DTX_P_COLUMNS,
	  .offset = offsetof(struct args, cols),
	  .def = "\"*\"" },
};

/* Here an expression is its text; one that begins with '!' is a syntax error. */
static enum dtx_code hook(void *arg, const json_t *value, const char *pointer, void *out,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *copy;

	(void)pointer;
	if (!json_is_string(value) || json_string_value(value)[0] == '!')
		DTX_FAIL(err, DTX_E_EXPR_SYNTAX, "bad formula");
	copy = dtx_arena_strdup(arg, json_string_value(value));
	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(out, &copy, sizeof(copy));
out:
	return rc;
}

static enum dtx_code columns_hook(void *arg, const json_t *value, const char *pointer,
                                  struct dtx_errlist *errs, void *out, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	enum dtx_code rc = hook(arg, value, pointer, out, &f);

	if (rc == DTX_E_NO_MEMORY) {
		dtx_err_move(err, &f);
		return rc;
	}
	if (rc != DTX_OK && !dtx_errlist_take(errs, &f))
		return dtx_err_set(err, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
	return DTX_OK;
}

static json_t *hook_json(const void *made)
{
	return json_string(made);
}

/* Fills the args from text and prints the canonical text to out. */
static enum dtx_code param_run(const char *text, struct dtx_errlist *found, struct dtx_buf *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena arena = DTX_ARENA_INIT;
	struct dtx_param_hooks hooks = { .arg = &arena,
		                         .expr = hook,
		                         .columns = columns_hook,
		                         .expr_json = hook_json,
		                         .columns_json = hook_json };
	struct dtx_param_ctx ctx = { .arena = &arena,
		                     .hooks = &hooks,
		                     .errs = found,
		                     .skip = "op,note",
		                     .step = 2,
		                     .op = "demo",
		                     .unsupported = "frame" };
	struct args args = { 0 };
	json_t *object = NULL, *canon = json_object();

	DTX_TRY(dtx_json_parse(dtx_str_of(text), (struct dtx_json_limits){ 0, 0 }, &object, err));
	DTX_TRY(dtx_param_fill(params, DTX_COUNT(params), object, "/steps/2", &ctx, &args, err));
	if (!canon || !dtx_param_canonical(params, DTX_COUNT(params), &args, &hooks, canon))
		DTX_FAIL_MEM(err);
	dtx_json_canonical(canon, out);
	DTX_TRY(dtx_buf_check(out, "canonical", err));
out:
	json_decref(object);
	json_decref(canon);
	dtx_arena_clear(&arena);
	return rc;
}

#define DEFAULTS_A "\"cols\":\"*\",\"fill\":\"auto\",\"flag\":true,\"keep\":\"true\",\"n\":5"

static const struct {
	const char *text, *want;
} canon_cases[] = {
	{ "{}", "{" DEFAULTS_A ",\"words\":[]}" },
	{ "{\"op\":\"x\",\"note\":\"n\",\"x-y\":1,\"n\":null}", "{" DEFAULTS_A ",\"words\":[]}" },
	{ "{\"count\":7.0,\"fill\":3,\"words\":\"a\",\"keep\":\"not_true\",\"flag\":false}",
	  "{\"cols\":\"*\",\"fill\":3,\"flag\":false,\"keep\":\"not_true\",\"n\":7,\"words\":["
	  "\"a\"]}" },
	{ "{\"limit\":3,\"share\":0.5,\"name\":\"z\",\"where\":\"a > "
	  "1\",\"mode\":\"b\",\"cols\":\"q\"}",
	  "{\"cols\":\"q\",\"fill\":\"auto\",\"flag\":true,\"keep\":\"true\",\"limit\":3,"
	  "\"mode\":\"b\",\"n\":5,\"name\":\"z\",\"share\":0.5,\"where\":\"a > 1\",\"words\":[]}" },
	{ "{\"by\":\"-a\"}", "{\"by\":[{\"col\":\"a\",\"collate\":\"binary\",\"desc\":true,"
	                     "\"nulls\":\"last\"}]," DEFAULTS_A ",\"words\":[]}" },
	{ "{\"by\":[\"b\",{\"expr\":\"x\",\"nulls\":\"first\"}]}",
	  "{\"by\":[{\"col\":\"b\",\"collate\":\"binary\",\"desc\":false,\"nulls\":\"last\"},"
	  "{\"collate\":\"binary\",\"desc\":false,\"expr\":\"x\",\"nulls\":\"first\"}]," DEFAULTS_A
	  ",\"words\":[]}" },
	{ "{\"set\":{\"util\":\"a / b\",\"c\":\"1\"}}",
	  "{" DEFAULTS_A
	  ",\"set\":[{\"as\":\"util\",\"expr\":\"a / b\"},{\"as\":\"c\",\"expr\":\"1\"}],"
	  "\"words\":[]}" },
	{ "{\"set\":{\"new_name\":\"u\",\"formula\":\"a\"}}",
	  "{" DEFAULTS_A ",\"set\":[{\"as\":\"u\",\"expr\":\"a\"}],\"words\":[]}" },
	{ "{\"set\":{\"u\":{\"expr\":\"a\"}}}",
	  "{" DEFAULTS_A ",\"set\":[{\"as\":\"u\",\"expr\":\"a\"}],\"words\":[]}" },
	{ "{\"agg\":{\"hours\":\"sum\",\"x y\":\"max\",\"c\":\"count()\"}}",
	  "{\"agg\":[{\"as\":\"hours\",\"expr\":\"sum(`hours`)\"},{\"as\":\"x "
	  "y\",\"expr\":\"max(`x y`)\"},"
	  "{\"as\":\"c\",\"expr\":\"count()\"}]," DEFAULTS_A ",\"words\":[]}" },
	{ "{\"on\":[\"k\",{\"left\":\"a\",\"right\":\"b\"}]}",
	  "{" DEFAULTS_A
	  ",\"on\":[{\"left\":\"k\",\"right\":\"k\"},{\"left\":\"a\",\"right\":\"b\"}],"
	  "\"words\":[]}" },
	{ "{\"on\":{\"a\":\"b\"}}",
	  "{" DEFAULTS_A ",\"on\":[{\"left\":\"a\",\"right\":\"b\"}],\"words\":[]}" },
};

void test_param_canonical(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(canon_cases); i++) {
		struct dtx_errlist found = DTX_ERRLIST_INIT;
		struct dtx_buf out = DTX_BUF_INIT(10000);
		struct dtx_err err = DTX_ERR_INIT;

		T_OK(param_run(canon_cases[i].text, &found, &out, &err), &err);
		T_INT(found.n, 0);
		if (found.n)
			t_fail(__FILE__, __LINE__, "%s", found.item[0].msg);
		T_STR(dtx_buf_text(&out), canon_cases[i].want);
		dtx_buf_clear(&out);
		dtx_errlist_clear(&found);
	}
}

static const struct {
	const char *text;
	const char *found; /* "code at; code at" */
} find_cases[] = {
	{ "{\"m\":1}", "unknown_param /steps/2/m;" },
	{ "{\"frame\":1}", "unsupported_param /steps/2/frame;" },
	{ "{\"n\":\"x\",\"flag\":1,\"share\":\"y\"}",
	  "bad_param_type /steps/2/n;bad_param_type /steps/2/share;bad_param_type /steps/2/flag;" },
	{ "{\"n\":101}", "bad_param_value /steps/2/n;" },
	{ "{\"limit\":9007199254740993}", "bad_param_value /steps/2/limit;" },
	{ "{\"n\":1.5}", "bad_param_type /steps/2/n;" },
	{ "{\"n\":1,\"count\":2}", "param_conflict /steps/2/count;" },
	{ "{\"keep\":\"trve\"}", "bad_param_value /steps/2/keep;" },
	{ "{\"by\":{\"col\":\"a\",\"collate\":\"natural\"}}",
	  "unsupported_param /steps/2/by/collate;" },
	{ "{\"by\":[]}", "bad_param_value /steps/2/by;" },
	{ "{\"by\":[\"a\",[1]]}", "bad_param_type /steps/2/by/1;" },
	{ "{\"set\":[{\"as\":\"u\"}]}", "missing_param /steps/2/set/0;" },
	{ "{\"set\":{\"u\":\"!\"}}", "expr_syntax /steps/2/set/u;" },
	{ "{\"set\":{\"u\":{\"expr\":\"!\"}}}", "expr_syntax /steps/2/set/u/expr;" },
	{ "{\"set\":[{\"as\":\"u\",\"expr\":\"!\",\"z\":1}]}",
	  "expr_syntax /steps/2/set/0/expr;unknown_param /steps/2/set/0/z;" },
	{ "{\"set\":\"u\"}", "bad_param_type /steps/2/set;" },
	{ "{\"words\":[\"a\",1]}", "bad_param_type /steps/2/words/1;" },
	{ "{\"fill\":[1]}", "bad_param_type /steps/2/fill;" },
	{ "{\"on\":\"\"}", "bad_param_value /steps/2/on;bad_param_value /steps/2/on;" },
	{ "[]", "bad_param_type /steps/2;" },
};

void test_param_findings(void)
{
	size_t i, j;

	for (i = 0; i < DTX_COUNT(find_cases); i++) {
		struct dtx_errlist found = DTX_ERRLIST_INIT;
		struct dtx_buf out = DTX_BUF_INIT(10000), got = DTX_BUF_INIT(1000);
		struct dtx_err err = DTX_ERR_INIT;

		T_OK(param_run(find_cases[i].text, &found, &out, &err), &err);
		for (j = 0; j < found.n; j++) {
			dtx_buf_printf(&got, "%s %s;", dtx_code_name(found.item[j].code),
			               found.item[j].at);
			T_INT(found.item[j].step, 2);
			T_STR(found.item[j].op, "demo");
			T_INT(found.item[j].severity, found.item[j].code == DTX_E_UNSUPPORTED_PARAM
			                                      ? DTX_SEV_FALLBACK
			                                      : DTX_SEV_ERROR);
		}
		T_STR(dtx_buf_text(&got), find_cases[i].found);
		dtx_buf_clear(&out);
		dtx_buf_clear(&got);
		dtx_errlist_clear(&found);
	}
}

void test_param_suggests(void)
{
	struct dtx_errlist found = DTX_ERRLIST_INIT;
	struct dtx_buf out = DTX_BUF_INIT(10000);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(param_run("{\"wher\":1,\"keep\":\"not_ture\"}", &found, &out, &err), &err);
	T_INT(found.n, 2);
	T_STR(found.item[0].did_you_mean[0], "not_true");
	T_STR(found.item[1].did_you_mean[0], "where");
	T_STR(found.item[1].msg, "demo has no parameter 'wher'");
	dtx_buf_clear(&out);
	dtx_errlist_clear(&found);
}

static enum dtx_code param_once(const char *text)
{
	struct dtx_errlist found = DTX_ERRLIST_INIT;
	struct dtx_buf out = DTX_BUF_INIT(10000);
	enum dtx_code rc = param_run(text, &found, &out, NULL);

	dtx_buf_clear(&out);
	dtx_errlist_clear(&found);
	return rc;
}

void test_param_every_alloc_fails(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(canon_cases); i++)
		T_EVERY_ALLOC_FAILS(param_once(canon_cases[i].text));
	for (i = 0; i < DTX_COUNT(find_cases); i++)
		T_EVERY_ALLOC_FAILS(param_once(find_cases[i].text));
}

static enum dtx_code param_schema_once(struct dtx_buf *out)
{
	enum dtx_code rc = DTX_OK;
	json_t *s = dtx_param_schema(params, DTX_COUNT(params));

	if (!s)
		DTX_FAIL_MEM(NULL);
	dtx_json_canonical(s, out);
	DTX_TRY(dtx_buf_check(out, "schema", NULL));
out:
	json_decref(s);
	return rc;
}

static enum dtx_code param_schema_drop(void)
{
	struct dtx_buf out = DTX_BUF_INIT(100000);
	enum dtx_code rc = param_schema_once(&out);

	dtx_buf_clear(&out);
	return rc;
}

void test_param_schema(void)
{
	struct dtx_buf out = DTX_BUF_INIT(100000);

	T_OK(param_schema_once(&out), NULL);
	T_CHECK(strstr(dtx_buf_text(&out),
	               "\"n\":{\"anyOf\":[{\"maximum\":100,\"minimum\":0,\"type\":\"integer\"},"
	               "{\"type\":\"null\"}],\"default\":5,\"description\":\"rows to keep\"}") !=
	        NULL);
	T_CHECK(strstr(dtx_buf_text(&out), "\"enum\":[\"true\",\"not_true\"]") != NULL);
	dtx_buf_clear(&out);
	T_EVERY_ALLOC_FAILS(param_schema_drop());
}

void test_param_help(void)
{
	struct dtx_buf out = DTX_BUF_INIT(10000);

	dtx_param_help(params, 1, &out);
	dtx_param_help(params + 9, 1, &out);
	T_STR(dtx_buf_text(&out), "  n: int, default 5; rows to keep (also count)\n"
	                          "  by: list of {col, expr, desc, nulls, collate}\n"
	                          "    col: column\n"
	                          "    expr: formula\n"
	                          "    desc: bool, default false\n"
	                          "    nulls: one of last, first, default \"last\"\n"
	                          "    collate: one of binary, nocase, default \"binary\"\n");
	dtx_buf_clear(&out);
}

/* The step hash that the plan format fixes. */
void test_param_step_hash(void)
{
	static const char step[] =
		"{\"by\":[{\"col\":\"a\",\"collate\":\"binary\",\"desc\":true,\"nulls\":\"last\"}],"
		"\"op\":\"sort\"}";
	char hex[DTX_SHA256_HEX];

	dtx_sha256_hex(step, sizeof(step) - 1, hex);
	T_STR(hex, "08952b5f98a6f08afb5c927d36d8662cd660f4a246ff9858002cbaa9224d9752");
}
