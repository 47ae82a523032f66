/* The opposite direction of param.c: from C structs and tables to canonical JSON, JSON Schema and
 * help. */
#include "core/base/memory/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/param/param_impl.h"

/* The n-th word of a comma-separated list. */
static struct dtx_str canon_choice(const char *choices, int n)
{
	struct dtx_str rest = dtx_str_of(choices), word = { "", 0 };

	for (; n >= 0; n--) {
		if (!dtx_str_next(&rest, ',', &word))
			return (struct dtx_str){ "", 0 };
	}
	return word;
}

static json_t *canon_default(const struct dtx_param *p)
{
	json_t *v = NULL;

	if (dtx_json_parse(dtx_str_of(p->def), (struct dtx_json_limits){ 0, 0 }, &v, NULL) !=
	    DTX_OK)
		return NULL;
	return v;
}

static json_t *canon_texts(const struct dtx_plist *list)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; a && i < list->n; i++) {
		const char *text = ((const char *const *)list->item)[i];

		if (json_array_append_new(a, text ? json_string(text) : json_null())) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *canon_values(const struct dtx_plist *list)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < list->n; i++) {
		const json_t *value = ((const json_t *const *)list->item)[i];

		if (json_array_append(a, (json_t *)(uintptr_t)(value ? value : json_null()))) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *canon_list(const struct dtx_param *p, const struct dtx_plist *list,
                          const struct dtx_param_hooks *hooks)
{
	json_t *a = json_array(), *item;
	size_t i;

	for (i = 0; a && i < list->n; i++) {
		item = json_object();
		if (!item || !dtx_param_canonical(p->rows, p->nrows,
		                                  (const char *)list->item + i * p->item_size,
		                                  hooks, item)) {
			json_decref(item);
			json_decref(a);
			return NULL;
		}
		if (json_array_append_new(a, item)) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

/* Whether the value belongs into the canonical form: it is present, or 0 is a value because the
 * parameter is required or has a default. */
static bool canon_shown(const struct dtx_param *p, const void *at)
{
	static const char zero[sizeof(struct dtx_plist)];
	const struct dtx_plist *list = at;
	size_t size;

	switch (p->kind) {
	case DTX_P_CHOICE: return *(const int *)at >= 0;
	case DTX_P_LIST:
	case DTX_P_VALUES:
	case DTX_P_TEXTS: return p->def || p->required || list->n;
	case DTX_P_INT: size = sizeof(int64_t); break;
	case DTX_P_NUMBER: size = sizeof(double); break;
	case DTX_P_BOOL: size = sizeof(bool); break;
	case DTX_P_VALUE: return p->def || *(const json_t *const *)at;
	case DTX_P_FRAME: return ((const struct dtx_row_frame *)at)->set;
	case DTX_P_SETS: return ((const struct dtx_psets *)at)->how != DTX_SETS_NONE;
	default: return memcmp(at, zero, sizeof(void *)) != 0;
	}
	return p->def || p->required || memcmp(at, zero, size) != 0;
}

/* New reference; NULL: out of memory. */
static json_t *canon_value(const struct dtx_param *p, const void *at,
                           const struct dtx_param_hooks *hooks)
{
	struct dtx_str choice;
	const json_t *value;

	switch (p->kind) {
	case DTX_P_INT: return json_integer(*(const int64_t *)at);
	case DTX_P_NUMBER: return json_real(*(const double *)at);
	case DTX_P_BOOL: return json_boolean(*(const bool *)at);
	case DTX_P_CHOICE:
		choice = canon_choice(p->choices, *(const int *)at);
		return json_stringn(choice.ptr, choice.len);
	case DTX_P_EXPR: return hooks->expr_json(*(const void *const *)at);
	case DTX_P_COLUMNS: return hooks->columns_json(*(const void *const *)at);
	case DTX_P_VALUE:
		value = *(const json_t *const *)at;
		return value ? json_incref((json_t *)(uintptr_t)value) : canon_default(p);
	case DTX_P_FRAME: return dtx_param_frame_json(at);
	case DTX_P_SETS: return dtx_param_sets_json(at);
	case DTX_P_LIST: return p->rows ? canon_list(p, at, hooks) : canon_texts(at);
	case DTX_P_TEXTS: return canon_texts(at);
	case DTX_P_VALUES: return canon_values(at);
	default: return json_string(*(const char *const *)at);
	}
}

bool dtx_param_canonical(const struct dtx_param *params, size_t n, const void *args,
                         const struct dtx_param_hooks *hooks, json_t *object)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const char *at = (const char *)args + params[i].offset;

		if (canon_shown(&params[i], at) &&
		    !dtx_json_set(object, params[i].name, canon_value(&params[i], at, hooks)))
			return false;
	}
	return true;
}

/* --- kinds as text --- */

static const char *const kind_names[] = {
	[DTX_P_INT] = "int",
	[DTX_P_NUMBER] = "number",
	[DTX_P_BOOL] = "bool",
	[DTX_P_TEXT] = "text",
	[DTX_P_CHOICE] = "choice",
	[DTX_P_COLUMN] = "column",
	[DTX_P_TABLE] = "table",
	[DTX_P_REGEX] = "regex",
	[DTX_P_TYPE] = "type",
	[DTX_P_EXPR] = "formula",
	[DTX_P_COLUMNS] = "columns",
	[DTX_P_VALUE] = "value",
	[DTX_P_LIST] = "list",
	[DTX_P_TEXTS] = "list of text",
	[DTX_P_FRAME] = "frame",
	[DTX_P_VALUES] = "list of values",
	[DTX_P_SETS] = "rollup, cube or list of lists",
};

/* The kind in the words of a message: "'n' must be a whole number". */
static const char *const kind_wants[] = {
	[DTX_P_INT] = "a whole number",
	[DTX_P_NUMBER] = "a number",
	[DTX_P_BOOL] = "true or false",
	[DTX_P_TEXT] = "text",
	[DTX_P_COLUMN] = "the name of a column",
	[DTX_P_TABLE] = "the name of a table",
	[DTX_P_REGEX] = "a regex",
	[DTX_P_TYPE] = "a type",
	[DTX_P_EXPR] = "a formula",
	[DTX_P_COLUMNS] = "column names",
	[DTX_P_VALUE] = "a single value",
	[DTX_P_TEXTS] = "a list of texts",
	[DTX_P_FRAME] = "a frame",
	[DTX_P_VALUES] = "a list of values",
	[DTX_P_SETS] = "rollup, cube or a list of lists",
	[DTX_P_LIST] = NULL, /* its text is made from the members of an item */
};

/* Appends a word for what an item's member holds: FORMULA, NAME, or its own name in capitals. */
static void add_member_word(const struct dtx_param *member, struct dtx_buf *out)
{
	if (member->kind == DTX_P_EXPR)
		dtx_buf_add(out, "FORMULA");
	else if (!strcmp(member->name, "as"))
		dtx_buf_add(out, "NAME");
	else
		for (const char *c = member->name; *c; c++)
			dtx_buf_addc(out, (char)toupper((unsigned char)*c));
}

/* Describes a list as most people write it, in its short form. */
static bool add_short_form(const struct dtx_param *param, struct dtx_buf *out)
{
	const struct dtx_param *member = param->rows;

	switch (param->sugar) {
	case DTX_SUGAR_MAP:
	case DTX_SUGAR_AGG:
		dtx_buf_add(out, "an object {");
		add_member_word(&member[0], out);
		dtx_buf_add(out, ": ");
		add_member_word(&member[1], out);
		dtx_buf_add(out, ", ...}");
		return true;
	case DTX_SUGAR_SORT:
		dtx_buf_add(out, "a list of columns, with - for descending");
		return true;
	case DTX_SUGAR_SCALAR:
	case DTX_SUGAR_BOTH:
		if (member->kind == DTX_P_COLUMN ||
		    (param->nrows > 1 && member[1].kind == DTX_P_EXPR))
			dtx_buf_add(out, "a list of columns");
		else if (param->nrows == 1 && kind_wants[member->kind])
			dtx_buf_printf(out, "a list; each item is %s", kind_wants[member->kind]);
		else
			return false;
		return true;
	default: return false;
	}
}

void dtx_param_wants_text(const struct dtx_param *param, struct dtx_buf *out)
{
	bool texts = param->kind == DTX_P_LIST && !param->rows;

	if (texts || kind_wants[param->kind]) {
		dtx_buf_add(out, kind_wants[texts ? DTX_P_TEXTS : param->kind]);
		return;
	}
	if (add_short_form(param, out))
		return;
	if (param->kind == DTX_P_LIST)
		dtx_buf_add(out, "a ");
	dtx_param_kind_text(param, out);
}

void dtx_param_kind_text(const struct dtx_param *param, struct dtx_buf *out)
{
	struct dtx_str rest, word;
	size_t i;

	if (param->kind == DTX_P_CHOICE) {
		rest = dtx_str_of(param->choices);
		for (i = 0; dtx_str_next(&rest, ',', &word); i++) {
			dtx_buf_add(out, i ? ", " : "one of ");
			dtx_buf_adds(out, word);
		}
	} else if (param->kind == DTX_P_LIST && param->rows) {
		dtx_buf_add(out, "list of {");
		for (i = 0; i < param->nrows; i++)
			dtx_buf_printf(out, "%s%s", i ? ", " : "", param->rows[i].name);
		dtx_buf_add(out, "}");
	} else {
		dtx_buf_add(out, param->kind == DTX_P_LIST ? kind_names[DTX_P_TEXTS]
		                                           : kind_names[param->kind]);
	}
}

static void help_row(const struct dtx_param *p, int depth, struct dtx_buf *out)
{
	struct dtx_str rest, word;
	size_t i;

	dtx_buf_printf(out, "%*s%s: ", depth * 2, "", p->name);
	dtx_param_kind_text(p, out);
	if (p->required)
		dtx_buf_add(out, ", required");
	else if (p->def)
		dtx_buf_printf(out, ", default %s", p->def);
	if (p->help)
		dtx_buf_printf(out, "; %s", p->help);
	rest = p->aliases ? dtx_str_of(p->aliases) : (struct dtx_str){ NULL, 0 };
	for (i = 0; dtx_str_next(&rest, ',', &word); i++) {
		dtx_buf_add(out, i ? ", " : " (also ");
		dtx_buf_adds(out, word);
	}
	dtx_buf_add(out, i ? ")\n" : "\n");
}

void dtx_param_help(const struct dtx_param *params, size_t n, struct dtx_buf *out)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		help_row(&params[i], 1, out);
		for (j = 0; j < params[i].nrows; j++)
			help_row(&params[i].rows[j], 2, out);
	}
}

