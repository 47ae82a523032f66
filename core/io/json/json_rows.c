/* Passes over all records: finds columns, types and morsels, and counts irregularities. */
#include "core/io/json/json_rows.h"

#include "core/base/mem.h"
#include "core/io/repair.h"

#define NOTHING_MORE "nothing after the array"
#define TICK_ROWS    4096 /* rows between two updates of the progress */

static int64_t line_of(const char *base, const char *p)
{
	int64_t n = 1;

	while ((base = memchr(base, '\n', (size_t)(p - base))) != NULL) {
		base++;
		n++;
	}
	return n;
}

void dtx_jrows_place(const struct dtx_jrows *r, const char *at, int64_t *line, int64_t *byte)
{
	struct dtx_str from = r->turned_from;
	const char *base = from.ptr ? from.ptr : r->base;

	if (from.ptr && (at < from.ptr || at > from.ptr + from.len))
		at = r->turned_at; /* the place is in rows that were rearranged */
	*line = line_of(base, at);
	*byte = at - base;
	if (r->src) {
		*line += dtx_source_line0(r->src);
		*byte += dtx_source_byte0(r->src);
	}
}

enum dtx_code dtx_jrows_refuse(const struct dtx_jrows *r, enum dtx_code code, const char *at,
                               const char *what, struct dtx_err *err)
{
	int64_t line, byte;

	dtx_jrows_place(r, at, &line, &byte);
	dtx_err_set(err, code, __FILE__, __LINE__, "'%s': line %lld (byte %lld): %s", r->label,
	            (long long)line, (long long)byte, what);
	if (err) {
		err->byte = byte;
		err->row = line - 1;
		snprintf(err->cell, sizeof(err->cell), "L%lld", (long long)line);
	}
	return code;
}

static bool is_letter(char c)
{
	return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '$';
}

/* A hint for text that is nearly JSON. */
static const char *nearly_json(const struct dtx_jrows *r, const struct dtx_jscan *s)
{
	struct dtx_str rest = { s->p, (size_t)(s->end - s->p) };
	bool begins = rest.ptr == r->area.p;

	if (!rest.len)
		return "the file ends within a value: get the whole of it again";
	if (s->why && !strcmp(s->why, "a string") && is_letter(rest.ptr[0]))
		return "JSON has names in double quotes";
	if (s->why && !strcmp(s->why, NOTHING_MORE))
		return "leave out what follows the array";
	if (dtx_str_starts(rest, DTX_STR("'")) || dtx_str_starts(rest, DTX_STR("(")) ||
	    dtx_str_starts(rest, DTX_STR("None")) || dtx_str_starts(rest, DTX_STR("True")) ||
	    dtx_str_starts(rest, DTX_STR("False")))
		return "JSON has names and texts in double quotes; Python writes them so with "
		       "json.dumps";
	if (dtx_str_starts(rest, DTX_STR("//")) || dtx_str_starts(rest, DTX_STR("/*")) ||
	    dtx_str_starts(rest, DTX_STR("#")))
		return "JSON has no comments: leave them out";
	if (dtx_str_starts(rest, DTX_STR("<")))
		return "this begins as a page or XML does, not as data";
	if (s->why && !strcmp(s->why, "a value") && strchr("+.0123456789", rest.ptr[0]))
		return "JSON writes numbers as 0.5 and 12: a digit before the point, and neither + "
		       "nor 0 before other digits";
	if (begins && is_letter(rest.ptr[0]) &&
	    memchr(rest.ptr, '(', DTX_MIN(rest.len, (size_t)80)))
		return "leave out the call around the JSON, its name and its brackets";
	if (begins && is_letter(rest.ptr[0]) &&
	    memchr(rest.ptr, '=', DTX_MIN(rest.len, (size_t)80)))
		return "leave out the name before the JSON and its '='";
	if (begins)
		return "\"format\": \"csv\" if it is no JSON but a table of text";
	return "correct the file there, or get it again from what wrote it";
}

