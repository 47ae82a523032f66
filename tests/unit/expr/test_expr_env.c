/* The table that tests of expressions share. */
#include "tests/unit/expr_env.h"

#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"
#include "core/data/time/time.h"
#include "tests/t.h"

#define T(t)                                                                                       \
	{                                                                                          \
		.type = (t)                                                                        \
	}

static const struct dtx_field env_fields[] = {
	{ .name = "i", .type = T(DTX_T_INT64) },
	{ .name = "j", .type = T(DTX_T_INT64) },
	{ .name = "f", .type = T(DTX_T_FLOAT64) },
	{ .name = "t", .type = T(DTX_T_TEXT) },
	{ .name = "s", .type = T(DTX_T_TEXT) },
	{ .name = "b", .type = T(DTX_T_BOOL) },
	{ .name = "c", .type = T(DTX_T_BOOL) },
	{ .name = "d", .type = T(DTX_T_DATE) },
	{ .name = "at", .type = T(DTX_T_DATETIME) },
	{ .name = "n", .type = T(DTX_T_NULL) },
	{ .name = "m", .type = { DTX_T_DECIMAL, 6, 2 } },
	{ .name = "p", .type = T(DTX_T_FLOAT64), .guessed = true, .source = true },
	{ .name = "k", .type = T(DTX_T_TEXT), .guessed = true, .source = true },
};
static const struct dtx_schema env_schema = { .nfields = DTX_COUNT(env_fields),
	                                      .field = env_fields };

static struct dtx_column *finish(struct dtx_builder *b)
{
	struct dtx_column *c = NULL;

	T_OK(dtx_builder_finish(b, NULL, &c, NULL), NULL);
	return c;
}

static struct dtx_column *ints(enum dtx_type type, int64_t a, int64_t b, int64_t c, int null)
{
	int64_t v[3] = { a, b, c };
	struct dtx_builder bd;
	int i;

	dtx_builder_init(&bd, (struct dtx_typeref){ type, 6, type == DTX_T_DECIMAL ? 2 : 0 }, 3);
	for (i = 0; i < 3; i++) {
		if (i == null)
			dtx_builder_null(&bd);
		else if (type == DTX_T_BOOL)
			dtx_builder_bool(&bd, v[i] != 0);
		else if (type == DTX_T_DATE)
			dtx_builder_day(&bd, (int32_t)v[i]);
		else if (type == DTX_T_DECIMAL)
			dtx_builder_dec(&bd, dtx_dec_put(v[i]));
		else
			dtx_builder_i64(&bd, v[i]);
	}
	return finish(&bd);
}

static struct dtx_column *floats(double a, double b)
{
	struct dtx_builder bd;

	dtx_builder_init(&bd, (struct dtx_typeref)T(DTX_T_FLOAT64), 3);
	dtx_builder_f64(&bd, a);
	dtx_builder_f64(&bd, b);
	dtx_builder_null(&bd);
	return finish(&bd);
}

static struct dtx_column *texts(const char *a, const char *b, const char *c)
{
	const char *v[3] = { a, b, c };
	struct dtx_builder bd;
	int i;

	dtx_builder_init(&bd, (struct dtx_typeref)T(DTX_T_TEXT), 3);
	for (i = 0; i < 3 && (i < 2 || c); i++) {
		if (v[i])
			dtx_builder_text(&bd, dtx_str_of(v[i]));
		else
			dtx_builder_null(&bd);
	}
	return finish(&bd);
}

static struct dtx_column *dict(void)
{
	static const uint32_t codes[] = { 0, 1, 0 };
	struct dtx_column *c =
		dtx_column_new(DTX_F_DICT, (struct dtx_typeref)T(DTX_T_TEXT), 3, NULL);

	c->v.code = codes;
	c->nulls = 0;
	c->dict = texts("x", "y", NULL);
	return c;
}

static struct dtx_column *spans(const char *base, const struct dtx_span *span)
{
	struct dtx_column *c =
		dtx_column_new(DTX_F_SPAN, (struct dtx_typeref)T(DTX_T_TEXT), 3, NULL);

	c->base = base;
	c->dialect = DTX_CELLDIALECT_CSV;
	c->v.span = span;
	c->nulls = UINT32_MAX;
	return c;
}

static int32_t env_column(void *arg, const char *name, struct dtx_field *field, struct dtx_err *err)
{
	int32_t i = dtx_schema_find(&env_schema, name);

	(void)arg;
	if (!strcmp(name, "u")) {
		*field = (struct dtx_field){ .name = "u", .type = T(DTX_T_UNKNOWN) };
		return 99;
	}
	if (i < 0) {
		dtx_err_set(err, DTX_E_UNKNOWN_COLUMN, __FILE__, __LINE__, "no column '%s' here",
		            name);
		return -1;
	}
	*field = env_fields[i];
	return i;
}

