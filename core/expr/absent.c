/* Weak stand-ins for the translations: a translation that is linked wins. */
#include "core/expr/expr.h"

__attribute__((weak)) bool dtx_expr_pandas(const struct dtx_expr *e, const char *frame,
                                           struct dtx_buf *out)
{
	(void)e, (void)frame, (void)out;
	return false;
}

__attribute__((weak)) bool dtx_expr_sql(const struct dtx_expr *e, struct dtx_buf *out)
{
	(void)e, (void)out;
	return false;
}
