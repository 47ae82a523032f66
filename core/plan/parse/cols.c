/* Parses column selectors and prints them, see cols.h. */
#include "core/plan/parse/cols.h"

#include "core/expr/regex/regex.h"

static const char *const type_names[] = { "number", "text", "bool", "date", "datetime" };

const struct dtx_cols dtx_cols_hole = { .holes = true };

static enum dtx_code parse_list(struct dtx_arena *a, const json_t *list, const char *pointer,
                                int depth, struct dtx_errlist *errs, struct dtx_cols **out,
                                struct dtx_err *err);

static enum dtx_code bad(struct dtx_err *err, enum dtx_code code, const char *at, const char *text)
{
	dtx_err_set(err, code, __FILE__, __LINE__, "%s", text);
	dtx_err_hint(err, "columns are \"a\", \"a..d\", \"*\", {\"regex\": \"^Q\"}, {\"type\": "
	                  "\"number\"}, {\"not\": [\"a\"]}; another name comes from a rename step");
	dtx_err_at(err, at);
	return code;
}

static enum dtx_code copy(struct dtx_arena *a, const json_t *text, const char **out,
                          struct dtx_err *err)
{
	*out = dtx_arena_strndup(a, json_string_value(text), json_string_length(text));
	return *out ? DTX_OK
	            : dtx_err_set(err, DTX_E_NO_MEMORY, __FILE__, __LINE__, "out of memory");
}

/* A selector that is a plain name. */
static enum dtx_code parse_name(struct dtx_arena *a, const json_t *v, const char *at,
                                struct dtx_col_item *it, struct dtx_err *err)
{
	it->kind = DTX_COL_NAME;
	if (!json_string_length(v))
		return bad(err, DTX_E_BAD_PARAM_VALUE, at, "a column selector is an empty name");
	return copy(a, v, &it->a, err);
}

static enum dtx_code parse_text(struct dtx_arena *a, const json_t *v, const char *at,
                                struct dtx_col_item *it, struct dtx_err *err)
{
	struct dtx_str s = { json_string_value(v), json_string_length(v) };
	ptrdiff_t dots = dtx_str_find(s, DTX_STR(".."), 1);
	enum dtx_code rc = DTX_OK;

	if (dtx_str_is(s, "*")) {
		it->kind = DTX_COL_ALL;
	} else if (dots > 0 && (size_t)dots + 2 < s.len) {
		it->kind = DTX_COL_RANGE;
		it->a = dtx_arena_strndup(a, s.ptr, (size_t)dots);
		it->b = dtx_arena_strndup(a, s.ptr + dots + 2, s.len - (size_t)dots - 2);
		if (!it->a || !it->b)
			DTX_FAIL_MEM(err);
	} else {
		DTX_TRY(parse_name(a, v, at, it, err));
	}
out:
	return rc;
}

static enum dtx_code parse_type(struct dtx_col_item *it, const json_t *v, const char *at,
                                struct dtx_err *err)
{
	const char *text = json_string_value(v);

	for (size_t i = 0; text && i < DTX_COUNT(type_names); i++)
		if (strcmp(type_names[i], text) == 0) {
			it->kind = DTX_COL_TYPE;
			it->a = type_names[i];
			return DTX_OK;
		}
	bad(err, DTX_E_BAD_PARAM_VALUE, at,
	    "a selector's type is number, text, bool, date or datetime");
	dtx_err_suggest(err, text ? text : "", type_names, DTX_COUNT(type_names));
	return DTX_E_BAD_PARAM_VALUE;
}

static enum dtx_code parse_range(struct dtx_arena *a, const json_t *v, const char *at,
                                 struct dtx_col_item *it, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	it->kind = DTX_COL_RANGE;
	if (json_array_size(v) != 2 || !json_is_string(json_array_get(v, 0)) ||
	    !json_is_string(json_array_get(v, 1)))
		return bad(err, DTX_E_BAD_PARAM_TYPE, at, "a range is a list of two column names");
	DTX_TRY(copy(a, json_array_get(v, 0), &it->a, err));
	DTX_TRY(copy(a, json_array_get(v, 1), &it->b, err));
out:
	return rc;
}

