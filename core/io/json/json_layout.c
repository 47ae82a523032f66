/* Finds the records in a JSON document and their layout. */
#include "core/base/memory/mem.h"
#include "core/io/json/json_rows.h"

enum { FIRST_LINE_MAX = 1 << 20 };

/* Sets the error for a valid JSON document without records. */
static enum dtx_code no_records(const struct dtx_jrows *r, const char *what, struct dtx_err *err)
{
	enum dtx_code rc =
		dtx_err_set(err, DTX_E_NO_RECORD, __FILE__, __LINE__,
	                    "'%s': \"records\": \"%.100s\": %s", r->label, r->opts->records, what);

	dtx_err_hint(err, "a JSON pointer to an array, for example \"/data/items\"");
	return rc;
}

/* --- arrays --- */

/* Finds a name that no other cell has. Each name counts how many were derived from it, so that
 * many equal names do not lead to a search from the first number each time. */
static enum dtx_code unique(struct dtx_jrows *r, const char *name, struct dtx_str *out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	/* the columns themselves: one for each cell, also if no row has it */
	uint32_t holder = dtx_strmap_get(&r->map, dtx_str_of(name)), found = holder;
	const char *text = name;

	if (found != DTX_STRMAP_NONE && !r->clash.n++)
		r->clash.at = name;
	while (found != DTX_STRMAP_NONE) {
		text = dtx_arena_printf(&r->arena, "%s_%u", name, 2 + r->col[holder].alike++);
		if (!text)
			DTX_FAIL_MEM(err);
		found = dtx_strmap_get(&r->map, dtx_str_of(text));
	}
	*out = dtx_str_of(text);
out:
	return rc;
}

enum dtx_code dtx_jhead_add(struct dtx_jrows *r, struct dtx_str name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str made;
	const char *text;
	uint32_t col;

	text = name.len ? dtx_arena_strndup(&r->arena, name.ptr, name.len)
	                : dtx_arena_printf(&r->arena, "column_%zu", r->nheads + 1);
	if (!text || !dtx_mem_reserve(&r->head, &r->heads_cap, r->nheads + 1, sizeof(*r->head)))
		DTX_FAIL_MEM(err);
	if (name.len && strlen(text) != name.len)
		DTX_FAIL_NEXT(err, DTX_E_CORRUPT_FILE,
		              "take the \\u0000 out of the name in the file: a column cannot be "
		              "called so",
		              "'%s': a name holds a NUL character", r->label);
	DTX_TRY(unique(r, text, &made, err));
	DTX_TRY(dtx_jcol_add(r, made, &col, err));
	r->head[r->nheads++] = made;
out:
	return rc;
}

/* Whether the first row can contain the names: all its cells are texts or blank. */
static bool is_header(struct dtx_jscan s)
{
	struct dtx_jvalue v;
	uint32_t texts = 0;
	bool more;

	if (!dtx_jscan_char(&s, '[', NULL))
		return false;
	do {
		dtx_jscan_blanks(&s);
		if (!dtx_jscan_value(&s, &v) || (v.kind != DTX_J_STRING && v.kind != DTX_J_NULL))
			return false;
		texts += v.kind == DTX_J_STRING && v.raw.len;
	} while (dtx_jscan_more(&s, ']', &more) && more);
	return texts > 0;
}

static enum dtx_code head_cell(struct dtx_jrows *r, const struct dtx_jvalue *v, bool names,
                               struct dtx_buf *text, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str none = { NULL, 0 };
	bool named = names && v->kind != DTX_J_NULL;

	if (r->nheads == DTX_JROWS_COLS_MAX)
		DTX_FAIL(err, DTX_E_INPUT_LIMIT, "'%s': over %d cells in a row", r->label,
		         DTX_JROWS_COLS_MAX);
	DTX_TRY(dtx_jhead_add(r, named ? dtx_jrows_text(v, text) : none, err));
out:
	return rc;
}

