/* Internal header of the rules: bound rules, and the state in which they run. */
#ifndef DTX_PLAN_BIND_RULES_PARTS_H
#define DTX_PLAN_BIND_RULES_PARTS_H

#include "core/data/expect/expect_parts.h"
#include "core/data/key.h"
#include "core/base/strmap.h"
#include "core/expr/agg/fsum.h"
#include "core/expr/regex/regex.h"
#include "core/plan/bind/rules.h"

struct dtx_rule_key { /* one key of order_by */
	const char *col;
	bool desc;
	int nulls, collate;
};
struct rule_bound {
	const struct dtx_rule *rule;
	int32_t *col; /* the columns that it reads, in order */
	uint32_t ncols;
	struct dtx_key_order *order;          /* of `sorted`: per column */
	struct expect_value min, max, *value; /* of range and share: bounds; accepted values */
	const struct dtx_regex *re;
	struct dtx_bound *expr;
	unsigned table;   /* number of the other table in the binding; 0: none, or not known */
	int32_t to;       /* column of the other table; -1: none */
	const char *name; /* name for messages: "a, b" */
	const char *how;  /* what is expected */
	const char *at;   /* its place in the plan */
};
struct dtx_rules_bound {
	struct rule_bound *rule;
	size_t n;
	const struct dtx_schema *schema;
	int32_t step; /* -1: of the plan's `expect` */
};
extern const char *const dtx_rule_names[DTX_RULE_KINDS];

/* What one rule knows of its other table. */
struct dtx_rules_other {
	struct dtx_strmap seen; /* relationship: the keys */
	struct dtx_fsum sum;    /* of sum_equals */
	int64_t rows, bad;      /* bad: cells of the sum that are not numbers */
};
struct dtx_rules_side {
	const struct dtx_rules_bound *bound;
	struct dtx_rules_other *of; /* per rule */
	struct dtx_buf key;
};
#define DTX_RULE_UNIQUE_MAX ((uint32_t)1 << 26)
#define DTX_RULE_TEXT_MAX   ((size_t)1 << 24)

/* --- running --- */

/* of `sorted`: the first and the last key of a batch, since batches come in any order */
struct segment {
	uint64_t seq, arrival;
	char *first, *last; /* sort keys */
	size_t nfirst, nlast;
	struct dtx_err place; /* place of the first row */
	uint64_t at;
};
struct state {
	int64_t bad;
	struct dtx_strmap seen;
	struct dtx_fsum sum, other;
	struct segment *segment;
	size_t nsegments, cap_segments;
	struct dtx_rematch *match;
	struct dtx_err where; /* place of the first row that broke it */
	uint64_t where_at;
	struct rule_sample *sample; /* the first rows that broke it, in order */
	uint32_t nsamples;
};
struct dtx_rules_run {
	const struct dtx_rules_bound *bound;
	const struct dtx_rules_side *side; /* NULL: no rule refers to another table */
	struct dtx_arena arena;            /* holds the matchers */
	struct state *state;
	int64_t rows;
	uint64_t arrivals;
	struct dtx_buf text, key; /* the text of one cell, the key of one row */
};

/* The columns of one rule in the current batch. */
struct view {
	struct dtx_rules_run *run;
	const struct rule_bound *rule;
	struct state *state;
	struct dtx_batch *batch;
	struct dtx_column **col;
	struct dtx_column *truth; /* of an expression */
	struct dtx_err *err;
	enum dtx_code rc; /* failure of a function on a row: out of memory or of room */
};

struct verdict {
	const struct dtx_rules_run *run;
	const struct rule_bound *rule;
	struct state *state;
	bool pass;
	struct dtx_buf expected, actual;
};
/* Notes a row that broke its rule, if it is among the first. */
enum dtx_code dtx_rules_sample(struct view *v, uint32_t row, uint64_t at);
/* Puts the noted rows, and how many broke the rule, into `where`. */
enum dtx_code dtx_rules_samples(const struct state *s, struct dtx_err *where, struct dtx_err *err);
/* relationship: whether the value is not in the other table. */
bool dtx_rules_row_stray(struct view *v, uint32_t row);
void dtx_rules_verdict_equal(struct verdict *v);
/* The sum of the other table. What it says about cells that are not numbers goes to v->actual. */
double dtx_rules_other_sum(const struct verdict *v, int64_t *bad);

#endif
