/* Rewrites steps the way other tools write them: one column without a list, a function next to its
 * column, the direction of a sort key in words, dropping rows with nulls. */
#include "core/plan/parse/alias_parts.h"

#include "core/expr/fn/fn.h"

#include <stdlib.h>

/* --- one entry without its list --- */

/* The first member of the object whose name is in `names` (separated by commas); NULL: none. */
static const char *first_of(const json_t *object, const char *names)
{
	struct dtx_str rest = dtx_str_of(names), word;
	const char *key;
	json_t *value;

	while (dtx_str_next(&rest, ',', &word))
		json_object_foreach((json_t *)(uintptr_t)object, key,
		                    value) if (dtx_str_is(word, key)) return key;
	return NULL;
}

/* Which members of the step become members of the one entry, and their names there. */
struct flat {
	const char *op, *list, *name, *names, *value, *values, *more;
};
static const struct flat flat_derive = {
	.op = "derive",
	.list = "set",
	.name = "as",
	.names = "as,name,column,col,new_column",
	.value = "expr",
	.values = "expr,expression,formula",
	.more = "",
};
static const struct flat flat_cast = {
	.op = "cast",
	.list = "types",
	.name = "name",
	.names = "column,col,cols,name",
	.value = "type",
	.values = "to,type",
	.more = "format,on_error",
};

static json_t *flat_entry(const struct rewrite *r, const struct flat *f, const json_t *name,
                          const json_t *value)
{
	struct dtx_str rest = dtx_str_of(f->more), word;
	json_t *entry = json_pack("{s:O, s:O}", f->name, name, f->value, value);
	char key[32];

	while (entry && dtx_str_next(&rest, ',', &word)) {
		dtx_str_copy(key, sizeof(key), word);
		if (json_object_get(r->object, key))
			json_object_set(entry, key, json_object_get(r->object, key));
	}
	return entry;
}

static enum dtx_code flatten(const struct rewrite *r, const struct flat *f)
{
	const char *name = first_of(r->object, f->names), *value = first_of(r->object, f->values);
	json_t *names = json_object_get(r->object, name ? name : ""), *list;
	size_t n = json_is_array(names) ? json_array_size(names) : 1;
	struct dtx_str rest = dtx_str_of(f->more), word;
	char key[32];

	if (!name || !value || dtx_rewrite_written(r, f->list))
		return DTX_OK; /* the parameter rows report what is wrong */
	list = json_array();
	for (size_t i = 0; list && i < n; i++)
		json_array_append_new(
			list,
			flat_entry(r, f, json_is_array(names) ? json_array_get(names, i) : names,
		                   json_object_get(r->object, value)));
	if (json_array_size(list) != n || !dtx_json_set(r->object, f->list, list))
		return DTX_E_NO_MEMORY;
	while (dtx_str_next(&rest, ',', &word)) {
		dtx_str_copy(key, sizeof(key), word);
		json_object_del(r->object, key);
	}
	json_object_del(r->object, value);
	json_object_del(r->object, name);
	return DTX_OK;
}

bool dtx_rewrite_flat_place(const struct dtx_plan_step *st, const char *sub, char *out, size_t size)
{
	const struct flat *f = strcmp(st->name, flat_cast.op) ? &flat_derive : &flat_cast;
	const char *name = first_of(st->json, f->names), *value = first_of(st->json, f->values);
	char entry[32];
	size_t len = (size_t)snprintf(entry, sizeof(entry), "/%s/", f->list);
	char *rest = NULL;
	unsigned long i;

	if (strcmp(st->name, f->op) || !name || !value || strncmp(sub, entry, len) ||
	    json_object_get(st->json, f->list))
		return false;
	i = strtoul(sub + len, &rest, 10);
	snprintf(out, size, "%s/%s", st->at, strcmp(rest + (*rest == '/'), f->name) ? value : name);
	if (json_is_array(json_object_get(st->json, name)) && rest[0] && !strcmp(rest + 1, f->name))
		dtx_json_pointer_index(out, size, i);
	return true;
}

enum dtx_code dtx_rewrite_derive(const struct rewrite *r, const json_t *op)
{
	(void)op;
	return flatten(r, &flat_derive);
}

