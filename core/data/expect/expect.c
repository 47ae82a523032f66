/* Checks a table against its expectations: see expect.h.
 *
 * Every expectation is a count of rows that break it.  Batches are counted as they come and the
 * counts are judged at the end, so a table is read once however many expectations there are. */
#include "core/data/expect/expect.h"

#include <math.h>
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/strmap.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"
#include "core/data/expect/expect_parts.h"
#include "core/data/time/time.h"

#define EXPECT_TEXT_MAX   ((size_t)1 << 20)
#define EXPECT_UNIQUE_MAX ((uint32_t)1 << 26)

struct expect_count {
	int32_t at; /* column of the schema; -1: missing */
	int64_t nulls, below, above, outside, repeats, unseen;
	struct dtx_strmap seen;
};
struct dtx_expect_run {
	const struct dtx_expect *e;
	const struct dtx_schema *schema;
	int64_t rows, equals;
	struct expect_count *count;
	struct dtx_buf text; /* scratch: the text of one cell */
};

enum dtx_code dtx_expect_start(const struct dtx_expect *e, const struct dtx_schema *s,
                               int64_t equals_rows, struct dtx_expect_run **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expect_run *run = dtx_mem_zalloc(1, sizeof(*run));
	size_t i;

	if (!run)
		DTX_FAIL_MEM(err);
	run->e = e;
	run->schema = s;
	run->equals = e->equals_table ? equals_rows : e->rows_equals;
	dtx_buf_init(&run->text, EXPECT_TEXT_MAX);
	run->count = dtx_mem_zalloc(e->ncols, sizeof(*run->count));
	if (!run->count)
		DTX_FAIL_MEM(err);
	for (i = 0; i < e->ncols; i++)
		run->count[i].at = dtx_schema_find(s, e->col[i].name);
	*out = run;
	run = NULL;
out:
	dtx_expect_free(run);
	return rc;
}

void dtx_expect_free(struct dtx_expect_run *run)
{
	size_t i;

	if (!run)
		return;
	for (i = 0; run->count && i < run->e->ncols; i++)
		dtx_strmap_clear(&run->count[i].seen);
	dtx_mem_free(run->count);
	dtx_buf_clear(&run->text);
	dtx_mem_free(run);
}

bool dtx_expect_number(const struct dtx_column *c, uint32_t row, double *num)
{
	uint32_t at = c->form == DTX_F_CONST ? 0 : row;

	switch (c->type.type) {
	case DTX_T_INT64: *num = (double)c->v.i64[at]; return true;
	case DTX_T_FLOAT64: *num = c->v.f64[at]; return true;
	case DTX_T_DECIMAL:
		*num = (double)dtx_dec_get(c->v.dec[at]) / pow(10, c->type.scale);
		return true;
	default: return false;
	}
}

static bool expect_instant(const struct dtx_column *c, uint32_t row, int64_t *us)
{
	uint32_t at = c->form == DTX_F_CONST ? 0 : row;

	if (c->type.type == DTX_T_DATE)
		*us = (int64_t)c->v.day[at] * DTX_DAY_US;
	else if (c->type.type == DTX_T_DATETIME)
		*us = c->v.i64[at];
	else
		return false;
	return true;
}

int dtx_expect_compare(const struct dtx_column *c, uint32_t row, const struct expect_value *v,
                       struct dtx_buf *text)
{
	double num;
	int64_t us;

	if (v->is_num && dtx_expect_number(c, row, &num))
		return (num > v->num) - (num < v->num);
	if (v->is_time && expect_instant(c, row, &us))
		return (us > v->us) - (us < v->us);
	dtx_buf_reset(text);
	dtx_cast_print(c, row, text);
	return dtx_str_cmp(dtx_buf_str(text), v->text);
}

static bool expect_is_one_of(const struct expect_col *col, const struct dtx_column *c, uint32_t row,
                             struct dtx_buf *text)
{
	size_t i;

	for (i = 0; i < col->none_of; i++) {
		if (!col->one_of[i].null && !dtx_expect_compare(c, row, &col->one_of[i], text))
			return true;
	}
	return false;
}

static enum dtx_code expect_seen(struct expect_count *n, const struct dtx_column *c, uint32_t row,
                                 struct dtx_buf *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t fresh = (uint32_t)n->seen.n, found;

	if (n->seen.n >= EXPECT_UNIQUE_MAX)
		DTX_FAIL(err, DTX_E_ROW_LIMIT,
		         "expect: 'unique' is checked for at most %u values of a column",
		         EXPECT_UNIQUE_MAX);
	dtx_buf_reset(text);
	dtx_cast_print(c, row, text);
	if (!dtx_strmap_put(&n->seen, dtx_buf_str(text), fresh, &found))
		DTX_FAIL_MEM(err);
	n->repeats += found != fresh;
out:
	return rc;
}

