/* Proposes steps that could lead from one table to another, by comparing their columns. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/suggest/example/reshape.h"
#include "ops/reshape/totals.h"
#include "core/base/memory/mem.h"

void dtx_reshape_add(struct dtx_reshape *s, json_t *step)
{
	if (!json_is_array(step))
		step = json_pack("[o]", step);
	if (!step)
		s->failed = true;
	if (json_array_size(s->out) >= s->max) {
		json_decref(step);
		return;
	}
	if (json_array_append_new(s->out, step) < 0)
		s->failed = true;
}

void dtx_reshape_name(struct dtx_buf *out, const char *name)
{
	static const char words[] =
		"and,or,not,in,between,is,null,like,matches,case,when,then,else,"
		"end,true,false";
	bool plain = !isdigit((unsigned char)name[0]) && !dtx_str_in_list(words, name);
	const char *p;

	for (p = name; *p; p++)
		plain &= isalnum((unsigned char)*p) || *p == '_';
	if (plain && *name) {
		dtx_buf_add(out, name);
		return;
	}
	dtx_buf_addc(out, '`');
	for (p = name; *p; p++)
		dtx_buf_add(out, *p == '`' ? "``" : (char[]){ *p, '\0' });
	dtx_buf_addc(out, '`');
}

void dtx_reshape_escape(struct dtx_buf *out, struct dtx_str text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (strchr("\\^$.|?*+()[]{}/", text.ptr[i]))
			dtx_buf_addc(out, '\\');
		dtx_buf_addc(out, text.ptr[i]);
	}
}

bool dtx_reshape_subset(const struct dtx_hashset *a, const struct dtx_hashset *b)
{
	uint32_t i, k;

	for (i = k = 0; i < a->n && k < b->n; k++) {
		if (a->hash[i] < b->hash[k])
			return false;
		i += a->hash[i] == b->hash[k];
	}
	return i == a->n;
}

json_t *dtx_reshape_list(const char *const *name, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		(void)json_array_append_new(list, json_string(name[i]));
	return list;
}

static bool reshape_agrees(const struct dtx_reshape *s, int64_t have, int64_t want)
{
	for (size_t i = 0; i < s->nboth; i++) {
		const char *a = dtx_textgrid_at(s->have, have, s->both_at[i][0]);
		const char *b = dtx_textgrid_at(s->want, want, s->both_at[i][1]);

		if (!dtx_textgrid_same(a, b))
			return false;
	}
	return true;
}

/* Each row of have can match only one wanted row. */
static void reshape_align(struct dtx_reshape *s)
{
	bool *used = dtx_mem_zalloc((size_t)s->have->nrows + 1, sizeof(*used));
	int64_t w, r, next = 0, n = s->have->nrows;

	s->from = dtx_mem_zalloc((size_t)s->want->nrows + 1, sizeof(*s->from));
	s->failed |= !used || !s->from;
	s->aligned = !s->failed;
	for (w = 0; s->aligned && w < s->want->nrows; w++) {
		for (r = 0; r < n; r++) {
			int64_t at = (next + r) % n;

			if (!used[at] && reshape_agrees(s, at, w))
				break;
		}
		s->aligned = r < n;
		if (!s->aligned)
			break;
		s->from[w] = (next + r) % n;
		used[s->from[w]] = true;
		next = s->from[w] + 1;
	}
	dtx_mem_free(used);
}

/* A column of `have` for wanted column w: of its name, or with its values, if no other wanted
 * column has its name; -1: none. */
static int32_t reshape_source(const struct dtx_reshape *s, uint32_t w, const bool *used)
{
	int32_t at = dtx_textgrid_find(s->have, s->want->name[w]);
	uint32_t c;

	for (c = 0; at < 0 && c < s->have->ncols && c < DTX_RESHAPE_COLS; c++) {
		if (!used[c] && dtx_textgrid_find(s->want, s->have->name[c]) < 0 && s->wants[w].n &&
		    dtx_reshape_subset(&s->wants[w], &s->has[c]) &&
		    dtx_textgrid_column_within(s->have, c, s->want, w))
			at = (int32_t)c;
	}
	return at;
}

