/* Proposes steps that keep some of the rows, by comparing the rows that stay with those that go. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest/example/reshape.h"
#include "ops/reshape/totals.h"
#include "core/base/memory/mem.h"

/* Statistics of one column in the rows that stay (kept) and those that go (gone). */
struct parting {
	int64_t kept, gone, kept_null, gone_null;
	double kept_min, kept_max, gone_min, gone_max;
	bool numbers;          /* all values that are not null are numbers */
	const char *kept_text; /* the one value of all kept rows; NULL: several */
	const char *gone_text;
	bool kept_one, gone_one, kept_in_gone, gone_in_kept;
};

static void parting_side(struct parting *p, bool kept, const char *text)
{
	double *min = kept ? &p->kept_min : &p->gone_min, *max = kept ? &p->kept_max : &p->gone_max;
	const char **one = kept ? &p->kept_text : &p->gone_text;
	bool *same = kept ? &p->kept_one : &p->gone_one;
	int64_t seen = kept ? p->kept - p->kept_null : p->gone - p->gone_null;
	double x = 0;

	*(kept ? &p->kept : &p->gone) += 1;
	if (!text) {
		*(kept ? &p->kept_null : &p->gone_null) += 1;
		return;
	}
	if (!dtx_textgrid_number(text, &x))
		p->numbers = false;
	*min = seen ? DTX_MIN(*min, x) : x;
	*max = seen ? DTX_MAX(*max, x) : x;
	if (!seen)
		*one = text;
	else if (strcmp(*one, text) != 0)
		*same = false;
}

static void parting_make(const struct dtx_reshape *s, const bool *stays, uint32_t col,
                         struct parting *p)
{
	int64_t r;

	*p = (struct parting){ .numbers = true, .kept_one = true, .gone_one = true };
	for (r = 0; r < s->have->nrows; r++)
		parting_side(p, stays[r], dtx_textgrid_at(s->have, r, col));
	for (r = 0; r < s->have->nrows; r++) {
		const char *text = dtx_textgrid_at(s->have, r, col);

		if (!text)
			continue;
		p->kept_in_gone |= !stays[r] && p->kept_text && !strcmp(text, p->kept_text);
		p->gone_in_kept |= stays[r] && p->gone_text && !strcmp(text, p->gone_text);
	}
}

static void put_literal(struct dtx_buf *out, const char *text, bool number)
{
	if (number) {
		dtx_buf_add(out, text);
		return;
	}
	dtx_buf_addc(out, '\'');
	for (; *text; text++)
		dtx_buf_add(out, *text == '\'' ? "''" : (char[]){ *text, '\0' });
	dtx_buf_addc(out, '\'');
}

static void add_filter(struct dtx_reshape *s, const char *name, const char *relation,
                       const char *text, bool number)
{
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);

	dtx_reshape_name(&where, name);
	dtx_buf_printf(&where, " %s", relation);
	if (text) {
		dtx_buf_addc(&where, ' ');
		put_literal(&where, text, number);
	}
	dtx_reshape_add(s, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)));
	dtx_buf_clear(&where);
}

/* Proposes a bound between the rows that stay and those that go: the roundest possible number. */
static void add_bound(struct dtx_reshape *s, const char *name, const char *relation, double in,
                      double out)
{
	char text[40];
	double low = DTX_MIN(in, out), high = DTX_MAX(in, out), at = out;

	for (double unit = 1e9; unit > 1e-6; unit /= 10) {
		double up = ceil(low / unit) * unit;

		up += up < low ? unit : 0;
		if (up >= low && up < high && (up != in) && (low < high)) {
			at = up;
			break;
		}
	}
	snprintf(text, sizeof(text), "%.12g", at == in ? out : at);
	add_filter(s, name, relation, text, true);
}

static void add_parting(struct dtx_reshape *s, uint32_t col, const struct parting *p, bool prefix)
{
	const char *name = s->have->name[col];

	if (p->kept_text && p->kept_one && !p->kept_null && !p->kept_in_gone)
		add_filter(s, name, "==", p->kept_text, p->numbers);
	else if (p->gone_text && p->gone_one && !p->gone_null && !p->gone_in_kept && !p->numbers)
		add_filter(s, name, "<>", p->gone_text, p->numbers);
	else if (!p->kept_null && p->gone_null == p->gone)
		add_filter(s, name, "is not null", NULL, false);
	else if (p->kept_null == p->kept && !p->gone_null)
		add_filter(s, name, "is null", NULL, false);
	else if (p->numbers && !prefix && !p->kept_null && p->kept_min > p->gone_max)
		add_bound(s, name, ">", p->kept_min, p->gone_max);
	else if (p->numbers && !prefix && !p->kept_null && p->gone > p->gone_null &&
	         p->kept_max < p->gone_min)
		add_bound(s, name, "<", p->kept_max, p->gone_min);
}

