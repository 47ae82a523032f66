/* Makers for rows that are not one observation each: key and value rows, section titles, labels
 * that are written once. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/suggest/example/reshape.h"
#include "cli/suggest/propose/makers.h"
#include "core/base/text/utf8.h"

static const char *cell(const struct dtx_makers *m, int64_t row, uint32_t col)
{
	const char *text = dtx_textgrid_at(m->g, row, col);

	return text && dtx_utf8_is_blank(dtx_str_of(text)) ? NULL : text;
}

/* --- records --- */

enum { KEYS_MAX = 64, FILL_COLS = 5, SUMS_MAX = 60 };

struct record_keys {
	struct dtx_str key[KEYS_MAX]; /* in the order of their first occurrence */
	uint64_t hash[KEYS_MAX];
	uint32_t n;
	int64_t rows, records, whole; /* rows with keys; records; those with all keys */
	int64_t values;               /* rows with a value */
	int64_t apart;                /* records with a blank row before them */
	int64_t led;                  /* records that begin with the first key */
	bool ordered;                 /* the keys have the same order in all records */
	uint32_t numbers;             /* keys that are numbers or dates */
};

/* The key of a row: the first cell, or its text before `sep`. False: the row has none. */
static bool record_key(const struct dtx_makers *m, int64_t row, uint32_t col, const char *sep,
                       struct dtx_str *key)
{
	const char *text = row < 0 ? m->g->name[col] : cell(m, row, col), *cut;

	if (!text)
		return false;
	cut = sep ? strstr(text, sep) : text + strlen(text);
	if (!cut || cut == text)
		return false;
	*key = (struct dtx_str){ text, (size_t)(cut - text) };
	return true;
}

static bool record_keys(const struct dtx_makers *m, uint32_t col, uint32_t value, const char *sep,
                        struct record_keys *k)
{
	bool seen[KEYS_MAX] = { false }, blank = false;
	uint32_t last = 0, i, have = 0;
	int64_t sizes[KEYS_MAX + 1] = { 0 }; /* records by the number of their keys */
	struct dtx_str key;
	int64_t r;
	double n;

	*k = (struct record_keys){ .ordered = true };
	for (r = 0; r < m->g->nrows; r++) {
		uint64_t hash;

		if (!cell(m, r, col)) {
			blank = true;
			continue;
		}
		if (!record_key(m, r, col, sep, &key))
			return false;
		hash = dtx_cell_hash(key);
		for (i = 0; i < k->n && k->hash[i] != hash; i++)
			;
		if (i == KEYS_MAX || key.len > 40)
			return false;
		if (!k->rows || seen[i]) { /* the next record */
			memset(seen, 0, sizeof(seen));
			sizes[have]++;
			have = last = 0;
			k->apart += blank;
			k->records++;
			k->led += !i;
		}
		blank = false;
		k->ordered &= i >= last;
		last = i;
		seen[i] = true;
		have++;
		k->rows++;
		k->values +=
			sep ? dtx_utf8_trim(dtx_str_of(key.ptr + key.len + strlen(sep))).len > 0
			    : cell(m, r, value) != NULL;
		if (i == k->n) {
			char text[48];
			enum dtx_cell_kind kind;

			k->key[k->n] = key;
			k->hash[k->n++] = hash;
			dtx_str_copy(text, sizeof(text), key);
			kind = dtx_cell_kind(text, &n);
			k->numbers += dtx_kind_is_number(kind) || kind == DTX_LOOKS_DATE ||
			              kind == DTX_LOOKS_MONTH;
		}
	}
	sizes[have]++;
	k->whole = sizes[k->n];
	/* a header that is a key too is no header, but the first row */
	if (!m->headerless && record_key(m, -1, col, sep, &key)) {
		for (i = 0; i < k->n; i++) {
			if (k->hash[i] == dtx_cell_hash(key))
				return false;
		}
	}
	return k->n >= 2 && k->records >= 2 && k->values * 2 > k->rows;
}

