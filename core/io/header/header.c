/* Finds header rows by the form of the first rows; header_names.c makes column names of them.
 *
 * The finder first measures the sampled rows: how many cells are usually filled, and which width is
 * the most frequent. The header starts at the first row that has enough cells and looks like names
 * (dtx_head_like). Many checks then handle tables in which that row is not the right one. */
#include "core/io/header/header.h"

#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/time/time.h"
#include "core/io/header/header_find.h"

/* --- values and names, by the text of a cell --- */

enum { CELL_CHARS_MAX = 255 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool dtx_head_is_missing_word(struct dtx_str s)
{
	static const struct dtx_str word[] = {
		{ "true", 4 },   { "false", 5 },  { "nan", 3 },  { "na", 2 },
		{ "n/a", 3 },    { "null", 4 },   { "none", 4 }, { "-", 1 },
		{ "\u2013", 3 }, { "\u2014", 3 }, { ".", 1 },    { "\\N", 2 },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(word); i++) {
		if (s.len == word[i].len && dtx_str_ieq(s, word[i]))
			return true;
	}
	return false;
}

/* Whether a sign at i is one of a number: at the start, after a bracket, blank, exponent or
 * currency, or as the last character. "31-60" and "90+" are labels. */
static bool sign_allowed(struct dtx_str s, size_t i)
{
	char before = i ? s.ptr[i - 1] : ' ';

	return !(is_digit(before) || before == '.' || before == '%') ||
	       (i + 1 == s.len && s.ptr[i] == '-');
}

/* Whether the character before a digit is a sign. Letters of another alphabet make it a name, "単価
 * 2016"; currencies, blanks and dashes of Unicode do not. */
static bool is_sign(struct dtx_str s, size_t at)
{
	uint32_t cp = dtx_utf8_next(s.ptr, s.len, &at);

	return (cp >= 0xa0 && cp <= 0xbf) || (cp >= 0x2000 && cp <= 0x20cf) || cp == 0x2212 ||
	       cp == 0x202f || cp == 0x3000 || cp == 0xfeff || cp >= 0xff00;
}

static bool is_number_like(struct dtx_str s)
{
	bool digit = false;
	size_t i;

	for (i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (is_digit(c)) {
			digit = true;
		} else if (c == '+' || c == '-') {
			if (!sign_allowed(s, i))
				return false;
		} else if (c == 'e' || c == 'E') {
			if (!i || !is_digit(s.ptr[i - 1]) || i + 1 == s.len)
				return false;
		} else if (c == ',') {
			if (i + 1 == s.len || !is_digit(s.ptr[i + 1]))
				return false;
		} else if ((unsigned char)c >= 0xc0
		                   ? !digit && !is_sign(s, i)
		                   : (unsigned char)c < 0x80 && (!c || !strchr(". '%$()", c))) {
			return false;
		}
	}
	return digit;
}

static bool is_year(struct dtx_str s)
{
	return s.len == 4 && is_digit(s.ptr[2]) && is_digit(s.ptr[3]) &&
	       ((s.ptr[0] == '1' && s.ptr[1] == '9') || (s.ptr[0] == '2' && s.ptr[1] == '0'));
}

enum dtx_head_kind dtx_head_judge(struct dtx_str text)
{
	struct dtx_str s = dtx_utf8_trim(text);
	int64_t us;
	int32_t day;
	bool zoned;

