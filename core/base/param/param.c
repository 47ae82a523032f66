/* Fills C structs from JSON objects by tables of parameters.  A wrong member is recorded and the
 * others are still checked; only lack of memory ends the work. */
#include "core/base/param/param_impl.h"

#include <stdio.h>

#include "core/base/text/synonyms.h"

const char dtx_param_hole[] = "";

static void param_pointer(struct dtx_param_place place, const char *name,
                          char out[DTX_PARAM_POINTER])
{
	snprintf(out, DTX_PARAM_POINTER, "%s", place.pointer);
	if (!place.flat)
		dtx_json_pointer_add(out, DTX_PARAM_POINTER, name);
}

enum dtx_code dtx_param_found(struct dtx_param_ctx *ctx, struct dtx_err *f, const char *pointer,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (f->code == DTX_E_NO_MEMORY) {
		dtx_err_move(err, f);
		return DTX_E_NO_MEMORY;
	}
	dtx_err_at(f, pointer);
	if (ctx->step >= 0)
		dtx_err_step(f, ctx->step, ctx->op);
	f->severity = dtx_err_severity(f, false);
	if (!dtx_errlist_take(ctx->errs, f))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

const char *dtx_param_json_kind(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "a list";
	case JSON_STRING: return "text";
	case JSON_INTEGER: return "an integer";
	case JSON_REAL: return "a number";
	case JSON_TRUE:
	case JSON_FALSE: return "a bool";
	default: return "null";
	}
}

static enum dtx_code param_default(const struct dtx_param *p, const char *pointer,
                                   struct dtx_param_ctx *ctx, void *to, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_param_in in = { p, NULL, ctx, pointer, to };
	json_t *v = NULL;
	int absent = -1;

	if (p->kind == DTX_P_CHOICE)
		memcpy(to, &absent, sizeof(absent));
	if (!p->def || p->kind == DTX_P_VALUE)
		return DTX_OK;
	DTX_TRY(dtx_json_parse(dtx_str_of(p->def), (struct dtx_json_limits){ 0, 0 }, &v, err));
	in.v = v;
	DTX_TRY(dtx_param_set(&in, err));
out:
	json_decref(v);
	return rc;
}

static void param_hole_pointer(const void *hole, void *to)
{
	memcpy(to, &hole, sizeof(hole));
}

/* A list that must not be empty gets one item of holes, so that code which reads the first item
 * needs no check. */
static enum dtx_code param_hole_list(const struct dtx_param *p, struct dtx_param_ctx *ctx, void *to,
                                     struct dtx_err *err)
{
	struct dtx_plist list = { NULL, 1 };
	enum dtx_code rc = DTX_OK;

	list.item = dtx_arena_zalloc(ctx->arena, 1, p->rows ? p->item_size : sizeof(char *));
	if (!list.item)
		DTX_FAIL_MEM(err);
	if (p->rows)
		DTX_TRY(dtx_param_holes(p->rows, p->nrows, ctx, list.item, err));
	else
		param_hole_pointer(dtx_param_hole, list.item);
	memcpy(to, &list, sizeof(list));
out:
	return rc;
}

/* Fills in the placeholder for a value that is missing or wrong. */
static enum dtx_code param_hole(const struct dtx_param *p, struct dtx_param_ctx *ctx, void *to,
                                struct dtx_err *err)
{
	switch (p->kind) {
	case DTX_P_CHOICE: memcpy(to, &p->hole, sizeof(p->hole)); break;
	case DTX_P_TEXT:
	case DTX_P_COLUMN:
	case DTX_P_TABLE:
	case DTX_P_TYPE:
	case DTX_P_REGEX: param_hole_pointer(dtx_param_hole, to); return DTX_OK;
	case DTX_P_EXPR: param_hole_pointer(ctx->hooks->expr_hole, to); return DTX_OK;
	case DTX_P_COLUMNS: param_hole_pointer(ctx->hooks->columns_hole, to); return DTX_OK;
	case DTX_P_VALUE: param_hole_pointer(json_null(), to); return DTX_OK;
	case DTX_P_LIST:
	case DTX_P_TEXTS:
		if (p->nonempty)
			return param_hole_list(p, ctx, to, err);
		break;
	default: break;
	}
	return p->def ? param_default(p, "", ctx, to, err) : DTX_OK;
}

