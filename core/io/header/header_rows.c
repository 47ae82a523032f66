/* Decides what the rows around the first row of a header are: further rows of it, sentences above
 * the table, or data whose numbers could be names. */
#include "core/base/memory/mem.h"

#include "core/base/text/num.h"
#include "core/base/text/utf8.h"
#include "core/io/header/header_find.h"

/* --- names that are numbers: years, positions of columns without a name, keys of samples --- */

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

/* --- sentences above the table of a text file, which its delimiter also splits --- */

/* Whether the rows before r, most of which do not have the width of the table, have no value. */
static bool are_sentences(const struct dtx_head_finder *f, uint32_t r)
{
	uint32_t i, filled = 0, wide = 0;

	for (i = 0; i < r; i++) {
		if (f->shape[i].filled && !f->shape[i].like)
			return false;
		filled += f->shape[i].filled != 0;
		wide += f->shape[i].filled && f->shape[i].width == f->width;
	}
	return wide * 2 < filled;
}

/* Whether the rows from r on are the table: the next one is data, and all have the same width. */
static bool is_all_table(const struct dtx_head_finder *f, uint32_t r)
{
	uint32_t i;

	for (i = r + 1; i < f->nshapes; i++) {
		if (f->shape[i].filled && f->shape[i].width != f->width)
			return false;
	}
	return r + 1 < DTX_MIN(f->nshapes, (uint32_t)DTX_HEAD_START_ROWS) &&
	       f->shape[r + 1].filled && !f->shape[r + 1].like;
}

/* Whether all cells except the first begin with a blank, or some, or none. */
enum spaced { SPACED_NONE, SPACED_SOME, SPACED_ALL };

static enum dtx_code spaced_cells(struct dtx_head_finder *f, uint32_t r, enum spaced *out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c, n = 0, spaced = 0;

	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	for (c = 1; c < f->g->ncols; c++) {
		if (!dtx_head_filled(&f->cell[c]))
			continue;
		n++;
		spaced += f->cell[c].text.ptr[0] == ' ';
	}
	*out = !spaced ? SPACED_NONE : spaced == n ? SPACED_ALL : SPACED_SOME;
out:
	return rc;
}

/* Whether row r can be a sentence: some of its marks have a blank after them; and all do, unless it
 * has more cells than each row of the table. */
static bool is_spaced(const struct dtx_head_finder *f, uint32_t r, enum spaced spaced)
{
	return spaced == SPACED_ALL ||
	       (spaced == SPACED_SOME && f->shape[r].width > f->width && is_all_table(f, r + 1));
}

/* Contract in header_find.h. In a sentence the marks have blanks after them; in names and data they
 * do not. */
enum dtx_code dtx_head_past_sentence(struct dtx_head_finder *f, uint32_t *start,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t r = *start;
	enum spaced spaced;

	if (!f->g->text_file || r + 2 >= f->nshapes || !f->shape[r].like || !f->shape[r + 1].like ||
	    f->shape[r + 1].width != f->width || f->shape[r + 1].filled < f->want ||
	    !f->shape[r + 2].filled || f->shape[r + 2].like)
		goto out;
	DTX_TRY(spaced_cells(f, r, &spaced, err));
	if (!is_spaced(f, r, spaced))
		goto out;
	for (uint32_t i = r + 1; i < r + 3; i++) {
		DTX_TRY(spaced_cells(f, i, &spaced, err));
		if (spaced != SPACED_NONE)
			goto out;
	}
	++*start;
out:
	return rc;
}

/* Whether there are names, and below them rows of the same width with values. This is a table of
 * its own and not a sentence. */
static bool begins_table(const struct dtx_head_finder *f, uint32_t start, uint32_t end)
{
	uint32_t r;

	if (!f->shape[start].like || f->shape[start].filled < 2)
		return false;
	for (r = start + 1; r < end; r++) {
		if (f->shape[r].width == f->shape[start].width && f->shape[r].filled > 1 &&
		    !f->shape[r].like)
			return true;
	}
	return false;
}

/* Sentences above the table can be split by its delimiter too. The first row with the width of the
 * table below a blank line is the header, if no row before it is as wide, or only few are, as
 * sentences can be. */