/* --- JSON Schema --- */

static json_t *schema_of(const struct dtx_param *p);

static json_t *schema_type(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

static json_t *schema_int(const struct dtx_param *p)
{
	json_t *s = schema_type("integer");

	if (!s || (!p->min && !p->max))
		return s;
	if (dtx_json_set(s, "minimum", json_integer(p->min)) &&
	    dtx_json_set(s, "maximum", json_integer(DTX_MIN(p->max, ((int64_t)1 << 53) - 1))))
		return s;
	json_decref(s);
	return NULL;
}

static json_t *schema_choice(const struct dtx_param *p)
{
	struct dtx_str rest = dtx_str_of(p->choices), word;
	json_t *words = json_array();

	while (words && dtx_str_next(&rest, ',', &word)) {
		if (json_array_append_new(words, json_stringn(word.ptr, word.len))) {
			json_decref(words);
			return NULL;
		}
	}
	return words ? json_pack("{s:o}", "enum", words) : NULL;
}

static json_t *schema_typename(void)
{
	return json_pack(
		"{s:s,s:s}", "type", "string", "pattern",
		"^(text|int|float|bool|date|datetime|decimal\\([0-9]+,[0-9]+\\)|string|str|"
		"integer|int64|number|double|float64|boolean|timestamp)$");
}

/* The name of a column, and an item of a selector. */
#define NAME_JSON "{\"type\":\"string\",\"minLength\":1}"
static const char schema_selector[] =
	"{\"anyOf\":[" NAME_JSON ",{\"type\":\"object\",\"minProperties\":1,\"maxProperties\":1,"
	"\"additionalProperties\":false,\"properties\":{\"name\":" NAME_JSON ",\"regex\":"
	"{\"type\":\"string\"},\"all\":{\"const\":true},\"type\":{\"enum\":[\"number\",\"text\","
	"\"bool\",\"date\",\"datetime\"]},\"range\":{\"type\":\"array\",\"minItems\":2,"
	"\"maxItems\":2,\"items\":" NAME_JSON "},\"not\":{\"type\":[\"string\",\"object\","
	"\"array\"]}}}]}";

static json_t *schema_written(const char *text)
{
	json_t *s = NULL;

	return dtx_json_parse(dtx_str_of(text), (struct dtx_json_limits){ 0, 0 }, &s, NULL) ==
	                       DTX_OK
	               ? s
	               : NULL;
}

/* A list, of at least one item if the row says so.  Takes `item`. */
static json_t *schema_array(const struct dtx_param *p, json_t *item)
{
	json_t *s = item ? json_pack("{s:s,s:o}", "type", "array", "items", item) : NULL;

	if (!s || !p->nonempty || dtx_json_set(s, "minItems", json_integer(1)))
		return s;
	json_decref(s);
	return NULL;
}

/* One item, or a list of them.  Takes `item`. */
static json_t *schema_one_or_more(const struct dtx_param *p, json_t *item)
{
	json_t *list = schema_array(p, json_incref(item));
	json_t *s = item && list ? json_pack("{s:[O,O]}", "anyOf", item, list) : NULL;

	json_decref(item);
	json_decref(list);
	return s;
}

static json_t *schema_columns(const struct dtx_param *p)
{
	return schema_one_or_more(p, schema_written(schema_selector));
}

static json_t *schema_item(const struct dtx_param *p)
{
	json_t *required = json_array(), *item;
	size_t i;

	for (i = 0; required && i < p->nrows; i++) {
		if (p->rows[i].required &&
		    json_array_append_new(required, json_string(p->rows[i].name))) {
			json_decref(required);
			return NULL;
		}
	}
	if (!required)
		return NULL;
	item = json_pack("{s:s,s:b,s:o}", "type", "object", "additionalProperties", 0, "required",
	                 required);
	if (item && dtx_json_set(item, "properties", dtx_param_schema(p->rows, p->nrows)))
		return item;
	json_decref(item);
	return NULL;
}

static bool schema_add(json_t *any, json_t *s)
{
	return s && json_array_append_new(any, s) == 0;
}

/* An item, or the scalar that stands for its first member. */
static json_t *schema_with_scalar(const struct dtx_param *p, json_t *item)
{
	json_t *scalar = schema_of(&p->rows[0]);
	json_t *s = item && scalar ? json_pack("{s:[O,O]}", "anyOf", item, scalar) : NULL;

	json_decref(scalar);
	return s;
}

/* {"first member": second}, or an object of the other members. */
static json_t *schema_map(const struct dtx_param *p)
{
	return json_pack("{s:s,s:i,s:{s:[o,{s:[s,s]}]}}", "type", "object", "minProperties",
	                 p->nonempty ? 1 : 0, "additionalProperties", "anyOf",
	                 schema_of(&p->rows[1]), "type", "object", "null");
}

/* The list, a single item, and the short forms that the row allows. */
static json_t *schema_list(const struct dtx_param *p)
{
	json_t *any = json_array(), *item = schema_item(p);
	json_t *one =
		dtx_param_takes_scalar(p->sugar) ? schema_with_scalar(p, item) : json_incref(item);
	bool ok = any && one;

	ok = ok && schema_add(any, schema_array(p, json_incref(one)));
	ok = ok && schema_add(any, json_incref(one));
	if (ok && dtx_param_takes_map(p->sugar))
		ok = schema_add(any, schema_map(p));
	json_decref(item);
	json_decref(one);
	if (ok)
		return json_pack("{s:o}", "anyOf", any);
	json_decref(any);
	return NULL;
}

static json_t *schema_values(const struct dtx_param *p)
{
	return schema_one_or_more(
		p, json_pack("{s:[s,s,s,s]}", "type", "string", "number", "boolean", "null"));
}

static json_t *schema_of(const struct dtx_param *p)
{
	if (p->schema && p->kind != DTX_P_TEXTS)
		return schema_written(p->schema);
	switch (p->kind) {
	case DTX_P_INT: return schema_int(p);
	case DTX_P_TYPE: return schema_typename();
	case DTX_P_NUMBER: return schema_type("number");
	case DTX_P_BOOL: return schema_type("boolean");
	case DTX_P_CHOICE: return schema_choice(p);
	case DTX_P_COLUMNS: return schema_columns(p);
	case DTX_P_VALUE: return json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");
	case DTX_P_FRAME: return dtx_param_frame_schema(false);
	case DTX_P_SETS: return dtx_param_sets_schema();
	case DTX_P_LIST: return schema_list(p);
	case DTX_P_TEXTS:
		return schema_one_or_more(p, p->schema ? schema_written(p->schema)
		                                       : schema_type("string"));
	case DTX_P_VALUES: return schema_values(p);
	case DTX_P_COLUMN:
	case DTX_P_EXPR: return schema_written(NAME_JSON);
	case DTX_P_TEXT:
		if (p->sugar == DTX_SUGAR_FALSE)
			return json_pack("{s:[{s:s},{s:b}]}", "anyOf", "type", "string", "const",
			                 0);
		return schema_type("string");
	default: return schema_type("string");
	}
}

/* null means absent, everywhere. */
static json_t *schema_or_null(json_t *s)
{
	return s ? json_pack("{s:[o,{s:s}]}", "anyOf", s, "type", "null") : NULL;
}

json_t *dtx_param_schema(const struct dtx_param *params, size_t n)
{
	json_t *all = json_object();
	size_t i;

	for (i = 0; all && i < n; i++) {
		const struct dtx_param *p = &params[i];
		json_t *s = p->required ? schema_of(p) : schema_or_null(schema_of(p));
		bool ok = s != NULL;

		if (ok && p->help)
			ok = dtx_json_set(s, "description", json_string(p->help));
		if (ok && p->def)
			ok = dtx_json_set(s, "default", canon_default(p));
		if (!ok)
			json_decref(s);
		if (!ok || !dtx_json_set(all, p->name, s)) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

/* Window frames: {"rows": [-6, 0]} or {"range": ["-7d", "0d"]}; null is an open end. */

#define FRAME_MAX ((int64_t)UINT32_MAX)

static enum dtx_code frame_wrong(const struct dtx_param_in *in, enum dtx_code code,
                                 const char *what, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;

	DTX_PARAM_FIND(code, "'%s' %s", in->p->name, what);
	dtx_err_hint(&f, "as in {\"rows\": [-6, 0]}, from six rows before to this one, or in "
	                 "{\"range\": [\"-7d\", \"0d\"]}, the seven days up to this time; null is "
	                 "an open end");
	return dtx_param_found(in->ctx, &f, in->pointer, err);
}

static bool edge_rows(const json_t *v, struct dtx_winedge *e)
{
	e->open = json_is_null(v);
	e->rows = json_integer_value(v);
	return e->open || (json_is_integer(v) && llabs(e->rows) <= FRAME_MAX);
}

/* Any text is accepted here: durations are parsed later, where units of time are known. */
static bool edge_range(const json_t *v, struct dtx_winedge *e)
{
	e->open = json_is_null(v);
	e->units = json_number_value(v);
	e->span = json_string_value(v);
	return e->open || e->span || (json_is_number(v) && fabs(e->units) < 0x1p53);
}

static enum dtx_code frame_rows(const struct dtx_param_in *in, const json_t *ends,
                                struct dtx_err *err)
{
	struct dtx_row_frame f = { .set = true };

	if (!edge_rows(json_array_get(ends, 0), &f.from) ||
	    !edge_rows(json_array_get(ends, 1), &f.to))
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE, "must be two whole numbers or nulls",
		                   err);
	if (!f.from.open && !f.to.open && f.from.rows > f.to.rows)
		return frame_wrong(in, DTX_E_BAD_PARAM_VALUE, "ends before it begins", err);
	memcpy(in->to, &f, sizeof(f));
	return DTX_OK;
}

static enum dtx_code frame_range(const struct dtx_param_in *in, const json_t *ends,
                                 struct dtx_err *err)
{
	struct dtx_row_frame f = { .set = true, .range = true };
	bool plain;

	if (!edge_range(json_array_get(ends, 0), &f.from) ||
	    !edge_range(json_array_get(ends, 1), &f.to))
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE,
		                   "must be two durations, two numbers or nulls", err);
	plain = !f.from.open && !f.to.open;
	if (plain && !f.from.span != !f.to.span)
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE,
		                   "must be two durations or two numbers, not one of each", err);
	if (plain && !f.from.span && f.from.units >= f.to.units)
		return frame_wrong(in, DTX_E_BAD_PARAM_VALUE,
		                   "by range is empty: it begins after its end", err);
	memcpy(in->to, &f, sizeof(f));
	return DTX_OK;
}