enum dtx_code dtx_rewrite_cast(const struct rewrite *r, const json_t *op)
{
	(void)op;
	return flatten(r, &flat_cast);
}

/* --- a function beside its column --- */

static bool is_word(const char *text)
{
	return text && *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789")] == '\0';
}

/* Makes {as, expr: fn(`column`)}. */
static json_t *call_of(const char *as, const char *fn, const char *column)
{
	struct dtx_buf expr = DTX_BUF_INIT(1 << 16);
	json_t *item;

	dtx_buf_printf(&expr, "%s(`", fn);
	for (; *column; column++) {
		if (*column == '`')
			dtx_buf_addc(&expr, '`');
		dtx_buf_addc(&expr, *column);
	}
	dtx_buf_add(&expr, "`)");
	item = json_pack("{s:s, s:s}", "as", as, "expr", dtx_buf_text(&expr));
	dtx_buf_clear(&expr);
	return item;
}

/* Rewrites {column, func, as} as {as, expr}; NULL: it is not such an object. */
static json_t *call_item(const json_t *item)
{
	const char *column = first_of(item, "column,col,field,input");
	const char *fn = first_of(item, "func,fn,function,agg,aggfunc,op");
	const char *as = first_of(item, "as,name,new_name,alias,output");

	column = column ? dtx_json_text(item, column, NULL) : NULL;
	fn = fn ? dtx_json_text(item, fn, NULL) : NULL;
	as = as ? dtx_json_text(item, as, NULL) : column;
	if (!column || !as || !is_word(fn) || json_object_get(item, "expr"))
		return NULL;
	return call_of(as, fn, column);
}

/* Rewrites "amount": ["sum", "mean"] as amount_sum and amount_mean; false: out of memory. */
static bool call_each(const char *column, const json_t *fns, json_t *list)
{
	char as[256];

	for (size_t i = 0; i < json_array_size(fns); i++) {
		const char *fn = json_string_value(json_array_get(fns, i));

		snprintf(as, sizeof(as), "%s_%s", column, fn);
		if (json_array_append_new(list, call_of(as, fn, column)) != 0)
			return false;
	}
	return true;
}

static bool all_words(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!is_word(json_string_value(json_array_get(list, i))))
			return false;
	return json_array_size(list) > 0;
}

/* The object as a list of aggregates; NULL: it has no list of functions. */
static json_t *calls_of_map(const json_t *map)
{
	json_t *list = json_array(), *value;
	const char *key;
	bool ok = list != NULL, any = false;

	json_object_foreach((json_t *)(uintptr_t)map, key, value)
	{
		any |= all_words(value);
		if (all_words(value))
			ok = ok && call_each(key, value, list);
		else if (is_word(json_string_value(value)))
			ok = ok && json_array_append_new(
					   list, call_of(key, json_string_value(value), key)) == 0;
		else
			ok = ok && json_array_append_new(list, json_pack("{s:s, s:O}", "as", key,
			                                                 "expr", value)) == 0;
	}
	if (ok && any)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *calls_of_list(const json_t *items)
{
	json_t *list = json_array(), *item;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)items, i, item)
	{
		json_t *made = json_is_object(item) ? call_item(item) : NULL;

		if (json_array_append_new(list, made ? made : json_incref(item)) != 0)
			break;
	}
	return list;
}

/* `count` without an aggregate: the number of rows per group, or of all rows. */
static enum dtx_code count_rows(const struct rewrite *r)
{
	bool ok = dtx_json_set(r->object, "agg", json_pack("{s:s}", "n", "count()"));

	if (!dtx_rewrite_written(r, "by"))
		ok = ok && dtx_json_set(r->object, "by", json_array());
	return ok ? DTX_OK : DTX_E_NO_MEMORY;
}

/* Whether this is an aggregate as pandas names them: "total": ["qty", "sum"], with the column first
 * and then its function. */
static bool is_named_agg(const json_t *value)
{
	const char *column = json_string_value(json_array_get(value, 0));
	const char *fn = json_string_value(json_array_get(value, 1));

	return json_array_size(value) == 2 && column && fn && !dtx_fn_find(dtx_str_of(column), 1) &&
	       dtx_fn_find(dtx_str_of(fn), 1);
}

