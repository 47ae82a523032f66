/* Types, schemas, columns, batches, tables, keys. */
#include "core/data/column.h"

#include "core/data/batch.h"
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/key.h"
#include "tests/t.h"

void test_type_parse(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "string", "text" },
		{ "integer", "int" },
		{ "number", "float" },
		{ "boolean", "bool" },
		{ "timestamp", "datetime" },
		{ "decimal(12,2)", "decimal(12,2)" },
		{ "decimal( 38 , 38 )", "decimal(38,38)" },
		{ "decimal(39,0)", NULL },
		{ "decimal(5,6)", NULL },
		{ "decimal(5)", NULL },
		{ "decimal(5,1,1)", NULL },
		{ "Text", NULL },
		{ "", NULL },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_typeref t;
		struct dtx_buf b = DTX_BUF_INIT(100);
		bool ok = dtx_type_parse(dtx_str_of(rows[i].text), &t);

		T_CHECK(ok == (rows[i].want != NULL));
		if (ok) {
			dtx_type_print(t, &b);
			T_STR(dtx_buf_text(&b), rows[i].want);
		}
		dtx_buf_clear(&b);
	}
}

void test_type_merge(void)
{
	static const char *const rows[][3] = {
		{ "int", "float", "float" },
		{ "int", "decimal(10,2)", "decimal(21,2)" },
		{ "decimal(10,2)", "decimal(5,4)", "decimal(12,4)" },
		{ "decimal(10,2)", "float", "float" },
		{ "date", "datetime", "datetime" },
		{ "date", "int", "text" },
		{ "bool", "int", "text" },
		{ "bool", "bool", "bool" },
		{ "decimal(38,0)", "decimal(38,10)", "decimal(38,10)" },
	};
	struct dtx_typeref none = { DTX_T_NULL, 0, 0 };
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_typeref a, b, t;
		struct dtx_buf text = DTX_BUF_INIT(100);

		T_CHECK(dtx_type_parse(dtx_str_of(rows[i][0]), &a));
		T_CHECK(dtx_type_parse(dtx_str_of(rows[i][1]), &b));
		dtx_type_print(dtx_type_merge(a, b), &text);
		T_STR(dtx_buf_text(&text), rows[i][2]);
		t = dtx_type_merge(b, a);
		T_INT(t.type, dtx_type_merge(a, b).type);
		T_INT(dtx_type_merge(none, a).type, a.type);
		dtx_buf_clear(&text);
	}
}

/* A column of n rows: row i is null if i % 5 == 3, else its value is made from i. */
static enum dtx_code column_make(enum dtx_type type, uint32_t n, struct dtx_column **out,
                                 struct dtx_err *err)
{
	struct dtx_typeref t = { type, type == DTX_T_DECIMAL ? 10 : 0,
		                 type == DTX_T_DECIMAL ? 1 : 0 };
	struct dtx_builder b;
	char text[64];
	uint32_t i;

	dtx_builder_init(&b, t, 0);
	for (i = 0; i < n; i++) {
		if (i % 5 == 3) {
			dtx_builder_null(&b);
			continue;
		}
		switch (type) {
		case DTX_T_BOOL: dtx_builder_bool(&b, i % 2); break;
		case DTX_T_INT64:
		case DTX_T_DATETIME: dtx_builder_i64(&b, i); break;
		case DTX_T_FLOAT64: dtx_builder_f64(&b, i / 2.0); break;
		case DTX_T_DATE: dtx_builder_day(&b, (int32_t)i); break;
		case DTX_T_DECIMAL: dtx_builder_dec(&b, (struct dtx_dec128){ i, 0 }); break;
		default:
			snprintf(text, sizeof(text), "text%s number %u",
			         i % 2 ? " that is long" : "", i);
			dtx_builder_text(&b, dtx_str_of(text + (i % 4 ? 0 : 11)));
			break;
		}
	}
	return dtx_builder_finish(&b, NULL, out, err);
}

static const enum dtx_type column_types[] = { DTX_T_BOOL,    DTX_T_INT64, DTX_T_FLOAT64,
	                                      DTX_T_DECIMAL, DTX_T_DATE,  DTX_T_DATETIME,
	                                      DTX_T_TEXT };

