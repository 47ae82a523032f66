/* Typed twins, casts, text of values, detection of types. */
#include "core/base/text/num.h"
#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/infer.h"
#include "core/data/time/time.h"
#include "tests/t.h"

/* A SPAN column of the cells of one line, which is split at '|'.  A cell in quotes is a quoted
 * span. */
static enum dtx_code spans_of(const char *line, struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str rest = dtx_str_of(line), cell;
	struct dtx_span *span = dtx_mem_alloc(64, sizeof(*span));
	struct dtx_owner *owner;
	uint32_t n = 0;

	if (!span)
		DTX_FAIL_MEM(NULL);
	while (n < 64 && dtx_str_next(&rest, '|', &cell)) {
		uint32_t off = (uint32_t)(cell.ptr - line), len = (uint32_t)cell.len;

		if (len > 1 && cell.ptr[0] == '"')
			span[n++] = (struct dtx_span){ off + 1, (len - 2) | DTX_SPAN_QUOTED };
		else
			span[n++] = (struct dtx_span){ off, len };
	}
	owner = dtx_owner_take(span);
	if (!owner)
		DTX_FAIL_MEM(NULL);
	*out = dtx_column_new(DTX_F_SPAN, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, n, owner);
	if (!*out)
		DTX_FAIL_MEM(NULL);
	(*out)->v.span = span;
	(*out)->base = line;
	(*out)->dialect.quote = '"';
	(*out)->nulls = UINT32_MAX;
out:
	return rc;
}

/* The rows of a column as text, separated by '|'; nulls are '~'. */
static void column_join(const struct dtx_column *c, char *out, size_t size)
{
	struct dtx_buf b = DTX_BUF_INIT(10000);
	uint32_t i;

	for (i = 0; i < c->len; i++) {
		if (i)
			dtx_buf_addc(&b, '|');
		if (dtx_column_is_null(c, i))
			dtx_buf_addc(&b, '~');
		else
			dtx_cast_print(c, i, &b);
	}
	dtx_str_copy(out, size, dtx_str_of(dtx_buf_text(&b)));
	dtx_buf_clear(&b);
}

struct twin_case {
	const char *type, *cells;
	const char *want; /* NULL: row `bad` does not fit */
	int bad;
	bool declared;
	const char *format;
	bool comma;
	char group;
	bool utc, mixed;
};

