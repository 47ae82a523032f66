/* Reads records by libcsv, see csv_ref.h.
 *
 * libcsv knows delimiters of one byte and doubled quotes. Other dialects are translated for it into
 * bytes that UTF-8 never has. Each byte becomes one byte, so that positions stay the same:
 *
 *   FF  nothing: an escape, or the rest of a long delimiter; libcsv takes it for a blank
 *   FE  the delimiter
 *   FD FC FB FA  quote, delimiter, LF and CR that are data because of an escape
 *   F9  a quote that is data; the quote of a dialect without quotes
 *
 * Each call of csv_parse ends with the next delimiter or line end, in quotes or not. So if libcsv
 * reports a field, the field ends there.
 *
 * Lenient quotes: before libcsv gets an opening quote, the place where it closes is searched. It
 * closes before a delimiter or the end of the record, and if that is on the same line, other quotes
 * inside are data. A quote that does not close like that, or is followed by another opening one, is
 * data itself. If the record then does not have the width of the table, or contains lines that are
 * rows, it is read again: first with quotes that may only close on their line, then with all quotes
 * as data. */
#include "core/io/csv/csv_ref.h"

#include <csv.h>

#include "core/base/memory/mem.h"
#include "core/io/csv/mend/csv_align.h"
#include "core/io/csv/mend/csv_stray.h"

enum {
	REF_FILL = 0xff,
	REF_DELIM = 0xfe,
	REF_QUOTE = 0xfd,
	REF_ESC_DELIM = 0xfc,
	REF_LF = 0xfb,
	REF_CR = 0xfa,
	REF_DATA_QUOTE = 0xf9
};

#define REF_SLICE_MAX (DTX_CSV_CELL_MAX + 16)
#define REF_BLOCK     ((size_t)64 << 10) /* bytes by which libcsv's buffer grows */

struct dtx_csv_ref {
	const char *data;
	size_t end;
	struct dtx_dialect d;
	size_t ndelim;
	bool looks;      /* quotes are checked before libcsv gets them */
	uint32_t width;  /* width of the table; 0: not known */
	size_t unclosed; /* a quote that opens after this position never closes */
	/* How far a quoted cell may reach. RAW: as LINE, and a doubled quote is two quotes. */
	enum ref_bound { REF_FREE, REF_LINE, REF_RAW, REF_DATA } bound;
	struct dtx_csv_mixed *mixed; /* NULL: all records have the same delimiter */
	const struct dtx_csv_shapes *shapes;
	bool ready; /* the parser has memory to free */
	struct csv_parser parser;
	struct dtx_buf slice, text;
	struct dtx_csv_ref_cell *cell;
	size_t ncells, cap;
	/* Of the field in work: */
	size_t from;  /* its first byte */
	size_t close; /* with lenient quotes: its closing quote */
	bool quoted, row_ended, no_memory;
	struct dtx_csv_row *row;
};

static int ref_space(unsigned char c)
{
	return c == REF_FILL;
}

static int ref_space_trim(unsigned char c)
{
	return c == REF_FILL || c == ' ' || c == '\t';
}

static bool ref_is_newline(char c)
{
	return c == '\n' || c == '\r';
}

static bool ref_is_end(const struct dtx_csv_ref *r, char c)
{
	return r->d.ending ? c == r->d.ending : ref_is_newline(c);
}

static bool ref_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Length of a run of blanks. */
static size_t ref_run(const struct dtx_csv_ref *r, size_t at)
{
	size_t end = at;

	while (end < r->end && ref_is_blank(r->data[end]))
		end++;
	return end - at;
}

/* Length of the delimiter there; 0 if none. A run of blanks at the end of a record is not a
 * delimiter. */
static size_t ref_delim(const struct dtx_csv_ref *r, size_t at)
{
	size_t n;

	if (r->d.runs) {
		n = ref_run(r, at);
		return n >= r->d.runs && at + n < r->end && !ref_is_end(r, r->data[at + n]) ? n : 0;
	}
	return r->ndelim && r->end - at >= r->ndelim && !memcmp(r->data + at, r->d.delim, r->ndelim)
	               ? r->ndelim
	               : 0;
}

static bool ref_at_delim(const struct dtx_csv_ref *r, size_t at)
{
	return ref_delim(r, at) != 0;
}

