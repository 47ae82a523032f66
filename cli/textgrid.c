/* Small tables as texts, see textgrid.h. */
#include "cli/textgrid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash/hash.h"
#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/base/text/num.h"
#include "core/data/cast/cast.h"

static enum dtx_code grid_cell(struct dtx_textgrid *g, const struct dtx_column *c, uint32_t row,
                               struct dtx_buf *text, const char **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = NULL;
	if (!c || dtx_column_is_null(c, row))
		goto out;
	dtx_buf_reset(text);
	dtx_cast_print(c, row, text);
	DTX_TRY(dtx_buf_check(text, "cell", err));
	if (!text->len) {
		g->empty_texts = true;
		goto out;
	}
	*out = dtx_arena_strndup(&g->arena, text->ptr, text->len);
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

enum dtx_code dtx_textgrid_make(struct dtx_textgrid *g, const struct dtx_table *t,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_buf text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX);
	size_t b, n = 0;
	uint32_t i, c;

	g->ncols = t->schema->nfields;
	g->nrows = t->nrows;
	if (g->ncols && g->nrows > DTX_TEXTGRID_CELLS / g->ncols)
		DTX_FAIL(err, DTX_E_CELL_LIMIT, "%lld rows are too many to try plans on",
		         (long long)g->nrows);
	g->name = dtx_arena_alloc(&g->arena, g->ncols + 1u, sizeof(*g->name));
	g->cell = dtx_arena_alloc(&g->arena, (size_t)g->nrows * g->ncols + 1, sizeof(*g->cell));
	if (!g->name || !g->cell)
		DTX_FAIL_MEM(err);
	for (c = 0; c < g->ncols; c++) {
		g->name[c] = dtx_arena_strdup(&g->arena, t->schema->field[c].name);
		if (!g->name[c])
			DTX_FAIL_MEM(err);
	}
	for (b = 0; b < t->nbatches; b++) {
		const struct dtx_batch *batch = t->batch[b];

		for (i = 0; i < batch->nsel; i++)
			for (c = 0; c < g->ncols; c++)
				DTX_TRY(grid_cell(g, batch->col[c], batch->sel ? batch->sel[i] : i,
				                  &text, &g->cell[n++], err));
	}
out:
	dtx_buf_clear(&text);
	return rc;
}

void dtx_textgrid_clear(struct dtx_textgrid *g)
{
	dtx_arena_clear(&g->arena);
	*g = (struct dtx_textgrid)DTX_TEXTGRID_INIT;
}

const char *dtx_textgrid_at(const struct dtx_textgrid *g, int64_t row, uint32_t col)
{
	return g->cell[(size_t)row * g->ncols + col];
}

int32_t dtx_textgrid_find(const struct dtx_textgrid *g, const char *name)
{
	uint32_t c;

	for (c = 0; c < g->ncols; c++) {
		if (!strcmp(g->name[c], name))
			return (int32_t)c;
	}
	return -1;
}

static void grid_csv_cell(const char *text, struct dtx_buf *out)
{
	bool quoted = text && (strpbrk(text, ",\"\r\n") || !text[0]);

	if (!quoted) {
		dtx_buf_add(out, text ? text : "");
		return;
	}
	dtx_buf_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			dtx_buf_addc(out, '"');
		dtx_buf_addc(out, *text);
	}
	dtx_buf_addc(out, '"');
}

void dtx_textgrid_csv(const struct dtx_textgrid *g, struct dtx_buf *out)
{
	int64_t r;
	uint32_t c;

	for (r = -1; r < g->nrows; r++) {
		for (c = 0; c < g->ncols; c++) {
			if (c)
				dtx_buf_addc(out, ',');
			grid_csv_cell(r < 0 ? g->name[c] : dtx_textgrid_at(g, r, c), out);
		}
		dtx_buf_addc(out, '\n');
	}
}