enum dtx_code dtx_param_frame(const struct dtx_param_in *in, struct dtx_err *err)
{
	const json_t *rows = json_object_get(in->v, "rows");
	const json_t *range = json_object_get(in->v, "range");
	bool by_rows = rows && !json_is_null(rows), by_range = range && !json_is_null(range);
	size_t known = (rows ? 1u : 0u) + (range ? 1u : 0u);

	if (by_rows == by_range || json_object_size(in->v) != known ||
	    json_array_size(by_rows ? rows : range) != 2)
		return frame_wrong(in, DTX_E_BAD_PARAM_TYPE,
		                   "must be {\"rows\": [from, to]} or {\"range\": [from, to]}",
		                   err);
	return by_rows ? frame_rows(in, rows, err) : frame_range(in, range, err);
}

static json_t *edge_json(const struct dtx_row_frame *f, const struct dtx_winedge *e)
{
	if (e->open)
		return json_null();
	if (!f->range)
		return json_integer(e->rows);
	return e->span ? json_string(e->span) : json_real(e->units);
}

json_t *dtx_param_frame_json(const struct dtx_row_frame *f)
{
	return json_pack("{s:[o,o]}", f->range ? "range" : "rows", edge_json(f, &f->from),
	                 edge_json(f, &f->to));
}

