/* Makers for columns that are values, and for tables that stand on their side. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/suggest/propose/makers.h"
#include "core/base/text/utf8.h"

enum { PAIRS_MAX = 80, SETS_MAX = 48 };

/* The mean likeness of the values of some pairs out of n columns. */
static double like_columns(const struct dtx_makers *m, const uint32_t *col, uint32_t n)
{
	uint32_t i, pairs = 0, step = n * 2 / PAIRS_MAX + 1;
	double sum = 0;

	for (i = 0; i + 1 < n; i += step) {
		if (!m->col[col[i]].filled || !m->col[col[i + 1]].filled)
			continue; /* nothing is known of it */
		sum += dtx_like_values(&m->col[col[i]], &m->col[col[i + 1]]);
		pairs++;
		if (n > 2) {
			sum += dtx_like_values(&m->col[col[i]], &m->col[col[(i + n / 2) % n]]);
			pairs++;
		}
	}
	return pairs ? sum / pairs : 0;
}

/* --- purity: whether the cells of rows or those of columns are of one kind --- */

struct purity {
	double rows, cols;             /* mean share of the most frequent kind */
	double rows_whole, cols_whole; /* mean share of whole numbers, or of the others */
	double rows_spread, cols_spread;
};

static void purity_add(const struct dtx_feature *f, double *pure, double *whole, double *spread)
{
	*pure += f->pure;
	*whole += DTX_MAX(f->whole, 1 - f->whole);
	*spread += DTX_MIN(f->spread, 3.0);
}

/* All columns but the first are compared; up to 60 rows. */
static bool purity_make(const struct dtx_makers *m, struct purity *p)
{
	int64_t rows = DTX_MIN(m->g->nrows, 60), r, nr = 0;
	uint32_t c, nc = 0;

	*p = (struct purity){ 0 };
	for (c = 1; c < m->g->ncols; c++) {
		if (!m->col[c].filled)
			continue;
		purity_add(&m->col[c], &p->cols, &p->cols_whole, &p->cols_spread);
		nc++;
	}
	for (r = 0; r < rows; r++) {
		struct dtx_feature f;

		if (!dtx_feature_make(&f, m->g, r * m->g->nrows / rows, true, NULL) || f.filled < 2)
			continue;
		purity_add(&f, &p->rows, &p->rows_whole, &p->rows_spread);
		nr++;
	}
	if (nr < 2 || nc < 2)
		return false;
	p->rows /= (double)nr;
	p->rows_whole /= (double)nr;
	p->rows_spread /= (double)nr;
	p->cols /= nc;
	p->cols_whole /= nc;
	p->cols_spread /= nc;
	return true;
}

/* --- transpose --- */

/* Whether the labels of the rows are a series: then the table would have columns that are values on
 * its other side, too. */
static bool transpose_series(const struct dtx_makers *m)
{
	const char *label[DTX_FEATURE_ROWS];
	int64_t r;

	for (r = 0; r < m->g->nrows; r++)
		label[r] = dtx_textgrid_at(m->g, r, 0);
	return dtx_like_names(label, (size_t)m->g->nrows).what != NULL;
}