/* Whether row i of a is the same as row j of b. */
static bool same_row(const struct dtx_column *a, uint32_t i, const struct dtx_column *b, uint32_t j)
{
	struct dtx_buf x = DTX_BUF_INIT(1000), y = DTX_BUF_INIT(1000);
	bool same = dtx_column_is_null(a, i) == dtx_column_is_null(b, j);

	dtx_cast_print(a, i, &x);
	dtx_cast_print(b, j, &y);
	/* under fault injection these buffers may fail themselves */
	same = same &&
	       (!dtx_buf_ok(&x) || !dtx_buf_ok(&y) || !strcmp(dtx_buf_text(&x), dtx_buf_text(&y)));
	dtx_buf_clear(&x);
	dtx_buf_clear(&y);
	return same;
}

static enum dtx_code column_gather_slice(enum dtx_type type, uint32_t n)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL, *g = NULL, *s = NULL;
	uint16_t sel[300];
	uint32_t i, m = 0;

	DTX_TRY(column_make(type, n, &c, NULL));
	for (i = 0; i < n; i += 3)
		sel[m++] = (uint16_t)i;
	DTX_TRY(dtx_column_gather(c, sel, m, &g, NULL));
	for (i = 0; i < m; i++)
		T_CHECK(same_row(g, i, c, sel[i]));
	DTX_TRY(dtx_column_slice(c, 67, n - 70, &s, NULL));
	T_INT(s->len, n - 70);
	dtx_column_unref(c);
	c = NULL;
	DTX_TRY(column_make(type, n, &c, NULL));
	for (i = 0; i < s->len; i++)
		T_CHECK(same_row(s, i, c, 67 + i));
	T_INT(g->nulls, 20);
	T_INT(s->nulls, (n - 70) / 5);
out:
	dtx_column_unref(c);
	dtx_column_unref(g);
	dtx_column_unref(s);
	return rc;
}

void test_column_gather_slice(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(column_types); i++) {
		T_OK(column_gather_slice(column_types[i], 300), NULL);
		T_EVERY_ALLOC_FAILS(column_gather_slice(column_types[i], 300));
	}
}

static void column_freed(void *flag)
{
	*(bool *)flag = true;
}

/* A few rows of a batch do not keep the memory of all its rows alive, but they do keep the text
 * that they point into. */
void test_column_gather_lets_go(void)
{
	static const struct dtx_span span[3] = { { 0, 1 }, { 2, 1 }, { 4, 1 } };
	static const int64_t number[3] = { 7, 8, 9 };
	static const uint16_t sel[1] = { 2 };
	bool arrays = false, bytes = false, numbers = false;
	struct dtx_owner *text = dtx_owner_new(column_freed, &bytes);
	struct dtx_owner *spans = dtx_owner_new(column_freed, &arrays);
	struct dtx_column *c, *few = NULL;

	dtx_owner_keep(spans, text);
	dtx_owner_unref(text);
	c = dtx_column_new(DTX_F_SPAN, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, 3, spans);
	c->nulls = UINT32_MAX;
	c->v.span = span;
	c->base = "a,b,c\n";
	c->dialect.delim = ',';
	c->apart = true;
	T_OK(dtx_column_gather(c, sel, 1, &few, NULL), NULL);
	dtx_column_unref(c);
	T_CHECK(arrays && !bytes && few->base[few->v.span[0].off] == 'c');
	dtx_column_unref(few);
	T_CHECK(bytes);
	c = dtx_column_new(DTX_F_FLAT, (struct dtx_typeref){ DTX_T_INT64, 0, 0 }, 3,
	                   dtx_owner_new(column_freed, &numbers));
	c->v.i64 = number;
	T_OK(dtx_column_gather(c, sel, 1, &few, NULL), NULL);
	dtx_column_unref(c);
	T_CHECK(numbers && few->v.i64[0] == 9);
	dtx_column_unref(few);
}

