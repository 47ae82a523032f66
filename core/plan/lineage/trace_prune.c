/* Removes row numbers that are not used, and steps whose result is not read, from the traced
 * plan. */
#include <stdlib.h>
#include <string.h>

#include "core/plan/lineage/trace_parts.h"

struct prune {
	struct trace *t;
	json_t *need;  /* {table: bits of the row numbers that its readers use} */
	json_t *has;   /* {table: bits of the row numbers that it has} */
	json_t *other; /* {table: the table that replaced it} */
};

static const char number_prefix[] = "dtx_r";

/* The bit of a row number's column; -1: it is another column. */
static int prune_bit(const char *name)
{
	char *end;
	long bit;

	if (!name || strncmp(name, number_prefix, strlen(number_prefix)) != 0)
		return -1;
	bit = strtol(name + strlen(number_prefix), &end, 10);
	return end != name + strlen(number_prefix) && !*end && bit < TRACE_BITS ? (int)bit : -1;
}

static uint64_t prune_text(const char *text)
{
	uint64_t bits = 0;
	long bit;

	while ((text = strstr(text, number_prefix)) != NULL) {
		text += strlen(number_prefix);
		bit = strtol(text, NULL, 10);
		if (*text >= '0' && *text <= '9' && bit < TRACE_BITS)
			bits |= (uint64_t)1 << bit;
	}
	return bits;
}

/* The row numbers that a step names anywhere in its parameters. */
static uint64_t prune_named(const json_t *value)
{
	uint64_t bits = 0;
	const char *key;
	json_t *one;
	size_t i;

	if (json_is_string(value))
		return prune_text(json_string_value(value));
	json_array_foreach((json_t *)(uintptr_t)value, i, one) bits |= prune_named(one);
	json_object_foreach((json_t *)(uintptr_t)value, key, one) bits |= prune_named(one);
	return bits;
}

static uint64_t prune_bits(const json_t *of, const char *table)
{
	return (uint64_t)dtx_json_int(of, table, 0);
}

static void prune_add(struct prune *p, json_t *to, const json_t *table, uint64_t bits)
{
	json_t *one;
	size_t i;

	if (json_is_string(table) &&
	    !dtx_json_set(
		    to, json_string_value(table),
		    json_integer((json_int_t)(prune_bits(to, json_string_value(table)) | bits))))
		p->t->failed = true;
	json_array_foreach((json_t *)(uintptr_t)table, i, one) prune_add(p, to, one, bits);
}

/* Whether the step has a list of columns with only names, no patterns. */
static bool prune_lists(const json_t *step)
{
	enum dtx_op_values values = dtx_trace_made_facts(step).values;
	json_t *one;
	size_t i;

	if (values != DTX_VALUES_LISTED && values != DTX_VALUES_UNLISTED)
		return false;
	json_array_foreach(json_object_get(step, "cols"), i, one)
	{
		if (!json_is_string(one))
			return false;
	}
	return true;
}

static int prune_makes(const json_t *step)
{
	int bit = prune_bit(dtx_json_text(step, "as", NULL));

	return bit >= 0 && dtx_trace_made_facts(step).rows == DTX_ROWS_SAME ? bit : -1;
}

/* Whether the step makes new rows that do not have the columns of the old ones. */
static bool prune_is_barrier(const json_t *step)
{
	enum dtx_op_rows rows = dtx_trace_made_facts(step).rows;

	return rows == DTX_ROWS_GROUPED || rows == DTX_ROWS_WIDER || rows == DTX_ROWS_WHOLE;
}

static bool prune_is_semi(const json_t *step)
{
	return dtx_str_in_list("semi,anti", dtx_json_text(step, "how", ""));
}

static void prune_ask(struct prune *p, const json_t *step)
{
	uint64_t asked = prune_bits(p->need, dtx_json_text(step, "out", "")), named = 0;
	int made = prune_makes(step);

	if (made >= 0)
		asked &= ~((uint64_t)1 << made);
	else if (!prune_lists(step))
		named = prune_named(step);
	if (prune_is_barrier(step))
		asked = 0;
	prune_add(p, p->need, json_object_get(step, "in"), asked | named);
	prune_add(p, p->need, json_object_get(step, "with"),
	          prune_is_semi(step) ? named : asked | named);
}

/* --- what is left --- */

static const char *prune_other(const struct prune *p, const char *name)
{
	const char *other;

	while ((other = dtx_json_text(p->other, name, NULL)) != NULL)
		name = other;
	return name;
}

static void prune_point(struct prune *p, json_t *step, const char *member)
{
	json_t *at = json_object_get(step, member);

	if (json_is_string(at) &&
	    !dtx_json_set(step, member, json_string(prune_other(p, json_string_value(at)))))
		p->t->failed = true;
	at = json_object_get(step, member); /* the old one is free */
	for (size_t i = 0; i < json_array_size(at); i++) {
		json_t *one = json_array_get(at, i);

		if (json_is_string(one) &&
		    json_array_set_new(at, i, json_string(prune_other(p, json_string_value(one)))) <
		            0)
			p->t->failed = true;
	}
}