static const struct twin_case twin_cases[] = {
	{ .type = "int", .cells = "1|-20||\"300\"| 4 |0", .want = "1|-20|~|300|4|0" },
	{ .type = "int",
	  .cells = "9223372036854775807|-9223372036854775808",
	  .want = "9223372036854775807|-9223372036854775808" },
	{ .type = "int", .cells = "1|9223372036854775808", .bad = 1 },
	{ .type = "int", .cells = "1|007", .bad = 1 },
	{ .type = "int", .cells = "1|+5", .bad = 1 },
	{ .type = "int", .cells = "-0", .bad = 0 },
	{ .type = "int", .cells = "1|1.0", .bad = 1 },
	{ .type = "int", .cells = "\"\"", .bad = 0 },
	{ .type = "int", .cells = "007|+5|-0", .want = "7|5|0", .declared = true },
	{ .type = "int",
	  .cells = "1.234|12",
	  .want = "1234|12",
	  .declared = true,
	  .comma = true,
	  .group = '.' },
	{ .type = "float",
	  .cells = "1.5|-0.25||1e3|2|.5|-0.0",
	  .want = "1.5|-0.25|~|1000.0|2.0|0.5|0.0" },
	{ .type = "float",
	  .cells = "17.50|123456789012345.6|0.1234567890123456",
	  .want = "17.5|123456789012345.6|0.1234567890123456" },
	{ .type = "float", .cells = "0.12345678901234567", .want = "0.12345678901234566" },
	{ .type = "float", .cells = "0.123456789012345678", .bad = 0 },
	{ .type = "float", .cells = "1.50000000000000000000000", .want = "1.5" },
	{ .type = "float", .cells = "1|9007199254740993", .bad = 1 },
	{ .type = "float", .cells = "9007199254740992|1.5", .want = "9007199254740992.0|1.5" },
	{ .type = "float", .cells = "00.5", .bad = 0 },
	{ .type = "float", .cells = "1e400", .bad = 0 },
	{ .type = "float", .cells = "1e-400", .bad = 0 },
	{ .type = "float", .cells = "5.", .bad = 0 },
	{ .type = "float", .cells = "nan", .bad = 0 },
	{ .type = "float",
	  .cells = "1,5|1.234,75|12.345.678|-,5",
	  .want = "1.5|1234.75|12345678.0|-0.5",
	  .comma = true,
	  .group = '.' },
	{ .type = "float", .cells = "1.5", .bad = 0, .comma = true },
	{ .type = "float", .cells = "12.34,5", .bad = 0, .comma = true, .group = '.' },
	{ .type = "float", .cells = "1,234.5", .want = "1234.5", .group = ',' },
	{ .type = "float", .cells = "1,23", .bad = 0, .group = ',' },
	{ .type = "decimal(8,2)",
	  .cells = "1.5|12.00|-3|0.010",
	  .want = "1.50|12.00|-3.00|0.01",
	  .declared = true },
	{ .type = "decimal(4,2)", .cells = "1.555", .bad = 0, .declared = true },
	{ .type = "decimal(4,2)", .cells = "99.99|100", .bad = 1, .declared = true },
	{ .type = "bool", .cells = "true|FALSE| True ||", .want = "true|false|true|~|~" },
	{ .type = "bool", .cells = "true|1", .bad = 1 },
	{ .type = "bool", .cells = "true|1|0", .want = "true|true|false", .declared = true },
	{ .type = "date", .cells = "2024-02-29||1900-01-01", .want = "2024-02-29|~|1900-01-01" },
	{ .type = "date", .cells = "2023-02-29", .bad = 0 },
	{ .type = "date", .cells = "2024-01-01|2024-01-01T10:00", .bad = 1 },
	{ .type = "date",
	  .cells = "31/01/2024|1/2/2024",
	  .want = "2024-01-31|2024-02-01",
	  .declared = true,
	  .format = "%d/%m/%Y" },
	{ .type = "datetime",
	  .cells = "2024-01-31T09:30|2024-01-31 09:30:15.25|2024-01-31",
	  .want = "2024-01-31T09:30:00|2024-01-31T09:30:15.25|2024-01-31T00:00:00" },
	{ .type = "datetime",
	  .cells = "2024-01-31T09:30:00+02:00|1969-12-31T23:59:59Z",
	  .want = "2024-01-31T07:30:00Z|1969-12-31T23:59:59Z",
	  .utc = true },
	{ .type = "datetime",
	  .cells = "2024-01-31T09:30Z|2024-01-31T09:30",
	  .bad = 1,
	  .utc = true },
	{ .type = "datetime", .cells = "2024-01-31T09:30Z|2024-01-31", .bad = 1, .utc = true },
	{ .type = "datetime", .cells = "2024-01-31T09:30|2024-01-31T09:30Z", .bad = 1 },
	{ .type = "datetime",
	  .cells = "2024-01-31T09:30|2024-01-31T09:30Z",
	  .declared = true,
	  .bad = 1 },
	{ .type = "datetime",
	  .cells = "2024-01-31T09:30Z|2024-01-31T09:30",
	  .declared = true,
	  .bad = 1,
	  .utc = true },
	{ .type = "datetime",
	  .cells = "2024-01-31T09:30Z|2024-01-31T09:30",
	  .declared = true,
	  .mixed = true,
	  .want = "2024-01-31T09:30:00|2024-01-31T09:30:00" },
	{ .type = "text",
	  .cells = "a||\"\"|\"x \"\"y\"\" z\"|longer than twelve|\"a, b, c, d, e\"",
	  .want = "a|~||x \"y\" z|longer than twelve|a, b, c, d, e" },
};

static struct dtx_field twin_field(const struct twin_case *t)
{
	struct dtx_field f = { .name = "x",
		               .format = t->format,
		               .guessed = !t->declared,
		               .mixed_offsets = t->mixed,
		               .decimal_comma = t->comma,
		               .group = t->group };

	T_CHECK(dtx_type_parse(dtx_str_of(t->type), &f.type));
	if (t->utc)
		f.type = DTX_TYPE_UTC;
	return f;
}

void test_cast_twin(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(twin_cases); i++) {
		const struct twin_case *t = &twin_cases[i];
		struct dtx_field f = twin_field(t);
		struct dtx_column *c = NULL, *twin = NULL;
		struct dtx_err err = DTX_ERR_INIT;
		int64_t bad = -1;
		char got[200];

		T_OK(spans_of(t->cells, &c), NULL);
		T_OK(dtx_cast_typed(c, &f, NULL, &twin, &bad, &err), &err);
		T_INT(bad, t->want ? -1 : t->bad);
		if (t->want && bad < 0) {
			column_join(twin, got, sizeof(got));
			T_STR(got, t->want);
		} else if (bad != t->bad) {
			t_fail(__FILE__, __LINE__, "%s: %s", t->type, t->cells);
		}
		dtx_column_unref(c); /* a text twin keeps what it points into */
		dtx_column_unref(twin);
	}
}

