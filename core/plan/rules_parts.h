/* Rules between binding and running.  Internal to core/plan. */
#ifndef DTX_PLAN_RULES_PARTS_H
#define DTX_PLAN_RULES_PARTS_H

#include "core/data/expect_parts.h"
#include "core/data/key.h"
#include "core/expr/regex.h"
#include "core/plan/rules.h"

struct dtx_rule_key { /* of order_by */
	const char *col;
	bool desc;
	int nulls, collate;
};
struct rule_bound {
	const struct dtx_rule *rule;
	int32_t *col; /* columns it reads, in order */
	uint32_t ncols;
	struct dtx_key_order *order;          /* sorted: per column */
	struct expect_value min, max, *value; /* range, share; accepted values */
	const struct dtx_regex *re;
	struct dtx_bound *expr;
	const char *name; /* for people: "a, b" */
	const char *how;  /* what is expected */
	const char *at;   /* its place in the plan */
};
struct dtx_rules_bound {
	struct rule_bound *rule;
	size_t n;
	const struct dtx_schema *schema;
	int32_t step; /* -1: of the plan's expect */
};
extern const char *const dtx_rule_names[DTX_RULE_KINDS];

#endif
