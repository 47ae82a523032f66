/* Hints for texts that are nearly JSON, as people and language models write them. */
#include "core/base/text/json_hint.h"

#include <string.h>

/* The table is searched from the top for the first row that fits: the parser's message contains
 * `says`, the text at the error begins with one of `token`, and the last character before it that
 * is not blank is `before`. */
static const struct {
	const char *says, *token;
	char before;
	const char *hint;
} near_rows[] = {
	{ NULL, "]}", ',', "leave out the comma before it" },
	{ NULL, "/#", 0,
	  "JSON has no comments: a step has a 'note', other objects take an \"x-note\"" },
	{ NULL, "'", 0, "names and texts stand in double quotes" },
	{ NULL, "`", 0, "leave out the fence: the file holds the JSON alone" },
	{ "unexpected newline", NULL, 0, "a text stands on one line; \\n stands for a line break" },
	{ "invalid escape", NULL, 0, "a backslash in a text is written twice" },
	{ "string or '}' expected", NULL, 0, "the name of a member stands in double quotes" },
	{ "'}' expected", "\"", 0, "a comma is missing before it" },
	{ "']' expected", "{\"[", 0, "a comma is missing before it" },
	{ "':' expected", NULL, 0, "a colon stands between a name and its value" },
	{ "premature end", NULL, 0, "a bracket or a quote is not closed" },
	{ "end of file expected", NULL, 0, "there is text after the last bracket: leave it out" },
	{ "end of file", NULL, 0, "a bracket or a quote is not closed" },
	{ "unexpected token", "]}", 0, "a value is missing before it" },
	{ "invalid token", "TF", 0, "true and false are written in lower case" },
	{ "invalid token", "NnUuI", 0, "a value that is not there is null; there is no NaN" },
	{ "invalid token", "+.0123456789-", 0, "a number is written as 1, -0.5 or 1e3" },
	{ "invalid token", NULL, 0, "a text stands in double quotes" },
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

/* The last character before the token that is not blank; 0 if there is none. */
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

void dtx_json_hint(struct dtx_err *err, struct dtx_str text, size_t position, const char *says)
{
	const char *token = token_of(says);
	size_t n = token_len(says), end = DTX_MIN(position, text.len);
	char before = char_before(text, end >= n ? end - n : 0);

	if (is_blank(text)) {
		dtx_err_hint(err, "there is no text: JSON begins with { or [");
		return;
	}
	if (is_other(text)) {
		dtx_err_hint(err, "JSON begins with { or [");
		return;
	}
	for (size_t i = 0; i < DTX_COUNT(near_rows); i++) {
		if ((near_rows[i].says && !strstr(says, near_rows[i].says)) ||
		    (near_rows[i].token && (!n || !strchr(near_rows[i].token, token[0]))) ||
		    (near_rows[i].before && near_rows[i].before != before))
			continue;
		dtx_err_hint(err, "%s", near_rows[i].hint);
		return;
	}
}
