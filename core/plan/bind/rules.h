/* Rules about a table: what op assert and an `expect` object promise beyond columns and row counts.
 *
 * Rules are parsed by parameter rows, bound like a step, and fed batch by batch. Each ends as one
 * check row, as those of core/data/expect do. */
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
/* One rule as written. Binding refuses members that its kind does not take. */
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
	/* of an `expect` object: the member that it is made from; NULL: its members are written */
	const char *made_from;
};
#define DTX_RULE_ROWS 21
extern const struct dtx_param dtx_rule_rows[DTX_RULE_ROWS];
const char *dtx_rule_name(const struct dtx_rule *rule);

/* most tables that the rules of one step or plan may refer to */
#define DTX_RULE_TABLES 15
struct dtx_rules {
	struct dtx_rule *rule;
	size_t n;
	const char **at; /* per rule: its place below the binding's, "/rules/0" */
	/* of an `expect` object: the tables they refer to, found when the plan is linked */
	uint32_t ntables;
	int32_t table[DTX_RULE_TABLES];
	const char *table_name[DTX_RULE_TABLES];
};
/* Names of the tables that rules[0..n) refer to, each once, in order; at[i]: the rule that names
 * table i first. Returns how many there are, at most max. */
size_t dtx_rules_tables(const struct dtx_rule *rule, size_t n, const char **names, size_t *at,
                        size_t max);
struct dtx_rules_bound; /* in the arena of the binding */
struct dtx_rules_run;

/* Parses the members of an `expect` object (NULL: none) that are rules: keys, order_by, sums,
 * rows.equals, matches and rules. pointer: place of the object; findings go to errs. plan: false
 * for the contract of a snippet, where the caller counts the rows. Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_rules_expect(const json_t *expect, const char *pointer, bool plan,
                                           const struct dtx_param_hooks *hooks, json_t *kept,
                                           struct dtx_arena *arena, struct dtx_errlist *errs,
                                           struct dtx_rules *out, struct dtx_err *err);
/* Finds the columns in table 0 of b, and checks the members of each rule. Findings are as those of
 * an op. */
DTX_MUSTUSE enum dtx_code dtx_rules_bind(struct dtx_bind *b, const struct dtx_rules *rules,
                                         struct dtx_rules_bound **out, struct dtx_err *err);

/* What rules know of other tables. Each thread feeds one of its own; they are merged before the
 * rules run. */
struct dtx_rules_side;
DTX_MUSTUSE enum dtx_code dtx_rules_side_new(const struct dtx_rules_bound *bound,
                                             struct dtx_rules_side **out, struct dtx_err *err);
/* k: number of the table in the binding, from 1. */
DTX_MUSTUSE enum dtx_code dtx_rules_side_batch(struct dtx_rules_side *side, unsigned k,
                                               struct dtx_batch *b, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rules_side_merge(struct dtx_rules_side *to,
                                               struct dtx_rules_side *from, struct dtx_err *err);
void dtx_rules_side_free(struct dtx_rules_side *side); /* NULL is fine */

/* Starts the rules, which take batches in any order, one at a time. side: borrowed; NULL where no
 * rule refers to another table. */
DTX_MUSTUSE enum dtx_code dtx_rules_start(const struct dtx_rules_bound *bound,
                                          const struct dtx_rules_side *side,
                                          struct dtx_rules_run **out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_rules_batch(struct dtx_rules_run *run, struct dtx_batch *b,
                                          struct dtx_err *err);
/* Appends the check rows, and counts in *failed the rules of severity error that failed. `where`
 * gets the pointer of the first of them and the place of the first row that broke it. Rules of
 * severity warn go to `warnings`. where and warnings may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_rules_finish(struct dtx_rules_run *run, json_t *checks,
                                           int64_t *failed, struct dtx_err *where,
                                           struct dtx_errlist *warnings, struct dtx_err *err);
/* Moves the place, the count and the samples of `where` to err. */
void dtx_rules_place(struct dtx_err *err, struct dtx_err *where);
void dtx_rules_free(struct dtx_rules_run *run); /* NULL is fine */
/* Checks a complete table against all rules of an `expect` object. Mistakes in the rules are
 * errors. */
DTX_MUSTUSE enum dtx_code dtx_rules_table(const json_t *expect, struct dtx_table *t, json_t *checks,
                                          int64_t *failed, struct dtx_err *err);

#endif