static enum dtx_code refuse_named_agg(const struct rewrite *r, const char *key, json_t *agg)
{
	const char *as;
	json_t *value, *rest;
	char text[200];

	json_object_foreach(agg, as, value)
	{
		if (!is_named_agg(value))
			continue;
		rest = json_copy(agg);
		snprintf(text, sizeof(text),
		         "a list names functions of one column; write \"%.40s\": \"%.20s(%.40s)\"",
		         as, json_string_value(json_array_get(value, 1)),
		         json_string_value(json_array_get(value, 0)));
		json_object_del(rest, as);
		if (!dtx_json_set(r->object, key, rest))
			return DTX_E_NO_MEMORY;
		return dtx_rewrite_refuse(r, DTX_E_BAD_PARAM_VALUE, key, text);
	}
	return DTX_OK;
}

enum dtx_code dtx_rewrite_group(const struct rewrite *r, const json_t *op)
{
	const char *key = dtx_rewrite_written(r, "agg");
	json_t *agg = key ? json_object_get(r->object, key) : NULL, *list = NULL;

	if (json_is_object(agg) && refuse_named_agg(r, key, agg) != DTX_OK)
		return DTX_E_NO_MEMORY;
	agg = key ? json_object_get(r->object, key) : NULL;
	if (!agg && strcmp(json_string_value(op), "count") == 0)
		return count_rows(r);
	if (json_is_object(agg))
		list = calls_of_map(agg);
	else if (json_is_array(agg))
		list = calls_of_list(agg);
	return !list || dtx_json_set(r->object, key, list) ? DTX_OK : DTX_E_NO_MEMORY;
}

/* --- directions of keys --- */

static const char *const way_words[] = { "asc", "ascending", "desc", "descending" };

/* The direction that a word means: 0 ascending, 1 descending, -1 neither. */
static int way_of(const char *text)
{
	for (size_t i = 0; text && i < DTX_COUNT(way_words); i++)
		if (strcasecmp(text, way_words[i]) == 0)
			return i >= 2;
	return -1;
}

/* A key whose direction is a word, in our form; a new reference. */
static json_t *worded_key(const json_t *key)
{
	const char *name = json_is_object(key) ? first_of(key, "order,direction,dir") : NULL;
	int way = name ? way_of(dtx_json_text(key, name, NULL)) : -1;
	json_t *out;

	if (way < 0 || json_object_get(key, "desc"))
		return json_incref((json_t *)(uintptr_t)key);
	out = json_copy((json_t *)(uintptr_t)key);
	if (out && dtx_json_set(out, "desc", json_boolean(way)))
		json_object_del(out, name);
	return out;
}

enum dtx_code dtx_rewrite_sort(const struct rewrite *r, const json_t *op)
{
	const char *key = dtx_rewrite_written(r, "by");
	const json_t *by = key ? json_object_get(r->object, key) : NULL;
	json_t *list;

	(void)op;
	if (json_is_object(by))
		return dtx_json_set(r->object, key, worded_key(by)) ? DTX_OK : DTX_E_NO_MEMORY;
	if (!json_is_array(by))
		return DTX_OK;
	list = json_array();
	for (size_t i = 0; i < json_array_size(by); i++)
		if (json_array_append_new(list, worded_key(json_array_get(by, i))) != 0)
			break;
	return dtx_json_set(r->object, key, list) ? DTX_OK : DTX_E_NO_MEMORY;
}

/* --- rows without nulls --- */

static void not_null(const json_t *columns, struct dtx_buf *out)
{
	size_t n = json_is_array(columns) ? json_array_size(columns) : 1;

	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_is_array(columns) ? json_array_get(columns, i) : columns;
		const char *name = json_string_value(one);

		dtx_buf_add(out, i ? " and `" : "`");
		for (; name && *name; name++) {
			if (*name == '`')
				dtx_buf_addc(out, '`');
			dtx_buf_addc(out, *name);
		}
		dtx_buf_add(out, "` is not null");
	}
}