static void env_use(void *arg, int32_t column, enum dtx_demand demand, enum dtx_class cls)
{
	(void)column, (void)demand, (void)cls;
	((struct expr_env *)arg)->uses++;
}

void expr_env_init(struct expr_env *v)
{
	static const struct dtx_span numbers[] = { { 0, 3 }, { 4, 4 }, { 0, 0 } };
	static const struct dtx_span words[] = { { 10, 2 }, { 14, 4 | DTX_SPAN_QUOTED }, { 0, 0 } };
	static const char source[] = "7.0,1.50, de,\"a\"\"b\"";
	int64_t noon = dtx_day_of(2024, 1, 31) * DTX_DAY_US + 12 * DTX_DAY_US / 24;
	struct dtx_column **col;

	memset(v, 0, sizeof(*v));
	v->err = (struct dtx_err)DTX_ERR_INIT;
	dtx_buf_init(&v->out, 1 << 24);
	T_OK(dtx_batch_new(&env_schema, 3, &v->batch, &v->err), &v->err);
	col = v->batch->col;
	col[0] = ints(DTX_T_INT64, 1, -2, 0, 2);
	col[1] = ints(DTX_T_INT64, 10, 0, 3, -1);
	col[2] = floats(1.5, 0);
	col[3] = texts("abc", NULL, "");
	col[4] = dict();
	col[5] = ints(DTX_T_BOOL, 1, 0, 0, 1);
	col[6] = ints(DTX_T_BOOL, 1, 0, 0, -1);
	col[7] = ints(DTX_T_DATE, dtx_day_of(2024, 1, 31), 0, dtx_day_of(2023, 12, 1), 1);
	col[8] = ints(DTX_T_DATETIME, noon, 0, 0, 1);
	T_OK(dtx_column_nulls((struct dtx_typeref)T(DTX_T_NULL), 3, &col[9], NULL), NULL);
	col[10] = ints(DTX_T_DECIMAL, 1250, -5, 0, 2);
	col[11] = spans(source, numbers);
	col[12] = spans(source, words);
	v->scope = (struct dtx_scope){
		.arg = v, .column = env_column, .use = env_use, .run_date = dtx_day_of(2024, 2, 29)
	};
}

void expr_env_clear(struct expr_env *v)
{
	dtx_batch_free(v->batch);
	dtx_arena_clear(&v->arena);
	dtx_errlist_clear(&v->errs);
	dtx_err_clear(&v->err);
	dtx_buf_clear(&v->out);
}

struct dtx_bound *expr_env_bind(struct expr_env *v, const char *text, struct dtx_aggcalls *aggs)
{
	struct dtx_bound *b = NULL;
	struct dtx_expr *e = NULL;

	dtx_errlist_clear(&v->errs);
	dtx_err_clear(&v->err);
	if (dtx_expr_parse(&v->arena, dtx_str_of(text), &e, &v->err) != DTX_OK) {
		(void)dtx_errlist_take(&v->errs, &v->err);
		return NULL;
	}
	T_OK(dtx_expr_bind(&v->arena, e, &v->scope, (struct dtx_typeref){ .type = DTX_T_UNKNOWN },
	                   aggs, &b, &v->errs, &v->err),
	     &v->err);
	return b;
}

static void print_column(struct expr_env *v, struct dtx_column *c)
{
	uint32_t i;

	for (i = 0; i < c->len; i++) {
		dtx_buf_add(&v->out, i ? "|" : "");
		if (dtx_column_is_null(c, i) || c->type.type == DTX_T_NULL)
			dtx_buf_addc(&v->out, '~');
		else
			dtx_cast_print(c, i, &v->out);
	}
}

const char *expr_env_run(struct expr_env *v, const char *text)
{
	struct dtx_bound *b = expr_env_bind(v, text, NULL);
	struct dtx_column *c = NULL;

	dtx_buf_reset(&v->out);
	if (!b) {
		const struct dtx_err *e = &v->errs.item[0];

		if (v->errs.n)
			dtx_buf_printf(&v->out, "%s %d %d", dtx_code_name(e->code), e->span[0],
			               e->span[1]);
		return dtx_buf_text(&v->out);
	}
	if (dtx_bound_type(b).type == DTX_T_UNKNOWN)
		return "unknown";
	if (dtx_eval(b, v->batch, &c, &v->counts, &v->err) != DTX_OK) {
		dtx_buf_printf(&v->out, "%s row %d", dtx_code_name(v->err.code), (int)v->err.row);
		return dtx_buf_text(&v->out);
	}
	print_column(v, c);
	dtx_column_unref(c);
	return dtx_buf_text(&v->out);
}