enum dtx_code dtx_jrows_fail(const struct dtx_jrows *r, const struct dtx_jscan *s,
                             struct dtx_err *err)
{
	size_t left = (size_t)(s->end - s->p), n = 0;
	enum dtx_code rc;
	char what[160];

	if (s->too_long)
		return dtx_jrows_refuse(r, DTX_E_INPUT_LIMIT, s->p, "a value is larger than 16 MiB",
		                        err);
	while (n < DTX_MIN(left, (size_t)12) && (unsigned char)s->p[n] >= 0x20 &&
	       (unsigned char)s->p[n] < 0x80)
		n++;
	snprintf(what, sizeof(what), "expected %s, got %s%.*s%s",
	         s->p == r->area.p && !r->inside ? "JSON, which begins with '{' or '['"
	         : s->why                        ? s->why
	                                         : "JSON",
	         left ? "'" : "the end", (int)n, s->p, left ? "'" : "");
	rc = dtx_jrows_refuse(r, DTX_E_CORRUPT_FILE, s->p, what, err);
	dtx_err_hint(err, "%s", nearly_json(r, s));
	return rc;
}

struct dtx_str dtx_jrows_text(const struct dtx_jvalue *v, struct dtx_buf *scratch)
{
	if (v->kind != DTX_J_STRING || !v->escaped)
		return v->raw;
	dtx_buf_reset(scratch);
	dtx_jscan_unescape(v->raw, scratch);
	return dtx_buf_str(scratch);
}

bool dtx_jrows_null(const struct dtx_jrows *r, const struct dtx_jvalue *v, struct dtx_str text)
{
	size_t i;

	for (i = 0; i < r->opts->nnull_values; i++) {
		if (dtx_str_is(text, r->opts->null_values[i]))
			return true;
	}
	return v->kind == DTX_J_NULL;
}

/* --- the first pass --- */

struct pass {
	struct dtx_jwalk walk;
	struct dtx_jrows *rows;
};

static void see_kind(struct dtx_jcol *c, enum dtx_jkind kind, uint64_t row)
{
	uint64_t *count[] = { &c->strings, &c->numbers, &c->bools, &c->nested };
	int i = kind == DTX_J_STRING                        ? 0
	        : kind == DTX_J_NUMBER                      ? 1
	        : kind == DTX_J_TRUE || kind == DTX_J_FALSE ? 2
	                                                    : 3;

	if (!(*count[i])++)
		c->first[i] = row + 1;
}

static enum dtx_code see_value(void *arg, uint32_t col, const struct dtx_jvalue *v,
                               struct dtx_err *err)
{
	struct pass *p = arg;
	struct dtx_jrows *r = p->rows;
	struct dtx_jcol *c = &r->col[col];
	struct dtx_str text = dtx_jrows_text(v, &p->walk.text);

	(void)err;
	if (dtx_jrows_null(r, v, text)) {
		c->seen.nulls++;
		return DTX_OK;
	}
	see_kind(c, v->kind, r->nrows);
	if (v->kind == DTX_J_TRUE || v->kind == DTX_J_FALSE) {
		c->seen.bools++;
	} else if (v->kind == DTX_J_NUMBER || (v->kind == DTX_J_STRING && !v->escaped &&
	                                       text.len >= 10 && text.ptr[4] == '-')) {
		c->seen.no_codes = true; /* a number in JSON is always a number */
		dtx_infer_text(&c->seen, text, false, (int64_t)r->nrows);
	} else {
		c->seen.texts++;
	}
	return DTX_OK;
}

void dtx_jrows_gap(const struct dtx_jrows *r, struct dtx_jscan *s)
{
	dtx_jscan_blanks(s);
	while (!r->array && s->p < s->end && *s->p == DTX_J_RECORD) {
		s->p++;
		dtx_jscan_blanks(s);
	}
}

