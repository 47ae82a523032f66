/* Maker for rows that are columns: a column of names of measures beside a column of their values.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest/propose/makers.h"
#include "core/base/memory/mem.h"

enum { KEYS_MAX = 30, WIDEN_ROWS = 2000 };

struct widen {
	uint32_t key, value; /* columns */
	const char *name[KEYS_MAX];
	double log_sum[KEYS_MAX];   /* of the numbers of a key */
	uint32_t numbers[KEYS_MAX]; /* how many these are */
	uint32_t rows[KEYS_MAX];
	uint32_t n;
	int64_t ids; /* distinct other cells of a row */
};

static int hash_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Hashes the cells of each row, without the value, and without the key unless `with_key`. Sorts. */
static void row_hashes(const struct dtx_makers *m, const struct widen *w, bool with_key,
                       uint64_t *hash)
{
	int64_t r;
	uint32_t c;

	for (r = 0; r < m->g->nrows; r++) {
		hash[r] = 7;
		for (c = 0; c < m->g->ncols; c++) {
			const char *text = dtx_textgrid_at(m->g, r, c);

			if (c != w->value && (with_key || c != w->key))
				hash[r] = hash[r] * 1099511628211U +
				          dtx_cell_hash(dtx_str_of(text ? text : ""));
		}
	}
	qsort(hash, (size_t)m->g->nrows, sizeof(*hash), hash_order);
}

static int64_t distinct(const uint64_t *hash, int64_t n)
{
	int64_t i, count = 0;

	for (i = 0; i < n; i++)
		count += !i || hash[i] != hash[i - 1];
	return count;
}

/* Collects the keys. False: they are too many, or blank. */
static bool widen_keys(const struct dtx_makers *m, struct widen *w)
{
	int64_t r;
	uint32_t k;
	double x;

	w->n = 0;
	for (r = 0; r < m->g->nrows; r++) {
		const char *text = dtx_textgrid_at(m->g, r, w->key);

		if (dtx_cell_blank(text))
			return false;
		for (k = 0; k < w->n && strcmp(w->name[k], text) != 0; k++)
			;
		if (k == KEYS_MAX)
			return false;
		if (k == w->n) {
			w->name[w->n++] = text;
			w->log_sum[k] = 0;
			w->numbers[k] = w->rows[k] = 0;
		}
		w->rows[k]++;
		if (dtx_kind_is_number(dtx_cell_kind(dtx_textgrid_at(m->g, r, w->value), &x))) {
			w->log_sum[k] += log10(fabs(x) + 1);
			w->numbers[k]++;
		}
	}
	return w->n >= 2;
}

/* Whether each combination of the other cells has each key at most once, and nearly all of them. */
static bool widen_complete(struct dtx_makers *m, struct widen *w)
{
	uint64_t *hash = dtx_mem_zalloc((size_t)m->g->nrows + 1, sizeof(*hash));
	bool once = false;

	m->failed |= !hash;
	if (hash) {
		row_hashes(m, w, true, hash);
		once = distinct(hash, m->g->nrows) == m->g->nrows;
	}
	if (once) {
		row_hashes(m, w, false, hash);
		w->ids = distinct(hash, m->g->nrows);
		once = w->ids >= 2 && m->g->nrows * 10 >= w->ids * w->n * 9;
	}
	dtx_mem_free(hash);
	return once;
}

/* Whether a list of words has this name, in capitals or not. */
static bool head_in(const char *name, const char *words)
{
	char head[32];
	size_t i;

	dtx_str_copy(head, sizeof(head), dtx_str_of(name));
	for (i = 0; head[i]; i++)
		head[i] = (char)(head[i] >= 'A' && head[i] <= 'Z' ? head[i] | 32 : head[i]);
	return dtx_str_in_list(words, head);
}

static void widen_try(struct dtx_makers *m, struct widen *w)
{
	static const char heads[] =
		"type,variable,key,field,attribute,measure,metric,indicator,parameter,"
		"item,statistic,var_type,var,property,characteristic,measurement,name";
	struct dtx_like_names names;
	uint32_t k, words = 0, texts = 0;
	double low = INFINITY, high = -INFINITY, score;
	bool valued;

	if (!widen_keys(m, w) || !widen_complete(m, w))
		return;
	names = dtx_like_names(w->name, w->n);
	if (names.what || names.score >= 0.8)
		return;
	for (k = 0; k < w->n; k++) {
		words += dtx_like_attribute(w->name[k]);
		texts += w->numbers[k] * 2 < w->rows[k];
		if (!w->numbers[k])
			continue;
		low = DTX_MIN(low, w->log_sum[k] / w->numbers[k]);
		high = DTX_MAX(high, w->log_sum[k] / w->numbers[k]);
	}
	valued = head_in(m->g->name[w->value], "value,values,val,amount,obs_value,measurement");
	score = 0.3 + (head_in(m->g->name[w->key], heads) ? 0.22 : 0) + 0.2 * words / w->n +
	        (texts && texts < w->n ? 0.25
	         : high - low > 0.7    ? 0.2
	                               : 0) +
	        (w->ids >= 3 ? 0.05 : 0) + (valued ? 0.1 : 0);
	dtx_makers_add(m, "widen",
	               json_pack("{ss s[s] s[s]}", "op", "pivot_wider", "names_from",
	                         m->g->name[w->key], "values_from", m->g->name[w->value]),
	               DTX_MIN(score, 0.79),
	               "'%.40s' has %u names, such as '%.40s'%s, each with a value in '%.40s' for "
	               "nearly all of %lld combinations of the other columns",
	               m->g->name[w->key], w->n, w->name[0],
	               dtx_makers_place(m, w->key, w->name[0]), m->g->name[w->value],
	               (long long)w->ids);
}

void dtx_make_widen(struct dtx_makers *m)
{
	uint32_t key, value, cols = m->g->ncols;

	if (m->headerless || cols < 3 || cols > 12 || m->g->nrows > WIDEN_ROWS || m->g->nrows < 4)
		return;
	for (value = 1; value < cols; value++)
		for (key = value == 1 ? 0 : value - 2; key < value && !m->failed; key++) {
			struct widen w = { .key = key, .value = value };

			if (m->col[key].kind >= DTX_LOOKS_CODE &&
			    m->col[key].words.n * 2 <= m->col[key].filled)
				widen_try(m, &w);
		}
}