static enum dtx_code expect_cell(const struct expect_col *col, struct expect_count *n,
                                 const struct dtx_column *c, uint32_t row, struct dtx_buf *text,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (dtx_column_is_null(c, row)) {
		n->nulls++;
		goto out;
	}
	n->below += col->min.set && dtx_expect_compare(c, row, &col->min, text) < 0;
	n->above += col->max.set && dtx_expect_compare(c, row, &col->max, text) > 0;
	n->outside += col->none_of && !expect_is_one_of(col, c, row, text);
	if (col->unique)
		DTX_TRY(expect_seen(n, c, row, text, err));
out:
	return rc;
}

static bool expect_wants_values(const struct expect_col *col)
{
	return col->min.set || col->max.set || col->none_of || col->unique;
}

static enum dtx_code expect_batch_column(struct dtx_expect_run *run, size_t i, struct dtx_batch *b,
                                         struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct expect_col *col = &run->e->col[i];
	struct expect_count *n = &run->count[i];
	struct dtx_column *c;
	uint32_t k;

	if (n->at < 0 || (col->nullable && !expect_wants_values(col)))
		goto out;
	c = b->col[n->at];
	if (!c) {
		n->unseen += b->nsel;
		goto out;
	}
	if (expect_wants_values(col))
		DTX_TRY(dtx_batch_value(b, (uint32_t)n->at, &c, err));
	for (k = 0; k < b->nsel; k++)
		DTX_TRY(expect_cell(col, n, c, b->sel ? b->sel[k] : k, &run->text, err));
	DTX_TRY(dtx_buf_check(&run->text, "expect", err));
out:
	return rc;
}

enum dtx_code dtx_expect_batch(struct dtx_expect_run *run, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	run->rows += b->nsel;
	for (i = 0; i < run->e->ncols; i++)
		DTX_TRY(expect_batch_column(run, i, b, err));
out:
	return rc;
}

/* --- results --- */

struct expect_out {
	const struct dtx_expect *e;
	json_t *checks;
	struct dtx_err *where; /* receives the place of the first check that failed */
	char at[32];           /* pointer of the current member, relative to the object */
	int64_t failed;
	bool no_memory;
};

static void expect_set_position(const struct expect_out *o)
{
	char at[sizeof(((struct dtx_err *)0)->at)];

	snprintf(at, sizeof(at), "%s%s", o->e->at, o->at);
	dtx_err_at(o->where, at);
}

static void expect_put(struct expect_out *o, const char *name, const char *col, bool pass,
                       const char *expected, const char *actual)
{
	json_t *row = json_pack("{s:s, s:s, s:s, s:s?, s:s, s:s}", "name", name, "severity",
	                        "error", "status", pass ? "pass" : "fail", "col", col, "expected",
	                        expected, "actual", actual);

	if (!pass && o->failed++ == 0)
		expect_set_position(o);
	if (json_array_append_new(o->checks, row) < 0)
		o->no_memory = true;
}

static void expect_put_count(struct expect_out *o, const char *name, const char *col, int64_t bad,
                             const char *expected, const char *one, const char *many)
{
	char actual[64];

	snprintf(actual, sizeof(actual), "%lld %s", (long long)bad, bad == 1 ? one : many);
	expect_put(o, name, col, !bad, expected, actual);
}

static void expect_put_value(struct expect_out *o, const char *name, const char *col, int64_t bad,
                             const struct expect_value *v, const char *one, const char *many)
{
	char expected[96];

	snprintf(expected, sizeof(expected), "%s %.*s", name, (int)DTX_MIN(v->text.len, (size_t)64),
	         v->text.ptr);
	expect_put_count(o, name, col, bad, expected, one, many);
}

static void expect_put_type(struct expect_out *o, const struct expect_col *col,
                            struct dtx_typeref have)
{
	struct dtx_buf expected = DTX_BUF_INIT(64), actual = DTX_BUF_INIT(64);
	struct dtx_typeref both;
	bool fits = have.type == DTX_T_NULL ||
	            (dtx_type_widen(have, col->type, &both) && both.type == col->type.type);

	dtx_type_print(col->type, &expected);
	dtx_type_print(have, &actual);
	expect_put(o, "type", col->name, fits, dtx_buf_text(&expected), dtx_buf_text(&actual));
	dtx_buf_clear(&expected);
	dtx_buf_clear(&actual);
}

static void expect_put_column(struct expect_out *o, const struct dtx_expect_run *run, size_t i)
{
	const struct expect_col *col = &run->e->col[i];
	const struct expect_count *n = &run->count[i];

	snprintf(o->at, sizeof(o->at), "/columns/%zu", i);
	expect_put(o, "column", col->name, n->at >= 0, "present",
	           n->at >= 0 ? "present" : "missing");
	if (n->at < 0)
		return;
	if (col->has_type)
		expect_put_type(o, col, run->schema->field[n->at].type);
	if (!col->nullable)
		expect_put_count(o, "not_null", col->name, n->nulls, "no nulls", "null", "nulls");
	if (col->unique)
		expect_put_count(o, "unique", col->name, n->repeats, "no repeats", "repeat",
		                 "repeats");
	if (col->min.set)
		expect_put_value(o, "min", col->name, n->below, &col->min, "value below",
		                 "values below");
	if (col->max.set)
		expect_put_value(o, "max", col->name, n->above, &col->max, "value above",
		                 "values above");
	if (col->none_of)
		expect_put_count(o, "enum", col->name, n->outside, "listed values", "other value",
		                 "other values");
}

