/* Finds what is wrong with a text file, and where. */
#include <stdio.h>

#include "core/io/csv/detect/csv_anomaly.h"
#include "core/io/csv/mend/csv_stray.h"
#include "core/io/csv/detect/csv_top.h"
#include "core/io/csv/lines.h"
#include "core/io/repair.h"

#define FAULT_EXAMPLES 5
#define FAULT_PARTED   1000 /* number of ragged records for which another delimiter is tried */
#define LOCATE_BLOCK   ((size_t)1 << 20)
#define LOCATE_NEAR    32   /* so few rows are skipped one by one */
#define LOCATE_LINE    4096 /* bytes in which to search a line end: a text may have none */

/* Reads any record of the text, for all dialects. It has a reader of its own, because places are
 * also looked up while a worker reads. */
struct fault_walk {
	const struct dtx_csv *c;
	struct dtx_csv_ref *ref;
	struct dtx_csv_row row;
	enum dtx_csv_kind kind;
};

static enum dtx_code fault_open(struct fault_walk *f, const struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*f = (struct fault_walk){ .c = c };
	if (!c->ref)
		goto out;
	DTX_TRY(dtx_csv_ref_new(c->text.data, c->text.end, &c->dialect, &f->ref, err));
	dtx_csv_ref_set_width(f->ref, c->fit);
	dtx_csv_ref_set_shapes(f->ref, c->shapes);
out:
	return rc;
}

/* Whether this is a line of blanks, or a page break, in a table of several columns. */
static bool is_void(const struct dtx_csv *c, const struct dtx_csv_row *row)
{
	size_t at = row->start;

	if (row->ncells != 1 || c->width < 2)
		return false;
	while (at < row->end && c->text.data[at] && strchr(" \t\f\v", c->text.data[at]))
		at++;
	return at == row->end;
}

enum dtx_csv_kind dtx_csv_row_kind(const struct dtx_csv *c, const struct dtx_csv_row *row)
{
	size_t i;

	if (row->ncells == c->width)
		return DTX_CSV_ROW;
	if (dtx_csv_row_blank(row) || is_void(c, row))
		return DTX_CSV_BLANK;
	if (row->ncells < c->width)
		return DTX_CSV_SHORT;
	for (i = 0; i < row->ncells - c->width; i++) {
		if (c->text.data[row->end - 1 - i] != c->text.set.delim)
			return DTX_CSV_LONG;
	}
	return DTX_CSV_EMPTY_EXTRA;
}

void dtx_csv_padded(const struct dtx_csv *c, struct dtx_csv_tally *t, uint32_t ncells,
                    size_t record)
{
	if (ncells < c->fit)
		dtx_csv_odd(t, DTX_CSV_ODD_SHORT, 1, record);
	else if (ncells > c->fit)
		dtx_csv_odd(t, DTX_CSV_ODD_WIDE, 1, record);
}

bool dtx_csv_is_header(const struct dtx_csv *c, size_t at)
{
	struct dtx_str rest = { c->text.data + at, c->text.end - at };
	char next = rest.len > c->header.len ? rest.ptr[c->header.len] : '\n';

	return c->header.len && at >= c->body && dtx_str_starts(rest, c->header) &&
	       (next == '\n' || next == '\r');
}

/* Whether the record has the cells of the header, possibly in other quotes. */
static bool has_header_cells(const struct dtx_csv *c, const struct dtx_csv_ref_record *rec)
{
	uint32_t i;

	if (!c->nheader || rec->row.ncells != c->nheader || rec->row.start < c->body)
		return false;
	for (i = 0; i < c->nheader; i++) {
		struct dtx_str cell = { rec->text + rec->cell[i].off, rec->cell[i].len };

		if (!dtx_str_eq(cell, c->header_cell[i]))
			return false;
	}
	return true;
}

enum dtx_csv_kind dtx_csv_ref_kind(const struct dtx_csv *c, const struct dtx_csv_ref_record *rec)
{
	uint32_t i;

