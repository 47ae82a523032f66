/* Translates members of a plan's input to options of the command line, see read_opts.h. */
#include "cli/run/read_opts.h"
#include "cli/run/runner.h"

#include <string.h>

#include "core/base/text/json.h"
#include "core/base/memory/mem.h"
#include "core/plan/plan.h"

/* Members that have an option of their own; all others are given with --read. */
static const struct {
	const char *member, *option;
} read_named[] = {
	{ "format", "from" },     { "sheet", "sheet" },
	{ "range", "range" },     { "header_rows", "header-rows" },
	{ "skip", "skip" },       { "delimiter", "delimiter" },
	{ "quote", "quote" },     { "encoding", "encoding" },
	{ "ragged", "ragged" },   { "rejects", "rejects" },
	{ "columns", "columns" }, { "source_file", "source-file" },
};

static const char *option_of(const char *member)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(read_named); i++)
		if (!strcmp(read_named[i].member, member))
			return read_named[i].option;
	return NULL;
}

/* Writes a text as one word of a shell; a tab is written as the option accepts it. */
static void say_word(const char *text, struct dtx_buf *out)
{
	struct dtx_buf written = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	for (; *text; text++) {
		if (*text == '\t')
			dtx_buf_add(&written, "\\t");
		else
			dtx_buf_addc(&written, *text);
	}
	dtx_buf_word(out, dtx_buf_text(&written));
	dtx_buf_clear(&written);
}

/* Writes a value as a word; what is not JSON ("...", N) is copied. */
static void say_value(const char *member, const char *text, struct dtx_buf *out)
{
	json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
	char *dump = v && !json_is_string(v) ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	if (!strcmp(member, "quote") && (json_is_false(v) || !strcmp(text, "\"\"")))
		dtx_buf_add(out, "none");
	else if (json_is_string(v))
		say_word(json_string_value(v), out);
	else if (dump)
		say_word(dump, out);
	else
		dtx_buf_add(out, text);
	dtx_mem_free(dump);
	json_decref(v);
}

/* Writes --header-rows 0, or --read quotes=lenient; value NULL: only the member. */
static void say_option(const char *member, const char *value, struct dtx_buf *out)
{
	const char *option = option_of(member);

	if (option)
		dtx_buf_printf(out, "--%s", option);
	else
		dtx_buf_printf(out, "--read %s%s", member, value ? "=" : "");
	if (value && option)
		dtx_buf_addc(out, ' ');
	if (value)
		say_value(member, value, out);
}

/* Copies a word in quotes at p to `name`. Returns the position after it, or NULL if there is
 * none. */
static const char *read_name(const char *p, char *name, size_t size)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
	size_t n = *p == '"' ? strspn(p + 1, letters) : 0;

	if (!n || n >= size || p[n + 1] != '"')
		return NULL;
	memcpy(name, p + 1, n);
	name[n] = '\0';
	return p + n + 2;
}

/* Copies the value in ": value" at p to `value`: a text in quotes, a list or object, or a word.
 * Returns the position after it, or NULL if none. */
static const char *read_value(const char *p, char *value, size_t size)
{
	const char *end;
	size_t depth = 0;

	if (p[0] != ':' || p[1] != ' ')
		return NULL;
	p += 2;
	if (*p == '"') {
		for (end = p + 1; *end && *end != '"'; end++)
			end += *end == '\\' && end[1];
		end += *end == '"';
	} else if (*p == '[' || *p == '{') {
		for (end = p; *end; end++) {
			depth += *end == '[' || *end == '{';
			depth -= *end == ']' || *end == '}';
			if (!depth)
				break;
		}
		end += *end != '\0';
	} else {
		end = p + strcspn(p, " ,;})");
	}
	if (end == p || (size_t)(end - p) >= size)
		return NULL;
	memcpy(value, p, (size_t)(end - p));
	value[end - p] = '\0';
	return end;
}

/* Translates a member at p. Returns the position after it, or NULL if none. */
static const char *say_member(const char *p, const json_t *written, struct dtx_buf *out)
{
	char name[32], value[256];
	const char *next = read_name(p, name, sizeof(name)), *end;

	if (!next || !strcmp(name, "name") || !strcmp(name, "path") || !dtx_plan_input_has(name) ||
	    json_object_get(written, name))
		return NULL;
	end = read_value(next, value, sizeof(value));
	say_option(name, end ? value : NULL, out);
	return end ? end : next;
}

/* Translates all members in {"delimiter": ";", "quote": false} at p. */
static const char *say_members(const char *p, const json_t *written, struct dtx_buf *out)
{
	bool first = true;

	for (p++; *p && *p != '}'; p += strspn(p, ", "), first = false) {
		dtx_buf_add(out, first ? "" : " ");
		p = say_member(p, written, out);
		if (!p)
			return NULL;
	}
	return *p ? p + 1 : NULL;
}

void dtx_read_opts_say(const char *text, const json_t *written, struct dtx_buf *out)
{
	const json_t *marks = json_object_get(written, "dialect");
	static const char dialect[] = "\"dialect\": {";
	const char *p = text, *next;
	size_t before;

	while (*p) {
		before = out->len;
		if (!strncmp(p, dialect, sizeof(dialect) - 1))
			next = say_members(p + sizeof(dialect) - 2, marks, out);
		else
			next = *p == '"' ? say_member(p, written, out) : NULL;
		if (!next) {
			out->len = before;
			dtx_buf_addc(out, *p);
			next = p + 1;
		}
		p = next;
	}
}

/* Adds MEMBER=VALUE; nothing without a value. */
static enum dtx_code plan_member(json_t *input, const char *member, const char *value,
                                 struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	enum dtx_code rc = DTX_OK;

	if (!value)
		return DTX_OK;
	dtx_buf_printf(&text, "%s=%s", member, value);
	DTX_TRY(dtx_buf_check(&text, "option", err));
	DTX_TRY(dtx_plan_input_member(input, dtx_buf_text(&text), err));
out:
	dtx_buf_clear(&text);
	return rc;
}

enum dtx_code dtx_read_opts_plan(const struct dtx_run_args *a, json_t *input, struct dtx_err *err)
{
	static const char *const ragged[] = { "error", "pad", "truncate", "quarantine" };
	static const char *const columns[] = { "same", "union", "intersect" };
	const char *tab = a->delimiter ? dtx_runner_tab(a->delimiter) : NULL;
	const struct {
		const char *member, *value;
	} given[] = {
		{ "format", a->from },
		{ "sheet", a->sheet },
		{ "range", a->range },
		{ "header_rows", a->header_rows },
		{ "delimiter", tab },
		{ "quote", a->quote && !strcmp(a->quote, "none") ? "" : a->quote },
		{ "encoding", a->encoding },
		{ "ragged", a->ragged ? ragged[a->ragged - 1] : NULL },
		{ "rejects", a->rejects },
		{ "columns", a->columns ? columns[a->columns - 1] : NULL },
		{ "source_file", a->source_file },
	};
	enum dtx_code rc = DTX_OK;

	for (size_t i = 0; i < a->read.n; i++)
		DTX_TRY(dtx_plan_input_member(input, a->read.item[i], err));
	for (size_t i = 0; i < DTX_COUNT(given); i++)
		DTX_TRY(plan_member(input, given[i].member, given[i].value, err));
	if (a->skip && !dtx_json_set(input, "skip", json_integer(a->skip)))
		DTX_FAIL_MEM(err);
out:
	return rc;
}
