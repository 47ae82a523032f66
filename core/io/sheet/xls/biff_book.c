/* Reads the globals of a workbook: sheets, formats, styles, strings, names. */
#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/io/sheet/xls/biff.h"

enum { BIFF5 = 0x0500, BIFF8 = 0x0600, XF_MAX = 65536 };

/* What is only needed while the globals are read. */
struct opening {
	struct dtx_xls *x;
	struct dtx_biff_rec rec;
	struct dtx_book_formats formats;
	struct dtx_xls_names names;
	struct xf {
		uint16_t font, format;
	} * xf;
	bool *bold; /* per font */
	size_t nfonts, fonts_cap, xf_cap, sheets_cap;
};

enum dtx_code dtx_xls_fail(const struct dtx_xls *x, size_t at, struct dtx_err *err,
                           const char *what)
{
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__, "'%s': %s, at byte %zu of its %s",
	            x->head.label, what, at, x->cfb.bytes ? "workbook stream" : "records");
	return DTX_E_CORRUPT_FILE;
}

/* --- records of the globals --- */

static enum dtx_code on_filepass(struct opening *o, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_ENCRYPTED_FILE, __FILE__, __LINE__, "'%s' is encrypted",
	            o->x->head.label);
	dtx_err_hint(err, DTX_BOOK_ENCRYPTED_HINT, o->x->head.label);
	return DTX_E_ENCRYPTED_FILE;
}

static enum dtx_code on_codepage(struct opening *o, struct dtx_err *err)
{
	if (o->x->biff8)
		return DTX_OK;
	return dtx_codepage_find(dtx_le_u16(o->rec.data), o->x->head.label, &o->x->page, err);
}

static enum dtx_code on_datemode(struct opening *o, struct dtx_err *err)
{
	(void)err;
	o->x->head.epoch1904 = dtx_le_u16(o->rec.data) == 1;
	return DTX_OK;
}

/* Reads a text within this record, from byte `at`, to x->text. *whole: it was not cut off. */
static enum dtx_code own_text(struct opening *o, size_t at, unsigned size, bool *whole,
                              struct dtx_err *err)
{
	struct dtx_biff_bytes b;

	dtx_biff_bytes_init(&b, o->rec.data, o->rec.len, &o->rec);
	b.next = o->rec.len;
	b.ptr += at;
	b.left -= at;
	dtx_buf_reset(&o->x->text);
	*whole = dtx_xls_text(o->x, &b, size, &o->x->text);
	return dtx_buf_check(&o->x->text, "a text of the workbook", err);
}

static enum dtx_code on_format(struct opening *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf *t = &o->x->text;
	bool whole;

	/* Records of some writers are one byte short: the format is what is there, as in
	 * LibreOffice and xlrd. */
	DTX_TRY(own_text(o, 2, o->x->biff8 ? 2 : 1, &whole, err));
	DTX_TRY(dtx_book_format_add(&o->x->head, &o->formats, dtx_le_u16(o->rec.data),
	                            dtx_buf_str(t), err));
out:
	return rc;
}

/* A font has height, flags, colour and weight; bold is 700 on a scale from 100 to 1000. */
static enum dtx_code on_font(struct opening *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (o->nfonts == XF_MAX)
		return dtx_archive_limits_fixed(err, "fonts", "'%s': over %d fonts",
		                                o->x->head.label, XF_MAX);
	if (!dtx_mem_reserve(&o->bold, &o->fonts_cap, o->nfonts + 1, sizeof(*o->bold)))
		DTX_FAIL_MEM(err);
	o->bold[o->nfonts++] = dtx_le_u16(o->rec.data + 6) >= 700;
out:
	return rc;
}