static void reshape_columns(struct dtx_reshape *s)
{
	bool used[DTX_RESHAPE_COLS] = { false };
	uint32_t c, w;
	int32_t at;

	for (w = 0; w < s->want->ncols && w < DTX_RESHAPE_COLS; w++) {
		at = reshape_source(s, w, used);
		if (at < 0 || at >= DTX_RESHAPE_COLS) {
			s->fresh[s->nfresh++] = s->want->name[w];
			continue;
		}
		used[at] = true;
		s->both_at[s->nboth][0] = (uint32_t)at;
		s->both_at[s->nboth][1] = w;
		s->both[s->nboth++] = s->have->name[at];
	}
	for (c = 0; c < s->have->ncols && c < DTX_RESHAPE_COLS; c++) {
		if (!used[c])
			s->gone[s->ngone++] = s->have->name[c];
	}
	if (s->nboth && s->have->nrows * s->want->nrows <= DTX_TEXTGRID_CELLS)
		reshape_align(s);
}

/* --- pivot_wider --- */

/* Whether each value of the column is the name of a wanted column. */
static bool reshape_names(const struct dtx_reshape *s, uint32_t col)
{
	int64_t r;

	for (r = 0; r < s->have->nrows; r++) {
		const char *v = dtx_textgrid_at(s->have, r, col);

		if (!v || dtx_textgrid_find(s->want, v) < 0)
			return false;
	}
	return s->have->nrows > 0;
}

static void reshape_wider(struct dtx_reshape *s)
{
	uint32_t c, v;

	for (c = 0; c < s->have->ncols; c++) {
		if (!reshape_names(s, c))
			continue;
		for (v = 0; v < s->have->ncols; v++) {
			if (v == c || dtx_textgrid_find(s->want, s->have->name[v]) >= 0)
				continue;
			dtx_reshape_add(s, json_pack("{ss s[s] s[s]}", "op", "pivot_wider",
			                             "names_from", s->have->name[c], "values_from",
			                             s->have->name[v]));
			dtx_reshape_add(s, json_pack("{ss s[s] s[s] ss}", "op", "pivot_wider",
			                             "names_from", s->have->name[c], "values_from",
			                             s->have->name[v], "agg", "sum"));
		}
	}
}

/* --- the others --- */

/* Whether a column shows that it is no data: a label of totals, or few cells. */
static bool column_apart(const struct dtx_textgrid *g, uint32_t c)
{
	int64_t r, filled = 0;

	for (r = 0; r < g->nrows; r++)
		filled += dtx_textgrid_at(g, r, c) != NULL;
	return filled * 3 <= g->nrows || dtx_total_label_default(dtx_str_of(g->name[c]));
}

/* Without the columns that are no data and whose names no wanted column has. */
static void reshape_transpose_some(struct dtx_reshape *s)
{
	uint32_t c, w, k;

	for (w = 0; w < s->want->ncols; w++) {
		json_t *gone = json_array();

		for (c = 1; c < s->have->ncols; c++) {
			uint64_t hash = dtx_textgrid_hash(s->have->name[c]);

			for (k = 0; k < s->wants[w].n && s->wants[w].hash[k] != hash; k++)
				;
			if (k == s->wants[w].n && column_apart(s->have, c))
				(void)json_array_append_new(gone, json_string(s->have->name[c]));
		}
		if (json_array_size(gone))
			dtx_reshape_add(s,
			                json_pack("[{ss sO}, {ss ss}]", "op", "drop", "cols", gone,
			                          "op", "transpose", "names_to", s->want->name[w]));
		json_decref(gone);
	}
}

static void reshape_transpose(struct dtx_reshape *s)
{
	if (s->have->nrows > DTX_RESHAPE_COLS)
		return;
	dtx_reshape_add(s, json_pack("{ss}", "op", "transpose"));
	dtx_reshape_add(s, json_pack("{ss sb}", "op", "transpose", "header", 0));
	reshape_transpose_some(s);
}

static bool reshape_holds(const struct dtx_textgrid *g, uint32_t col, const char *sep)
{
	int64_t r;

	for (r = 0; r < g->nrows; r++) {
		const char *v = dtx_textgrid_at(g, r, col);

		if (v && strstr(v, sep))
			return true;
	}
	return false;
}

