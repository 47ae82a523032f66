/* Writes workbooks with libxlsxwriter, loaded on demand, in constant memory.
 *
 * The library packs into an unlinked temp file, whose bytes then go through the outfile, so that
 * the target is replaced in one rename as for every other format. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include "core/base/memory/arena.h"
#include "core/base/memory/buf.h"
#include "core/base/thread/cancel.h"
#include "core/base/file.h"
#include "core/base/lib.h"
#include "core/base/thread/long_call.h"
#include "core/base/memory/mem.h"
#include "core/base/strmap.h"
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/data/cast/cast.h"
#include "core/data/cast/decimal.h"
#include "core/data/column.h"
#include "core/data/schema.h"
#include "core/data/time/time.h"
#include "core/io/sheet/cellref.h"
#include "core/io/sheet/numfmt.h"
#include "core/io/sheet/xlsx/xlsx.h"
#include "core/io/write/writer.h"

/* Converts a value to a spreadsheet number; returns false if that is not possible. Counts the
 * values that lose something. */
struct dtx_xlsx_losses {
	uint64_t digits; /* numbers that need 17 digits */
	uint64_t micros; /* times finer than a millisecond */
};

/* Formats, escapes and numbers of cells in a workbook. */

/* The number format of the source, unless it is for text or for another class of values. */
static const char *source_format(const struct dtx_field *f)
{
	enum dtx_fmt_class cls;
	bool date = f->type.type == DTX_T_DATE || f->type.type == DTX_T_DATETIME;
	const char *p = f->format;

	if (!p || !f->source)
		return NULL;
	for (p = strchr(p, '%'); p; p = strchr(p + 1, '%')) {
		if ((p[1] | 32) >= 'a' && (p[1] | 32) <= 'z')
			return NULL;
	}
	cls = dtx_fmt_classify(dtx_str_of(f->format));
	if (date)
		return cls == DTX_FMT_DATE || cls == DTX_FMT_DATETIME ? f->format : NULL;
	if (!dtx_type_is_number(f->type.type) || cls == DTX_FMT_TEXT)
		return NULL;
	return cls == DTX_FMT_DATE || cls == DTX_FMT_DATETIME ? NULL : f->format;
}

/* The number format of a column: that of the source if it fits the type, otherwise one for the
 * type. NULL: General. The result may be in `scratch`. */
static const char *xlsx_column_format(const struct dtx_field *f, char scratch[64])
{
	const char *source = source_format(f);
	unsigned i, n = 0;

	if (source)
		return source;
	if (f->type.type == DTX_T_DATE)
		return "yyyy-mm-dd";
	/* A workbook has no time zones. The "Z" is shown, and lets dtx read the cell as UTC
	 * again. */
	if (dtx_type_is_utc(f->type))
		return "yyyy-mm-dd hh:mm:ss\"Z\"";
	if (f->type.type == DTX_T_DATETIME)
		return "yyyy-mm-dd hh:mm:ss";
	if (f->type.type != DTX_T_DECIMAL || f->type.scale > 15)
		return NULL;
	scratch[n++] = '0';
	if (f->type.scale)
		scratch[n++] = '.';
	for (i = 0; i < f->type.scale; i++)
		scratch[n++] = '0';
	scratch[n] = '\0';
	return scratch;
}

/* Whether there is "_xHHHH_" at p, which readers would decode. */
static bool is_escape(const char *p, size_t left)
{
	size_t i;

	if (left < 7 || p[0] != '_' || p[1] != 'x' || p[6] != '_')
		return false;
	for (i = 2; i < 6; i++) {
		if (!strchr("0123456789abcdefABCDEF", p[i]))
			return false;
	}
	return true;
}

/* Appends a text. Characters that XML cannot hold, and literal escapes, become _xHHHH_; the
 * library does that for the other control characters. */
static void xlsx_escape(struct dtx_buf *out, struct dtx_str s)
{
	size_t i = 0;

	while (i < s.len) {
		size_t from = i;
		uint32_t cp = dtx_utf8_next(s.ptr, s.len, &i);

		if (cp == 0xfffe || cp == 0xffff || cp == 0)
			dtx_buf_printf(out, "_x%04X_", (unsigned)cp);
		else if (cp == '_' && is_escape(s.ptr + from, s.len - from))
			dtx_buf_add(out, "_x005F_");
		else
			dtx_buf_addn(out, s.ptr + from, i - from);
	}
}

