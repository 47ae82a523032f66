/* Error texts without the values of cells. */
#include <ctype.h>

#include "core/fallback/disclose.h"
#include "core/fallback/vocabulary.h"

static bool redact_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Whether `s` stands in `known` as a whole word or phrase. */
static bool redact_known(struct dtx_str known, struct dtx_str s)
{
	size_t from = 0;
	ptrdiff_t at;

	if (!s.len)
		return true;
	while ((at = dtx_str_find(known, s, from)) >= 0) {
		size_t start = (size_t)at, end = start + s.len;

		if ((!start || !redact_word(known.ptr[start - 1]) || !redact_word(s.ptr[0])) &&
		    (end == known.len || !redact_word(known.ptr[end]) ||
		     !redact_word(s.ptr[s.len - 1])))
			return true;
		from = start + 1;
	}
	return false;
}

static void redact_put(struct dtx_str s, struct dtx_str known, struct dtx_buf *out,
                       struct dtx_disclosed *count)
{
	if (redact_known(known, s)) {
		dtx_buf_adds(out, s);
		return;
	}
	dtx_buf_add(out, "<value>");
	count->redactions++;
}

/* End of the quoted text that begins behind `start`: the next such quote with no word behind it;
 * the end of the text when there is none. */
static size_t redact_quoted_end(struct dtx_str text, size_t start, char quote)
{
	size_t i;

	for (i = start; i < text.len; i++) {
		if (text.ptr[i] == quote && (i + 1 == text.len || !redact_word(text.ptr[i + 1])))
			return i;
	}
	return text.len;
}

/* A word, or digits with the marks that numbers have inside. */
static size_t redact_token_end(struct dtx_str text, size_t pos, bool *has_digit)
{
	*has_digit = false;
	for (; pos < text.len; pos++) {
		char c = text.ptr[pos];
		bool inside = strchr(".,:-+/", c) && pos + 1 < text.len && *has_digit &&
		              redact_word(text.ptr[pos + 1]);

		*has_digit = *has_digit || isdigit((unsigned char)c);
		if (!redact_word(c) && !inside)
			break;
	}
	return pos;
}

/* A word that error messages are made of; of names_from each part. */
static bool redact_common(struct dtx_str word)
{
	struct dtx_str part;
	size_t i;

	while (dtx_str_next(&word, '_', &part)) {
		for (i = 0; i < part.len; i++) {
			if (!isalpha((unsigned char)part.ptr[i]))
				return false;
		}
		if (part.len && !dtx_vocabulary_has(part))
			return false;
	}
	return true;
}

void dtx_disclose_redact(struct dtx_str text, struct dtx_str known, struct dtx_buf *out,
                         struct dtx_disclosed *count)
{
	size_t pos = 0, end;
	struct dtx_str word;
	bool digit;

	while (pos < text.len) {
		char c = text.ptr[pos];

		if (redact_word(c)) {
			end = redact_token_end(text, pos, &digit);
			word = (struct dtx_str){ text.ptr + pos, end - pos };
			if (digit || !redact_common(word))
				redact_put(word, known, out, count);
			else
				dtx_buf_adds(out, word);
			pos = end;
		} else if ((c == '\'' || c == '"' || c == '`') &&
		           (!pos || !redact_word(text.ptr[pos - 1]))) {
			end = redact_quoted_end(text, pos + 1, c);
			dtx_buf_addc(out, c);
			redact_put((struct dtx_str){ text.ptr + pos + 1, end - pos - 1 }, known,
			           out, count);
			if (end < text.len)
				dtx_buf_addc(out, c);
			pos = end + 1;
		} else {
			dtx_buf_addc(out, c);
			pos++;
		}
	}
}

/* Replaces object[key] when it is text; false: out of memory. */
static bool redact_member(json_t *object, const char *key, struct dtx_str known)
{
	const char *text = dtx_json_text(object, key, NULL);
	struct dtx_buf out = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	struct dtx_disclosed count = { 0, 0, 0 };
	bool ok;

	if (!text)
		return true;
	dtx_disclose_redact(dtx_str_of(text), known, &out, &count);
	ok = dtx_buf_ok(&out) && dtx_json_set(object, key, json_string(dtx_buf_text(&out)));
	dtx_buf_clear(&out);
	return ok;
}

/* Function and text of a frame come from the worker. */
static bool redact_frames(json_t *exception, struct dtx_str known)
{
	json_t *frame;
	size_t i;

	json_array_foreach(json_object_get(exception, "traceback"), i, frame)
	{
		if (!redact_member(frame, "function", known) ||
		    !redact_member(frame, "text", known))
			return false;
	}
	return true;
}

bool dtx_disclose_report(json_t *report, struct dtx_str known)
{
	static const char *const streams[] = { "stdout", "stderr" };
	size_t i;

	for (i = 0; i < DTX_COUNT(streams); i++) {
		json_t *stream = json_object_get(report, streams[i]);

		(void)json_object_del(stream, "text");
		(void)json_object_del(stream, "base64");
	}
	return redact_frames(json_object_get(report, "exception"), known) &&
	       redact_member(report, "reason", known) &&
	       redact_member(json_object_get(report, "exception"), "type", known) &&
	       redact_member(json_object_get(report, "exception"), "message", known) &&
	       redact_member(json_object_get(report, "check"), "message", known);
}
