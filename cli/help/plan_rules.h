/* Rules of plans and formulas, in words and with examples, for dtx-plan(5). */
#ifndef DTX_CLI_HELP_PLAN_RULES_H
#define DTX_CLI_HELP_PLAN_RULES_H

#include "core/io/reader.h"

extern const struct dtx_manual dtx_plan_example;
extern const struct dtx_manual *const dtx_plan_rules, *const dtx_formula_rules;
extern const size_t dtx_nplan_rules, dtx_nformula_rules;

#endif