	if (rec->comment)
		return DTX_CSV_COMMENT;
	if (dtx_csv_is_header(c, rec->row.start) || has_header_cells(c, rec) ||
	    dtx_csv_is_heading(c, rec->row.start, rec->row.end))
		return DTX_CSV_HEADER;
	if (rec->row.ncells == c->width && !(c->width > 1 && dtx_csv_row_blank(&rec->row)))
		return DTX_CSV_ROW;
	if (dtx_csv_row_blank(&rec->row) || is_void(c, &rec->row))
		return DTX_CSV_BLANK;
	if (rec->row.ncells < c->width)
		return DTX_CSV_SHORT;
	for (i = c->width; i < rec->row.ncells; i++) {
		if (rec->cell[i].len || rec->cell[i].quoted)
			return DTX_CSV_LONG;
	}
	return DTX_CSV_EMPTY_EXTRA;
}

static enum dtx_code fault_read(struct fault_walk *f, size_t at, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_ref_record rec;

	if (!f->ref) {
		dtx_csv_row_read(&f->c->text, at, NULL, 0, &f->row);
		f->kind = dtx_csv_row_kind(f->c, &f->row);
		goto out;
	}
	DTX_TRY(dtx_csv_ref_read(f->ref, at, &rec, err));
	f->row = rec.row;
	f->kind = dtx_csv_ref_kind(f->c, &rec);
out:
	return rc;
}

enum dtx_code dtx_csv_widest(struct dtx_csv *c, size_t at, uint32_t *width, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct fault_walk f;

	DTX_TRY(fault_open(&f, c, err));
	for (; at < c->text.end; at = f.row.next) {
		DTX_TRY(fault_read(&f, at, err));
		*width = DTX_MAX(*width, f.row.ncells);
	}
	DTX_TRY(dtx_csv_row_limit(*width, dtx_source_name(c->head.src), err));
out:
	dtx_csv_ref_free(f.ref);
	return rc;
}

void dtx_csv_set_position(const struct dtx_csv *c, size_t byte, struct dtx_err *err)
{
	int64_t line;

	if (!err)
		return;
	line = dtx_csv_line(c->text.data, 0, byte) + dtx_source_line0(c->head.src);
	dtx_err_row(err, line, NULL);
	if (!c->enc.converted)
		err->byte = (int64_t)dtx_csv_byte(c, byte);
	snprintf(err->cell, sizeof(err->cell), "L%lld", (long long)line + 1);
	snprintf(err->input, sizeof(err->input), "%s", c->opts.alias ? c->opts.alias : "main");
}

static long long fault_line(const struct dtx_csv *c, size_t byte)
{
	return (long long)(dtx_csv_line(c->text.data, 0, byte) + dtx_source_line0(c->head.src)) + 1;
}

/* Advises to read quotes differently if the cell has several lines, because then a stray quote is
 * likely. For a cell of one line there is no remedy. */
static void long_advise(const struct dtx_csv *c, size_t at, struct dtx_err *err)
{
	size_t len = DTX_MIN(c->text.end - at, DTX_CSV_CELL_MAX);

	if (!c->text.set.quotes || !memchr(c->text.data + at, '\n', len))
		return;
	dtx_repair_advise(err, c->dialect.quotes == DTX_QUOTES_LENIENT
	                               ? "{\"quotes\":\"lines\"}"
	                               : "{\"quotes\":\"lenient\"}");
}

/* Whether another delimiter, quote or escape splits the record into as many cells as the others
 * have. *other is the reader for such records; it is made when first needed. */
static enum dtx_code ragged_parted(const struct dtx_csv *c, const struct dtx_csv_shapes *shapes,
                                   size_t at, struct dtx_csv_ref **other, bool *parted, bool *glued,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_dialect d = c->dialect;
	struct dtx_csv_ref_record rec;

	d.mixed = true;
	if (!*other)
		DTX_TRY(dtx_csv_ref_new(c->text.data, c->text.end, &d, other, err));
	dtx_csv_ref_set_width(*other, c->width);
	dtx_csv_ref_set_shapes(*other, shapes);
	DTX_TRY(dtx_csv_ref_read(*other, at, &rec, err));
	*parted |= rec.row.fault == DTX_CSV_FINE && rec.row.ncells == c->width;
	*glued |= rec.change == DTX_CSV_CHANGE_GLUED;
out:
	return rc;
}