static enum dtx_code column_forms(void)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_typeref text = { DTX_T_TEXT, 0, 0 };
	struct dtx_column *dict = NULL, *values = NULL, *flat = NULL, *nulls = NULL, *wide = NULL;
	static const uint32_t code[4] = { 1, 0, 0, 2 };
	static const uint64_t valid[1] = { 0xb };
	static const uint16_t sel[2] = { 3, 2 };
	struct dtx_builder b;

	dtx_builder_init(&b, text, 3);
	dtx_builder_text(&b, DTX_STR("a"));
	dtx_builder_text(&b, DTX_STR("a text beyond twelve bytes"));
	dtx_builder_text(&b, DTX_STR("c"));
	DTX_TRY(dtx_builder_finish(&b, NULL, &values, NULL));
	dict = dtx_column_new(DTX_F_DICT, text, 4, NULL);
	if (!dict)
		DTX_FAIL_MEM(NULL);
	dict->dict = values;
	values = NULL;
	dict->v.code = code;
	dict->valid = valid;
	dict->nulls = 1;
	DTX_TRY(dtx_column_flat(dict, &flat, NULL));
	T_CHECK(dtx_str_is(dtx_column_text(flat, 0), "a text beyond twelve bytes"));
	T_CHECK(dtx_column_is_null(flat, 2) && !dtx_column_is_null(flat, 3));
	DTX_TRY(dtx_column_gather(dict, sel, 2, &wide, NULL));
	T_CHECK(dtx_str_is(dtx_column_text(wide, 0), "c") && dtx_column_is_null(wide, 1));
	DTX_TRY(dtx_column_nulls((struct dtx_typeref){ DTX_T_DATE, 0, 0 }, 9, &nulls, NULL));
	T_CHECK(nulls->nulls == 9 && dtx_column_is_null(nulls, 8));
	dtx_column_unref(wide);
	wide = NULL;
	DTX_TRY(dtx_column_flat(nulls, &wide, NULL));
	T_CHECK(wide->form == DTX_F_FLAT && wide->len == 9 && wide->nulls == 9);
out:
	dtx_column_unref(dict);
	dtx_column_unref(values);
	dtx_column_unref(flat);
	dtx_column_unref(nulls);
	dtx_column_unref(wide);
	return rc;
}

void test_column_forms(void)
{
	T_OK(column_forms(), NULL);
	T_EVERY_ALLOC_FAILS(column_forms());
}

void test_text_views(void)
{
	char text[40] = "abcdefghijklmnopqrstuvwxyz";
	size_t n;

	for (n = 0; n < 26; n++) {
		struct dtx_text a = dtx_text_of(text, n),
				b = dtx_text_of("abcdefghijklmnopqrstuvwxyz", n);
		struct dtx_text c = dtx_text_of("abcdefghijklmnopqrstuvwxyz", n + 1);

		T_CHECK(dtx_str_eq(dtx_text_str(&a), (struct dtx_str){ text, n }));
		T_CHECK(dtx_text_eq(&a, &b) && !dtx_text_eq(&a, &c));
	}
}

void test_cell_errors(void)
{
	T_STR(dtx_cell_error_name((uint64_t)dtx_cell_error_find(DTX_STR("#DIV/0!"))), "#DIV/0!");
	T_INT(dtx_cell_error_find(DTX_STR("DIV")), -1);
	T_STR(dtx_cell_error_name(999), "#ERROR!");
}

static const struct dtx_field batch_fields[] = {
	{ .name = "id", .type = { DTX_T_INT64, 0, 0 }, .guessed = true },
	{ .name = "who", .type = { DTX_T_TEXT, 0, 0 }, .guessed = true },
};
static const struct dtx_schema batch_schema = { .nfields = 2, .field = batch_fields };
static const struct dtx_field batch_declared[] = {
	{ .name = "id", .type = { DTX_T_INT64, 0, 0 } },
	{ .name = "who", .type = { DTX_T_TEXT, 0, 0 } },
};
static const struct dtx_schema batch_schema_declared = { .nfields = 2, .field = batch_declared };
static const char batch_line[] = "1|ann|2|bob|x|cy";
static const struct dtx_span batch_ids[] = { { 0, 1 }, { 6, 1 }, { 12, 1 } };
static const struct dtx_span batch_names[] = { { 2, 3 }, { 8, 3 }, { 14, 2 } };