/* Returns a folded copy, the text if it needs no change, or NULL for a missing value. */
static const char *grid_fold(struct dtx_textgrid *g, const char *text)
{
	static const char words[] = "nan,NaN,NAN,none,None,NONE,null,NULL,Null,n/a,N/A,NA,NaT,<NA>";
	struct dtx_str t = dtx_utf8_trim(dtx_str_of(text));
	size_t i, n = 0;
	bool same = t.len == strlen(text);
	char *out;

	if (!t.len)
		return NULL;
	/* spaces outside ASCII are looked for below */
	for (i = 0; i < t.len && same; i++)
		same = !strchr("\t\n\r\v\f", t.ptr[i]) &&
		       !(t.ptr[i] == ' ' && t.ptr[i + 1] == ' ') && (unsigned char)t.ptr[i] < 0x80;
	if (same && (t.len == 4 || t.len == 5) && dtx_str_in_list("True,TRUE,False,FALSE", text))
		return (t.ptr[0] | 32) == 't' ? "true" : "false";
	if (same)
		return dtx_str_in_list(words, text) ? NULL : text;
	out = dtx_arena_strndup(&g->arena, t.ptr, t.len);
	for (i = 0; out && i < t.len;) {
		size_t from = i;

		if (dtx_utf8_is_space(dtx_utf8_next(t.ptr, t.len, &i))) {
			if (n && out[n - 1] != ' ')
				out[n++] = ' ';
		} else {
			memmove(out + n, t.ptr + from, i - from);
			n += i - from;
		}
	}
	if (out)
		out[n] = '\0';
	if (out && dtx_str_in_list(words, out))
		return NULL;
	return out ? out : text;
}

void dtx_textgrid_fold(struct dtx_textgrid *g)
{
	size_t i, n = (size_t)g->nrows * g->ncols;

	for (i = 0; i < n; i++) {
		if (g->cell[i])
			g->cell[i] = grid_fold(g, g->cell[i]);
	}
}

static bool grid_has(const struct dtx_textgrid *g, const char *text)
{
	size_t i, n = (size_t)g->nrows * g->ncols;

	for (i = 0; i < n; i++) {
		if (g->cell[i] && !strcmp(g->cell[i], text))
			return true;
	}
	return false;
}

static bool list_has(const json_t *list, const char *text)
{
	json_t *word;
	size_t k;

	json_array_foreach((json_t *)(uintptr_t)list, k, word)
	{
		if (!strcmp(json_string_value(word), text))
			return true;
	}
	return false;
}

void dtx_textgrid_null_words(struct dtx_textgrid *g, const struct dtx_textgrid *but, json_t *list)
{
	size_t i, n = (size_t)g->nrows * g->ncols;
	json_t *kept = json_array();

	for (i = 0; i < n; i++) {
		const char *text = g->cell[i];

		if (!text || strlen(text) > 4 || grid_fold(g, text) || list_has(kept, text))
			continue;
		if (!list_has(list, text))
			(void)json_array_append_new(grid_has(but, text) ? kept : list,
			                            json_string(text));
		if (list_has(list, text))
			g->cell[i] = NULL;
	}
	json_decref(kept);
}

/* --- equality --- */

bool dtx_textgrid_number(const char *text, double *out)
{
	char *end;

	if (!text || !strchr("+-.0123456789", text[0]))
		return false;
	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out);
}

bool dtx_textgrid_rounded(double got, const char *want, int *digits)
{
	const char *point = want ? strchr(want, '.') : NULL;
	int n = point ? (int)strlen(point + 1) : 0;
	double x;

	if (!dtx_textgrid_number(want, &x) || !isfinite(got))
		return false;
	if (fabs(got - x) <= 1e-9 * (fabs(got) + fabs(x)))
		return true;
	*digits = DTX_MAX(*digits, n);
	return point && n < 9 && fabs(got - x) <= 0.5000001 * pow(10, -n);
}