void dtx_make_transpose(struct dtx_makers *m)
{
	const struct dtx_textgrid *g = m->g;
	double score, words = 0, heads = 0, units = 0;
	struct purity p;
	const char *corner = g->name[0];
	struct dtx_like_names names;
	int64_t r;
	uint32_t c;

	if (g->ncols < 3 || g->nrows < 2 || g->nrows > DTX_FEATURE_ROWS ||
	    m->col[0].filled < g->nrows || m->col[0].words.n < g->nrows || m->headerless ||
	    dtx_kind_is_number(m->col[0].kind) || m->col[0].kind == DTX_LOOKS_DATE ||
	    !purity_make(m, &p))
		return;
	for (r = 0; r < g->nrows; r++) {
		const char *text = dtx_textgrid_at(g, r, 0);

		words += dtx_like_attribute(text);
		units += strchr(text, '(') || strchr(text, '%') || strchr(text, '$');
		if (strlen(text) > 100)
			return;
	}
	for (c = 1; c < g->ncols; c++)
		heads += dtx_like_attribute(g->name[c]);
	score = 0.3 + 1.3 * (p.rows - p.cols) + 0.5 * (p.rows_whole - p.cols_whole) +
	        0.35 * (words / (double)g->nrows - heads / (g->ncols - 1)) +
	        0.2 * DTX_MAX(-0.5, DTX_MIN(p.cols_spread - p.rows_spread, 1.0)) +
	        (units * 3 > (double)g->nrows ? 0.15 : 0);
	if (dtx_like_unnamed(corner))
		score += 0.1;
	else if (dtx_str_in_list("attribute,field,metric,measure,variable,property,item,indicator,"
	                         "parameter,feature,key,statistic,Attribute,Field,Metric,Measure,"
	                         "Variable,Property,Indicator,Parameter,Feature,Key,Statistic",
	                         corner))
		score += 0.3;
	else if (dtx_like_attribute(corner) && words > 0)
		score += 0.1;
	names = dtx_like_names(g->name + 1, g->ncols - 1);
	score -= names.what && !strcmp(names.what, "years") ? 0.15 : 0;
	score -= transpose_series(m) ? 0.3 : 0;
	dtx_makers_add(m, "transpose",
	               json_pack("{ss ss}", "op", "transpose", "names_to",
	                         dtx_like_unnamed(corner) ? "name" : corner),
	               score,
	               "cells of a row are of one kind in %.0f %%, those of a column in %.0f %%: "
	               "the names are in '%.40s', such as '%.40s'%s",
	               100 * p.rows, 100 * p.cols, corner, dtx_textgrid_at(g, 0, 0),
	               dtx_makers_place(m, 0, dtx_textgrid_at(g, 0, 0)));
}

/* --- stack --- */

static double stack_stays(const struct dtx_makers *m, uint32_t n)
{
	uint32_t stay = m->g->ncols - n;

	return stay == 1 ? 0.12 : stay == 2 ? 0.10 : stay <= 4 && stay ? 0.08 : 0;
}

/* The share of rows in which some cells of the run are blank and others are not. */
static double stack_ragged(const struct dtx_makers *m, uint32_t from, uint32_t n)
{
	double low = 1, high = 0;
	uint32_t c;

	for (c = from; c < from + n; c++) {
		double share = m->col[c].rows ? (double)m->col[c].filled / m->col[c].rows : 0;

		low = DTX_MIN(low, share);
		high = DTX_MAX(high, share);
	}
	return high - low;
}

/* Names the two new columns. In "Hours Jan", "Hours Feb" the word before the months is what was
 * measured; in "Week 1", "Week 2" it says what the numbers are. */
static void stack_name(struct dtx_makers *m, json_t *step, const struct dtx_like_names *names,
                       uint32_t from, uint32_t n)
{
	char start[64], word[64];
	const char *to = names->column, *values = "value";
	size_t len;

	for (len = 0; m->upper && len < n && m->upper[from + len] &&
	              m->upper[from + len] + 1 <= names->start.len;
	     len++)
		;
	if (len == n && m->upper[from] + 1 < sizeof(start)) {
		/* one upper header row for all */
		dtx_str_copy(start, sizeof(start),
		             (struct dtx_str){ m->g->name[from], m->upper[from] + 1 });
		m->failed |=
			!dtx_json_set(step, "names_prefix", json_string(start)) ||
			!dtx_json_set(step, "names_to", json_string(dtx_makers_name(m, to))) ||
			!dtx_json_set(step, "values_to", json_string(dtx_makers_name(m, values)));
		return;
	}
	dtx_str_copy(start, sizeof(start), names->start);
	dtx_str_copy(word, sizeof(word), dtx_utf8_trim(names->start));
	for (len = strlen(word); len && strchr("_-. (:", word[len - 1]); len--)
		word[len - 1] = '\0';
	if (len && names->start.len < sizeof(start) && names->what && names->numbered)
		to = word;
	else if (len && names->start.len < sizeof(start) && names->what) {
		m->failed |= !dtx_json_set(step, "names_prefix", json_string(start));
		values = word;
	}
	m->failed |= !dtx_json_set(step, "names_to", json_string(dtx_makers_name(m, to))) ||
	             !dtx_json_set(step, "values_to", json_string(dtx_makers_name(m, values)));
}