/* Whether the wanted rows are the first ones: they may be a part of the result, or a selection. */
static bool is_prefix(const struct dtx_reshape *s)
{
	int64_t r;

	for (r = 0; r < s->want->nrows; r++) {
		if (s->from[r] != r)
			return false;
	}
	return true;
}

/* Proposes to skip rows at both ends, if the wanted ones are next to each other. */
static void add_skip(struct dtx_reshape *s, const bool *stays)
{
	int64_t head = 0, tail = s->have->nrows, r;

	while (head < tail && !stays[head])
		head++;
	while (tail > head && !stays[tail - 1])
		tail--;
	for (r = head; r < tail && stays[r]; r++)
		;
	if (r == tail && head)
		dtx_reshape_add(s,
		                json_pack("{ss sI sI}", "op", "skip_rows", "head", (json_int_t)head,
		                          "tail", (json_int_t)(s->have->nrows - tail)));
}

void dtx_reshape_rows(struct dtx_reshape *s)
{
	bool *stays = dtx_mem_zalloc((size_t)s->have->nrows + 1, sizeof(*stays));
	struct parting p;
	bool prefix;
	uint32_t c;
	int64_t r;

	s->failed |= !stays;
	if (!stays || !s->from || !s->aligned || s->nfresh || s->want->nrows >= s->have->nrows)
		goto out;
	for (r = 0; r < s->want->nrows; r++)
		stays[s->from[r]] = true;
	prefix = is_prefix(s);
	add_skip(s, stays);
	/* the wanted columns are the key */
	dtx_reshape_add(s, json_pack("{ss so}", "op", "distinct", "cols",
	                             dtx_reshape_list(s->both, s->nboth)));
	for (c = 0; c < s->have->ncols; c++) {
		if (s->second && prefix)
			break;
		parting_make(s, stays, c, &p);
		add_parting(s, c, &p, prefix);
	}
out:
	dtx_mem_free(stays);
}

/* --- rows of which nothing is wanted --- */

enum { UNWANTED_TEXTS = 12 };

static int hash_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The first column with a cell in a row; that of no column: the row is blank. */
static uint32_t row_first(const struct dtx_textgrid *g, int64_t r)
{
	uint32_t c;

	for (c = 0; c < g->ncols && !dtx_textgrid_at(g, r, c); c++)
		;
	return c;
}

/* Whether a row shows that it is no data: a label of totals, or few cells. An example may be a part
 * of what is wanted, so that a row is not in it says nothing. */
static bool row_apart(const struct dtx_textgrid *g, int64_t r, uint32_t first)
{
	uint32_t c, filled = 0;

	for (c = first; c < g->ncols; c++)
		filled += dtx_textgrid_at(g, r, c) != NULL;
	return filled < 2 || filled * 3 <= g->ncols ||
	       dtx_total_label_default(dtx_str_of(dtx_textgrid_at(g, r, first)));
}

/* Hashes of all names and cells, sorted. NULL: out of memory. */
static uint64_t *all_hashes(const struct dtx_textgrid *g, size_t *n)
{
	size_t cells = (size_t)g->nrows * g->ncols, i;
	uint64_t *hash = dtx_mem_zalloc(cells + g->ncols + 1, sizeof(*hash));

	*n = cells + g->ncols;
	for (i = 0; hash && i < *n; i++)
		hash[i] = dtx_textgrid_hash(i < cells ? g->cell[i] : g->name[i - cells]);
	if (hash)
		qsort(hash, *n, sizeof(*hash), hash_order);
	return hash;
}

/* Writes a condition for column c that leaves out its first cells of unwanted rows. False: they are
 * too many. */
static bool unwanted_where(const struct dtx_textgrid *raw, const struct dtx_textgrid *have,
                           const bool *stays, uint32_t c, int64_t from, int64_t to,
                           struct dtx_buf *out)
{
	int64_t seen[UNWANTED_TEXTS], r, k, n = 0;
	bool number = true;
	double x;

	for (r = 0; r < have->nrows; r++)
		number &= !dtx_textgrid_at(have, r, c) ||
		          dtx_textgrid_number(dtx_textgrid_at(have, r, c), &x);
	for (r = from; r < to; r++) {
		if (stays[r] || row_first(have, r) != c)
			continue;
		for (k = 0; k < n && strcmp(dtx_textgrid_at(raw, seen[k], c),
		                            dtx_textgrid_at(raw, r, c)) != 0;
		     k++)
			;
		if (k == UNWANTED_TEXTS)
			return false;
		if (k == n)
			seen[n++] = r;
	}
	for (k = 0; k < n; k++) {
		if (!k) {
			dtx_buf_add(out, out->len ? " and (" : "(");
			dtx_reshape_name(out, raw->name[c]);
			dtx_buf_add(out, " is null or not ");
			dtx_reshape_name(out, raw->name[c]);
		}
		dtx_buf_add(out, k ? ", " : " in (");
		put_literal(out, dtx_textgrid_at(raw, seen[k], c), number);
	}
	dtx_buf_add(out, n ? "))" : "");
	return true;
}