static void records_add(struct dtx_makers *m, uint32_t col, uint32_t value, const char *sep,
                        const struct record_keys *k)
{
	double score = 0.97;
	bool apart = k->apart + 1 >= k->records || (k->led == k->records && k->ordered);
	json_t *step = json_pack("{ss ss}", "op", "pivot_records", "key", m->g->name[col]);

	if (sep)
		m->failed |= !dtx_json_set(step, "sep", json_string(sep));
	else
		m->failed |= !dtx_json_set(step, "value", json_string(m->g->name[value]));
	/* Few keys, each with the same kind of value, can be a series written one below the other.
	 */
	score -= k->numbers ? 0.5 : 0;
	score -= k->whole < 2 && !apart ? 0.3 : 0;
	score -= k->ordered || apart ? 0 : 0.2;
	score -= k->whole * 2 < k->records && !apart ? 0.35 : 0;
	score -= k->n == 2 ? 0.1 : 0;
	dtx_makers_add(m, "records", step, score,
	               "%lld records of %u keys, %lld of them with all: '%.*s'%s, '%.*s'%s",
	               (long long)k->records, k->n, (long long)k->whole, (int)k->key[0].len,
	               k->key[0].ptr, dtx_makers_place(m, col, cell(m, 0, col)), (int)k->key[1].len,
	               k->key[1].ptr, k->n > 2 ? " and so on" : "");
}

enum { BLOCK_MAX = 12 };

/* The mean share of the most frequent kind among the cells at each place in blocks of n rows. */
static double lines_pure(const struct dtx_makers *m, uint32_t col, int64_t n)
{
	double sum = 0, number;
	int64_t place, r;

	for (place = 0; place < n; place++) {
		uint32_t kinds[DTX_LOOKS_KINDS] = { 0 }, most = 0, k;

		for (r = place; r < m->g->nrows; r += n)
			kinds[dtx_cell_kind(cell(m, r, col), &number)]++;
		for (k = 1; k < DTX_LOOKS_KINDS; k++)
			most = DTX_MAX(most, kinds[k]);
		sum += (double)most * (double)n / (double)m->g->nrows;
	}
	return sum / (double)n;
}

/* One column with a fixed number of lines for each record: name, street, town, name, ... */
static void records_lines(struct dtx_makers *m, uint32_t col)
{
	double whole = lines_pure(m, col, 1), best = 0, pure;
	int64_t n, every = 0;

	for (n = 2; n <= BLOCK_MAX && n * 3 <= m->g->nrows; n++) {
		pure = m->g->nrows % n ? 0 : lines_pure(m, col, n);
		if (pure > best + 0.02) {
			best = pure;
			every = n;
		}
	}
	if (best >= 0.9 && m->col[col].filled == m->col[col].rows)
		dtx_makers_add(
			m, "records",
			json_pack("{ss sI}", "op", "unstack_blocks", "every", (json_int_t)every),
			0.5 + 0.5 * (best - whole),
			"%lld rows are %lld blocks of %lld lines: cells at the same place are of "
			"one kind in %.0f %%, all in %.0f %%, such as '%.40s'%s",
			(long long)m->g->nrows, (long long)(m->g->nrows / every), (long long)every,
			100 * best, 100 * whole, cell(m, 0, col),
			dtx_makers_place(m, col, cell(m, 0, col)));
}

void dtx_make_records(struct dtx_makers *m)
{
	static const char *const seps[] = { ": ", ":", "=", " - ", "\t" };
	uint32_t used[3], n = 0, c;
	struct record_keys k;
	size_t i;

	for (c = 0; c < m->g->ncols && n < 3; c++) {
		if (m->col[c].filled)
			used[n++] = c;
	}
	if (n == 2 && record_keys(m, used[0], used[1], NULL, &k))
		records_add(m, used[0], used[1], NULL, &k);
	for (i = 0; n == 1 && i < DTX_COUNT(seps); i++) {
		if (!record_keys(m, used[0], 0, seps[i], &k))
			continue;
		records_add(m, used[0], 0, seps[i], &k);
		break;
	}
	if (n == 1 && i == DTX_COUNT(seps) && m->headerless && m->g->ncols == 1)
		records_lines(m, used[0]);
}

/* --- section titles --- */

struct titles {
	uint32_t col;
	int64_t n, runs, blank; /* titles; runs of them; blank rows */
	int64_t first;          /* row of the first title; -1: none */
	int64_t others, full;   /* other rows; those with most cells filled */
	int64_t labels;         /* other rows with a cell in the column */
	bool last;              /* the last row is one */
	bool untitled;          /* rows above the first title have labels that recur after titles */
	bool stray;             /* rows with one cell in another column */
	bool marked;      /* what follows the titles, or their form, says that they are titles */
	const char *word; /* a word for nothing beside a title, as "NA"; NULL: none */
};

/* The number of cells of a row that have a value; "NA" and "-" are none. */
static uint32_t row_filled(const struct dtx_makers *m, int64_t r, uint32_t *at)
{
	uint32_t c, n = 0;

	for (c = 0; c < m->g->ncols; c++) {
		if (dtx_cell_blank(dtx_textgrid_at(m->g, r, c)))
			continue;
		*at = n++ ? *at : c;
	}
	return n;
}