static bool xlsx_number(const struct dtx_column *c, uint32_t row, double *out,
                        struct dtx_xlsx_losses *lost)
{
	const double limit = 1e15;
	double unit = (double)DTX_DAY_US, first = 61 - 25569 /* 1900-03-01 */;
	char text[20];
	int exp10;

	switch (c->type.type) {
	case DTX_T_INT64:
		*out = (double)c->v.i64[row];
		return c->v.i64[row] > -1000000000000000 && c->v.i64[row] < 1000000000000000;
	case DTX_T_DECIMAL:
		*out = dtx_dec_to_f64(c->v.dec[row], c->type.scale);
		return fabs(*out) * pow(10, c->type.scale) < limit;
	case DTX_T_DATE:
		*out = c->v.day[row] + 25569.0;
		return c->v.day[row] >= first && *out < 2958466;
	case DTX_T_DATETIME:
		*out = (double)c->v.i64[row] / unit + 25569.0;
		if ((double)c->v.i64[row] < first * unit || *out >= 2958466)
			return false;
		lost->micros += c->v.i64[row] % 1000 != 0;
		return true;
	default:
		*out = c->v.f64[row];
		/* with 16 digits it would become infinite */
		if (fabs(*out) > 1.797693134862315e308)
			return false;
		lost->digits += dtx_num_digits(*out, text, &exp10) > 16;
		return true;
	}
}

/* Checks that a workbook packed by libxlsxwriter is complete.
 *
 * The library does not check whether its writes to temporary files succeed. On a full disk, or
 * at a file size limit, it packs parts that are cut off and reports success. */

enum { WHOLE_WINDOW = 256 << 10, WHOLE_ENDS = 256 };

/* Whether a part that begins with "<?xml ...?>\n<worksheet ..." ends with "</worksheet>". */
static bool ends_as_begun(struct dtx_str head, struct dtx_str tail)
{
	const char *at = memmem(head.ptr, head.len, "?>", 2);
	size_t left, n = 0;

	while (tail.len && strchr(" \r\n\t", tail.ptr[tail.len - 1]))
		tail.len--;
	at = at ? memchr(at, '<', head.len - (size_t)(at - head.ptr)) : NULL;
	if (!at || !tail.len || tail.ptr[tail.len - 1] != '>')
		return false;
	left = head.len - (size_t)(++at - head.ptr);
	while (n < left && !strchr(" >/\r\n\t", at[n]))
		n++;
	return n && n < left && tail.len >= n + 3 && !memcmp(tail.ptr + tail.len - n - 1, at, n) &&
	       !memcmp(tail.ptr + tail.len - n - 3, "</", 2);
}

static enum dtx_code part_whole(struct dtx_zip *zip, const struct dtx_zip_entry *e, char *window,
                                bool *whole, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_unzip *in = NULL;
	char head[WHOLE_ENDS], tail[WHOLE_ENDS];
	size_t nhead = 0, ntail = 0, got;

	DTX_TRY(dtx_unzip_open(zip, e, &in, err));
	for (;;) {
		size_t keep, take;

		DTX_TRY(dtx_cancel_look(err));
		DTX_TRY(dtx_unzip_read(in, window, WHOLE_WINDOW, &got, err));
		if (!got)
			break;
		take = DTX_MIN(got, sizeof(head) - nhead);
		memcpy(head + nhead, window, take);
		nhead += take;
		take = DTX_MIN(got, sizeof(tail));
		keep = DTX_MIN(ntail, sizeof(tail) - take);
		memmove(tail, tail + ntail - keep, keep);
		memcpy(tail + keep, window + got - take, take);
		ntail = keep + take;
	}
	*whole = ends_as_begun((struct dtx_str){ head, nhead }, (struct dtx_str){ tail, ntail });
out:
	dtx_unzip_free(in);
	return rc;
}