static bool ref_at_structure(const struct dtx_csv_ref *r, size_t at)
{
	return at >= r->end || ref_is_end(r, r->data[at]) || ref_at_delim(r, at) ||
	       (r->d.runs && ref_is_blank(r->data[at]));
}

static size_t ref_skip_blanks(const struct dtx_csv_ref *r, size_t at)
{
	while (r->d.trim && at < r->end && ref_is_blank(r->data[at]) && !ref_at_delim(r, at))
		at++;
	return at;
}

/* --- what libcsv calls --- */

static char ref_meaning(const struct dtx_csv_ref *r, unsigned char c)
{
	switch (c) {
	case REF_QUOTE:
	case REF_DATA_QUOTE: return r->d.quote;
	case REF_ESC_DELIM: return r->d.delim[0];
	case REF_LF: return '\n';
	case REF_CR: return '\r';
	case '\n': return r->d.ending ? r->d.ending : '\n';
	default: return (char)c;
	}
}

static void ref_on_field(void *field, size_t len, void *arg)
{
	struct dtx_csv_ref *r = arg;
	const unsigned char *p = field;
	size_t off = r->text.len, i;

	if (!dtx_mem_reserve(&r->cell, &r->cap, r->ncells + 1, sizeof(*r->cell)) ||
	    !dtx_buf_room(&r->text, len)) {
		r->no_memory = true;
		return;
	}
	for (i = 0; i < len; i++) {
		if (p[i] == REF_DELIM) /* inside quotes; fill bytes follow for its other bytes */
			dtx_buf_addn(&r->text, r->d.delim, r->ndelim);
		else if (p[i] != REF_FILL)
			dtx_buf_addc(&r->text, ref_meaning(r, p[i]));
	}
	r->cell[r->ncells++] = (struct dtx_csv_ref_cell){ off, r->text.len - off, r->quoted };
}

static void ref_on_row(int c, void *arg)
{
	struct dtx_csv_ref *r = arg;

	(void)c;
	r->row_ended = true;
}

/* --- slices --- */

static void ref_fault(struct dtx_csv_ref *r, enum dtx_csv_fault fault, size_t at)
{
	if (r->row->fault != DTX_CSV_FINE)
		return;
	r->row->fault = fault;
	r->row->fault_at = at;
}

static void ref_put(struct dtx_csv_ref *r, int c)
{
	dtx_buf_addc(&r->slice, (char)c);
}

/* Passes the byte after an escape on as data; returns the position after both. */
static size_t ref_escaped(struct dtx_csv_ref *r, size_t at)
{
	char c = r->data[at + 1];

	ref_put(r, REF_FILL);
	if (c == r->d.escape)
		ref_put(r, c);
	else if (r->d.quote && c == r->d.quote)
		ref_put(r, REF_QUOTE);
	else if (ref_is_newline(c))
		ref_put(r, c == '\n' ? REF_LF : REF_CR);
	else if (ref_is_end(r, c))
		ref_put(r, c);
	else
		ref_put(r, REF_ESC_DELIM);
	return at + 2;
}

static bool ref_is_escape(const struct dtx_csv_ref *r, size_t at)
{
	char c;

	if (!r->d.escape || r->data[at] != r->d.escape || at + 1 >= r->end)
		return false;
	c = r->data[at + 1];
	return c == r->d.escape || (r->d.quote && c == r->d.quote) || ref_is_end(r, c) ||
	       ref_at_delim(r, at + 1);
}

static bool ref_behind_delim(const struct dtx_csv_ref *r, size_t at)
{
	return r->d.runs ? ref_is_blank(r->data[at - 1])
	                 : r->ndelim && at >= r->ndelim && ref_at_delim(r, at - r->ndelim);
}

/* Where the quote that opens at `open` closes; the end of the text if it is data. */
static size_t ref_close(struct dtx_csv_ref *r, size_t open)
{
	bool irregular = false, lines = false;
	size_t at = open + 1;

	if (r->bound == REF_DATA || open >= r->unclosed)
		return r->end;
	for (; at < r->end && at - open <= DTX_CSV_CELL_MAX; at++) {
		char c = r->data[at];

		if (ref_is_newline(c) && (irregular || r->bound != REF_FREE))
			return r->end;
		lines |= ref_is_newline(c);
		if (ref_is_escape(r, at)) {
			at++;
			continue;
		}
		if (c != r->d.quote)
			continue;
		if (ref_at_structure(r, ref_skip_blanks(r, at + 1)))
			return at;
		if (r->bound != REF_RAW && at + 1 < r->end && r->data[at + 1] == r->d.quote) {
			at++;
			continue;
		}
		/* It would close on a later line, or another cell begins before: so the quote at
		 * `open` is not an opening one. */
		if (lines || ref_behind_delim(r, at))
			return r->end;
		irregular = true;
	}
	if (at >= r->end && !irregular)
		r->unclosed = open;
	return r->end;
}