/* An array of two ends of the given types.  Strict schemas have no keyword for the number of
 * items. */
static json_t *ends_schema(bool strict, json_t *types)
{
	json_t *item = types ? json_pack("{s:o}", "type", types) : NULL;

	if (strict)
		return json_pack("{s:[s,s],s:o}", "type", "array", "null", "items", item);
	return json_pack("{s:[s,s],s:i,s:i,s:o}", "type", "array", "null", "minItems", 2,
	                 "maxItems", 2, "items", item);
}

json_t *dtx_param_frame_schema(bool strict)
{
	json_t *rows = ends_schema(strict, json_pack("[s,s]", "integer", "null"));
	json_t *range = ends_schema(strict, json_pack("[s,s,s]", "string", "number", "null"));
	json_t *s = json_pack("{s:s,s:{s:o,s:o},s:b}", "type", "object", "properties", "rows", rows,
	                      "range", range, "additionalProperties", 0);

	if (s && strict && !dtx_json_set(s, "required", json_pack("[s,s]", "rows", "range"))) {
		json_decref(s);
		return NULL;
	}
	return s;
}

/* Sets of names: "rollup", "cube", or a list of lists. */

static enum dtx_code sets_word(const struct dtx_param_in *in, struct dtx_psets *s,
                               struct dtx_err *err)
{
	static const char *const words[] = { "rollup", "cube" };
	struct dtx_err f = DTX_ERR_INIT;
	const char *word = json_string_value(in->v);