static void reshape_explode(struct dtx_reshape *s)
{
	static const char *const sep[] = { ";", ",", "|", "/", "\n", " " };
	uint32_t c;
	size_t k;

	for (c = 0; c < s->have->ncols; c++) {
		int32_t at = dtx_textgrid_find(s->want, s->have->name[c]);

		for (k = 0; (at >= 0 || s->nfresh) && k < DTX_COUNT(sep); k++) {
			if (!reshape_holds(s->raw, c, sep[k]) ||
			    (at >= 0 && reshape_holds(s->want, (uint32_t)at, sep[k])))
				continue;
			dtx_reshape_add(s, json_pack("{ss s[s] ss}", "op", "explode", "cols",
			                             s->have->name[c], "sep", sep[k]));
			dtx_reshape_add(s, json_pack("{ss s[s] ss sb}", "op", "explode", "cols",
			                             s->have->name[c], "sep", sep[k], "drop_empty",
			                             1));
		}
	}
}

static bool reshape_blank(const struct dtx_textgrid *g, uint32_t col)
{
	int64_t r;

	for (r = 0; r < g->nrows; r++) {
		if (!dtx_textgrid_at(g, r, col))
			return true;
	}
	return false;
}

static void reshape_fill(struct dtx_reshape *s)
{
	json_t *cols = json_array();
	uint32_t c;

	for (c = 0; c < s->have->ncols; c++) {
		int32_t at = dtx_textgrid_find(s->want, s->have->name[c]);

		if (reshape_blank(s->have, c) && (at < 0 || !reshape_blank(s->want, (uint32_t)at)))
			(void)json_array_append_new(cols, json_string(s->have->name[c]));
	}
	if (json_array_size(cols)) {
		dtx_reshape_add(s, json_pack("{ss sO}", "op", "fill", "cols", cols));
		dtx_reshape_add(s,
		                json_pack("{ss sO ss}", "op", "fill", "cols", cols, "dir", "up"));
		dtx_reshape_add(
			s, json_pack("{ss s[O]}", "op", "fill", "cols", json_array_get(cols, 0)));
	}
	json_decref(cols);
}

/* The distinct values of each column. */
static struct dtx_hashset *reshape_values(struct dtx_reshape *s, const struct dtx_textgrid *g)
{
	struct dtx_hashset *set = dtx_arena_zalloc(&s->arena, (size_t)g->ncols + 1, sizeof(*set));
	uint32_t c;
	int64_t r;

	for (c = 0; set && c < g->ncols; c++) {
		uint64_t *hash = dtx_textgrid_rows(g, &c, 1), null = dtx_textgrid_hash(NULL);

		set[c].hash = dtx_arena_alloc(&s->arena, (size_t)g->nrows + 1, sizeof(*hash));
		if (!hash || !set[c].hash)
			set = NULL;
		for (r = 0; set && r < g->nrows; r++) {
			if (hash[r] != null && (!r || hash[r] != hash[r - 1]))
				set[c].hash[set[c].n++] = hash[r];
		}
		dtx_mem_free(hash);
	}
	s->failed |= !set;
	return set;
}

enum dtx_code dtx_reshape_steps(const struct dtx_textgrid *raw, const struct dtx_textgrid *have,
                                const struct dtx_textgrid *want, bool second, json_t **out,
                                struct dtx_err *err)
{
	static const struct {
		void (*make)(struct dtx_reshape *s);
		size_t quota;
	} makers[] = {
		{ reshape_transpose, 3 },    { reshape_fill, 3 },
		{ dtx_reshape_unpivot, 12 }, { dtx_reshape_titles, 6 },
		{ reshape_explode, 16 },     { dtx_reshape_texts, 24 },
		{ dtx_reshape_rows, 24 },    { dtx_reshape_groups, 24 },
		{ reshape_wider, 16 },       { dtx_reshape_formulas, 24 },
	};
	enum dtx_code rc = DTX_OK;
	struct dtx_reshape s = {
		.raw = raw, .have = have, .want = want, .second = second, .out = json_array()
	};
	size_t i;

	s.has = reshape_values(&s, have);
	s.wants = reshape_values(&s, want);
	if (!s.out || s.failed)
		DTX_FAIL_MEM(err);
	reshape_columns(&s);
	for (i = 0; i < DTX_COUNT(makers); i++) {
		s.max = json_array_size(s.out) + makers[i].quota;
		makers[i].make(&s);
	}
	if (s.failed)
		DTX_FAIL_MEM(err);
	*out = json_incref(s.out);
out:
	dtx_mem_free(s.from);
	dtx_arena_clear(&s.arena);
	json_decref(s.out);
	return rc;
}
