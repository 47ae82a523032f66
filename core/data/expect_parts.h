/* What an expect object promises, between its parser and its checker. */
#ifndef DTX_DATA_EXPECT_PARTS_H
#define DTX_DATA_EXPECT_PARTS_H

#include "core/data/expect.h"

/* A scalar of the plan, in every shape it may be compared in. */
struct expect_value {
	bool set, null, is_num, is_time;
	double num;
	int64_t us;          /* is_time */
	struct dtx_str text; /* as a cell would be written */
};
struct expect_col {
	const char *name;
	bool has_type, nullable, unique;
	struct dtx_typeref type;
	struct expect_value min, max;
	struct expect_value *one_of;
	size_t none_of; /* how many one_of; 0: any value */
};
struct dtx_expect {
	struct expect_col *col;
	size_t ncols;
	bool forbid_extra;
	int64_t rows_min, rows_max, rows_equals; /* -1: not promised */
	const char *equals_table;
};

#endif