static enum dtx_code on_xf(struct opening *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (o->x->nxf == XF_MAX)
		return dtx_archive_limits_fixed(err, "styles", "'%s': over %d cell styles",
		                                o->x->head.label, XF_MAX);
	if (!dtx_mem_reserve(&o->xf, &o->xf_cap, o->x->nxf + 1, sizeof(*o->xf)))
		DTX_FAIL_MEM(err);
	o->xf[o->x->nxf].font = dtx_le_u16(o->rec.data);
	o->xf[o->x->nxf++].format = dtx_le_u16(o->rec.data + 2);
out:
	return rc;
}

/* The sheet's own BOF record is more reliable than the list. */
static enum dtx_sheet_kind sheet_kind(const struct dtx_xls *x, unsigned listed, size_t place)
{
	static const struct {
		unsigned listed, own;
		enum dtx_sheet_kind kind;
	} kinds[] = { { 0, DTX_BIFF_WORKSHEET, DTX_SHEET_WORKSHEET },
		      { 1, DTX_BIFF_MACROS, DTX_SHEET_MACRO },
		      { 2, DTX_BIFF_CHART, DTX_SHEET_CHART },
		      { 6, DTX_BIFF_MODULE, DTX_SHEET_OTHER } };
	enum dtx_sheet_kind kind = DTX_SHEET_OTHER;
	struct dtx_biff_rec bof;
	size_t i;

	for (i = 0; i < DTX_COUNT(kinds); i++) {
		if (kinds[i].listed == listed)
			kind = kinds[i].kind;
	}
	if (!dtx_biff_record(x->stream.bytes, x->stream.len, place, &bof) ||
	    bof.type != DTX_BIFF_BOF || bof.len < 4)
		return kind;
	for (i = 0; i < DTX_COUNT(kinds); i++) {
		if (kinds[i].own == dtx_le_u16(bof.data + 2) && listed <= 2)
			kind = kinds[i].kind;
	}
	return kind;
}

static enum dtx_code on_boundsheet(struct opening *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *b = &o->x->head;
	const uint8_t *p = o->rec.data;
	struct dtx_sheet *s;
	bool whole;

	if (b->nsheets == DTX_BOOK_SHEETS_MAX)
		return dtx_archive_limits_fixed(err, "sheets", "'%s': over %d sheets", b->label,
		                                DTX_BOOK_SHEETS_MAX);
	DTX_TRY(own_text(o, 6, 1, &whole, err));
	if (!whole)
		return dtx_xls_fail(o->x, o->rec.at, err, "the name of a sheet is cut off");
	if (!dtx_mem_reserve(&b->sheet, &o->sheets_cap, b->nsheets + 1, sizeof(*b->sheet)))
		DTX_FAIL_MEM(err);
	s = &b->sheet[b->nsheets];
	*s = (struct dtx_sheet){ .place = dtx_le_u32(p) };
	s->name = dtx_arena_strndup(&b->arena, dtx_buf_text(&o->x->text), dtx_buf_len(&o->x->text));
	if (!s->name)
		DTX_FAIL_MEM(err);
	s->kind = sheet_kind(o->x, p[5], s->place);
	s->visible = (p[4] & 3) == 1   ? DTX_SHEET_HIDDEN
	             : (p[4] & 3) == 2 ? DTX_SHEET_VERY_HIDDEN
	                               : DTX_SHEET_VISIBLE;
	b->nsheets++;
out:
	return rc;
}

/* The count in the record is not trusted; the bytes tell how many strings there are. What
 * follows the counted ones need not be texts. */
static enum dtx_code on_sst(struct opening *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xls *x = o->x;
	struct dtx_biff_bytes b;
	uint32_t counted = dtx_le_u32(o->rec.data + 4);

	dtx_biff_bytes_init(&b, x->stream.bytes, x->stream.len, &o->rec);
	b.ptr += 8;
	b.left -= 8;
	while (dtx_biff_bytes_more(&b)) {
		dtx_buf_reset(&x->text);
		if (!dtx_xls_text(x, &b, 2, &x->text)) {
			if (x->head.strings.n >= counted)
				break;
			rc = dtx_xls_fail(x, o->rec.at, err, "the shared texts are cut off");
			goto out;
		}
		DTX_TRY(dtx_buf_check(&x->text, "a shared text", err));
		DTX_TRY(dtx_book_string_add(&x->head, dtx_buf_str(&x->text), err));
	}
out:
	return rc;
}