/* Whether the record is as wide as the table and ends with its line, if its stray quote is read as
 * data. */
static bool is_stray_alone(const struct dtx_csv *c, size_t at)
{
	struct dtx_str line = dtx_line_at((struct dtx_str){ c->text.data, c->text.end }, at);
	struct dtx_dialect d = c->dialect;
	struct dtx_csv_ref_record rec;
	struct dtx_csv_ref *ref = NULL;
	bool alone = false;

	d.quotes = DTX_QUOTES_LENIENT;
	if (dtx_csv_ref_new(c->text.data, at + line.len, &d, &ref, NULL) == DTX_OK) {
		dtx_csv_ref_set_width(ref, c->width);
		alone = dtx_csv_ref_read(ref, at, &rec, NULL) == DTX_OK && rec.row.literal == 1 &&
		        rec.row.fault == DTX_CSV_FINE && rec.row.ncells == c->width;
	}
	dtx_csv_ref_free(ref);
	return alone;
}

/* Advises a reading that allows single records of another kind, as that is not a reason to read all
 * quotes differently. */
static void parted_advise(const struct dtx_csv *c, size_t at, struct dtx_err *err)
{
	struct dtx_csv_ref *other = NULL;
	bool parted = false, glued = false;

	if (ragged_parted(c, c->shapes, at, &other, &parted, &glued, NULL) == DTX_OK && parted &&
	    (glued || !is_stray_alone(c, at)))
		dtx_repair_advise(err, "{\"mixed\":true}");
	dtx_csv_ref_free(other);
}

/* Whether nothing after the fault ends it: then no dialect would give lines. */
static bool fault_is_endless(const struct dtx_csv *c, const struct dtx_csv_row *row)
{
	size_t left = c->text.end - row->fault_at;

	return (row->fault == DTX_CSV_TOO_LONG || left > DTX_CSV_CELL_MAX) &&
	       !memchr(c->text.data + row->fault_at, '\n', DTX_MIN(left, DTX_CSV_CELL_MAX));
}

static enum dtx_code fault_row(struct dtx_csv *c, const struct dtx_csv_row *row,
                               struct dtx_err *err)
{
	static const struct {
		enum dtx_code code;
		const char *text, *hint;
	} rows[] = {
		[DTX_CSV_BAD_QUOTE] = { DTX_E_BAD_QUOTE, "text after a closing quote",
		                        "\"quotes\": \"lenient\" takes such quotes as data" },
		[DTX_CSV_UNTERMINATED] = { DTX_E_UNTERMINATED_QUOTE,
		                           "the file ends inside the quotes that open",
		                           "\"quotes\": \"lenient\" takes such quotes as data; "
		                           "\"quote\": false reads none" },
		[DTX_CSV_TOO_LONG] = { DTX_E_INPUT_LIMIT, "a cell is larger than 16 MiB",
		                       "check the quotes before this place" },
	};
	size_t at = row->fault_at;
	const char *text = rows[row->fault].text;

	if (row->fault == DTX_CSV_BAD_QUOTE && at < c->text.end &&
	    c->text.data[at] == c->text.set.quote)
		text = "a quote inside a cell without quotes";
	(void)dtx_err_set(err, rows[row->fault].code, __FILE__, __LINE__,
	                  "'%s': %s at L%lld (byte %zu)", dtx_source_name(c->head.src), text,
	                  fault_line(c, at), dtx_csv_byte(c, at));
	dtx_err_hint(err, "%s", rows[row->fault].hint);
	if (row->fault == DTX_CSV_TOO_LONG)
		long_advise(c, at, err);
	else if (!c->dialect.mixed && !dtx_source_is_part(c->head.src) && !fault_is_endless(c, row))
		parted_advise(c, row->start, err);
	dtx_csv_set_position(c, at, err);
	return rows[row->fault].code;
}

enum dtx_code dtx_csv_fail_row(struct dtx_csv *c, const struct dtx_csv_row *row,
                               struct dtx_err *err)
{
	enum dtx_code rc = fault_is_endless(c, row) ? DTX_OK : dtx_csv_doubt(c, row->start, err);

