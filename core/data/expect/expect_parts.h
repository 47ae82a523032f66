/* The parsed form of an expect object, shared by its parser and its checker. */
#ifndef DTX_DATA_EXPECT_EXPECT_PARTS_H
#define DTX_DATA_EXPECT_EXPECT_PARTS_H

#include "core/data/expect/expect.h"

/* A scalar of the plan in all forms in which cells may be compared with it. */
struct expect_value {
	bool set, null, is_num, is_time;
	double num;
	int64_t us;          /* valid if is_time */
	struct dtx_str text; /* as a cell would be written */
};
/* Fills `out` from a scalar.  Codes: no_memory, bad_param_type (it is not a scalar). */
DTX_MUSTUSE enum dtx_code dtx_expect_value(struct dtx_arena *arena, const json_t *v,
                                           struct expect_value *out);
/* Compares a cell with a value of the plan, as strcmp does: numbers as numbers, times as times,
 * everything else as text. */
int dtx_expect_compare(const struct dtx_column *c, uint32_t row, const struct expect_value *v,
                       struct dtx_buf *text);
/* A cell as a number.  False: it is not a number. */
bool dtx_expect_number(const struct dtx_column *c, uint32_t row, double *num);

struct expect_col {
	const char *name;
	bool has_type, nullable, unique;
	struct dtx_typeref type;
	struct expect_value min, max;
	struct expect_value *one_of;
	size_t none_of; /* number of values in one_of; 0: any value is allowed */
};
struct dtx_expect {
	const char *at; /* JSON pointer of the object */
	struct expect_col *col;
	size_t ncols;
	bool forbid_extra;
	int64_t rows_min, rows_max, rows_equals; /* -1: nothing is expected */
	const char *equals_table;
};

#endif
