/* Opens a workbook: the container, relationships and the workbook part. */
#include <stdio.h>

#include "core/base/memory/mem.h"
#include "core/base/text/num.h"
#include "core/base/thread/pool.h"
#include "core/io/sheet/xlsx/xlsx.h"

/* --- parts --- */

static enum dtx_code part_bytes(void *arg, void *to, size_t cap, size_t *got, struct dtx_err *err)
{
	return dtx_unzip_read(arg, to, cap, got, err);
}

static enum dtx_code ahead_bytes(void *arg, void *to, size_t cap, size_t *got, struct dtx_err *err)
{
	struct dtx_xlsx_part *part = arg;

	part->xml.plain = part->xml.asked;
	return dtx_read_ahead_read(part->ahead, to, cap, got, &part->xml.plain, err);
}

static enum dtx_code ahead_lend(void *arg, char **at, size_t *got, struct dtx_err *err)
{
	struct dtx_xlsx_part *part = arg;

	part->xml.plain = part->xml.asked;
	return dtx_read_ahead_lend(part->ahead, at, got, &part->xml.plain, err);
}

enum dtx_code dtx_xlsx_part_open(struct dtx_xlsx *book, const struct dtx_zip_entry *e,
                                 struct dtx_xlsx_part *part, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*part = (struct dtx_xlsx_part){ .xml = DTX_XML_INIT };
	DTX_TRY(dtx_unzip_open(&book->zip, e, &part->stream, err));
	if (e->size > DTX_XLSX_AHEAD_BYTES && dtx_task_cpus() > 1)
		DTX_TRY(dtx_read_ahead_open(part_bytes, part->stream, dtx_xml_plain, &part->ahead,
		                            err));
	if (part->ahead)
		dtx_xml_init(&part->xml, ahead_bytes, part, book->head.label, e->name.ptr);
	else
		dtx_xml_init(&part->xml, part_bytes, part->stream, book->head.label, e->name.ptr);
	part->xml.limits = &book->head.limits;
	part->xml.odd = &book->head.odd_chars;
	part->xml.lend = part->ahead ? ahead_lend : NULL;
out:
	return rc;
}

void dtx_xlsx_part_close(struct dtx_xlsx_part *part)
{
	dtx_read_ahead_close(part->ahead);
	dtx_xml_clear(&part->xml);
	dtx_unzip_free(part->stream);
	part->ahead = NULL;
	part->stream = NULL;
}

/* --- relationships --- */

static struct dtx_str last_segment(struct dtx_str s)
{
	const char *slash = s.len ? memrchr(s.ptr, '/', s.len) : NULL;
	size_t skip = slash ? (size_t)(slash - s.ptr) + 1 : 0;

	return (struct dtx_str){ s.ptr + skip, s.len - skip };
}

/* Finds the entry of a target, which is absolute, or relative to the folder of its owner. Some
 * writers leave out the slash of an absolute one. */
static const struct dtx_zip_entry *resolve(const struct dtx_xlsx *book, struct dtx_str owner,
                                           struct dtx_str target)
{
	const struct dtx_zip_entry *found;
	char path[2 * DTX_ZIP_NAME_MAX];
	size_t base = owner.len - last_segment(owner).len;

	if (target.len && (target.ptr[0] == '/' || target.ptr[0] == '\\'))
		base = 0;
	if (base + target.len >= sizeof(path))
		return NULL;
	memcpy(path, owner.ptr, base);
	if (target.len)
		memcpy(path + base, target.ptr, target.len);
	found = dtx_zip_find(&book->zip, (struct dtx_str){ path, base + target.len });
	return found || !target.len ? found : dtx_zip_find(&book->zip, target);
}

static const struct dtx_zip_entry *rels_part(const struct dtx_xlsx *book, struct dtx_str owner)
{
	struct dtx_str file = last_segment(owner);
	char path[2 * DTX_ZIP_NAME_MAX];
	int n = snprintf(path, sizeof(path), "%.*s_rels/%.*s.rels", (int)(owner.len - file.len),
	                 owner.ptr, (int)file.len, file.ptr);

	return dtx_zip_find(&book->zip, (struct dtx_str){ path, (size_t)n });
}

enum dtx_code dtx_xlsx_rels(struct dtx_xlsx *book, struct dtx_str owner, dtx_xlsx_rel_fn fn,
                            void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_zip_entry *e = rels_part(book, owner);
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	struct dtx_xml *x = &part.xml;
	unsigned n = 0;

	if (!e)
		goto out;
	DTX_TRY(dtx_xlsx_part_open(book, e, &part, err));
	for (;;) {
		struct dtx_xlsx_rel rel = { 0 };

		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_EOF)
			break;
		if (x->kind != DTX_XML_START || !dtx_xml_is(x, "Relationship"))
			continue;
		if (n++ == DTX_XLSX_RELS_MAX) {
			rc = dtx_archive_limits_fixed(err, "relationships",
			                              "'%s': over %d relationships",
			                              book->head.label, DTX_XLSX_RELS_MAX);
			goto out;
		}
		rel.id = dtx_xml_attr(x, "Id");
		rel.type = last_segment(dtx_xml_attr(x, "Type"));
		if (!dtx_str_ieq(dtx_xml_attr(x, "TargetMode"), DTX_STR("External")))
			rel.target = resolve(book, owner, dtx_xml_attr(x, "Target"));
		DTX_TRY(fn(arg, &rel, err));
	}