static enum dtx_code parse_regex(struct dtx_arena *a, const json_t *v, const char *at,
                                 struct dtx_col_item *it, struct dtx_err *err)
{
	struct dtx_regex *re = NULL;
	enum dtx_code rc = DTX_OK;

	it->kind = DTX_COL_REGEX;
	DTX_TRY(copy(a, v, &it->a, err));
	rc = dtx_regex_compile(a, dtx_str_of(it->a), &re, err);
	if (rc != DTX_OK)
		dtx_err_at(err, at);
	it->re = re;
out:
	return rc;
}

/* A selector that is an object with one known member, {"KEY": value}. */
static enum dtx_code parse_object(struct dtx_arena *a, const json_t *v, const char *at, int depth,
                                  struct dtx_errlist *errs, struct dtx_col_item *it,
                                  struct dtx_err *err)
{
	void *member = json_object_iter((json_t *)(uintptr_t)v);
	const char *key = member ? json_object_iter_key(member) : "";
	const json_t *value = member ? json_object_iter_value(member) : NULL;
	char below[128];
	struct dtx_cols *sub = NULL;
	enum dtx_code rc = DTX_OK;

	dtx_str_copy(below, sizeof(below), dtx_str_of(at));
	dtx_json_pointer_add(below, sizeof(below), key);
	if (json_object_size(v) != 1)
		return bad(
			err, DTX_E_BAD_PARAM_VALUE, at,
			"a selector object has one member: name, regex, type, range, all or not");
	if (strcmp(key, "name") == 0 && json_is_string(value))
		return parse_name(a, value, below, it, err);
	if (strcmp(key, "regex") == 0 && json_is_string(value))
		return parse_regex(a, value, below, it, err);
	if (strcmp(key, "type") == 0)
		return parse_type(it, value, below, err);
	if (strcmp(key, "range") == 0)
		return parse_range(a, value, below, it, err);
	if (strcmp(key, "all") == 0 && json_is_true(value)) {
		it->kind = DTX_COL_ALL;
		return DTX_OK;
	}
	if (strcmp(key, "not") != 0)
		return bad(err, DTX_E_BAD_PARAM_VALUE, below,
		           "no such selector; expected name, regex, type, range, all or not");
	it->kind = DTX_COL_NOT;
	DTX_TRY(parse_list(a, value, below, depth + 1, errs, &sub, err));
	it->sub = sub;
out:
	return rc;
}

static enum dtx_code parse_item(struct dtx_arena *a, const json_t *v, const char *at, int depth,
                                struct dtx_errlist *errs, struct dtx_col_item *it,
                                struct dtx_err *err)
{
	if (json_is_string(v))
		return parse_text(a, v, at, it, err);
	if (json_is_object(v))
		return parse_object(a, v, at, depth, errs, it, err);
	return bad(err, DTX_E_BAD_PARAM_TYPE, at, "a column selector is a name or an object");
}

/* An item that cannot be parsed is reported as a finding and left out. */
static enum dtx_code add_item(struct dtx_arena *a, const json_t *v, const char *at, int depth,
                              struct dtx_errlist *errs, struct dtx_cols *c, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	struct dtx_col_item *it = &c->item[c->n];
	enum dtx_code rc = parse_item(a, v, at, depth, errs, it, &f);

	if (rc == DTX_OK) {
		c->holes = c->holes || (it->kind == DTX_COL_NOT && it->sub->holes);
		c->n++;
		goto out;
	}
	c->holes = true;
	if (rc == DTX_E_NO_MEMORY) {
		dtx_err_move(err, &f);
		goto out;
	}
	rc = DTX_OK;
	if (!dtx_errlist_take(errs, &f))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

#define NOT_DEPTH 8

static enum dtx_code parse_list(struct dtx_arena *a, const json_t *list, const char *pointer,
                                int depth, struct dtx_errlist *errs, struct dtx_cols **out,
                                struct dtx_err *err)
{
	size_t n = json_is_array(list) ? json_array_size(list) : 1;
	struct dtx_cols *c = dtx_arena_zalloc(a, 1, sizeof(*c));
	enum dtx_code rc = DTX_OK;

	if (depth > NOT_DEPTH)
		return bad(err, DTX_E_BAD_PARAM_VALUE, pointer, "'not' is nested too deeply");
	if (!c)
		DTX_FAIL_MEM(err);
	c->item = dtx_arena_zalloc(a, n + 1, sizeof(*c->item));
	if (!c->item)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++) {
		char at[128];

		dtx_str_copy(at, sizeof(at), dtx_str_of(pointer));
		if (json_is_array(list))
			dtx_json_pointer_index(at, sizeof(at), i);
		DTX_TRY(add_item(a, json_is_array(list) ? json_array_get(list, i) : list, at, depth,
		                 errs, c, err));
	}
	*out = c;
out:
	return rc;
}

