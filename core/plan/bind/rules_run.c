/* Feeds rules with batches, and gives their verdicts.
 *
 * Batches come in any order, so each state is made such that order does not matter: counts, sums
 * without rounding (core/expr/agg/fsum.h), the smallest position of a bad row, and for `sorted` the
 * first and last key of each batch, which are compared in the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/base/strmap.h"
#include "core/data/cast/cast.h"
#include "core/expr/agg/fsum.h"
#include "core/plan/bind/rules_parts.h"

enum dtx_code dtx_rules_start(const struct dtx_rules_bound *bound,
                              const struct dtx_rules_side *side, struct dtx_rules_run **out,
                              struct dtx_err *err)
{
	struct dtx_rules_run *run = dtx_mem_zalloc(1, sizeof(*run));
	enum dtx_code rc = DTX_OK;

	if (!run)
		DTX_FAIL_MEM(err);
	run->bound = bound;
	run->side = side;
	dtx_buf_init(&run->text, DTX_RULE_TEXT_MAX);
	dtx_buf_init(&run->key, DTX_RULE_TEXT_MAX);
	run->state = dtx_mem_zalloc(bound->n + 1, sizeof(*run->state));
	if (!run->state)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < bound->n; i++) {
		run->state[i].where = (struct dtx_err)DTX_ERR_INIT;
		if (!bound->rule[i].re)
			continue;
		run->state[i].match = dtx_rematch_new(&run->arena, bound->rule[i].re);
		if (!run->state[i].match)
			DTX_FAIL_MEM(err);
	}
	*out = run;
	run = NULL;
out:
	dtx_rules_free(run);
	return rc;
}

void dtx_rules_free(struct dtx_rules_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; run->state && i < run->bound->n; i++) {
		struct state *s = &run->state[i];

		for (size_t k = 0; k < s->nsegments; k++) {
			dtx_mem_free(s->segment[k].first);
			dtx_mem_free(s->segment[k].last);
		}
		dtx_mem_free(s->segment);
		dtx_strmap_clear(&s->seen);
		dtx_fsum_free(&s->sum);
		dtx_fsum_free(&s->other);
		dtx_err_clear(&s->where);
		dtx_mem_free(s->sample);
	}
	dtx_mem_free(run->state);
	dtx_buf_clear(&run->text);
	dtx_buf_clear(&run->key);
	dtx_arena_clear(&run->arena);
	dtx_mem_free(run);
}

/* --- one row: true when it breaks the rule --- */

static bool row_null(struct view *v, uint32_t row)
{
	for (uint32_t i = 0; i < v->rule->ncols; i++)
		if (dtx_column_is_null(v->col[i], row))
			return true;
	return false;
}

static bool row_repeats(struct view *v, uint32_t row)
{
	struct dtx_buf *key = &v->run->key;
	uint32_t fresh = (uint32_t)v->state->seen.n, found = fresh;

	if (fresh >= DTX_RULE_UNIQUE_MAX) {
		v->rc = dtx_err_set(v->err, DTX_E_ROW_LIMIT, __FILE__, __LINE__,
		                    "unique is checked for at most %u values", DTX_RULE_UNIQUE_MAX);
		return false;
	}
	dtx_buf_reset(key);
	dtx_key_equal(v->col, v->rule->ncols, row, key);
	if (!dtx_buf_ok(key) || !dtx_strmap_put(&v->state->seen, dtx_buf_str(key), fresh, &found))
		v->rc = DTX_E_NO_MEMORY;
	return found != fresh;
}

static bool row_other_value(struct view *v, uint32_t row)
{
	if (dtx_column_is_null(v->col[0], row))
		return false;
	for (size_t i = 0; i < v->rule->rule->values.n; i++)
		if (!v->rule->value[i].null &&
		    dtx_expect_compare(v->col[0], row, &v->rule->value[i], &v->run->text) == 0)
			return false;
	return true;
}

static bool row_outside(struct view *v, uint32_t row)
{
	const struct rule_bound *r = v->rule;

	if (dtx_column_is_null(v->col[0], row))
		return false;
	return (r->min.set && dtx_expect_compare(v->col[0], row, &r->min, &v->run->text) < 0) ||
	       (r->max.set && dtx_expect_compare(v->col[0], row, &r->max, &v->run->text) > 0);
}

