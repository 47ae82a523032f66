/* Parses expectations about a table: see expect.h. */
#include <stdio.h>

#include "core/base/text/synonyms.h"
#include "core/base/text/num.h"
#include "core/data/expect/expect_parts.h"
#include "core/data/time/time.h"

struct expect_parse {
	struct dtx_arena *arena;
	struct dtx_errlist *errs;
	char at[128];
	enum dtx_code rc; /* no_memory stays once it is set */
};

static void expect_find(struct expect_parse *p, struct dtx_err *found, const char *key)
{
	dtx_err_at(found, p->at);
	if (key)
		dtx_json_pointer_add(found->at, sizeof(found->at), key);
	if (!dtx_errlist_take(p->errs, found))
		p->rc = DTX_E_NO_MEMORY;
	dtx_err_clear(found);
}

#define EXPECT_EXAMPLE                                                                             \
	"for example \"expect\": {\"rows\": {\"min\": 1}, \"columns\": [{\"name\": \"region\", "   \
	"\"type\": \"text\", \"enum\": [\"North\", \"South\"]}]}"
#define EXPECT_BAD(p, key, code, ...)                                                              \
	do {                                                                                       \
		struct dtx_err found = DTX_ERR_INIT;                                               \
		(void)dtx_err_set(&found, (code), __FILE__, __LINE__, __VA_ARGS__);                \
		dtx_err_hint(&found, "%s", EXPECT_EXAMPLE);                                        \
		expect_find((p), &found, (key));                                                   \
	} while (0)

static const char *expect_kind(const json_t *v)
{
	static const char *const name[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",  [JSON_STRING] = "text",
		[JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "a boolean",
		[JSON_FALSE] = "a boolean",  [JSON_NULL] = "null",
	};

	return name[json_typeof(v)];
}

static void expect_unknown(struct expect_parse *p, const char *key, const char *known)
{
	struct dtx_err found = DTX_ERR_INIT;
	struct dtx_str rest = dtx_str_of(known), word;
	char names[16][32];
	const char *have[DTX_COUNT(names)];
	size_t n = 0;

	for (; n < DTX_COUNT(names) && dtx_str_next(&rest, ',', &word); n++) {
		dtx_str_copy(names[n], sizeof(names[n]), word);
		have[n] = names[n];
	}
	(void)dtx_err_set(&found, DTX_E_UNKNOWN_PARAM, __FILE__, __LINE__,
	                  "expect: no member '%s'; expected %s", key, known);
	if (!dtx_err_foreign(&found, "expect", key, have, n))
		dtx_err_suggest(&found, key, have, n);
	expect_find(p, &found, key);
}

/* Reports members of the object that are not in `known` ("a,b"). */
static void expect_members(struct expect_parse *p, const json_t *object, const char *known)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		if (!json_is_null(value) && strncmp(key, "x-", 2) && !dtx_str_in_list(known, key))
			expect_unknown(p, key, known);
	}
}

static bool expect_bool(struct expect_parse *p, const json_t *object, const char *key,
                        bool fallback)
{
	const json_t *v = json_object_get(object, key);

	if (!v || json_is_null(v))
		return fallback;
	if (!json_is_boolean(v))
		EXPECT_BAD(p, key, DTX_E_BAD_PARAM_TYPE,
		           "expect: '%s' must be true or false, got %s", key, expect_kind(v));
	return json_is_true(v);
}

static int64_t expect_count(struct expect_parse *p, const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	if (!v || json_is_null(v))
		return -1;
	if (!json_is_integer(v) || json_integer_value(v) < 0) {
		EXPECT_BAD(p, key, DTX_E_BAD_PARAM_TYPE,
		           "expect: '%s' must be a number of rows, got %s", key, expect_kind(v));
		return -1;
	}
	return json_integer_value(v);
}

static struct dtx_str expect_text(struct expect_parse *p, const char *text, size_t len)
{
	char *copy = dtx_arena_strndup(p->arena, text, len);

	if (!copy) {
		p->rc = DTX_E_NO_MEMORY;
		return (struct dtx_str){ "", 0 };
	}
	return (struct dtx_str){ copy, len };
}

static void expect_time(struct expect_value *out)
{
	bool zoned;
	int32_t day;

	if (dtx_day_parse(out->text, &day)) {
		out->is_time = true;
		out->us = (int64_t)day * DTX_DAY_US;
	} else {
		out->is_time = dtx_datetime_parse(out->text, &out->us, &zoned);
	}
}

