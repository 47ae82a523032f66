/* The parts of pivot_longer: its parameters, and what binding makes of the column names. */
#ifndef DTX_OPS_RESHAPE_LONGER_H
#define DTX_OPS_RESHAPE_LONGER_H

#include "core/data/cells.h"
#include "ops/kit/opkit.h"

enum { DTX_LONGER_ROWS, DTX_LONGER_COLS };
struct dtx_longer_type {
	const char *name, *type;
};
struct dtx_longer_args {
	struct dtx_cols *cols, *keep;
	struct dtx_plist names_to;
	const char *values_to, *names_prefix, *names_sep, *names_pattern;
	struct dtx_plist names_types;
	bool drop_nulls;
	int order;
};
struct dtx_longer_state {
	uint32_t nkept, nnames, nvalues, nrests;
	const char **part;             /* [rest * nnames + name]: text of a name column */
	struct dtx_typeref *name_type; /* for each name column */
	int32_t *col;                  /* [rest * nvalues + value]: input column; -1: none */
	bool *valued;                  /* same index: move the value, because its text follows other
	                                * rules */
	struct dtx_field *value;       /* for each value column */
	struct dtx_colmap map;         /* of the kept columns */
	bool drop_nulls;
};

DTX_MUSTUSE enum dtx_code dtx_longer_bind(struct dtx_bind *b, void *args, struct dtx_err *err);

#endif
