/* A table with a column, or some rows of it, changed. */
#ifndef DTX_CLI_WHY_PERTURB_H
#define DTX_CLI_WHY_PERTURB_H

#include "core/data/batch.h"

enum dtx_perturb_how {
	DTX_PERTURB_MOVE,     /* every row has its neighbour's value */
	DTX_PERTURB_NULL,     /* no row has one */
	DTX_PERTURB_CONSTANT, /* every row has the first one's */
	DTX_PERTURB_RELABEL,  /* other values, equal where they were */
	DTX_PERTURB_HOWS
};
struct dtx_perturb {
	const bool *column; /* per column: changed */
	enum dtx_perturb_how how;
	int64_t from, to; /* rows that are changed */
};
/* *out is a new table; it borrows from `t`. */
DTX_MUSTUSE enum dtx_code dtx_perturb(struct dtx_table *t, const struct dtx_perturb *p,
                                      struct dtx_table **out, struct dtx_err *err);

#endif