enum dtx_code dtx_param_holes(const struct dtx_param *params, size_t n, struct dtx_param_ctx *ctx,
                              void *args, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < n; i++) {
		void *to = (char *)args + params[i].offset;

		if (params[i].required)
			DTX_TRY(param_hole(&params[i], ctx, to, err));
		else
			DTX_TRY(param_default(&params[i], "", ctx, to, err));
	}
out:
	return rc;
}

/* Finds the one member that is p, under its name or an alias.  Two of them are a conflict. */
static enum dtx_code param_pick(const struct dtx_param *p, const json_t *object,
                                struct dtx_param_place place, struct dtx_param_ctx *ctx,
                                const json_t **value, const char **name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err f = DTX_ERR_INIT;
	char pointer[DTX_PARAM_POINTER];
	const json_t *member;
	const char *key;

	*value = NULL;
	*name = p->name;
	json_object_foreach((json_t *)(uintptr_t)object, key, member)
	{
		if (json_is_null(member) || !dtx_param_named(p, key))
			continue;
		if (*value) {
			DTX_PARAM_FIND(DTX_E_PARAM_CONFLICT, "'%s' and '%s' are the same parameter",
			               *name, key);
			param_pointer(place, key, pointer);
			DTX_TRY(dtx_param_found(ctx, &f, pointer, err));
			continue;
		}
		*value = member;
		*name = key;
	}
out:
	return rc;
}

static enum dtx_code param_one(const struct dtx_param *p, const json_t *object,
                               struct dtx_param_place place, struct dtx_param_ctx *ctx, void *args,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err f = DTX_ERR_INIT;
	struct dtx_buf kind = DTX_BUF_INIT(1000);
	struct dtx_param_in in = { .p = p, .ctx = ctx, .to = (char *)args + p->offset };
	char pointer[DTX_PARAM_POINTER];
	const char *name;

	DTX_TRY(param_pick(p, object, place, ctx, &in.v, &name, err));
	param_pointer(place, name, pointer);
	in.pointer = pointer;
	if (in.v || p->required)
		DTX_TRY(param_hole(p, ctx, in.to, err));
	if (in.v) {
		DTX_TRY(dtx_param_set(&in, err));
	} else if (p->required) {
		dtx_param_wants_text(p, &kind);
		DTX_PARAM_FIND(DTX_E_MISSING_PARAM, "%s%s'%s' is missing: %s",
		               ctx->op ? ctx->op : "", ctx->op && ctx->op[0] ? ": " : "", p->name,
		               dtx_buf_text(&kind));
		DTX_TRY(dtx_param_found(ctx, &f, place.pointer, err));
	} else {
		DTX_TRY(param_default(p, pointer, ctx, in.to, err));
	}
out:
	dtx_buf_clear(&kind);
	return rc;
}

/* The key under which other tools' words for a member are listed: the op, or the kind of object
 * ("/inputs/0": inputs). */
static void param_owner(const struct dtx_param_ctx *ctx, const char *pointer, char *out,
                        size_t size)
{
	struct dtx_str rest = dtx_str_of(pointer), word, last = DTX_STR("");

	while (dtx_str_next(&rest, '/', &word))
		if (word.len && (word.ptr[0] < '0' || word.ptr[0] > '9'))
			last = word;
	if (ctx->op && ctx->op[0])
		last = dtx_str_of(ctx->op);
	dtx_str_copy(out, size, last);
}

/* Whether pointer is a step: "/steps/3", or "/3" in a plan that is a bare list. */
static bool param_is_step(const char *pointer)
{
	const char *last = strrchr(pointer, '/');

	return last && (last == pointer || strchr(pointer + 1, '/') == last);
}

