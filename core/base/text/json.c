/* Parsing by jansson with our own limits, and printing with sorted keys. */
#include "core/base/text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/base/text/str.h"
#include "core/base/text/utf8.h"

/* Hints for texts that are nearly JSON, as people and language models write them. */

/* The table is searched from the top for the first row that fits: the parser's message contains
 * `says`, the text at the error begins with one of `token`, and the last character before it that
 * is not blank is `before`. */
static const struct {
	const char *says, *token;
	char before;
	const char *hint;
} hint_rows[] = {
	{ NULL, "]}", ',', "leave out the comma before it" },
	{ NULL, "/#", 0,
	  "JSON has no comments: a step has a 'note', other objects take an \"x-note\"" },
	{ NULL, "'", 0, "names and texts are written in double quotes" },
	{ NULL, "`", 0, "leave out the code fence: the file holds only the JSON" },
	{ "unexpected newline", NULL, 0, "a text is on one line; \\n means a line break" },
	{ "invalid escape", NULL, 0, "a backslash in a text is written twice" },
	{ "string or '}' expected", NULL, 0, "the name of a member is written in double quotes" },
	{ "'}' expected", "\"", 0, "a comma is missing before it" },
	{ "']' expected", "{\"[", 0, "a comma is missing before it" },
	{ "':' expected", NULL, 0, "a colon is missing between a name and its value" },
	{ "premature end", NULL, 0, "a bracket or a quote is not closed" },
	{ "end of file expected", NULL, 0, "there is text after the last bracket: leave it out" },
	{ "end of file", NULL, 0, "a bracket or a quote is not closed" },
	{ "unexpected token", "]}", 0, "a value is missing before it" },
	{ "invalid token", "TF", 0, "true and false are written in lower case" },
	{ "invalid token", "NnUuI", 0, "a missing value is written as null; JSON has no NaN" },
	{ "invalid token", "+.0123456789-", 0, "a number is written as 1, -0.5 or 1e3" },
	{ "invalid token", NULL, 0, "a text is written in double quotes" },
};

static const char *token_of(const char *says)
{
	const char *at = strstr(says, " near '");

	return at ? at + strlen(" near '") : "";
}

static size_t token_len(const char *says)
{
	size_t n = strlen(token_of(says));

	return n ? n - 1 : 0; /* without the closing quote */
}

/* The last character before the token that is not blank; 0 if none. */
static char char_before(struct dtx_str text, size_t end)
{
	while (end && strchr(" \t\r\n", text.ptr[end - 1]))
		end--;
	return end ? text.ptr[end - 1] : '\0';
}

static bool is_blank(struct dtx_str text)
{
	return char_before(text, text.len) == '\0';
}

/* Whether the text begins with neither { nor [: it is in another language, or has words around the
 * JSON. */
static bool is_other(struct dtx_str text)
{
	size_t i = 0;

	while (i < text.len && strchr(" \t\r\n", text.ptr[i]))
		i++;
	return i < text.len && !strchr("{[\"'/#`", text.ptr[i]);
}

/* Adds a hint to err.  `says` is the message of the parser ("unexpected token near ']'"),
 * `position` the byte after the token. */
static void json_hint(struct dtx_err *err, struct dtx_str text, size_t position, const char *says)
{
	const char *token = token_of(says);
	size_t n = token_len(says), end = DTX_MIN(position, text.len);
	char before = char_before(text, end >= n ? end - n : 0);

	if (is_blank(text)) {
		dtx_err_hint(err, "the text is empty: JSON begins with { or [");
		return;
	}
	if (is_other(text)) {
		dtx_err_hint(err, "JSON begins with { or [");
		return;
	}
	for (size_t i = 0; i < DTX_COUNT(hint_rows); i++) {
		if ((hint_rows[i].says && !strstr(says, hint_rows[i].says)) ||
		    (hint_rows[i].token && (!n || !strchr(hint_rows[i].token, token[0]))) ||
		    (hint_rows[i].before && hint_rows[i].before != before))
			continue;
		dtx_err_hint(err, "%s", hint_rows[i].hint);
		return;
	}
}