enum dtx_code dtx_xlsx_whole(int fd, bool *whole, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_zip zip = DTX_ZIP_INIT;
	struct dtx_archive_limits limits = dtx_archive_limits_default;
	char *window = dtx_mem_alloc(WHOLE_WINDOW, 1);
	void *bytes = MAP_FAILED;
	struct stat st;

	*whole = false;
	if (!window)
		DTX_FAIL_MEM(err);
	for (size_t i = 0; i < dtx_narchive_limits_rows; i++)
		memcpy((char *)&limits + dtx_archive_limits_rows[i].offset,
		       &dtx_archive_limits_rows[i].most, sizeof(uint64_t));
	if (!fstat(fd, &st) && st.st_size)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		goto out;
	rc = dtx_zip_open(&zip, "the packed workbook", bytes, (size_t)st.st_size, &limits, err);
	if (rc == DTX_E_CORRUPT_FILE) {
		/* corrupt means not complete, just like a part that is cut off */
		dtx_err_clear(err);
		rc = DTX_OK;
		goto out;
	}
	DTX_TRY(rc);
	*whole = zip.n > 0;
	for (uint32_t i = 0; *whole && i < zip.n; i++)
		DTX_TRY(part_whole(&zip, &zip.entry[i], window, whole, err));
out:
	dtx_zip_clear(&zip);
	if (bytes != MAP_FAILED)
		munmap(bytes, (size_t)st.st_size);
	dtx_mem_free(window);
	return rc;
}

enum {
	TEXT_CHARS_MAX = 32767,
	TABLE_NAME_MAX = 255,
	TABLE_CELLS_MAX = 2000000,
	NAME_CHARS_MAX = 31,
	WIDTH_ROWS = 1000,
	WIDTH_MIN = 8,
	WIDTH_MAX = 60,
	CREATED = 946684800 /* 2000-01-01, so that the same table gives the same bytes */
};
#define PACK_ROOM                                                                                  \
	"a workbook is packed in temporary files: make room there or name another folder with "    \
	"TMPDIR, and see ulimit -f"
#define CELL_BYTES_MAX ((size_t)16 << 20)

/* The library's functions, found by name. */
#define LXW_FUNCTIONS(X)                                                                           \
	X(workbook_new_opt)                                                                        \
	X(workbook_add_worksheet)                                                                  \
	X(workbook_add_format)                                                                     \
	X(workbook_set_properties)                                                                 \
	X(workbook_set_custom_property_string)                                                     \
	X(workbook_close)                                                                          \
	X(lxw_workbook_free)                                                                       \
	X(lxw_strerror)                                                                            \
	X(worksheet_write_string)                                                                  \
	X(worksheet_write_number)                                                                  \
	X(worksheet_write_boolean)                                                                 \
	X(worksheet_set_column)                                                                    \
	X(worksheet_freeze_panes)                                                                  \
	X(worksheet_autofilter)                                                                    \
	X(worksheet_add_table)                                                                     \
	X(format_set_bold)                                                                         \
	X(format_set_num_format)
struct lxw {
#define X(name) __typeof__(&name) name;
	LXW_FUNCTIONS(X)
#undef X
};

struct xlsx_writer {
	struct dtx_writer head;
	struct lxw lxw;
	lxw_workbook *book;
	lxw_worksheet *sheet;
	lxw_format *bold;
	lxw_format **format; /* per column; NULL: General */
	uint32_t *width;
	int temp;     /* unlinked; gets the packed workbook */
	uint32_t row; /* next */
	bool no_header;
	bool table;             /* all cells are held in memory until the end */
	struct dtx_arena names; /* of the table's columns, escaped */
	struct dtx_xlsx_losses lost;
	uint64_t as_text;    /* numbers and dates that a spreadsheet cannot hold */
	struct dtx_buf cell; /* for one cell */
	struct dtx_buf shown;
};

extern const struct dtx_writer_class dtx_write_xlsx;

static struct xlsx_writer *of(struct dtx_writer *w)
{
	return (struct xlsx_writer *)w; /* head is the first member */
}

static void xlsx_writer_close(struct dtx_writer *writer)
{
	struct xlsx_writer *w = of(writer);

	if (w->book)
		w->lxw.lxw_workbook_free(w->book);
	dtx_file_close(&w->temp);
	dtx_buf_clear(&w->cell);
	dtx_buf_clear(&w->shown);
	dtx_arena_clear(&w->names);
	dtx_mem_free(w->format);
	dtx_mem_free(w->width);
	dtx_errlist_clear(&writer->diags);
	dtx_mem_free(w);
}

/* --- opening --- */

/* Silences the library, which prints errors that its calls also return. dtx itself writes to the
 * descriptor and never uses stderr as a stream. */
