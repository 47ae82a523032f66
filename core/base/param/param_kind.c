/* Parameter values by kind: scalars, what core/plan parses, and lists with their short forms. */
#include "core/base/param/param_impl.h"

#include <math.h>
#include <stdio.h>

#include "core/base/text/synonyms.h"

#define PARAM_INT_MAX (((int64_t)1 << 53) - 1)

static enum dtx_code param_wrong_kind(const struct dtx_param *p, const json_t *v,
                                      struct dtx_param_ctx *ctx, const char *pointer,
                                      struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	struct dtx_buf kind = DTX_BUF_INIT(1000);

	dtx_param_wants_text(p, &kind);
	DTX_PARAM_FIND(DTX_E_BAD_PARAM_TYPE, "'%s' must be %s, got %s", p->name,
	               dtx_buf_text(&kind), dtx_param_json_kind(v));
	dtx_buf_clear(&kind);
	return dtx_param_found(ctx, &f, pointer, err);
}

enum dtx_code dtx_param_wrong_kind(const struct dtx_param_in *in, struct dtx_err *err)
{
	return param_wrong_kind(in->p, in->v, in->ctx, in->pointer, err);
}

/* --- scalars --- */

static enum dtx_code param_int(const struct dtx_param_in *in, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	double real = json_number_value(in->v);
	int64_t v = json_is_integer(in->v) ? json_integer_value(in->v) : 0;
	bool bounded = in->p->min || in->p->max;

	if (!json_is_number(in->v) || (json_is_real(in->v) && real != trunc(real)))
		return param_wrong_kind(in->p, in->v, in->ctx, in->pointer, err);
	if (json_is_real(in->v) && fabs(real) <= (double)PARAM_INT_MAX)
		v = (int64_t)real;
	else if (json_is_real(in->v))
		v = INT64_MAX;
	if (v > PARAM_INT_MAX || v < -PARAM_INT_MAX) {
		DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%s' is beyond 2^53 - 1", in->p->name);
		return dtx_param_found(in->ctx, &f, in->pointer, err);
	}
	if (bounded && (v < in->p->min || v > in->p->max)) {
		DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%s' is %lld, but must be %lld or more",
		               in->p->name, (long long)v, (long long)in->p->min);
		if (in->p->max < PARAM_INT_MAX)
			DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE,
			               "'%s' is %lld, but must be %lld to %lld", in->p->name,
			               (long long)v, (long long)in->p->min, (long long)in->p->max);
		return dtx_param_found(in->ctx, &f, in->pointer, err);
	}
	memcpy(in->to, &v, sizeof(v));
	return DTX_OK;
}

static enum dtx_code param_number(const struct dtx_param_in *in, struct dtx_err *err)
{
	double v = json_number_value(in->v);

	if (!json_is_number(in->v))
		return param_wrong_kind(in->p, in->v, in->ctx, in->pointer, err);
	memcpy(in->to, &v, sizeof(v));
	return DTX_OK;
}

static enum dtx_code param_bool(const struct dtx_param_in *in, struct dtx_err *err)
{
	bool v = json_is_true(in->v);

	if (!json_is_boolean(in->v))
		return param_wrong_kind(in->p, in->v, in->ctx, in->pointer, err);
	memcpy(in->to, &v, sizeof(v));
	return DTX_OK;
}

static enum dtx_code param_text(const struct dtx_param_in *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err f = DTX_ERR_INIT;
	bool name = in->p->kind == DTX_P_COLUMN || in->p->kind == DTX_P_TABLE;
	const char *copy = "";

	if (in->p->sugar == DTX_SUGAR_FALSE && json_is_false(in->v)) {
		memcpy(in->to, &copy, sizeof(copy));
		goto out;
	}
	if (!json_is_string(in->v))
		return param_wrong_kind(in->p, in->v, in->ctx, in->pointer, err);
	if (name && !json_string_length(in->v)) {
		DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%s' is an empty name", in->p->name);
		return dtx_param_found(in->ctx, &f, in->pointer, err);
	}
	copy = dtx_arena_strndup(in->ctx->arena, json_string_value(in->v),
	                         json_string_length(in->v));
	if (!copy)
		DTX_FAIL_MEM(err);
	memcpy(in->to, &copy, sizeof(copy));
out:
	return rc;
}

