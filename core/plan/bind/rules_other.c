/* Rules that refer to another table: what they keep of it, and their verdicts. */
#include "core/base/thread/cancel.h"
#include "core/base/memory/mem.h"
#include "core/plan/bind/rules_parts.h"

size_t dtx_rules_tables(const struct dtx_rule *rule, size_t n, const char **names, size_t *at,
                        size_t max)
{
	size_t found = 0;

	for (size_t i = 0; i < n && found < max; i++) {
		size_t k = 0;

		if (dtx_param_is_hole(rule[i].with))
			continue;
		while (k < found && strcmp(names[k], rule[i].with) != 0)
			k++;
		if (k < found)
			continue;
		if (at)
			at[found] = i;
		names[found++] = rule[i].with;
	}
	return found;
}

/* --- feeding --- */

enum dtx_code dtx_rules_side_new(const struct dtx_rules_bound *bound, struct dtx_rules_side **out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_rules_side *side = dtx_mem_zalloc(1, sizeof(*side));

	if (!side)
		DTX_FAIL_MEM(err);
	side->bound = bound;
	dtx_buf_init(&side->key, DTX_BUF_TEXT_MAX);
	side->of = dtx_mem_zalloc(bound->n + 1, sizeof(*side->of));
	if (!side->of)
		DTX_FAIL_MEM(err);
	*out = side;
	side = NULL;
out:
	dtx_rules_side_free(side);
	return rc;
}

void dtx_rules_side_free(struct dtx_rules_side *side)
{
	if (!side)
		return;
	for (size_t i = 0; side->of && i < side->bound->n; i++) {
		dtx_strmap_clear(&side->of[i].seen);
		dtx_fsum_free(&side->of[i].sum);
	}
	dtx_mem_free(side->of);
	dtx_buf_clear(&side->key);
	dtx_mem_free(side);
}

static enum dtx_code put_key(struct dtx_rules_other *o, struct dtx_str key, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t fresh = (uint32_t)o->seen.n, found;

	if (fresh >= DTX_RULE_UNIQUE_MAX)
		DTX_FAIL(err, DTX_E_ROW_LIMIT, "relationship takes at most %u values",
		         DTX_RULE_UNIQUE_MAX);
	if (!dtx_strmap_put(&o->seen, key, fresh, &found))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code add_cell(struct dtx_rules_side *side, const struct rule_bound *r,
                              struct dtx_rules_other *o, struct dtx_column *c, uint32_t row,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	double x;

	if (dtx_column_is_null(c, row))
		goto out;
	if (r->rule->kind == DTX_RULE_RELATIONSHIP) {
		dtx_buf_reset(&side->key);
		dtx_key_equal(&c, 1, row, &side->key);
		DTX_TRY(dtx_buf_check(&side->key, "a key", err));
		DTX_TRY(put_key(o, dtx_buf_str(&side->key), err));
	} else if (!dtx_expect_number(c, row, &x)) {
		o->bad++;
	} else if (!dtx_fsum_add(&o->sum, x)) {
		DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

enum dtx_code dtx_rules_side_batch(struct dtx_rules_side *side, unsigned k, struct dtx_batch *b,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < side->bound->n; i++) {
		const struct rule_bound *r = &side->bound->rule[i];
		struct dtx_column *c = NULL;

		if (r->table != k)
			continue;
		side->of[i].rows += b->nsel;
		if (r->to < 0)
			continue;
		DTX_TRY(dtx_batch_value(b, (uint32_t)r->to, &c, err));
		for (uint32_t n = 0; n < b->nsel; n++)
			DTX_TRY(add_cell(side, r, &side->of[i], c, b->sel ? b->sel[n] : n, err));
	}
out:
	return rc;
}

enum dtx_code dtx_rules_side_merge(struct dtx_rules_side *to, struct dtx_rules_side *from,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < to->bound->n; i++) {
		struct dtx_rules_other *o = &to->of[i], *f = &from->of[i];

		for (size_t k = 0; k < f->seen.n; k++) {
			DTX_TRY(dtx_cancel_row(k, err));
			DTX_TRY(put_key(o, f->seen.entry[k].key, err));
		}
		if (!dtx_fsum_merge(&o->sum, &f->sum))
			DTX_FAIL_MEM(err);
		o->rows += f->rows;
		o->bad += f->bad;
	}
out:
	return rc;
}

/* --- judging --- */

static const struct dtx_rules_other *other_of(const struct dtx_rules_run *run,
                                              const struct rule_bound *rule)
{
	return &run->side->of[rule - run->bound->rule];
}

bool dtx_rules_row_stray(struct view *v, uint32_t row)
{
	struct dtx_buf *key = &v->run->key;

	if (dtx_column_is_null(v->col[0], row))
		return false;
	dtx_buf_reset(key);
	dtx_key_equal(v->col, 1, row, key);
	if (!dtx_buf_ok(key))
		v->rc = DTX_E_NO_MEMORY;
	return dtx_strmap_get(&other_of(v->run, v->rule)->seen, dtx_buf_str(key)) ==
	       DTX_STRMAP_NONE;
}

void dtx_rules_verdict_equal(struct verdict *v)
{
	int64_t rows = other_of(v->run, v->rule)->rows;

	v->pass = v->run->rows == rows;
	dtx_buf_printf(&v->expected, "%lld rows, as many as in '%s'", (long long)rows,
	               v->rule->rule->with);
	dtx_buf_printf(&v->actual, "%lld rows", (long long)v->run->rows);
}

double dtx_rules_other_sum(const struct verdict *v, int64_t *bad)
{
	struct dtx_fsum *sum = (struct dtx_fsum *)(uintptr_t)&other_of(v->run, v->rule)->sum;

	*bad = other_of(v->run, v->rule)->bad;
	return dtx_fsum_round(sum);
}