static void titles_count(const struct dtx_makers *m, struct titles *t)
{
	uint32_t at = 0, filled;
	bool before = false;
	int64_t r;

	*t = (struct titles){ .first = -1 };
	for (r = 0; r < m->g->nrows; r++) {
		filled = row_filled(m, r, &at);
		if (!filled) {
			t->blank++;
			continue;
		}
		if (filled == 1) {
			uint32_t c;

			if (!t->n)
				t->col = at;
			for (c = 0; c < m->g->ncols; c++)
				t->word = c != at && cell(m, r, c) ? cell(m, r, c) : t->word;
			t->stray |= at != t->col;
			t->first = t->n++ ? t->first : r;
			t->runs += !before;
		} else {
			t->others++;
			t->full += filled * 10 >= m->g->ncols * 6;
		}
		before = filled == 1;
	}
	for (r = 0; r < m->g->nrows; r++)
		t->labels += row_filled(m, r, &at) > 1 && cell(m, r, t->col);
	t->last = before;
}

static bool is_capitals(const char *text)
{
	size_t i, letters = 0;

	for (i = 0; text[i]; i++) {
		if (islower((unsigned char)text[i]) || (unsigned char)text[i] >= 0x80)
			return false;
		letters += isupper((unsigned char)text[i]) != 0;
	}
	return letters > 2;
}

/* Whether labels recur after different titles but not after the same one, or all titles, and no
 * labels, are in capitals or end with a colon. */
static bool titles_marked(const struct dtx_makers *m, struct titles *t)
{
	int64_t r, q, rows = DTX_MIN(m->g->nrows, 300), titles = 0, capitals = 0, colons = 0;
	int64_t labels = 0, again = 0, twice = 0, section[300] = { 0 };
	uint32_t at = 0;

	for (r = 0; r < rows; r++) {
		const char *text = cell(m, r, t->col);
		bool title = text && row_filled(m, r, &at) == 1, other = false;

		section[r] = (r ? section[r - 1] : 0) + title;
		if (!text)
			continue;
		titles += title;
		capitals += title ? is_capitals(text) : is_capitals(text) ? -1 : 0;
		colons += title                           ? text[strlen(text) - 1] == ':'
		          : text[strlen(text) - 1] == ':' ? -1
		                                          : 0;
		labels += !title;
		for (q = 0; q < r && !title; q++) {
			const char *before = cell(m, q, t->col);

			if (!before || strcmp(before, text) != 0)
				continue;
			twice += section[q] == section[r];
			other |= section[q] != section[r];
			t->untitled |= !section[q] && section[r];
		}
		again += other;
	}
	return titles > 1 && (capitals == titles || colons == titles ||
	                      (again * 10 >= labels && again && !twice));
}

/* The number of rows after row r whose sums are its numbers, in all columns but the first; 0: there
 * are no such rows. */
static int64_t sums_below(const struct dtx_makers *m, int64_t r)
{
	int64_t q, last = 0;
	uint32_t c;

	for (c = 1; c < m->g->ncols; c++) {
		double want, sum = 0, x;

		(void)dtx_cell_kind(dtx_textgrid_at(m->g, r, c), &want);
		for (q = r + 1; q < m->g->nrows && (c == 1 || q <= last); q++) {
			if (!dtx_kind_is_number(dtx_cell_kind(dtx_textgrid_at(m->g, q, c), &x)))
				return 0;
			sum += x;
			if (c == 1 && q > r + 1 && fabs(sum - want) <= 1e-6 * fabs(want))
				break;
		}
		if (c == 1)
			last = q;
		if (last == m->g->nrows || fabs(sum - want) > 1e-6 * fabs(want))
			return 0;
	}
	return last - r;
}

/* Rows that are titles and have the sums of the rows below them, as in a pivot table. The last row
 * can be the sum of all. */
