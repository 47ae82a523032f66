/* Rewrites parameters of other tools that need more than another name. The parameter rows then read
 * our own form, and json_pointer.c finds the place as written. */
#include <stdlib.h>

#include "core/plan/parse/alias_parts.h"

enum dtx_code dtx_rewrite_refuse(const struct rewrite *r, enum dtx_code code, const char *key,
                                 const char *text)
{
	char at[sizeof(((struct dtx_err *)0)->at)];

	snprintf(at, sizeof(at), "%s", r->st->at);
	dtx_json_pointer_add(at, sizeof(at), key);
	return dtx_part_fail(r->p, code, at, r->err, "%s", text);
}

const char *dtx_rewrite_written(const struct rewrite *r, const char *name)
{
	const char *key = dtx_part_written(r->st->op->params, r->st->op->nparams, r->object,
	                                   dtx_str_of(name), NULL);

	return key && json_object_get(r->object, key) ? key : NULL;
}

static bool is_name(const json_t *v)
{
	return json_is_string(v) && json_string_length(v) > 0;
}

size_t dtx_rewrite_names(const json_t *v)
{
	if (!json_is_array(v))
		return is_name(v);
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!is_name(json_array_get(v, i)))
			return 0;
	return json_array_size(v);
}

static json_t *nth_name(const json_t *v, size_t i)
{
	return json_incref(json_is_array(v) ? json_array_get(v, i) : (json_t *)(uintptr_t)v);
}

static json_t *key_pairs(const json_t *left, const json_t *right, size_t n)
{
	json_t *pairs = json_array();

	for (size_t i = 0; pairs && i < n; i++) {
		json_t *pair = json_pack("{s:o,s:o}", "left", nth_name(left, i), "right",
		                         nth_name(right, i));

		if (json_array_append_new(pairs, pair) != 0) {
			json_decref(pairs);
			return NULL;
		}
	}
	return pairs;
}

/* left_on and right_on become `on`. */
static enum dtx_code rewrite_keys(const struct rewrite *r, const json_t *value)
{
	json_t *left = json_object_get(r->object, "left_on");
	json_t *right = json_object_get(r->object, "right_on");
	size_t n = dtx_rewrite_names(left);
	enum dtx_code rc = DTX_OK;

	(void)value;
	if (!left || !right)
		DTX_TRY(dtx_rewrite_refuse(r, DTX_E_MISSING_PARAM, left ? "left_on" : "right_on",
		                           "left_on and right_on stand together"));
	else if (dtx_rewrite_written(r, "on") || dtx_rewrite_written(r, "using"))
		DTX_TRY(dtx_rewrite_refuse(r, DTX_E_PARAM_CONFLICT, "left_on",
		                           "'on' and 'left_on' are the same parameter"));
	else if (!n)
		DTX_TRY(dtx_rewrite_refuse(r, DTX_E_BAD_PARAM_TYPE, "left_on",
		                           "'left_on' must be column names"));
	else if (dtx_rewrite_names(right) != n)
		DTX_TRY(dtx_rewrite_refuse(r, DTX_E_BAD_PARAM_VALUE, "right_on",
		                           "'right_on' needs as many column names as 'left_on'"));
	else if (!dtx_json_set(r->object, "on", key_pairs(left, right, n)))
		rc = DTX_E_NO_MEMORY;
	json_object_del(r->object, "left_on");
	json_object_del(r->object, "right_on");
out:
	return rc;
}

/* suffixes becomes `suffix`. Left columns always keep their names here. */
static enum dtx_code rewrite_suffix(const struct rewrite *r, const json_t *value)
{
	json_t *last = json_array_get(value, json_array_size(value) - 1);

	if (dtx_rewrite_written(r, "suffix"))
		return dtx_rewrite_refuse(r, DTX_E_PARAM_CONFLICT, "suffixes",
		                          "'suffix' and 'suffixes' are the same parameter");
	if (!json_is_string(last))
		return dtx_rewrite_refuse(r, DTX_E_BAD_PARAM_TYPE, "suffixes",
		                          "'suffixes' is a list of texts");
	return json_object_set(r->object, "suffix", last) == 0 ? DTX_OK : DTX_E_NO_MEMORY;
}

/* A key with its direction. NULL: it has one already, or memory ran out (*rc). */
static json_t *directed(const json_t *key, bool ascending, enum dtx_code *rc)
{
	const char *text = json_string_value(key);
	json_t *out = text ? json_pack("{s:s}", "col", text) : json_copy((json_t *)(uintptr_t)key);

	*rc = DTX_OK;
	if (text ? text[0] == '-' : json_object_get(key, "desc") != NULL) {
		json_decref(out);
		return NULL;
	}
	if (out && !ascending && !dtx_json_set(out, "desc", json_true())) {
		json_decref(out);
		out = NULL;
	}
	*rc = out ? DTX_OK : DTX_E_NO_MEMORY;
	return out;
}