static bool row_differs(struct view *v, uint32_t row)
{
	struct dtx_buf *text = &v->run->text;

	if (dtx_column_is_null(v->col[0], row))
		return false;
	dtx_buf_reset(text);
	dtx_cast_print(v->col[0], row, text);
	return !dtx_rematch_test(v->state->match, dtx_buf_str(text));
}

static bool row_untrue(struct view *v, uint32_t row)
{
	return dtx_column_is_null(v->truth, row) || v->truth->type.type != DTX_T_BOOL ||
	       !dtx_bit(v->truth->v.bits, row);
}

/* recency counts the rows that keep the rule: one is enough */
static bool row_true(struct view *v, uint32_t row)
{
	return !row_untrue(v, row);
}

/* Nulls add nothing; a cell that is not a number breaks the rule. */
static bool row_sum(struct view *v, uint32_t row)
{
	struct dtx_fsum *sum[] = { &v->state->sum, &v->state->other };
	bool bad = false;
	double x;

	for (uint32_t i = 0; i < v->rule->ncols && i < DTX_COUNT(sum); i++) {
		if (dtx_column_is_null(v->col[i], row))
			continue;
		if (!dtx_expect_number(v->col[i], row, &x))
			bad = true;
		else if (!dtx_fsum_add(sum[i], x))
			v->rc = DTX_E_NO_MEMORY;
	}
	return bad;
}

/* The position of a row among all rows. */
static uint64_t position(const struct view *v, uint32_t row)
{
	return v->batch->seq << 16 | row;
}

static void blame_row(const struct view *v, uint32_t row, struct dtx_err *place)
{
	*place = (struct dtx_err)DTX_ERR_INIT;
	dtx_batch_set_position(v->batch, row, v->rule->ncols ? v->rule->col[0] : -1, place);
}

/* Whether the row has the smallest position so far. The row is already counted in `bad`. */
static bool is_first(const struct state *s, uint64_t at)
{
	return s->bad <= 1 || at < s->where_at;
}

static void copy_key(struct view *v, char **to, size_t *len)
{
	const struct dtx_buf *key = &v->run->key;
	char *copy = dtx_mem_alloc(key->len + 1, 1);

	if (!copy) {
		v->rc = DTX_E_NO_MEMORY;
		return;
	}
	if (key->len)
		memcpy(copy, key->ptr, key->len);
	dtx_mem_free(*to);
	*to = copy;
	*len = key->len;
}

static int compare_keys(const char *a, size_t na, const char *b, size_t nb)
{
	int order = memcmp(a, b, DTX_MIN(na, nb));

	return order ? order : (na > nb) - (na < nb);
}

/* Compares rows within the batch; seams between batches are compared in the end. */
static bool row_misplaced(struct view *v, uint32_t row)
{
	struct segment *s = &v->state->segment[v->state->nsegments - 1];
	struct dtx_buf *key = &v->run->key;
	bool bad;

	dtx_buf_reset(key);
	for (uint32_t i = 0; i < v->rule->ncols; i++)
		dtx_key_sort(v->col[i], v->rule->order[i], row, key);
	if (!dtx_buf_ok(key)) {
		v->rc = DTX_E_NO_MEMORY;
		return false;
	}
	bad = s->last && compare_keys(s->last, s->nlast, dtx_buf_text(key), dtx_buf_len(key)) > 0;
	if (!s->first) {
		copy_key(v, &s->first, &s->nfirst);
		s->at = position(v, row);
		blame_row(v, row, &s->place);
	}
	copy_key(v, &s->last, &s->nlast);
	return bad;
}

static bool (*const row_breaks[DTX_RULE_KINDS])(struct view *v, uint32_t row) = {
	[DTX_RULE_NOT_NULL] = row_null,
	[DTX_RULE_UNIQUE] = row_repeats,
	[DTX_RULE_ACCEPTED] = row_other_value,
	[DTX_RULE_RANGE] = row_outside,
	[DTX_RULE_MATCHES] = row_differs,
	[DTX_RULE_EXPRESSION] = row_untrue,
	[DTX_RULE_SUM_EQUALS] = row_sum,
	[DTX_RULE_SORTED] = row_misplaced,
	[DTX_RULE_SHARE] = row_null,
	[DTX_RULE_RECENCY] = row_true,
	[DTX_RULE_RELATIONSHIP] = dtx_rules_row_stray,
};

/* --- one batch --- */

static enum dtx_code open_view(struct view *v)
{
	struct dtx_eval_counts counts = { 0 };
	struct dtx_column *made = NULL;
	struct dtx_err *err = v->err;
	enum dtx_code rc = DTX_OK;