	for (size_t i = 0; i < DTX_COUNT(words); i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		s->how = i ? DTX_SETS_CUBE : DTX_SETS_ROLLUP;
		return DTX_OK;
	}
	DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%s' cannot be '%.60s'", in->p->name, word);
	dtx_err_suggest(&f, word, words, DTX_COUNT(words));
	dtx_err_hint(&f,
	             "it must be rollup, cube, or a list of lists of keys, such as [[\"a\"], []]");
	return dtx_param_found(in->ctx, &f, in->pointer, err);
}

static enum dtx_code sets_list(const struct dtx_param_in *in, struct dtx_psets *s,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t n = json_array_size(in->v);

	s->set = dtx_arena_zalloc(in->ctx->arena, n + 1, sizeof(*s->set));
	if (!s->set)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < n; i++) {
		struct dtx_param_in item = *in;
		char pointer[DTX_PARAM_POINTER];

		snprintf(pointer, sizeof(pointer), "%s", in->pointer);
		dtx_json_pointer_index(pointer, sizeof(pointer), i);
		item.v = json_array_get(in->v, i);
		item.pointer = pointer;
		item.to = &s->set[i];
		if (!json_is_array(item.v))
			return dtx_param_wrong_kind(&item, err);
		DTX_TRY(dtx_param_texts(&item, err));
	}
	s->n = n;
	s->how = DTX_SETS_LIST;