static void hush(void)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (nowhere)
		stderr = nowhere;
}

static enum dtx_code load(struct lxw *lxw, struct dtx_err *err)
{
	const struct dtx_lib_symbol symbol[] = {
#define X(name) { #name, (void **)&lxw->name },
		LXW_FUNCTIONS(X)
#undef X
	};

	hush();
	return dtx_lib_open("libxlsxwriter.so.4", "libxlsxwriter4", false, symbol,
	                    DTX_COUNT(symbol), err);
}

/* Checks a sheet's name by the rules of spreadsheet programs. */
static enum dtx_code check_name(const char *name, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t len = strlen(name);

	if (!len || dtx_utf8_count(name, len) > NAME_CHARS_MAX || strpbrk(name, "[]:*?/\\") ||
	    name[0] == '\'' || name[len - 1] == '\'') {
		dtx_err_set(err, DTX_E_BAD_PARAM_VALUE, __FILE__, __LINE__,
		            "'%.60s' cannot name a sheet", name);
		dtx_err_hint(err, "at most %d characters, none of [ ] : * ? / \\, no ' at an end",
		             NAME_CHARS_MAX);
		rc = DTX_E_BAD_PARAM_VALUE;
	}
	return rc;
}

static enum dtx_code check_size(const struct dtx_schema *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (s->nfields > DTX_SHEET_COLS)
		DTX_FAIL_NEXT(err, DTX_E_COL_LIMIT,
		              "select fewer columns before, or write csv or jsonl",
		              "a sheet has at most %u columns, the table has %u", DTX_SHEET_COLS,
		              s->nfields);
out:
	return rc;
}

/* Checks that a table has a header whose names differ in more than case. */
static enum dtx_code check_table(const struct dtx_write_opts *opts, const struct dtx_schema *s,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena folded = DTX_ARENA_INIT;
	struct dtx_strmap seen = { 0 };
	struct dtx_buf name = DTX_BUF_INIT(CELL_BYTES_MAX);
	uint32_t i, found;

	if (opts->no_header || !s->nfields)
		DTX_FAIL_NEXT(err, DTX_E_BAD_PARAM_VALUE,
		              "leave \"as_table\" or \"header\": false out",
		              "a table of a workbook has a header row, and the output has none");
	for (i = 0; i < s->nfields; i++) {
		struct dtx_str text = dtx_str_of(s->field[i].name);
		char *key;

		if (!text.len || dtx_utf8_count(text.ptr, text.len) > TABLE_NAME_MAX)
			DTX_FAIL_NEXT(
				err, DTX_E_CELL_LIMIT,
				"give it another name in a rename step before, or leave "
				"\"as_table\" out",
				"column %u: a name in a table of a workbook has 1 to %d characters",
				i + 1, TABLE_NAME_MAX);
		dtx_buf_reset(&name);
		dtx_utf8_fold(&name, text);
		key = dtx_arena_strndup(&folded, dtx_buf_text(&name), dtx_buf_len(&name));
		if (!key || !dtx_strmap_put(&seen, dtx_str_of(key), i, &found))
			DTX_FAIL_MEM(err);
		if (found == i)
			continue;
		rc = dtx_err_set(err, DTX_E_AMBIGUOUS_COLUMN, __FILE__, __LINE__,
		                 "'%.60s' and '%.60s' are one name in a table of a workbook",
		                 s->field[found].name, s->field[i].name);
		dtx_err_hint(err, "rename one, or leave \"as_table\" out");
		goto out;
	}
out:
	dtx_strmap_clear(&seen);
	dtx_buf_clear(&name);
	dtx_arena_clear(&folded);
	return rc;
}

static enum dtx_code set_formats(struct xlsx_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = w->head.schema;
	char scratch[64];
	uint32_t i;

	for (i = 0; i < s->nfields; i++) {
		const char *f = xlsx_column_format(&s->field[i], scratch);

		if (!f)
			continue;
		w->format[i] = w->lxw.workbook_add_format(w->book);
		if (!w->format[i])
			DTX_FAIL_MEM(err);
		w->lxw.format_set_num_format(w->format[i], f);
	}
out:
	return rc;
}