/* Contract in reshape.h. */
json_t *dtx_reshape_unwanted(const struct dtx_textgrid *raw, const struct dtx_textgrid *have,
                             const struct dtx_textgrid *want)
{
	json_t *steps = json_array();
	bool *stays = dtx_mem_zalloc((size_t)have->nrows + 1, sizeof(*stays)), ok = have->ncols > 1;
	int64_t head = 0, tail = have->nrows, gone = 0, blank = 0, r;
	struct dtx_buf where = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t n;
	uint64_t *hash = all_hashes(want, &n), cell;
	uint32_t c;

	for (r = 0; r < have->nrows && hash && stays; r++) {
		c = row_first(have, r);
		cell = c < have->ncols ? dtx_textgrid_hash(dtx_textgrid_at(have, r, c)) : 0;
		stays[r] = c < have->ncols && bsearch(&cell, hash, n, sizeof(*hash), hash_order);
		gone += c < have->ncols && !stays[r];
		ok = ok && (c == have->ncols || stays[r] || row_apart(have, r, c));
	}
	if (!hash || !stays || !gone || !ok || gone * 10 > have->nrows * 4)
		goto out;
	while (head < tail && !stays[head])
		head++;
	while (tail > head && !stays[tail - 1])
		tail--;
	for (r = head; r < tail; r++)
		blank += row_first(have, r) == have->ncols;
	for (c = 0; c < have->ncols && ok; c++)
		ok = unwanted_where(raw, have, stays, c, head, tail, &where);
	if (head)
		(void)json_array_append_new(
			steps, json_pack("{ss sI}", "op", "skip_rows", "head", (json_int_t)head));
	if (tail < have->nrows)
		(void)json_array_append_new(steps, json_pack("{ss sI}", "op", "skip_rows", "tail",
		                                             (json_int_t)(have->nrows - tail)));
	if (blank)
		(void)json_array_append_new(steps, json_pack("{ss}", "op", "drop_empty"));
	if (where.len && ok)
		(void)json_array_append_new(
			steps, json_pack("{ss ss}", "op", "filter", "where", dtx_buf_text(&where)));
out:
	dtx_buf_clear(&where);
	dtx_mem_free(hash);
	dtx_mem_free(stays);
	return steps;
}

/* --- section titles --- */

enum { TITLE_COLS = 4, TITLE_TEXTS = 60 };

/* The pattern of the titles: the values of wanted column w. */
static char *titles_pattern(struct dtx_reshape *s, uint32_t w)
{
	struct dtx_buf b = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	const char *last = NULL;
	char *out;
	int64_t r, k;

	dtx_buf_add(&b, "^\\s*(");
	for (r = 0; r < s->want->nrows; r++) {
		const char *text = dtx_textgrid_at(s->want, r, w);

		for (k = 0; k < r && text; k++) {
			if (dtx_textgrid_at(s->want, k, w) &&
			    !strcmp(dtx_textgrid_at(s->want, k, w), text))
				text = NULL;
		}
		if (!text)
			continue;
		dtx_buf_add(&b, last ? "|" : "");
		dtx_reshape_escape(&b, dtx_str_of(text));
		last = text;
	}
	dtx_buf_add(&b, ")\\s*$");
	out = dtx_arena_strdup(&s->arena, dtx_buf_text(&b));
	s->failed |= !out;
	dtx_buf_clear(&b);
	return out;
}

/* A wanted column whose values are cells of one column, in rows that are above those which are
 * wanted: titles, which may have cells beside them. */
void dtx_reshape_titles(struct dtx_reshape *s)
{
	uint32_t w, c;

	for (w = 0; w < s->want->ncols && !s->failed; w++) {
		if (!s->wants[w].n || s->wants[w].n > TITLE_TEXTS ||
		    s->wants[w].n * 2 > s->have->nrows || s->want->nrows * s->wants[w].n > 200000)
			continue;
		for (c = 0; c < s->have->ncols && c < TITLE_COLS; c++) {
			char *pattern;

			if (!dtx_reshape_subset(&s->wants[w], &s->has[c]) ||
			    s->wants[w].n == s->has[c].n)
				continue;
			pattern = titles_pattern(s, w);
			if (pattern)
				dtx_reshape_add(
					s, json_pack("{ss ss ss s{ss}}", "op", "subtitle_to_column",
				                     "as", s->want->name[w], "col",
				                     s->have->name[c], "match", "regex", pattern));
		}
	}
}