static void batch_locate(const struct dtx_origin *o, uint64_t id, struct dtx_place *out)
{
	(void)o;
	*out = (struct dtx_place){ (int64_t)id - 100, (int64_t)id };
}
static const uint32_t batch_physical[] = { 2, 27 };
static const struct dtx_origin batch_origin = { .locate = batch_locate,
	                                        .file = "b.xlsx",
	                                        .alias = "main",
	                                        .sheet = "S",
	                                        .physical_col = batch_physical,
	                                        .ncols = 2 };

static enum dtx_code batch_span(struct dtx_batch *b, uint32_t i, const struct dtx_span *span)
{
	enum dtx_code rc = DTX_OK;

	b->col[i] = dtx_column_new(DTX_F_SPAN, b->schema->field[i].type, b->nrows, NULL);
	if (!b->col[i])
		DTX_FAIL_MEM(NULL);
	b->col[i]->base = batch_line;
	b->col[i]->v.span = span;
	b->col[i]->nulls = UINT32_MAX;
out:
	return rc;
}

static enum dtx_code batch_make(const struct dtx_schema *schema, struct dtx_batch **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL;

	DTX_TRY(dtx_batch_new(schema, 3, &b, NULL));
	DTX_TRY(batch_span(b, 0, batch_ids));
	DTX_TRY(batch_span(b, 1, batch_names));
	b->origin = &batch_origin;
	b->first_row = 105;
	*out = b;
	b = NULL;
out:
	dtx_batch_free(b);
	return rc;
}

static enum dtx_code batch_narrow(void)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_batch *b = NULL, *copy = NULL;
	struct dtx_column *v;
	uint16_t *sel;

	DTX_TRY(batch_make(&batch_schema, &b));
	DTX_TRY(dtx_batch_sel(b, &sel, NULL));
	T_INT(b->nsel, 3);
	sel[0] = 1;
	b->nsel = 1;
	DTX_TRY(dtx_batch_copy(b, &copy, NULL));
	DTX_TRY(dtx_batch_dense(copy, NULL));
	T_CHECK(copy->nrows == 1 && copy->nsel == 1 && !copy->sel && copy->rec[0] == 106);
	DTX_TRY(dtx_batch_value(copy, 0, &v, NULL));
	T_INT(v->v.i64[0], 2);
	DTX_TRY(dtx_batch_value(copy, 1, &v, NULL));
	T_CHECK(dtx_str_is(dtx_column_text(v, 0), "bob"));
	dtx_batch_free(copy);
	copy = NULL;
	DTX_TRY(dtx_batch_value(b, 1, &v, NULL));
	DTX_TRY(dtx_batch_dense(b, NULL)); /* the twin is gathered too */
	T_CHECK(atomic_load(&b->col[1]->typed) != NULL);
	T_CHECK(dtx_str_is(dtx_column_text(atomic_load(&b->col[1]->typed), 0), "bob"));
out:
	dtx_batch_free(b);
	dtx_batch_free(copy);
	return rc;
}

void test_batch_narrow(void)
{
	T_OK(batch_narrow(), NULL);
	T_EVERY_ALLOC_FAILS(batch_narrow());
}

void test_batch_misfit(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_batch *b = NULL;
	struct dtx_column *v = NULL;

	T_OK(batch_make(&batch_schema, &b), NULL);
	T_CODE(dtx_batch_value(b, 0, &v, &err), DTX_E_RETYPE, &err);
	dtx_batch_free(b);
	T_OK(batch_make(&batch_schema_declared, &b), NULL);
	T_CODE(dtx_batch_value(b, 0, &v, &err), DTX_E_CAST_FAILED, &err);
	T_STR(err.msg, "column 'id' must be int, got 'x'");
	T_STR(err.cell, "C8");
	T_STR(err.sheet, "S");
	T_STR(err.input, "main");
	T_STR(err.column, "id");
	T_INT(err.row, 7);
	T_INT(err.byte, 107);
	dtx_err_clear(&err);
	dtx_batch_set_position(b, 0, 1, &err);
	T_STR(err.cell, "AB6");
	dtx_batch_free(b);
	dtx_err_clear(&err);
}