	return rc == DTX_OK ? fault_row(c, row, err) : rc;
}

/* Fails at the first line of the record, because the stray quote is there. */
static enum dtx_code fail_stray(struct dtx_csv *c, enum dtx_code code, size_t start, size_t end,
                                struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(
		err, code, __FILE__, __LINE__,
		"'%s': quotes that open at L%lld (byte %zu) close at L%lld, and each line between "
		"looks like a row",
		dtx_source_name(c->head.src), fault_line(c, start), dtx_csv_byte(c, start),
		fault_line(c, end));

	dtx_err_hint(err, "\"quotes\": \"lenient\" takes such quotes as data");
	dtx_csv_set_position(c, start, err);
	return rc;
}

enum dtx_code dtx_csv_head_stray(struct dtx_csv *c, size_t start, size_t end, struct dtx_err *err)
{
	struct dtx_err w = DTX_ERR_INIT;

	if (c->opts.strays)
		return fail_stray(c, DTX_E_BAD_QUOTE, start, end - 1, err);
	(void)fail_stray(c, DTX_W_READER_NOTE, start, end - 1, &w);
	return dtx_csv_note(c, &w, err);
}

enum dtx_code dtx_csv_stray_record(struct dtx_csv *c, size_t start, size_t end,
                                   struct dtx_csv_tally *t, struct dtx_err *err)
{
	struct dtx_str record = { c->text.data + start, end - start };
	enum dtx_csv_stray is = dtx_csv_stray(&c->dialect, record, c->fit, false);

	if (is == DTX_CSV_STRAY_SURE && c->opts.strays && !dtx_source_is_part(c->head.src))
		return fail_stray(c, DTX_E_BAD_QUOTE, start, end, err);
	dtx_csv_odd(t, DTX_CSV_ODD_STRAY, is != DTX_CSV_STRAY_NOT, start);
	return DTX_OK;
}

enum dtx_code dtx_csv_odd_record(struct dtx_csv *c, const struct dtx_csv_row *row,
                                 const struct dtx_csv_tally *t, struct dtx_err *err)
{
	struct dtx_csv_ref *other = NULL;
	bool parted = false, glued = false;
	enum dtx_code rc = DTX_OK;

	if (!c->opts.strays || !c->shapes || c->dialect.mixed || dtx_source_is_part(c->head.src) ||
	    t->odd[DTX_CSV_ODD_EXTRA].n + t->odd[DTX_CSV_ODD_QUOTE].n >= FAULT_PARTED)
		goto out;
	DTX_TRY(ragged_parted(c, c->shapes, row->start, &other, &parted, &glued, err));
	if (!parted || (row->ncells == c->width && !glued))
		goto out;
	rc = dtx_err_set(err, DTX_E_RAGGED_ROWS, __FILE__, __LINE__, "'%s': L%lld (byte %zu): %s",
	                 dtx_source_name(c->head.src), fault_line(c, row->start),
	                 dtx_csv_byte(c, row->start),
	                 glued ? "a delimiter is missing beside a quote"
	                       : "an empty cell too many stands before others");
	dtx_err_hint(err, "\"dialect\": {\"mixed\": true} reads it so that its cells fit");
	dtx_repair_advise(err, "{\"mixed\":true}");
	dtx_csv_set_position(c, row->start, err);
out:
	dtx_csv_ref_free(other);
	return rc;
}

/* Whether the record has a cell of several lines, which may be due to a stray quote. */
static bool fault_many_lines(const struct dtx_csv *c, const struct dtx_csv_row *row)
{
	const char *text = c->text.data + row->start;
	size_t len = row->end - row->start;

	return c->text.set.quotes && c->dialect.quotes != DTX_QUOTES_LENIENT &&
	       (memchr(text, '\n', len) || memchr(text, '\r', len));
}

/* Advises the repair that explains the misfits: comments, remarks below the table, stray quotes. It
 * never advises to leave out more of the rows than are kept. */