static enum dtx_code on_supbook(struct opening *o, struct dtx_err *err)
{
	return dtx_xls_on_supbook(o->x, &o->names, &o->rec, err);
}

static enum dtx_code on_externsheet(struct opening *o, struct dtx_err *err)
{
	return dtx_xls_on_externsheet(o->x, &o->names, &o->rec, err);
}

static enum dtx_code on_name(struct opening *o, struct dtx_err *err)
{
	return dtx_xls_on_name(o->x, &o->names, &o->rec, err);
}

static enum dtx_code on_global(struct opening *o, struct dtx_err *err)
{
	static const struct {
		unsigned type;
		size_t least; /* least bytes */
		enum dtx_code (*fn)(struct opening *, struct dtx_err *);
	} known[] = { { DTX_BIFF_FONT, 8, on_font },
		      { DTX_BIFF_XF, 4, on_xf },
		      { DTX_BIFF_FORMAT, 2, on_format },
		      { DTX_BIFF_BOUNDSHEET, 7, on_boundsheet },
		      { DTX_BIFF_SST, 8, on_sst },
		      { DTX_BIFF_NAME, 0, on_name },
		      { DTX_BIFF_FILEPASS, 0, on_filepass },
		      { DTX_BIFF_CODEPAGE, 2, on_codepage },
		      { DTX_BIFF_DATEMODE, 2, on_datemode },
		      { DTX_BIFF_SUPBOOK, 0, on_supbook },
		      { DTX_BIFF_EXTERNSHEET, 0, on_externsheet } };
	size_t i;

	for (i = 0; i < DTX_COUNT(known); i++) {
		if (known[i].type != o->rec.type)
			continue;
		if (o->rec.len < known[i].least)
			return dtx_xls_fail(o->x, o->rec.at, err, "a record is too short");
		return known[i].fn(o, err);
	}
	return DTX_OK;
}

/* --- combining them --- */

/* Merges styles with the same format, so that cells differ in style only if they differ in
 * format. */
static enum dtx_code make_styles(struct opening *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xls *x = o->x;
	uint32_t *first = dtx_mem_zalloc(XF_MAX, sizeof(*first)); /* by format: style + 1 */
	uint32_t i;

	x->style_of = dtx_mem_alloc(x->nxf, sizeof(*x->style_of));
	x->bold = dtx_mem_alloc(x->nxf, sizeof(*x->bold));
	x->head.style = dtx_mem_alloc(x->nxf, sizeof(*x->head.style));
	if (!first || !x->style_of || !x->bold || !x->head.style)
		DTX_FAIL_MEM(err);
	dtx_book_formats_sort(&o->formats);
	for (i = 0; i < x->nxf; i++) {
		uint32_t *f = &first[o->xf[i].format];
		/* font number 4 does not exist */
		uint32_t font = o->xf[i].font - (uint32_t)(o->xf[i].font > 4);

		x->bold[i] = font < o->nfonts && o->bold[font];

		if (!*f) {
			x->head.style[x->head.nstyles++] =
				dtx_book_format_find(&o->formats, o->xf[i].format);
			*f = x->head.nstyles;
		}
		x->style_of[i] = (uint16_t)(*f - 1);
	}
out:
	dtx_mem_free(first);
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* Finds the end of each sheet. Sheets are made disjoint, so that a list of many sheets over the
 * same records is no more work than the records. */
static enum dtx_code part_sheets(struct dtx_xls *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = x->head.nsheets, i;
	size_t *place = dtx_mem_alloc(n, sizeof(*place)), *next;

	x->sheet_end = dtx_mem_alloc(n, sizeof(*x->sheet_end));
	if (!place || !x->sheet_end)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++)
		place[i] = x->head.sheet[i].place;
	qsort(place, n, sizeof(*place), by_place);
	for (i = 0; i < n; i++) {
		size_t at = x->head.sheet[i].place;

		next = bsearch(&at, place, n, sizeof(*place), by_place);
		while (next < place + n && *next == at)
			next++;
		x->sheet_end[i] = next < place + n ? DTX_MIN(*next, x->stream.len) : x->stream.len;
		if (next - place >= 2 && next[-2] == at)
			x->sheet_end[i] = 0; /* two sheets at the same place */
	}
out:
	dtx_mem_free(place);
	return rc;
}