/* A value that does not fit is an error only in a live row; in other rows it becomes null. */
void test_cast_twin_of_dead_rows(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(twin_cases); i++) {
		const struct twin_case *t = &twin_cases[i];
		struct dtx_field f = twin_field(t);
		struct dtx_column *c = NULL, *twin = NULL;
		uint64_t live = 0;
		int64_t bad = 0;

		if (t->want)
			continue;
		T_OK(spans_of(t->cells, &c), NULL);
		T_OK(dtx_cast_typed(c, &f, &live, &twin, &bad, NULL), NULL);
		T_INT(bad, -1);
		T_CHECK(twin && dtx_column_is_null(twin, (uint32_t)t->bad));
		dtx_column_unref(twin);
		twin = NULL;
		dtx_bit_set(&live, (size_t)t->bad);
		T_OK(dtx_cast_typed(c, &f, &live, &twin, &bad, NULL), NULL);
		T_INT(bad, t->bad);
		dtx_column_unref(c);
	}
}

static enum dtx_code twin_once(size_t i)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_field f = twin_field(&twin_cases[i]);
	struct dtx_column *c = NULL, *twin = NULL;
	int64_t bad;

	DTX_TRY(spans_of(twin_cases[i].cells, &c));
	DTX_TRY(dtx_cast_typed(c, &f, NULL, &twin, &bad, NULL));
out:
	dtx_column_unref(c);
	dtx_column_unref(twin);
	return rc;
}

void test_cast_twin_every_alloc_fails(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(twin_cases); i++)
		T_EVERY_ALLOC_FAILS(twin_once(i));
}

static const struct {
	const char *cells, *type;
} infer_cases[] = {
	{ "1|2||3", "int" },
	{ "|", "null" },
	{ "1|2.5", "float" },
	{ "9007199254740993|2.5", "text" },
	{ "9007199254740993|2", "int" },
	{ "007|1", "text" },
	{ "+5", "text" },
	{ "-0", "text" },
	{ "1,234", "text" },
	{ "12%", "text" },
	{ "nan", "text" },
	{ "yes", "text" },
	{ "03/04/2024", "text" },
	{ "true|False", "bool" },
	{ "true|1", "text" },
	{ "2024-01-01|", "date" },
	{ "2024-01-01|2024-01-01T10:00", "datetime" },
	{ "2024-01-01T10:00Z|2024-01-01T10:00+01:00", "datetime" },
	{ "2024-01-01T10:00Z|2024-01-01T10:00", "text" },
	{ "2024-01-01T10:00Z|2024-01-01", "text" },
	{ "2024-02-30", "text" },
	{ "\"12\"|13", "int" },
	{ "\"\"|13", "text" },
	{ "0.1234567890123456789", "text" },
	{ "99999999999999999999", "text" },
	{ "-12|-3", "int" },
	{ "1|x", "text" },
	{ "0x10", "text" },
	{ "1e5|2E-3", "float" },
	{ "1E5", "text" }, /* article numbers: as floats 1E5 and 10E4 would be equal */
	{ "1E5|10E4", "text" },
	{ "120|33e2", "text" },
	{ "1E5|9007199254740993", "text" },
	{ "1E5|2.5", "float" },
	{ "1E5|1e+06", "float" },
	{ "-1E5", "float" },
	{ "1.0E5|1e-5", "float" },
	{ "1E5|true", "text" },
};

void test_infer(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(infer_cases); i++) {
		struct dtx_infer f = { 0 }, merged = { 0 };
		struct dtx_column *c = NULL;

		T_OK(spans_of(infer_cases[i].cells, &c), NULL);
		dtx_infer_column(&f, c, 0);
		dtx_infer_merge(&merged, &f);
		if (strcmp(dtx_type_name(dtx_infer_type(&merged).type), infer_cases[i].type) != 0)
			t_fail(__FILE__, __LINE__, "%s is %s", infer_cases[i].cells,
			       dtx_type_name(dtx_infer_type(&merged).type));
		dtx_column_unref(c);
	}
	T_CHECK(i > 20);
}

/* Workers sample different rows: a warning names the first value of all of them. */
void test_infer_merge_first_code(void)
{
	struct dtx_infer f[2] = { { 0 }, { 0 } }, merged = { 0 };
	struct dtx_column *c[2] = { NULL, NULL };

	T_OK(spans_of("7|2E4", &c[0]), NULL);
	T_OK(spans_of("8|1E5", &c[1]), NULL);
	dtx_infer_column(&f[0], c[0], 100);
	dtx_infer_column(&f[1], c[1], 10);
	dtx_infer_merge(&merged, &f[0]);
	dtx_infer_merge(&merged, &f[1]);
	T_INT(merged.code_row, 11);
	T_CHECK(dtx_str_eq(merged.code, DTX_STR("1E5")));
	dtx_column_unref(c[0]);
	dtx_column_unref(c[1]);
}