enum dtx_code dtx_cols_parse(struct dtx_arena *a, const json_t *value, const char *pointer,
                             struct dtx_errlist *errs, struct dtx_cols **out, struct dtx_err *err)
{
	return parse_list(a, value, pointer, 0, errs, out, err);
}

/* --- and back --- */

static json_t *item_json(const struct dtx_col_item *it)
{
	switch (it->kind) {
	case DTX_COL_NAME:
		if (strcmp(it->a, "*") != 0 && !strstr(it->a, ".."))
			return json_string(it->a);
		return json_pack("{s:s}", "name", it->a);
	case DTX_COL_RANGE: return json_pack("{s:[s,s]}", "range", it->a, it->b);
	case DTX_COL_ALL: return json_pack("{s:b}", "all", 1);
	case DTX_COL_REGEX: return json_pack("{s:s}", "regex", it->a);
	case DTX_COL_TYPE: return json_pack("{s:s}", "type", it->a);
	case DTX_COL_NOT: return json_pack("{s:o}", "not", dtx_cols_json(it->sub));
	}
	return NULL;
}

json_t *dtx_cols_json(const struct dtx_cols *cols)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < cols->n; i++)
		if (json_array_append_new(list, item_json(&cols->item[i])) != 0) {
			json_decref(list);
			list = NULL;
		}
	return list;
}

bool dtx_cols_static(const struct dtx_cols *cols, const struct dtx_schema *s)
{
	for (size_t i = 0; i < cols->n; i++) {
		const struct dtx_col_item *it = &cols->item[i];

		if (it->kind == DTX_COL_NAME)
			continue;
		if (s->open)
			return false;
		if (it->kind == DTX_COL_NOT && !dtx_cols_static(it->sub, s))
			return false;
		for (uint32_t c = 0; it->kind == DTX_COL_TYPE && c < s->nfields; c++)
			if (s->field[c].type.type == DTX_T_UNKNOWN)
				return false;
	}
	return true;
}

static void print_item(const struct dtx_col_item *it, struct dtx_buf *out)
{
	switch (it->kind) {
	case DTX_COL_NAME: dtx_buf_add(out, it->a); break;
	case DTX_COL_RANGE: dtx_buf_printf(out, "%s..%s", it->a, it->b); break;
	case DTX_COL_ALL: dtx_buf_add(out, "all columns"); break;
	case DTX_COL_REGEX: dtx_buf_printf(out, "/%s/", it->a); break;
	case DTX_COL_TYPE: dtx_buf_printf(out, "all of type %s", it->a); break;
	case DTX_COL_NOT:
		dtx_buf_add(out, "all but ");
		dtx_cols_print(it->sub, out);
		break;
	}
}

void dtx_cols_print(const struct dtx_cols *cols, struct dtx_buf *out)
{
	for (size_t i = 0; i < cols->n; i++) {
		if (i)
			dtx_buf_add(out, ", ");
		print_item(&cols->item[i], out);
	}
}

bool dtx_cols_pandas(const struct dtx_cols *cols, struct dtx_buf *out)
{
	for (size_t i = 0; i < cols->n; i++)
		if (cols->item[i].kind != DTX_COL_NAME)
			return false;
	dtx_buf_addc(out, '[');
	for (size_t i = 0; i < cols->n; i++) {
		if (i)
			dtx_buf_add(out, ", ");
		dtx_buf_json(out, dtx_str_of(cols->item[i].a));
	}
	dtx_buf_addc(out, ']');
	return true;
}