uint32_t dtx_head_below_sentences(const struct dtx_head_finder *f, uint32_t start)
{
	uint32_t n = DTX_MIN(f->nshapes, (uint32_t)DTX_HEAD_START_ROWS), r, wide;

	if (!f->g->text_file)
		return start;
	wide = f->shape[start].width == f->width;
	/* the last row cannot be the header, since all rows above would be lost */
	for (r = start + 1; r + 1 < n; r++) {
		if (f->shape[r].width != f->width)
			continue;
		if (!f->shape[r - 1].filled && f->shape[r].filled >= f->want && f->shape[r].like &&
		    (!wide ? !begins_table(f, start, r)
		           : are_sentences(f, r) && is_all_table(f, r)))
			return r;
		wide++;
	}
	return start;
}

/* Whether a cell is the value of a setting: more than a word. */
static bool is_setting(struct dtx_str value)
{
	size_t i;

	for (i = 0; i < value.len && !strchr(":.-/0123456789", value.ptr[i]); i++)
		;
	return i < value.len;
}

static bool is_setting_value(const struct dtx_head_cell *cell)
{
	return dtx_head_filled(cell) && dtx_head_judge(cell->text) != DTX_HEAD_TEXT;
}

/* Whether these rows are names: none occurs twice as the name of a setting, or is more than
 * words. */
static enum dtx_code are_names(struct dtx_head_finder *f, uint32_t from, uint32_t to, bool *yes,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_str name;
	uint32_t i, k;

	for (i = from, *yes = true; i < to && *yes; i++) {
		DTX_TRY(dtx_head_look(f, f->g->first + i, err));
		name = f->cell[0].text;
		*yes = !is_setting(name);
		for (k = from; k < i && *yes; k++) {
			DTX_TRY(dtx_head_look(f, f->g->first + k, err));
			*yes = !dtx_str_eq(name, f->cell[0].text);
		}
	}
out:
	return rc;
}

/* Handles names of settings and their values in two columns and at least two rows, directly above
 * the names of a table of two columns with only values. Those names are the last row of texts, and
 * words. */
enum dtx_code dtx_head_below_pairs(struct dtx_head_finder *f, uint32_t *start, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, (uint32_t)DTX_HEAD_START_ROWS), r, k;
	bool settings = false, table = true;

	for (r = *start; r < n && f->shape[r].like && f->shape[r].filled == 2; r++)
		;
	if (!f->g->text_file || f->g->ncols != 2 || f->width != 2 || r < *start + 3 || r + 3 > n)
		goto out;
	for (k = *start; k < r; k++) {
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		settings = k + 1 < r ? settings || is_setting(f->cell[1].text)
		                     : settings && !is_setting(f->cell[1].text) &&
		                               f->cell[0].text.len > 2 && f->cell[1].text.len > 2;
	}
	if (settings)
		DTX_TRY(are_names(f, *start, r, &settings, err));
	for (k = r; k < f->nshapes && settings && table; k++) {
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		table = !f->shape[k].filled ||
		        (is_setting_value(&f->cell[0]) && is_setting_value(&f->cell[1]));
	}
	if (settings && table)
		*start = r - 1;
out:
	return rc;
}

/* Whether the rows before r are sentences: they have no value, and all cells except the first begin
 * with a blank. */
static enum dtx_code is_prose(struct dtx_head_finder *f, uint32_t r, bool *yes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum spaced spaced = SPACED_ALL;
	uint32_t i;

	*yes = r > 1;
	for (i = 0; i < r && *yes; i++) {
		if (f->shape[i].filled > 1)
			DTX_TRY(spaced_cells(f, i, &spaced, err));
		*yes = spaced == SPACED_ALL && (!f->shape[i].filled || f->shape[i].like);
	}
out:
	return rc;
}

/* Whether all rows from r on, at least two of them data, are as wide as r, and no cell of the first
 * two begins with a blank. */
static enum dtx_code is_table_alone(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                    struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum spaced names, data;
	uint32_t i;

	*yes = f->shape[r].like && f->shape[r].filled > 1 && f->shape[r + 1].filled &&
	       !f->shape[r + 1].like;
	for (i = r + 1; i < f->nshapes && *yes; i++)
		*yes = !f->shape[i].filled || f->shape[i].width == f->shape[r].width;
	if (!*yes)
		goto out;
	DTX_TRY(spaced_cells(f, r, &names, err));
	DTX_TRY(spaced_cells(f, r + 1, &data, err));
	*yes = names == SPACED_NONE && data == SPACED_NONE;
out:
	return rc;
}

/* The row that may have the names, after the first rows with only text: the one below a blank line;
 * or directly above the first row of data, if its width differs from that of the sentence above. */