static bool expect_is_promised(const struct dtx_expect *e, const char *name)
{
	size_t i;

	for (i = 0; i < e->ncols; i++) {
		if (!strcmp(e->col[i].name, name))
			return true;
	}
	return false;
}

static void expect_put_extra(struct expect_out *o, const struct dtx_expect_run *run)
{
	const char *first = NULL;
	int64_t n = 0;
	uint32_t i;

	if (!run->e->forbid_extra)
		return;
	for (i = 0; i < run->schema->nfields; i++) {
		if (expect_is_promised(run->e, run->schema->field[i].name))
			continue;
		first = first ? first : run->schema->field[i].name;
		n++;
	}
	snprintf(o->at, sizeof(o->at), "/extra");
	expect_put_count(o, "extra", first, n, "no other columns", "other column", "other columns");
}

static void expect_put_rows(struct expect_out *o, const char *name, const char *words, int64_t want,
                            int64_t have, bool pass)
{
	char expected[48], actual[48];

	if (want < 0)
		return;
	snprintf(o->at, sizeof(o->at), "/rows/%s", name);
	snprintf(expected, sizeof(expected), "%s%lld", words, (long long)want);
	snprintf(actual, sizeof(actual), "%lld rows", (long long)have);
	expect_put(o, "rows", NULL, pass, expected, actual);
}

enum dtx_code dtx_expect_finish(struct dtx_expect_run *run, json_t *checks, int64_t *failed,
                                struct dtx_err *where, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_expect *e = run->e;
	struct expect_out o = { .e = e, .checks = checks, .where = where };
	size_t i;

	for (i = 0; i < e->ncols; i++) {
		DTX_ASSERT(!run->count[i].unseen, err);
		expect_put_column(&o, run, i);
	}
	expect_put_extra(&o, run);
	expect_put_rows(&o, "min", "at least ", e->rows_min, run->rows, run->rows >= e->rows_min);
	expect_put_rows(&o, "max", "at most ", e->rows_max, run->rows, run->rows <= e->rows_max);
	expect_put_rows(&o, "equals", "", run->equals, run->rows, run->rows == run->equals);
	if (o.no_memory)
		DTX_FAIL_MEM(err);
	*failed += o.failed;
out:
	return rc;
}

enum dtx_code dtx_expect_table(const struct dtx_expect *e, struct dtx_table *t, int64_t equals_rows,
                               json_t *checks, int64_t *failed, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_expect_run *run = NULL;
	size_t i;

	DTX_TRY(dtx_expect_start(e, t->schema, equals_rows, &run, err));
	for (i = 0; i < t->nbatches; i++)
		DTX_TRY(dtx_expect_batch(run, t->batch[i], err));
	DTX_TRY(dtx_expect_finish(run, checks, failed, NULL, err));
out:
	dtx_expect_free(run);
	return rc;
}

static const char *expect_verb(const char *check)
{
	return !strcmp(check, "column") || !strcmp(check, "type") ? "is" : "has";
}

enum dtx_code dtx_expect_fail(const json_t *checks, enum dtx_code code, const char *pointer,
                              struct dtx_err *err)
{
	enum dtx_code rc = code;
	const json_t *first = NULL;
	json_t *check;
	size_t i, more = 0;

	json_array_foreach(checks, i, check)
	{
		if (strcmp(dtx_json_text(check, "status", ""), "fail") ||
		    strcmp(dtx_json_text(check, "severity", ""), "error"))
			continue;
		more += first != NULL;
		first = first ? first : check;
	}
	if (!first)
		DTX_FAIL(err, DTX_E_BUG, "internal: no failed check");
	if (!strcmp(dtx_json_text(first, "name", ""), "extra"))
		rc = dtx_err_set(err, code, __FILE__, __LINE__, "column '%s' is not expected",
		                 dtx_json_text(first, "col", ""));
	else if (dtx_json_text(first, "col", NULL))
		rc = dtx_err_set(err, code, __FILE__, __LINE__, "column '%s' %s %s, expected %s",
		                 dtx_json_text(first, "col", ""),
		                 expect_verb(dtx_json_text(first, "name", "")),
		                 dtx_json_text(first, "actual", ""),
		                 dtx_json_text(first, "expected", ""));
	else
		rc = dtx_err_set(err, code, __FILE__, __LINE__, "the result has %s, expected %s",
		                 dtx_json_text(first, "actual", ""),
		                 dtx_json_text(first, "expected", ""));
	if (more)
		dtx_err_hint(err, "%zu more check%s failed", more, more == 1 ? "" : "s");
	dtx_err_at(err, pointer);
out:
	return rc;
}
