/* What inspect reports about the values of a column. */
#include "cli/suggest/colstat.h"

#include "core/data/builder.h"
#include "tests/t.h"

/* Values from `from` to `to` - 1; every seventh one is null. */
static enum dtx_code add_numbers(struct dtx_colstat *s, int64_t from, int64_t to,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_builder b;
	struct dtx_column *c = NULL;
	int64_t i;

	dtx_builder_init(&b, (struct dtx_typeref){ .type = DTX_T_INT64 }, 16);
	for (i = from; i < to; i++) {
		if (i % 7 == 3)
			dtx_builder_null(&b);
		else
			dtx_builder_i64(&b, i);
	}
	DTX_TRY(dtx_builder_finish(&b, NULL, &c, err));
	DTX_TRY(dtx_colstat_add(s, c, err));
out:
	dtx_builder_clear(&b);
	dtx_column_unref(c);
	return rc;
}

void test_colstat_counts(void)
{
	struct dtx_colstat s;
	struct dtx_err err = DTX_ERR_INIT;
	uint32_t bar[DTX_COLSTAT_BARS], sum = 0, least = UINT32_MAX;
	size_t top[2], i;
	const struct dtx_colstat_range *r;

	dtx_colstat_init(&s, 0);
	T_OK(add_numbers(&s, 0, 70000, &err), &err);
	T_OK(add_numbers(&s, 5, 6, &err), &err);
	T_INT(s.nulls, 10000);
	T_INT(s.nvalues, 60000);
	T_CHECK(!s.many);
	r = dtx_colstat_range(&s, DTX_T_INT64);
	T_CHECK(r && r->lo == 0 && r->hi == 69999 && r->n == 60001 && r->nkept <= 4096);
	T_CHECK(dtx_colstat_bars(r, bar));
	for (i = 0; i < DTX_COLSTAT_BARS; i++) {
		sum += bar[i];
		least = DTX_MIN(least, bar[i]);
	}
	T_INT(sum, r->nkept);
	T_CHECK(least * 11 > sum);
	T_INT(dtx_colstat_top(&s, top, 2), 2);
	T_STR(s.value[top[0]].text.ptr, "5");
	T_INT(s.value[top[0]].count, 2);
	T_CHECK(dtx_colstat_range(&s, DTX_T_TEXT) == NULL);
	dtx_colstat_clear(&s);
}

void test_colstat_many(void)
{
	struct dtx_colstat s;
	struct dtx_err err = DTX_ERR_INIT;

	dtx_colstat_init(&s, 300);
	T_OK(add_numbers(&s, 0, 300, &err), &err);
	T_CHECK(!s.many);
	T_OK(add_numbers(&s, 0, 400, &err), &err);
	T_CHECK(s.many);
	T_INT(s.nvalues, 300);
	T_INT(s.value[0].count, 2);
	dtx_colstat_clear(&s);
}

static enum dtx_code whole(void)
{
	struct dtx_colstat s;
	enum dtx_code rc;

	dtx_colstat_init(&s, 0);
	rc = add_numbers(&s, 0, 100, NULL);
	dtx_colstat_clear(&s);
	return rc;
}

void test_colstat_every_allocation_fails(void)
{
	T_EVERY_ALLOC_FAILS(whole());
}