/* Adds what `key` means in another tool, if that is a member that is allowed here. */
static bool param_foreign(const char *key, const char *const *names, size_t n,
                          struct dtx_param_place place, const struct dtx_param_ctx *ctx,
                          struct dtx_err *f)
{
	static const char *const shared[] = { "in", "out", "note" }, *const apart[] = { "dialect" };
	char owner[64];

	param_owner(ctx, place.pointer, owner, sizeof(owner));
	if (dtx_err_foreign(f, owner, key, names, n))
		return true;
	if (!ctx->op || !ctx->op[0])
		return dtx_err_foreign(f, owner, key, apart, DTX_COUNT(apart));
	/* An item of a list has no table of synonyms of its own. */
	return param_is_step(place.pointer) &&
	       dtx_err_foreign(f, "*", key, shared, DTX_COUNT(shared));
}

static enum dtx_code param_unknown(const struct dtx_param *params, size_t n, const char *key,
                                   struct dtx_param_place place, struct dtx_param_ctx *ctx,
                                   struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	const char *names[DTX_PARAM_NAMES_MAX];
	struct dtx_buf list = DTX_BUF_INIT(1000);
	char pointer[DTX_PARAM_POINTER];
	size_t i;

	for (i = 0; i < n && i < DTX_PARAM_NAMES_MAX; i++) {
		names[i] = params[i].name;
		dtx_buf_printf(&list, "%s%s", i ? ", " : "", params[i].name);
	}
	if (dtx_str_in_list(ctx->unsupported, key))
		DTX_PARAM_FIND(DTX_E_UNSUPPORTED_PARAM, "'%.60s' is not built into this version",
		               key);
	else
		DTX_PARAM_FIND(DTX_E_UNKNOWN_PARAM, "%s%sno parameter '%.60s'",
		               ctx->op ? ctx->op : "", ctx->op && ctx->op[0] ? " has " : "", key);
	if (f.code == DTX_E_UNKNOWN_PARAM) {
		dtx_err_hint(&f, "there are: %s", dtx_buf_text(&list));
		if (!param_foreign(key, names, i, place, ctx, &f))
			dtx_err_suggest(&f, key, names, i);
	}
	dtx_buf_clear(&list);
	param_pointer(place, key, pointer);
	return dtx_param_found(ctx, &f, pointer, err);
}

enum dtx_code dtx_param_rows(const struct dtx_param *params, size_t n, const json_t *object,
                             struct dtx_param_place place, struct dtx_param_ctx *ctx, void *args,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const json_t *member;
	const char *key;
	size_t i;

	for (i = 0; i < n; i++)
		DTX_TRY(param_one(&params[i], object, place, ctx, args, err));
	json_object_foreach((json_t *)(uintptr_t)object, key, member)
	{
		if (json_is_null(member) || !strncmp(key, "x-", 2))
			continue;
		for (i = 0; i < n && !dtx_param_named(&params[i], key); i++)
			;
		if (i == n)
			DTX_TRY(param_unknown(params, n, key, place, ctx, err));
	}
out:
	return rc;
}

/* A copy of the object with only those members that are parameters. */
static json_t *param_own(const json_t *object, const char *skip)
{
	json_t *own = json_object(), *member;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)object, key, member)
	{
		if (own && !dtx_str_in_list(skip, key) &&
		    !dtx_json_set(own, key, json_incref(member))) {
			json_decref(own);
			return NULL;
		}
	}
	return own;
}

enum dtx_code dtx_param_fill(const struct dtx_param *params, size_t n, const json_t *object,
                             const char *pointer, struct dtx_param_ctx *ctx, void *args,
                             struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_param_place place = { pointer, false };
	struct dtx_err f = DTX_ERR_INIT;
	json_t *own = NULL;

	if (!json_is_object(object)) {
		DTX_PARAM_FIND(DTX_E_BAD_PARAM_TYPE, "expected an object, got %s",
		               object ? dtx_param_json_kind(object) : "nothing");
		return dtx_param_found(ctx, &f, pointer, err);
	}
	own = param_own(object, ctx->skip);
	if (!own)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_param_rows(params, n, own, place, ctx, args, err));
out:
	json_decref(own);
	return rc;
}
