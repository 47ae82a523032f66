/* `dtx help TOPIC`: parts of the manual as plain text, for terminals without man. Only the
 * few troff macros that these pages use are known here. */
#include <ctype.h>
#include <string.h>

#include "cli/help/help.h"
#include "cli/wrap.h"

static const struct topic {
	const char *name, *page;
	const char *section; /* only that one; NULL: all */
} topics[] = {
	{ "plan", "dtx-plan.5", NULL },         { "functions", "dtx-plan.5", "FORMULAS" },
	{ "codes", "dtx-plan.5", "ERRORS" },    { "config", "dtx-config.5", NULL },
	{ "tutorial", "dtx-tutorial.7", NULL }, { "cluster", "dtx-cluster.7", NULL },
};

enum { TOPIC_INDENT = 4 };

struct topic_text {
	struct dtx_buf *out;
	struct dtx_buf paragraph; /* words to be filled */
	size_t indent;
	bool tag, raw; /* the next line is the tag of a paragraph; lines stay as they are */
};

static void topic_flush(struct topic_text *t)
{
	if (!t->paragraph.len)
		return;
	dtx_buf_printf(t->out, "%*s", (int)t->indent, "");
	dtx_wrap_words(dtx_buf_text(&t->paragraph), t->indent, t->indent, DTX_WRAP_WIDTH, t->out);
	dtx_buf_addc(t->out, '\n');
	dtx_buf_reset(&t->paragraph);
}

/* Adds text without the escapes of troff. */
static void topic_add(struct dtx_buf *out, struct dtx_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] != '\\' || i + 1 == s.len)
			dtx_buf_addc(out, s.ptr[i]);
		else if (s.ptr[++i] != '&')
			dtx_buf_addc(out, s.ptr[i] == 'e' ? '\\' : s.ptr[i]);
	}
}

static void topic_line(struct topic_text *t, struct dtx_str line)
{
	if (t->raw) {
		dtx_buf_printf(t->out, "%*s", (int)(line.len ? t->indent : 0), "");
		topic_add(t->out, line);
		dtx_buf_addc(t->out, '\n');
		return;
	}
	if (t->paragraph.len)
		dtx_buf_addc(&t->paragraph, ' ');
	topic_add(&t->paragraph, line);
	if (!t->tag)
		return;
	t->indent = TOPIC_INDENT;
	topic_flush(t);
	t->indent = 2 * TOPIC_INDENT;
	t->tag = false;
}

/* A heading: .SH SUMMARY or .SS rows. */
static void topic_heading(struct topic_text *t, struct dtx_str text, size_t indent)
{
	dtx_buf_printf(t->out, "%s%*s", t->out->len ? "\n" : "", (int)indent, "");
	topic_add(t->out, text);
	dtx_buf_addc(t->out, '\n');
	t->indent = TOPIC_INDENT;
}

static void topic_macro(struct topic_text *t, struct dtx_str line)
{
	struct dtx_str name;

	dtx_str_next(&line, ' ', &name);
	if (dtx_str_is(name, ".B") || dtx_str_is(name, ".I") || dtx_str_is(name, ".BR")) {
		topic_line(t, line);
		return;
	}
	topic_flush(t);
	t->raw = dtx_str_is(name, ".nf");
	t->tag = dtx_str_is(name, ".TP");
	if (dtx_str_is(name, ".SH"))
		topic_heading(t, line, 0);
	else if (dtx_str_is(name, ".SS"))
		topic_heading(t, line, 2);
	else if (dtx_str_is(name, ".PP"))
		dtx_buf_addc(t->out, '\n');
	if (!t->tag && !t->raw && !dtx_str_is(name, ".fi"))
		t->indent = TOPIC_INDENT;
}

static void topic_page(const struct topic *topic, const char *page, struct dtx_buf *out)
{
	struct topic_text t = { .out = out, .paragraph = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	struct dtx_str rest = dtx_str_of(page), line, head;
	bool shown = !topic->section;

	while (dtx_str_next(&rest, '\n', &line)) {
		head = line;
		if (dtx_str_starts(head, DTX_STR(".SH ")) && topic->section) {
			topic_flush(&t);
			shown = dtx_str_is((struct dtx_str){ line.ptr + 4, line.len - 4 },
			                   topic->section);
		}
		if (!shown || dtx_str_starts(head, DTX_STR(".TH ")))
			continue;
		if (line.len && line.ptr[0] == '.' && line.len > 1 && isalpha(line.ptr[1]))
			topic_macro(&t, line);
		else if (line.len || t.raw)
			topic_line(&t, line);
	}
	topic_flush(&t);
	dtx_buf_clear(&t.paragraph);
}

bool dtx_help_topic(const char *name, struct dtx_buf *out)
{
	struct dtx_buf page = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t i;

	for (i = 0; i < DTX_COUNT(topics) && strcmp(topics[i].name, name) != 0; i++)
		;
	if (i == DTX_COUNT(topics) || !dtx_help_man(topics[i].page, &page))
		return false;
	topic_page(&topics[i], dtx_buf_text(&page), out);
	dtx_buf_clear(&page);
	return true;
}