/* Versions 2 to 4 begin with another record. */
static enum dtx_code refuse_stream(const struct dtx_xls *x, struct dtx_err *err)
{
	unsigned type = x->stream.len >= 2 ? dtx_le_u16(x->stream.bytes) : 0;

	if (type != 0x0009 && type != 0x0209 && type != 0x0409)
		return dtx_xls_fail(x, 0, err, "it does not begin with a workbook");
	dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
	            "'%s' is a workbook of Excel 4 or older", x->head.label);
	dtx_err_hint(err, "soffice --convert-to xlsx '%s'", x->head.label);
	return DTX_E_UNSUPPORTED_FORMAT;
}

static enum dtx_code read_globals(struct opening *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xls *x = o->x;
	unsigned version, depth = 1;

	if (!dtx_biff_record(x->stream.bytes, x->stream.len, 0, &o->rec) ||
	    o->rec.type != DTX_BIFF_BOF || o->rec.len < 4)
		return refuse_stream(x, err);
	version = dtx_le_u16(o->rec.data);
	if (version != BIFF5 && version != BIFF8)
		return dtx_xls_fail(x, 0, err, "it is of an unknown version");
	x->biff8 = version == BIFF8;
	while (depth) {
		if (!dtx_biff_record(x->stream.bytes, x->stream.len, o->rec.next, &o->rec))
			return dtx_xls_fail(x, o->rec.next, err, "it is cut off");
		if (o->rec.type == DTX_BIFF_BOF)
			depth++;
		else if (o->rec.type == DTX_BIFF_EOF)
			depth--;
		else if (depth == 1)
			DTX_TRY(on_global(o, err));
	}
	if (!x->head.nsheets)
		return dtx_xls_fail(x, o->rec.at, err, "it lists no sheets");
out:
	return rc;
}

enum dtx_code dtx_xls_open(struct dtx_xls *x, const char *label, const void *bytes, size_t len,
                           const struct dtx_archive_limits *limits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct opening o = { .x = x, .names = { .own = UINT32_MAX } };

	x->head.label = label;
	x->head.limits = *limits;
	dtx_buf_init(&x->text, (size_t)limits->text);
	DTX_TRY(dtx_codepage_find(0, label, &x->page, err));
	DTX_TRY(dtx_xls_stream(x, bytes, len, err));
	DTX_TRY(read_globals(&o, err));
	DTX_TRY(make_styles(&o, err));
	DTX_TRY(part_sheets(x, err));
out:
	dtx_mem_free(o.formats.item);
	dtx_mem_free(o.names.ref);
	dtx_mem_free(o.xf);
	dtx_mem_free(o.bold);
	return rc;
}

void dtx_xls_clear(struct dtx_xls *x)
{
	dtx_mem_free(x->style_of);
	dtx_mem_free(x->bold);
	dtx_mem_free(x->sheet_end);
	dtx_buf_clear(&x->text);
	dtx_cfb_stream_clear(&x->stream);
	dtx_cfb_clear(&x->cfb);
	dtx_book_clear(&x->head);
	memset(x, 0, sizeof(*x));
}