	if (!s.len)
		return DTX_HEAD_BLANK;
	if (s.len > 64)
		return DTX_HEAD_TEXT;
	if (is_year(s) || dtx_day_parse(s, &day) || dtx_datetime_parse(s, &us, &zoned))
		return DTX_HEAD_YEAR;
	if (dtx_head_is_missing_word(s) || is_number_like(s))
		return DTX_HEAD_VALUE;
	return DTX_HEAD_TEXT;
}

enum dtx_head_kind dtx_head_cell_kind(const struct dtx_head_cell *c)
{
	return c->wide                    ? DTX_HEAD_BLANK
	       : c->kind == DTX_HEAD_TEXT ? dtx_head_judge(c->text)
	                                  : c->kind;
}

/* Whether the cell is too long for a name. Characters of a huge cell are not counted. */
static bool is_long(struct dtx_str s)
{
	return s.len > CELL_CHARS_MAX && (s.len > (size_t)4 * CELL_CHARS_MAX ||
	                                  dtx_utf8_count(s.ptr, s.len) > CELL_CHARS_MAX);
}

bool dtx_head_like(const struct dtx_head_cell *cell, uint32_t ncols, int64_t *bad)
{
	int64_t value = -1, year = -1;
	uint32_t texts = 0, i;

	for (i = 0; i < ncols && value < 0; i++) {
		enum dtx_head_kind kind = dtx_head_cell_kind(&cell[i]);

		if (kind == DTX_HEAD_VALUE)
			value = i;
		else if (kind == DTX_HEAD_YEAR && year < 0)
			year = i;
		else if (kind == DTX_HEAD_TEXT && is_long(cell[i].text))
			value = i;
		texts += kind == DTX_HEAD_TEXT;
	}
	if (value < 0 && !texts)
		value = year;
	if (bad)
		*bad = value;
	return value < 0 && texts;
}

/* Contract in header.h. */
bool dtx_head_is_local_date(struct dtx_str text)
{
	struct dtx_str s = dtx_utf8_trim(text);
	size_t part = 0, digits = 0, i;
	char mark = 0;

	for (i = 0; i < s.len; i++) {
		if (is_digit(s.ptr[i])) {
			digits++;
			continue;
		}
		if (!strchr("./-", s.ptr[i]) || (mark && s.ptr[i] != mark) || !digits || digits > 2)
			return false;
		mark = s.ptr[i];
		digits = 0;
		part++;
	}
	return part == 2 && (digits == 2 || digits == 4);
}

/* --- tables with only texts: names do not come again below, values do --- */

enum { ECHO_ROWS = 3 }; /* fewer rows do not show anything */

/* How often cells of a row come again below it, without rows that repeat all of it. */
struct echoes {
	struct dtx_head_cell *cell; /* of the row */
	uint32_t *again;            /* number of rows that have the same text in the column */
	uint32_t filled, rows;
};

static bool is_echo(const struct dtx_head_cell *said, const struct dtx_head_cell *here)
{
	return dtx_head_filled(said) && dtx_head_filled(here) && dtx_str_eq(said->text, here->text);
}

static void count_row(const struct dtx_head_finder *f, struct echoes *e)
{
	uint32_t c, same = 0;

	e->filled = 0;
	for (c = 0; c < f->g->ncols; c++) {
		e->filled += dtx_head_filled(&e->cell[c]);
		same += is_echo(&e->cell[c], &f->cell[c]);
	}
	if (same == e->filled)
		return;
	e->rows++;
	for (c = 0; c < f->g->ncols; c++)
		e->again[c] += is_echo(&e->cell[c], &f->cell[c]);
}

static enum dtx_code count_echoes(struct dtx_head_finder *f, uint32_t r, struct echoes *e,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t i;

	for (i = r + 1; i < f->nshapes; i++) {
		if (!f->shape[i].filled)
			continue;
		/* the texts are valid only until the row after the next */
		DTX_TRY(dtx_head_look(f, f->g->first + r, err));
		memcpy(e->cell, f->cell, f->g->ncols * sizeof(*e->cell));
		DTX_TRY(dtx_head_look(f, f->g->first + i, err));
		count_row(f, e);
	}
out:
	return rc;
}

/* The column in which the text comes again: if all columns do, or half of all rows have it in one
 * column; -1 if none. */
static int64_t telling_column(const struct dtx_head_finder *f, const struct echoes *e)
{
	uint32_t c, columns = 0;

	for (c = 0; c < f->g->ncols; c++) {
		columns += e->again[c] > 0;
		if (e->again[c] > 1 && e->again[c] * 2 >= e->rows)
			return c;
	}
	return columns > 1 && columns == e->filled ? (int64_t)f->used_first : -1;
}

/* Whether a row of texts above others is data, because its texts come again below.
 * *col: a column where they do; -1: none. */
static enum dtx_code head_comes_again(struct dtx_head_finder *f, uint32_t r, int64_t *col,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct echoes e = { 0 };

	*col = -1;
	e.cell = dtx_mem_zalloc(f->g->ncols, sizeof(*e.cell));
	e.again = dtx_mem_zalloc(f->g->ncols, sizeof(*e.again));
	if (!e.cell || !e.again)
		DTX_FAIL_MEM(err);
	DTX_TRY(count_echoes(f, r, &e, err));
	if (e.rows >= ECHO_ROWS)
		*col = telling_column(f, &e);
out:
	dtx_mem_free(e.cell);
	dtx_mem_free(e.again);
	return rc;
}

/* --- the finder --- */

static int by_count(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static enum dtx_code sample_rows(struct dtx_head_finder *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_head_grid *g = f->g;
	uint32_t r, c;

	for (r = 0; r < f->nshapes; r++) {
		struct dtx_head_shape *s = &f->shape[r];

		*s = (struct dtx_head_shape){ 0 };
		DTX_TRY(g->row(g->arg, g->first + r, f->cell, &s->width, err));
		for (c = 0; c < g->ncols; c++) {
			if (!dtx_head_filled(&f->cell[c]))
				continue;
			s->filled++;
			f->nused += !f->used[c];
			f->used[c] = true;
		}
		if (!s->filled || r >= DTX_HEAD_START_ROWS + DTX_HEAD_ROWS_MAX)
			continue;
		s->like = dtx_head_like(f->cell, g->ncols, NULL);
		for (s->years = !s->like, c = 0; s->years && c < g->ncols; c++)
			s->years = !dtx_head_filled(&f->cell[c]) ||
			           dtx_head_cell_kind(&f->cell[c]) == DTX_HEAD_YEAR;
	}
	for (c = 0; c < g->ncols; c++) {
		if (f->used[c])
			f->used_last = c;
	}
	for (c = g->ncols; c-- > 0;) {
		if (f->used[c])
			f->used_first = c;
	}
out:
	return rc;
}

/* Measures the upper quartile of filled cells per filled row, and the most frequent width. */
static enum dtx_code measure(struct dtx_head_finder *f, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t *count = dtx_mem_alloc(f->nshapes, sizeof(*count));
	uint32_t n = 0, i, run = 0, best = 0;

	if (!count)
		DTX_FAIL_MEM(err);
	for (i = 0; i < f->nshapes; i++) {
		if (f->shape[i].filled)
			count[n++] = f->shape[i].filled;
	}
	qsort(count, n, sizeof(*count), by_count);
	f->want = n ? (count[(size_t)n * 3 / 4] * 6 + 9) / 10 : 1;
	for (n = 0, i = 0; i < f->nshapes; i++) {
		if (f->shape[i].filled)
			count[n++] = f->shape[i].width;
	}
	qsort(count, n, sizeof(*count), by_count);
	for (i = 0; i < n; i++) {
		run = i && count[i] == count[i - 1] ? run + 1 : 1;
		if (run >= best) {
			best = run;
			f->width = count[i];
		}
	}
out:
	dtx_mem_free(count);
	return rc;
}

/* Writes the row as an editor or a sheet counts it: "L2", "row 2". */
static void row_name(const struct dtx_head_finder *f, uint64_t row, char out[48])
{
	char *comma;

	f->g->name(f->g->arg, row, 0, out);
	comma = strchr(out, ',');
	if (comma)
		*comma = '\0';
	else
		snprintf(out, 48, "row %llu", (unsigned long long)(row + 1));
}

static void blame_row(const struct dtx_head_finder *f, uint64_t row, struct dtx_err *err)
{
	char name[48];

	dtx_err_row(err, (int64_t)row, NULL);
	row_name(f, row, name);
	if (err && name[0] == 'L' && !err->cell[0])
		dtx_str_copy(err->cell, sizeof(err->cell), dtx_str_of(name));
}

static enum dtx_code not_found(struct dtx_head_finder *f, uint32_t at, int64_t date,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char place[48];
	int64_t bad;
	struct dtx_str text;
	uint32_t r = 0;

	DTX_TRY(dtx_head_look(f, f->g->first + at, err));
	if (dtx_head_like(f->cell, f->g->ncols, &bad))
		bad = date;
	if (bad < 0)
		bad = 0;
	text = f->cell[bad].text;
	f->g->name(f->g->arg, f->g->first + at, (uint32_t)bad, place);
	dtx_err_set(err, DTX_E_HEADER_NOT_FOUND, __FILE__, __LINE__,
	            "no header: %s looks like data: '%.*s'", place,
	            (int)DTX_MIN(text.len, (size_t)60), text.ptr);
	while (r < at && !f->shape[r].filled)
		r++;
	dtx_err_hint(err,
	             "\"header_rows\": 0 names the columns column_1 ...; \"header_rows\": 1 takes "
	             "row %llu as names; \"skip\" or \"range\" leaves rows out",
	             (unsigned long long)(f->g->first + r + 1));
	blame_row(f, f->g->first + at, err);
	rc = DTX_E_HEADER_NOT_FOUND;
out:
	return rc;
}

/* Whether a row has all names except those of the first columns. *blank: the number of these; 0: it
 * is not such a row. */
static enum dtx_code first_names_blank(struct dtx_head_finder *f, uint32_t r, uint32_t *blank,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c;

	*blank = 0;
	if (r >= f->nshapes || !f->shape[r].like)
		goto out;
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	for (c = f->used_first; c < f->used_last && !dtx_head_filled(&f->cell[c]); c++)
		;
	*blank = c - f->used_first;
	for (; c <= f->used_last && dtx_head_filled(&f->cell[c]) && !f->cell[c].covered; c++)
		;
	if (c <= f->used_last)
		*blank = 0;
out:
	return rc;
}

/* Whether pandas or R wrote this row above row names. It is a header of one line, whatever is below
 * it. */
static enum dtx_code lacks_first_names(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                       struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t blank;

	DTX_TRY(first_names_blank(f, r, &blank, err));
	*yes = blank && (blank == 1 || blank <= f->shape[r].filled ||
	                 (f->g->text_file && r + 1 < f->nshapes && f->shape[r + 1].filled &&
	                  !f->shape[r + 1].like));
out:
	return rc;
}

/* A start row that leaves used columns blank may be a sentence spread over cells. Then the header
 * is the first full row below, if only header-like rows are between them and data follow it. */
static uint32_t full_start(const struct dtx_head_finder *f, uint32_t start)
{
	uint32_t r, end = DTX_MIN(f->nshapes - 1, start + DTX_HEAD_ROWS_MAX);

	if (f->shape[start].filled >= f->nused)
		return start;
	for (r = start + 1; r < end && f->shape[r].like; r++) {
		if (f->shape[r].filled >= f->nused && f->shape[r + 1].filled &&
		    !f->shape[r + 1].like)
			return r;
	}
	return start;
}

/* Whether some column has another class in row r than in all rows below. Values above texts are not
 * names for them. */
static enum dtx_code differs_from_below(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                        struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, r + 1 + (uint32_t)DTX_HEAD_START_ROWS), k, c;
	struct {
		uint8_t own;
		uint32_t same, other;
	} *col = dtx_mem_zalloc(f->g->ncols, sizeof(*col));

	*yes = false;
	if (!col)
		DTX_FAIL_MEM(err);
	for (k = r; k < n; k++) {
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		for (c = 0; c < f->g->ncols; c++) {
			enum dtx_head_class cls = dtx_head_class(&f->cell[c]);

			if (k == r)
				col[c].own = (uint8_t)cls;
			else if (cls != DTX_HEAD_CLASS_NONE)
				(*(cls == col[c].own ? &col[c].same : &col[c].other))++;
		}
	}
	for (c = 0; c < f->g->ncols; c++)
		*yes |= col[c].own != DTX_HEAD_CLASS_NONE && col[c].own != DTX_HEAD_CLASS_VALUE &&
		        !col[c].same && col[c].other >= 2;
out:
	dtx_mem_free(col);
	return rc;
}

/* Whether the first row has a word for "missing" among names, such as NA for North America: all
 * other cells are texts, and one of them is above only values. */
static enum dtx_code names_missing(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c, k;

	*yes = f->shape[r].filled == f->nused;
	for (k = 0; k < r; k++)
		*yes &= !f->shape[k].filled;
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	for (c = f->used_first; c <= f->used_last && *yes; c++)
		*yes = dtx_head_cell_kind(&f->cell[c]) == DTX_HEAD_TEXT ||
		       (f->cell[c].kind == DTX_HEAD_TEXT &&
		        dtx_head_is_missing_word(f->cell[c].text));
	if (*yes)
		DTX_TRY(differs_from_below(f, r, yes, err));
out:
	return rc;
}

/* Whether rows of a text file are wider than the row of names directly above, which is the first
 * row. */
static bool names_too_few(const struct dtx_head_finder *f, uint32_t r)
{
	uint32_t i;

	for (i = 0; i + 1 < r; i++) {
		if (f->shape[i].filled)
			return false;
	}
	return r && f->shape[r - 1].like && f->shape[r - 1].filled >= 2 &&
	       f->shape[r - 1].filled == f->shape[r - 1].width;
}

/* The lines of a report above its table leave cells blank and begin with a text. Then the header is
 * the first row with all names directly above a row of data. */
static enum dtx_code full_below(struct dtx_head_finder *f, uint32_t *start, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, (uint32_t)DTX_HEAD_START_ROWS), r, few = f->nused / 2;
	bool names = false;

