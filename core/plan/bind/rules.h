/* Rules about a table: what op assert and an expect object promise beyond columns and rows.
 *
 * Parsed by parameter rows, bound like an operation, fed batch by batch; each ends as one check row
 * as those of core/data/expect. */
#ifndef DTX_PLAN_BIND_RULES_H
#define DTX_PLAN_BIND_RULES_H

#include "core/plan/bind/bind.h"

enum dtx_rule_kind {
	DTX_RULE_NOT_NULL,
	DTX_RULE_UNIQUE,
	DTX_RULE_ACCEPTED,
	DTX_RULE_RANGE,
	DTX_RULE_MATCHES,
	DTX_RULE_EXPRESSION,
	DTX_RULE_ROW_COUNT,
	DTX_RULE_COLUMNS,
	DTX_RULE_TYPE,
	DTX_RULE_SUM_EQUALS,
	DTX_RULE_SORTED,
	DTX_RULE_SHARE,
	DTX_RULE_RECENCY,
	DTX_RULE_RELATIONSHIP,
	DTX_RULE_EQUAL_ROWS,
	DTX_RULE_KINDS
};
/* One rule as written; members that its kind does not take are refused when it is bound. */
struct dtx_rule {
	int kind, severity; /* severity: 0 error, 1 warn */
	int64_t max_failures, sample;
	struct dtx_cols *cols;
	const char *col, *other, *type, *regex, *with, *to, *max_age;
	struct dtx_plist values, names, by;
	const json_t *min, *max, *value;
	struct dtx_expr *expr;
	double tol;
	bool exact;
	/* of an expect object: the member that it is made from; NULL: its members are its own */
	const char *made_from;
};
#define DTX_RULE_ROWS 21
extern const struct dtx_param dtx_rule_rows[DTX_RULE_ROWS];
const char *dtx_rule_name(const struct dtx_rule *rule);

/* Other tables that the rules of one step or plan may look at. */
#define DTX_RULE_TABLES 15
struct dtx_rules {
	struct dtx_rule *rule;
	size_t n;
	const char **at; /* per rule its place below the binding's, "/rules/0" */
	/* of an expect object: the tables they look at, found when the plan is linked */
	uint32_t ntables;
	int32_t table[DTX_RULE_TABLES];
	const char *table_name[DTX_RULE_TABLES];
};
/* Names of the tables that rules[0..n) look at, each once, in order; *at: per name the rule. */
size_t dtx_rules_tables(const struct dtx_rule *rule, size_t n, const char **names, size_t *at,
                        size_t max);
struct dtx_rules_bound; /* in the bind's arena */
struct dtx_rules_run;

/* keys, order_by, sums, rows.equals, matches and rules of an expect object (NULL: none) at
 * `pointer`; findings go to errs.  plan: else it is the contract of a snippet, which counts the
 * rows of its table itself. Only memory fails. */
DTX_MUSTUSE enum dtx_code dtx_rules_expect(const json_t *expect, const char *pointer, bool plan,
                                           const struct dtx_param_hooks *hooks, json_t *kept,
                                           struct dtx_arena *arena, struct dtx_errlist *errs,
                                           struct dtx_rules *out, struct dtx_err *err);
/* Finds the columns in table 0 of b and checks each rule's members; findings as those of an op. */
DTX_MUSTUSE enum dtx_code dtx_rules_bind(struct dtx_bind *b, const struct dtx_rules *rules,
                                         struct dtx_rules_bound **out, struct dtx_err *err);

/* What rules know of the other tables: fed by one thread each and merged, before the rules run. */
struct dtx_rules_side;
DTX_MUSTUSE enum dtx_code dtx_rules_side_new(const struct dtx_rules_bound *bound,
                                             struct dtx_rules_side **out, struct dtx_err *err);
/* k: which of the binding's tables, from 1. */
DTX_MUSTUSE enum dtx_code dtx_rules_side_batch(struct dtx_rules_side *side, unsigned k,
                                               struct dtx_batch *b, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rules_side_merge(struct dtx_rules_side *to,
                                               struct dtx_rules_side *from, struct dtx_err *err);
void dtx_rules_side_free(struct dtx_rules_side *side); /* NULL is fine */

/* Batches in any order, one at a time.  side: borrowed; NULL where no rule looks at other tables.
 */
DTX_MUSTUSE enum dtx_code dtx_rules_start(const struct dtx_rules_bound *bound,
                                          const struct dtx_rules_side *side,
                                          struct dtx_rules_run **out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rules_batch(struct dtx_rules_run *run, struct dtx_batch *b,
                                          struct dtx_err *err);
/* Appends the check rows and counts those that failed with severity error; `where` gets the pointer
 * to the first of them, and the place of the first row that broke it.  Those of severity warn go to
 * `warnings`.  Both may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_rules_finish(struct dtx_rules_run *run, json_t *checks,
                                           int64_t *failed, struct dtx_err *where,
                                           struct dtx_errlist *warnings, struct dtx_err *err);
/* The place, the count and the samples of `where`, which loses them. */
void dtx_rules_place(struct dtx_err *err, struct dtx_err *where);
void dtx_rules_free(struct dtx_rules_run *run); /* NULL is fine */
/* All of an expect object's rules over a table at rest; findings of the rules themselves are
 * errors. */
DTX_MUSTUSE enum dtx_code dtx_rules_table(const json_t *expect, struct dtx_table *t, json_t *checks,
                                          int64_t *failed, struct dtx_err *err);

#endif