static void ragged_advise(struct dtx_csv *c, const struct dtx_csv_odd_lines *odd, bool parted,
                          const struct dtx_csv_row *first, int64_t rows, struct dtx_err *err)
{
	const char *comment = dtx_csv_odd_comment(odd);
	unsigned remarks = dtx_csv_odd_remarks(odd);
	int64_t above = c->before.dropped[DTX_DROP_PREAMBLE], all = rows + c->header_rows;

	if (comment && 2 * (int64_t)dtx_csv_odd_comments(odd, comment) > all + above)
		comment = NULL;
	if (2 * (int64_t)dtx_csv_odd_filled(odd, remarks) > all)
		remarks = 0;
	if (!c->dialect.comment && comment)
		dtx_repair_advise(err, "{\"comment\":\"%s\"}", comment);
	else if (parted)
		dtx_repair_advise(err, "{\"mixed\":true}");
	else if (remarks)
		dtx_repair_advise(err, "{\"skip_tail\":%lld}",
		                  (long long)c->opts.skip_tail + remarks);
	else if (fault_many_lines(c, first))
		dtx_repair_advise(err, "{\"quotes\":\"lenient\"}");
}

static void ragged_example(const struct dtx_csv *c, const struct dtx_csv_row *row, bool further,
                           struct dtx_buf *out)
{
	dtx_buf_printf(out, "%s{\"line\":%lld,\"byte\":%zu,\"cells\":%u}", further ? "," : "",
	               fault_line(c, row->start), dtx_csv_byte(c, row->start), row->ncells);
}

/* Fails for a part of an input, whose other rows are not known. */
static enum dtx_code fail_part(struct dtx_csv *c, const struct dtx_csv_row *row,
                               struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(err, DTX_E_RAGGED_ROWS, __FILE__, __LINE__,
	                               "'%s': L%lld (byte %zu) has %u cells, not %u",
	                               dtx_source_name(c->head.src), fault_line(c, row->start),
	                               dtx_csv_byte(c, row->start), row->ncells, c->width);

	dtx_err_hint(err, "\"ragged\": \"truncate\" fills short rows and cuts long ones; "
	                  "\"ragged\": \"quarantine\" keeps both out");
	dtx_csv_set_position(c, row->start, err);
	return rc;
}

/* The length of the line end before `at`: 2 for CR LF, 1 for one of them, 0 at the beginning of the
 * text. */
static size_t line_end_before(const struct dtx_csv *c, size_t at)
{
	const char *p = c->text.data + at;

	if (!at || !dtx_line_is_end(p[-1]))
		return 0;
	return at > 1 && p[-1] == '\n' && p[-2] == '\r' ? 2 : 1;
}

/* A possible cause, as another hint; "" if nothing suggests one. */
static const char *ragged_cause(const struct dtx_csv *c, const struct dtx_csv_row *first, bool all)
{
	size_t end = line_end_before(c, first->next), usual = line_end_before(c, c->body);

	if (end && usual && end != usual && first->ncells < c->width)
		return "; this row ends with another kind of line end than the header: a line "
		       "break inside a cell needs quotes around the cell";
	if (all && first->ncells > c->width && !strcmp(c->dialect.delim, ","))
		return "; decimal commas need another delimiter, such as ';'";
	return "";
}

/* Makes the error. `more` is its detail, which it takes. */
static enum dtx_code ragged_told(struct dtx_csv *c, const struct dtx_csv_row *first, int64_t bad,
                                 int64_t rows, struct dtx_buf *more, struct dtx_err *err)
{
	enum dtx_code rc = dtx_err_set(
		err, DTX_E_RAGGED_ROWS, __FILE__, __LINE__,
		"'%s': %lld of %lld rows do not have %u cells; L%lld (byte %zu) has %u",
		dtx_source_name(c->head.src), (long long)bad, (long long)rows, c->width,
		fault_line(c, first->start), dtx_csv_byte(c, first->start), first->ncells);

	dtx_err_hint(err,
	             "\"ragged\": \"pad\" fills short rows and widens the table for long "
	             "ones; \"ragged\": \"truncate\" cuts long ones; "
	             "\"ragged\": \"quarantine\" keeps both out%s",
	             ragged_cause(c, first, bad == rows));
	dtx_csv_set_position(c, first->start, err);
	if (err) {
		err->count = bad;
		dtx_err_more(err, dtx_buf_steal(more));
	}
	return rc;
}