enum dtx_code dtx_jrows_next(const struct dtx_jrows *r, struct dtx_jscan *s, bool first, bool *more,
                             struct dtx_err *err)
{
	*more = true;
	dtx_jrows_gap(r, s);
	if (!r->array) {
		*more = s->p < s->end;
		return DTX_OK;
	}
	if (s->p < s->end && *s->p == ']') {
		*more = false;
		return DTX_OK;
	}
	if (first)
		return DTX_OK;
	if (!dtx_jscan_char(s, ',', "',' or ']'"))
		return dtx_jrows_fail(r, s, err);
	if (dtx_jscan_close(s, ']', true)) {
		s->p--;
		*more = false;
	}
	return DTX_OK;
}

/* Notes the start of a morsel. `fresh`: the bytes before this record are not a record. */
static enum dtx_code note_morsel(struct dtx_jrows *r, const char *p, bool fresh,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jmorsel *last = r->nmorsels ? &r->morsel[r->nmorsels - 1] : NULL;
	uint64_t byte = (uint64_t)(p - r->base);

	if (last && !fresh && byte - last->byte < DTX_JROWS_MORSEL_BYTES &&
	    last->rows < DTX_BATCH_ROWS) {
		last->rows++;
		goto out;
	}
	if (!dtx_mem_reserve(&r->morsel, &r->morsels_cap, r->nmorsels + 1, sizeof(*r->morsel)))
		DTX_FAIL_MEM(err);
	r->morsel[r->nmorsels++] = (struct dtx_jmorsel){ byte, r->nrows, 1 };
out:
	return rc;
}

/* In lenient mode, skips a line that is not JSON, or the last record if the file ends inside it.
 * Returns false if it cannot continue. */
static bool skip_unread(struct dtx_jrows *r, struct dtx_jscan *s, const struct dtx_jscan *failed)
{
	const char *eol = memchr(s->p, '\n', (size_t)(s->end - s->p));

	if (r->array && s->end - failed->p > DTX_JROWS_CUT_BYTES)
		return false;
	if (!r->unread.n++)
		r->unread.at = s->p;
	s->p = r->array || !eol ? s->end : eol + 1;
	return true;
}

/* Reads one record at s->p. */
static enum dtx_code pass_record(struct pass *p, struct dtx_jscan *s, bool *fresh,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jrows *r = p->rows;
	struct dtx_jscan dry = *s;
	struct dtx_jvalue v;

	if (s->lenient && !dtx_jscan_value(&dry, &v)) {
		if (!skip_unread(r, s, &dry))
			rc = dtx_jrows_fail(r, &dry, err);
		*fresh = true;
		goto out;
	}
	DTX_TRY(note_morsel(r, s->p, *fresh, err));
	*fresh = false;
	DTX_TRY(dtx_jwalk_record(&p->walk, s, err));
	if ((uint64_t)(s->p - r->base) - r->morsel[r->nmorsels - 1].byte > DTX_SPAN_LEN)
		DTX_FAIL(err, DTX_E_INPUT_LIMIT, "'%s': a record of over 2 GiB", r->label);
	r->nrows++;
out:
	return rc;
}

/* Checks what follows the last record of the document. */
static enum dtx_code pass_end(struct dtx_jrows *r, struct dtx_jscan *s, struct dtx_err *err)
{
	if (!r->inside)
		r->mended = (struct dtx_joddity){ s->mended, s->mended_at };
	if (!r->array || r->inside || (r->unread.n && s->p == s->end))
		return DTX_OK;
	s->p++;
	dtx_jscan_blanks(s);
	s->why = NOTHING_MORE;
	return s->p < s->end ? dtx_jrows_fail(r, s, err) : DTX_OK;
}