static enum dtx_code make_book(struct xlsx_writer *w, const struct dtx_write_opts *opts,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	lxw_workbook_options options = { .constant_memory = !w->table, .use_zip64 = LXW_FALSE };
	lxw_doc_properties properties = { .created = CREATED };
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->temp);
	w->book = w->lxw.workbook_new_opt(path, &options);
	if (!w->book)
		DTX_FAIL_MEM(err);
	w->bold = w->lxw.workbook_add_format(w->book);
	if (!w->bold)
		DTX_FAIL_MEM(err);
	w->lxw.format_set_bold(w->bold);
	if (w->lxw.workbook_set_properties(w->book, &properties) != LXW_NO_ERROR)
		DTX_FAIL_MEM(err);
	if (opts->run_id && !opts->no_stamp &&
	    w->lxw.workbook_set_custom_property_string(w->book, "dtx_run", opts->run_id) !=
	            LXW_NO_ERROR)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

static enum dtx_code write_header(struct xlsx_writer *w, struct dtx_err *err);

/* What a sheet cannot hold is found before the workbook is made. */
static enum dtx_code check_sheet(const struct xlsx_writer *w, const struct dtx_write_opts *opts,
                                 const struct dtx_schema *schema, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(check_size(schema, err));
	if (w->table != opts->as_table)
		DTX_FAIL(err, DTX_E_PARAM_CONFLICT,
		         "'as_table' is for all sheets of a workbook or for none");
	if (w->table)
		DTX_TRY(check_table(opts, schema, err));
	if (opts->sheet)
		DTX_TRY(check_name(opts->sheet, err));
out:
	return rc;
}

/* Makes a sheet, which is then the one that is written. */
static enum dtx_code make_sheet(struct xlsx_writer *w, const struct dtx_write_opts *opts,
                                const struct dtx_schema *schema, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	w->head.schema = schema;
	w->no_header = opts->no_header;
	w->row = 0;
	w->as_text = 0;
	w->lost = (struct dtx_xlsx_losses){ 0 };
	dtx_mem_free(w->format);
	dtx_mem_free(w->width);
	w->format = dtx_mem_zalloc(schema->nfields, sizeof(lxw_format *));
	w->width = dtx_mem_zalloc(schema->nfields, sizeof(*w->width));
	if (!w->format || !w->width)
		DTX_FAIL_MEM(err);
	w->sheet = w->lxw.workbook_add_worksheet(w->book, opts->sheet ? opts->sheet : "Sheet1");
	if (!w->sheet)
		DTX_FAIL_MEM(err);
	DTX_TRY(set_formats(w, err));
	if (!w->no_header)
		DTX_TRY(write_header(w, err));
out:
	return rc;
}

static enum dtx_code xlsx_writer_begin(struct dtx_writer *writer, const struct dtx_write_opts *opts,
                                       const struct dtx_schema *schema, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(check_sheet(of(writer), opts, schema, err));
	DTX_TRY(make_sheet(of(writer), opts, schema, err));
out:
	return rc;
}

static enum dtx_code xlsx_writer_open(struct dtx_outfile *out, const struct dtx_write_opts *opts,
                                      const struct dtx_schema *schema, struct dtx_writer **made,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct xlsx_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->head = (struct dtx_writer){ .cls = &dtx_write_xlsx, .out = out, .schema = schema };
	w->temp = -1;
	w->table = opts->as_table;
	dtx_buf_init(&w->cell, CELL_BYTES_MAX);
	dtx_buf_init(&w->shown, CELL_BYTES_MAX);
	DTX_TRY(check_sheet(w, opts, schema, err));
	DTX_TRY(load(&w->lxw, err));
	DTX_TRY(dtx_file_temp(NULL, &w->temp, err));
	DTX_TRY(make_book(w, opts, err));
	DTX_TRY(make_sheet(w, opts, schema, err));
	*made = &w->head;
	w = NULL;
out:
	if (w)
		xlsx_writer_close(&w->head);
	return rc;
}

/* --- cells --- */

static enum dtx_code wrote(struct xlsx_writer *w, lxw_error e, uint32_t col, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char cell[24];

	if (e == LXW_NO_ERROR)
		goto out;
	if (e == LXW_ERROR_MEMORY_MALLOC_FAILED)
		DTX_FAIL_MEM(err);
	dtx_cell_name(cell, w->row, col);
	DTX_FAIL(err, DTX_E_OUTPUT_IO, "cell %s: %s", cell, w->lxw.lxw_strerror(e));
out:
	return rc;
}