/* False: not a scalar. */
static bool expect_scalar(struct expect_parse *p, const json_t *v, struct expect_value *out)
{
	char text[DTX_NUM_TEXT];
	size_t len;

	memset(out, 0, sizeof(*out));
	out->set = true;
	if (json_is_null(v)) {
		out->null = true;
	} else if (json_is_string(v)) {
		out->text = expect_text(p, json_string_value(v), json_string_length(v));
		expect_time(out);
	} else if (json_is_boolean(v)) {
		out->text = json_is_true(v) ? DTX_STR("true") : DTX_STR("false");
	} else if (json_is_number(v)) {
		out->is_num = true;
		out->num = json_number_value(v);
		len = dtx_num_print_json(text, out->num);
		out->text = expect_text(p, text, len);
	} else {
		return false;
	}
	return true;
}

enum dtx_code dtx_expect_value(struct dtx_arena *arena, const json_t *v, struct expect_value *out)
{
	struct expect_parse p = { .arena = arena, .rc = DTX_OK };

	if (!expect_scalar(&p, v, out))
		return DTX_E_BAD_PARAM_TYPE;
	return p.rc;
}

static void expect_bound(struct expect_parse *p, const json_t *object, const char *key,
                         struct expect_value *out)
{
	const json_t *v = json_object_get(object, key);

	if (!v || json_is_null(v))
		return;
	if (!expect_scalar(p, v, out) || json_is_boolean(v)) {
		out->set = false;
		EXPECT_BAD(p, key, DTX_E_BAD_PARAM_TYPE,
		           "expect: '%s' must be a number, a date or text, got %s", key,
		           expect_kind(v));
	}
}

static void expect_one_of(struct expect_parse *p, const json_t *object, struct expect_col *col)
{
	const json_t *list = json_object_get(object, "enum");
	json_t *v;
	size_t i;

	if (!list || json_is_null(list))
		return;
	if (!json_array_size(list)) {
		EXPECT_BAD(p, "enum", DTX_E_BAD_PARAM_TYPE,
		           "expect: 'enum' must be a list of values, got %s", expect_kind(list));
		return;
	}
	col->one_of = dtx_arena_zalloc(p->arena, json_array_size(list), sizeof(*col->one_of));
	if (!col->one_of) {
		p->rc = DTX_E_NO_MEMORY;
		return;
	}
	json_array_foreach(list, i, v)
	{
		if (!expect_scalar(p, v, &col->one_of[i]))
			EXPECT_BAD(p, "enum", DTX_E_BAD_PARAM_TYPE,
			           "expect: 'enum' must hold single values, got %s",
			           expect_kind(v));
	}
	col->none_of = json_array_size(list);
}

static void expect_type(struct expect_parse *p, const json_t *object, struct expect_col *col)
{
	const json_t *v = json_object_get(object, "type");

	if (!v || json_is_null(v))
		return;
	if (!json_is_string(v))
		EXPECT_BAD(p, "type", DTX_E_BAD_PARAM_TYPE, "expect: 'type' must be text, got %s",
		           expect_kind(v));
	else if (!dtx_type_parse(dtx_str_of(json_string_value(v)), &col->type))
		EXPECT_BAD(p, "type", DTX_E_BAD_PARAM_VALUE, "expect: no type '%s'",
		           json_string_value(v));
	else
		col->has_type = true;
}

static void expect_column(struct expect_parse *p, const json_t *v, struct expect_col *col)
{
	const json_t *name = json_object_get(v, "name");

	col->nullable = true;
	if (!json_is_object(v)) {
		EXPECT_BAD(p, NULL, DTX_E_BAD_PARAM_TYPE,
		           "expect: a column must be an object such as {\"name\": \"a\"}, got %s",
		           expect_kind(v));
		return;
	}
	expect_members(p, v, "name,type,nullable,unique,min,max,enum,matches");
	if (!name || json_is_null(name))
		EXPECT_BAD(p, "name", DTX_E_MISSING_PARAM, "expect: a column needs 'name'");
	else if (!json_is_string(name))
		EXPECT_BAD(p, "name", DTX_E_BAD_PARAM_TYPE, "expect: 'name' must be text, got %s",
		           expect_kind(name));
	else
		col->name = expect_text(p, json_string_value(name), json_string_length(name)).ptr;
	expect_type(p, v, col);
	col->nullable = expect_bool(p, v, "nullable", true);
	col->unique = expect_bool(p, v, "unique", false);
	expect_bound(p, v, "min", &col->min);
	expect_bound(p, v, "max", &col->max);
	expect_one_of(p, v, col);
}