static uint32_t names_below(const struct dtx_head_finder *f, uint32_t start, uint32_t n)
{
	uint32_t r;

	for (r = start; r < n && f->shape[r].like; r++)
		;
	if (r < n && !f->shape[r].filled)
		return r + 1;
	return r < n && r > start + 1 && f->shape[r - 2].width != f->shape[r - 1].width ? r - 1 : n;
}

/* Contract in header_find.h. Above a small table there may be more sentences than it has rows, so
 * that most rows have their width. The table after them goes on to the end. */
enum dtx_code dtx_head_below_prose(struct dtx_head_finder *f, uint32_t *start, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, (uint32_t)DTX_HEAD_START_ROWS);
	uint32_t r = f->g->text_file ? names_below(f, *start, n) : n;
	bool prose = false, table = false;

	if (r + 2 >= n || f->shape[r].filled < 2)
		goto out;
	DTX_TRY(is_prose(f, r, &prose, err));
	if (prose)
		DTX_TRY(is_table_alone(f, r, &table, err));
	if (table)
		*start = r;
out:
	return rc;
}

/* Contract in header_find.h. A text alone in the first column is a heading of the rows below if the
 * next row is indented, or if another such text comes further below. */
static enum dtx_code head_is_heading(struct dtx_head_finder *f, uint32_t r, bool *yes,
                                     struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_head_cell *first = &f->cell[f->used_first];
	uint32_t k;

	*yes = false;
	if (!f->g->text_file || f->shape[r].filled != 1 || r + 1 >= f->nshapes)
		goto out;
	DTX_TRY(dtx_head_look(f, f->g->first + r + 1, err));
	*yes = dtx_head_filled(first) && first->text.ptr[0] == ' ';
	for (k = r + 1; k < f->nshapes && !*yes; k++) {
		if (f->shape[k].filled != 1 || f->shape[k].width != f->width)
			continue;
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		*yes = dtx_head_filled(first) && k + 1 < f->nshapes && f->shape[k + 1].filled > 1;
	}
out:
	return rc;
}

/* --- rows below and above the first one --- */

enum { HEAD_TWICE_COLS = 512 };

static bool has_blank_column(const struct dtx_head_finder *f, uint32_t r)
{
	return f->shape[r].filled < f->nused;
}

/* Facts about a row that need its cells. */
struct row_facts {
	bool first_filled; /* the cell in the first used column itself, not one of a range */
	bool merged;       /* it has a range over several columns */
	bool right_half;   /* it has something in the right half */
};

static enum dtx_code row_facts(struct dtx_head_finder *f, uint32_t r, struct row_facts *out,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c, middle = f->used_first + (f->used_last - f->used_first + 1) / 2;

	*out = (struct row_facts){ 0 };
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	for (c = 0; c < f->g->ncols; c++) {
		const struct dtx_head_cell *cell = &f->cell[c];

		if (!dtx_head_filled(cell))
			continue;
		out->first_filled |= c == f->used_first && !cell->covered;
		out->merged |= cell->covered_left;
		out->right_half |= c >= middle;
	}
out:
	return rc;
}

/* Counts the columns that have a cell in the rows from `from` to `to`. */
static enum dtx_code count_named(struct dtx_head_finder *f, uint32_t from, uint32_t to, uint32_t *n,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t r, c;
	bool *named = dtx_mem_zalloc(f->g->ncols, sizeof(*named));

	*n = 0;
	if (!named)
		DTX_FAIL_MEM(err);
	for (r = from; r <= to; r++) {
		DTX_TRY(dtx_head_look(f, f->g->first + r, err));
		for (c = 0; c < f->g->ncols; c++) {
			*n += dtx_head_filled(&f->cell[c]) && !named[c];
			named[c] |= dtx_head_filled(&f->cell[c]);
		}
	}
out:
	dtx_mem_free(named);
	return rc;
}

/* A row with only delimiters may separate the names of the first columns from the row that
 * completes them: moves *r to that row. */