static enum dtx_code write_text(struct xlsx_writer *w, uint32_t col, struct dtx_str s,
                                lxw_format *format, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char cell[24];

	if (s.len > TEXT_CHARS_MAX && dtx_utf8_count(s.ptr, s.len) > TEXT_CHARS_MAX) {
		dtx_cell_name(cell, w->row, col);
		rc = dtx_err_set(err, DTX_E_CELL_LIMIT, __FILE__, __LINE__,
		                 "cell %s: a text is longer than %d characters", cell,
		                 TEXT_CHARS_MAX);
		dtx_err_hint(err, "left(text, %d) in a derive step cuts it; csv has no limit",
		             TEXT_CHARS_MAX);
		goto out;
	}
	dtx_buf_reset(&w->cell);
	xlsx_escape(&w->cell, s);
	DTX_TRY(dtx_buf_check(&w->cell, "a cell", err));
	DTX_TRY(wrote(w,
	              w->lxw.worksheet_write_string(w->sheet, w->row, (lxw_col_t)col,
	                                            dtx_buf_text(&w->cell), format),
	              col, err));
out:
	return rc;
}

/* Writes a value that a spreadsheet would change as the text that CSV would have. */
static enum dtx_code write_shown(struct xlsx_writer *w, const struct dtx_column *c, uint32_t row,
                                 uint32_t col, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	dtx_buf_reset(&w->shown);
	dtx_cast_print(c, row, &w->shown);
	DTX_TRY(dtx_buf_check(&w->shown, "a cell", err));
	DTX_TRY(write_text(w, col, dtx_buf_str(&w->shown), NULL, err));
out:
	return rc;
}

static enum dtx_code write_value(struct xlsx_writer *w, const struct dtx_column *c, uint32_t row,
                                 uint32_t col, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	double v;

	if (c->type.type == DTX_T_TEXT) {
		DTX_TRY(write_text(w, col, dtx_column_text(c, row), w->format[col], err));
	} else if (c->type.type == DTX_T_BOOL) {
		DTX_TRY(wrote(w,
		              w->lxw.worksheet_write_boolean(w->sheet, w->row, (lxw_col_t)col,
		                                             dtx_bit(c->v.bits, row), NULL),
		              col, err));
	} else if (xlsx_number(c, row, &v, &w->lost)) {
		DTX_TRY(wrote(w,
		              w->lxw.worksheet_write_number(w->sheet, w->row, (lxw_col_t)col, v,
		                                            w->format[col]),
		              col, err));
	} else {
		w->as_text++;
		DTX_TRY(write_shown(w, c, row, col, err));
	}
out:
	return rc;
}

static void note_width(struct xlsx_writer *w, const struct dtx_column *c, uint32_t row,
                       uint32_t col)
{
	size_t width;

	dtx_buf_reset(&w->shown);
	dtx_cast_print(c, row, &w->shown);
	width = dtx_utf8_width(dtx_buf_text(&w->shown), dtx_buf_len(&w->shown));
	w->width[col] = DTX_MAX(w->width[col], (uint32_t)DTX_MIN(width, (size_t)WIDTH_MAX));
}

static enum dtx_code write_header(struct xlsx_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_schema *s = w->head.schema;
	uint32_t i;

	for (i = 0; i < s->nfields; i++) {
		struct dtx_str name = dtx_str_of(s->field[i].name);

		/* room for the button of the filter */
		w->width[i] = (uint32_t)DTX_MIN(dtx_utf8_width(name.ptr, name.len) + 3,
		                                (size_t)WIDTH_MAX);
		DTX_TRY(write_text(w, i, name, w->bold, err));
	}
	w->row = 1;
out:
	return rc;
}

/* --- rows --- */

/* Workers make the values; put is called by one thread. */
static enum dtx_code xlsx_writer_format(struct dtx_writer *writer, struct dtx_batch *b,
                                        struct dtx_buf *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column *c;
	uint32_t i;

	(void)writer;
	(void)out;
	for (i = 0; i < b->ncols; i++)
		DTX_TRY(dtx_batch_value(b, i, &c, err));
out:
	return rc;
}

