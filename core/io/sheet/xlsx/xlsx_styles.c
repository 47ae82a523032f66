/* Reads xl/styles.xml: the number format of each cell style, and its class. */
#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/io/sheet/xlsx/xlsx.h"

struct styles {
	struct dtx_xlsx *book;
	/* defined in the file; these take precedence over built-in ones */
	struct dtx_book_formats formats;
	size_t cap; /* of book->head.style */
	bool *bold; /* per font */
	size_t nfonts, fonts_cap;
	uint32_t *font; /* per style */
	size_t font_cap;
};

static uint32_t attr_u32(const struct dtx_xml *x, const char *name)
{
	struct dtx_str s = dtx_xml_attr(x, name);
	int64_t v;

	return s.len && dtx_num_parse_i64(s.ptr, s.len, &v) && v >= 0 && v <= INT32_MAX
	               ? (uint32_t)v
	               : 0;
}

static enum dtx_code add_format(struct styles *s, const struct dtx_xml *x, struct dtx_err *err)
{
	return dtx_book_format_add(&s->book->head, &s->formats, attr_u32(x, "numFmtId"),
	                           dtx_xml_attr(x, "formatCode"), err);
}

/* Reads a font to its end: bold if it has <b/>, but not if it has <b val="0"/>. */
static enum dtx_code add_font(struct styles *s, struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = x->depth;
	struct dtx_str val;

	if (s->nfonts == DTX_BOOK_STYLES_MAX)
		return dtx_archive_limits_fixed(err, "fonts", "'%s': over %d fonts",
		                                s->book->head.label, DTX_BOOK_STYLES_MAX);
	if (!dtx_mem_reserve(&s->bold, &s->fonts_cap, s->nfonts + 1, sizeof(*s->bold)))
		DTX_FAIL_MEM(err);
	s->bold[s->nfonts] = false;
	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind != DTX_XML_START || x->depth != depth + 1 || !dtx_xml_is(x, "b"))
			continue;
		val = dtx_xml_attr(x, "val");
		s->bold[s->nfonts] = !dtx_str_is(val, "0") && !dtx_str_is(val, "false");
	}
	s->nfonts++;
out:
	return rc;
}

static enum dtx_code read_fonts(struct styles *s, struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = x->depth;

	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind == DTX_XML_START)
			DTX_TRY(add_font(s, x, err));
	}
out:
	return rc;
}

static enum dtx_code add_style(struct styles *s, const struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *b = &s->book->head;

	if (b->nstyles == DTX_BOOK_STYLES_MAX)
		return dtx_archive_limits_fixed(err, "styles", "'%s': over %d cell styles",
		                                b->label, DTX_BOOK_STYLES_MAX);
	if (!dtx_mem_reserve(&b->style, &s->cap, b->nstyles + 1, sizeof(*b->style)) ||
	    !dtx_mem_reserve(&s->font, &s->font_cap, b->nstyles + 1, sizeof(*s->font)))
		DTX_FAIL_MEM(err);
	s->font[b->nstyles] = attr_u32(x, "fontId");
	/* only the id for now, because formats may follow the styles */
	b->style[b->nstyles++] =
		(struct dtx_book_style){ { NULL, attr_u32(x, "numFmtId") }, DTX_FMT_NUMBER, false };
out:
	return rc;
}

static void resolve_styles(struct styles *s)
{
	struct dtx_book *b = &s->book->head;
	uint32_t i;

	dtx_book_formats_sort(&s->formats);
	for (i = 0; i < b->nstyles; i++) {
		b->style[i] = dtx_book_format_find(&s->formats, (uint32_t)b->style[i].code.len);
		b->style[i].bold = s->font[i] < s->nfonts && s->bold[s->font[i]];
	}
}

static enum dtx_code read_children(struct styles *s, struct dtx_xml *x,
                                   enum dtx_code (*fn)(struct styles *, const struct dtx_xml *,
                                                       struct dtx_err *),
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	unsigned depth = x->depth;

	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_END && x->depth < depth)
			break;
		if (x->kind == DTX_XML_START) {
			DTX_TRY(fn(s, x, err));
			DTX_TRY(dtx_xml_skip(x, err));
		}
	}
out:
	return rc;
}

enum dtx_code dtx_xlsx_styles_read(struct dtx_xlsx *book, const struct dtx_zip_entry *e,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct styles s = { .book = book };
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	struct dtx_xml *x = &part.xml;

	DTX_TRY(dtx_xlsx_part_open(book, e, &part, err));
	do {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind != DTX_XML_START || x->depth != 2)
			continue;
		if (dtx_xml_is(x, "numFmts"))
			DTX_TRY(read_children(&s, x, add_format, err));
		else if (dtx_xml_is(x, "fonts"))
			DTX_TRY(read_fonts(&s, x, err));
		else if (dtx_xml_is(x, "cellXfs"))
			DTX_TRY(read_children(&s, x, add_style, err));
		else
			DTX_TRY(dtx_xml_skip(x, err));
	} while (x->kind != DTX_XML_EOF);
	resolve_styles(&s);
out:
	dtx_xlsx_part_close(&part);
	dtx_mem_free(s.formats.item);
	dtx_mem_free(s.bold);
	dtx_mem_free(s.font);
	return rc;
}
