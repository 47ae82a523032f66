/* Reads .xls with libfreexl, which is loaded on demand. */
#include "core/io/sheet/xls/read_freexl.h"

#include <errno.h>
#include <freexl.h>
#include <iconv.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/lib.h"

struct freexl {
	int (*open)(const char *path, const void **handle);
	int (*close)(const void *handle);
	int (*info)(const void *handle, unsigned short what, unsigned *out);
	int (*name)(const void *handle, unsigned short sheet, const char **out);
	int (*select)(const void *handle, unsigned short sheet);
	int (*size)(const void *handle, unsigned *rows, unsigned short *cols);
	int (*cell)(const void *handle, unsigned row, unsigned short col, FreeXL_CellValue *out);
};
static enum dtx_code load(struct freexl *lib, struct dtx_err *err)
{
	const struct dtx_lib_symbol symbols[] = {
		{ "freexl_open", (void **)&lib->open },
		{ "freexl_close", (void **)&lib->close },
		{ "freexl_get_info", (void **)&lib->info },
		{ "freexl_get_worksheet_name", (void **)&lib->name },
		{ "freexl_select_active_worksheet", (void **)&lib->select },
		{ "freexl_worksheet_dimensions", (void **)&lib->size },
		{ "freexl_get_cell_value", (void **)&lib->cell },
	};

	return dtx_lib_open("libfreexl.so.1", "libfreexl1", false, symbols, DTX_COUNT(symbols),
	                    err);
}

static bool convert(const FreeXL_CellValue *v, struct dtx_freexl_cell *out)
{
	out->text = NULL;
	out->is_number = v->type == FREEXL_CELL_INT || v->type == FREEXL_CELL_DOUBLE;
	out->is_date = v->type == FREEXL_CELL_DATE || v->type == FREEXL_CELL_DATETIME ||
	               v->type == FREEXL_CELL_TIME;
	if (v->type == FREEXL_CELL_INT)
		out->number = v->value.int_value;
	else if (v->type == FREEXL_CELL_DOUBLE)
		out->number = v->value.double_value;
	else if (v->type != FREEXL_CELL_NULL)
		out->text = v->value.text_value;
	return out->is_number || out->text;
}

static enum dtx_code give_sheet(const struct freexl *lib, const void *handle, dtx_freexl_fn fn,
                                void *arg, struct dtx_freexl_cell *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	FreeXL_CellValue value;
	unsigned rows = 0;
	unsigned short cols = 0;

	if (lib->select(handle, (unsigned short)c->sheet) != FREEXL_OK ||
	    lib->size(handle, &rows, &cols) != FREEXL_OK)
		goto out;
	for (c->row = 0; c->row < rows; c->row++) {
		for (c->col = 0; c->col < cols; c->col++) {
			if (lib->cell(handle, c->row, (unsigned short)c->col, &value) ==
			            FREEXL_OK &&
			    convert(&value, c))
				DTX_TRY(fn(arg, c, err));
		}
	}
out:
	return rc;
}

static enum dtx_code give_book(const struct freexl *lib, const void *handle, dtx_freexl_fn fn,
                               void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_freexl_cell c = { 0 };
	unsigned sheets = 0;

	if (lib->info(handle, FREEXL_BIFF_SHEET_COUNT, &sheets) != FREEXL_OK)
		goto out;
	for (c.sheet = 0; c.sheet < sheets; c.sheet++) {
		c.name = NULL;
		if (lib->name(handle, (unsigned short)c.sheet, &c.name) == FREEXL_OK && c.name)
			DTX_TRY(give_sheet(lib, handle, fn, arg, &c, err));
	}
out:
	return rc;
}

enum dtx_code dtx_freexl_file(const char *label, const char *path, dtx_freexl_fn fn, void *arg,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct freexl lib = { 0 };
	const void *handle = NULL;
	int got;

	if (!path)
		DTX_FAIL(err, DTX_E_JAIL_UNAVAILABLE, "'%s': FreeXL runs in a reader process alone",
		         label);
	DTX_TRY(load(&lib, err));
	got = lib.open(path, &handle);
	if (got != FREEXL_OK)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE, "'%s': FreeXL gives up with %d", label, got);
	DTX_TRY(give_book(&lib, handle, fn, arg, err));
out:
	if (handle)
		lib.close(handle);
	return rc;
}

enum dtx_code dtx_freexl_cells(const char *label, const void *bytes, size_t len, dtx_freexl_fn fn,
                               void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char path[32];
	int fd = memfd_create("workbook", MFD_CLOEXEC);

	if (fd < 0)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot keep '%s' in memory: %s", label,
		         strerror(errno));
	DTX_TRY(dtx_file_write(fd, bytes, len, label, err));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	DTX_TRY(dtx_freexl_file(label, path, fn, arg, err));
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Opens the converters that the library needs. They stay open, and so do the files that the C
 * library needs for them. */
enum dtx_code dtx_freexl_warm(struct dtx_err *err)
{
	static const char *const charsets[] = {
		"UTF-16LE", "ASCII",  "CP437",  "CP720",  "CP737",  "CP775",  "CP850",
		"CP852",    "CP855",  "CP857",  "CP858",  "CP860",  "CP861",  "CP862",
		"CP863",    "CP864",  "CP865",  "CP866",  "CP869",  "CP874",  "CP932",
		"CP936",    "CP949",  "CP950",  "CP1250", "CP1251", "CP1252", "CP1253",
		"CP1254",   "CP1255", "CP1256", "CP1257", "CP1258", "CP1361", "MacRoman"
	};
	struct freexl lib = { 0 };

	for (size_t i = 0; i < DTX_COUNT(charsets); i++)
		(void)iconv_open("UTF-8", charsets[i]);
	return load(&lib, err);
}