static enum dtx_code put_row(struct xlsx_writer *w, struct dtx_column *const *col, uint32_t ncols,
                             uint32_t row, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c;

	if (w->row == DTX_SHEET_ROWS) {
		rc = dtx_err_set(err, DTX_E_ROW_LIMIT, __FILE__, __LINE__,
		                 "a sheet has at most %u rows, the table has more", DTX_SHEET_ROWS);
		dtx_err_hint(err, "csv and jsonl have no limit");
		goto out;
	}
	if (w->table && (uint64_t)w->row * ncols > TABLE_CELLS_MAX) {
		rc = dtx_err_set(err, DTX_E_CELL_LIMIT, __FILE__, __LINE__,
		                 "a table of a workbook is held in memory: at most %d cells",
		                 TABLE_CELLS_MAX);
		dtx_err_hint(err, "leave \"as_table\" out");
		goto out;
	}
	for (c = 0; c < ncols; c++) {
		if (dtx_column_is_null(col[c], row))
			continue;
		if (w->row < WIDTH_ROWS)
			note_width(w, col[c], row, c);
		DTX_TRY(write_value(w, col[c], row, c, err));
	}
	w->row++;
out:
	return rc;
}

static enum dtx_code xlsx_writer_put(struct dtx_writer *writer, struct dtx_batch *b,
                                     const struct dtx_buf *bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_column **flat = dtx_mem_zalloc(b->ncols, sizeof(struct dtx_column *)), *value;
	uint32_t i;

	(void)bytes;
	if (!flat)
		DTX_FAIL_MEM(err);
	for (i = 0; i < b->ncols; i++) {
		DTX_TRY(dtx_batch_value(b, i, &value, err));
		DTX_TRY(dtx_column_flat(value, &flat[i], err));
	}
	for (i = 0; i < b->nsel; i++) {
		DTX_TRY(dtx_cancel_line(i, err));
		DTX_TRY(put_row(of(writer), flat, b->ncols, b->sel ? b->sel[i] : i, err));
	}
out:
	for (i = 0; flat && i < b->ncols; i++)
		dtx_column_unref(flat[i]);
	dtx_mem_free(flat);
	return rc;
}

/* --- the end --- */

/* Adds a real table. The library writes the header again; a table needs at least one row. */
static enum dtx_code add_table(struct xlsx_writer *w, uint32_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	lxw_table_column *column = dtx_mem_zalloc(n, sizeof(*column));
	lxw_table_column **list = dtx_mem_zalloc((size_t)n + 1, sizeof(lxw_table_column *));
	lxw_table_options options = { .columns = list };
	uint32_t i;

	if (!column || !list)
		DTX_FAIL_MEM(err);
	for (i = 0; i < n; i++) {
		dtx_buf_reset(&w->cell);
		xlsx_escape(&w->cell, dtx_str_of(w->head.schema->field[i].name));
		column[i].header =
			dtx_arena_strndup(&w->names, dtx_buf_text(&w->cell), dtx_buf_len(&w->cell));
		column[i].header_format = w->bold;
		if (!column[i].header)
			DTX_FAIL_MEM(err);
		list[i] = &column[i];
	}
	DTX_TRY(wrote(w,
	              w->lxw.worksheet_add_table(w->sheet, 0, 0, DTX_MAX(w->row - 1, 1U),
	                                         (lxw_col_t)(n - 1), &options),
	              0, err));
out:
	dtx_mem_free(column);
	dtx_mem_free(list);
	return rc;
}

static enum dtx_code dress(struct xlsx_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i, n = w->head.schema->nfields;

	for (i = 0; i < n; i++)
		DTX_TRY(wrote(w,
		              w->lxw.worksheet_set_column(w->sheet, (lxw_col_t)i, (lxw_col_t)i,
		                                          DTX_MAX(w->width[i], (uint32_t)WIDTH_MIN),
		                                          NULL),
		              i, err));
	if (w->no_header || !n)
		goto out;
	w->lxw.worksheet_freeze_panes(w->sheet, 1, 0);
	if (w->table) {
		rc = add_table(w, n, err);
		goto out;
	}
	DTX_TRY(wrote(w,
	              w->lxw.worksheet_autofilter(w->sheet, 0, 0, w->row - 1, (lxw_col_t)(n - 1)),
	              0, err));
out:
	return rc;
}