#define JSON_BYTES ((size_t)8 << 20)
#define JSON_DEPTH 16
/* Printing is recursive.  A deeper tree makes the buffer fail instead of overflowing the stack. */
#define JSON_PRINT_DEPTH 1024

/* jansson reports some failed allocations as bad syntax; this flag distinguishes the two. */
static _Thread_local bool json_starved;
/* jansson 2.14 reads past its buffer if the buffer cannot grow.  While it parses (a text of bounded
 * size) every allocation therefore succeeds, even beyond the budget, and the failure is reported
 * afterwards. */
static _Thread_local bool json_parsing;

static void *json_alloc(size_t size)
{
	void *p = dtx_mem_hook_alloc(size);

	json_starved |= !p;
	return p || !json_parsing ? p : dtx_mem_overdraw(size);
}

void dtx_json_init(void)
{
	json_set_alloc_funcs(json_alloc, dtx_mem_free);
	json_object_seed(0x64747831);
}

/* The byte at which the nesting exceeds `max`, or -1.  Text that is not JSON is left to the
 * parser. */
static ptrdiff_t json_too_deep(struct dtx_str text, int max)
{
	bool quoted = false;
	int depth = 0;
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (quoted) {
			if (c == '\\')
				i++;
			else if (c == '"')
				quoted = false;
		} else if (c == '"') {
			quoted = true;
		} else if (c == '[' || c == '{') {
			if (++depth > max)
				return (ptrdiff_t)i;
		} else if (c == ']' || c == '}') {
			depth--;
		}
	}
	return -1;
}

static enum dtx_code json_limits(struct dtx_str text, struct dtx_json_limits limits,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t bytes = limits.bytes ? limits.bytes : JSON_BYTES;
	int depth = limits.depth ? limits.depth : JSON_DEPTH;
	ptrdiff_t at;

	if (text.len > bytes)
		DTX_FAIL(err, DTX_E_PLAN_TOO_LARGE, "JSON text has %zu bytes, at most %zu are read",
		         text.len, bytes);
	at = dtx_utf8_bad(text.ptr, text.len);
	if (at >= 0) {
		rc = dtx_err_set(err, DTX_E_PLAN_ENCODING, __FILE__, __LINE__,
		                 "JSON text is not UTF-8: byte %02X at offset %td",
		                 (unsigned char)text.ptr[at], at);
	} else {
		at = json_too_deep(text, depth);
		if (at >= 0)
			rc = dtx_err_set(err, DTX_E_JSON_DEPTH, __FILE__, __LINE__,
			                 "JSON text is nested deeper than %d levels", depth);
	}
	if (rc != DTX_OK && err)
		err->byte = at;
out:
	return rc;
}

static enum dtx_code json_fail(const json_error_t *e, struct dtx_str text, size_t skipped,
                               struct dtx_err *err)
{
	enum json_error_code code = json_error_code(e);
	enum dtx_code rc;

	if (json_starved || code == json_error_out_of_memory || !e->text[0])
		DTX_FAIL_MEM(err);
	rc = dtx_err_set(err,
	                 code == json_error_duplicate_key ? DTX_E_JSON_DUPLICATE_KEY
	                                                  : DTX_E_JSON_SYNTAX,
	                 __FILE__, __LINE__, "line %d, column %d: %s", e->line, e->column, e->text);
	if (rc == DTX_E_JSON_SYNTAX)
		json_hint(err, text, (size_t)e->position + skipped, e->text);
	if (err)
		err->byte = (int64_t)e->position + (int64_t)skipped;
out:
	return rc;
}