/* The opposite of a bool, or of each bool in a list; a new reference. */
static json_t *opposite(const json_t *v)
{
	json_t *list;

	if (!json_is_array(v))
		return json_boolean(!json_is_true(v));
	list = json_array();
	for (size_t i = 0; list && i < json_array_size(v); i++)
		json_array_append_new(list, json_boolean(!json_is_true(json_array_get(v, i))));
	return list;
}

static enum dtx_code refuse_bools(const struct rewrite *r, enum dtx_code code)
{
	char text[96];

	snprintf(text, sizeof(text), "'%s' is true or false, or a list of one for each key",
	         r->name);
	return dtx_rewrite_refuse(r, code, r->name, text);
}

static bool all_bools(const json_t *v)
{
	if (!json_is_array(v))
		return json_is_boolean(v);
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!json_is_boolean(json_array_get(v, i)))
			return false;
	return true;
}

static enum dtx_code direct_all(const struct rewrite *r, const json_t *ascending, const char *key,
                                json_t *keys)
{
	const json_t *by = json_object_get(r->object, key);
	size_t n = json_is_array(by) ? json_array_size(by) : 1;
	enum dtx_code rc = DTX_OK;

	if (json_is_array(ascending) && json_array_size(ascending) != n)
		return refuse_bools(r, DTX_E_BAD_PARAM_VALUE);
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_is_array(by) ? json_array_get(by, i) : by;
		const json_t *up =
			json_is_array(ascending) ? json_array_get(ascending, i) : ascending;
		json_t *made;

		if (!json_is_string(one) && !json_is_object(one))
			return DTX_OK; /* the parameter rows report what is wrong */
		made = directed(one, json_is_true(up), &rc);
		if (!made && rc == DTX_OK)
			return dtx_rewrite_refuse(r, DTX_E_PARAM_CONFLICT, r->name,
			                          "a key says its direction already");
		if (!made || json_array_append_new(keys, made) != 0)
			return DTX_E_NO_MEMORY;
	}
	return json_object_set(r->object, key, keys) == 0 ? DTX_OK : DTX_E_NO_MEMORY;
}

/* ascending becomes `desc` of each key. */
static enum dtx_code rewrite_ascending(const struct rewrite *r, const json_t *value)
{
	const char *key = dtx_rewrite_written(r, "by");
	json_t *keys;
	enum dtx_code rc;

	if (!all_bools(value))
		return refuse_bools(r, DTX_E_BAD_PARAM_TYPE);
	if (!key)
		return DTX_OK;
	keys = json_array();
	rc = keys ? direct_all(r, value, key, keys) : DTX_E_NO_MEMORY;
	json_decref(keys);
	return rc;
}

/* desc next to the keys becomes `desc` of each key. */
static enum dtx_code rewrite_descending(const struct rewrite *r, const json_t *value)
{
	json_t *ascending =
		all_bools(value) ? opposite(value) : json_incref((json_t *)(uintptr_t)value);
	enum dtx_code rc = ascending ? rewrite_ascending(r, ascending) : DTX_E_NO_MEMORY;

	json_decref(ascending);
	return rc;
}

/* lead counts the rows after this one, shift those before it, so n is negated. */
static enum dtx_code rewrite_lead(const struct rewrite *r, const json_t *value)
{
	const char *key = dtx_rewrite_written(r, "n");
	const json_t *n = key ? json_object_get(r->object, key) : NULL;
	json_int_t rows = n ? DTX_MAX(json_integer_value(n), -INT64_MAX) : 1;

	if (strcmp(json_string_value(value), "lead") != 0 || (n && !json_is_integer(n)))
		return DTX_OK;
	return dtx_json_set(r->object, key ? key : "n", json_integer(-rows)) ? DTX_OK
	                                                                     : DTX_E_NO_MEMORY;
}

/* "cols": true is an earlier spelling of "column": true. */
static enum dtx_code rewrite_totals(const struct rewrite *r, const json_t *value)
{
	const json_t *cols = json_object_get(r->object, "cols");