/* Times are of UTC if all of them have an offset. */
void test_infer_utc(void)
{
	static const struct {
		const char *cells;
		bool utc, declared;
	} cases[] = {
		{ "2024-01-01T10:00Z||2024-01-01T10:00+01:00", true, true },
		{ "2024-01-01T10:00Z|x", false, true },
		{ "2024-01-01T10:00|2024-01-01T10:00", false, false },
		{ "2024-01-01T10:00Z|2024-01-01", false, false },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(cases); i++) {
		struct dtx_typeref declared = { .type = DTX_T_DATETIME };
		struct dtx_infer f = { 0 };
		struct dtx_column *c = NULL;

		T_OK(spans_of(cases[i].cells, &c), NULL);
		dtx_infer_column(&f, c, 0);
		T_CHECK(dtx_type_is_utc(dtx_infer_type(&f)) == cases[i].utc);
		dtx_infer_declared(&f, NULL, &declared);
		T_CHECK(dtx_type_is_utc(declared) == cases[i].declared);
		dtx_column_unref(c);
	}
}

void test_type_merge_of_utc(void)
{
	const struct dtx_typeref naive = { .type = DTX_T_DATETIME }, day = { .type = DTX_T_DATE },
				 null = { .type = DTX_T_NULL };
	struct dtx_typeref wide;

	T_INT(dtx_type_merge(DTX_TYPE_UTC, naive).type, DTX_T_TEXT);
	T_INT(dtx_type_merge(day, DTX_TYPE_UTC).type, DTX_T_TEXT);
	T_CHECK(dtx_type_is_utc(dtx_type_merge(DTX_TYPE_UTC, DTX_TYPE_UTC)));
	T_CHECK(dtx_type_is_utc(dtx_type_merge(null, DTX_TYPE_UTC)));
	T_INT(dtx_type_merge(day, naive).type, DTX_T_DATETIME);
	T_CHECK(dtx_type_widen(naive, DTX_TYPE_UTC, &wide) && dtx_type_is_utc(wide));
	T_CHECK(dtx_type_widen(DTX_TYPE_UTC, day, &wide) && dtx_type_is_utc(wide));
	T_CHECK(dtx_type_widen(day, naive, &wide) && !dtx_type_is_utc(wide));
}

void test_infer_marks(void)
{
	struct dtx_infer f = { .decimal_comma = true, .group = '.' };

	dtx_infer_text(&f, DTX_STR("1.234,5"), false, 0);
	dtx_infer_text(&f, DTX_STR("12"), false, 1);
	T_INT(dtx_infer_type(&f).type, DTX_T_FLOAT64);
	dtx_infer_text(&f, DTX_STR("1.5"), false, 7);
	T_INT(dtx_infer_type(&f).type, DTX_T_TEXT);
	T_INT(f.sample_row, 7);
}

struct cast_case {
	const char *from, *cells, *to, *want, *format;
	enum dtx_code code;
	int on_error, failed;
};