/* Handles a quote that is not the first byte of a field; returns the position after it. */
static size_t ref_quote(struct dtx_csv_ref *r, size_t at)
{
	bool doubled = r->bound != REF_RAW && at + 1 < r->end && r->data[at + 1] == r->d.quote;

	if (!r->quoted) {
		r->row->literal++;
		ref_put(r, r->d.quotes == DTX_QUOTES_STRICT ? r->d.quote : REF_DATA_QUOTE);
		return at + 1;
	}
	if (r->looks && at != r->close && !doubled) {
		r->row->literal++;
		ref_put(r, REF_QUOTE);
		return at + 1;
	}
	ref_put(r, r->d.quote);
	if (!doubled || (r->looks && at == r->close))
		return at + 1;
	ref_put(r, r->d.quote);
	return at + 2;
}

/* Whether these blanks separate nothing, because they are at the beginning or end of a record. */
static bool ref_is_padding(const struct dtx_csv_ref *r, size_t at)
{
	size_t n;

	if (!r->d.runs || r->quoted || !ref_is_blank(r->data[at]))
		return false;
	n = ref_run(r, at);
	return at + n >= r->end || ref_is_end(r, r->data[at + n]);
}

/* Translates the text up to and including the next delimiter or record end. */
static size_t ref_slice(struct dtx_csv_ref *r, size_t at, bool first)
{
	size_t n, open = first ? ref_skip_blanks(r, at) : r->end;

	dtx_buf_reset(&r->slice);
	while (at < r->end && at - r->from <= DTX_CSV_CELL_MAX) {
		if (ref_is_escape(r, at)) {
			at = ref_escaped(r, at);
		} else if (ref_is_end(r, r->data[at])) {
			ref_put(r, r->d.ending ? '\n' : r->data[at]);
			return at + 1;
		} else if (ref_is_newline(r->data[at])) { /* not a line end with this terminator */
			ref_put(r, r->data[at++] == '\n' ? REF_LF : REF_CR);
		} else if (ref_is_padding(r, at)) {
			ref_put(r, REF_FILL);
			at++;
		} else if (!(r->d.runs && r->quoted && at < r->close) && ref_at_delim(r, at)) {
			n = ref_delim(r, at);
			ref_put(r, REF_DELIM);
			for (at += n; n > 1; n--)
				ref_put(r, REF_FILL);
			return at;
		} else if (at == open && r->quoted) {
			ref_put(r, r->data[at++]);
		} else if (r->d.quote && r->data[at] == r->d.quote) {
			at = ref_quote(r, at);
		} else {
			ref_put(r, r->data[at++]);
		}
	}
	return at;
}

static enum dtx_code ref_start(struct dtx_csv_ref *r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	if (r->ready)
		csv_free(&r->parser);
	r->ready = false;
	if (csv_init(&r->parser, CSV_EMPTY_IS_NULL | CSV_REPALL_NL | CSV_STRICT | CSV_STRICT_FINI))
		DTX_FAIL(err, DTX_E_BUG, "internal: csv_init");
	r->ready = true;
	csv_set_realloc_func(&r->parser, dtx_mem_hook_realloc);
	csv_set_free_func(&r->parser, dtx_mem_free);
	csv_set_blk_size(&r->parser,
	                 REF_BLOCK); /* with its default of 128, a huge cell takes quadratic time */
	csv_set_delim(&r->parser, REF_DELIM);
	csv_set_quote(&r->parser, r->d.quote ? (unsigned char)r->d.quote : REF_DATA_QUOTE);
	csv_set_space_func(&r->parser, r->d.trim ? ref_space_trim : ref_space);
out:
	return rc;
}