	for (r = 0; r + 1 < n && f->shape[r].filled < f->nused; r++) {
		DTX_TRY(dtx_head_look(f, f->g->first + r, err));
		if (f->shape[r].filled > 1 &&
		    dtx_head_class(&f->cell[f->used_first]) != DTX_HEAD_CLASS_TEXT &&
		    dtx_head_class(&f->cell[f->used_first]) != DTX_HEAD_CLASS_DATE)
			goto out;
		few = f->shape[r].filled ? DTX_MAX(few, f->shape[r].filled) : f->nused / 2;
	}
	if (r <= *start || r + 1 >= n || few > f->nused / 2 || f->nused < 3 ||
	    !f->shape[r + 1].filled || f->shape[r + 1].like)
		goto out;
	names = f->shape[r].like;
	if (!names)
		DTX_TRY(dtx_head_numbers_name(f, r, &names, err));
	*start = names ? r : *start;
out:
	return rc;
}

/* Sets a hint for a row that could be the header although it has a value: it is of another kind
 * than the rows below; or after the first lines of a report it is the first row as wide as the
 * table. */
static enum dtx_code hint_row(struct dtx_head_finder *f, uint32_t r, struct dtx_head *out,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, (uint32_t)DTX_HEAD_START_ROWS), first = r;

	if (f->g->text_file && names_too_few(f, r)) {
		out->first = f->g->first + r - 1;
		out->hinted = true;
		goto out;
	}
	while (f->g->text_file && r + 1 < n &&
	       (f->shape[r].width != f->width || f->shape[r].filled < f->want))
		r++;
	/* the last row cannot be the header, since all rows above would be lost */
	if (r + 1 >= n)
		r = first;
	if (f->g->text_file)
		DTX_TRY(full_below(f, &r, err));
	out->first = f->g->first + r;
	out->hinted = f->shape[r].like;
	if (!out->hinted)
		DTX_TRY(differs_from_below(f, r, &out->hinted, err));
	if (!out->hinted && f->g->text_file)
		DTX_TRY(dtx_head_numbers_name(f, r, &out->hinted, err));
	if (!out->hinted)
		DTX_TRY(dtx_head_numbers_differ(f, r, &out->hinted, err));