static const struct cast_case cast_cases[] = {
	{ .from = "text", .cells = " 12 |007|-3|", .to = "int", .want = "12|7|-3|~" },
	{ .from = "text", .cells = "12.7", .to = "int", .code = DTX_E_CAST_FAILED },
	{ .from = "text", .cells = "12.0", .to = "int", .code = DTX_E_CAST_FAILED },
	{ .from = "text", .cells = "1,234", .to = "int", .code = DTX_E_CAST_FAILED },
	{ .from = "float", .cells = "12.0|-3.0", .to = "int", .want = "12|-3" },
	{ .from = "float", .cells = "12.7", .to = "int", .code = DTX_E_CAST_FAILED },
	{ .from = "text",
	  .cells = "1|x|y|4",
	  .to = "int",
	  .want = "1|~|~|4",
	  .on_error = DTX_CAST_NULL,
	  .failed = 2 },
	{ .from = "text",
	  .cells = "1|x",
	  .to = "int",
	  .want = "1|x",
	  .on_error = DTX_CAST_KEEP_TEXT,
	  .failed = 1 },
	{ .from = "int", .cells = "1|2", .to = "text", .want = "1|2" },
	{ .from = "float", .cells = "100.0|1.5", .to = "text", .want = "100.0|1.5" },
	{ .from = "int", .cells = "1|2", .to = "decimal(5,2)", .want = "1.00|2.00" },
	{ .from = "float", .cells = "2.675|-0.005", .to = "decimal(5,2)", .want = "2.68|-0.01" },
	{ .from = "text", .cells = "2.675", .to = "decimal(5,2)", .code = DTX_E_CAST_FAILED },
	{ .from = "int", .cells = "1000", .to = "decimal(5,2)", .code = DTX_E_CAST_FAILED },
	{ .from = "int", .cells = "1|0", .to = "bool", .want = "true|false" },
	{ .from = "int", .cells = "2", .to = "bool", .code = DTX_E_CAST_FAILED },
	{ .from = "text", .cells = "true|0|1", .to = "bool", .want = "true|false|true" },
	{ .from = "bool", .cells = "true|false|", .to = "int", .want = "1|0|~" },
	{ .from = "text", .cells = "2024-01-31", .to = "date", .want = "2024-01-31" },
	{ .from = "text",
	  .cells = "03/04/2024|05/06/2024",
	  .to = "date",
	  .code = DTX_E_AMBIGUOUS_DATE },
	{ .from = "text", .cells = "tomorrow", .to = "date", .code = DTX_E_CAST_FAILED },
	{ .from = "text",
	  .cells = "31.01.24",
	  .to = "date",
	  .format = "%d.%m.%y",
	  .want = "2024-01-31" },
	{ .from = "int",
	  .cells = "20240131",
	  .to = "date",
	  .format = "%Y%m%d",
	  .want = "2024-01-31" },
	{ .from = "int", .cells = "20240131", .to = "date", .code = DTX_E_TYPE_MISMATCH },
	{ .from = "datetime", .cells = "2024-01-31T00:00", .to = "date", .want = "2024-01-31" },
	{ .from = "datetime",
	  .cells = "2024-01-31T00:01",
	  .to = "date",
	  .code = DTX_E_CAST_FAILED },
	{ .from = "date", .cells = "2024-01-31", .to = "datetime", .want = "2024-01-31T00:00:00" },
	{ .from = "date", .cells = "2024-01-31", .to = "int", .code = DTX_E_TYPE_MISMATCH },
	{ .from = "decimal(6,2)", .cells = "12.00|7.00", .to = "int", .want = "12|7" },
	{ .from = "decimal(6,2)", .cells = "12.50", .to = "float", .want = "12.5" },
	{ .from = "decimal(6,2)",
	  .cells = "12.55|-0.05",
	  .to = "decimal(6,1)",
	  .want = "12.6|-0.1" },
};

/* The column of a case, with values of type `from`. */
static enum dtx_code cast_input(const struct cast_case *t, struct dtx_column **out)
{
	struct twin_case in = { .type = t->from, .cells = t->cells, .declared = true };
	struct dtx_field f = twin_field(&in);
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c = NULL;
	int64_t bad = -1;

	DTX_TRY(spans_of(t->cells, &c));
	DTX_TRY(dtx_cast_typed(c, &f, NULL, out, &bad, NULL));
	T_INT(bad, -1);
out:
	dtx_column_unref(c);
	return rc;
}

static enum dtx_code cast_once(const struct cast_case *t, struct dtx_column **out,
                               struct dtx_cast_count *count, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_cast_spec spec = { .format = t->format,
		                      .on_error = (enum dtx_cast_error)t->on_error };
	struct dtx_column *c = NULL;

	T_CHECK(dtx_type_parse(dtx_str_of(t->to), &spec.to));
	DTX_TRY(cast_input(t, &c));
	DTX_TRY(dtx_cast_column(c, &spec, out, count, err));
out:
	dtx_column_unref(c);
	return rc;
}

void test_cast_column(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(cast_cases); i++) {
		const struct cast_case *t = &cast_cases[i];
		struct dtx_column *got = NULL;
		struct dtx_cast_count count;
		struct dtx_err err = DTX_ERR_INIT;
		char text[200];

		T_CODE(cast_once(t, &got, &count, &err), t->code, &err);
		if (got) {
			column_join(got, text, sizeof(text));
			T_STR(text, t->want);
			T_INT(count.failed, t->failed);
		} else {
			T_CHECK(err.row == 0 && err.count >= 1 && err.more != NULL);
		}
		dtx_column_unref(got);
		dtx_err_clear(&err);
	}
}

static enum dtx_code cast_drop(const struct cast_case *t)
{
	struct dtx_column *got = NULL;
	struct dtx_cast_count count;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = cast_once(t, &got, &count, &err);

	dtx_column_unref(got);
	dtx_err_clear(&err);
	return rc == t->code ? DTX_OK : rc;
}

void test_cast_column_every_alloc_fails(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(cast_cases); i++)
		T_EVERY_ALLOC_FAILS(cast_drop(&cast_cases[i]));
}

