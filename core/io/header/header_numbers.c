/* Recognizes names that are numbers: years, positions of columns without a name, keys of
 * samples. */
#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/io/header/header_find.h"

static bool is_percent(struct dtx_str text)
{
	struct dtx_str s = dtx_utf8_trim(text);

	return s.len && s.ptr[s.len - 1] == '%';
}

enum dtx_head_class dtx_head_class(const struct dtx_head_cell *c)
{
	enum dtx_head_kind k = dtx_head_cell_kind(c);

	if (c->kind == DTX_HEAD_TEXT && dtx_head_is_local_date(c->text))
		return DTX_HEAD_CLASS_DATE;
	if (k == DTX_HEAD_BLANK || (c->kind == DTX_HEAD_TEXT && dtx_head_is_missing_word(c->text)))
		return DTX_HEAD_CLASS_NONE;
	if (k == DTX_HEAD_VALUE && c->kind == DTX_HEAD_TEXT && is_percent(c->text))
		return DTX_HEAD_CLASS_PERCENT;
	return k == DTX_HEAD_TEXT ? DTX_HEAD_CLASS_TEXT : DTX_HEAD_CLASS_VALUE;
}

/* Ascending years; 1, 2, 3 or 0, 1, 2 in all of three or more columns; ascending ISO dates; false
 * and true. */
enum labels { LABELS_YEARS, LABELS_PLACES, LABELS_DATES, LABELS_BOOLS };

static bool is_bool(struct dtx_str text)
{
	struct dtx_str s = dtx_utf8_trim(text);

	return dtx_str_ieq(s, dtx_str_of("true")) || dtx_str_ieq(s, dtx_str_of("false"));
}

/* Whether the number n continues labels of this kind; `before` is that of the cell to its left, or
 * -1. */
static bool follows(int64_t before, int64_t n, uint32_t k, enum labels kind)
{
	return kind == LABELS_YEARS ? n >= 1900 && n < 2100 && (!k || n > before)
	       : k                  ? n == before + 1
	                            : n == 0 || n == 1;
}

/* Whether the row has "false,true" or "True,False": both, once each. */
static bool are_bools(const struct dtx_head_finder *f)
{
	const struct dtx_head_cell *last = &f->cell[f->used_last];

	return f->used_last - f->used_first == 2 && is_bool(last->text) && is_bool(last[-1].text) &&
	       dtx_utf8_trim(last->text).len != dtx_utf8_trim(last[-1].text).len;
}

/* Whether all cells are dates as 2024-01-31, each later than the one before. */
static bool are_dates(const struct dtx_head_finder *f)
{
	struct dtx_str before = { "", 0 }, text;
	uint32_t c;

	for (c = f->used_first + 1; c <= f->used_last; c++, before = text) {
		text = dtx_utf8_trim(f->cell[c].text);
		if (!dtx_head_filled(&f->cell[c]) || text.len < 10 ||
		    dtx_head_cell_kind(&f->cell[c]) != DTX_HEAD_YEAR ||
		    (before.len && memcmp(text.ptr, before.ptr, 10) <= 0))
			return false;
	}
	return f->used_last > f->used_first;
}

/* Whether the first cell is blank or a text, and the others are labels of this kind. */
static bool are_labels(const struct dtx_head_finder *f, enum labels kind)
{
	int64_t n = -1, before = -1;
	uint32_t c, k = 0;

	if (kind == LABELS_BOOLS)
		return are_bools(f);
	if (kind == LABELS_DATES)
		return are_dates(f);
	for (c = f->used_first + 1; c <= f->used_last; c++, k++) {
		struct dtx_str text = dtx_utf8_trim(f->cell[c].text);

		if (!dtx_head_filled(&f->cell[c]) || !dtx_num_parse_i64(text.ptr, text.len, &n) ||
		    !follows(before, n, k, kind))
			return false;
		before = n;
	}
	return k >= (kind == LABELS_YEARS ? 1 : 3);
}

/* Whether the row that was looked at continues labels of this kind. */
static bool goes_on(const struct dtx_head_finder *f, enum labels kind)
{
	uint32_t c;

	for (c = f->used_first; c <= f->used_last && kind == LABELS_BOOLS; c++) {
		if (is_bool(f->cell[c].text))
			return true;
	}
	return are_labels(f, kind);
}

/* Contract in header_find.h. */
enum dtx_code dtx_head_numbers_name(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, r + 1 + (uint32_t)DTX_HEAD_START_ROWS), k;
	const struct dtx_head_cell *first = &f->cell[f->used_first];
	enum labels kind = LABELS_YEARS;

	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	while (kind < LABELS_BOOLS && !are_labels(f, kind))
		kind++;
	*yes = are_labels(f, kind) && dtx_head_class(first) <= DTX_HEAD_CLASS_TEXT && r + 1 < n &&
	       !(kind == LABELS_BOOLS && is_bool(first->text));
	for (k = r + 1; k < n && *yes; k++) {
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		*yes = !f->shape[k].filled || (dtx_head_filled(first) && !goes_on(f, kind));
	}