	(void)value;
	if (!json_is_boolean(cols))
		return DTX_OK;
	if (dtx_rewrite_written(r, "column"))
		return dtx_rewrite_refuse(r, DTX_E_PARAM_CONFLICT, "cols",
		                          "'column' says whether there is a column of sums; 'cols' "
		                          "names the columns to sum");
	if (json_object_set(r->object, "column", (json_t *)(uintptr_t)cols) != 0)
		return DTX_E_NO_MEMORY;
	json_object_del(r->object, "cols");
	return DTX_OK;
}

static const struct {
	const char *op, *name;
	enum dtx_code (*rewrite)(const struct rewrite *r, const json_t *value);
} rewrites[] = {
	{ "join", "left_on", rewrite_keys },          { "join", "right_on", rewrite_keys },
	{ "join", "suffixes", rewrite_suffix },       { "asof_join", "suffixes", rewrite_suffix },
	{ "asof_join", "left_on", rewrite_keys },     { "asof_join", "right_on", rewrite_keys },
	{ "range_join", "suffixes", rewrite_suffix }, { "sort", "ascending", rewrite_ascending },
	{ "sort", "desc", rewrite_descending },       { "sort", "descending", rewrite_descending },
	{ "lag_lead", "op", rewrite_lead },           { "derive", "op", dtx_rewrite_derive },
	{ "cast", "op", dtx_rewrite_cast },           { "group_by", "op", dtx_rewrite_group },
	{ "sort", "op", dtx_rewrite_sort },           { "filter", "op", dtx_rewrite_filter },
	{ "resample", "op", dtx_rewrite_every },      { "pad_time", "op", dtx_rewrite_every },
	{ "assert", "op", dtx_rewrite_assert },       { "add_totals", "op", rewrite_totals },
};

enum dtx_code dtx_part_rewrite(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                               json_t *object, struct dtx_err *err)
{
	struct rewrite r = { p, st, object, NULL, err };
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < DTX_COUNT(rewrites); i++) {
		const json_t *value = json_object_get(object, rewrites[i].name);

		if (!value || strcmp(rewrites[i].op, st->name) != 0)
			continue;
		r.name = rewrites[i].name;
		rc = rewrites[i].rewrite(&r, value);
		if (rc != DTX_OK)
			DTX_FAIL_MEM(err);
		json_object_del(object, rewrites[i].name);
	}
out:
	return rc;
}

/* --- presets of op aliases: left_join is join with how left --- */

static json_t *preset_value(struct dtx_str text)
{
	if (dtx_str_is(text, "true") || dtx_str_is(text, "false"))
		return json_boolean(dtx_str_is(text, "true"));
	return json_stringn(text.ptr, text.len);
}

/* Whether both are the same value, or `have` is a list that contains it. */
static bool agrees(const json_t *have, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(have); i++)
		if (json_equal(json_array_get(have, i), value))
			return true;
	return json_equal(have, value);
}

enum dtx_code dtx_part_preset(struct dtx_plan_parse *p, const struct dtx_plan_step *st,
                              json_t *object, const char *preset, struct dtx_err *err)
{
	struct dtx_str rest = dtx_str_of(preset), pair, key;
	struct rewrite r = { p, st, object, NULL, err };
	json_t *value = NULL;
	const char *have;
	char name[64];
	enum dtx_code rc = DTX_OK;

	if (!dtx_str_next(&rest, ',', &pair) || !dtx_str_next(&pair, '=', &key))
		goto out;
	dtx_str_copy(name, sizeof(name), key);
	value = preset_value(pair);
	if (!value)
		DTX_FAIL_MEM(err);
	have = dtx_rewrite_written(&r, name);
	if (have && !agrees(json_object_get(object, have), value))
		DTX_TRY(dtx_rewrite_refuse(&r, DTX_E_PARAM_CONFLICT, have,
		                           "the name of the operation says something else"));
	else if (!have && json_object_set(object, name, value) != 0)
		DTX_FAIL_MEM(err);
out:
	json_decref(value);
	return rc;
}

/* --- and back --- */

bool dtx_part_alias_place(const struct dtx_plan_step *st, const char *sub, char *out, size_t size)
{
	bool right = dtx_str_ends(dtx_str_of(sub), DTX_STR("/right"));
	const char *key = right ? "right_on" : "left_on";
	const json_t *value = json_object_get(st->json, key);

	if (st->op && dtx_rewrite_flat_place(st, sub, out, size))
		return true;
	if (!st->op || !dtx_str_in_list("join,asof_join", st->name) ||
	    strncmp(sub, "/on/", 4) != 0 || !value)
		return false;
	snprintf(out, size, "%s/%s", st->at, key);
	if (json_is_array(value))
		dtx_json_pointer_index(out, size, strtoul(sub + 4, NULL, 10));
	return true;
}
