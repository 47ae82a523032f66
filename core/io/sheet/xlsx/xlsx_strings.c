/* Shared strings, read one after the other as they are needed, and the text of rich strings. */
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/io/sheet/xlsx/xlsx.h"

#define EMPTY_CHARGE 128 /* an empty text counts as so many bytes without a value */

/* --- text --- */

/* Decodes "_xHHHH_" at p; -1 if it is something else. */
static int32_t escape_at(const char *p, size_t len)
{
	int32_t v = 0;
	int i;

	if (len < 7 || p[0] != '_' || p[1] != 'x' || p[6] != '_')
		return -1;
	for (i = 2; i < 6; i++) {
		char c = p[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
		        : c >= 'a' && c <= 'f' ? c - 'a' + 10
		        : c >= 'A' && c <= 'F' ? c - 'A' + 10
		                               : -1;

		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

void dtx_xlsx_undo_escapes(struct dtx_buf *b, size_t from)
{
	size_t in = from, out = from;
	int32_t v, lo;

	if (!dtx_buf_ok(b) || b->len - from < 7 || !memmem(b->ptr + from, b->len - from, "_x", 2))
		return;
	while (in < b->len) {
		size_t used = 7;

		v = escape_at(b->ptr + in, b->len - in);
		if (v >= 0xd800 && v < 0xdc00) {
			lo = escape_at(b->ptr + in + 7, b->len - in - 7);
			used = 14;
			v = lo >= 0xdc00 && lo < 0xe000
			            ? 0x10000 + ((v - 0xd800) << 10) + (lo - 0xdc00)
			            : -1;
		}
		/* Lone surrogates are not text, and texts contain no NUL, so both stay as
		 * written. */
		if (v <= 0 || (v >= 0xdc00 && v < 0xe000)) {
			b->ptr[out++] = b->ptr[in++];
			continue;
		}
		out += dtx_utf8_put(b->ptr + out, (uint32_t)v);
		in += used;
	}
	b->len = out;
}

/* Appends the text of the open <t>. */
static enum dtx_code add_t(struct dtx_xml *x, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t from = out->len;

	rc = dtx_xml_text(x, out, err);
	if (rc == DTX_E_CELL_LIMIT)
		rc = dtx_archive_limits_fail(err, x->limits, "text",
		                             "'%s': %s: a text of over %zu bytes in a cell",
		                             x->label, x->part, out->max);
	if (rc == DTX_OK)
		dtx_xlsx_undo_escapes(out, from);
	return rc;
}

enum dtx_code dtx_xlsx_text(struct dtx_xml *x, struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = x->depth;

	dtx_buf_reset(out);
	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind != DTX_XML_START)
			continue;
		if (dtx_xml_is(x, "t"))
			DTX_TRY(add_t(x, out, err));
		else if (!dtx_xml_is(x, "r") || x->depth != depth + 1)
			DTX_TRY(dtx_xml_skip(x, err));
	}
out:
	return rc;
}

/* --- shared strings --- */

static enum dtx_code string_bytes(void *arg, void *to, size_t cap, size_t *got, struct dtx_err *err)
{
	return dtx_unzip_read(arg, to, cap, got, err);
}

enum dtx_code dtx_xlsx_strings_open(struct dtx_xlsx *book, const struct dtx_zip_entry *e,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_strings *s = &book->strings;

	dtx_buf_init(&s->text, (size_t)book->head.limits.text);
	DTX_TRY(dtx_unzip_open(&book->zip, e, &s->stream, err));
	dtx_xml_init(&s->xml, string_bytes, s->stream, book->head.label, e->name.ptr);
	s->xml.limits = &book->head.limits;
	s->xml.odd = &book->head.odd_chars;
out:
	return rc;
}

/* Parses the usual <si><t>text</t></si> without entities directly in the window. Returns false
 * for anything else and consumes nothing. */
static bool plain_string(struct dtx_xml *x, struct dtx_str *out)
{
	static const struct dtx_str open[] = { { "<si><t>", 7 },
		                               { "<si><t xml:space=\"preserve\">", 28 } };
	static const struct dtx_str close = { "</t></si>", 9 };
	struct dtx_str in = { x->buf ? x->buf + x->pos : "", x->end - x->pos };
	size_t i, n;

	for (i = 0; i < DTX_COUNT(open) && !dtx_str_starts(in, open[i]); i++)
		;
	if (i == DTX_COUNT(open) || x->depth != 1 || x->close_next || x->in_cdata)
		return false;
	n = open[i].len;
	*out = (struct dtx_str){ in.ptr + n, 0 };
	while (n < in.len && in.ptr[n] != '<') {
		if (in.ptr[n] == '&' || in.ptr[n] == '\r' || in.ptr[n] == '_')
			return false;
		n++;
	}
	out->len = (size_t)(in.ptr + n - out->ptr);
	if (out->len > DTX_BOOK_TEXT_MAX ||
	    !dtx_str_starts((struct dtx_str){ in.ptr + n, in.len - n }, close))
		return false;
	x->pos += n + close.len;
	return true;
}

static enum dtx_code add_string(struct dtx_xlsx *book, struct dtx_str text, struct dtx_err *err)
{
	if (text.len)
		dtx_xml_took_value(&book->strings.xml);
	else
		book->strings.xml.idle += EMPTY_CHARGE;
	return dtx_book_string_add(&book->head, text, err);
}

static enum dtx_code next_string(struct dtx_xlsx *book, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_strings *s = &book->strings;
	struct dtx_str text;

	if (plain_string(&s->xml, &text)) {
		DTX_TRY(add_string(book, text, err));
		goto out;
	}
	DTX_TRY(dtx_xml_next(&s->xml, err));
	if (s->xml.kind == DTX_XML_START && s->xml.depth == 2 && dtx_xml_is(&s->xml, "si")) {
		DTX_TRY(dtx_xlsx_text(&s->xml, &s->text, err));
		text = (struct dtx_str){ s->text.ptr, s->text.len };
		DTX_TRY(add_string(book, text, err));
	} else if (s->xml.kind == DTX_XML_START && s->xml.depth >= 2) {
		DTX_TRY(dtx_xml_skip(&s->xml, err));
	} else if (s->xml.kind == DTX_XML_EOF) {
		dtx_unzip_free(s->stream);
		s->stream = NULL;
	}
out:
	return rc;
}

enum dtx_code dtx_xlsx_strings_need(struct dtx_book *head, uint64_t id, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx *book = (struct dtx_xlsx *)head;

	while (book->strings.stream && (id == UINT64_MAX || head->strings.n <= id))
		DTX_TRY(next_string(book, err));
out:
	return rc;
}