/* Reads the first row as names; without `names`, only counts its cells. */
static enum dtx_code take_header(struct dtx_jrows *r, struct dtx_jscan *s, bool names,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	bool more = !dtx_jscan_close(s, ']', false), ok = true;
	struct dtx_jvalue v;

	while (ok && more) {
		dtx_jscan_blanks(s);
		ok = dtx_jscan_value(s, &v);
		if (!ok)
			break;
		DTX_TRY(head_cell(r, &v, names, &text, err));
		ok = dtx_jscan_more(s, ']', &more);
	}
	if (!ok)
		rc = dtx_jrows_fail(r, s, err);
	r->width = (uint32_t)r->nheads;
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_jhead_names(struct dtx_jrows *r, struct dtx_str array, struct dtx_err *err)
{
	struct dtx_jscan s = { .p = array.ptr + 1,
		               .end = array.ptr + array.len,
		               .lenient = r->area.lenient };

	return take_header(r, &s, true, err);
}

enum dtx_code dtx_jhead_read(struct dtx_jrows *r, bool names, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan s = r->area;
	bool more;

	s.p++;
	DTX_TRY(take_header(r, &s, names, err));
	if (!names)
		goto out;
	/* the rows begin after the comma */
	DTX_TRY(dtx_jrows_next(r, &s, false, &more, err));
	r->area = s;
	r->header = true;
out:
	return rc;
}

/* r->area is at the first row, which contains the names, if the rows have names. */
static enum dtx_code header_row(struct dtx_jrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int wanted = r->opts->header_rows;

	if (wanted < 0 && !is_header(r->area)) {
		/* if the row is not JSON at all, that is the error */
		struct dtx_jscan s = r->area;

		s.p++;
		DTX_TRY(take_header(r, &s, false, err));
		rc = dtx_jrows_refuse(r, DTX_E_HEADER_NOT_FOUND, r->area.p,
		                      "the first row does not hold names only", err);
		dtx_err_hint(err, "\"header_rows\": 0 names them column_1, column_2 ...");
		goto out;
	}
	if (wanted > 1)
		DTX_FAIL_NEXT(err, DTX_E_UNSUPPORTED_FORMAT,
		              "\"header_rows\": 1, and a promote_header step for the second row",
		              "'%s': rows of JSON have one header row, the plan asks for %d",
		              r->label, wanted);
	DTX_TRY(dtx_jhead_read(r, wanted != 0, err));
out:
	return rc;
}

/* r->area is at the first record. */
static enum dtx_code see_records(struct dtx_jrows *r, struct dtx_err *err)
{
	struct dtx_jscan *s = &r->area;

	dtx_jrows_gap(r, s);
	if (s->p == s->end)
		return DTX_OK;
	if (*s->p == '[') {
		r->layout = DTX_JL_ROWS;
		return header_row(r, err);
	}
	if (r->array && *s->p != '{' && *s->p != ']')
		r->layout = DTX_JL_VALUES;
	return DTX_OK;
}

void dtx_jrows_inside(struct dtx_jrows *r, struct dtx_str array)
{
	r->area.p = array.ptr + 1;
	r->area.end = array.ptr + array.len;
	r->array = r->inside = true;
}

/* Notes what was corrected in the whole document, in case the records are only a part of it. */
static void document_checked(struct dtx_jrows *r, const struct dtx_jscan *s)
{
	r->mended = (struct dtx_joddity){ s->mended, s->mended_at };
}

/* --- an object that is the whole document --- */

struct survey {
	struct dtx_jvalue found; /* the last array of objects */
	struct dtx_str key;
	uint32_t arrays, maps, objects,
		members; /* counts: of arrays, of objects, and of arrays of objects */
};

static void survey_member(struct survey *out, struct dtx_str key, const struct dtx_jvalue *v)
{
	struct dtx_jscan in = { .p = v->raw.ptr + 1, .end = v->raw.ptr + v->raw.len };

	out->members++;
	out->maps += v->kind == DTX_J_OBJECT;
	if (v->kind != DTX_J_ARRAY)
		return;
	out->arrays++;
	dtx_jscan_blanks(&in);
	if (*in.p != '{')
		return;
	out->objects++;
	out->found = *v;
	out->key = key;
}

/* Surveys the members of an object. Returns false if it is not a single object. */
static bool survey_object(struct dtx_jscan *s, struct survey *out)
{
	struct dtx_jvalue key, v;
	bool more = true;

	*out = (struct survey){ 0 };
	if (!dtx_jscan_char(s, '{', NULL))
		return false;
	while (more) {
		dtx_jscan_blanks(s);
		if (!dtx_jscan_string(s, &key) || !dtx_jscan_char(s, ':', NULL) ||
		    !dtx_jscan_value(s, &v))
			return false;
		survey_member(out, key.raw, &v);
		if (!dtx_jscan_more(s, '}', &more))
			return false;
	}
	dtx_jscan_blanks(s);
	return s->p == s->end;
}

static enum dtx_code take_records(struct dtx_jrows *r, const char *pointer, struct dtx_str array,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	r->assumed = dtx_arena_printf(&r->arena, "'%.100s' was taken as the records", pointer);
	r->otherwise = DTX_J_ONE_RECORD;
	if (!r->assumed)
		DTX_FAIL_MEM(err);
	dtx_jrows_inside(r, array);
	DTX_TRY(see_records(r, err));
out:
	return rc;
}

/* Looks for records deeper in the object. If it is not clear which they are, the object is one
 * record. */
static enum dtx_code look_inside(struct dtx_jrows *r, struct dtx_str object, bool tell,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum dtx_jfind what = DTX_JF_RECORDS;
	struct dtx_jfinds f;
	struct dtx_jscan grid;

	dtx_jfinds_init(&f);
	DTX_TRY(dtx_jshape_find(r, object, 1, &f, err));
	DTX_TRY(dtx_jfinds_check(&f, err));
	if (!f.n[DTX_JF_RECORDS] && f.n[DTX_JF_GRID] == 1) {
		struct dtx_str raw = f.value[DTX_JF_GRID].raw;

		grid = (struct dtx_jscan){ .p = raw.ptr + 1, .end = raw.ptr + raw.len };
		dtx_jscan_blanks(&grid);
		what = is_header(grid) ? DTX_JF_GRID : what;
	}
	if (f.n[what] == 1) {
		DTX_TRY(take_records(r, dtx_buf_text(&f.first[what]), f.value[what].raw, err));
		goto out;
	}
	if (f.listed) {
		r->assumed = dtx_arena_printf(
			&r->arena, "the document was taken as one record, with %s%s in it",
			dtx_buf_text(&f.list), f.listed == DTX_JFINDS_LISTED ? " ..." : "");
		r->otherwise =
			dtx_arena_printf(&r->arena, "\"records\": \"%.100s\" reads that part",
		                         dtx_buf_text(&f.best));
	} else if (tell) {
		r->assumed = "the document was taken as one record";
	}
	if (f.listed && (!r->assumed || !r->otherwise))
		DTX_FAIL_MEM(err);
out:
	dtx_jfinds_clear(&f);
	return rc;
}

/* A whole document that is an object: it may contain the records, or be a table in another
 * layout. Otherwise it is the first record, or the only one. */
static enum dtx_code see_object(struct dtx_jrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan s = r->area;
	struct dtx_str object = { r->area.p, (size_t)(r->area.end - r->area.p) };
	struct dtx_buf pointer = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct survey all;
	bool done = false;

	if (!survey_object(&s, &all))
		goto out;
	document_checked(r, &s);
	if (all.objects == 1) {
		dtx_jpointer_add(&pointer, all.key);
		DTX_TRY(dtx_buf_check(&pointer, "a JSON pointer", err));
		DTX_TRY(take_records(r, dtx_buf_text(&pointer), all.found.raw, err));
		goto out;
	}
	DTX_TRY(dtx_jshape(r, object, &done, err));
	if (!done)
		DTX_TRY(look_inside(r, object, all.arrays == all.members || all.maps == all.members,
		                    err));
out:
	dtx_buf_clear(&pointer);
	return rc;
}

/* --- `records` --- */

/* Of members with the same key, takes the one that is wanted. */
static enum dtx_code take_member(struct dtx_jrows *r, const struct dtx_jvalue *v, bool again,
                                 struct dtx_jvalue *out, struct dtx_err *err)
{
	if (again && r->opts->duplicate_keys == DTX_KEYS_ERROR)
		return dtx_jrows_repeated(r, v->raw.ptr, err);
	if (again && !r->repeated.n++)
		r->repeated.at = v->raw.ptr;
	if (!again || r->opts->duplicate_keys == DTX_KEYS_LAST)
		*out = *v;
	return DTX_OK;
}

/* Finds the member or element that one part of the pointer names, in the container at *at. */
static enum dtx_code step_into(struct dtx_jrows *r, struct dtx_jvalue *at, struct dtx_str part,
                               bool *found, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool object = at->kind == DTX_J_OBJECT, hit, more = object || at->kind == DTX_J_ARRAY;
	struct dtx_jscan s = { .p = at->raw.ptr + 1,
		               .end = at->raw.ptr + at->raw.len,
		               .lenient = r->area.lenient };
	struct dtx_buf name = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_jvalue key, v;
	char index[24];
	uint64_t i = 0;

	*found = false;
	more = more && !dtx_jscan_close(&s, object ? '}' : ']', false);
	while (more) {
		dtx_jscan_blanks(&s);
		if (object && (!dtx_jscan_string(&s, &key) || !dtx_jscan_char(&s, ':', NULL)))
			break;
		snprintf(index, sizeof(index), "%llu", (unsigned long long)i++);
		hit = object ? dtx_str_eq(dtx_jrows_text(&key, &name), part)
		             : dtx_str_is(part, index);
		if (!dtx_jscan_value(&s, &v))
			break;
		if (hit)
			DTX_TRY(take_member(r, &v, *found, at, err));
		*found |= hit;
		if (!dtx_jscan_more(&s, object ? '}' : ']', &more))
			break;
	}
out:
	dtx_buf_clear(&name);
	return rc;
}

/* Decodes a part of a JSON pointer: "a~1b" is the key a/b, "~0" is a tilde (RFC 6901). */
static struct dtx_str pointer_part(const char **p, struct dtx_buf *out)
{
	dtx_buf_reset(out);
	for ((*p)++; **p && **p != '/'; (*p)++) {
		bool coded = (*p)[0] == '~' && ((*p)[1] == '0' || (*p)[1] == '1');

		dtx_buf_addc(out, !coded ? **p : (*p)[1] == '0' ? '~' : '/');
		*p += coded;
	}
	return dtx_buf_str(out);
}

static enum dtx_code follow(struct dtx_jrows *r, struct dtx_jvalue *at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf part = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *p = r->opts->records;
	char what[120];

	while (*p) {
		struct dtx_str name = pointer_part(&p, &part);
		bool found;

		DTX_TRY(dtx_buf_check(&part, "a JSON pointer", err));
		DTX_TRY(step_into(r, at, name, &found, err));
		if (!found) {
			snprintf(what, sizeof(what), "there is no '%.80s'", dtx_buf_text(&part));
			rc = no_records(r, what, err);
			goto out;
		}
	}
out:
	dtx_buf_clear(&part);
	return rc;
}

static enum dtx_code see_pointer(struct dtx_jrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan s = r->area;
	struct dtx_jvalue at;
	bool done = false;

	if (r->opts->records[0] && r->opts->records[0] != '/') {
		rc = no_records(r, "a pointer begins with '/'", err);
		goto out;
	}
	if (!dtx_jscan_value(&s, &at)) {
		rc = dtx_jrows_fail(r, &s, err);
		goto out;
	}
	dtx_jscan_blanks(&s);
	s.why = "one JSON document where \"records\" is given";
	if (s.p < s.end) {
		rc = dtx_jrows_fail(r, &s, err);
		goto out;
	}
	document_checked(r, &s);
	r->inside = true;
	DTX_TRY(follow(r, &at, err));
	if (at.kind == DTX_J_ARRAY) {
		dtx_jrows_inside(r, at.raw);
		DTX_TRY(see_records(r, err));
	} else if (at.kind == DTX_J_OBJECT) {
		r->area.p = at.raw.ptr;
		r->area.end = at.raw.ptr + at.raw.len;
		if (r->opts->records[0]) /* otherwise it will be one record */
			DTX_TRY(dtx_jshape(r, at.raw, &done, err));
	} else {
		rc = no_records(r, "there is a single value", err);
	}
out:
	return rc;
}

/* --- the document --- */

/* Whether each line is a record: because the options say so, or because the first line is a
 * complete array and another line follows. */
static bool is_lines(const struct dtx_jrows *r)
{
	struct dtx_jscan s = r->area;
	const char *eol;
	size_t left = DTX_MIN((size_t)(s.end - s.p), (size_t)FIRST_LINE_MAX);
	struct dtx_jvalue v;

	if (*s.p == DTX_J_RECORD)
		return true;
	if (dtx_json_named_lines(r->opts->format, r->label))
		return *s.p != '[' || !dtx_jscan_value(&s, &v) ||
		       (dtx_jscan_blanks(&s), s.p < s.end);
	eol = memchr(s.p, '\n', left);
	if (*s.p != '[' || !eol)
		return false;
	s.end = eol;
	if (!dtx_jscan_value(&s, &v))
		return false;
	s.end = r->area.end;
	dtx_jscan_blanks(&s);
	return s.p < s.end && *s.p == '[';
}

enum dtx_code dtx_jlayout_find(struct dtx_jrows *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_jscan *s = &r->area;

	if (dtx_str_starts((struct dtx_str){ s->p, (size_t)(s->end - s->p) },
	                   DTX_STR("\xef\xbb\xbf")))
		s->p += 3;
	dtx_jscan_blanks(s);
	if (s->p == s->end)
		DTX_FAIL(err, DTX_E_EMPTY_INPUT, "'%s' is empty", r->label);
	if (r->opts->records) {
		DTX_TRY(see_pointer(r, err));
		goto out;
	}
	if (!is_lines(r)) {
		if (*s->p == '{') {
			DTX_TRY(see_object(r, err));
			goto out;
		}
		r->array = *s->p == '[';
		s->p += r->array;
	}
	DTX_TRY(see_records(r, err));
out:
	return rc;
}