	v->col = dtx_mem_zalloc((size_t)v->rule->ncols + 1, sizeof(struct dtx_column *));
	if (!v->col)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < v->rule->ncols; i++) {
		DTX_ASSERT(v->batch->col[v->rule->col[i]], err);
		DTX_TRY(dtx_batch_value(v->batch, (uint32_t)v->rule->col[i], &v->col[i], err));
	}
	if (v->rule->expr) {
		DTX_TRY(dtx_eval(v->rule->expr, v->batch, &made, &counts, err));
		DTX_TRY(dtx_column_flat(made, &v->truth, err));
	}
	if (v->rule->rule->kind == DTX_RULE_SORTED) {
		struct state *s = v->state;

		if (!dtx_mem_reserve(&s->segment, &s->cap_segments, s->nsegments + 1,
		                     sizeof(*s->segment)))
			DTX_FAIL_MEM(err);
		s->segment[s->nsegments++] =
			(struct segment){ .seq = v->batch->seq, .arrival = v->run->arrivals };
	}
out:
	dtx_column_unref(made);
	return rc;
}

static void blame(struct view *v, uint32_t row)
{
	struct state *s = v->state;

	if (!is_first(s, position(v, row)))
		return;
	s->where_at = position(v, row);
	blame_row(v, row, &s->where);
}

static enum dtx_code feed_rule(struct view *v)
{
	bool (*breaks)(struct view *, uint32_t) = row_breaks[v->rule->rule->kind];
	struct dtx_err *err = v->err;
	enum dtx_code rc = DTX_OK;

	if (!breaks)
		return DTX_OK;
	DTX_TRY(open_view(v));
	for (uint32_t k = 0; k < v->batch->nsel && v->rc == DTX_OK; k++) {
		uint32_t row = v->batch->sel ? v->batch->sel[k] : k;

		if (!breaks(v, row))
			continue;
		v->state->bad++;
		blame(v, row);
		if (v->rc == DTX_OK)
			v->rc = dtx_rules_sample(v, row, position(v, row));
	}
	if (v->rc == DTX_E_NO_MEMORY)
		DTX_FAIL_MEM(err);
	rc = v->rc;
	if (rc == DTX_OK)
		rc = dtx_buf_check(&v->run->text, "a rule", err);
out:
	dtx_column_unref(v->truth);
	dtx_mem_free(v->col);
	return rc;
}

enum dtx_code dtx_rules_batch(struct dtx_rules_run *run, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	run->rows += b->nsel;
	run->arrivals++;
	for (size_t i = 0; b->nsel && i < run->bound->n; i++) {
		struct view v = { .run = run,
			          .rule = &run->bound->rule[i],
			          .state = &run->state[i],
			          .batch = b,
			          .err = err };

		DTX_TRY(feed_rule(&v));
	}
out:
	return rc;
}

/* --- verdicts --- */

static void bounds(const struct rule_bound *r, const char *unit, struct dtx_buf *out)
{
	if (r->min.set)
		dtx_buf_printf(out, "at least %.*s%s", (int)DTX_MIN(r->min.text.len, (size_t)64),
		               r->min.text.ptr, r->max.set ? " and " : "");
	if (r->max.set)
		dtx_buf_printf(out, "at most %.*s", (int)DTX_MIN(r->max.text.len, (size_t)64),
		               r->max.text.ptr);
	dtx_buf_add(out, unit);
}

static void verdict_count(struct verdict *v)
{
	static const struct {
		const char *expected, *one, *many;
	} texts[DTX_RULE_KINDS] = {
		[DTX_RULE_NOT_NULL] = { "no nulls", "null", "nulls" },
		[DTX_RULE_UNIQUE] = { "no repeats", "repeat", "repeats" },
		[DTX_RULE_ACCEPTED] = { "listed values", "other value", "other values" },
		[DTX_RULE_RANGE] = { NULL, "value outside", "values outside" },
		[DTX_RULE_MATCHES] = { "", "other value", "other values" },
		[DTX_RULE_EXPRESSION] = { "", "row for which it is not true",
		                          "rows for which it is not true" },
		[DTX_RULE_RELATIONSHIP] = { "", "value without a match", "values without a match" },
		[DTX_RULE_SORTED] = { "rows in order", "row out of order", "rows out of order" },
	};
	int kind = v->rule->rule->kind;

	v->pass = v->state->bad <= v->rule->rule->max_failures;
	if (!texts[kind].expected)
		bounds(v->rule, "", &v->expected);
	else
		dtx_buf_add(&v->expected,
		            *texts[kind].expected ? texts[kind].expected : v->rule->how);
	dtx_buf_printf(&v->actual, "%lld %s in %lld rows", (long long)v->state->bad,
	               v->state->bad == 1 ? texts[kind].one : texts[kind].many,
	               (long long)v->run->rows);
}

