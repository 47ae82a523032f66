/* Decides which rows below and above the first row of a header belong to it. */
#include "core/base/mem.h"
#include "core/io/header/header_find.h"

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
		DTX_TRY(dtx_head_is_heading(f, r, &heading, err));
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
