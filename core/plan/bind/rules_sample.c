/* Keeps the first rows that broke a rule: their places and what they hold. */

#include "core/base/memory/mem.h"
#include "core/data/cast/cast.h"
#include "core/plan/bind/rules_parts.h"

#define VALUE_MAX 80

struct rule_sample {
	uint64_t at; /* position among all rows */
	char cell[sizeof(((struct dtx_err *)0)->cell)];
	char value[VALUE_MAX + 1];
};

/* Inserts a row at position `at` into the samples, which are in order. NULL: it is too late. */
static struct rule_sample *make_room(struct state *s, uint32_t max, uint64_t at)
{
	uint32_t i = s->nsamples;

	if (i == max && s->sample[i - 1].at < at)
		return NULL;
	if (i == max)
		i--;
	else
		s->nsamples++;
	for (; i > 0 && s->sample[i - 1].at > at; i--)
		s->sample[i] = s->sample[i - 1];
	return &s->sample[i];
}

/* Prints the cells of the rule's columns. */
static enum dtx_code print_value(const struct view *v, uint32_t row, char *out)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_RULE_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < v->rule->ncols && text.len <= VALUE_MAX; i++) {
		dtx_buf_add(&text, i ? ", " : "");
		if (!dtx_column_is_null(v->col[i], row))
			dtx_cast_print(v->col[i], row, &text);
	}
	rc = dtx_buf_check(&text, "a rule", v->err);
	if (rc == DTX_OK)
		dtx_str_copy(out, VALUE_MAX + 1, dtx_buf_str(&text));
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_rules_sample(struct view *v, uint32_t row, uint64_t at)
{
	uint32_t max = (uint32_t)v->rule->rule->sample;
	struct dtx_err where = DTX_ERR_INIT, *err = v->err;
	struct rule_sample *s;
	enum dtx_code rc = DTX_OK;

	/* recency counts the rows that keep the rule, so there is no row to show */
	if (!max || v->rule->rule->kind == DTX_RULE_RECENCY)
		return DTX_OK;
	if (!v->state->sample) {
		v->state->sample = dtx_mem_zalloc(max, sizeof(*v->state->sample));
		if (!v->state->sample)
			DTX_FAIL_MEM(err);
	}
	s = make_room(v->state, max, at);
	if (!s)
		goto out;
	dtx_batch_set_position(v->batch, row, -1, &where);
	*s = (struct rule_sample){ .at = at };
	dtx_str_copy(s->cell, sizeof(s->cell), dtx_str_of(where.cell));
	DTX_TRY(print_value(v, row, s->value));
out:
	return rc;
}

enum dtx_code dtx_rules_samples(const struct state *s, struct dtx_err *where, struct dtx_err *err)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	enum dtx_code rc = DTX_OK;

	if (!s->nsamples)
		return DTX_OK;
	dtx_buf_add(&out, "{\"samples\":[");
	for (uint32_t i = 0; i < s->nsamples; i++) {
		dtx_buf_add(&out, i ? ",{\"cell\":" : "{\"cell\":");
		dtx_buf_json(&out, dtx_str_of(s->sample[i].cell));
		dtx_buf_add(&out, ",\"value\":");
		dtx_buf_json(&out, dtx_str_of(s->sample[i].value));
		dtx_buf_add(&out, "}");
	}
	dtx_buf_add(&out, "]}");
	DTX_TRY(dtx_buf_check(&out, "a rule", err));
	dtx_err_more(where, dtx_buf_steal(&out));
	where->count = s->bad;
out:
	dtx_buf_clear(&out);
	return rc;
}

void dtx_rules_place(struct dtx_err *err, struct dtx_err *where)
{
	if (!err)
		return;
	dtx_err_place(err, where);
	err->count = where->count;
	if (where->more)
		dtx_err_more(err, where->more);
	where->more = NULL;
}