static enum dtx_code pass_over(struct dtx_jrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct pass p = { .rows = r };
	struct dtx_jscan s = r->area;
	bool more, fresh = true;

	dtx_jwalk_init(&p.walk, r, true, see_value, &p);
	for (;;) {
		if (r->unread.n && s.p == s.end)
			break;
		DTX_TRY(dtx_jrows_next(r, &s, !r->nrows, &more, err));
		if (!more)
			break;
		dtx_jscan_blanks(&s);
		DTX_TRY(pass_record(&p, &s, &fresh, err));
		if (r->src && !(r->nrows % TICK_ROWS))
			dtx_source_tick(r->src, (uint64_t)(s.p - r->base),
			                (uint64_t)(s.end - r->base));
	}
	DTX_TRY(pass_end(r, &s, err));
	/* quarantine is for lines of text, so it is an error here */
	if (r->ragged.n &&
	    (r->opts->ragged == DTX_RAGGED_ERROR || r->opts->ragged == DTX_RAGGED_QUARANTINE)) {
		char what[120];

		snprintf(what, sizeof(what), "%llu of %llu rows do not have %u cells",
		         (unsigned long long)r->ragged.n, (unsigned long long)r->nrows, r->width);
		rc = dtx_jrows_refuse(r, DTX_E_RAGGED_ROWS, r->ragged.at, what, err);
		dtx_err_hint(err, "\"ragged\": \"pad\" keeps all cells");
	}
out:
	dtx_jwalk_clear(&p.walk);
	return rc;
}

/* Whether not a single record is JSON; *s is where the first one fails. */
static bool none_read(const struct dtx_jrows *r, struct dtx_jscan *s)
{
	struct dtx_jvalue v;

	if (r->ncols || !r->unread.n)
		return false;
	*s = r->area;
	s->p = r->unread.at;
	return !dtx_jscan_value(s, &v);
}

static enum dtx_code open_rows(struct dtx_jrows *r, const struct dtx_source *src, const char *label,
                               struct dtx_str bytes, const struct dtx_read_opts *opts,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan s;

	*r = (struct dtx_jrows){ .src = src, .label = label, .base = bytes.ptr, .opts = opts };
	r->area = (struct dtx_jscan){ .p = bytes.ptr,
		                      .end = bytes.ptr + bytes.len,
		                      .lenient = opts->json_lenient };
	DTX_TRY(dtx_jlayout_find(r, err));
	DTX_TRY(pass_over(r, err));
	if (none_read(r, &s))
		rc = dtx_jrows_fail(r, &s, err);
	else if (!r->ncols)
		DTX_FAIL(err, DTX_E_NO_RECORD, "'%s' has no record with a member", label);
out:
	return rc;
}

/* Adds the remedy to an error, if there is one. */
static void advise_json(const char *label, struct dtx_str bytes, const struct dtx_read_opts *opts,
                        struct dtx_err *err)
{
	struct dtx_read_opts other = *opts;
	bool again = strstr(err->hint, "duplicate_keys");
	struct dtx_jrows trial;

	other.json_lenient = true;
	other.duplicate_keys = DTX_KEYS_LAST;
	other.ragged = DTX_RAGGED_PAD;
	/* A file that is mostly not JSON is not repaired by leaving most of it out. */
	if (open_rows(&trial, NULL, label, bytes, &other, NULL) == DTX_OK &&
	    trial.nrows >= trial.unread.n)
		dtx_repair_advise(err, again ? "{\"duplicate_keys\":\"last\"}"
		                             : "{\"syntax\":\"lenient\"}");
	dtx_jrows_clear(&trial);
}

enum dtx_code dtx_jrows_open(struct dtx_jrows *r, const struct dtx_source *src,
                             struct dtx_str bytes, const struct dtx_read_opts *opts,
                             struct dtx_err *err)
{
	const char *label = dtx_source_name(src);
	enum dtx_code rc = open_rows(r, src, label, bytes, opts, err);

	if (rc == DTX_E_CORRUPT_FILE && err)
		advise_json(label, bytes, opts, err);
	return rc;
}

void dtx_jrows_clear(struct dtx_jrows *r)
{
	dtx_strmap_clear(&r->map);
	dtx_strmap_clear(&r->objects);
	dtx_arena_clear(&r->arena);
	dtx_owner_unref(r->turned);
	dtx_mem_free(r->object);
	dtx_mem_free(r->head);
	dtx_mem_free(r->col);
	dtx_mem_free(r->morsel);
	*r = (struct dtx_jrows){ 0 };
}
