/* Fills lines, see wrap.h. */
#include "cli/wrap.h"

#include <string.h>

#include "core/base/text/utf8.h"

void dtx_wrap_words(const char *text, size_t at, size_t indent, size_t width, struct dtx_buf *out)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " \n"), wide = dtx_utf8_width(text, n);

		if (!n) {
			text++;
			continue;
		}
		if (!first && at + 1 + wide > width) {
			dtx_buf_printf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			dtx_buf_addc(out, ' ');
			at++;
		}
		dtx_buf_addn(out, text, n);
		at += wide;
		text += n;
		first = false;
	}
}

/* The number of bytes up to the end of a paragraph, which may have several lines. */
static size_t wrap_paragraph(const char *text)
{
	size_t n = 0;

	do {
		n += strcspn(text + n, "\n");
		if (!text[n] || text[n + 1] == ' ' || text[n + 1] == '\n' || !text[n + 1])
			break;
		n++;
	} while (text[n]);
	return n;
}

static void wrap_part(const char *text, size_t n, size_t indent, size_t width, struct dtx_buf *out)
{
	struct dtx_buf part = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_buf_addn(&part, text, n);
	dtx_wrap_words(dtx_buf_text(&part), indent, indent ? indent + 4 : 0, width, out);
	dtx_buf_clear(&part);
}

void dtx_wrap_text(const char *text, size_t width, struct dtx_buf *out)
{
	while (*text) {
		size_t blanks = strspn(text, " ");
		size_t n = blanks ? strcspn(text, "\n") : wrap_paragraph(text);

		dtx_buf_printf(out, "%*s", (int)blanks, "");
		if (!blanks)
			wrap_part(text, n, 0, width, out);
		else if (dtx_utf8_width(text, n) <= width || !strncmp(text + blanks, "dtx ", 4))
			dtx_buf_addn(out, text + blanks, n - blanks);
		else
			wrap_part(text + blanks, n - blanks, blanks, width, out);
		text += n;
		if (*text)
			dtx_buf_addc(out, *text++);
	}
}