out:
	return rc;
}

static uint32_t filled(const struct dtx_head_finder *f, uint32_t start, uint32_t rows)
{
	uint32_t n = 0, i;

	for (i = 0; i < rows; i++)
		n += f->shape[start + i].filled;
	return n;
}

/* Whether data are directly below rows that together have the names of all columns, each row some
 * of them. */
static bool parts_above(const struct dtx_head_finder *f, uint32_t r, uint32_t *start)
{
	for (*start = r; *start && f->shape[*start - 1].like; --*start) {
		if (filled(f, *start, r - *start) >= f->nused)
			break;
	}
	return r - *start >= 2 && filled(f, *start, r - *start) == f->nused;
}

/* Whether the text has digits around the mark of a time: "10:15:00,250", "01/Oct/2023:13:55". */
static bool is_time(struct dtx_str s)
{
	size_t i, digits = 0;
	bool mark = false;

	for (i = 0; i < s.len; i++) {
		bool digit = s.ptr[i] >= '0' && s.ptr[i] <= '9';

		if (!digit && !strchr(":-/., TZ+", s.ptr[i]))
			return false;
		digits += digit;
		mark |= s.ptr[i] == ':' && i && i + 1 < s.len;
	}
	return mark && digits >= 3;
}

/* Whether a character fits one in the pattern of a time: a digit, a digit or blank, a letter, a
 * mark between parts of a date, or the same character. */
