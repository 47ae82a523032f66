/* `across`: formulas of one step for several columns.
 *
 * An op with a list of {as, expr} may have the parameter `across`, a selector of columns
 * (op->across names the list). An item whose name has {col} is repeated for each of these columns:
 * {col} in its name, and in names of columns in its formula, is the name of the column, and _ is
 * its value. In an item whose name has no {col}, _ as an argument of a function stands for all of
 * them: row_sum(_).
 *
 * The columns are known when the step is bound; then the list is written out, and neither the op
 * nor lineage nor a translation sees `across`. */
#ifndef DTX_PLAN_BIND_ACROSS_H
#define DTX_PLAN_BIND_ACROSS_H

#include "core/plan/bind/bind.h"
#include "core/plan/plan.h"

/* The row of the parameter, a struct dtx_cols *across in the args struct S. */
#define DTX_ACROSS_PARAM(S)                                                                        \
	{                                                                                          \
		.name = "across", .kind = DTX_P_COLUMNS, .nonempty = true,                         \
		.offset = offsetof(S, across),                                                     \
		.help = "columns for which a formula is repeated if its name has {col}: _ is the " \
			"column's value; without {col}, _ is all of them as arguments: row_sum(_)" \
	}
#define DTX_ACROSS_NOTE                                                                            \
	" With `across`, a formula whose name has {col} is computed for each of these columns: "   \
	"{col} is the column's name and _ its value. In a formula whose name has no {col}, _ "     \
	"stands for all of them, as arguments of a function: row_sum(_)."

/* Sets b->args for the binding of a step, and what it says about `across`. Findings go to b->errs.
 * Fails only with no_memory. */
DTX_MUSTUSE enum dtx_code dtx_across_open(struct dtx_bind *b, const struct dtx_plan_step *st,
                                          struct dtx_err *err);
/* After a typed binding: gives the canonical step the list as it was written out, so that `why` and
 * lineage see plain formulas. */
DTX_MUSTUSE enum dtx_code dtx_across_done(const struct dtx_bind *b, const struct dtx_plan *plan,
                                          struct dtx_plan_step *st, struct dtx_err *err);
/* Maps the place "/set/5/expr" of a list that was written out to that in the plan; sub as it is
 * where nothing is to be mapped. */
const char *dtx_across_place(const struct dtx_bind *b, const struct dtx_plan_step *st,
                             const char *sub, char *buf, size_t size);
/* Adds to a finding in such a list the column that the formula was written out for. */
void dtx_across_say(const struct dtx_bind *b, const struct dtx_plan_step *st, const char *sub,
                    struct dtx_err *f);
/* Appends ", across a, b" to the explanation of a step that has `across`. */
void dtx_across_explain(const struct dtx_plan_step *st, struct dtx_buf *out);

#endif