/* Whether most names of the run are also labels in the first column, as in a table of distances. */
static bool stack_matrix(const struct dtx_makers *m, uint32_t from, uint32_t n)
{
	uint32_t i, k, same = 0;

	for (i = from; from && i < from + n; i++) {
		uint64_t hash = dtx_cell_hash(dtx_str_of(m->g->name[i]));

		for (k = 0; k < m->col[0].words.n && m->col[0].words.hash[k] != hash; k++)
			;
		same += k < m->col[0].words.n;
	}
	return n >= 3 && same * 5 >= n * 4;
}

/* Whether most labels of the first column say what is measured: "mean", "upper range". */
static bool stack_measures(const struct dtx_makers *m)
{
	int64_t r, rows = DTX_MIN(m->g->nrows, DTX_FEATURE_ROWS), words = 0;

	for (r = 0; r < rows; r++) {
		const char *text = dtx_textgrid_at(m->g, r, 0);

		words += text && dtx_like_attribute(text);
	}
	return words * 2 > rows;
}

/* Whether the run is all columns of numbers, and the others are labels. Two are enough in a table
 * whose labels were written once, as they are in a printed table of counts. */
static bool stack_numbers(const struct dtx_makers *m, uint32_t from, uint32_t n)
{
	uint32_t c;

	for (c = 0; c < m->g->ncols; c++) {
		bool number = dtx_kind_is_number(m->col[c].kind) && m->col[c].pure >= 0.9;

		if (number != (c >= from && c < from + n))
			return false;
	}
	return n >= (m->second ? 2 : 3) && n < m->g->ncols;
}

static bool stack_counts(const struct dtx_makers *m, uint32_t from, uint32_t n)
{
	uint32_t c;

	for (c = from; c < from + n && m->col[c].whole >= 1; c++)
		;
	return c == from + n;
}

/* Whether column `total` is the sum of the run in nearly all rows: 0, or 1 less the mean difference
 * of these rows. */
static double stack_sums(const struct dtx_makers *m, uint32_t total, uint32_t from, uint32_t n)
{
	int64_t r, rows = DTX_MIN(m->g->nrows, DTX_FEATURE_ROWS), same = 0;
	double off = 0;
	uint32_t c;

	if (n < 2 || !dtx_kind_is_number(m->col[total].kind))
		return 0;
	for (c = from; c < from + n; c++) {
		if (m->col[c].filled && m->col[c].kind >= DTX_LOOKS_CODE)
			return 0;
	}
	for (r = 0; r < rows; r++) {
		double sum = 0, x, all;

		(void)dtx_cell_kind(dtx_textgrid_at(m->g, r, total), &all);
		for (c = from; c < from + n; c++) {
			(void)dtx_cell_kind(dtx_textgrid_at(m->g, r, c), &x);
			sum += x;
		}
		if (fabs(sum - all) > 0.006 * fabs(all) || all == 0)
			continue;
		same++;
		off += fabs(sum - all) / fabs(all);
	}
	return rows > 1 && same * 10 >= rows * 9 ? 1 - off / (double)same : 0;
}

/* Whether the last row is the sum of the others in nearly all columns of the run. */
static bool stack_ends(const struct dtx_makers *m, uint32_t from, uint32_t n)
{
	uint32_t c, same = 0;
	int64_t r, last = m->g->nrows - 1;

	for (c = from; c < from + n && last > 1 && last < DTX_FEATURE_ROWS; c++) {
		double sum = 0, x;

		for (r = 0; r < last; r++) {
			(void)dtx_cell_kind(dtx_textgrid_at(m->g, r, c), &x);
			sum += x;
		}
		(void)dtx_cell_kind(dtx_textgrid_at(m->g, last, c), &x);
		same += fabs(sum - x) <= 0.006 * fabs(x);
	}
	return same && same * 10 >= n * 9;
}