static bool fits_shape(char c, char shape)
{
	bool digit = c >= '0' && c <= '9';

	switch (shape) {
	case '9': return digit;
	case '_': return digit || c == ' ';
	case 'a': return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
	case '-': return c == '-' || c == '/';
	case ' ': return c == ' ' || c == 'T';
	default: return c == shape;
	}
}

/* The text without a key before it: "time=2024-01-31 ...". */
static struct dtx_str past_key(struct dtx_str s)
{
	size_t n = 0;

	while (n < s.len && (fits_shape(s.ptr[n], 'a') || s.ptr[n] == '_' || s.ptr[n] == '@'))
		n++;
	if (!n || n == s.len || s.ptr[n] != '=')
		return s;
	n++;
	if (n < s.len && s.ptr[n] == '"')
		n++;
	return (struct dtx_str){ s.ptr + n, s.len - n };
}

/* Whether the text begins as a line of a log: "[2024-01-31 10:15:00] ...", "Jan 31 10:15:00
 * ...". */
static bool begins_moment(struct dtx_str text)
{
	const struct dtx_str s = past_key(text);
	static const char *const shapes[] = { "9999-99-99 99:99", "[9999-99-99 99:99",
		                              "aaa _9 99:99" };
	size_t i, k;

	for (i = 0; i < DTX_COUNT(shapes); i++) {
		for (k = 0; k < s.len && shapes[i][k] && fits_shape(s.ptr[k], shapes[i][k]); k++)
			;
		if (!shapes[i][k])
			return true;
	}
	return false;
}

