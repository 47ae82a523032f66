/* Rules of plans and formulas, in words and with examples, for dtx-plan(5). */
#ifndef DTX_CLI_HELP_PLAN_RULES_H
#define DTX_CLI_HELP_PLAN_RULES_H

#include "core/base/base.h"

struct dtx_plan_rule {
	const char *title;
	const char *text;    /* for dtx_wrap_text: paragraphs, and indented lines */
	const char *example; /* commands after "$ ", and what they print; NULL: none */
};
extern const struct dtx_plan_rule dtx_plan_example;
extern const struct dtx_plan_rule *const dtx_plan_rules, *const dtx_formula_rules;
extern const size_t dtx_nplan_rules, dtx_nformula_rules;

#endif