static enum dtx_code past_gap(struct dtx_head_finder *f, uint32_t start, uint32_t *r,
                              struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct row_facts names, data;
	uint32_t to = *r, n;

	while (to < f->nshapes && !f->shape[to].filled && f->shape[to].width == f->width)
		to++;
	if (!f->g->text_file || to == *r || to + 1 >= f->nshapes ||
	    to - start >= DTX_HEAD_ROWS_MAX || !f->shape[to].like || f->shape[to].filled < 2)
		goto out;
	DTX_TRY(count_named(f, start, *r - 1, &n, err));
	if (n == f->nused)
		goto out;
	DTX_TRY(count_named(f, start, to, &n, err));
	DTX_TRY(row_facts(f, to, &names, err));
	DTX_TRY(row_facts(f, to + 1, &data, err));
	if (n == f->nused && !names.first_filled && data.first_filled)
		*r = to;
out:
	return rc;
}

/* Whether two cells of the row have the same text. */
static enum dtx_code says_twice(struct dtx_head_finder *f, uint32_t r, bool *twice,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c, k, n = DTX_MIN(f->g->ncols, (uint32_t)HEAD_TWICE_COLS);

	*twice = false;
	DTX_TRY(dtx_head_look(f, f->g->first + r, err));
	for (c = 1; c < n && !*twice; c++) {
		for (k = 0; k < c && dtx_head_filled(&f->cell[c]) && !*twice; k++)
			*twice = dtx_head_filled(&f->cell[k]) &&
			         dtx_str_eq(f->cell[k].text, f->cell[c].text);
	}
out:
	return rc;
}

/* Whether row r completes names that occur twice in a text file: it has no first cell, and data
 * follow it. */
static enum dtx_code tells_apart(struct dtx_head_finder *f, uint32_t start, uint32_t r, bool *yes,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct row_facts here, below;

	*yes = false;
	if (!f->g->text_file || r != start + 1 || r + 1 >= f->nshapes || f->shape[r].filled < 2 ||
	    f->shape[r + 1].like)
		goto out;
	DTX_TRY(row_facts(f, r, &here, err));
	DTX_TRY(row_facts(f, r + 1, &below, err));
	if (!here.first_filled && below.first_filled)
		DTX_TRY(says_twice(f, start, yes, err));
out:
	return rc;
}

/* Whether row r adds names. Units below the names of a text file do not: no column without a name
 * gets one, and no equal names need to be distinguished. */
static enum dtx_code adds_name(struct dtx_head_finder *f, uint32_t start, uint32_t r, bool *yes,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t before, here;

	*yes = true;
	if (!f->g->text_file || r != start + 1)
		goto out;
	DTX_TRY(says_twice(f, start, yes, err));
	DTX_TRY(count_named(f, start, start, &before, err));
	DTX_TRY(count_named(f, start, r, &here, err));
	*yes |= here > before;
out:
	return rc;
}

/* What suggests or excludes that row r has names, from the rows after `data`. */
struct row_evidence {
	uint32_t columns; /* columns with a text above only values */
	uint32_t values;  /* number of those values */
	uint32_t same;    /* columns with a text above only texts that have a name already */
	uint32_t added;   /* columns with a text that have no name yet */
	bool first;       /* all rows below have a first cell */
	bool goes_on;     /* there is a year above only years */
};

static bool is_value(const struct dtx_head_cell *c)
{
	return dtx_head_cell_kind(c) >= DTX_HEAD_YEAR ||
	       (c->kind == DTX_HEAD_TEXT && dtx_head_is_local_date(c->text));
}

static enum dtx_code row_evidence(struct dtx_head_finder *f, uint32_t start, uint32_t r,
                                  uint32_t data, struct row_evidence *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t n = DTX_MIN(f->nshapes, data + (uint32_t)DTX_HEAD_START_ROWS), k, c;
	struct column {
		bool named, text, year;
		uint32_t values, years, texts; /* of the rows below */
	} *col = dtx_mem_zalloc(f->g->ncols, sizeof(*col));

	*out = (struct row_evidence){ 0 };
	if (!col)
		DTX_FAIL_MEM(err);
	for (k = start; k < n; k = k == r ? data : k + 1) {
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		for (c = 0; c < f->g->ncols; c++) {
			bool value = is_value(&f->cell[c]);
			bool year = dtx_head_cell_kind(&f->cell[c]) == DTX_HEAD_YEAR;

			if (!dtx_head_filled(&f->cell[c]))
				continue;
			if (k < r) {
				col[c].named = true;
			} else if (k == r) {
				col[c].text = !value;
				col[c].year = year;
			} else {
				col[c].values += value;
				col[c].years += year;
				col[c].texts += !value;
			}
		}
	}
	for (c = 0; c < f->g->ncols; c++) {
		if (col[c].text && col[c].values && !col[c].texts) {
			out->columns++;
			out->values += col[c].values;
		}
		out->added += !col[c].named && col[c].text;
		out->same += col[c].named && col[c].text && col[c].texts && !col[c].values;
		out->goes_on |= col[c].year && col[c].years && col[c].years == col[c].values &&
		                !col[c].texts;
	}
	c = f->used_first;
	for (k = data, out->first = true; k < n; k++) {
		if (!f->shape[k].filled)
			continue;
		DTX_TRY(dtx_head_look(f, f->g->first + k, err));
		out->first = out->first && dtx_head_filled(&f->cell[c]);
	}
out:
	dtx_mem_free(col);
	return rc;
}