/* Whether the text is an address, which is not a name: "ann@example.org", "https://example.org". */
static bool is_address(struct dtx_str s)
{
	const char *at = memchr(s.ptr, '@', s.len);
	size_t from = at ? (size_t)(at - s.ptr) + 1 : 0;

	if (memchr(s.ptr, ' ', s.len))
		return false;
	return dtx_str_find(s, DTX_STR("://"), 0) > 0 ||
	       (from > 1 && dtx_str_find(s, DTX_STR("."), from + 1) > 0);
}

static bool is_date(const struct dtx_head_cell *c)
{
	struct dtx_str s = dtx_utf8_trim(c->text);

	if (!dtx_head_filled(c))
		return false;
	return begins_moment(s) || is_address(s) || dtx_head_cell_kind(c) == DTX_HEAD_YEAR ||
	       (c->kind == DTX_HEAD_TEXT && (dtx_head_is_local_date(s) || is_time(s)));
}

/* A date or a year is a name above numbers, and an address is one above texts. *col: the column
 * where one is above only similar cells, or between them, so that its row is one of these; -1:
 * no such column. */
static enum dtx_code dates_go_on(struct dtx_head_finder *f, uint32_t r, int64_t *col,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, r + 1 + (uint32_t)DTX_HEAD_START_ROWS), c, k, below;
	bool dates;

	*col = -1;
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	for (c = 0; c < f->g->ncols && !is_date(&f->cell[c]); c++)
		;
	if (c == f->g->ncols)
		goto out;
	DTX_TRY(dtx_head_years_count(f, r, &dates, err));
	if (dates)
		goto out;
	for (dates = true, below = 0, k = r + 1; k < n && dates; k++) {
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		below += is_date(&f->cell[c]);
		dates = is_date(&f->cell[c]) || dtx_head_class(&f->cell[c]) == DTX_HEAD_CLASS_NONE;
	}
	*col = dates && below ? (int64_t)c : -1;
out:
	return rc;
}

static uint32_t filled_rows(const struct dtx_head_finder *f, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (; from < to && from < f->nshapes; from++)
		n += f->shape[from].filled != 0;
	return n;
}

/* Whether below the names and rows of a text file, most as wide as the names, there are a few wider
 * ones, and nothing shows that these have names of their own. Then all are rows. */
static bool goes_on_wider(const struct dtx_head_finder *f, uint32_t r)
{
	uint32_t first = 0, i, rows = 0;
	bool named;

	while (first < r && !f->shape[first].filled)
		first++;
	if (!f->g->text_file || r == first || !f->shape[first].like || f->width < 2 ||
	    f->shape[first].filled != f->width || f->shape[r].width <= f->width)
		return false;
	for (i = first; i < r; i++)
		rows += f->shape[i].filled && f->shape[i].width == f->width;
	named = r + 1 < f->nshapes && f->shape[r].like && f->shape[r + 1].filled &&
	        f->shape[r + 1].width == f->shape[r].width && !f->shape[r + 1].like;
	return !named && rows > filled_rows(f, r, f->nshapes);
}