static void titles_sums(struct dtx_makers *m)
{
	struct dtx_buf b = DTX_BUF_INIT(1 << 16);
	int64_t r = 0, n = 0, below;
	json_t *step;

	dtx_buf_add(&b, "^\\s*(");
	while (r < m->g->nrows && n < SUMS_MAX && cell(m, r, 0) && (below = sums_below(m, r)) > 0) {
		dtx_buf_add(&b, n++ ? "|" : "");
		dtx_reshape_escape(&b, dtx_utf8_trim(dtx_str_of(cell(m, r, 0))));
		r += below + 1;
	}
	dtx_buf_add(&b, ")\\s*$");
	if (n >= 2 && r + 1 >= m->g->nrows) {
		step = json_pack("{ss ss s{ss}}", "op", "subtitle_to_column", "as",
		                 dtx_makers_name(m, "section"), "match", "regex", dtx_buf_text(&b));
		dtx_makers_add(m, "titles", step, 0.85,
		               "%lld rows have the sums of the rows below them, such as '%.40s'%s",
		               (long long)n, cell(m, 0, 0), dtx_makers_place(m, 0, cell(m, 0, 0)));
		if (r < m->g->nrows && !m->failed)
			m->failed |= json_array_insert_new(m->list[m->n - 1].steps, 0,
			                                   json_pack("{ss si}", "op", "skip_rows",
			                                             "tail", 1)) < 0;
	}
	dtx_buf_clear(&b);
}

void dtx_make_titles(struct dtx_makers *m)
{
	struct titles t;
	json_t *step;
	double score;

	if (m->g->ncols < 2 || m->headerless)
		return;
	titles_sums(m);
	titles_count(m, &t);
	if (!t.n || t.stray || t.others < 2 || (t.col > 1 && t.col + 1 < m->g->ncols) ||
	    t.n > t.others)
		return;
	t.marked = titles_marked(m, &t);
	score = 0.35 +
	        (t.first == 0 ? 0.30
	         : t.marked   ? 0.15
	                      : 0) +
	        (t.marked ? 0.15 : 0) + (t.runs > 1 ? 0.15 : 0) + (!t.labels ? 0.10 : 0) +
	        (t.full * 10 >= t.others * 8 ? 0.10 : 0);
	score += t.first == 0 && t.runs > 2 && t.runs == t.n ? 0.06 : 0;
	score -= m->g->ncols == 2 ? 0.25 : 0;
	score -= t.n == 1 && t.last ? 0.5 : 0;
	score -= t.last ? 0.1 : 0;
	step = json_pack("{ss ss}", "op", "subtitle_to_column", "as",
	                 dtx_makers_name(m, "section"));
	if (t.col)
		m->failed |= !dtx_json_set(step, "col", json_string(m->g->name[t.col]));
	dtx_makers_add(m, "titles", step, score,
	               "%lld of %lld rows have one cell alone, in '%.40s', such as '%.40s'%s",
	               (long long)t.n, (long long)m->g->nrows, m->g->name[t.col],
	               cell(m, t.first, t.col),
	               dtx_makers_place(m, t.col, cell(m, t.first, t.col)));
	if (!m->failed) {
		m->list[m->n - 1].null_word = t.word;
		/* then the first title is above the header, perhaps */
		m->list[m->n - 1].doubtful = t.untitled;
	}
	if (!t.labels && !m->failed) /* the titles have left an empty column */
		m->failed |= json_array_append_new(m->list[m->n - 1].steps,
		                                   json_pack("{ss s[s]}", "op", "drop", "cols",
		                                             m->g->name[t.col])) < 0;
}

/* --- labels that are written once --- */

struct labels {
	int64_t n, gaps, alone, distinct, blank; /* blank: rows without any cell */
	int64_t gap;                             /* row of the first gap */
};

static void labels_count(const struct dtx_makers *m, uint32_t col, struct labels *l)
{
	uint32_t at = 0;
	int64_t r, q;

	*l = (struct labels){ .gap = -1 };
	for (r = 0; r < m->g->nrows; r++) {
		const char *text = cell(m, r, col);
		uint32_t filled = row_filled(m, r, &at);

		if (!text && filled) {
			l->gap = l->gaps++ ? l->gap : r;
			continue;
		}
		l->blank += !filled;
		if (!text)
			continue;
		l->n++;
		l->alone += filled == 1;
		for (q = r - 1; q >= 0 && q > r - 500; q--) {
			const char *other = cell(m, q, col);

			if (other && !strcmp(other, text))
				break;
		}
		l->distinct += q < 0 || q <= r - 500;
	}
}

/* Whether the column is filled wherever `lead` is, and has gaps elsewhere; numbers must have
 * exactly the same gaps. */
