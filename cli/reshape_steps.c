/* Steps that could lead from one table to another, by their columns. */
#include <stdio.h>
#include <string.h>

#include "cli/byexample.h"
#include "core/base/strmap.h"

#define RESHAPE_COLS 256

struct reshape {
	const struct dtx_textgrid *have, *want;
	json_t *out;
	size_t max;
	const char *gone[RESHAPE_COLS], *both[RESHAPE_COLS], *fresh[RESHAPE_COLS];
	size_t ngone, nboth, nfresh;
	bool failed;
};

static void reshape_add(struct reshape *s, json_t *step)
{
	if (!step)
		s->failed = true;
	if (json_array_size(s->out) >= s->max) {
		json_decref(step);
		return;
	}
	if (json_array_append_new(s->out, step) < 0)
		s->failed = true;
}

static json_t *reshape_list(const char *const *name, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		(void)json_array_append_new(list, json_string(name[i]));
	return list;
}

static void reshape_columns(struct reshape *s)
{
	uint32_t c;

	for (c = 0; c < s->have->ncols && c < RESHAPE_COLS; c++) {
		if (dtx_textgrid_find(s->want, s->have->name[c]) >= 0)
			s->both[s->nboth++] = s->have->name[c];
		else
			s->gone[s->ngone++] = s->have->name[c];
	}
	for (c = 0; c < s->want->ncols && c < RESHAPE_COLS; c++) {
		if (dtx_textgrid_find(s->have, s->want->name[c]) < 0)
			s->fresh[s->nfresh++] = s->want->name[c];
	}
}

/* --- pivot_longer --- */

/* As it is, without rows that are all null, and piece by piece. */
static void reshape_longer(struct reshape *s, json_t *names_to, const char *values_to,
                           const char *key, const char *value)
{
	static const char *const more[][2] = { { NULL, NULL },
		                               { "drop_nulls", NULL },
		                               { "order", "cols" } };
	size_t i;

	for (i = 0; i < DTX_COUNT(more); i++) {
		json_t *step = json_pack("{ss so sO ss*}", "op", "pivot_longer", "cols",
		                         reshape_list(s->gone, s->ngone), "names_to", names_to,
		                         "values_to", values_to);

		if (key)
			(void)json_object_set_new(step, key, json_string(value));
		if (more[i][0])
			(void)json_object_set_new(step, more[i][0],
			                          more[i][1] ? json_string(more[i][1])
			                                     : json_true());
		reshape_add(s, step);
	}
	json_decref(names_to);
}

static size_t reshape_prefix(const struct reshape *s)
{
	size_t len = s->ngone ? strlen(s->gone[0]) : 0, i;

	for (i = 1; i < s->ngone; i++) {
		while (len && strncmp(s->gone[0], s->gone[i], len) != 0)
			len--;
	}
	return len;
}

static void reshape_longer_two(struct reshape *s)
{
	char prefix[128];
	size_t i, len = reshape_prefix(s);

	if (s->nfresh != 2 || s->ngone < 2)
		return;
	snprintf(prefix, sizeof(prefix), "%.*s", (int)len, s->gone[0]);
	for (i = 0; i < 2; i++) {
		const char *values = s->fresh[1 - i];

		reshape_longer(s, json_string(s->fresh[i]), values, NULL, NULL);
		if (len && len < sizeof(prefix))
			reshape_longer(s, json_string(s->fresh[i]), values, "names_prefix", prefix);
	}
}

/* Names of several parts: {"names_to": the new columns but one, "values_to": that one}. */
static void reshape_longer_parts(struct reshape *s)
{
	static const char *const how[][2] = {
		{ "names_sep", "_" },
		{ "names_sep", " " },
		{ "names_sep", "-" },
		{ "names_sep", "." },
		{ "names_pattern", "^([A-Za-z]+)[ _-]?([0-9]+)$" },
		{ "names_pattern", "^([0-9]+)[ _-]?([A-Za-z].*)$" },
	};
	size_t h, v, i;

	if (s->nfresh < 3 || s->nfresh > 4 || s->ngone < 2)
		return;
	for (h = 0; h < DTX_COUNT(how); h++) {
		if (!strcmp(how[h][0], "names_sep") && !strstr(s->gone[0], how[h][1]))
			continue;
		for (v = s->nfresh; v-- > 0;) {
			json_t *names = json_array();

			for (i = 0; i < s->nfresh; i++) {
				if (i != v)
					(void)json_array_append_new(names,
					                            json_string(s->fresh[i]));
			}
			reshape_longer(s, names, s->fresh[v], how[h][0], how[h][1]);
		}
	}
}