/* The word of `choices` that `text` is a synonym of. */
static struct dtx_str param_synonym(const struct dtx_param *p, const char *text)
{
	struct dtx_str rest = dtx_str_of(p->synonyms ? p->synonyms : ""), pair, word;

	while (dtx_str_next(&rest, ',', &pair))
		if (dtx_str_next(&pair, '=', &word) && dtx_str_is(word, text))
			return pair;
	return dtx_str_of(text);
}

/* Adds a suggestion for an unknown choice: another tool's word for one, or one that is spelt
 * alike. */
static void param_choice_meant(const struct dtx_param_in *in, const char *const *have, size_t n,
                               struct dtx_err *f)
{
	const char *text = json_string_value(in->v), *op = in->ctx->op;
	char of[80];

	snprintf(of, sizeof(of), "%s.%s", op ? op : "", in->p->name);
	if (!dtx_err_foreign(f, of, text, have, n))
		dtx_err_suggest(f, text, have, n);
}

static enum dtx_code param_choice(const struct dtx_param_in *in, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	struct dtx_str rest = dtx_str_of(in->p->choices), word, want;
	const char *have[DTX_PARAM_NAMES_MAX];
	struct dtx_buf list = DTX_BUF_INIT(2000);
	char words[1024];
	size_t n = 0, used = 0;
	int index;

	if (!json_is_string(in->v))
		return param_wrong_kind(in->p, in->v, in->ctx, in->pointer, err);
	want = param_synonym(in->p, json_string_value(in->v));
	for (index = 0; dtx_str_next(&rest, ',', &word); index++) {
		if (dtx_str_eq(word, want)) {
			memcpy(in->to, &index, sizeof(index));
			return DTX_OK;
		}
		if (n < DTX_PARAM_NAMES_MAX && used + word.len + 1 < sizeof(words)) {
			have[n++] = words + used;
			dtx_str_copy(words + used, sizeof(words) - used, word);
			used += word.len + 1;
		}
	}
	if (dtx_str_in_list(in->p->unsupported, json_string_value(in->v))) {
		DTX_PARAM_FIND(DTX_E_UNSUPPORTED_PARAM,
		               "'%s': '%.60s' is not built into this version", in->p->name,
		               json_string_value(in->v));
	} else {
		DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%s' cannot be '%.60s'", in->p->name,
		               json_string_value(in->v));
		param_choice_meant(in, have, n, &f);
	}
	if (!f.hint[0]) {
		dtx_param_kind_text(in->p, &list);
		dtx_err_hint(&f, "it must be %s", dtx_buf_text(&list));
		dtx_buf_clear(&list);
	}
	return dtx_param_found(in->ctx, &f, in->pointer, err);
}

static enum dtx_code param_value(const struct dtx_param_in *in, struct dtx_err *err)
{
	if (json_is_object(in->v) || json_is_array(in->v))
		return param_wrong_kind(in->p, in->v, in->ctx, in->pointer, err);
	memcpy(in->to, &in->v, sizeof(in->v));
	return DTX_OK;
}

/* --- what core/plan parses --- */

static enum dtx_code param_expr(const struct dtx_param_in *in, struct dtx_err *err)
{
	const struct dtx_param_hooks *h = in->ctx->hooks;
	struct dtx_err f = DTX_ERR_INIT;
	enum dtx_code rc = h->expr(h->arg, in->v, in->pointer, in->to, &f);

	return rc == DTX_OK ? DTX_OK : dtx_param_found(in->ctx, &f, in->pointer, err);
}

static enum dtx_code param_type(const struct dtx_param_in *in, struct dtx_err *err)
{
	static const char *const words[] = { "text", "int",  "float",   "decimal(p,s)",
		                             "bool", "date", "datetime" };
	const struct dtx_param_hooks *h = in->ctx->hooks;
	struct dtx_err f = DTX_ERR_INIT;
	const char *text = json_string_value(in->v), *name = NULL;
	enum dtx_code rc = DTX_OK;