/* Learns what the columns look like, so that the hint names the repair that --repair would make. */
static enum dtx_code ragged_shapes(struct dtx_csv *c, struct dtx_csv_shapes **out,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_top top = { 0 };

	*out = NULL;
	if (c->shapes || c->ref || dtx_source_is_part(c->head.src) || c->body >= c->text.end)
		goto out;
	DTX_TRY(dtx_csv_top_read(c, c->body, DTX_CSV_TOP_ROWS, false, &top, err));
	DTX_TRY(dtx_csv_shapes_new(&top, c->width, out, err));
out:
	dtx_csv_top_clear(&top);
	return rc;
}

/* Counts all ragged records after the first one, so that the message does not depend on which
 * worker found one. */
enum dtx_code dtx_csv_fail_ragged(struct dtx_csv *c, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf more = DTX_BUF_INIT(4096);
	struct dtx_csv_row first = { .ncells = 0 };
	struct dtx_csv_odd_lines odd = { .n = 0 };
	struct dtx_csv_shapes *shapes = NULL;
	struct dtx_csv_ref *other = NULL;
	bool parted = false, glued = false;
	struct fault_walk f = { .ref = NULL };
	int64_t bad = 0, rows = 0;
	size_t at = c->top;

	/* The slice may begin at the wrong place. If not, the process that started this one reads
	 * the input as a whole, and says what is wrong with it. */
	if (c->scan.slice)
		DTX_FAIL(err, DTX_E_RAGGED_ROWS, "'%s': a row does not have %u cells",
		         dtx_source_name(c->head.src), c->width);
	DTX_TRY(ragged_shapes(c, &shapes, err));
	odd.shapes = shapes ? shapes : c->shapes;
	DTX_TRY(fault_open(&f, c, err));
	dtx_buf_printf(&more, "{\"expected\":%u,\"rows\":[", c->width);
	for (; at < c->text.end; at = f.row.next) {
		DTX_TRY(fault_read(&f, at, err));
		if (f.row.fault != DTX_CSV_FINE)
			break;
		dtx_csv_odd_look(&odd, c, &f.row, f.kind);
		if (at < c->body)
			continue;
		rows += !dtx_csv_is_dropped(c, f.kind);
		if (f.kind != DTX_CSV_SHORT && f.kind != DTX_CSV_LONG)
			continue;
		if (!bad++)
			first = f.row;
		if (dtx_source_is_part(c->head.src)) {
			rc = fail_part(c, &first, err);
			goto out;
		}
		if (!c->dialect.mixed && !parted && bad <= FAULT_PARTED)
			DTX_TRY(ragged_parted(c, odd.shapes, f.row.start, &other, &parted, &glued,
			                      err));
		if (bad <= FAULT_EXAMPLES)
			ragged_example(c, &f.row, bad > 1, &more);
	}
	dtx_buf_add(&more, "]}");
	rc = ragged_told(c, &first, bad, rows, &more, err);
	ragged_advise(c, &odd, parted, &first, rows, err);
out:
	dtx_csv_ref_free(f.ref);
	dtx_csv_ref_free(other);
	dtx_csv_shapes_free(shapes);
	dtx_buf_clear(&more);
	return rc;
}

/* The start of the next record if this one is a line without quotes; such a line is a row unless it
 * is empty or begins with a blank. 0: the record must be read. */
static size_t locate_plain(const struct fault_walk *f, size_t at)
{
	const struct dtx_csv *c = f->c;
	const char *p = c->text.data + at, *end;
	size_t len;

	if (f->ref || c->opts.ragged == DTX_RAGGED_QUARANTINE)
		return 0;
	end = memchr(p, '\n', DTX_MIN(c->text.end - at, (size_t)LOCATE_LINE));
	len = end ? (size_t)(end - p) : 0;
	if (len < 2 || *p == ' ' || *p == '\t' || memchr(p, '\r', len - 1) ||
	    (c->text.set.quotes && memchr(p, c->text.set.quote, len)))
		return 0;
	return at + len + 1;
}

