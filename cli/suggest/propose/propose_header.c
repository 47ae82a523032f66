/* How the file's header is read, where the reader does not say it; and tables below each other. */
#include "cli/suggest/propose/propose.h"

#include <string.h>

#include "cli/suggest/example/byexample.h"
#include "cli/suggest/propose/likeness.h"
#include "core/io/header/header.h"

enum {
	HEADER_ROWS = 12, /* rows that are looked at for a header */
	STACKED_ROWS = 2000
};

/* Whether the first row can be the header: its cells are distinct, and most are filled. */
static bool header_fits(const struct dtx_textgrid *g)
{
	uint32_t c, k, filled = 0;

	for (c = 0; c < g->ncols; c++) {
		const char *text = dtx_textgrid_at(g, 0, c);

		if (dtx_cell_blank(text))
			continue;
		filled++;
		for (k = 0; k < c; k++) {
			const char *other = dtx_textgrid_at(g, 0, k);

			if (other && !strcmp(other, text))
				return false;
		}
	}
	return g->ncols > 1 && filled * 10 >= g->ncols * 6;
}

/* Whether the second row has values, so that it is no part of a header. */
static bool header_ends(const struct dtx_textgrid *g)
{
	uint32_t c, values = 0;
	double n;

	for (c = 0; c < g->ncols && g->nrows > 1; c++)
		values += dtx_kind_is_number(dtx_cell_kind(dtx_textgrid_at(g, 1, c), &n)) &&
		          dtx_head_judge(dtx_str_of(dtx_textgrid_at(g, 1, c))) == DTX_HEAD_VALUE;
	return values > 0;
}

/* Whether the first row has a name for every column but perhaps the first, and the second one,
 * which has a label, has the same cell several times: then it has values. */
static bool header_full(const struct dtx_textgrid *g)
{
	uint32_t c, k, again = 0;

	for (c = 1; c < g->ncols; c++) {
		const char *low = g->nrows > 1 ? dtx_textgrid_at(g, 1, c) : NULL;

		if (dtx_cell_blank(dtx_textgrid_at(g, 0, c)))
			return false;
		for (k = 1; k < c && low; k++) {
			const char *other = dtx_textgrid_at(g, 1, k);

			again += other && !strcmp(low, other);
		}
	}
	return again && !dtx_cell_blank(dtx_textgrid_at(g, 1, 0));
}

/* Whether the cells of the first row are years or other numbers of a series, after a text. */
static bool header_counts(const struct dtx_textgrid *g)
{
	uint32_t from = 0;
	double n;

	while (from < g->ncols &&
	       !dtx_kind_is_number(dtx_cell_kind(dtx_textgrid_at(g, 0, from), &n)))
		from++;
	return from && g->ncols - from >= 2 &&
	       dtx_like_names(g->cell + from, g->ncols - from).score >= 0.9;
}

/* The number of names that the reader has numbered because they are repeated. */
static uint32_t header_repeats(const struct dtx_textgrid *g)
{
	uint32_t c, k, n = 0;

	for (c = 0; c < g->ncols; c++) {
		const char *cut = strrchr(g->name[c], '_');

		for (k = 0; cut && cut[1] == '2' && !cut[2] && k < c; k++)
			n += strlen(g->name[k]) == (size_t)(cut - g->name[c]) &&
			     !strncmp(g->name[k], g->name[c], (size_t)(cut - g->name[c]));
	}
	return n;
}

/* Two header rows, in which the upper labels are written once: the names of the columns to the
 * right of such a label are repeated, unless they get it too. */
static enum dtx_code header_right(struct dtx_source *src, json_t *input, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid plain = DTX_TEXTGRID_INIT, right = DTX_TEXTGRID_INIT;
	json_t *filled = json_deep_copy(input);

	if (!dtx_json_set(filled, "header_fill", json_string("right")))
		DTX_FAIL_MEM(err);
	if (dtx_propose_read(src, input, 1, &plain, NULL) == DTX_OK && header_repeats(&plain) &&
	    dtx_propose_read(src, filled, 1, &right, NULL) == DTX_OK && !header_repeats(&right) &&
	    !dtx_json_set(input, "header_fill", json_string("right")))
		DTX_FAIL_MEM(err);
out:
	json_decref(filled);
	dtx_textgrid_clear(&plain);
	dtx_textgrid_clear(&right);
	return rc;
}

/* Whether the first row has labels that are repeated over the columns of their groups, and the
 * second one a name for each column of a group: "", "Exports", "Exports", "Imports", "Imports"
 * above "Country", "2009", "2010", "2009", "2010". */
