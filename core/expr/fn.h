/* Function rows: one table per core/expr/fn_*.c file, found by name. */
#ifndef DTX_EXPR_FN_H
#define DTX_EXPR_FN_H

#include "core/expr/expr.h"

struct dtx_fn;
struct dtx_fn_table {
	const char *name;	/* file name without fn_: "math" */
	const char *title;	/* for help and man: "Math" */
	const struct dtx_fn *fn;
	size_t n;
};
extern const struct dtx_fn_table *const dtx_fns[];	/* generated, NULL at the end */

/* For dtx help and man: signature and one line. */
const char *dtx_fn_signature(const struct dtx_fn *fn);
const char *dtx_fn_help(const struct dtx_fn *fn);
const struct dtx_fn *dtx_fn_at(const struct dtx_fn_table *t, size_t i);

#endif
