/* Finds reader options that would avoid an error, see repair.h. */
#include "core/io/repair.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/memory/mem.h"

#define ADVICE_MAX ((size_t)64 << 10)

/* The remedy for an error that does not name one. */
static const struct {
	enum dtx_code code;
	const char *change;
} repair_usual[] = {
	{ DTX_E_RAGGED_ROWS, "{\"ragged\":\"pad\"}" },
	{ DTX_E_BAD_QUOTE, "{\"quotes\":\"lenient\"}" },
	{ DTX_E_UNTERMINATED_QUOTE, "{\"quotes\":\"lenient\"}" },
	{ DTX_E_HEADER_NOT_FOUND, "{\"header_rows\":0}" },
	{ DTX_E_AMBIGUOUS_COLUMN, "{\"names\":\"suffix\"}" },
	{ DTX_E_EXTRA_COLUMN, "{\"extra\":\"drop\"}" },
};

void dtx_repair_advise(struct dtx_err *err, const char *fmt, ...)
{
	struct dtx_buf text = DTX_BUF_INIT(ADVICE_MAX);
	char change[512];
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(change, sizeof(change), fmt, ap);
	va_end(ap);
	dtx_buf_printf(&text, "{\"repair\":%s", change);
	if (err->more && err->more[0] == '{' && err->more[1] != '}')
		dtx_buf_printf(&text, ",%s", err->more + 1);
	else
		dtx_buf_add(&text, "}");
	dtx_err_more(err, dtx_buf_steal(&text));
	dtx_buf_clear(&text);
}

/* --- options of an input that can be changed --- */

/* Returns false if the option has that value already, or memory is out. */
static bool set_text(struct dtx_arena *arena, const char **to, const json_t *v)
{
	const char *text = json_string_value(v);
	char *copy;

	if (!text || (*to && !strcmp(*to, text)))
		return false;
	copy = dtx_arena_strdup(arena, text);
	*to = copy ? copy : *to;
	return copy != NULL;
}

static bool set_count(int64_t *to, const json_t *v)
{
	bool fresh = *to != json_integer_value(v);

	*to = json_integer_value(v);
	return fresh;
}

static bool set_skip(struct dtx_read_opts *o, const json_t *v)
{
	return set_count(&o->skip, v);
}

static bool set_skip_tail(struct dtx_read_opts *o, const json_t *v)
{
	return set_count(&o->skip_tail, v);
}

static bool set_ragged(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = (o->ragged == DTX_RAGGED_ERROR || o->ragged == DTX_RAGGED_QUARANTINE) &&
	             json_is_string(v);

	o->ragged = fresh ? DTX_RAGGED_PAD : o->ragged;
	return fresh;
}

static bool set_trim(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = o->trim != json_is_true(v);

	o->trim = json_is_true(v);
	return fresh;
}

static bool set_mixed(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = o->mixed != json_is_true(v);

	o->mixed = json_is_true(v);
	return fresh;
}

static bool set_header_rows(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = o->header_rows != (int)json_integer_value(v);

	o->header_rows = (int)json_integer_value(v);
	return fresh;
}

static bool set_names(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = o->names_unique_error;

	(void)v;
	o->names_unique_error = false;
	return fresh;
}

static bool set_repeated_header(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = !o->headers_drop;

	(void)v;
	o->headers_drop = true;
	return fresh;
}

static bool set_extra(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = o->extra == DTX_EXTRA_ERROR;

	(void)v;
	o->extra = fresh ? DTX_EXTRA_DROP : o->extra;
	return fresh;
}

static bool set_syntax(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = !o->json_lenient;

	(void)v;
	o->json_lenient = true;
	return fresh;
}

static bool set_duplicate_keys(struct dtx_read_opts *o, const json_t *v)
{
	bool fresh = o->duplicate_keys == DTX_KEYS_ERROR;

	(void)v;
	o->duplicate_keys = fresh ? DTX_KEYS_LAST : o->duplicate_keys;
	return fresh;
}

#define REPAIR_TIMES 2 /* an option may be changed once for one cause, and once for another */

#define TEXT(member) #member, NULL, offsetof(struct dtx_read_opts, member)

static const struct repair_member {
	const char *name;
	bool (*set)(struct dtx_read_opts *, const json_t *); /* NULL: a text at `offset` */
	size_t offset;
} repair_members[] = {
	{ TEXT(quotes) },
	{ TEXT(encoding) },
	{ TEXT(delimiter) },
	{ TEXT(quote) },
	{ TEXT(escape) },
	{ TEXT(comment) },
	{ TEXT(range) },
	{ TEXT(sheet) },
	{ "ragged", set_ragged, 0 },
	{ "trim", set_trim, 0 },
	{ "mixed", set_mixed, 0 },
	{ "skip", set_skip, 0 },
	{ "skip_tail", set_skip_tail, 0 },
	{ "header_rows", set_header_rows, 0 },
	{ "names", set_names, 0 },
	{ "repeated_header", set_repeated_header, 0 },
	{ "extra", set_extra, 0 },
	{ "syntax", set_syntax, 0 },
	{ "duplicate_keys", set_duplicate_keys, 0 },
};

static bool repair_set(struct dtx_repair *r, const struct repair_member *m, struct dtx_read_opts *o,
                       const json_t *v)
{
	if (m->set)
		return m->set(o, v);
	return set_text(r->arena, (const char **)((char *)o + m->offset), v);
}

_Static_assert(DTX_COUNT(repair_members) <= DTX_REPAIR_MEMBERS, "times has a place for each");