static bool header_pairs(const struct dtx_textgrid *g)
{
	const char *const *top = g->cell, *const *low = g->cell + g->ncols;
	uint32_t c, k, repeats = 0, from = 0;
	double n;

	if (g->nrows < 3)
		return false;
	while (from + 1 < g->ncols && dtx_cell_blank(top[from]) && dtx_cell_blank(low[from]))
		from++; /* labels of rows without a name */
	for (c = from; c < g->ncols; c++) {
		bool again = c && top[c] && top[c - 1] && !strcmp(top[c], top[c - 1]);

		if (dtx_cell_blank(low[c]))
			return false;
		repeats += again;
		for (k = from; k < c; k++) {
			if (!strcmp(low[c], low[k]) &&
			    (!top[c] || !top[k] || !strcmp(top[c], top[k])))
				return false;
		}
	}
	if (from)
		return repeats * 2 >= g->ncols - from - 1;
	for (c = 0; c < g->ncols && (c == 0 || top[c] != NULL); c++)
		;
	for (k = 1; k < g->ncols && !(top[k] && top[k - 1] && !strcmp(top[k], top[k - 1])); k++)
		;
	return c == g->ncols && repeats * 2 >= g->ncols - 1 && !dtx_cell_blank(low[0]) &&
	       !dtx_kind_is_number(dtx_cell_kind(low[0], &n)) &&
	       dtx_like_neighbours(low[k - 1], low[k]) >= 0.74;
}

/* The number of rows above the table, which have one cell at most. */
static int64_t header_above(const struct dtx_textgrid *g)
{
	int64_t r;

	for (r = 0; r < g->nrows; r++) {
		uint32_t c, filled = 0;

		for (c = 0; c < g->ncols; c++)
			filled += !dtx_cell_blank(dtx_textgrid_at(g, r, c));
		if (filled > 1)
			break;
	}
	return g->ncols > 2 && r + 1 < g->nrows ? r : 0;
}

enum dtx_code dtx_propose_header(struct dtx_source *src, json_t *input, const json_t *describe,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid raw = DTX_TEXTGRID_INIT, g;
	json_t *rows = json_object_get(describe, "header_rows"), *bare = NULL;
	struct dtx_err why = DTX_ERR_INIT;
	json_int_t found = json_is_integer(rows) ? json_integer_value(rows) : -1, above;

	if (dtx_json_int(input, "header_rows", found) > 1 && !json_object_get(input, "header_fill"))
		DTX_TRY(header_right(src, input, err));
	if (json_object_get(input, "header_rows") || (describe && !rows))
		return DTX_OK;
	bare = json_deep_copy(input);
	if (!dtx_json_set(bare, "header_rows", json_integer(0)))
		DTX_FAIL_MEM(err);
	if (dtx_propose_read(src, bare, HEADER_ROWS, &raw, &why) != DTX_OK || !raw.nrows) {
		if (why.code == DTX_E_NO_MEMORY)
			DTX_FAIL_MEM(err);
		goto out;
	}
	above = header_above(&raw);
	g = (struct dtx_textgrid){ .ncols = raw.ncols,
		                   .nrows = raw.nrows - above,
		                   .name = raw.name,
		                   .cell = raw.cell + above * raw.ncols };
	if (header_pairs(&g))
		found = 2;
	else if (found == 1)
		goto out;
	else if (header_fits(&g) && (found < 2 || header_ends(&g) || header_full(&g)) &&
	         (found != 0 || header_counts(&g)))
		found = 1;
	else if (found < 0)
		found = 2;
	else
		goto out;
	above += dtx_json_int(input, "skip", 0);
	if (!dtx_json_set(input, "header_rows", json_integer(found)) ||
	    (above && !dtx_json_set(input, "skip", json_integer(above))))
		DTX_FAIL_MEM(err);
out:
	dtx_err_clear(&why);
	dtx_textgrid_clear(&raw);
	json_decref(bare);
	return rc;
}

/* --- tables below each other --- */

/* Whether a row has a cell in the first column alone. */
static bool stacked_title(const struct dtx_textgrid *g, int64_t r)
{
	uint32_t c;

	for (c = 1; c < g->ncols && dtx_cell_blank(dtx_textgrid_at(g, r, c)); c++)
		;
	return c == g->ncols && !dtx_cell_blank(dtx_textgrid_at(g, r, 0));
}

static bool stacked_blank(const struct dtx_textgrid *g, int64_t r)
{
	uint32_t c;

	for (c = 0; c < g->ncols && dtx_cell_blank(dtx_textgrid_at(g, r, c)); c++)
		;
	return c == g->ncols;
}

/* Whether a column has no cell. */
static bool stacked_empty(const struct dtx_textgrid *g, uint32_t c)
{
	int64_t r;

	for (r = 0; r < g->nrows && dtx_cell_blank(dtx_textgrid_at(g, r, c)); r++)
		;
	return r == g->nrows;
}