/* Whether the row is the last one of a text file below rows of a narrower table. It is not a
 * header, since those rows would be lost. */
static bool ends_table(const struct dtx_head_finder *f, uint32_t r)
{
	uint32_t i, rows = 0, values = 0;
	bool named = r > 1 && f->shape[0].like && f->shape[0].filled == f->width &&
	             f->shape[1].filled && !f->shape[1].like;

	for (i = r + 1; i < f->nshapes; i++) {
		if (f->shape[i].filled)
			return false;
	}
	for (i = 0; i < r; i++) {
		rows += f->shape[i].filled && f->shape[i].width == f->width;
		values += f->shape[i].filled && f->shape[i].width == f->width && !f->shape[i].like;
	}
	return f->g->text_file && f->width >= (named ? 2 : 3) && f->shape[r].width != f->width &&
	       rows >= 3 && values;
}

static uint32_t first_wanted(const struct dtx_head_finder *f, uint32_t n)
{
	uint32_t r;

	for (r = 0; r < n && f->shape[r].filled < f->want; r++)
		;
	return r;
}

static enum dtx_code find_start(struct dtx_head_finder *f, uint32_t *start, struct dtx_head *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t r, n = DTX_MIN(f->nshapes, (uint32_t)DTX_HEAD_START_ROWS);
	int64_t date;
	bool first;

	for (r = 0; r < n && !f->shape[r].filled; r++)
		;
	DTX_TRY(dtx_head_counts_columns(f, r, &first, err));
	if (first) {
		f->unnamed_first = true;
		*start = r;
		goto out;
	}
	DTX_TRY(lacks_first_names(f, r, &first, err));
	if (!first)
		DTX_TRY(dtx_head_numbers_first(f, r, &first, err));
	if (first) {
		f->unnamed_first = true;
		*start = r;
		DTX_TRY(dates_go_on(f, r, &date, err));
		if (date >= 0)
			DTX_TRY(not_found(f, r, date, err));
		goto out;
	}
	r = first_wanted(f, n);
	if (r < n && (ends_table(f, r) || goes_on_wider(f, r))) {
		f->want = (f->width * 6 + 9) / 10;
		r = first_wanted(f, n);
	}
	if (r == n)
		DTX_FAIL(err, DTX_E_HEADER_NOT_FOUND,
		         "no header: none of the first %u rows has %u cells filled", n, f->want);
	/* The last row cannot be the header, since all rows above would be lost. */
	if (f->g->text_file && f->shape[r].width != f->width && r + 2 < f->nshapes &&
	    f->shape[r + 1].width == f->width && f->shape[r + 1].filled >= f->want &&
	    f->shape[r + 1].filled > f->shape[r].filled && f->shape[r + 1].like)
		r++;
	DTX_TRY(dtx_head_past_sentence(f, &r, err));
	DTX_TRY(dtx_head_below_prose(f, &r, err));
	DTX_TRY(dtx_head_below_pairs(f, &r, err));
	r = dtx_head_below_sentences(f, r);
	if (!f->shape[r].like && parts_above(f, r, start)) {
		f->moved = false;
		goto out;
	}
	if (!f->shape[r].like) {
		DTX_TRY(names_missing(f, r, &first, err));
		if (first) {
			*start = r;
			goto out;
		}
		DTX_TRY(hint_row(f, r, out, err));
		DTX_TRY(not_found(f, r, -1, err));
	}
	DTX_TRY(dates_go_on(f, r, &date, err));
	if (date >= 0)
		DTX_TRY(not_found(f, r, date, err));
	*start = full_start(f, r);
	f->moved = *start != r;
out:
	return rc;
}

/* Whether there are rows below the header, and no sampled one has a value. */
static enum dtx_code only_text_below(struct dtx_head_finder *f, uint32_t from, bool *only,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t r, n = DTX_MIN(f->nshapes, from + DTX_HEAD_START_ROWS);
	bool any = false;

	*only = true;
	for (r = from; r < n && *only; r++) {
		if (!f->shape[r].filled)
			continue;
		any = true;
		DTX_TRY(dtx_head_look(f, f->g->first + r, err));
		*only = dtx_head_like(f->cell, f->g->ncols, NULL);
	}
	*only &= any;
out:
	return rc;
}