static int by_place(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->arrival < y->arrival ? -1 : x->arrival > y->arrival;
}

static void verdict_sorted(struct verdict *v)
{
	struct state *s = v->state;

	if (s->nsegments)
		qsort(s->segment, s->nsegments, sizeof(*s->segment), by_place);
	for (size_t i = 1; i < s->nsegments; i++) {
		const struct segment *before = &s->segment[i - 1], *seg = &s->segment[i];

		if (compare_keys(before->last, before->nlast, seg->first, seg->nfirst) <= 0)
			continue;
		s->bad++;
		if (!is_first(s, seg->at))
			continue;
		s->where_at = seg->at;
		s->where = seg->place;
	}
	verdict_count(v);
}

static bool inside(const struct rule_bound *r, double x)
{
	return (!r->min.set || x >= r->min.num) && (!r->max.set || x <= r->max.num);
}

static void verdict_rows(struct verdict *v)
{
	v->pass = inside(v->rule, (double)v->run->rows);
	bounds(v->rule, " rows", &v->expected);
	dtx_buf_printf(&v->actual, "%lld rows", (long long)v->run->rows);
}

static void verdict_share(struct verdict *v)
{
	int64_t rows = v->run->rows, full = rows - v->state->bad;

	v->pass = rows == 0 || (double)full / (double)rows >= v->rule->min.num;
	dtx_buf_printf(&v->expected, "a share of %.*s without null", (int)v->rule->min.text.len,
	               v->rule->min.text.ptr);
	dtx_buf_printf(&v->actual, "%lld nulls in %lld rows", (long long)v->state->bad,
	               (long long)rows);
}

static void verdict_recency(struct verdict *v)
{
	v->pass = v->state->bad > 0;
	dtx_buf_add(&v->expected, v->rule->how);
	dtx_buf_printf(&v->actual, "%lld of %lld rows", (long long)v->state->bad,
	               (long long)v->run->rows);
}

static void verdict_sum(struct verdict *v)
{
	const struct dtx_rule *r = v->rule->rule;
	double have = dtx_fsum_round(&v->state->sum);
	double want = r->other ? dtx_fsum_round(&v->state->other) : json_number_value(r->value);
	int64_t bad = 0;
	char text[DTX_NUM_TEXT];

	if (r->with)
		want = dtx_rules_other_sum(v, &bad);
	v->pass = !v->state->bad && !bad && fabs(have - want) <= r->tol;
	dtx_buf_addn(&v->expected, text, dtx_num_print_json(text, want));
	if (r->other || r->with)
		dtx_buf_printf(&v->expected, ", %s", v->rule->how);
	dtx_buf_add(&v->actual, "the sum ");
	dtx_buf_addn(&v->actual, text, dtx_num_print_json(text, have));
	if (v->state->bad)
		dtx_buf_printf(&v->actual, " and %lld row%s without a number",
		               (long long)v->state->bad, v->state->bad == 1 ? "" : "s");
	if (bad)
		dtx_buf_printf(&v->actual, " and %lld of '%s' without a number", (long long)bad,
		               r->with);
}

static void verdict_type(struct verdict *v)
{
	struct dtx_typeref want, have, both;

	have = v->run->bound->schema->field[v->rule->col[0]].type;
	v->pass = have.type == DTX_T_NULL ||
	          (dtx_type_parse(dtx_str_of(v->rule->rule->type), &want) &&
	           dtx_type_widen(have, want, &both) && both.type == want.type);
	dtx_buf_add(&v->expected, v->rule->how);
	dtx_buf_printf(&v->actual, "type %s", dtx_type_name(have.type));
}

static void verdict_columns(struct verdict *v)
{
	const struct dtx_schema *s = v->run->bound->schema;
	const struct dtx_rule *r = v->rule->rule;
	const char *const *name = r->names.item;

	v->pass = !r->exact || s->nfields == r->names.n;
	for (size_t i = 0; i < r->names.n; i++) {
		int32_t at = dtx_schema_find(s, name[i]);

		if (at < 0)
			dtx_buf_printf(&v->actual, "%s'%s'", v->actual.len ? ", " : "no column ",
			               name[i]);
		v->pass = v->pass && at >= 0 && (!r->exact || (size_t)at == i);
	}
	dtx_buf_add(&v->expected, v->rule->how);
	if (!v->actual.len)
		dtx_buf_printf(&v->actual, "%u columns", s->nfields);
}

