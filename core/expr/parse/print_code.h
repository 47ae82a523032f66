/* SQL text of formulas with aggregates and window calls.  Other translations are in
 * core/expr/expr.h; both kinds are made by core/expr/parse/print_code.c. */
#ifndef DTX_EXPR_PARSE_PRINT_CODE_H
#define DTX_EXPR_PARSE_PRINT_CODE_H

#include "core/base/param/param.h"
#include "core/expr/expr.h"

#define DTX_PRINT_SQL_MAX (1u << 20)

/* The rows that calls run over, as texts of SQL.  The table must have a column "_row" that numbers
 * its rows. */
struct dtx_sql_over {
	const char *part;  /* what divides the rows, with commas between; "": nothing */
	const char *order; /* order keys with their directions, with commas between; "": the order
	                    * of the table */
	const char *keys;  /* the same without directions */
	const char *first; /* the first of them */
	const struct dtx_row_frame *frame; /* of aggregates and first_value; NULL: not given */
	bool grouped; /* the statement groups the rows by `part`, so aggregates have no OVER */
	/* Receives columns that the formula reads, as ', count("x") OVER () AS "_w1"': the caller
	 * must make them in a SELECT below, over the same table. */
	struct dtx_buf *below;
	uint32_t nbelow; /* how many there are */
};

/* As dtx_expr_sql. */
bool dtx_expr_sql_over(const struct dtx_expr *e, const struct dtx_schema *types,
                       struct dtx_sql_over *over, struct dtx_buf *out);

#endif