/* x_1, x_2, y_1, y_2: the new columns x and y hold values, one more the other part. */
static void reshape_longer_value(struct reshape *s)
{
	static const char *const sep[] = { "_", " ", "-", "." };
	size_t i, k, order;

	if (s->nfresh < 2 || s->ngone < 2)
		return;
	for (k = 0; k < DTX_COUNT(sep); k++) {
		if (!strstr(s->gone[0], sep[k]))
			continue;
		for (i = 0; i < s->nfresh; i++) {
			for (order = 0; order < 2; order++)
				reshape_longer(s,
				               order ? json_pack("[ss]", s->fresh[i], ".value")
				                     : json_pack("[ss]", ".value", s->fresh[i]),
				               NULL, "names_sep", sep[k]);
		}
	}
}

/* --- pivot_wider --- */

/* Whether each value of the column is the name of a wanted one. */
static bool reshape_names(const struct reshape *s, uint32_t col)
{
	int64_t r;

	for (r = 0; r < s->have->nrows; r++) {
		const char *v = dtx_textgrid_at(s->have, r, col);

		if (!v || dtx_textgrid_find(s->want, v) < 0)
			return false;
	}
	return s->have->nrows > 0;
}

static void reshape_wider(struct reshape *s)
{
	uint32_t c, v;

	for (c = 0; c < s->have->ncols; c++) {
		if (!reshape_names(s, c))
			continue;
		for (v = 0; v < s->have->ncols; v++) {
			if (v == c || dtx_textgrid_find(s->want, s->have->name[v]) >= 0)
				continue;
			reshape_add(s,
			            json_pack("{ss s[s] s[s]}", "op", "pivot_wider", "names_from",
			                      s->have->name[c], "values_from", s->have->name[v]));
			reshape_add(s, json_pack("{ss s[s] s[s] ss}", "op", "pivot_wider",
			                         "names_from", s->have->name[c], "values_from",
			                         s->have->name[v], "agg", "sum"));
		}
	}
}

/* --- the others --- */

static void reshape_transpose(struct reshape *s)
{
	if (s->have->nrows > RESHAPE_COLS)
		return;
	if (s->want->ncols)
		reshape_add(s,
		            json_pack("{ss ss}", "op", "transpose", "names_to", s->want->name[0]));
	reshape_add(s, json_pack("{ss sb}", "op", "transpose", "header", 0));
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

static void reshape_explode(struct reshape *s)
{
	static const char *const sep[] = { ";", ",", "|", "/", "\n", " " };
	uint32_t c;
	size_t k;

	for (c = 0; c < s->have->ncols; c++) {
		int32_t at = dtx_textgrid_find(s->want, s->have->name[c]);

		for (k = 0; at >= 0 && k < DTX_COUNT(sep); k++) {
			if (!reshape_holds(s->have, c, sep[k]) ||
			    reshape_holds(s->want, (uint32_t)at, sep[k]))
				continue;
			reshape_add(s, json_pack("{ss s[s] ss}", "op", "explode", "cols",
			                         s->have->name[c], "sep", sep[k]));
			reshape_add(s, json_pack("{ss s[s] ss sb}", "op", "explode", "cols",
			                         s->have->name[c], "sep", sep[k], "drop_empty", 1));
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

static void reshape_fill(struct reshape *s)
{
	json_t *cols = json_array();
	uint32_t c;

	for (c = 0; c < s->have->ncols; c++) {
		int32_t at = dtx_textgrid_find(s->want, s->have->name[c]);

		if (reshape_blank(s->have, c) && (at < 0 || !reshape_blank(s->want, (uint32_t)at)))
			(void)json_array_append_new(cols, json_string(s->have->name[c]));
	}
	if (json_array_size(cols)) {
		reshape_add(s, json_pack("{ss sO}", "op", "fill", "cols", cols));
		reshape_add(s, json_pack("{ss sO ss}", "op", "fill", "cols", cols, "dir", "up"));
		reshape_add(s,
		            json_pack("{ss s[O]}", "op", "fill", "cols", json_array_get(cols, 0)));
	}
	json_decref(cols);
}

static void reshape_subtitle(struct reshape *s)
{
	size_t i;

	for (i = 0; i < s->nfresh && i < 3; i++)
		reshape_add(s, json_pack("{ss ss}", "op", "subtitle_to_column", "as", s->fresh[i]));
}

enum dtx_code dtx_reshape_steps(const struct dtx_textgrid *have, const struct dtx_textgrid *want,
                                size_t max, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct reshape s = { .have = have, .want = want, .out = json_array(), .max = max };

	if (!s.out)
		DTX_FAIL_MEM(err);
	reshape_columns(&s);
	reshape_wider(&s);
	reshape_subtitle(&s);
	reshape_fill(&s);
	reshape_longer_two(&s);
	reshape_longer_value(&s);
	reshape_explode(&s);
	reshape_transpose(&s);
	reshape_longer_parts(&s);
	if (s.failed)
		DTX_FAIL_MEM(err);
	*out = json_incref(s.out);
out:
	json_decref(s.out);
	return rc;
}