/* A column that two batches with different schemas share: each batch sees its own type. */
void test_batch_shared_column(void)
{
	struct dtx_field fields[2] = { batch_fields[0], batch_fields[1] };
	struct dtx_schema other = { .nfields = 2, .field = fields };
	struct dtx_batch *b = NULL, *copy = NULL;
	struct dtx_column *v = NULL, *w = NULL;
	struct dtx_err err = DTX_ERR_INIT;

	fields[0].type.type = DTX_T_TEXT;
	T_OK(batch_make(&other, &b), NULL);
	T_OK(dtx_batch_copy(b, &copy, &err), &err);
	T_OK(dtx_batch_value(b, 0, &v, &err), &err);
	T_CHECK(dtx_str_is(dtx_column_text(v, 2), "x"));
	copy->schema = &batch_schema;
	T_CODE(dtx_batch_value(copy, 0, &w, &err), DTX_E_RETYPE, &err);
	T_CHECK(dtx_str_is(dtx_column_text(v, 2), "x"));
	dtx_batch_free(copy);
	dtx_batch_free(b);
	dtx_err_clear(&err);
}

static enum dtx_code table_once(void)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_table *t = NULL, *again;
	struct dtx_batch *b = NULL;
	int i;

	DTX_TRY(dtx_table_new(&batch_schema, &t, NULL));
	for (i = 0; i < 10; i++) {
		DTX_TRY(batch_make(&batch_schema, &b));
		DTX_TRY(dtx_table_take(t, b, NULL));
	}
	T_INT(t->nrows, 30);
	T_INT(t->batch[9]->seq, 9);
	again = dtx_table_ref(t);
	dtx_table_unref(again);
	T_INT(dtx_schema_find(t->schema, "who"), 1);
	T_INT(dtx_schema_find(t->schema, "whom"), -1);
out:
	dtx_table_unref(t);
	return rc;
}

void test_table(void)
{
	struct dtx_buf b = DTX_BUF_INIT(1000);

	T_OK(table_once(), NULL);
	T_EVERY_ALLOC_FAILS(table_once());
	dtx_schema_json(&batch_schema, &b);
	T_STR(dtx_buf_text(&b),
	      "[{\"name\":\"id\",\"type\":\"int\"},{\"name\":\"who\",\"type\":\"text\"}]");
	dtx_buf_clear(&b);
}

static enum dtx_code key_column(const char *type, const char *value, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *text = NULL;
	struct dtx_cast_spec spec = { .on_error = DTX_CAST_ERROR };
	struct dtx_builder b;

	T_CHECK(dtx_type_parse(dtx_str_of(type), &spec.to));
	dtx_builder_init(&b, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, 1);
	if (value)
		dtx_builder_text(&b, dtx_str_of(value));
	else
		dtx_builder_null(&b);
	DTX_TRY(dtx_builder_finish(&b, NULL, &text, NULL));
	DTX_TRY(dtx_cast_column(text, &spec, out, NULL, NULL));
out:
	dtx_column_unref(text);
	return rc;
}

void test_key_equal(void)
{
	static const struct {
		const char *ta, *a, *tb, *b;
		bool equal;
	} rows[] = {
		{ "int", "1", "float", "1", true },
		{ "int", "1", "decimal(5,2)", "1.00", true },
		{ "float", "1.5", "decimal(5,2)", "1.5", true },
		{ "float", "0.1", "decimal(5,2)", "0.1", true },
		{ "decimal(5,1)", "0.1", "decimal(38,30)", "0.1", true },
		{ "decimal(38,20)", "0.12345678901234567891", "float", "0.123456789012345678",
		  false },
		{ "int", "9007199254740993", "float", "9007199254740992", false },
		{ "float", "1e20", "decimal(38,0)", "100000000000000000000", true },
		{ "int", "1", "bool", "true", false },
		{ "int", "1", "text", "1", false },
		{ "date", "2024-01-01", "datetime", "2024-01-01T00:00", true },
		{ "text", "a", "text", "a", true },
		{ "text", "", "text", NULL, false },
		{ "int", NULL, "text", NULL, true },
		{ "float", "-0.0", "int", "0", true },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_column *a = NULL, *b = NULL;
		struct dtx_buf x = DTX_BUF_INIT(1000), y = DTX_BUF_INIT(1000);

		T_OK(key_column(rows[i].ta, rows[i].a, &a), NULL);
		T_OK(key_column(rows[i].tb, rows[i].b, &b), NULL);
		dtx_key_equal(&a, 1, 0, &x);
		dtx_key_equal(&b, 1, 0, &y);
		if ((x.len == y.len && !memcmp(x.ptr, y.ptr, x.len)) != rows[i].equal)
			t_fail(__FILE__, __LINE__, "%s %s against %s %s", rows[i].ta, rows[i].a,
			       rows[i].tb, rows[i].b);
		dtx_column_unref(a);
		dtx_column_unref(b);
		dtx_buf_clear(&x);
		dtx_buf_clear(&y);
	}
	T_CHECK(i > 10);
}