static enum dtx_code copy_package(struct xlsx_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *window = dtx_mem_alloc(256 << 10, 1);
	off_t at = 0;
	ssize_t n;

	if (!window)
		DTX_FAIL_MEM(err);
	for (;;) {
		DTX_TRY(dtx_cancel_look(err));
		n = pread(w->temp, window, 256 << 10, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			DTX_FAIL(err, DTX_E_OUTPUT_IO, "cannot read the packed workbook back: %s",
			         strerror(errno));
		if (!n)
			break;
		DTX_TRY(dtx_outfile_write(w->head.out, window, (size_t)n, err));
		at += n;
	}
out:
	dtx_mem_free(window);
	return rc;
}

static enum dtx_code note(struct xlsx_writer *w, uint64_t count, const char *what,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err e = DTX_ERR_INIT;

	if (!count)
		goto out;
	dtx_err_set(&e, DTX_W_NUMBER_ROUNDED, __FILE__, __LINE__, "%llu %s",
	            (unsigned long long)count, what);
	e.severity = DTX_SEV_WARNING;
	e.count = (int64_t)count;
	if (!dtx_errlist_take(&w->head.diags, &e))
		DTX_FAIL_MEM(err);
out:
	return rc;
}

struct packing {
	__typeof__(&workbook_close) close;
	lxw_workbook *book;
	lxw_error e;
	int error; /* errno after the call */
};

static void pack_book(void *arg)
{
	struct packing *p = arg;

	errno = 0;
	p->e = p->close(p->book);
	p->error = errno;
}

/* Packs the workbook into the temp file. The library compresses all cells in one call, which takes
 * most of the time of a large workbook. */
static enum dtx_code pack(struct xlsx_writer *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct packing *p = dtx_mem_zalloc(1, sizeof(*p));
	bool left = false;

	if (!p)
		DTX_FAIL_MEM(err);
	p->close = w->lxw.workbook_close;
	p->book = w->book;
	rc = dtx_long_call(pack_book, p, &left, err);
	if (left) {
		/* The library still uses the book, and opens the temp file by its number. */
		p = NULL;
		w->book = NULL;
		w->temp = -1;
	}
	DTX_TRY(rc);
	w->book = NULL; /* workbook_close has freed it, also if it failed */
	if (p->e == LXW_ERROR_MEMORY_MALLOC_FAILED)
		DTX_FAIL_MEM(err);
	if (p->e != LXW_NO_ERROR)
		DTX_FAIL_NEXT(err, p->error == ENOSPC ? DTX_E_DISK_FULL : DTX_E_OUTPUT_IO,
		              PACK_ROOM, "cannot pack the workbook: %s",
		              p->error ? strerror(p->error) : w->lxw.lxw_strerror(p->e));
out:
	dtx_mem_free(p);
	return rc;
}

static enum dtx_code xlsx_writer_end(struct dtx_writer *writer, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct xlsx_writer *w = of(writer);

	DTX_TRY(dress(w, err));
	DTX_TRY(note(w, w->lost.digits, "numbers of 17 digits, written with 16", err));
	DTX_TRY(note(w, w->lost.micros,
	             "times are finer than the milliseconds that a workbook keeps", err));
	DTX_TRY(note(w, w->as_text,
	             "numbers of over 15 digits or dates before 1900-03-01, written as text", err));
out:
	return rc;
}

static enum dtx_code xlsx_writer_finish(struct dtx_writer *writer, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct xlsx_writer *w = of(writer);
	bool whole = true;

	DTX_TRY(pack(w, err));
	DTX_TRY(dtx_xlsx_whole(w->temp, &whole, err));
	if (!whole)
		DTX_FAIL_NEXT(err, DTX_E_DISK_FULL, PACK_ROOM,
		              "cannot pack the workbook: its temporary files were cut short");
	DTX_TRY(copy_package(w, err));
out:
	return rc;
}

const struct dtx_writer_class dtx_write_xlsx = {
	.name = "xlsx",
	.formats = "xlsx",
	.suffixes = "xlsx",
	.uses = "header,sheet,as_table",
	.values = true,
	.binary = true,
	.open = xlsx_writer_open,
	.format = xlsx_writer_format,
	.put = xlsx_writer_put,
	.begin = xlsx_writer_begin,
	.end = xlsx_writer_end,
	.finish = xlsx_writer_finish,
	.close = xlsx_writer_close,
};