/* Whether row r repeats most of row `head`; its label may be another one. */
static bool stacked_same(const struct dtx_textgrid *g, int64_t r, int64_t head)
{
	uint32_t c, same = 0, filled = 0;

	for (c = 1; c < g->ncols; c++) {
		const char *a = dtx_textgrid_at(g, head, c), *b = dtx_textgrid_at(g, r, c);

		filled += b != NULL;
		same += b && a && !strcmp(a, b);
	}
	return filled && same * 2 > filled;
}

/* The row of the header if it is there at least twice, each time below a title; -1: it is not. */
static int64_t stacked_head(const struct dtx_textgrid *g)
{
	int64_t head = 0, r, heads = 0, titles = 0;
	bool title = false;
	uint32_t c;

	while (head < g->nrows && (stacked_title(g, head) || stacked_blank(g, head)))
		head++;
	for (c = 1; c < g->ncols && head < g->nrows; c++) {
		if (!dtx_textgrid_at(g, head, c))
			return -1;
	}
	for (r = 0; r < g->nrows && head < DTX_MIN(HEADER_ROWS, g->nrows); r++) {
		title |= stacked_title(g, r);
		if (!stacked_same(g, r, head))
			continue;
		heads++;
		titles += title;
		title = false;
	}
	return heads > 1 && titles == heads ? head : -1;
}

/* Writes the condition for rows that do not repeat row `head`: the text that one column has in
 * these rows alone. False: there is no such column. */
static bool stacked_where(const struct dtx_textgrid *g, int64_t head, struct dtx_buf *out)
{
	uint32_t c;
	int64_t r;

	for (c = 0; c < g->ncols; c++) {
		const char *text = dtx_textgrid_at(g, head, c), *cell;

		for (r = 0; r < g->nrows; r++) {
			cell = dtx_textgrid_at(g, r, c);
			if (!stacked_title(g, r) && !stacked_blank(g, r) &&
			    stacked_same(g, r, head) !=
			            (text && cell ? !strcmp(cell, text) : cell == text))
				break;
		}
		if (r < g->nrows)
			continue;
		dtx_buf_printf(out, text ? "%s is null or %s <> '" : "%s is not null", g->name[c],
		               g->name[c]);
		for (; text && *text; text++)
			dtx_buf_add(out, *text == '\'' ? "''" : (char[]){ *text, '\0' });
		dtx_buf_add(out, dtx_textgrid_at(g, head, c) ? "'" : "");
		return true;
	}
	return false;
}

enum dtx_code dtx_propose_stacked(struct dtx_source *src, const json_t *input, json_t **steps,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_textgrid g = DTX_TEXTGRID_INIT, all = DTX_TEXTGRID_INIT;
	json_t *bare = json_deep_copy(input), *names = json_pack("[s]", "section");
	json_t *blank = json_array();
	struct dtx_buf where = DTX_BUF_INIT(4096);
	json_t *drop = NULL;
	const char *label;
	int64_t head;
	uint32_t c;
	size_t i;
	bool ok;

	*steps = NULL;
	if (!names || !blank || !dtx_json_set(bare, "header_rows", json_integer(0)))
		DTX_FAIL_MEM(err);
	if (dtx_propose_read(src, bare, STACKED_ROWS, &all, NULL) != DTX_OK)
		goto out;
	for (c = 0; c < all.ncols; c++) {
		if (stacked_empty(&all, c))
			(void)json_array_append_new(blank, json_string(all.name[c]));
	}
	drop = json_pack("[{ss} {ss sO}]", "op", "drop_empty", "op", "drop", "cols", blank);
	if (!json_array_size(blank))
		(void)json_array_remove(drop, 1);
	if (!drop)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_byexample_steps(&all, drop, &g, &ok, err));
	if (!ok || g.ncols < 2 || (head = stacked_head(&g)) < 0 || !stacked_where(&g, head, &where))
		goto out;
	for (c = 0; c < g.ncols; c++) {
		label = dtx_textgrid_at(&g, head, c);
		(void)json_array_append_new(names,
		                            label ? json_string(label) : json_string(g.name[c]));
	}
	*steps = json_pack("[{ss ss}, {ss ss}, {ss sO}]", "op", "subtitle_to_column", "as",
	                   "section", "op", "filter", "where", dtx_buf_text(&where), "op",
	                   "set_header", "names", names);
	for (i = json_array_size(drop); *steps && i-- > 0;)
		(void)json_array_insert(*steps, 0, json_array_get(drop, i));
	if (!*steps)
		DTX_FAIL_MEM(err);
out:
	json_decref(bare);
	json_decref(names);
	json_decref(blank);
	json_decref(drop);
	dtx_buf_clear(&where);
	dtx_textgrid_clear(&all);
	dtx_textgrid_clear(&g);
	return rc;
}