/* The columns of the table of keys: plain ones, and one that needs the general code. */
static void keys_of_rows(struct dtx_column *const *col, size_t ncols)
{
	static const uint16_t sel[] = { 3, 1, 0, 2, 1 };
	struct dtx_buf one = DTX_BUF_INIT(10000), many = DTX_BUF_INIT(10000);
	size_t end[4];

	dtx_buf_add(&one, "before");
	dtx_buf_add(&many, "before");
	dtx_key_equal_rows(col, ncols, sel, 1, 4, &many, end);
	for (uint32_t i = 0; i < 4; i++) {
		dtx_key_equal(col, ncols, sel[1 + i], &one);
		T_INT(end[i], one.len);
	}
	T_INT(many.len, one.len);
	T_CHECK(memcmp(many.ptr, one.ptr, one.len) == 0);
	dtx_buf_reset(&one);
	dtx_buf_reset(&many);
	dtx_key_equal_rows(col, ncols, NULL, 1, 3, &many, end);
	for (uint32_t row = 1; row < 4; row++)
		dtx_key_equal(col, ncols, row, &one);
	T_CHECK(many.len == one.len && memcmp(many.ptr, one.ptr, one.len) == 0);
	dtx_buf_clear(&one);
	dtx_buf_clear(&many);
}

static struct dtx_column *key_rows(const char *type, const char *const *value)
{
	struct dtx_column *c = NULL, *all = NULL;
	struct dtx_builder b;
	struct dtx_typeref to;

	T_CHECK(dtx_type_parse(dtx_str_of(type), &to));
	dtx_builder_init(&b, to, 4);
	for (int i = 0; i < 4; i++) {
		T_OK(key_column(type, value[i], &c), NULL);
		dtx_builder_copy(&b, c, 0);
		dtx_column_unref(c);
		c = NULL;
	}
	T_OK(dtx_builder_finish(&b, NULL, &all, NULL), NULL);
	return all;
}

void test_key_equal_rows(void)
{
	static const char *const text[] = { "a", NULL, "", "a text of more than twelve bytes" };
	static const char *const number[] = { "-1", "9000000000", NULL, "7" };
	static const char *const day[] = { "2024-01-01", NULL, "1969-12-31", "0001-01-01" };
	static const char *const part[] = { "0.10", "2.00", NULL, "3.25" };
	struct dtx_column *col[] = { key_rows("text", text), key_rows("int", number),
		                     key_rows("date", day), key_rows("text", text),
		                     key_rows("decimal(5,2)", part) };

	keys_of_rows(col, 4);
	keys_of_rows(col, 5);
	for (size_t i = 0; i < DTX_COUNT(col); i++)
		dtx_column_unref(col[i]);
}

