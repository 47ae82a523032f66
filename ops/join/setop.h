/* What intersect and except share: rows of the current table that another table has, or does not
 * have. */
#ifndef DTX_OPS_JOIN_SETOP_H
#define DTX_OPS_JOIN_SETOP_H

#include "core/plan/compile/sqltext.h"
#include "ops/join/buildside.h"

struct dtx_setop_args {
	const char *with;
	struct dtx_cols *cols;
	bool all;
};
extern const struct dtx_param dtx_setop_params[3];
extern const struct dtx_sink dtx_setop_sink;
extern const struct dtx_map dtx_setop_map;

size_t dtx_setop_tables(const void *args, const char **names, size_t max);
/* keep_met: keep the rows that the other table has (intersect), else the other rows (except). */
DTX_MUSTUSE enum dtx_code dtx_setop_bind(struct dtx_bind *b, const struct dtx_setop_args *a,
                                         bool keep_met, struct dtx_err *err);
bool dtx_setop_sql(const struct dtx_sql_step *s, struct dtx_buf *out);
void dtx_setop_explain(const struct dtx_setop_args *a, const char *what, struct dtx_buf *out);

#endif