static uint64_t prune_had(const struct prune *p, const json_t *step)
{
	const json_t *with = json_object_get(step, "with");
	uint64_t had = prune_bits(p->has, dtx_json_text(step, "in", ""));

	if (prune_is_barrier(step))
		return 0;
	if (prune_is_semi(step))
		return had;
	if (json_is_string(with))
		had |= prune_bits(p->has, json_string_value(with));
	for (size_t i = 0; i < json_array_size(with); i++)
		had |= prune_bits(p->has, json_string_value(json_array_get(with, i)));
	return had;
}

/* Removes row numbers from a list that do not exist or are not used; returns those that stay. */
static uint64_t prune_list(json_t *cols, uint64_t keep)
{
	uint64_t left = 0;

	for (size_t i = json_array_size(cols); i-- > 0;) {
		int bit = prune_bit(json_string_value(json_array_get(cols, i)));

		if (bit < 0)
			continue;
		if (keep >> bit & 1)
			left |= (uint64_t)1 << bit;
		else
			json_array_remove(cols, i);
	}
	return left;
}

/* Whether a filter only gives a table a second name. An output of a plan cannot be an input
 * directly, so such a step is kept for outputs. */
static bool prune_same(const struct prune *p, const json_t *step)
{
	const char *in = prune_other(p, dtx_json_text(step, "in", ""));

	return dtx_trace_made_facts(step).rows == DTX_ROWS_FILTERED &&
	       !strcmp(dtx_json_text(step, "where", ""), "true") &&
	       (dtx_trace_made_by(p->t->steps, in) ||
	        !dtx_json_find(p->t->outputs, "table", dtx_json_text(step, "out", "")));
}

/* Returns false if the step is not needed because its input can replace its result. */
static bool prune_step(struct prune *p, json_t *step)
{
	const char *out = dtx_json_text(step, "out", "");
	json_t *cols = json_object_get(step, "cols");
	uint64_t asked = prune_bits(p->need, out), has;
	int made = prune_makes(step);

	prune_point(p, step, "in");
	prune_point(p, step, "with");
	has = prune_had(p, step);
	if (prune_same(p, step))
		return false;
	if (made >= 0) {
		if (!(asked >> made & 1))
			return false;
		has |= (uint64_t)1 << made;
	} else if (prune_lists(step) && dtx_trace_made_facts(step).values == DTX_VALUES_LISTED) {
		has = prune_list(cols, has & asked);
	} else if (prune_lists(step)) {
		has &= ~prune_list(cols, has);
		if (!json_array_size(cols))
			return false;
	} else {
		has |= prune_named(step) & asked;
	}
	prune_add(p, p->has, json_object_get(step, "out"), has);
	return true;
}

static void prune_numbers(struct prune *p)
{
	json_t *steps = p->t->steps, *step;
	size_t i;

	for (i = 1; p->t->keeps && i < json_array_size(p->t->outputs); i++)
		prune_add(p, p->need, json_object_get(json_array_get(p->t->outputs, i), "table"),
		          UINT64_MAX);
	for (i = json_array_size(steps); i-- > 0;)
		prune_ask(p, json_array_get(steps, i));
	for (i = 0; i < json_array_size(steps);) {
		step = json_array_get(steps, i);
		if (prune_step(p, step)) {
			i++;
			continue;
		}
		if (!dtx_json_set(p->other, dtx_json_text(step, "out", ""),
		                  json_incref(json_object_get(step, "in"))))
			p->t->failed = true;
		json_array_remove(steps, i);
	}
	json_array_foreach(p->t->outputs, i, step) prune_point(p, step, "table");
}

/* --- steps whose result is not read --- */

static void prune_unread(struct prune *p)
{
	json_t *steps = p->t->steps, *one;
	size_t i;

	json_object_clear(p->need);
	json_array_foreach(p->t->outputs, i, one)
		prune_add(p, p->need, json_object_get(one, "table"), 1);
	for (i = json_array_size(steps); i-- > 0;) {
		one = json_array_get(steps, i);
		if (prune_bits(p->need, dtx_json_text(one, "out", ""))) {
			prune_add(p, p->need, json_object_get(one, "in"), 1);
			prune_add(p, p->need, json_object_get(one, "with"), 1);
		} else {
			json_array_remove(steps, i);
		}
	}
}

void dtx_trace_prune(struct trace *t)
{
	struct prune p = { t, json_object(), json_object(), json_object() };

	if (p.need && p.has && p.other) {
		prune_unread(&p);
		json_object_clear(p.need);
		prune_numbers(&p);
	} else {
		t->failed = true;
	}
	json_decref(p.need);
	json_decref(p.has);
	json_decref(p.other);
}
