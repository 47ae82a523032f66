/* The reader class for .xls workbooks. Finds the stream of records, with or without a container. */
#include "core/base/memory/mem.h"
#include "core/io/sheet/xls/biff.h"
#include "core/io/sheet/book_reader.h"

enum { BOF2 = 0x0009, BOF3 = 0x0209, BOF4 = 0x0409 };

bool dtx_biff_sniff(const void *head, size_t len)
{
	const uint8_t *p = head;
	unsigned type = len >= 8 ? dtx_le_u16(p) : 0, size = len >= 8 ? dtx_le_u16(p + 2) : 0;
	unsigned what = len >= 8 ? dtx_le_u16(p + 6) : 0;

	if (type == DTX_BIFF_BOF)
		return size >= 8 && size <= 20 && what == DTX_BIFF_GLOBALS;
	return (type == BOF2 || type == BOF3 || type == BOF4) && size >= 4 && size <= 8 &&
	       (what == DTX_BIFF_WORKSHEET || what == DTX_BIFF_CHART || what == DTX_BIFF_MACROS ||
	        what == 0x0100);
}

/* Refuses a container without a workbook; recognises it by the streams that other kinds always
 * have. */
static enum dtx_code refuse(const struct dtx_cfb *cfb, struct dtx_err *err)
{
	static const struct {
		const char *stream, *what, *hint; /* NULL: that of encrypted files */
		enum dtx_code code;
	} other[] = {
		{ "EncryptedPackage", "is encrypted", NULL, DTX_E_ENCRYPTED_FILE },
		{ "WordDocument", "is a Word document", "save its table as .xlsx",
		  DTX_E_UNSUPPORTED_FORMAT },
		{ "PowerPoint Document", "is a presentation", "save its table as .xlsx",
		  DTX_E_UNSUPPORTED_FORMAT },
		{ "__properties_version1.0", "is an Outlook message", "save its attachment",
		  DTX_E_UNSUPPORTED_FORMAT },
	};
	enum dtx_code rc = DTX_OK;
	uint32_t entry;
	size_t i;

	for (i = 0; i < DTX_COUNT(other); i++) {
		DTX_TRY(dtx_cfb_find(cfb, other[i].stream, &entry, err));
		if (entry == DTX_CFB_NONE)
			continue;
		rc = dtx_err_set(err, other[i].code, __FILE__, __LINE__, "'%s' %s", cfb->label,
		                 other[i].what);
		if (other[i].hint)
			dtx_err_hint(err, "%s", other[i].hint);
		else
			dtx_err_hint(err, DTX_BOOK_ENCRYPTED_HINT, cfb->label);
		goto out;
	}
	DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT, "'%s' is a compound file without a workbook",
	         cfb->label);
out:
	return rc;
}

enum dtx_code dtx_xls_stream(struct dtx_xls *x, const void *bytes, size_t len, struct dtx_err *err)
{
	static const char *const names[] = { "Workbook", "Book" };
	enum dtx_code rc = DTX_OK;
	uint32_t entry = DTX_CFB_NONE;
	size_t i;

	if (!dtx_cfb_sniff(bytes, len)) {
		x->stream = (struct dtx_cfb_stream){ bytes, len, NULL };
		goto out;
	}
	DTX_TRY(dtx_cfb_open(&x->cfb, x->head.label, bytes, len, err));
	for (i = 0; i < DTX_COUNT(names) && entry == DTX_CFB_NONE; i++)
		DTX_TRY(dtx_cfb_find(&x->cfb, names[i], &entry, err));
	if (entry == DTX_CFB_NONE)
		DTX_TRY(refuse(&x->cfb, err));
	DTX_TRY(dtx_cfb_read(&x->cfb, entry, &x->stream, err));
out:
	return rc;
}

static enum dtx_code book_open(const char *label, const void *bytes, size_t len,
                               const struct dtx_archive_limits *limits, struct dtx_book **out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_xls *x = dtx_mem_zalloc(1, sizeof(*x));

	if (!x)
		DTX_FAIL_MEM(err);
	x->head.cls = &dtx_book_xls;
	DTX_TRY(dtx_xls_open(x, label, bytes, len, limits, err));
	*out = &x->head;
	x = NULL;
out:
	if (x)
		dtx_xls_clear(x);
	dtx_mem_free(x);
	return rc;
}

static void book_close(struct dtx_book *book)
{
	dtx_xls_clear((struct dtx_xls *)book);
	dtx_mem_free(book);
}

const struct dtx_book_class dtx_book_xls = {
	.name = "xls",
	.open = book_open,
	.sheet = dtx_xls_sheet_read,
	.close = book_close,
};

static int xls_sniff(const void *head, size_t len, const char *path)
{
	(void)path;
	return dtx_cfb_sniff(head, len) || dtx_biff_sniff(head, len) ? DTX_SNIFF_SURE : 0;
}

static enum dtx_code xls_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                              struct dtx_reader **out, struct dtx_err *err)
{
	bool second = opts->reader && !strcmp(opts->reader, "freexl");

	return dtx_book_reader_open(second ? &dtx_book_freexl : &dtx_book_xls, src, opts, out, err);
}

const struct dtx_reader_class dtx_read_xls = {
	.name = "xls",
	.formats = "xls",
	.suffixes = "xls,xlt",
	.uses = DTX_BOOK_USES ",reader",
	.book = &dtx_book_xls,
	.sniff = xls_sniff,
	.open = xls_open,
	DTX_BOOK_READER_HOOKS,
};