/* Whether row r is a second row of names. This needs evidence: it has texts where all rows of data
 * below have values; or it names columns without a name, and lacks the first cell that all rows of
 * data have.
 *
 * A row with a first cell can also be the first row of data, in a column of values that begins with
 * a text. So if there are names above in all columns but the first, one such column is not
 * enough. */
static enum dtx_code is_above_data(struct dtx_head_finder *f, uint32_t start, uint32_t r,
                                   bool first_filled, bool *yes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct row_evidence e;
	uint32_t data = r + 1, below = 0, k;

	*yes = false;
	while (data < f->nshapes && (!f->shape[data].filled || f->shape[data].like))
		data++;
	if (data >= f->nshapes || data - start > 2 * DTX_HEAD_ROWS_MAX)
		goto out;
	for (k = data; k < f->nshapes; k++)
		below += f->shape[k].filled != 0;
	DTX_TRY(row_evidence(f, start, r, data, &e, err));
	*yes = e.columns && (e.values > 1 || below == 1) && !e.goes_on;
	if (!first_filled)
		*yes = (*yes || (e.added && e.first)) && !e.goes_on;
	else
		*yes = *yes && !e.same && (e.columns > 1 || !f->unnamed_first);
out:
	return rc;
}

/* Contract in header_find.h. */
enum dtx_code dtx_head_grow_down(struct dtx_head_finder *f, uint32_t start, uint32_t *rows,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct row_facts above, here;
	bool merged, heading, adds, apart;
	uint32_t r;

	*rows = 1;
	DTX_TRY(row_facts(f, start, &above, err));
	merged = above.merged;
	for (r = start + 1; r < f->nshapes && *rows < DTX_HEAD_ROWS_MAX; r++) {
		DTX_TRY(past_gap(f, start, &r, err));
		if (!f->shape[r].like)
			break;
		DTX_TRY(row_facts(f, r, &here, err));
		DTX_TRY(head_is_heading(f, r, &heading, err));
		if (heading && here.first_filled)
			break;
		DTX_TRY(tells_apart(f, start, r, &apart, err));
		if (!above.merged && !apart &&
		    (!has_blank_column(f, r - 1) || (above.first_filled && here.first_filled)))
			break;
		if (*rows >= 2 && here.first_filled)
			break;
		DTX_TRY(adds_name(f, start, r, &adds, err));
		if (adds && !merged)
			DTX_TRY(is_above_data(f, start, r, here.first_filled, &adds, err));
		if (!adds)
			break;
		above = here;
		*rows = r - start + 1;
	}
	if (!merged && start + *rows == f->nshapes)
		*rows = 1; /* a table of texts, not a header of many rows with nothing below */
out:
	return rc;
}

enum dtx_code dtx_head_grow_up(struct dtx_head_finder *f, uint32_t *start, uint32_t *rows,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct row_facts facts;
	bool twice;

	while (*start && *rows < DTX_HEAD_ROWS_MAX) {
		uint32_t r = *start - 1;

		/* A row with fewer cells than the names is a title or a sentence. */
		if (f->g->text_file && f->shape[r].width < f->shape[*start].width &&
		    f->shape[r].filled == f->shape[r].width)
			break;
		/* Years alone distinguish equal names below them; then no ranges are needed. */
		DTX_TRY(says_twice(f, *start, &twice, err));
		if (!(f->shape[r].like || (f->shape[r].years && twice)) || f->shape[r].filled < 2 ||
		    !has_blank_column(f, r))
			break;
		DTX_TRY(row_facts(f, r, &facts, err));
		if (!facts.right_half || (f->moved && !facts.merged && !twice))
			break;
		--*start;
		++*rows;
	}
out:
	return rc;
}
