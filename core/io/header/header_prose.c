/* Distinguishes sentences above the table of a text file, which its delimiter also splits, from a
 * row of names. */
#include "core/io/header/header_find.h"

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

static bool is_value(const struct dtx_head_cell *cell)
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
		table = !f->shape[k].filled || (is_value(&f->cell[0]) && is_value(&f->cell[1]));
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
enum dtx_code dtx_head_is_heading(struct dtx_head_finder *f, uint32_t r, bool *yes,
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