/* Whether the columns have the same few values, which are answers or marks on one scale. */
static bool stack_scale(const struct dtx_makers *m, uint32_t from, uint32_t n)
{
	uint32_t most = from, c, filled = 0, words = 0;

	for (c = from; c < from + n; c++) {
		if (m->col[c].words.n > m->col[most].words.n)
			most = c;
		filled += m->col[c].filled;
	}
	words = m->col[most].words.n;
	for (c = from; c < from + n; c++) {
		if (!m->col[c].filled || m->col[c].kind == DTX_LOOKS_BOOL ||
		    dtx_hashset_overlap(&m->col[c].words, &m->col[most].words) < 0.6)
			return false;
	}
	return words >= 3 && words <= 12 && words * 4 <= filled;
}

/* Whether the run is all columns of texts with several numbers in one form: "0.29 ± 0.16". */
static bool stack_composite(const struct dtx_makers *m, uint32_t from, uint32_t n)
{
	uint32_t c;
	int64_t r;

	for (c = 0; c < m->g->ncols; c++) {
		uint32_t filled = 0, several = 0;
		bool in = c >= from && c < from + n;

		for (r = 0; r < DTX_MIN(m->g->nrows, DTX_FEATURE_ROWS); r++) {
			const char *text = dtx_textgrid_at(m->g, r, c);
			uint32_t numbers = 0;

			if (dtx_cell_blank(text))
				continue;
			filled++;
			for (; (text = strpbrk(text, "0123456789")) != NULL; numbers++)
				text += strspn(text, "0123456789.,");
			several += numbers > 1;
		}
		if (in ? several * 5 < filled * 4 || !filled || m->col[c].kind < DTX_LOOKS_CODE ||
		                    dtx_hashset_overlap(&m->col[c].shapes, &m->col[from].shapes) <
		                            0.4
		       : several * 5 >= filled * 4 && filled)
			return false;
	}
	return true;
}

/* After a proposal to stack these columns: a last row of sums, as the total at the side, is no
 * observation. The same without it is another proposal. */
static void stack_cut(struct dtx_makers *m, const uint32_t *col, uint32_t n, double score)
{
	if (m->failed)
		return;
	dtx_makers_also(m, score + 0.01, NULL, "cols", dtx_makers_columns(m, col, n));
	m->failed |= m->failed ||
	             json_array_insert_new(m->list[m->n - 1].steps, 0,
	                                   json_pack("{ss si}", "op", "skip_rows", "tail", 1)) < 0;
}