static void expect_columns(struct expect_parse *p, const json_t *object, struct dtx_expect *e)
{
	const json_t *list = json_object_get(object, "columns");
	char at[sizeof(p->at)];
	json_t *v;
	size_t i;

	if (!list || json_is_null(list))
		return;
	if (!json_is_array(list)) {
		EXPECT_BAD(p, "columns", DTX_E_BAD_PARAM_TYPE,
		           "expect: 'columns' must be a list of objects, got %s",
		           expect_kind(list));
		return;
	}
	e->col = dtx_arena_zalloc(p->arena, json_array_size(list), sizeof(*e->col));
	if (!e->col) {
		p->rc = DTX_E_NO_MEMORY;
		return;
	}
	memcpy(at, p->at, sizeof(at));
	json_array_foreach(list, i, v)
	{
		dtx_json_pointer_add(p->at, sizeof(p->at), "columns");
		dtx_json_pointer_index(p->at, sizeof(p->at), i);
		expect_column(p, v, &e->col[e->ncols]);
		e->ncols += e->col[e->ncols].name != NULL;
		memcpy(p->at, at, sizeof(at));
	}
}

static void expect_rows(struct expect_parse *p, const json_t *object, struct dtx_expect *e)
{
	const json_t *rows = json_object_get(object, "rows"), *equals;

	if (!rows || json_is_null(rows))
		return;
	if (!json_is_object(rows)) {
		EXPECT_BAD(p, "rows", DTX_E_BAD_PARAM_TYPE,
		           "expect: 'rows' must be {min, max, equals}, got %s", expect_kind(rows));
		return;
	}
	dtx_json_pointer_add(p->at, sizeof(p->at), "rows");
	expect_members(p, rows, "min,max,equals");
	e->rows_min = expect_count(p, rows, "min");
	e->rows_max = expect_count(p, rows, "max");
	equals = json_object_get(rows, "equals");
	if (json_is_string(equals))
		e->equals_table =
			expect_text(p, json_string_value(equals), json_string_length(equals)).ptr;
	else
		e->rows_equals = expect_count(p, rows, "equals");
}

static void expect_extra(struct expect_parse *p, const json_t *object, struct dtx_expect *e)
{
	const json_t *v = json_object_get(object, "extra");
	const char *text = json_string_value(v);

	if (!v || json_is_null(v))
		return;
	if (!text || (strcmp(text, "allow") && strcmp(text, "forbid")))
		EXPECT_BAD(p, "extra", DTX_E_BAD_PARAM_VALUE,
		           "expect: 'extra' must be allow or forbid, got '%s'",
		           text ? text : expect_kind(v));
	e->forbid_extra = text && !strcmp(text, "forbid");
}

enum dtx_code dtx_expect_parse(const json_t *object, const char *pointer, struct dtx_arena *arena,
                               struct dtx_errlist *errs, struct dtx_expect **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct expect_parse p = { .arena = arena, .errs = errs, .rc = DTX_OK };
	struct dtx_expect *e = dtx_arena_zalloc(arena, 1, sizeof(*e));

	if (!e)
		DTX_FAIL_MEM(err);
	e->rows_min = e->rows_max = e->rows_equals = -1;
	e->at = dtx_arena_strdup(arena, pointer);
	if (!e->at)
		DTX_FAIL_MEM(err);
	*out = e;
	if (!object || json_is_null(object))
		goto out;
	dtx_str_copy(p.at, sizeof(p.at), dtx_str_of(pointer));
	if (!json_is_object(object)) {
		EXPECT_BAD(&p, NULL, DTX_E_BAD_PARAM_TYPE, "expect must be an object, got %s",
		           expect_kind(object));
	} else {
		expect_members(&p, object, "columns,extra,rows,keys,order_by,sums,rules");
		expect_columns(&p, object, e);
		expect_extra(&p, object, e);
		expect_rows(&p, object, e);
	}
	if (p.rc != DTX_OK)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

const char *dtx_expect_equals_table(const struct dtx_expect *e)
{
	return e->equals_table;
}

bool dtx_expect_empty(const struct dtx_expect *e)
{
	return !e->ncols && !e->forbid_extra && e->rows_min < 0 && e->rows_max < 0 &&
	       e->rows_equals < 0 && !e->equals_table;
}

enum dtx_code dtx_expect_schema(const struct dtx_expect *e, struct dtx_arena *arena,
                                struct dtx_schema **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_field *field = dtx_arena_zalloc(arena, e->ncols, sizeof(*field));
	struct dtx_schema *s = dtx_arena_zalloc(arena, 1, sizeof(*s));
	size_t i;

	if (!field || !s)
		DTX_FAIL_MEM(err);
	for (i = 0; i < e->ncols; i++) {
		field[i].name = e->col[i].name;
		field[i].type = e->col[i].type; /* unknown if no type is expected */
	}
	s->nfields = (uint32_t)e->ncols;
	s->open = !e->forbid_extra;
	s->field = field;
	*out = s;
out:
	return rc;
}