out:
	dtx_xlsx_part_close(&part);
	return rc;
}

/* --- the workbook part --- */

struct opening {
	struct dtx_xlsx *book;
	const struct dtx_zip_entry *main, *styles, *strings;
	struct dtx_str *id; /* relationship id per sheet */
	size_t sheets_cap, ids_cap, names_cap;
};

static enum dtx_code on_package_rel(void *arg, const struct dtx_xlsx_rel *rel, struct dtx_err *err)
{
	struct opening *o = arg;

	(void)err;
	if (dtx_str_is(rel->type, "officeDocument") && !o->main)
		o->main = rel->target;
	return DTX_OK;
}

static enum dtx_code on_book_rel(void *arg, const struct dtx_xlsx_rel *rel, struct dtx_err *err)
{
	static const struct {
		const char *type;
		enum dtx_sheet_kind kind;
	} kinds[] = { { "worksheet", DTX_SHEET_WORKSHEET },
		      { "chartsheet", DTX_SHEET_CHART },
		      { "dialogsheet", DTX_SHEET_DIALOG },
		      { "xlMacrosheet", DTX_SHEET_MACRO },
		      { "xlIntlMacrosheet", DTX_SHEET_MACRO } };
	struct opening *o = arg;
	uint32_t i;
	size_t k;

	(void)err;
	if (dtx_str_is(rel->type, "styles"))
		o->styles = rel->target;
	else if (dtx_str_is(rel->type, "sharedStrings"))
		o->strings = rel->target;
	for (i = 0; i < o->book->head.nsheets; i++) {
		if (!dtx_str_eq(o->id[i], rel->id))
			continue;
		o->book->head.sheet[i].part = rel->target;
		o->book->head.sheet[i].kind = DTX_SHEET_OTHER;
		for (k = 0; k < DTX_COUNT(kinds); k++) {
			if (dtx_str_is(rel->type, kinds[k].type))
				o->book->head.sheet[i].kind = kinds[k].kind;
		}
	}
	return DTX_OK;
}

static enum dtx_code add_sheet(struct opening *o, struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *b = &o->book->head;
	struct dtx_str name = dtx_xml_attr(x, "name"), id = dtx_xml_attr_ns(x, "id");
	struct dtx_str state = dtx_xml_attr(x, "state");
	struct dtx_sheet *s;
	char *copy;

	if (b->nsheets == DTX_BOOK_SHEETS_MAX)
		return dtx_archive_limits_fixed(err, "sheets", "'%s': over %d sheets", b->label,
		                                DTX_BOOK_SHEETS_MAX);
	if (!dtx_mem_reserve(&b->sheet, &o->sheets_cap, b->nsheets + 1, sizeof(*b->sheet)) ||
	    !dtx_mem_reserve(&o->id, &o->ids_cap, b->nsheets + 1, sizeof(*o->id)))
		DTX_FAIL_MEM(err);
	s = &b->sheet[b->nsheets];
	*s = (struct dtx_sheet){ .kind = DTX_SHEET_OTHER };
	s->name = dtx_arena_strndup(&b->arena, name.ptr, name.len);
	copy = dtx_arena_strndup(&b->arena, id.ptr, id.len);
	if (!s->name || !copy)
		DTX_FAIL_MEM(err);
	s->visible = dtx_str_is(state, "hidden")       ? DTX_SHEET_HIDDEN
	             : dtx_str_is(state, "veryHidden") ? DTX_SHEET_VERY_HIDDEN
	                                               : DTX_SHEET_VISIBLE;
	o->id[b->nsheets++] = (struct dtx_str){ copy, id.len };
out:
	return rc;
}

static enum dtx_code add_name(struct opening *o, struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *b = &o->book->head;
	struct dtx_str name = dtx_xml_attr(x, "name"), scope = dtx_xml_attr(x, "localSheetId");
	struct dtx_buf text = DTX_BUF_INIT(64 << 10);
	struct dtx_book_name *n;
	int64_t sheet;

	if (b->nnames == DTX_BOOK_NAMES_MAX)
		return dtx_archive_limits_fixed(err, "names", "'%s': over %d defined names",
		                                b->label, DTX_BOOK_NAMES_MAX);
	if (!dtx_mem_reserve(&b->name, &o->names_cap, b->nnames + 1, sizeof(*b->name)))
		DTX_FAIL_MEM(err);
	n = &b->name[b->nnames];
	*n = (struct dtx_book_name){ .sheet = -1 };
	n->name = dtx_arena_strndup(&b->arena, name.ptr, name.len);
	if (scope.len && dtx_num_parse_i64(scope.ptr, scope.len, &sheet) && sheet >= 0 &&
	    sheet < DTX_BOOK_SHEETS_MAX)
		n->sheet = (int32_t)sheet;
	DTX_TRY(dtx_xml_text(x, &text, err));
	n->text = dtx_arena_strndup(&b->arena, dtx_buf_text(&text), dtx_buf_len(&text));
	if (!n->name || !n->text)
		DTX_FAIL_MEM(err);
	b->nnames++;
out:
	dtx_buf_clear(&text);
	return rc;
}

