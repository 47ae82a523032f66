/* Whatever parses prints, and the print parses to the same tree; then it is bound, which computes
 * what is constant, and printed as pandas and SQL. */
#include <stdlib.h>

#include "core/expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every name is a column; its length tells the type. */
static int32_t any_column(void *arg, const char *name, struct dtx_field *field, struct dtx_err *err)
{
	size_t n = strlen(name);

	(void)arg, (void)err;
	*field = (struct dtx_field){ .name = name, .source = n % 3 == 0 };
	field->type.type = (enum dtx_type)(n % DTX_TYPE_COUNT);
	field->type.precision = 12;
	field->type.scale = 2;
	return (int32_t)(n % 100);
}

static void bind(struct dtx_arena *a, const struct dtx_expr *e, bool grouped)
{
	struct dtx_scope scope = { .column = any_column,
		                   .grouped = grouped,
		                   .allow = grouped ? DTX_ALLOW_AGG : DTX_ALLOW_WINDOW };
	struct dtx_aggcalls aggs = { NULL, 0, 0 };
	struct dtx_errlist errs = DTX_ERRLIST_INIT;
	struct dtx_bound *b = NULL;

	if (dtx_expr_bind(a, e, &scope, (struct dtx_typeref){ .type = DTX_T_UNKNOWN },
	                  grouped ? &aggs : NULL, &b, &errs, NULL) == DTX_OK &&
	    !b && !errs.n && !errs.dropped)
		abort();
	dtx_errlist_clear(&errs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_arena a = DTX_ARENA_INIT;
	struct dtx_buf text = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_expr *e = NULL, *again = NULL;

	if (dtx_expr_parse(&a, (struct dtx_str){ (const char *)data, size }, &e, &err) == DTX_OK) {
		dtx_expr_print(e, &text);
		if (dtx_expr_parse(&a, dtx_str_of(dtx_buf_text(&text)), &again, &err) != DTX_OK ||
		    !dtx_expr_equal(e, again))
			abort();
		bind(&a, e, false);
		bind(&a, e, true);
		(void)dtx_expr_pandas(e, "df0", &text);
		(void)dtx_expr_sql(e, NULL, &text);
	}
	dtx_buf_clear(&text);
	dtx_err_clear(&err);
	dtx_arena_clear(&a);
	return 0;
}