static bool fills_with(const struct dtx_makers *m, uint32_t lead, uint32_t col)
{
	bool number = dtx_kind_is_number(m->col[col].kind);
	int64_t r, gaps = 0;
	uint32_t at = 0;

	for (r = 0; r < m->g->nrows; r++) {
		if (cell(m, r, lead) && !cell(m, r, col) && row_filled(m, r, &at) > 1)
			return false;
		if (number && !cell(m, r, lead) && cell(m, r, col))
			return false;
		gaps += !cell(m, r, col) && row_filled(m, r, &at);
	}
	return gaps * 5 >= m->g->nrows;
}

/* Merged labels above their rows: all cells of the range but the first are blank. */
static void fill_merged(struct dtx_makers *m)
{
	json_t *cols = json_array();
	uint64_t cells = 0;
	uint32_t c, first = 0;

	for (c = 0; m->place && !m->second && c < m->g->ncols && c < m->place->schema->nfields;
	     c++) {
		if (!m->place->stat[c].merged)
			continue;
		first = cells ? first : c;
		cells += m->place->stat[c].merged;
		m->failed |= json_array_append_new(cols, json_string(m->g->name[c])) != 0;
	}
	if (cells)
		dtx_makers_add(
			m, "fill",
			json_pack("{ss sO ss}", "op", "fill", "cols", cols, "only", "merged"), 0.95,
			"%llu cells of '%.40s' lie inside merged ranges, such as below '%.40s'%s",
			(unsigned long long)cells, m->g->name[first], dtx_makers_first(m, first),
			dtx_makers_place(m, first, dtx_makers_first(m, first)));
	json_decref(cols);
}

void dtx_make_fill(struct dtx_makers *m)
{
	const struct dtx_textgrid *g = m->g;
	struct labels l;
	json_t *cols;
	double score;
	uint32_t c = 0, lead = 0, mixed = 0, others = 0;

	if (m->headerless)
		return;
	fill_merged(m);
	while (lead + 1 < g->ncols &&
	       (!m->col[lead].filled || (!lead && dtx_makers_numbers_rows(m, lead))))
		lead++;
	if (lead + 1 >= g->ncols || !cell(m, 0, lead) ||
	    (m->place && !m->second && lead < m->place->schema->nfields &&
	     m->place->stat[lead].merged))
		return;
	labels_count(m, lead, &l);
	if (!l.n || !l.gaps || (l.n == 1 && l.gaps < 2))
		return;
	score = 0.45 + 0.3 * DTX_MIN(1.0, (double)l.gaps / (double)(l.n + l.gaps) / 0.4) +
	        0.1 * (double)l.distinct / (double)l.n;
	score -= l.distinct * 10 < l.n * 9 ? 0.35 : 0;
	score -= l.alone * 2 > l.n ? 0.4 : 0;
	score -= m->col[lead].kind == DTX_LOOKS_NUMBER && m->col[lead].whole < 1 ? 0.3 : 0;
	score += l.distinct == l.n && l.gaps > l.n && !l.alone ? 0.05 : 0;
	score -= l.gaps == 1 && l.n > 2 ? 0.15 : 0; /* one blank is a missing value */
	/* rows of several kinds below each other are no rows of one table */
	for (c = lead + 1; c < g->ncols; c++) {
		mixed += m->col[c].filled && m->col[c].pure < 0.75;
		others += m->col[c].filled > 0;
	}
	score -= mixed * 2 > others ? 0.2 : 0;
	cols = json_pack("[s]", g->name[lead]);
	for (c = lead + 1; c + 1 < g->ncols && c < lead + FILL_COLS &&
	                   (fills_with(m, lead, c) || (c > lead + 1 && fills_with(m, c - 1, c))) &&
	                   (!dtx_kind_is_number(m->col[c].kind) || m->col[c].whole >= 1);
	     c++)
		m->failed |= json_array_append_new(cols, json_string(g->name[c])) != 0;
	/* one label for all rows: only several of them are no chance */
	if (l.n == 1)
		score = json_array_size(cols) > 1 ? score : DTX_MIN(score, 0.75);
	dtx_makers_add(
		m, "fill", json_pack("{ss so}", "op", "fill", "cols", cols), score,
		"'%.40s' has %lld labels with %lld blank cells below them, such as below '%.40s'%s",
		g->name[lead], (long long)l.n, (long long)l.gaps, cell(m, 0, lead),
		dtx_makers_place(m, lead, cell(m, 0, lead)));
	/* the next column may be one of labels, too */
	if (c + 1 < g->ncols && m->col[c].kind >= DTX_LOOKS_CODE && cell(m, 0, c) &&
	    m->col[c].filled * 10 < m->col[c].rows * 8 && !m->failed)
		m->list[m->n - 1].doubtful = true;
}