void test_cast_span_of_floats_to_int(void)
{
	struct dtx_cast_spec spec = { .to = { DTX_T_INT64, 0, 0 } };
	struct dtx_column *c = NULL, *got = NULL;
	struct dtx_err err = DTX_ERR_INIT;
	char text[50];

	T_OK(spans_of("12.0|13", &c), NULL);
	c->type.type = DTX_T_FLOAT64;
	T_OK(dtx_cast_column(c, &spec, &got, NULL, &err), &err);
	column_join(got, text, sizeof(text));
	T_STR(text, "12|13");
	dtx_column_unref(got);
	dtx_column_unref(c);
}

void test_cast_possible(void)
{
	T_CHECK(dtx_cast_possible(DTX_T_TEXT, DTX_T_DATE));
	T_CHECK(dtx_cast_possible(DTX_T_DATE, DTX_T_DATETIME));
	T_CHECK(dtx_cast_possible(DTX_T_INT64, DTX_T_BOOL));
	T_CHECK(!dtx_cast_possible(DTX_T_DATE, DTX_T_INT64));
	T_CHECK(!dtx_cast_possible(DTX_T_FLOAT64, DTX_T_DATE));
	T_CHECK(dtx_cast_possible(DTX_T_NULL, DTX_T_DATE));
}

/* Cells of workbooks. */
#define CELL_ROWS 8
static const struct dtx_str cell_strings[] = { { "Ann", 3 }, { "2024-03-01", 10 }, { "17", 2 } };
static const struct dtx_strings cell_pool = { cell_strings, 3, false };

static enum dtx_code cells_of(const uint8_t *tag, const double *num, uint32_t n,
                              struct dtx_column **out)
{
	enum dtx_code rc = DTX_OK;
	union dtx_payload *p = dtx_mem_alloc(n, sizeof(*p));
	struct dtx_owner *owner;
	uint32_t i;

	if (!p)
		DTX_FAIL_MEM(NULL);
	for (i = 0; i < n; i++) {
		if (tag[i] == DTX_CELL_TEXT || tag[i] == DTX_CELL_ISO || tag[i] == DTX_CELL_BOOL)
			p[i].id = (uint64_t)num[i];
		else
			p[i].num = num[i];
	}
	owner = dtx_owner_take(p);
	if (!owner)
		DTX_FAIL_MEM(NULL);
	*out = dtx_column_new(DTX_F_CELL, (struct dtx_typeref){ DTX_T_TEXT, 0, 0 }, n, owner);
	if (!*out)
		DTX_FAIL_MEM(NULL);
	(*out)->tag = tag;
	(*out)->v.payload = p;
	(*out)->strings = &cell_pool;
	(*out)->nulls = UINT32_MAX;
out:
	return rc;
}