out:
	return rc;
}

enum dtx_code dtx_param_sets(const struct dtx_param_in *in, struct dtx_err *err)
{
	struct dtx_psets s = { .how = DTX_SETS_NONE };
	enum dtx_code rc = DTX_OK;

	if (json_is_string(in->v))
		DTX_TRY(sets_word(in, &s, err));
	else if (json_is_array(in->v))
		DTX_TRY(sets_list(in, &s, err));
	else
		return dtx_param_wrong_kind(in, err);
	memcpy(in->to, &s, sizeof(s));
out:
	return rc;
}

json_t *dtx_param_sets_json(const struct dtx_psets *s)
{
	json_t *list;

	if (s->how != DTX_SETS_LIST)
		return json_string(s->how == DTX_SETS_CUBE ? "cube" : "rollup");
	list = json_array();
	for (size_t i = 0; list && i < s->n; i++) {
		json_t *set = canon_texts(&s->set[i]);

		if (!set || json_array_append_new(list, set) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *dtx_param_sets_schema(void)
{
	return json_pack("{s:[{s:s,s:[s,s]},{s:s,s:{s:s,s:{s:s}}}]}", "anyOf", "type", "string",
	                 "enum", "rollup", "cube", "type", "array", "items", "type", "array",
	                 "items", "type", "string");
}