bool dtx_textgrid_same(const char *a, const char *b)
{
	double x, y;

	if (!a || !b)
		return !a && !b;
	if (!strcmp(a, b))
		return true;
	return dtx_textgrid_number(a, &x) && dtx_textgrid_number(b, &y) &&
	       fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y));
}

uint64_t dtx_textgrid_hash(const char *text)
{
	double x;
	int power;

	if (!text)
		return 1;
	if (!dtx_textgrid_number(text, &x))
		return dtx_hash64(text, strlen(text), 0);
	x = frexp(x, &power); /* 30 bits are nine digits */
	return dtx_hash_mix((uint64_t)llround(ldexp(x, 30)), (uint64_t)(int64_t)power + 2);
}

static int grid_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

uint64_t *dtx_textgrid_rows(const struct dtx_textgrid *g, const uint32_t *col, uint32_t ncols)
{
	uint64_t *row = dtx_mem_zalloc((size_t)g->nrows + 1, sizeof(*row));
	int64_t r;
	uint32_t c;

	for (r = 0; row && r < g->nrows; r++) {
		for (c = 0; c < ncols; c++) {
			uint64_t hash = dtx_textgrid_hash(dtx_textgrid_at(g, r, col ? col[c] : c));

			row[r] = c ? dtx_hash_mix(row[r], hash) : hash;
		}
	}
	if (row && g->nrows)
		qsort(row, (size_t)g->nrows, sizeof(*row), grid_order);
	return row;
}

static bool grid_in_order(const struct dtx_textgrid *g, const uint32_t *col, int64_t from,
                          const struct dtx_textgrid *want)
{
	int64_t r;
	uint32_t c;

	for (r = 0; r < want->nrows; r++) {
		for (c = 0; c < want->ncols; c++) {
			if (!dtx_textgrid_same(dtx_textgrid_at(g, from + r, col[c]),
			                       dtx_textgrid_at(want, r, c)))
				return false;
		}
	}
	return true;
}

/* Whether the wanted rows are consecutive. */
static bool grid_stretch(const struct dtx_textgrid *g, const uint32_t *col,
                         const struct dtx_textgrid *want)
{
	for (int64_t r = 0; r + want->nrows <= g->nrows; r++) {
		if (grid_in_order(g, col, r, want))
			return true;
	}
	return false;
}

bool dtx_textgrid_within(const uint64_t *a, int64_t na, const uint64_t *b, int64_t nb)
{
	int64_t i = 0, k = 0;

	while (k < nb && i < na) {
		if (a[i] > b[k])
			return false;
		k += a[i] == b[k];
		i++;
	}
	return k == nb;
}

double dtx_textgrid_match(const struct dtx_textgrid *g, const uint32_t *col,
                          const struct dtx_textgrid *want)
{
	uint64_t *a, *b;
	bool within;

	if (g->nrows < want->nrows || (g->nrows > want->nrows && !want->nrows))
		return 0;
	if (g->nrows == want->nrows && grid_in_order(g, col, 0, want))
		return 1;
	a = dtx_textgrid_rows(g, col, want->ncols);
	b = dtx_textgrid_rows(want, NULL, want->ncols);
	within = a && b && dtx_textgrid_within(a, g->nrows, b, want->nrows);
	dtx_mem_free(a);
	dtx_mem_free(b);
	if (!within)
		return 0;
	if (g->nrows == want->nrows)
		return 0.9;
	if (grid_in_order(g, col, 0, want))
		return 0.75;
	return grid_stretch(g, col, want) ? 0.65 : 0.6;
}

bool dtx_textgrid_column_within(const struct dtx_textgrid *g, uint32_t col,
                                const struct dtx_textgrid *want, uint32_t at)
{
	uint64_t *a = dtx_textgrid_rows(g, &col, 1), *b = dtx_textgrid_rows(want, &at, 1);
	bool within = a && b && dtx_textgrid_within(a, g->nrows, b, want->nrows);

	dtx_mem_free(a);
	dtx_mem_free(b);
	return within;
}
