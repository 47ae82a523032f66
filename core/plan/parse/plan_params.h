/* Parameters of a plan: declared under "params", given on the command line, and put in place of
 * $NAME.
 *
 * In a formula, $NAME is a literal of the parameter's type. In any other text of a step, an input
 * or an output it is the value as text, and a text that is only "$NAME" is the value itself: a
 * number where one is expected. A plan without "params" has no parameters, and its dollar signs
 * mean nothing. */
#ifndef DTX_PLAN_PARSE_PLAN_PARAMS_H
#define DTX_PLAN_PARSE_PLAN_PARAMS_H

#include "core/plan/plan_internal.h"

/* Reads "params" and the values that were given (an object of texts or values by name, or NULL),
 * into plan->params. Errors: usage, for a given name that is not declared; missing_param,
 * bad_param_value and bad_param_type. */
DTX_MUSTUSE enum dtx_code dtx_part_params(struct dtx_plan_parse *p, const json_t *given,
                                          struct dtx_err *err);
/* The value with all its texts replaced: a new reference; NULL: out of memory. Rules of an `expect`
 * have formulas, in which literals are put. */
json_t *dtx_params_fill(const json_t *params, const json_t *value);
/* The same for a value of the plan, kept as long as it; *out may be `value`, which may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_part_filled(struct dtx_plan_parse *p, const json_t *value,
                                          const json_t **out, struct dtx_err *err);
/* Whether a text may hold a parameter of `params`, which may be NULL. */
bool dtx_params_in(const json_t *params, const char *text);
/* Parses a formula with its parameters; spans are those of `text`. Codes: those of dtx_expr_parse.
 */
DTX_MUSTUSE enum dtx_code dtx_params_formula(struct dtx_arena *arena, const json_t *params,
                                             struct dtx_str text, void *out, struct dtx_err *err);
/* Adds a finding if a parameter is left somewhere in the canonical plan, for example in quotes
 * inside a formula: it would be compared as text. */
DTX_MUSTUSE enum dtx_code dtx_part_params_left(struct dtx_plan_parse *p, struct dtx_err *err);

#endif