static void (*const verdicts[DTX_RULE_KINDS])(struct verdict *v) = {
	[DTX_RULE_NOT_NULL] = verdict_count,
	[DTX_RULE_UNIQUE] = verdict_count,
	[DTX_RULE_ACCEPTED] = verdict_count,
	[DTX_RULE_RANGE] = verdict_count,
	[DTX_RULE_MATCHES] = verdict_count,
	[DTX_RULE_EXPRESSION] = verdict_count,
	[DTX_RULE_ROW_COUNT] = verdict_rows,
	[DTX_RULE_COLUMNS] = verdict_columns,
	[DTX_RULE_TYPE] = verdict_type,
	[DTX_RULE_SUM_EQUALS] = verdict_sum,
	[DTX_RULE_SORTED] = verdict_sorted,
	[DTX_RULE_SHARE] = verdict_share,
	[DTX_RULE_RECENCY] = verdict_recency,
	[DTX_RULE_RELATIONSHIP] = verdict_count,
	[DTX_RULE_EQUAL_ROWS] = dtx_rules_verdict_equal,
};

static enum dtx_code put_verdict(struct verdict *v, json_t *checks, struct dtx_err *err)
{
	const struct dtx_rule *r = v->rule->rule;
	enum dtx_code rc = DTX_OK;
	json_t *row;

	DTX_TRY(dtx_buf_check(&v->expected, "a verdict", err));
	DTX_TRY(dtx_buf_check(&v->actual, "a verdict", err));
	row = json_pack("{s:s, s:s, s:s, s:s?, s:s, s:s}", "name", dtx_rule_names[r->kind],
	                "severity", r->severity ? "warn" : "error", "status",
	                v->pass ? "pass" : "fail", "col", v->rule->name, "expected",
	                dtx_buf_text(&v->expected), "actual", dtx_buf_text(&v->actual));
	if (json_array_append_new(checks, row) != 0)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

/* Adds a warning for a rule of severity warn that does not hold. */
static enum dtx_code warn(struct verdict *v, struct dtx_errlist *warnings, struct dtx_err *err)
{
	struct dtx_err w = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	dtx_err_set(&w, DTX_W_RESULT_NOTE, __FILE__, __LINE__, "%s: %s, expected %s",
	            dtx_rule_names[v->rule->rule->kind], dtx_buf_text(&v->actual),
	            dtx_buf_text(&v->expected));
	w.severity = DTX_SEV_WARNING;
	w.run_time = true;
	dtx_err_step(&w, v->run->bound->step, NULL);
	dtx_err_at(&w, v->rule->at);
	dtx_err_place(&w, &v->state->where);
	DTX_TRY(dtx_rules_samples(v->state, &w, err));
	if (!dtx_errlist_take(warnings, &w))
		DTX_FAIL_MEM(err);
out:
	dtx_err_clear(&w);
	return rc;
}

enum dtx_code dtx_rules_finish(struct dtx_rules_run *run, json_t *checks, int64_t *failed,
                               struct dtx_err *where, struct dtx_errlist *warnings,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool first = true;

	for (size_t i = 0; i < run->bound->n; i++) {
		struct verdict v = { .run = run,
			             .rule = &run->bound->rule[i],
			             .state = &run->state[i] };
		bool bad;

		dtx_buf_init(&v.expected, 1 << 16);
		dtx_buf_init(&v.actual, 1 << 16);
		verdicts[v.rule->rule->kind](&v);
		bad = !v.pass && !v.rule->rule->severity;
		*failed += bad;
		if (bad && first && where) {
			dtx_err_copy(where, &v.state->where);
			dtx_err_at(where, v.rule->at);
			rc = dtx_rules_samples(v.state, where, err);
		}
		first = first && !bad;
		if (rc == DTX_OK)
			rc = put_verdict(&v, checks, err);
		if (rc == DTX_OK && warnings && !v.pass && !bad)
			rc = warn(&v, warnings, err);
		dtx_buf_clear(&v.expected);
		dtx_buf_clear(&v.actual);
		DTX_TRY(rc);
	}
out:
	return rc;
}