static enum dtx_code json_parse(struct dtx_str text, struct dtx_json_limits limits, size_t more,
                                json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | more;
	size_t skip = dtx_str_starts(text, DTX_STR("\xef\xbb\xbf")) ? 3 : 0;
	json_error_t e;

	DTX_TRY(json_limits(text, limits, err));
	memset(&e, 0, sizeof(e));
	json_starved = false;
	json_parsing = true;
	*out = json_loadb(text.ptr + skip, text.len - skip, flags, &e);
	json_parsing = false;
	if (*out && json_starved) {
		json_decref(*out);
		*out = NULL;
	}
	if (!*out)
		rc = json_fail(&e, text, skip, err);
out:
	return rc;
}

enum dtx_code dtx_json_parse(struct dtx_str text, struct dtx_json_limits limits, json_t **out,
                             struct dtx_err *err)
{
	return json_parse(text, limits, 0, out, err);
}

enum dtx_code dtx_json_parse_reals(struct dtx_str text, struct dtx_json_limits limits, json_t **out,
                                   struct dtx_err *err)
{
	return json_parse(text, limits, JSON_DECODE_INT_AS_REAL, out, err);
}

struct json_style {
	bool sorted;
	int indent;
};

static void json_value(const json_t *v, struct json_style style, int level, struct dtx_buf *out);

static void json_line(struct json_style style, int level, struct dtx_buf *out)
{
	int i;

	if (style.indent <= 0)
		return;
	dtx_buf_addc(out, '\n');
	for (i = 0; i < level * style.indent; i++)
		dtx_buf_addc(out, ' ');
}

static struct dtx_str json_str(const json_t *v)
{
	return (struct dtx_str){ json_string_value(v), json_string_length(v) };
}

/* RFC 8785 sorts keys by UTF-16 code units.  That is the order of code points, except that
 * U+E000..U+FFFF come after all code points above U+FFFF, which are written as surrogates. */
static uint32_t json_utf16_rank(uint32_t cp)
{
	if (cp >= 0x10000)
		return cp - 0x2000u; /* surrogates of UTF-16: after U+D7FF and before the shifted
		                      * private use area */
	return cp >= 0xe000 ? cp + 0x110000u : cp;
}

static int json_key_cmp(const void *pa, const void *pb)
{
	const char *a = *(const char *const *)pa, *b = *(const char *const *)pb;
	size_t na, nb, i = 0, j = 0;

	while (a[i] && a[i] == b[i] && !(a[i] & 0x80))
		i++;
	if (!((a[i] | b[i]) & 0x80))
		return (a[i] > b[i]) - (a[i] < b[i]);
	j = i;
	na = strlen(a);
	nb = strlen(b);
	while (i < na && j < nb) {
		uint32_t x = json_utf16_rank(dtx_utf8_next(a, na, &i));
		uint32_t y = json_utf16_rank(dtx_utf8_next(b, nb, &j));

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (i < na) - (j < nb);
}

static void json_member(const json_t *object, const char *key, bool first, struct json_style style,
                        int level, struct dtx_buf *out)
{
	if (!first)
		dtx_buf_addc(out, ',');
	json_line(style, level + 1, out);
	dtx_buf_json(out, dtx_str_of(key));
	dtx_buf_add(out, style.indent > 0 ? ": " : ":");
	json_value(json_object_get(object, key), style, level + 1, out);
}

static void json_sorted(const json_t *v, struct json_style style, int level, struct dtx_buf *out)
{
	size_t n = json_object_size(v), i = 0;
	const char **keys = dtx_mem_alloc(n, sizeof(*keys));
	const char *key;
	json_t *member;

	if (!keys) {
		out->fail = DTX_BUF_MEM;
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)v, key, member) keys[i++] = key;
	qsort(keys, n, sizeof(*keys), json_key_cmp);
	for (i = 0; i < n; i++)
		json_member(v, keys[i], i == 0, style, level, out);
	dtx_mem_free(keys);
}

static void json_object_print(const json_t *v, struct json_style style, int level,
                              struct dtx_buf *out)
{
	bool first = true;
	const char *key;
	json_t *member;

	dtx_buf_addc(out, '{');
	if (style.sorted) {
		json_sorted(v, style, level, out);
	} else {
		json_object_foreach((json_t *)(uintptr_t)v, key, member)
		{
			json_member(v, key, first, style, level, out);
			first = false;
		}
	}
	if (json_object_size(v))
		json_line(style, level, out);
	dtx_buf_addc(out, '}');
}

