/* Scores how similar names and schemas are, see similar_snippets.h. */
#include "core/fallback/similar_snippets.h"

#include <string.h>

#include "core/store/cache/snippet.h"

#define SIMILAR_COLUMNS 256 /* columns per table that are compared */
#define SIMILAR_OPEN    32  /* columns for which a partner is searched */
#define SIMILAR_WORDS   16

/* --- names --- */

static char similar_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool similar_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (unsigned char)c >= 0x80;
}

static size_t similar_words(const char *name, struct dtx_str word[SIMILAR_WORDS])
{
	size_t n = 0, len;

	while (*name && n < SIMILAR_WORDS) {
		while (*name && !similar_word(*name))
			name++;
		for (len = 0; similar_word(name[len]); len++)
			;
		if (len)
			word[n++] = (struct dtx_str){ name, len };
		name += len;
	}
	return n;
}

static bool similar_same(struct dtx_str a, struct dtx_str b)
{
	size_t i;

	for (i = 0; i < a.len && a.len == b.len; i++) {
		if (similar_lower(a.ptr[i]) != similar_lower(b.ptr[i]))
			return false;
	}
	return a.len == b.len;
}

static double similar_jaccard(const char *a, const char *b)
{
	struct dtx_str x[SIMILAR_WORDS], y[SIMILAR_WORDS];
	size_t n = similar_words(a, x), m = similar_words(b, y), both = 0, i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < m; k++) {
			if (similar_same(x[i], y[k])) {
				both++;
				break;
			}
		}
	}
	return n + m > both ? (double)both / (double)(n + m - both) : 0;
}

double dtx_similar_names(const char *a, const char *b)
{
	struct dtx_str x = dtx_str_of(a), y = dtx_str_of(b);
	size_t longer = DTX_MAX(x.len, y.len);
	double edit, words = similar_jaccard(a, b);

	if (!longer)
		return 1;
	edit = 1 - (double)dtx_str_distance(x, y, longer) / (double)longer;
	return DTX_MAX(edit, words);
}

/* --- schemas --- */

static const char *similar_at(const json_t *col, size_t i)
{
	const char *text = json_string_value(json_array_get(col, i));

	return text ? text : "";
}

static double similar_columns(const json_t *need, const json_t *have)
{
	const char *want = similar_at(need, 1), *got = similar_at(have, 1);
	double same = dtx_similar_names(similar_at(need, 0), similar_at(have, 0));

	if (!strcmp(want, got))
		return same;
	return same * (!strcmp(want, "any") || !strcmp(got, "any") ? 0.9 : 0.4);
}

/* One table: the columns that the code reads and those that are there, which of them are paired,
 * and how well the others would fit. */
struct similar_table {
	const json_t *need, *have;
	bool used_need[SIMILAR_COLUMNS], used_have[SIMILAR_COLUMNS];
	size_t nneed, nhave;
	size_t open[SIMILAR_OPEN],
		nopen; /* columns that are needed but not there under that name */
	float score[SIMILAR_OPEN][SIMILAR_COLUMNS];
};

/* Pairs the columns that have the same name and class. */
static double similar_kept(struct similar_table *t)
{
	double sum = 0;
	size_t i, k;

	for (i = 0; i < t->nneed; i++) {
		for (k = 0; k < t->nhave && !t->used_need[i]; k++) {
			if (t->used_have[k] ||
			    !json_equal(json_array_get(t->need, i), json_array_get(t->have, k)))
				continue;
			t->used_need[i] = t->used_have[k] = true;
			sum += 1;
		}
	}
	return sum;
}

static void similar_matrix(struct similar_table *t)
{
	size_t i, k;

	for (i = 0; i < t->nneed && t->nopen < SIMILAR_OPEN; i++) {
		if (t->used_need[i])
			continue;
		for (k = 0; k < t->nhave; k++)
			t->score[t->nopen][k] = (float)similar_columns(json_array_get(t->need, i),
			                                               json_array_get(t->have, k));
		t->open[t->nopen++] = i;
	}
}

/* Finds the best pair that is still free, as indices in `open` and `have`. Returns false if none
 * is left. */
static bool similar_best(const struct similar_table *t, size_t *open, size_t *have)
{
	float best = -1;
	size_t i, k;

	for (i = 0; i < t->nopen; i++) {
		for (k = 0; k < t->nhave && !t->used_need[t->open[i]]; k++) {
			if (t->used_have[k] || t->score[i][k] <= best)
				continue;
			best = t->score[i][k];
			*open = i;
			*have = k;
		}
	}
	return best >= 0;
}

static double similar_pairs(struct similar_table *t, struct dtx_similar_pair *pair, size_t max,
                            size_t *n)
{
	double sum = similar_kept(t);
	size_t open, have;

	similar_matrix(t);
	while (similar_best(t, &open, &have)) {
		size_t need = t->open[open];
		const char *a = similar_at(json_array_get(t->need, need), 0);
		const char *b = similar_at(json_array_get(t->have, have), 0);

		t->used_need[need] = t->used_have[have] = true;
		sum += (double)t->score[open][have];
		if (strcmp(a, b) && *n < max)
			pair[(*n)++] =
				(struct dtx_similar_pair){ a, b, (double)t->score[open][have] };
	}
	return sum;
}

double dtx_similar_score(const json_t *needs, const json_t *tables, struct dtx_similar_pair *pair,
                         size_t max, size_t *n)
{
	double sum = 0;
	size_t i, count = 0;
	json_t *table;

	*n = 0;
	json_array_foreach(json_object_get(needs, "tables"), i, table)
	{
		struct similar_table t = { .need = json_object_get(table, "cols") };

		t.have = dtx_snippet_cols(tables, dtx_json_text(table, "alias", ""));
		t.nneed = DTX_MIN(json_array_size(t.need), (size_t)SIMILAR_COLUMNS);
		t.nhave = DTX_MIN(json_array_size(t.have), (size_t)SIMILAR_COLUMNS);
		count += t.nneed;
		sum += similar_pairs(&t, pair, max, n);
	}
	return count ? sum / (double)count : 0;
}