/* The record ends with the text. */
static void ref_finish(struct dtx_csv_ref *r)
{
	if (csv_fini(&r->parser, ref_on_field, ref_on_row, r) && r->row->fault == DTX_CSV_FINE)
		ref_fault(r, DTX_CSV_UNTERMINATED, ref_skip_blanks(r, r->from));
	r->row_ended = true;
}

/* Feeds a slice that begins at `at` and ends at `next`. */
static void ref_feed(struct dtx_csv_ref *r, size_t at, size_t next)
{
	size_t cells = r->ncells, n = r->slice.len, done;

	done = csv_parse(&r->parser, r->slice.ptr, n, ref_on_field, ref_on_row, r);
	if (done != n) {
		if (csv_error(&r->parser) == CSV_EPARSE)
			ref_fault(r, DTX_CSV_BAD_QUOTE, at + done);
		else
			r->no_memory = true;
		return;
	}
	if (next - r->from > DTX_CSV_CELL_MAX)
		ref_fault(r, DTX_CSV_TOO_LONG, r->from);
	if (r->ncells > cells)
		r->from = next;
}

static bool ref_opens(struct dtx_csv_ref *r, size_t at)
{
	at = ref_skip_blanks(r, at);
	if (!r->d.quote || at >= r->end || r->data[at] != r->d.quote)
		return false;
	if (!r->looks)
		return true;
	r->close = ref_close(r, at);
	return r->close < r->end;
}

static bool ref_is_comment(const struct dtx_csv_ref *r, size_t at)
{
	struct dtx_str rest = { r->data + at, r->end - at };

	return r->d.comment && dtx_str_starts(rest, dtx_str_of(r->d.comment));
}

/* The start of the line after that of `at`; *end: where the text of that line ends. */
static size_t ref_line_end(const struct dtx_csv_ref *r, size_t at, size_t *end)
{
	while (at < r->end && !ref_is_end(r, r->data[at]))
		at++;
	*end = at;
	if (at < r->end)
		at += !r->d.ending && r->data[at] == '\r' && at + 1 < r->end &&
		                      r->data[at + 1] == '\n'
		              ? 2
		              : 1;
	return at;
}

static size_t ref_record(struct dtx_csv_ref *r, size_t at)
{
	bool first = true;
	size_t next, cells;

	r->from = at;
	r->row_ended = false;
	if (r->d.runs) /* skip blanks before the first cell */
		at += ref_run(r, at);
	while (!r->row_ended && r->row->fault == DTX_CSV_FINE && !r->no_memory) {
		if (at >= r->end) {
			if (first)
				r->quoted = false;
			ref_finish(r);
			return at;
		}
		if (first)
			r->quoted = ref_opens(r, at);
		next = ref_slice(r, at, first);
		if (!dtx_buf_ok(&r->slice))
			r->no_memory = true;
		cells = r->ncells;
		ref_feed(r, at, next);
		first = r->ncells > cells;
		at = next;
	}
	return at;
}

static enum dtx_code ref_read(struct dtx_csv_ref *r, size_t pos, struct dtx_csv_ref_record *out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t next;

	memset(out, 0, sizeof(*out));
	r->row = &out->row;
	out->row.start = out->row.end = pos;
	dtx_buf_reset(&r->text);
	r->ncells = 0;
	r->no_memory = false;
	out->comment = ref_is_comment(r, pos);
	if (out->comment || ref_is_end(r, r->data[pos])) {
		r->quoted = false;
		ref_on_field(NULL, 0, r);
		out->row.next = ref_line_end(r, pos, &out->row.end);
	} else {
		next = ref_record(r, pos);
		if (out->row.fault != DTX_CSV_FINE) {
			out->row.next = ref_line_end(r, out->row.fault_at, &out->row.end);
			DTX_TRY(ref_start(r, err));
		} else if (next && next > pos && ref_is_end(r, r->data[next - 1])) {
			out->row.next = ref_line_end(r, next - 1, &out->row.end);
		} else {
			out->row.next = out->row.end = next;
		}
	}
	if (!r->ncells &&
	    out->row.fault ==
	            DTX_CSV_FINE) { /* the record has only blanks, and those are trimmed */
		r->quoted = false;
		ref_on_field(NULL, 0, r);
		out->row.end = pos;
	}
	if (r->no_memory || !dtx_buf_ok(&r->text)) {
		DTX_TRY(ref_start(r, err));
		DTX_FAIL_MEM(err);
	}
	out->row.ncells = (uint32_t)r->ncells;
	out->cell = r->cell;
	out->text = r->text.ptr ? r->text.ptr : "";
out:
	return rc;
}