	if (!text)
		return param_wrong_kind(in->p, in->v, in->ctx, in->pointer, err);
	DTX_TRY(h->type(h->arg, text, &name, err));
	if (name) {
		memcpy(in->to, &name, sizeof(name));
		goto out;
	}
	DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%.60s' is not a type", text);
	dtx_err_hint(&f, "types are text, int, float, decimal(p,s), bool, date and datetime");
	if (!dtx_err_foreign(&f, "type", text, words, DTX_COUNT(words)))
		dtx_err_suggest(&f, text, words, DTX_COUNT(words));
	rc = dtx_param_found(in->ctx, &f, in->pointer, err);
out:
	return rc;
}

static enum dtx_code param_columns(const struct dtx_param_in *in, struct dtx_err *err)
{
	const struct dtx_param_hooks *h = in->ctx->hooks;
	struct dtx_errlist found = DTX_ERRLIST_INIT;
	struct dtx_err f = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	if (in->p->nonempty && json_is_array(in->v) && !json_array_size(in->v)) {
		DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%s' is empty", in->p->name);
		return dtx_param_found(in->ctx, &f, in->pointer, err);
	}
	DTX_TRY(h->columns(h->arg, in->v, in->pointer, &found, in->to, err));
	for (size_t i = 0; i < found.n; i++)
		DTX_TRY(dtx_param_found(in->ctx, &found.item[i], in->pointer, err));
out:
	dtx_errlist_clear(&found);
	return rc;
}

/* --- lists --- */

/* Makes room for n items of a list.  Also checks `nonempty`. */
static enum dtx_code param_list_new(const struct dtx_param_in *in, size_t n, size_t size,
                                    struct dtx_plist *list, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err f = DTX_ERR_INIT;

	list->n = 0;
	list->item = NULL;
	if (!n && in->p->nonempty) {
		DTX_PARAM_FIND(DTX_E_BAD_PARAM_VALUE, "'%s' is empty", in->p->name);
		return dtx_param_found(in->ctx, &f, in->pointer, err);
	}
	list->item = dtx_arena_zalloc(in->ctx->arena, n, size);
	if (!list->item)
		DTX_FAIL_MEM(err);
	list->n = n;
out:
	return rc;
}

/* Stores a list.  An empty list where one item is required keeps the hole that is there. */
static void param_list_put(const struct dtx_param_in *in, const struct dtx_plist *list)
{
	if (list->n || !in->p->nonempty)
		memcpy(in->to, list, sizeof(*list));
}

/* The pointer of item i.  A scalar that stands for a list of one item has the pointer of the
 * list. */
static void param_item_pointer(const struct dtx_param_in *in, size_t i, char out[DTX_PARAM_POINTER])
{
	snprintf(out, DTX_PARAM_POINTER, "%s", in->pointer);
	if (json_is_array(in->v))
		dtx_json_pointer_index(out, DTX_PARAM_POINTER, i);
}

/* A list of pointers, each read by `set`.  A value that cannot be read stays `hole`. */
static enum dtx_code param_scalars(const struct dtx_param_in *in, const void *hole,
                                   enum dtx_code (*set)(const struct dtx_param_in *,
                                                        struct dtx_err *),
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool one = !json_is_array(in->v);
	size_t n = one ? 1 : json_array_size(in->v), i;
	struct dtx_plist list;

	DTX_TRY(param_list_new(in, n, sizeof(void *), &list, err));
	for (i = 0; i < list.n; i++) {
		struct dtx_param_in item = *in;
		char pointer[DTX_PARAM_POINTER];

		param_item_pointer(in, i, pointer);
		item.v = one ? in->v : json_array_get(in->v, i);
		item.pointer = pointer;
		item.to = (const void **)list.item + i;
		memcpy(item.to, &hole, sizeof(hole));
		DTX_TRY(set(&item, err));
	}
	param_list_put(in, &list);
out:
	return rc;
}

enum dtx_code dtx_param_texts(const struct dtx_param_in *in, struct dtx_err *err)
{
	return param_scalars(in, dtx_param_hole, param_text, err);
}

static enum dtx_code param_values(const struct dtx_param_in *in, struct dtx_err *err)
{
	return param_scalars(in, NULL, param_value, err);
}

/* The value of p in object, under its name or an alias; null counts as absent. */
static const json_t *param_get(const struct dtx_param *p, const json_t *object)
{
	const json_t *member, *hit = NULL;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)object, key, member)
	{
		if (!json_is_null(member) && dtx_param_named(p, key))
			hit = member;
	}
	return hit;
}