static void json_array_print(const json_t *v, struct json_style style, int level,
                             struct dtx_buf *out)
{
	size_t i;

	dtx_buf_addc(out, '[');
	for (i = 0; i < json_array_size(v); i++) {
		if (i)
			dtx_buf_addc(out, ',');
		json_line(style, level + 1, out);
		json_value(json_array_get(v, i), style, level + 1, out);
	}
	if (i)
		json_line(style, level, out);
	dtx_buf_addc(out, ']');
}

static void json_value(const json_t *v, struct json_style style, int level, struct dtx_buf *out)
{
	char number[DTX_NUM_TEXT];

	if (level > JSON_PRINT_DEPTH) {
		out->fail = DTX_BUF_MAX;
		return;
	}
	switch (json_typeof(v)) {
	case JSON_OBJECT: json_object_print(v, style, level, out); break;
	case JSON_ARRAY: json_array_print(v, style, level, out); break;
	case JSON_STRING: dtx_buf_json(out, json_str(v)); break;
	case JSON_INTEGER:
		dtx_buf_addn(out, number, dtx_num_print_i64(number, json_integer_value(v)));
		break;
	case JSON_REAL:
		dtx_buf_addn(out, number, dtx_num_print_json(number, json_real_value(v)));
		break;
	case JSON_TRUE: dtx_buf_add(out, "true"); break;
	case JSON_FALSE: dtx_buf_add(out, "false"); break;
	case JSON_NULL: dtx_buf_add(out, "null"); break;
	}
}

void dtx_json_canonical(const json_t *value, struct dtx_buf *out)
{
	json_value(value, (struct json_style){ .sorted = true, .indent = 0 }, 0, out);
}

void dtx_json_print(const json_t *value, int indent, struct dtx_buf *out)
{
	json_value(value, (struct json_style){ .sorted = false, .indent = indent }, 0, out);
}

void dtx_json_pointer_add(char *pointer, size_t size, const char *token)
{
	size_t at = strlen(pointer);

	if (at + 2 > size)
		return;
	pointer[at++] = '/';
	for (; *token && at + 3 <= size; token++) {
		if (*token == '~' || *token == '/') {
			pointer[at++] = '~';
			pointer[at++] = *token == '~' ? '0' : '1';
		} else {
			pointer[at++] = *token;
		}
	}
	pointer[at] = '\0';
}

void dtx_json_pointer_index(char *pointer, size_t size, size_t index)
{
	char token[24];

	snprintf(token, sizeof(token), "%zu", index);
	dtx_json_pointer_add(pointer, size, token);
}

const char *dtx_json_text(const json_t *object, const char *key, const char *fallback)
{
	const json_t *v = json_object_get(object, key);

	return json_is_string(v) ? json_string_value(v) : fallback;
}

int64_t dtx_json_int(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *v = json_object_get(object, key);

	return json_is_integer(v) ? json_integer_value(v) : fallback;
}

bool dtx_json_bool(const json_t *object, const char *key, bool fallback)
{
	const json_t *v = json_object_get(object, key);

	return json_is_boolean(v) ? json_is_true(v) : fallback;
}

json_t *dtx_json_find(const json_t *list, const char *key, const char *text)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (!strcmp(dtx_json_text(one, key, ""), text))
			return one;
	}
	return NULL;
}

bool dtx_json_set(json_t *object, const char *key, json_t *value)
{
	return value && json_object_set_new(object, key, value) == 0;
}

json_t *dtx_json_ascii(const char *text)
{
	struct dtx_buf plain = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	json_t *out = NULL;

	for (; *text; text++)
		dtx_buf_addc(&plain, (unsigned char)*text < 0x80 ? *text : '?');
	if (dtx_buf_ok(&plain))
		out = json_string(dtx_buf_text(&plain));
	dtx_buf_clear(&plain);
	return out;
}