/* Restores the values from keys. */
void test_key_values(void)
{
	static const char *const text[] = { "a", NULL, "", "a text of more than twelve bytes" };
	static const char *const number[] = { "-1", "9000000000", NULL, "7" };
	static const char *const day[] = { "2024-01-01", NULL, "1969-12-31", "0001-01-01" };
	static const char *const moment[] = { "2024-01-01 10:00:00.000001", "1969-12-31 23:59:59",
		                              NULL, "0001-01-01 00:00:00" };
	struct dtx_column *col[] = { key_rows("text", text), key_rows("int", number),
		                     key_rows("date", day), key_rows("datetime", moment) };
	struct dtx_buf bytes = DTX_BUF_INIT(10000);
	const char *at[4];
	size_t end[4];

	dtx_key_equal_rows(col, DTX_COUNT(col), NULL, 0, 4, &bytes, end);
	for (uint32_t i = 0; i < 4; i++)
		at[i] = bytes.ptr + (i ? end[i - 1] : 0);
	for (size_t k = 0; k < DTX_COUNT(col); k++) {
		struct dtx_buf x = DTX_BUF_INIT(1000), y = DTX_BUF_INIT(1000);
		struct dtx_column *back = NULL;
		struct dtx_builder b;

		T_CHECK(dtx_key_is_reversible(col[k]->type.type));
		dtx_builder_init(&b, col[k]->type, 0);
		dtx_key_values(at, 4, &b);
		T_OK(dtx_builder_finish(&b, NULL, &back, NULL), NULL);
		T_INT(back->len, 4);
		T_INT(back->nulls, col[k]->nulls);
		for (uint32_t i = 0; i < 4; i++) {
			dtx_key_equal(&back, 1, i, &x);
			dtx_key_equal(&col[k], 1, i, &y);
		}
		T_CHECK(x.len == y.len && memcmp(x.ptr, y.ptr, x.len) == 0);
		dtx_buf_clear(&x);
		dtx_buf_clear(&y);
		dtx_column_unref(back);
		dtx_column_unref(col[k]);
	}
	for (uint32_t i = 0; i < 4; i++)
		T_CHECK(at[i] == bytes.ptr + end[i]);
	dtx_buf_clear(&bytes);
	T_CHECK(!dtx_key_is_reversible(DTX_T_FLOAT64) && !dtx_key_is_reversible(DTX_T_DECIMAL));
}

/* Adds rows of a column at once and one by one. */
void test_builder_rows(void)
{
	static const char *const type[] = {
		"text", "int", "date", "float", "bool", "decimal(5,2)"
	};
	static const char *const value[][4] = {
		{ "a", "a text of more than twelve bytes", "", "twelve bytes" },
		{ "1", "2", "-3", "4" },
		{ "2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04" },
		{ "1.5", "-0.0", "2.5", "1e300" },
		{ "true", "false", "true", "true" },
		{ "0.10", "2.00", "0.00", "3.25" },
	};
	static const uint16_t row[] = { 3, 0, 2, 1 };

	for (size_t i = 0; i < DTX_COUNT(type); i++) {
		struct dtx_column *from = key_rows(type[i], value[i]), *to = NULL;
		struct dtx_builder b;

		dtx_builder_init(&b, from->type, 0);
		for (int k = 0; k < 40; k++)
			dtx_builder_rows(&b, from, row, 4);
		T_OK(dtx_builder_finish(&b, NULL, &to, NULL), NULL);
		T_INT(to->len, 160);
		for (uint32_t k = 0; k < to->len; k++) {
			struct dtx_buf x = DTX_BUF_INIT(1000), y = DTX_BUF_INIT(1000);

			dtx_key_equal(&to, 1, k, &x);
			dtx_key_equal(&from, 1, row[k % 4], &y);
			T_CHECK(x.len == y.len && memcmp(x.ptr, y.ptr, x.len) == 0);
			dtx_buf_clear(&x);
			dtx_buf_clear(&y);
		}
		dtx_column_unref(from);
		dtx_column_unref(to);
	}
}

/* The sign of comparing a's key with b's, each followed by another key, so that their lengths do
 * not decide. */