/* Whether the quotes of the record might have to be read differently. */
static bool ref_doubtful(const struct dtx_csv_ref *r, const struct dtx_csv_ref_record *rec)
{
	size_t len = rec->row.end - rec->row.start;

	/* Regular quotes on one line are as intended; then it is the width that is wrong. */
	if (!rec->row.literal &&
	    !dtx_csv_has_lines((struct dtx_str){ r->data + rec->row.start, len }))
		return false;
	return r->looks && r->width && rec->row.ncells != r->width && !rec->comment && len &&
	       rec->row.fault == DTX_CSV_FINE && memchr(r->data + rec->row.start, r->d.quote, len);
}

/* Whether the quotes hold several lines together each of which is a row. */
static bool ref_is_stray(const struct dtx_csv_ref *r, const struct dtx_csv_ref_record *rec)
{
	struct dtx_str record = { r->data + rec->row.start, rec->row.end - rec->row.start };

	uint32_t width = rec->row.ncells;

	if (!r->looks || (r->width && width != r->width) || rec->comment ||
	    rec->row.fault != DTX_CSV_FINE || !dtx_csv_has_lines(record))
		return false;
	return dtx_csv_stray(&r->d, record, width, false) == DTX_CSV_STRAY_SURE ||
	       (!rec->row.start && dtx_csv_stray(&r->d, record, width, true) == DTX_CSV_STRAY_SURE);
}

/* If reading each quote on its own gives the same width and fewer quotes that are data, then they
 * were not meant as doubled quotes. */
static enum dtx_code ref_rawer(struct dtx_csv_ref *r, size_t pos, struct dtx_csv_ref_record *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint64_t literal = out->row.literal;

	if (!r->looks || !literal || out->row.ncells != r->width || out->comment)
		goto out;
	r->bound = REF_RAW;
	DTX_TRY(ref_read(r, pos, out, err));
	if (out->row.fault == DTX_CSV_FINE && out->row.ncells == r->width &&
	    out->row.literal < literal)
		goto out;
	r->bound = REF_FREE;
	DTX_TRY(ref_read(r, pos, out, err));
out:
	return rc;
}

/* Whether the record at pos has the table's width within the present bound; and the line after it
 * too, if both are one record when quotes are regular. */
static enum dtx_code ref_fits(struct dtx_csv_ref *r, size_t pos, uint32_t width, size_t free_end,
                              struct dtx_csv_ref_record *out, bool *fits, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t next;

	DTX_TRY(ref_read(r, pos, out, err));
	*fits = out->row.ncells == width && out->row.fault == DTX_CSV_FINE;
	next = out->row.next;
	if (!*fits || !free_end || next >= free_end)
		goto out;
	DTX_TRY(ref_read(r, next, out, err));
	*fits = out->row.ncells == width && out->row.fault == DTX_CSV_FINE;
	DTX_TRY(ref_read(r, pos, out, err));
out:
	return rc;
}

static enum dtx_code ref_best(struct dtx_csv_ref *r, size_t pos, struct dtx_csv_ref_record *out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t width;
	size_t end;
	bool fits;

	r->bound = REF_FREE;
	DTX_TRY(ref_read(r, pos, out, err));
	if (!ref_doubtful(r, out) && !ref_is_stray(r, out)) {
		rc = ref_rawer(r, pos, out, err);
		goto out;
	}
	width = r->width ? r->width : out->row.ncells;
	end = out->row.literal ? 0 : out->row.next;
	for (r->bound = REF_LINE; r->bound <= REF_DATA; r->bound++) {
		DTX_TRY(ref_fits(r, pos, width, end, out, &fits, err));
		if (fits)
			goto out;
	}
	r->bound = REF_FREE;
	DTX_TRY(ref_read(r, pos, out, err));
out:
	return rc;
}