/* A remedy that was applied repeatedly does not help. */
static bool repair_apply(struct dtx_repair *r, struct dtx_read_opts *o, const json_t *change)
{
	bool any = false;
	size_t i;

	for (i = 0; i < DTX_COUNT(repair_members); i++) {
		const json_t *v = json_object_get(change, repair_members[i].name);

		if (v && r->times[i] < REPAIR_TIMES && repair_set(r, &repair_members[i], o, v)) {
			r->times[i]++;
			any = true;
		}
	}
	return any;
}

/* --- applying a remedy --- */

/* The remedy that helps in most cases, or NULL. */
static json_t *repair_of_code(enum dtx_code code)
{
	for (size_t i = 0; i < DTX_COUNT(repair_usual); i++)
		if (repair_usual[i].code == code)
			return json_loads(repair_usual[i].change, 0, NULL);
	return NULL;
}

/* The remedy that the reader advises, or the usual one; NULL if the reader says that none helps. */
static json_t *repair_change(const struct dtx_err *why)
{
	json_t *more = why->more ? json_loads(why->more, 0, NULL) : NULL;
	json_t *change = json_incref(json_object_get(more, "repair"));

	json_decref(more);
	if (json_is_null(change))
		return NULL;
	return change ? change : repair_of_code(why->code);
}

/* The members as they are written in a plan: "ragged": "pad", "skip": 2. */
static char *repair_show(const json_t *change)
{
	char *text = json_dumps(change, JSON_ENSURE_ASCII);
	size_t len = text ? strlen(text) : 0;

	if (len < 2)
		return text;
	memmove(text, text + 1, len - 2);
	text[len - 2] = '\0';
	return text;
}

static bool repair_note(struct dtx_repair *r, const struct dtx_err *why, const json_t *change)
{
	struct dtx_err note = DTX_ERR_INIT;
	struct dtx_buf more = DTX_BUF_INIT(ADVICE_MAX), text = DTX_BUF_INIT(ADVICE_MAX);
	bool again = why->code == DTX_E_RESNIFF;
	char *members = repair_show(change);

	if (!members)
		return false;
	dtx_err_copy(&note, why);
	note.code = again ? DTX_W_DIALECT_RESNIFFED : DTX_W_REPAIRED;
	note.severity = DTX_SEV_WARNING;
	note.hint[0] = '\0';
	if (!again && why->severity != DTX_SEV_WARNING)
		dtx_buf_printf(&text, "%s, ", dtx_code_name(why->code));
	dtx_buf_printf(&text, "read with %s: %s", members, why->msg);
	dtx_str_copy(note.msg, sizeof(note.msg), dtx_buf_str(&text));
	dtx_buf_clear(&text);
	dtx_buf_printf(&more, "{\"refusal\":\"%s\",\"change\":{%s}}", dtx_code_name(why->code),
	               members);
	dtx_mem_free(members);
	dtx_err_more(&note, dtx_buf_steal(&more));
	dtx_buf_clear(&more);
	return dtx_errlist_take(r->done, &note);
}

bool dtx_repair_take(struct dtx_repair *r, const struct dtx_err *why, struct dtx_read_opts *opts)
{
	json_t *change;
	bool took = false;

	if ((!r->on && why->code != DTX_E_RESNIFF) || r->taken >= DTX_REPAIRS_MAX)
		return false;
	change = repair_change(why);
	took = change && repair_apply(r, opts, change);
	if (change && !took) {
		json_decref(change);
		change = repair_of_code(why->code);
		took = change && repair_apply(r, opts, change);
	}
	took = took && repair_note(r, why, change);
	json_decref(change);
	r->taken += took;
	return took;
}

void dtx_repair_hint(struct dtx_err *err)
{
	json_t *change = err ? repair_change(err) : NULL;
	char *members = change ? repair_show(change) : NULL;
	size_t len = err ? strlen(err->hint) : 0;

	if (members && !strstr(err->hint, "--repair"))
		snprintf(err->hint + len, sizeof(err->hint) - len, "%s--repair reads it with %s",
		         len ? "; " : "", members);
	dtx_mem_free(members);
	json_decref(change);
}

/* Applies the remedies of notes: a reader can have one for something that did not stop it. */
static bool repair_noted(struct dtx_repair *r, const struct dtx_reader *reader,
                         struct dtx_read_opts *opts)
{
	size_t i;

	for (i = 0; r->on && i < reader->diags.n; i++) {
		const struct dtx_err *note = &reader->diags.item[i];

		if (note->more && strstr(note->more, "\"repair\"") &&
		    dtx_repair_take(r, note, opts))
			return true;
	}
	return false;
}

enum dtx_code dtx_repair_open(struct dtx_repair *r, struct dtx_source *src,
                              struct dtx_read_opts *opts, struct dtx_reader **out,
                              struct dtx_err *err)
{
	enum dtx_code rc;

	opts->margins |= r->on;
	opts->strays |= r->on;
	rc = dtx_reader_open(src, opts, out, err);
	for (;;) {
		if (rc == DTX_OK ? !repair_noted(r, *out, opts) : !dtx_repair_take(r, err, opts))
			break;
		if (rc == DTX_OK)
			dtx_reader_close(*out);
		*out = NULL;
		dtx_err_clear(err);
		rc = dtx_reader_open(src, opts, out, err);
	}
	if (rc != DTX_OK && !opts->stream)
		dtx_repair_hint(err);
	return rc;
}