static void stack_run(struct dtx_makers *m, uint32_t from, uint32_t n, const struct purity *p)
{
	const char *const *name = m->g->name + from;
	struct dtx_like_names names = dtx_like_names(name, n);
	uint32_t col[DTX_FEATURE_ROWS * 4], c, stay = m->g->ncols - n, crossed = 0, total = from;
	double like, score, alike, near, filled = 0, sums = 0;
	bool matrix;
	json_t *step;

	if (n < 2 || n > DTX_COUNT(col))
		return;
	for (c = 0; c < n; c++) {
		col[c] = from + c;
		filled += m->col[from + c].filled > 0;
		crossed += m->crossed[from + c];
	}
	if (filled * 2 < n)
		return;
	like = like_columns(m, col, n);
	matrix = stack_matrix(m, from, n);
	names.score = matrix ? 1 : names.score;
	score = 0.05 + 0.45 * names.score + 0.30 * like +
	        (n >= 8   ? 0.10
	         : n >= 4 ? 0.06
	                  : 0) +
	        stack_stays(m, n);
	score -= n > 2                            ? 0
	         : names.what && like >= 0.8      ? 0.16
	         : names.score >= 0.85 && !matrix ? 0.18
	                                          : 0.26;
	score -= p ? 1.2 * DTX_MAX(0.0, p->rows - p->cols) : 0;
	if (names.score < 0.75 && n >= 3 && stack_scale(m, from, n))
		score = DTX_MIN(score + 0.25, 0.78);
	/* texts with several numbers: the same measure */
	if (n < 4 && stack_composite(m, from, n))
		score = DTX_MAX(score, n > 2 ? 0.72 : 0.66);
	score -= stack_ragged(m, from, n) > 0.5 ? 0.12 : 0;
	score -= !stay ? 0.15 : 0;
	score -= crossed == n ? 0.2 : 0;
	score -= from && stack_measures(m) ? 0.1 : 0;
	/* parts of one whole, whose sum is next to them */
	if (from && (sums = stack_sums(m, from - 1, from, n)) > 0)
		total = from - 1;
	else if (from + n < m->g->ncols && (sums = stack_sums(m, from + n, from, n)) > 0)
		total = from + n;
	score += total != from && n > 2 ? 0.25 : 0;
	/* with a neighbour they are that whole */
	score -= (from > 1 && stack_sums(m, from - 2, from - 1, n + 1) > sums) ||
	                         (from && from + n < m->g->ncols &&
	                          stack_sums(m, from - 1, from, n + 1) > sums)
	                 ? 0.25
	                 : 0;
	score -= stack_sums(m, from, from + 1, n - 1) > 0 ||
	                         stack_sums(m, from + n - 1, from, n - 1) > 0
	                 ? 0.25
	                 : 0;
	/* A neighbour that belongs to it too: by its name, or by its values where the names of the
	 * run do not say why it ends here. */
	for (c = 0; c < 2; c++) {
		uint32_t at = c ? from + n : from - 1;

		if (c ? at >= m->g->ncols : !from)
			continue;
		if (!m->col[at].filled) {
			/* a blank year belongs to the years too */
			score -= dtx_like_neighbours(m->g->name[at],
			                             m->g->name[c ? at - 1 : from]) >= 0.9
			                 ? 0.25
			                 : 0;
			continue;
		}
		alike = dtx_like_values(&m->col[at], &m->col[c ? at - 1 : from]);
		near = DTX_MAX(dtx_like_names(m->g->name + (c ? from : at), n + 1).score,
		               dtx_like_neighbours(m->g->name[at], m->g->name[c ? at - 1 : from]));
		if (at == total || dtx_makers_numbers_rows(m, at))
			continue;
		if (dtx_like_leftover(m->g->name[at]))
			score -= 0.2;
		if (alike > (near < 0.5 ? 0.8 : 0.6) && (!names.what || near >= 0.74))
			score -= 0.25;
		else if (names.score < 0.85 &&
		         (alike > 0.8 || (dtx_kind_is_number(m->col[at].kind) &&
		                          dtx_kind_is_number(m->col[from].kind) &&
		                          !dtx_like_attribute(m->g->name[at]))))
			score -= 0.1;
	}
	/* amounts of several things can be of different size, and so can the counts of a printed
	 * table, where labels such as "Male", "Female" are written above them */
	if (score < 0.72 && names.score >= 0.45 && stack_numbers(m, from, n)) {
		if (m->second && stack_counts(m, from, n))
			score = names.start.len ? DTX_MAX(score, 0.62) : 0.72;
		else if (score < 0.62)
			score = DTX_MIN(0.62, score + 0.25);
	}
	step = json_pack("{ss so}", "op", "pivot_longer", "cols", dtx_makers_columns(m, col, n));
	stack_name(m, step, &names, from, n);
	dtx_makers_add(m, "stack", step, score,
	               "%u columns, '%.40s' to '%.40s', are %s; their values are alike to %.0f %%, "
	               "such as '%.40s'%s",
	               n, name[0], name[n - 1],
	               names.what        ? names.what
	               : matrix          ? "labels of rows too"
	               : names.score > 0 ? "names of one kind"
	                                 : "next to each other",
	               100 * like, dtx_makers_first(m, from),
	               dtx_makers_place(m, from, dtx_makers_first(m, from)));
	dtx_makers_sparse(m, col, n, score);
	if (total != from && stack_ends(m, from, n))
		stack_cut(m, col, n, score);
	/* texts in "Color 1", "Color 2" can be a list, in which the number has no meaning */
	if (names.numbered && m->col[from].kind >= DTX_LOOKS_CODE && !m->failed)
		dtx_makers_also(
			m, score - 0.04,
			json_pack("{ss s[O]}", "op", "drop", "cols",
		                  json_object_get(json_array_get(m->list[m->n - 1].steps, 0),
		                                  "names_to")),
			NULL, NULL);
}