/* Moves the cells of a record that r itself read to the columns that they look like. */
static enum dtx_code ref_align(struct dtx_csv_ref *r, struct dtx_csv_ref_record *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_move m = dtx_csv_align(r->shapes, out);

	if (m.kind == DTX_CSV_MOVE_NONE)
		goto out;
	if (!dtx_mem_reserve(&r->cell, &r->cap, r->ncells + 1, sizeof(*r->cell)) ||
	    !dtx_csv_move_cells(&m, r->cell, r->ncells, &r->text, dtx_str_of(r->d.delim)))
		DTX_FAIL_MEM(err);
	out->cell = r->cell;
	out->text = r->text.ptr ? r->text.ptr : "";
	out->row.ncells = r->width;
	out->change = m.kind == DTX_CSV_MOVE_JOIN ? DTX_CSV_CHANGE_JOINED : DTX_CSV_CHANGE_MOVED;
out:
	return rc;
}

/* The shapes of the columns; NULL if `pad` has changed the width of the table. */
static const struct dtx_csv_shapes *ref_shapes(const struct dtx_csv_ref *r)
{
	return r->shapes && dtx_csv_shapes_width(r->shapes) == r->width ? r->shapes : NULL;
}

/* Reads a record that does not have the width of the table in the text's own dialect. */
static enum dtx_code ref_mixed(struct dtx_csv_ref *r, size_t pos, struct dtx_csv_ref_record *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_csv_shapes *own_shapes = ref_shapes(r);
	const struct dtx_csv_shapes *shapes =
		own_shapes && dtx_csv_shapes_tell(own_shapes) ? own_shapes : NULL;
	const struct dtx_csv_ref_cell *own = out->cell;
	bool took = false;

	DTX_TRY(dtx_csv_mixed_quotes(r->mixed, pos, r->end, r->width, out, &took, err));
	out->change = took ? DTX_CSV_CHANGE_OTHER : DTX_CSV_CHANGE_NONE;
	if (!took && shapes)
		DTX_TRY(dtx_csv_mixed_glued(r->mixed, shapes, r->end, r->width, out, err));
	/* If its own delimiter splits the record into more cells, the record has that delimiter. */
	if (out->change == DTX_CSV_CHANGE_NONE &&
	    2 * (uint64_t)out->row.ncells <= (uint64_t)r->width + 1)
		DTX_TRY(dtx_csv_mixed_read(r->mixed, shapes, pos, r->end, r->width, out, err));
	if (own_shapes && out->cell == own && out->row.ncells != r->width)
		DTX_TRY(ref_align(r, out, err));
out:
	return rc;
}

enum dtx_code dtx_csv_ref_read(struct dtx_csv_ref *r, size_t pos, struct dtx_csv_ref_record *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(ref_best(r, pos, out, err));
	if (r->mixed && !out->comment)
		DTX_TRY(ref_mixed(r, pos, out, err));
out:
	return rc;
}

void dtx_csv_ref_set_shapes(struct dtx_csv_ref *r, const struct dtx_csv_shapes *shapes)
{
	r->shapes = shapes;
}

void dtx_csv_ref_set_width(struct dtx_csv_ref *r, uint32_t width)
{
	r->width = width;
}

enum dtx_code dtx_csv_ref_new(const char *data, size_t end, const struct dtx_dialect *d,
                              struct dtx_csv_ref **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_csv_ref *r = dtx_mem_zalloc(1, sizeof(*r));

	if (!r)
		DTX_FAIL_MEM(err);
	r->data = data;
	r->end = end;
	r->d = *d;
	r->ndelim = strlen(d->delim);
	r->looks = d->quote && (d->quotes == DTX_QUOTES_LENIENT || d->runs);
	r->unclosed = SIZE_MAX;
	dtx_buf_init(&r->slice, 2 * REF_SLICE_MAX);
	dtx_buf_init(&r->text, DTX_CSV_RECORD_MAX);
	DTX_TRY(ref_start(r, err));
	if (d->mixed)
		DTX_TRY(dtx_csv_mixed_new(data, d, &r->mixed, err));
	*out = r;
	r = NULL;
out:
	dtx_csv_ref_free(r);
	return rc;
}

void dtx_csv_ref_free(struct dtx_csv_ref *r)
{
	if (!r)
		return;
	dtx_csv_mixed_free(r->mixed);
	if (r->ready)
		csv_free(&r->parser);
	dtx_buf_clear(&r->slice);
	dtx_buf_clear(&r->text);
	dtx_mem_free(r->cell);
	dtx_mem_free(r);
}

void dtx_csv_ref_set_end(struct dtx_csv_ref *r, size_t end)
{
	r->end = end;
}
