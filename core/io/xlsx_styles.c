/* xl/styles.xml: the number format of each cell style, and its class. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/num.h"
#include "core/io/xlsx.h"

struct format {
	uint32_t id, place;
	struct dtx_str code;
	enum dtx_fmt_class cls;
};
struct styles {
	struct dtx_xlsx *book;
	struct format *format; /* of the file, which beat built-in ones */
	size_t nformats, formats_cap;
	size_t cap; /* of book->head.style */
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
	enum dtx_code rc = DTX_OK;
	struct dtx_str code = dtx_xml_attr(x, "formatCode");
	char *copy;

	if (s->nformats == DTX_BOOK_STYLES_MAX)
		DTX_FAIL(err, DTX_E_ARCHIVE_LIMIT, "'%s': over %d number formats",
		         s->book->head.label, DTX_BOOK_STYLES_MAX);
	if (!dtx_mem_reserve(&s->format, &s->formats_cap, s->nformats + 1, sizeof(*s->format)))
		DTX_FAIL_MEM(err);
	copy = dtx_arena_strndup(&s->book->head.arena, code.ptr, code.len);
	if (!copy)
		DTX_FAIL_MEM(err);
	code.ptr = copy;
	s->format[s->nformats] = (struct format){ attr_u32(x, "numFmtId"), (uint32_t)s->nformats,
		                                  code, dtx_fmt_classify(code) };
	s->nformats++;
out:
	return rc;
}

/* By id; of equal ids the later one last. */
static int by_id(const void *a, const void *b)
{
	const struct format *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static struct dtx_book_style resolve_format(const struct styles *s, uint32_t id)
{
	size_t lo = 0, hi = s->nformats;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->format[mid].id <= id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && s->format[lo - 1].id == id)
		return (struct dtx_book_style){ s->format[lo - 1].code, s->format[lo - 1].cls };
	return (struct dtx_book_style){ dtx_str_of(dtx_fmt_builtin_code(id)), dtx_fmt_builtin(id) };
}

static enum dtx_code add_style(struct styles *s, const struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *b = &s->book->head;

	if (b->nstyles == DTX_BOOK_STYLES_MAX)
		DTX_FAIL(err, DTX_E_ARCHIVE_LIMIT, "'%s': over %d cell styles", b->label,
		         DTX_BOOK_STYLES_MAX);
	if (!dtx_mem_reserve(&b->style, &s->cap, b->nstyles + 1, sizeof(*b->style)))
		DTX_FAIL_MEM(err);
	/* The id for now: formats may stand behind the styles. */
	b->style[b->nstyles++] =
		(struct dtx_book_style){ { NULL, attr_u32(x, "numFmtId") }, DTX_FMT_NUMBER };
out:
	return rc;
}

static void resolve_styles(struct styles *s)
{
	struct dtx_book *b = &s->book->head;
	uint32_t i;

	if (s->nformats)
		qsort(s->format, s->nformats, sizeof(*s->format), by_id);
	for (i = 0; i < b->nstyles; i++)
		b->style[i] = resolve_format(s, (uint32_t)b->style[i].code.len);
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
		else if (dtx_xml_is(x, "cellXfs"))
			DTX_TRY(read_children(&s, x, add_style, err));
		else
			DTX_TRY(dtx_xml_skip(x, err));
	} while (x->kind != DTX_XML_EOF);
	resolve_styles(&s);
out:
	dtx_xlsx_part_close(&part);
	dtx_mem_free(s.format);
	return rc;
}