void test_cast_cells(void)
{
	static const struct {
		uint8_t tag[4];
		double num[4];
		const char *type, *want, *text;
	} rows[] = {
		{ { DTX_CELL_NUMBER, DTX_CELL_NUMBER, DTX_CELL_BLANK, DTX_CELL_ERROR },
		  { 1820, -3, 0, 0 },
		  "int",
		  "1820|-3|~|~",
		  "1820|-3|~|~" },
		{ { DTX_CELL_NUMBER, DTX_CELL_NUMBER, DTX_CELL_TIME, DTX_CELL_DURATION },
		  { 1820, 0.5, 0.604166666666667, 1.10416666666667 },
		  "float",
		  "1820.0|0.5|0.604166666666667|1.10416666666667",
		  "1820|0.5|14:30:00|26:30:00" },
		{ { DTX_CELL_DATE, DTX_CELL_ISO, DTX_CELL_DATE, DTX_CELL_DATE },
		  { 45292, 1, 60, 61 },
		  "date",
		  "2024-01-01|2024-03-01|~|1900-03-01",
		  "2024-01-01|2024-03-01|60.0|1900-03-01" },
		{ { DTX_CELL_DATETIME, DTX_CELL_DATE, DTX_CELL_DATETIME, DTX_CELL_BLANK },
		  { 45292.5, 1, 59, 0 },
		  "datetime",
		  "2024-01-01T12:00:00|1900-01-01T00:00:00|1900-02-28T00:00:00|~",
		  "2024-01-01T12:00:00|1900-01-01|1900-02-28|~" },
		{ { DTX_CELL_BOOL, DTX_CELL_BOOL, DTX_CELL_BLANK, DTX_CELL_BOOL },
		  { 1, 0, 0, 1 },
		  "bool",
		  "true|false|~|true",
		  "true|false|~|true" },
		{ { DTX_CELL_TEXT, DTX_CELL_NUMBER, DTX_CELL_DATE, DTX_CELL_BOOL },
		  { 2, 1.5, 45292, 1 },
		  "text",
		  "17|1.5|2024-01-01|true",
		  "17|1.5|2024-01-01|true" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(rows); i++) {
		struct dtx_field f = { .name = "x", .guessed = true };
		struct dtx_column *c = NULL, *twin = NULL;
		struct dtx_infer seen = { 0 };
		int64_t bad = -1;
		char text[200];

		T_OK(cells_of(rows[i].tag, rows[i].num, 4, &c), NULL);
		dtx_infer_column(&seen, c, 0);
		f.type = dtx_infer_type(&seen);
		T_STR(dtx_type_name(f.type.type), rows[i].type);
		T_OK(dtx_cast_typed(c, &f, NULL, &twin, &bad, NULL), NULL);
		T_INT(bad, -1);
		column_join(twin, text, sizeof(text));
		T_STR(text, rows[i].want);
		column_join(c, text, sizeof(text));
		T_STR(text, rows[i].text);
		dtx_column_unref(twin);
		dtx_column_unref(c);
	}
}

void test_cast_cells_misfit(void)
{
	static const uint8_t tag[2] = { DTX_CELL_NUMBER, DTX_CELL_TEXT };
	static const double num[2] = { 1, 2 };
	struct dtx_field f = { .name = "x", .type = { DTX_T_INT64, 0, 0 }, .guessed = true };
	struct dtx_column *c = NULL, *twin = NULL;
	const uint64_t first = 1;
	int64_t bad = -1;

	T_OK(cells_of(tag, num, 2, &c), NULL);
	T_OK(dtx_cast_typed(c, &f, NULL, &twin, &bad, NULL), NULL);
	T_INT(bad, 1);
	f.guessed = false; /* the type is declared, so the text 17 is read */
	T_OK(dtx_cast_typed(c, &f, NULL, &twin, &bad, NULL), NULL);
	T_INT(bad, -1);
	T_INT(twin->v.i64[1], 17);
	dtx_column_unref(twin);
	f.guessed = true;
	T_OK(dtx_cast_typed(c, &f, &first, &twin, &bad, NULL), NULL);
	T_INT(bad, -1);
	T_INT(twin->v.i64[0], 1);
	T_CHECK(dtx_column_is_null(twin, 1));
	dtx_column_unref(twin);
	dtx_column_unref(c);
}

/* Compares the fast parsers with the plain ones, at every offset and length. */
void test_twin_fast_paths(void)
{
	static const char *const cells[] = {
		"1",        "-1",       "12345678", "-12345678", "123456789", "0",   "-0",  "01",
		"1.5",      "-1.5",     "123456.7", "0.1234567", "00.5",      ".5",  "5.",  "1..5",
		"1.2.3",    "12a",      "a",        "-",         ".",         "-.5", "1e5", "-0.00",
		"99999999", "1234.567", "1:",       "1/",        " 1"
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(cells); i++) {
		struct dtx_field f = { .name = "x", .guessed = true };
		char line[64];
		int type;

		snprintf(line, sizeof(line), "%s|padding|%s", cells[i], cells[i]);
		for (type = DTX_T_INT64; type <= DTX_T_FLOAT64; type++) {
			struct dtx_column *c = NULL, *one = NULL, *two = NULL;
			int64_t bad[2] = { -1, -1 };

			f.type.type = (enum dtx_type)type;
			T_OK(spans_of(line, &c), NULL);
			c->len = 1;
			T_OK(dtx_cast_typed(c, &f, NULL, &one, &bad[0], NULL), NULL);
			c->v.span += 2;
			T_OK(dtx_cast_typed(c, &f, NULL, &two, &bad[1], NULL), NULL);
			if (bad[0] != bad[1] || (one && one->v.i64[0] != two->v.i64[0]))
				t_fail(__FILE__, __LINE__, "%s differs", cells[i]);
			dtx_column_unref(one);
			dtx_column_unref(two);
			dtx_column_unref(c);
		}
	}
	T_CHECK(i > 20);
}

void test_twin_texts(void)
{
	struct dtx_field f = { .name = "x", .type = { DTX_T_TEXT, 0, 0 }, .guessed = true };
	size_t n;

	for (n = 1; n < 20; n++) {
		struct dtx_column *c = NULL, *twin = NULL;
		char line[64], cell[24] = "abcdefghijklmnopqrs";
		int64_t bad;

		cell[n] = '\0';
		snprintf(line, sizeof(line), "%s|padding|%s|", cell, cell);
		T_OK(spans_of(line, &c), NULL);
		T_OK(dtx_cast_typed(c, &f, NULL, &twin, &bad, NULL), NULL);
		T_CHECK(dtx_str_is(dtx_column_text(twin, 0), cell));
		T_CHECK(dtx_text_eq(&twin->v.text[0], &twin->v.text[2]));
		T_CHECK(!dtx_text_eq(&twin->v.text[0], &twin->v.text[1]));
		dtx_column_unref(twin);
		dtx_column_unref(c);
	}
}

void test_twin_dates(void)
{
	static const char *const bad_days[] = { "2023-02-29", "1900-02-29", "2024-02-30",
		                                "2024-04-31", "2024-13-01", "2024-00-10",
		                                "2024-01-00", "2024-1a-01", "2024/01/01" };
	struct dtx_field f = { .name = "x", .type = { DTX_T_DATE, 0, 0 }, .guessed = true };
	int32_t day;
	size_t i;

	for (day = -719528; day < 2932896; day += 173) {
		struct dtx_column *c = NULL, *twin = NULL;
		char line[32];
		int64_t bad = -1;

		dtx_day_print(line, day);
		T_OK(spans_of(line, &c), NULL);
		T_OK(dtx_cast_typed(c, &f, NULL, &twin, &bad, NULL), NULL);
		if (bad >= 0 || twin->v.day[0] != day)
			t_fail(__FILE__, __LINE__, "%s", line);
		dtx_column_unref(twin);
		dtx_column_unref(c);
	}
	for (i = 0; i < DTX_COUNT(bad_days); i++) {
		struct dtx_infer seen = { 0 };
		struct dtx_column *c = NULL, *twin = NULL;
		int64_t bad = -1;

		T_OK(spans_of(bad_days[i], &c), NULL);
		T_OK(dtx_cast_typed(c, &f, NULL, &twin, &bad, NULL), NULL);
		T_INT(bad, 0);
		dtx_infer_column(&seen, c, 0);
		T_INT(dtx_infer_type(&seen).type, DTX_T_TEXT);
		dtx_column_unref(c);
	}
}

/* The cells of a workbook print the same one by one and from texts that were printed ahead. */
void test_cast_prints_cells_ahead(void)
{
	static const double v[] = {
		0,     7,       -12,     0.1,     1e300, 9007199254740993.0,
		44000, 44000.5, 60,      61,      59,    1,
		0,     2958465, 2958466, 2957004, 0.75,  -0.000012345678901234
	};
	static const uint8_t kinds[] = { DTX_CELL_NUMBER, DTX_CELL_DATE, DTX_CELL_DATETIME,
		                         DTX_CELL_TIME,   DTX_CELL_BOOL, DTX_CELL_BLANK,
		                         DTX_CELL_ERROR,  DTX_CELL_TEXT };
	static const enum dtx_type types[] = { DTX_T_FLOAT64, DTX_T_DATE, DTX_T_DATETIME };
	struct dtx_str text = DTX_STR("text");
	char want[DTX_COUNT(v)][DTX_CELL_PRINT], got[DTX_CELL_PRINT];
	union dtx_payload value[DTX_COUNT(v)];
	uint8_t tag[DTX_COUNT(v)];
	size_t n[DTX_COUNT(v)];
	uint32_t i, k;

	for (k = 0; k < DTX_COUNT(kinds) * DTX_COUNT(types) * 2; k++) {
		uint8_t kind = kinds[k % DTX_COUNT(kinds)];
		struct dtx_strings strings = { &text, 1, k & 1 };
		struct dtx_column *c = dtx_column_new(
			DTX_F_CELL, (struct dtx_typeref){ types[k / 2 % DTX_COUNT(types)], 0, 0 },
			DTX_COUNT(v), NULL);

		c->tag = tag;
		c->v.payload = value;
		c->strings = &strings;
		for (i = 0; i < DTX_COUNT(v); i++) {
			bool number = kind == DTX_CELL_NUMBER || kind >= DTX_CELL_DATE;

			tag[i] = kind;
			if (number)
				value[i].num = v[i];
			else
				value[i].id = kind == DTX_CELL_BOOL ? i % 2 : 0;
			n[i] = dtx_cast_print_cell(c, i, want[i]);
		}
		T_OK(dtx_cast_print_ahead(c, NULL), NULL);
		T_OK(dtx_cast_print_ahead(c, NULL), NULL); /* the texts that were printed first
		                                            * stay */
		for (i = 0; i < DTX_COUNT(v); i++)
			T_CHECK(dtx_cast_print_cell(c, i, got) == n[i] &&
			        !memcmp(got, want[i], n[i]));
		dtx_column_unref(c);
	}
}