/* Whether object is one item rather than a map of items: it has every required member of an item
 * and no other. */
static bool param_is_item(const struct dtx_param *list, const json_t *object)
{
	const json_t *member;
	const char *key;
	size_t i;

	for (i = 0; i < list->nrows; i++) {
		if (list->rows[i].required && !param_get(&list->rows[i], object))
			return false;
	}
	json_object_foreach((json_t *)(uintptr_t)object, key, member)
	{
		for (i = 0; i < list->nrows && !dtx_param_named(&list->rows[i], key); i++)
			;
		if (i == list->nrows)
			return false;
	}
	/* {"left": "x"} is a map of one column: an item has both sides. */
	return json_object_size(object) > (list->sugar == DTX_SUGAR_BOTH ? 1u : 0u);
}

static bool param_is_word(const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++) {
		char c = text[i];

		if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (i && c >= '0' && c <= '9')))
			return false;
	}
	return i > 0;
}

/* {"hours": "sum"} means sum(`hours`).  NULL: out of memory. */
static json_t *param_agg_text(const char *key, const char *fn)
{
	struct dtx_buf text = DTX_BUF_INIT((size_t)1 << 20);
	json_t *v = NULL;

	dtx_buf_printf(&text, "%s(`", fn);
	for (; *key; key++) {
		if (*key == '`')
			dtx_buf_addc(&text, '`');
		dtx_buf_addc(&text, *key);
	}
	dtx_buf_add(&text, "`)");
	if (dtx_buf_ok(&text))
		v = json_stringn(text.ptr, text.len);
	dtx_buf_clear(&text);
	return v;
}

/* One entry of a map as an item.  New reference; NULL: out of memory. */
static json_t *param_map_item(const struct dtx_param *list, const char *key, const json_t *value)
{
	bool members = json_is_object(value) && list->rows[1].kind != DTX_P_COLUMNS;
	json_t *v = (json_t *)(uintptr_t)value;
	json_t *item = members ? json_copy(v) : json_object();

	if (!item)
		return NULL;
	if (!dtx_json_set(item, list->rows[0].name, json_string(key)))
		goto fail;
	if (!members) {
		if (list->sugar == DTX_SUGAR_AGG && json_is_string(v) &&
		    param_is_word(json_string_value(v)))
			v = param_agg_text(key, json_string_value(v));
		else
			v = json_incref(v);
		if (!dtx_json_set(item, list->rows[1].name, v))
			goto fail;
	}
	return item;
fail:
	json_decref(item);
	return NULL;
}

/* A scalar as an item.  New reference; NULL: out of memory. */
static json_t *param_scalar_item(const struct dtx_param *list, const json_t *value)
{
	json_t *item = json_object(), *v = (json_t *)(uintptr_t)value;
	const char *text = json_string_value(value);
	bool desc = list->sugar == DTX_SUGAR_SORT && text && text[0] == '-' && text[1];
	bool ok = item != NULL;

	v = desc ? json_string(text + 1) : json_incref(v);
	if (!ok)
		json_decref(v);
	ok = ok && dtx_json_set(item, list->rows[0].name, v);
	if (ok && desc)
		ok = dtx_json_set(item, "desc", json_true());
	if (ok && list->sugar == DTX_SUGAR_BOTH)
		ok = dtx_json_set(item, list->rows[1].name,
		                  json_incref((json_t *)(uintptr_t)value));
	if (ok)
		return item;
	json_decref(item);
	return NULL;
}

/* Values borrow from their JSON, so JSON that sugar made is kept as long as they live. */
static bool param_keep(const struct dtx_param_ctx *ctx, json_t *made)
{
	return !ctx->kept || json_array_append(ctx->kept, made) == 0;
}