/* Whether column `to` continues the run from `from`: by its name, its values, or as numbers. */
static bool stack_together(const struct dtx_makers *m, uint32_t way, uint32_t from, uint32_t to)
{
	if (!way)
		return dtx_like_neighbours(m->g->name[to - 1], m->g->name[to]) >= 0.74;
	if (way == 1)
		return m->col[to].kind == m->col[from].kind &&
		       dtx_like_values(&m->col[to - 1], &m->col[to]) >= 0.7;
	return dtx_kind_is_number(m->col[from].kind) && dtx_kind_is_number(m->col[to].kind);
}

/* Whether a run is only a part of one of the first n runs, whose names go together. A run without
 * its total is no such part. */
static bool stack_within(const struct dtx_makers *m, uint32_t from, uint32_t len,
                         uint32_t (*set)[2], uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t a = set[i][0], b = a + set[i][1];

		if (from >= a && from + len <= b && len < set[i][1] &&
		    dtx_like_names(m->g->name + a, b - a).score >= 0.85 &&
		    stack_sums(m, a, a + 1, b - a - 1) <= 0 &&
		    stack_sums(m, b - 1, a, b - a - 1) <= 0)
			return true;
	}
	return false;
}

void dtx_make_stack(struct dtx_makers *m)
{
	uint32_t n = m->g->ncols, from, to, set[SETS_MAX + 8][2], nsets = 0, i, way, named = 0;
	struct purity purity;
	bool pure;

	if (n < 2 || m->headerless)
		return;
	/* a column of labels that repeats says that the rows are observations */
	pure = m->col[0].words.n >= m->g->nrows && m->g->nrows <= DTX_FEATURE_ROWS &&
	       purity_make(m, &purity);
	/* runs of names that go together, then of values that do, then of numbers, then all but the
	 * first ones */
	for (way = 0; way < 3; way++) {
		for (from = 0; from + 1 < n; from = to) {
			for (to = from + 1; to < n; to++) {
				if (!stack_together(m, way, from, to))
					break;
			}
			if (to - from >= 2 && nsets < SETS_MAX - 5) {
				set[nsets][0] = from;
				set[nsets++][1] = to - from;
			}
		}
		named = way ? named : nsets;
	}
	for (from = 0; from < 5 && from + 2 <= n; from++) {
		set[nsets][0] = from;
		set[nsets++][1] = n - from;
	}
	/* without a total at one end */
	for (i = nsets; i-- > 0 && nsets < SETS_MAX;) {
		from = set[i][0];
		to = set[i][1];
		if (to < 3 || to > DTX_FEATURE_ROWS ||
		    (stack_sums(m, from, from + 1, to - 1) <= 0 &&
		     stack_sums(m, from + to - 1, from, to - 1) <= 0))
			continue;
		set[nsets][0] = from + (stack_sums(m, from, from + 1, to - 1) > 0);
		set[nsets++][1] = to - 1;
	}
	for (i = 0; i < nsets; i++) {
		if (stack_within(m, set[i][0], set[i][1], set, named))
			continue;
		for (way = 0; way < i && (set[way][0] != set[i][0] || set[way][1] != set[i][1]);
		     way++)
			;
		if (way == i)
			stack_run(m, set[i][0], set[i][1], pure ? &purity : NULL);
	}
}