out:
	return rc;
}

/* Contract in header_find.h. */
enum dtx_code dtx_head_years_count(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	int64_t n = 0, before = 0;
	uint32_t c;

	DTX_TRY(dtx_head_numbers_name(f, r, yes, err));
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	*yes = *yes && are_labels(f, LABELS_YEARS) && f->used_last - f->used_first >= 3;
	for (c = f->used_first + 1; c <= f->used_last && *yes; c++, before = n) {
		struct dtx_str text = dtx_utf8_trim(f->cell[c].text);

		*yes = dtx_num_parse_i64(text.ptr, text.len, &n) && (!before || n == before + 1);
	}
out:
	return rc;
}

/* Contract in header_find.h. pandas writes such a row for a table that it pivoted. "id,1,2,3" may
 * also be data. */
enum dtx_code dtx_head_numbers_first(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*yes = false;
	if (r >= f->nshapes || f->nused < 2 || f->shape[r].like)
		goto out;
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	if (are_bools(f) || (!dtx_head_filled(&f->cell[f->used_first]) &&
	                     (are_labels(f, LABELS_YEARS) || are_dates(f))))
		DTX_TRY(dtx_head_numbers_name(f, r, yes, err));
out:
	return rc;
}

enum { NAME_DIGITS = 5 }; /* digits of names that are numbers above other numbers */

/* Whether a number is the name of its column: no cell below is a whole number; and if there are
 * decimals below, or a single row, the name is whole and has as many digits as a key. */
static bool is_number_name(struct dtx_str name, bool key)
{
	int64_t n;
	double v;

	name = dtx_utf8_trim(name);
	if (dtx_num_parse_i64(name.ptr, name.len, &n))
		return n >= 0 && (!key || name.len >= NAME_DIGITS);
	return !key && dtx_num_parse_f64(name.ptr, name.len, &v) && v >= 0;
}

/* Contract in header_find.h. Such names are "id,100022,100025" above texts, bools, dates, or
 * decimals if the names have several digits. The first column may have texts. */
enum dtx_code dtx_head_numbers_differ(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, r + 1 + (uint32_t)DTX_HEAD_START_ROWS), rows = 0, k, c;
	bool decimals = false, texts;
	uint32_t from;
	int64_t whole;

	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	texts = dtx_head_class(&f->cell[f->used_first]) == DTX_HEAD_CLASS_TEXT;
	from = f->used_first + texts;
	*yes = f->used_last > from;
	for (k = r + 1; k < n && *yes; k++) {
		if (!f->shape[k].filled)
			continue;
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		*yes = !texts || dtx_head_class(&f->cell[f->used_first]) == DTX_HEAD_CLASS_TEXT;
		for (c = from; c <= f->used_last && *yes; c++) {
			struct dtx_str s = dtx_utf8_trim(f->cell[c].text);

			*yes = !dtx_head_filled(&f->cell[c]) ||
			       !dtx_num_parse_i64(s.ptr, s.len, &whole);
			decimals |= dtx_head_class(&f->cell[c]) == DTX_HEAD_CLASS_VALUE;
		}
		rows++;
	}
	*yes = *yes && rows;
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	for (c = from; c <= f->used_last && *yes; c++)
		*yes = is_number_name(f->cell[c].text, decimals || rows == 1) &&
		       (c == from || !dtx_str_eq(f->cell[c].text, f->cell[c - 1].text));
out:
	return rc;
}

/* Contract in header_find.h. pandas writes ",0,1,2" for columns without a name; the rows then begin
 * with 0, 1, 2, or none of them begins with a number. */
enum dtx_code dtx_head_counts_columns(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                      struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	bool number, counted = false;
	int64_t n, rows = 0;
	uint32_t c, k;

	*yes = false;
	if (r >= f->nshapes || f->nused < 2)
		goto out;
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	*yes = !dtx_head_filled(&f->cell[f->used_first]);
	for (c = f->used_first + 1; c <= f->used_last && *yes; c++) {
		struct dtx_str s = dtx_utf8_trim(f->cell[c].text);

		*yes = dtx_head_filled(&f->cell[c]) && dtx_num_parse_i64(s.ptr, s.len, &n) &&
		       n == (int64_t)(c - f->used_first) - 1;
	}
	for (k = r + 1; k < f->nshapes && *yes; k++) {
		struct dtx_str s;

		if (!f->shape[k].filled)
			continue;
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		s = dtx_utf8_trim(f->cell[f->used_first].text);
		number = dtx_num_parse_i64(s.ptr, s.len, &n);
		counted = rows ? counted : number;
		*yes = dtx_head_filled(&f->cell[f->used_first]) && number == counted &&
		       (!number || n == rows);
		rows++;
	}
	*yes = *yes && rows > 0;
out:
	return rc;
}