static enum dtx_code param_item(const struct dtx_param_in *in, const json_t *v, const char *pointer,
                                void *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_param_place place = { pointer, false };
	json_t *made = NULL;

	if (!json_is_object(v)) {
		if (!dtx_param_takes_scalar(in->p->sugar) || json_is_array(v)) {
			DTX_TRY(dtx_param_holes(in->p->rows, in->p->nrows, in->ctx, to, err));
			return param_wrong_kind(in->p, v, in->ctx, pointer, err);
		}
		place.flat = true;
		made = param_scalar_item(in->p, v);
		if (!made || !param_keep(in->ctx, made))
			DTX_FAIL_MEM(err);
		v = made;
	}
	DTX_TRY(dtx_param_rows(in->p->rows, in->p->nrows, v, place, in->ctx, to, err));
out:
	json_decref(made);
	return rc;
}

static enum dtx_code param_map(const struct dtx_param_in *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *value;
	struct dtx_plist list;
	json_t *item = NULL;
	const char *key;
	size_t i = 0;

	DTX_TRY(param_list_new(in, json_object_size(in->v), in->p->item_size, &list, err));
	json_object_foreach((json_t *)(uintptr_t)in->v, key, value)
	{
		struct dtx_param_place place = { NULL, !json_is_object(value) };
		char pointer[DTX_PARAM_POINTER];

		if (!list.n)
			break;
		snprintf(pointer, sizeof(pointer), "%s", in->pointer);
		dtx_json_pointer_add(pointer, sizeof(pointer), key);
		place.pointer = pointer;
		item = param_map_item(in->p, key, value);
		if (!item || !param_keep(in->ctx, item))
			DTX_FAIL_MEM(err);
		DTX_TRY(dtx_param_rows(in->p->rows, in->p->nrows, item, place, in->ctx,
		                       (char *)list.item + i++ * in->p->item_size, err));
		json_decref(item);
		item = NULL;
	}
	param_list_put(in, &list);
out:
	json_decref(item);
	return rc;
}

static enum dtx_code param_list(const struct dtx_param_in *in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool one = !json_is_array(in->v);
	size_t n = one ? 1 : json_array_size(in->v), i;
	struct dtx_plist list;

	if (!in->p->rows)
		return dtx_param_texts(in, err);
	if (json_is_object(in->v) && dtx_param_takes_map(in->p->sugar) &&
	    !param_is_item(in->p, in->v))
		return param_map(in, err);
	DTX_TRY(param_list_new(in, n, in->p->item_size, &list, err));
	for (i = 0; i < list.n; i++) {
		char pointer[DTX_PARAM_POINTER];

		param_item_pointer(in, i, pointer);
		DTX_TRY(param_item(in, one ? in->v : json_array_get(in->v, i), pointer,
		                   (char *)list.item + i * in->p->item_size, err));
	}
	param_list_put(in, &list);
out:
	return rc;
}

enum dtx_code dtx_param_set(const struct dtx_param_in *in, struct dtx_err *err)
{
	static enum dtx_code (*const set[])(const struct dtx_param_in *, struct dtx_err *) = {
		[DTX_P_INT] = param_int,         [DTX_P_NUMBER] = param_number,
		[DTX_P_BOOL] = param_bool,       [DTX_P_TEXT] = param_text,
		[DTX_P_CHOICE] = param_choice,   [DTX_P_COLUMN] = param_text,
		[DTX_P_TABLE] = param_text,      [DTX_P_REGEX] = param_text,
		[DTX_P_EXPR] = param_expr,       [DTX_P_COLUMNS] = param_columns,
		[DTX_P_VALUE] = param_value,     [DTX_P_LIST] = param_list,
		[DTX_P_TYPE] = param_type,       [DTX_P_TEXTS] = dtx_param_texts,
		[DTX_P_FRAME] = dtx_param_frame, [DTX_P_VALUES] = param_values,
		[DTX_P_SETS] = dtx_param_sets,
	};

	const struct dtx_param_hooks *h = in->ctx->hooks;
	struct dtx_param_in filled = *in;
	enum dtx_code rc = DTX_OK;
	json_t *value;

	/* members of rows come here one by one */
	if (!h || !h->fill || in->p->kind == DTX_P_EXPR || in->p->rows)
		return set[in->p->kind](in, err);
	value = h->fill(h->arg, in->v);
	if (!value || (value != in->v && !param_keep(in->ctx, value)))
		DTX_FAIL_MEM(err);
	filled.v = value;
	rc = set[in->p->kind](&filled, err);
out:
	json_decref(value);
	return rc;
}