/* If there are only texts: checks whether the first row has names at all. */
static enum dtx_code check_texts(struct dtx_head_finder *f, uint32_t r, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t col;

	DTX_TRY(head_comes_again(f, r, &col, err));
	if (col >= 0)
		DTX_TRY(not_found(f, r, col, err));
out:
	return rc;
}

/* Checks that the rows above the names, which are left out of the table, are not more than those
 * that are kept. */
static enum dtx_code check_above(struct dtx_head_finder *f, uint32_t start, uint32_t rows,
                                 struct dtx_head *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t above = filled_rows(f, 0, start), names = filled_rows(f, start, start + rows);
	uint32_t data = filled_rows(f, start + rows, f->nshapes);
	char place[48];

	if (!above || f->nshapes == DTX_HEAD_SAMPLE_ROWS || (data && above <= names + data))
		goto out;
	out->first = f->g->first + start;
	out->hinted = data != 0;
	out->loses = true;
	row_name(f, f->g->first + start, place);
	dtx_err_set(err, DTX_E_HEADER_NOT_FOUND, __FILE__, __LINE__,
	            "no header: with %s as the header, %u row%s above it would be left out and %u "
	            "would stay",
	            place, above, above == 1 ? "" : "s", data);
	dtx_err_hint(err,
	             "\"skip\": %llu, \"header_rows\": 1 takes it; \"header_rows\": 0 reads all "
	             "rows and names the columns column_1 ...",
	             (unsigned long long)(f->g->first + start));
	blame_row(f, f->g->first + start, err);
	rc = DTX_E_HEADER_NOT_FOUND;
out:
	return rc;
}

/* ",,city" above only texts may have the names of all columns, or be a title above the names. */
static enum dtx_code check_title(struct dtx_head_finder *f, uint32_t start, struct dtx_head *out,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t r = 0, blank;
	char names[48], below[48];

	while (r < start && !f->shape[r].filled)
		r++;
	if (r == start || !out->assumed)
		goto out;
	DTX_TRY(first_names_blank(f, r, &blank, err));
	if (!blank)
		goto out;
	out->first = f->g->first + r;
	out->hinted = true;
	row_name(f, f->g->first + r, names);
	row_name(f, f->g->first + start, below);
	dtx_err_set(err, DTX_E_HEADER_NOT_FOUND, __FILE__, __LINE__,
	            "no header: %s may be the names, of which the first %u %s blank, or a title "
	            "above those in %s",
	            names, blank, blank == 1 ? "is" : "are", below);
	dtx_err_hint(err,
	             "\"header_rows\": 1 takes the first; \"skip\": %llu, \"header_rows\": 1 "
	             "the other one",
	             (unsigned long long)(f->g->first + start));
	blame_row(f, f->g->first + r, err);
	rc = DTX_E_HEADER_NOT_FOUND;
out:
	return rc;
}

enum dtx_code dtx_head_find(const struct dtx_head_grid *g, struct dtx_head *out,
                            struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_head_finder f = { .g = g };
	uint32_t start = 0, rows = 0;

	f.nshapes = (uint32_t)DTX_MIN(g->nrows, (uint64_t)DTX_HEAD_SAMPLE_ROWS);
	f.cell = dtx_mem_zalloc(g->ncols, sizeof(*f.cell));
	f.used = dtx_mem_zalloc(g->ncols, sizeof(*f.used));
	f.shape = dtx_mem_zalloc(f.nshapes, sizeof(*f.shape));
	if (!f.cell || !f.used || !f.shape)
		DTX_FAIL_MEM(err);
	DTX_TRY(sample_rows(&f, err));
	DTX_TRY(measure(&f, err));
	DTX_TRY(find_start(&f, &start, out, err));
	DTX_TRY(dtx_head_grow_down(&f, start, &rows, err));
	DTX_TRY(only_text_below(&f, start + rows, &out->assumed, err));
	if (g->text_file && out->assumed && rows == 1)
		DTX_TRY(check_texts(&f, start, err));
	DTX_TRY(dtx_head_grow_up(&f, &start, &rows, err));
	DTX_TRY(check_title(&f, start, out, err));
	DTX_TRY(check_above(&f, start, rows, out, err));
	out->first = g->first + start;
	out->rows = rows;
	out->parts = rows > 1 && filled(&f, start, rows) == f.nused;
out:
	dtx_mem_free(f.cell);
	dtx_mem_free(f.used);
	dtx_mem_free(f.shape);
	return rc;
}
