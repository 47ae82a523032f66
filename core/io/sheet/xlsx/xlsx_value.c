/* Converts the cells of a worksheet to types and values; both ways of reading use it. */
#include <math.h>
#include <stdio.h>

#include "core/base/text/num.h"
#include "core/data/cast/cell_num.h"
#include "core/data/time/time.h"
#include "core/io/sheet/xlsx/xlsx_sheet.h"

enum { UNKNOWN_ERROR = 255 };

bool dtx_xlsx_type_find(struct dtx_str t, enum dtx_xlsx_type *out)
{
	static const struct {
		struct dtx_str name;
		enum dtx_xlsx_type type;
	} known[] = { { { "s", 1 }, DTX_XLSX_T_SHARED },        { { "n", 1 }, DTX_XLSX_T_NUMBER },
		      { { "str", 3 }, DTX_XLSX_T_STR },         { { "b", 1 }, DTX_XLSX_T_BOOL },
		      { { "e", 1 }, DTX_XLSX_T_ERROR },         { { "d", 1 }, DTX_XLSX_T_DATE },
		      { { "inlineStr", 9 }, DTX_XLSX_T_INLINE } };
	size_t i;

	for (i = 0; i < DTX_COUNT(known); i++) {
		if (dtx_str_eq(t, known[i].name)) {
			*out = known[i].type;
			return true;
		}
	}
	return false;
}

static enum dtx_code put(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c, unsigned tag,
                         union dtx_payload v, struct dtx_err *err)
{
	if (c->formula)
		tag |= DTX_CELL_FORMULA;
	if (c->style < w->book->head.nstyles && w->book->head.style[c->style].bold &&
	    (tag & DTX_CELL_KIND) != DTX_CELL_BLANK)
		tag |= DTX_GRID_BOLD;
	dtx_xml_took_value(w->x);
	return dtx_grid_add(w->grid, c->row, c->col, (uint8_t)tag, v, c->style, w->hidden, err);
}

static enum dtx_code put_text(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	union dtx_payload v;

	/* a formula with the result "" shows nothing, so the cell is blank */
	if (!c->value.len && !c->formula)
		goto out;
	if (!c->value.len) {
		DTX_TRY(put(w, c, DTX_CELL_BLANK, (union dtx_payload){ .id = 0 }, err));
		goto out;
	}
	DTX_TRY(dtx_grid_text_add(w->grid, c->value, &v.id, err));
	DTX_TRY(put(w, c, DTX_CELL_TEXT, v, err));
out:
	return rc;
}

static enum dtx_code put_error(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c,
                               struct dtx_err *err)
{
	int id = dtx_cell_error_find(c->value);

	dtx_sheet_note_bad(w->facts, c->row, c->col, &w->facts->nerrors);
	return put(w, c, DTX_CELL_ERROR,
	           (union dtx_payload){ .id = id < 0 ? UNKNOWN_ERROR : (uint64_t)id }, err);
}

static enum dtx_code put_serial(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c, double v,
                                enum dtx_fmt_class cls, struct dtx_err *err)
{
	unsigned tag = dtx_sheet_number_tag(&w->book->head, w->facts, c->row, c->col, cls, v);

	return put(w, c, tag, (union dtx_payload){ .num = v == 0 ? 0 : v }, err);
}