static int key_compare(const char *type, const char *a, const char *b, struct dtx_key_order order)
{
	struct dtx_column *ca = NULL, *cb = NULL;
	struct dtx_buf x = DTX_BUF_INIT(1000), y = DTX_BUF_INIT(1000);
	int c;

	T_OK(key_column(type, a, &ca), NULL);
	T_OK(key_column(type, b, &cb), NULL);
	dtx_key_sort(ca, order, 0, &x);
	dtx_key_sort(cb, order, 0, &y);
	dtx_key_sort(cb, order, 0, &x);
	dtx_key_sort(ca, order, 0, &y);
	c = memcmp(x.ptr, y.ptr, DTX_MIN(x.len, y.len));
	dtx_column_unref(ca);
	dtx_column_unref(cb);
	dtx_buf_clear(&x);
	dtx_buf_clear(&y);
	return (c > 0) - (c < 0);
}

void test_key_sort(void)
{
	static const struct {
		const char *type, *small, *large;
		enum dtx_collate collate;
	} rows[] = {
		{ "int", "-5", "3", DTX_COLLATE_BINARY },
		{ "int", "-9223372036854775808", "9223372036854775807", DTX_COLLATE_BINARY },
		{ "float", "-1.5", "-0.5", DTX_COLLATE_BINARY },
		{ "float", "-0.5", "1e-300", DTX_COLLATE_BINARY },
		{ "float", "2", "1e300", DTX_COLLATE_BINARY },
		{ "decimal(38,2)", "-1", "0.5", DTX_COLLATE_BINARY },
		{ "decimal(38,2)", "123456789012345678901234", "123456789012345678901235",
		  DTX_COLLATE_BINARY },
		{ "bool", "false", "true", DTX_COLLATE_BINARY },
		{ "date", "1969-12-31", "1970-01-01", DTX_COLLATE_BINARY },
		{ "text", "a", "ab", DTX_COLLATE_BINARY },
		{ "text", "", "a", DTX_COLLATE_BINARY },
		{ "text", "B", "a", DTX_COLLATE_BINARY },
		{ "text", "a", "B", DTX_COLLATE_NOCASE },
		{ "text", "A", "a", DTX_COLLATE_NOCASE },
		{ "text", "file2", "file10", DTX_COLLATE_NATURAL },
		{ "text", "file9x", "file10a", DTX_COLLATE_NATURAL },
		{ "text", "v1.9", "v1.10", DTX_COLLATE_NATURAL },
		{ "text", "a01", "a1", DTX_COLLATE_NATURAL },
	};
	struct dtx_key_order asc = { 0 }, desc = { .desc = true }, first = { .nulls_first = true };
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		asc.collate = desc.collate = rows[i].collate;
		T_INT(key_compare(rows[i].type, rows[i].small, rows[i].large, asc), -1);
		T_INT(key_compare(rows[i].type, rows[i].small, rows[i].large, desc), 1);
		T_INT(key_compare(rows[i].type, rows[i].small, rows[i].small, asc), 0);
		T_INT(key_compare(rows[i].type, rows[i].large, NULL, asc), -1);
		T_INT(key_compare(rows[i].type, rows[i].large, NULL, desc), -1);
		T_INT(key_compare(rows[i].type, rows[i].small, NULL, first), 1);
	}
}

/* A few texts of many keep alive what they point into, but not the array of all. */
void test_column_gather_lets_texts_go(void)
{
	enum { ROWS = 60000 };
	static const char word[] = "a text that is too long for its view";
	struct dtx_typeref text = { .type = DTX_T_TEXT };
	const uint16_t sel[] = { 1, 7, 59999 };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_column *all = NULL, *few = NULL;
	size_t before = dtx_mem_used();
	struct dtx_builder b;

	dtx_builder_init(&b, text, 0);
	for (int i = 0; i < ROWS; i++)
		dtx_builder_text(
			&b, (struct dtx_str){ i == 7 ? word : "x", i == 7 ? sizeof(word) : 1 });
	T_OK(dtx_builder_finish(&b, NULL, &all, &err), &err);
	T_OK(dtx_column_gather(all, sel, 3, &few, &err), &err);
	dtx_column_unref(all);
	T_CHECK(dtx_mem_used() - before < ROWS * sizeof(struct dtx_text) / 2);
	T_CHECK(dtx_column_text(few, 1).len == sizeof(word) &&
	        !memcmp(dtx_column_text(few, 1).ptr, word, sizeof(word)));
	dtx_column_unref(few);
	T_CHECK(dtx_mem_used() == before);
}