/* Skips one record; *kept: it is a row. */
static bool locate_pass(struct fault_walk *f, struct dtx_csv_found *place, bool *kept)
{
	size_t next = locate_plain(f, place->at);

	*kept = true;
	if (!next) {
		if (fault_read(f, place->at, NULL) != DTX_OK)
			return false;
		*kept = !dtx_csv_is_dropped(f->c, f->kind);
		next = f->row.next;
		place->line += dtx_csv_line(f->c->text.data, place->at, next);
	} else {
		place->line++;
	}
	place->at = next;
	return true;
}

/* Skips as many records as certainly come before row_id and that the scanner finds plain. */
static void locate_skip(const struct fault_walk *f, uint64_t row_id, struct dtx_csv_found *place)
{
	const struct dtx_csv *c = f->c;
	size_t bytes = c->width; /* a record has at least one byte per column */

	if (f->ref || c->text.set.delim == '\n' || c->opts.ragged == DTX_RAGGED_QUARANTINE)
		return;
	while (place->row_id + LOCATE_NEAR < row_id) {
		uint64_t ahead = row_id - place->row_id;
		size_t len = DTX_MIN(c->text.end - place->at, LOCATE_BLOCK), end = 0;
		uint32_t records = 0;

		len = ahead < len / bytes ? (size_t)ahead * bytes : len;
		if (!c->fns->plain(c->text.data + place->at, len, c->text.set, c->width, &records,
		                   &end))
			return;
		if (records && records <= ahead) {
			place->at += end;
			place->row_id += records;
			place->line += records;
			bytes = DTX_MAX(end / records * 7 / 8, (size_t)c->width);
		} else if (bytes > c->width) { /* records are shorter here */
			bytes = c->width;
		} else {
			return;
		}
	}
}

static struct dtx_csv_found *found_slot(struct dtx_csv *c, uint64_t row_id)
{
	return &c->found[(row_id >> 32) % DTX_COUNT(c->found)];
}

/* Where to start the search for a row. Places are usually asked for in order within a morsel, so
 * the search goes on where the last one ended. Otherwise it starts at the morsel, whose line is
 * counted from the last known place before it. */
static struct dtx_csv_found locate_from(struct dtx_csv *c, uint64_t row_id)
{
	struct dtx_csv_found from = *found_slot(c, row_id);
	size_t begin;

	if (from.set && from.row_id >> 32 == row_id >> 32 && from.row_id <= row_id)
		return from;
	begin = dtx_csv_morsel_start(c, row_id >> 32);
	from = (struct dtx_csv_found){ .set = true };
	for (size_t i = 0; c->ref && i < DTX_COUNT(c->found); i++)
		if (c->found[i].set && c->found[i].at <= begin && c->found[i].at > from.at)
			from = c->found[i];
	from.line = c->ref ? from.line + dtx_csv_line(c->text.data, from.at, begin)
	                   : dtx_csv_lines_before(c, row_id >> 32);
	from.row_id = row_id & ~(uint64_t)UINT32_MAX;
	from.at = begin;
	return from;
}

void dtx_csv_locate(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out)
{
	/* This is const for the holders of batches, and nothing that they see changes. What changes
	 * is protected by its own lock. */
	struct dtx_csv *c = (struct dtx_csv *)(uintptr_t)o->arg;
	struct dtx_csv_found at, before;
	struct fault_walk f;
	bool kept;

	*out = (struct dtx_place){ .row = -1, .byte = -1 };
	if (fault_open(&f, c, NULL) != DTX_OK)
		return;
	pthread_mutex_lock(&c->finding);
	at = locate_from(c, row_id);
	for (locate_skip(&f, row_id, &at); at.at < c->text.end;) {
		before = at;
		if (!locate_pass(&f, &at, &kept))
			break;
		if (kept && before.row_id == row_id) {
			out->row = before.line + dtx_source_line0(c->head.src);
			out->byte = c->enc.converted ? -1 : (int64_t)dtx_csv_byte(c, before.at);
			*found_slot(c, row_id) = before;
			break;
		}
		at.row_id += kept;
	}
	pthread_mutex_unlock(&c->finding);
	dtx_csv_ref_free(f.ref);
}