/* dropna with columns becomes a filter. */
enum dtx_code dtx_rewrite_filter(const struct rewrite *r, const json_t *op)
{
	const char *key = first_of(r->object, "columns,cols,subset,column,col");
	const json_t *columns = key ? json_object_get(r->object, key) : NULL;
	struct dtx_buf where = DTX_BUF_INIT(1 << 20);
	enum dtx_code rc = DTX_OK;

	if (!dtx_str_in_list("dropna,drop_nulls,drop_na", json_string_value(op)))
		goto out;
	if (!columns || !dtx_rewrite_names(columns)) {
		/* With a condition, the missing `where` is not reported as well. */
		(void)!dtx_json_set(r->object, "where", json_string("true"));
		rc = dtx_rewrite_refuse(
			r, columns ? DTX_E_BAD_PARAM_TYPE : DTX_E_MISSING_PARAM,
			columns ? key : "columns",
			"drop_nulls needs 'columns': the names of those that must not be null");
		goto out;
	}
	not_null(columns, &where);
	json_object_del(r->object, key);
	if (!dtx_buf_ok(&where) ||
	    !dtx_json_set(r->object, "where", json_string(dtx_buf_text(&where))))
		rc = DTX_E_NO_MEMORY;
out:
	dtx_buf_clear(&where);
	return rc;
}

/* --- a span of time as one word --- */

static const struct {
	const char *word, *span;
} span_words[] = {
	{ "minute", "1min" }, { "hour", "1h" },     { "day", "1d" },       { "week", "1w" },
	{ "month", "1mo" },   { "quarter", "1q" },  { "year", "1y" },      { "daily", "1d" },
	{ "weekly", "1w" },   { "monthly", "1mo" }, { "quarterly", "1q" }, { "yearly", "1y" },
	{ "D", "1d" },        { "W", "1w" },        { "M", "1mo" },        { "MS", "1mo" },
	{ "Q", "1q" },        { "QS", "1q" },       { "Y", "1y" },         { "A", "1y" },
	{ "H", "1h" },        { "T", "1min" },
};

enum dtx_code dtx_rewrite_every(const struct rewrite *r, const json_t *op)
{
	const char *key = dtx_rewrite_written(r, "every");
	const char *word = key ? dtx_json_text(r->object, key, NULL) : NULL;

	(void)op;
	for (size_t i = 0; word && i < DTX_COUNT(span_words); i++)
		if (strcmp(span_words[i].word, word) == 0)
			return dtx_json_set(r->object, key, json_string(span_words[i].span))
			               ? DTX_OK
			               : DTX_E_NO_MEMORY;
	return DTX_OK;
}

/* --- one condition as a rule --- */

static json_t *rule_with_cols(const json_t *rule)
{
	const char *kind = dtx_json_text(rule, "rule", ""), *key = first_of(rule, "column,col");
	json_t *out;

	if (!key || !dtx_str_in_list("not_null,unique", kind) || first_of(rule, "cols,columns"))
		return json_incref((json_t *)(uintptr_t)rule);
	out = json_copy((json_t *)(uintptr_t)rule);
	if (out && dtx_json_set(out, "cols", json_incref(json_object_get(rule, key))))
		json_object_del(out, key);
	return out;
}

enum dtx_code dtx_rewrite_assert(const struct rewrite *r, const json_t *op)
{
	const char *key = dtx_rewrite_written(r, "rules");
	const char *where = first_of(r->object, "where,expr,condition");
	const json_t *rules = key ? json_object_get(r->object, key) : NULL;
	json_t *list;

	(void)op;
	if (!rules && where) {
		list = json_pack("[{s:s, s:O}]", "rule", "expression", "expr",
		                 json_object_get(r->object, where));
		json_object_del(r->object, where);
		return dtx_json_set(r->object, "rules", list) ? DTX_OK : DTX_E_NO_MEMORY;
	}
	if (!json_is_array(rules))
		return DTX_OK;
	list = json_array();
	for (size_t i = 0; i < json_array_size(rules); i++)
		if (json_array_append_new(list, rule_with_cols(json_array_get(rules, i))) != 0)
			break;
	return dtx_json_set(r->object, key, list) ? DTX_OK : DTX_E_NO_MEMORY;
}
