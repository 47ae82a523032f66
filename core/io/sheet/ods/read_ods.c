/* The reader class for .ods workbooks: opens the container, and lists the sheets. */
#include "core/base/memory/mem.h"
#include "core/io/sheet/book_reader.h"
#include "core/io/sheet/ods/ods.h"

#define MIME "application/vnd.oasis.opendocument.spreadsheet"
/* The first entry of the container is a file `mimetype`, not packed, whose head has 38 bytes. */
enum { MIME_NAME_AT = 30, MIME_AT = 38 };

extern const struct dtx_book_class dtx_book_ods;

struct dtx_str dtx_ods_attr(const struct dtx_xml *x, const char *name)
{
	for (unsigned i = 0; i < x->nattr; i++)
		if (dtx_str_is(x->attr[i].name, name) &&
		    !dtx_str_starts(x->attr[i].full, DTX_STR("calcext:")))
			return x->attr[i].value;
	return (struct dtx_str){ NULL, 0 };
}

/* Of a file with a password the parts are encrypted, which the manifest says, or all of it is one
 * encrypted part. */
static enum dtx_code check_password(struct dtx_ods *book, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_zip *zip = &book->x.zip;
	const struct dtx_zip_entry *e = dtx_zip_find(zip, DTX_STR("META-INF/manifest.xml"));
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	bool locked = dtx_zip_find(zip, DTX_STR("encrypted-package")) != NULL;

	if (e && !locked)
		DTX_TRY(dtx_xlsx_part_open(&book->x, e, &part, err));
	while (part.stream && !locked) {
		DTX_TRY(dtx_xml_next(&part.xml, err));
		if (part.xml.kind == DTX_XML_EOF)
			break;
		locked = part.xml.kind == DTX_XML_START && dtx_xml_is(&part.xml, "encryption-data");
	}
	if (locked)
		DTX_FAIL_NEXT(err, DTX_E_ENCRYPTED_FILE,
		              "open it with its password and save it without one",
		              "'%s' has a password", book->x.head.label);
out:
	dtx_xlsx_part_close(&part);
	return rc;
}

static enum dtx_code add_sheet(struct dtx_ods *book, const struct dtx_xml *x, size_t *cap,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *b = &book->x.head;
	struct dtx_str name = dtx_ods_attr(x, "name"), style = dtx_ods_attr(x, "style-name");
	struct dtx_sheet *s;

	if (b->nsheets == DTX_BOOK_SHEETS_MAX)
		return dtx_archive_limits_fixed(err, "sheets", "'%s': over %d sheets", b->label,
		                                DTX_BOOK_SHEETS_MAX);
	if (!dtx_mem_reserve(&b->sheet, cap, b->nsheets + 1, sizeof(*b->sheet)))
		DTX_FAIL_MEM(err);
	s = &b->sheet[b->nsheets];
	*s = (struct dtx_sheet){ .kind = DTX_SHEET_WORKSHEET, .place = b->nsheets };
	s->name = dtx_arena_strndup(&b->arena, name.ptr ? name.ptr : "", name.len);
	if (!s->name)
		DTX_FAIL_MEM(err);
	if (style.ptr && dtx_strmap_get(&book->hidden, style) != DTX_STRMAP_NONE)
		s->visible = DTX_SHEET_HIDDEN;
	b->nsheets++;
out:
	return rc;
}

static enum dtx_code read_sheets(struct dtx_ods *book, const struct dtx_zip_entry *content,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xlsx_part part = { .xml = DTX_XML_INIT };
	struct dtx_xml *x = &part.xml;
	size_t cap = 0;
	bool found = false;

	DTX_TRY(dtx_xlsx_part_open(&book->x, content, &part, err));
	for (;;) {
		DTX_TRY(dtx_xml_next(x, err));
		if (x->kind == DTX_XML_EOF)
			break;
		if (x->kind != DTX_XML_START)
			continue;
		found = found || (x->depth == 3 && dtx_xml_is(x, "spreadsheet"));
		if (x->depth == 4 && found && dtx_xml_is(x, "table")) {
			DTX_TRY(add_sheet(book, x, &cap, err));
			continue;
		}
		/* what a formula has got from another file is no sheet of this one */
		if (x->depth == 5 && dtx_xml_is(x, "table-source"))
			book->x.head.sheet[book->x.head.nsheets - 1].kind = DTX_SHEET_OTHER;
		if (x->depth > 3 || (x->depth == 2 && !dtx_xml_is(x, "body")))
			DTX_TRY(dtx_xml_skip(x, err));
	}
	if (!found)
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT,
		         "'%s' is an OpenDocument file but no spreadsheet", book->x.head.label);
out:
	dtx_xlsx_part_close(&part);
	return rc;
}

static void ods_clear(struct dtx_ods *book)
{
	dtx_strmap_clear(&book->styles);
	dtx_strmap_clear(&book->hidden);
	dtx_xlsx_clear(&book->x);
}

static enum dtx_code fill(struct dtx_ods *book, const char *label, const void *bytes, size_t len,
                          const struct dtx_archive_limits *limits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_book *head = &book->x.head;
	const struct dtx_zip_entry *content;

	head->cls = &dtx_book_ods;
	head->label = label;
	head->limits = *limits;
	DTX_TRY(dtx_zip_open(&book->x.zip, label, bytes, len, limits, err));
	head->lead = book->x.zip.lead;
	DTX_TRY(check_password(book, err));
	content = dtx_zip_find(&book->x.zip, DTX_STR("content.xml"));
	if (!content)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE, "'%s': its part content.xml is missing", label);
	DTX_TRY(dtx_ods_styles_read(book, err));
	DTX_TRY(read_sheets(book, content, err));
out:
	return rc;
}

static enum dtx_code book_open(const char *label, const void *bytes, size_t len,
                               const struct dtx_archive_limits *limits, struct dtx_book **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_ods *book = dtx_mem_zalloc(1, sizeof(*book));

	if (!book)
		DTX_FAIL_MEM(err);
	DTX_TRY(fill(book, label, bytes, len, limits, err));
	*out = &book->x.head;
	book = NULL;
out:
	if (book)
		ods_clear(book);
	dtx_mem_free(book);
	return rc;
}

static void book_close(struct dtx_book *book)
{
	ods_clear((struct dtx_ods *)book);
	dtx_mem_free(book);
}

const struct dtx_book_class dtx_book_ods = {
	.name = "ods",
	.open = book_open,
	.sheet = dtx_ods_sheet_read,
	.close = book_close,
};

static int ods_sniff(const void *head, size_t len, const char *path)
{
	const char *p = head;

	(void)path;
	return len > MIME_AT + strlen(MIME) && dtx_zip_sniff(head, len) &&
	                       !memcmp(p + MIME_NAME_AT, "mimetype" MIME, 8 + strlen(MIME))
	               ? 100
	               : 0;
}

static enum dtx_code ods_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                              struct dtx_reader **out, struct dtx_err *err)
{
	return dtx_book_reader_open(&dtx_book_ods, src, opts, out, err);
}

const struct dtx_reader_class dtx_read_ods = {
	.name = "ods",
	.formats = "ods",
	.suffixes = "ods,ots",
	.uses = DTX_BOOK_USES,
	.book = &dtx_book_ods,
	.sniff = ods_sniff,
	.open = ods_open,
	DTX_BOOK_READER_HOOKS,
};