static bool is_whole(struct dtx_str s)
{
	size_t from = s.len && s.ptr[0] == '-', i = from;

	while (i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9')
		i++;
	return i == s.len && i > from;
}

/* Whether a whole number is written exactly as its double is printed, followed by zeros. */
static bool is_printed(struct dtx_str s, double v)
{
	char digits[20];
	int exp10;
	size_t n = dtx_num_digits(v, digits, &exp10), neg = v < 0, i;

	for (i = neg + n; i < s.len && s.ptr[i] == '0'; i++)
		;
	return s.len == neg + (size_t)exp10 && s.len >= neg + n &&
	       memcmp(s.ptr + neg, digits, n) == 0 && i == s.len;
}

/* Keeps the digits of a whole number beyond 2^53: as an int, or as text if it is too long for
 * one and the double differs. 1.5E+18 has no digits to lose; 9.87654321098765E+15 has all 16
 * digits. */
static enum dtx_code put_long(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c, double v,
                              enum dtx_fmt_class cls, struct dtx_err *err)
{
	struct dtx_xlsx_cell plain = *c;
	union dtx_payload whole;

	plain.value = dtx_str_trim(c->value);
	if (!is_whole(plain.value)) {
		whole.whole = (int64_t)(dtx_sheet_has_16_digits(v) ? v : 0);
		return whole.whole ? put(w, c, DTX_CELL_WHOLE, whole, err)
		                   : put_serial(w, c, v, cls, err);
	}
	if (dtx_num_parse_i64(plain.value.ptr, plain.value.len, &whole.whole))
		return fabs(v) <= (double)DTX_CELL_EXACT && whole.whole == (int64_t)v
		               ? put_serial(w, c, v, cls, err)
		               : put(w, c, DTX_CELL_WHOLE, whole, err);
	return is_printed(plain.value, v) ? put_serial(w, c, v, cls, err)
	                                  : put_text(w, &plain, err);
}

static enum dtx_code put_number(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c,
                                struct dtx_err *err)
{
	enum dtx_fmt_class cls = c->style < w->book->head.nstyles
	                                 ? w->book->head.style[c->style].cls
	                                 : DTX_FMT_NUMBER;
	struct dtx_str s = c->value;
	double v;

	if (!dtx_num_parse_f64(s.ptr, s.len, &v)) {
		s = dtx_str_trim(s);
		/* "5." is a number in XML Schema */
		s.len -= s.len > 1 && s.ptr[s.len - 1] == '.';
		if (!dtx_num_parse_f64(s.ptr, s.len, &v))
			return put_error(w, c, err);
	}
	/* 2^53 may be the double of another number */
	if (fabs(v) >= (double)DTX_CELL_EXACT && (cls == DTX_FMT_NUMBER || cls == DTX_FMT_TEXT))
		return put_long(w, c, v, cls, err);
	return put_serial(w, c, v, cls, err);
}

/* Parses "10:30:00", a time without a day. */
static bool clock_of(struct dtx_str s, int64_t *us)
{
	static const char day[] = "2000-01-01T";
	char text[64];
	bool zoned = true;
	int n = snprintf(text, sizeof(text), "%s%.*s", day, (int)DTX_MIN(s.len, sizeof(text)),
	                 s.ptr);

	if (n >= (int)sizeof(text) ||
	    !dtx_datetime_parse((struct dtx_str){ text, (size_t)n }, us, &zoned) || zoned)
		return false;
	*us -= dtx_day_of(2000, 1, 1) * DTX_DAY_US;
	return true;
}

/* Converts t="d", ISO text, to a serial; what a serial cannot hold stays text. Some writers add
 * a Z to local time, which is ignored, because cells have no time zone. */
static enum dtx_code put_iso(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c,
                             struct dtx_err *err)
{
	int64_t epoch = w->book->head.epoch1904 ? dtx_day_of(1904, 1, 1) : dtx_day_of(1899, 12, 30);
	int64_t us, back;
	int32_t day;
	bool zoned = false, whole = dtx_day_parse(c->value, &day);
	double serial;

	if (whole)
		us = day * DTX_DAY_US;
	else if (clock_of(c->value, &us))
		return put_serial(w, c, (double)us / (double)DTX_DAY_US, DTX_FMT_TIME, err);
	else if (!dtx_datetime_parse(c->value, &us, &zoned) ||
	         (zoned && c->value.ptr[c->value.len - 1] != 'Z'))
		return put_text(w, c, err);
	serial = (double)(us - epoch * DTX_DAY_US) / (double)DTX_DAY_US;
	if (!w->book->head.epoch1904 && serial < 61)
		serial -= 1;
	if (!dtx_serial_to_us(serial, w->book->head.epoch1904, &back) || back != us)
		return put_text(w, c, err);
	return put_serial(w, c, serial, whole ? DTX_FMT_DATE : DTX_FMT_DATETIME, err);
}

static enum dtx_code put_shared(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c,
                                struct dtx_err *err)
{
	struct dtx_str s = dtx_str_trim(c->value);
	int64_t id;

	if (!dtx_num_parse_i64(s.ptr, s.len, &id) || id < 0 || id >= DTX_BOOK_STRINGS_MAX)
		return dtx_xml_fail(w->x, err, __FILE__, __LINE__,
		                    "a string id that is not a number");
	/* A text that the file does not contain must not become an empty cell. */
	if (dtx_xlsx_text_missing(w, (uint64_t)id))
		return put_error(w, c, err);
	return put(w, c, DTX_CELL_TEXT, (union dtx_payload){ .id = (uint64_t)id }, err);
}

enum dtx_code dtx_xlsx_cell_put(struct dtx_xlsx_walk *w, const struct dtx_xlsx_cell *c,
                                struct dtx_err *err)
{
	enum dtx_xlsx_type type = c->type;
	bool on = false;

	if (w->ncells++ == DTX_SHEET_COLS)
		return dtx_xml_fail(w->x, err, __FILE__, __LINE__, "a row of over 16384 cells");
	w->next_col = c->col + 1;
	w->facts->nformulas += c->formula;
	if (c->code.len)
		dtx_sheet_note_formula(w->facts, c->code);
	if (!c->has_value ||
	    (!c->value.len && type != DTX_XLSX_T_STR && type != DTX_XLSX_T_INLINE)) {
		if (!c->formula)
			return DTX_OK;
		dtx_sheet_note_bad(w->facts, c->row, c->col, &w->facts->nuncached);
		return put(w, c, DTX_CELL_BLANK | DTX_CELL_UNCACHED, (union dtx_payload){ .id = 0 },
		           err);
	}
	switch (type) {
	case DTX_XLSX_T_NUMBER: return put_number(w, c, err);
	case DTX_XLSX_T_SHARED: return put_shared(w, c, err);
	case DTX_XLSX_T_BOOL:
		if (!dtx_xml_bool(c->value, &on))
			return put_error(w, c, err);
		return put(w, c, DTX_CELL_BOOL, (union dtx_payload){ .id = on }, err);
	case DTX_XLSX_T_ERROR: return put_error(w, c, err);
	case DTX_XLSX_T_DATE: return put_iso(w, c, err);
	case DTX_XLSX_T_STR:
	case DTX_XLSX_T_INLINE: break;
	}
	return put_text(w, c, err);
}
