/* Which rows below and above the first row of a header belong to it too. */
#include "core/base/mem.h"
#include "core/io/header_find.h"

enum { HEAD_TWICE_COLS = 512 };

static bool has_blank_column(const struct dtx_head_finder *f, uint32_t r)
{
	return f->shape[r].filled < f->nused;
}

/* Facts of one row that need its cells. */
struct row_facts {
	bool first_filled; /* physically, in the first used column */
	bool merged;       /* a range over several columns */
	bool right_half;   /* something in the right half */
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

/* Columns that have a cell in the rows from `from` to `to`. */
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

/* Rows of delimiters alone can part the names of the first columns from those that complete them:
 * moves *r to the latter. */
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

/* Whether two cells of the row say the same. */
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

/* Below names that come twice in a text file a row without a first cell tells them apart, if data
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

/* Units below the names of a text file: no column without a name gets one, and no two names need to
 * be told apart. */
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

/* Rows below that belong to the header too. */
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
		if (!adds)
			break;
		above = here;
		*rows = r - start + 1;
	}
	if (!merged && start + *rows == f->nshapes)
		*rows = 1; /* a table of texts, not a header of many rows and nothing below */
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

		/* What has fewer cells than the names is a title or a sentence. */
		if (f->g->text_file && f->shape[r].width < f->shape[*start].width &&
		    f->shape[r].filled == f->shape[r].width)
			break;
		/* Years alone tell equal names below apart; a row that does so needs no ranges. */
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