/* Reads which epoch the dates use. A bad value is an error and never guessed: dates would be
 * wrong by four years. */
static enum dtx_code take_epoch(struct opening *o, const struct dtx_xml *x, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str says = dtx_xml_attr(x, "date1904");
	char text[32];

	if (!says.ptr || dtx_xml_bool(says, &o->book->head.epoch1904))
		goto out;
	dtx_str_copy(text, sizeof(text), says);
	rc = dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	                 "'%s': date1904 is '%s', neither true nor false: its dates are not known",
	                 o->book->head.label, text);
	dtx_err_hint(err, "save the file again in the program it is from");
out:
	return rc;
}

static enum dtx_code read_workbook(struct opening *o, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	struct dtx_xml *x = &part.xml;

	DTX_TRY(dtx_xlsx_part_open(o->book, o->main, &part, err));
	DTX_TRY(dtx_xml_next(x, err));
	while (x->kind == DTX_XML_TEXT)
		DTX_TRY(dtx_xml_next(x, err));
	if (!dtx_xml_is(x, "workbook"))
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT, "'%s' is an office file but no workbook",
		         o->book->head.label);
	while (x->kind != DTX_XML_EOF) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind != DTX_XML_START)
			continue;
		if (x->depth == 2 && dtx_xml_is(x, "workbookPr"))
			DTX_TRY(take_epoch(o, x, err));
		else if (x->depth == 3 && dtx_xml_is(x, "sheet"))
			DTX_TRY(add_sheet(o, x, err));
		else if (x->depth == 3 && dtx_xml_is(x, "definedName"))
			DTX_TRY(add_name(o, x, err));
	}
out:
	dtx_xlsx_part_close(&part);
	return rc;
}

/* Recognises other ZIP formats by a part that they always have. */
static enum dtx_code refuse_zip(const struct dtx_xlsx *book, struct dtx_err *err)
{
	static const struct {
		const char *part, *what, *hint;
	} other[] = {
		{ "xl/workbook.bin", "a binary workbook (.xlsb)",
		  "soffice --convert-to xlsx '%s'" },
		{ "content.xml", "an OpenDocument file", "soffice --convert-to xlsx '%s'" },
		{ "index/document.iwa", "an Apple Numbers document",
		  "export '%s' as .xlsx or .csv" },
		{ "word/document.xml", "a Word document", "save the table of '%s' as .xlsx" },
		{ "ppt/presentation.xml", "a presentation", "save the table of '%s' as .xlsx" },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(other); i++) {
		if (!dtx_zip_find(&book->zip, dtx_str_of(other[i].part)))
			continue;
		dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__, "'%s' is %s",
		            book->head.label, other[i].what);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		dtx_err_hint(err, other[i].hint, book->head.label);
#pragma GCC diagnostic pop
		return DTX_E_UNSUPPORTED_FORMAT;
	}
	dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
	            "'%s' is a zip archive without a workbook", book->head.label);
	dtx_err_hint(err, "unpack it and read the file inside");
	return DTX_E_UNSUPPORTED_FORMAT;
}

enum dtx_code dtx_xlsx_open(struct dtx_xlsx *book, const char *label, const void *bytes, size_t len,
                            const struct dtx_archive_limits *limits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct opening o = { .book = book };

	book->head.cls = &dtx_book_xlsx;
	book->head.label = label;
	book->head.limits = *limits;
	DTX_TRY(dtx_zip_open(&book->zip, label, bytes, len, limits, err));
	book->head.lead = book->zip.lead;
	DTX_TRY(dtx_xlsx_rels(book, DTX_STR(""), on_package_rel, &o, err));
	if (!o.main)
		o.main = dtx_zip_find(&book->zip, DTX_STR("xl/workbook.xml"));
	if (!o.main || dtx_str_ends(o.main->name, DTX_STR(".bin"))) {
		DTX_TRY(refuse_zip(book, err));
	}
	DTX_TRY(read_workbook(&o, err));
	DTX_TRY(dtx_xlsx_rels(book, o.main->name, on_book_rel, &o, err));
	if (o.styles)
		DTX_TRY(dtx_xlsx_styles_read(book, o.styles, err));
	if (o.strings)
		DTX_TRY(dtx_xlsx_strings_open(book, o.strings, err));
out:
	dtx_mem_free(o.id);
	return rc;
}

void dtx_xlsx_clear(struct dtx_xlsx *book)
{
	struct dtx_xlsx_strings *s = &book->strings;

	dtx_xml_clear(&s->xml);
	dtx_unzip_free(s->stream);
	dtx_buf_clear(&s->text);
	dtx_zip_clear(&book->zip);
	dtx_book_clear(&book->head);
	memset(book, 0, sizeof(*book));
}
