/* Describes the shape of raw cells, see shape.h. */
#include "core/fallback/prompt/shape.h"

#include <stdlib.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"
#include "core/data/time/time.h"
#include "core/io/header/header.h"

#define SHAPE_NAMES 1000 /* texts that are looked at */
#define SHAPE_WIDTH 200  /* cells of a row that a prompt shows */
#define SHAPE_FOUND 64   /* rows in which known names are searched */

/* --- classes --- */

static char shape_of_text(struct dtx_str text)
{
	struct dtx_str s = dtx_utf8_trim(text);
	int32_t day;
	int64_t us;
	bool zoned;
	size_t i;

	if (!s.len)
		return '.';
	if (dtx_day_parse(s, &day) || dtx_datetime_parse(s, &us, &zoned))
		return 'd';
	if (dtx_str_ieq(s, DTX_STR("true")) || dtx_str_ieq(s, DTX_STR("false")))
		return 'b';
	if (dtx_head_judge(s) == DTX_HEAD_TEXT)
		return 't';
	for (i = 0; i < s.len && !(s.ptr[i] >= '0' && s.ptr[i] <= '9'); i++)
		;
	return i < s.len ? 'n' : 't';
}

static char shape_class(const struct dtx_rawgrid *g, const struct dtx_raw_cell *c)
{
	static const char known[DTX_RAW_KINDS] = { [DTX_RAW_NUMBER] = 'n',
		                                   [DTX_RAW_BOOL] = 'b',
		                                   [DTX_RAW_TEXT] = 't',
		                                   [DTX_RAW_TIME] = 'd',
		                                   [DTX_RAW_ERROR] = '.' };

	if (c->kind == DTX_RAW_TEXT && g->text_file)
		return shape_of_text(dtx_rawgrid_str(g, c));
	return known[c->kind];
}

/* Walks through the first rows. `text` has one letter per column, up to the last column that is
 * filled. */
struct shape_walk {
	const struct dtx_rawgrid *g;
	size_t at; /* the next cell */
	struct dtx_buf text;
};

static void shape_row(struct shape_walk *w, uint32_t row)
{
	const struct dtx_rawgrid *g = w->g;

	dtx_buf_reset(&w->text);
	for (; w->at < g->ncells && g->cell[w->at].row == row; w->at++) {
		while (w->text.len < g->cell[w->at].col && dtx_buf_ok(&w->text))
			dtx_buf_addc(&w->text, '.');
		dtx_buf_addc(&w->text, shape_class(g, &g->cell[w->at]));
	}
	while (w->text.len && w->text.ptr[w->text.len - 1] == '.')
		w->text.len--;
}

static struct dtx_str shape_text(const struct shape_walk *w)
{
	return (struct dtx_str){ w->text.len ? w->text.ptr : "", w->text.len };
}

static uint32_t shape_rows(const struct dtx_rawgrid *g)
{
	return DTX_MIN(g->nrows, (uint32_t)DTX_SHAPE_ROWS);
}

/* --- the document --- */

static json_t *shape_merged(const struct dtx_rawgrid *g)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < g->nmerges; i++) {
		const struct dtx_raw_range *m = &g->merge[i];
		uint32_t bottom = DTX_MIN(m->bottom, (uint32_t)DTX_SHAPE_ROWS - 1);

		if (m->top < DTX_SHAPE_ROWS &&
		    json_array_append_new(list, json_pack("[iiii]", (int)m->top, (int)m->left,
		                                          (int)bottom, (int)m->right)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Appends the classes of each row to `list`. *data becomes the first row with a number or date. */
static enum dtx_code shape_classes(const struct dtx_rawgrid *g, json_t *list, uint32_t *data,
                                   struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct shape_walk w = { .g = g, .text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	uint32_t row, n = shape_rows(g);

	*data = n;
	for (row = 0; row < n; row++) {
		const json_t *last = json_array_get(list, json_array_size(list) - 1);
		struct dtx_str s;

		shape_row(&w, row);
		DTX_TRY(dtx_buf_check(&w.text, "row", err));
		s = shape_text(&w);
		if (*data == n && (memchr(s.ptr, 'n', s.len) || memchr(s.ptr, 'd', s.len)))
			*data = row;
		if (last && dtx_str_is(s, json_string_value(last)))
			continue;
		if (json_array_append_new(list, json_stringn(s.ptr, s.len)) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	dtx_buf_clear(&w.text);
	return rc;
}

static int shape_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Collects the texts of cells above row `end`, with digits as 9. The arena owns them. */
static enum dtx_code shape_texts(const struct dtx_rawgrid *g, uint32_t end, struct dtx_arena *a,
                                 const char **name, size_t *n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t i;

	for (i = 0; i < g->ncells && g->cell[i].row < end && *n < SHAPE_NAMES; i++) {
		struct dtx_str s;
		char *copy, *p;

		if (g->cell[i].kind != DTX_RAW_TEXT)
			continue;
		s = dtx_rawgrid_str(g, &g->cell[i]);
		copy = dtx_arena_strndup(a, s.ptr, s.len);
		if (!copy)
			DTX_FAIL_MEM(err);
		for (p = copy; *p; p++)
			*p = *p >= '0' && *p <= '9' ? '9' : *p;
		name[(*n)++] = copy;
	}
	qsort(name, *n, sizeof(*name), shape_order);
out:
	return rc;
}

static enum dtx_code shape_names(const struct dtx_rawgrid *g, uint32_t end, json_t *list,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_arena a = DTX_ARENA_INIT;
	const char **name = dtx_arena_alloc(&a, SHAPE_NAMES, sizeof(*name));
	size_t n = 0, i;

	if (!name)
		DTX_FAIL_MEM(err);
	DTX_TRY(shape_texts(g, end, &a, name, &n, err));
	for (i = 0; i < n; i++) {
		if (i && !strcmp(name[i], name[i - 1]))
			continue;
		if (json_array_append_new(list, json_string(name[i])) < 0)
			DTX_FAIL_MEM(err);
	}
out:
	dtx_arena_clear(&a);
	return rc;
}

enum dtx_code dtx_shape_json(const struct dtx_rawgrid *g, json_t **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	json_t *rows = json_array(), *names = json_array(), *merged = shape_merged(g), *made;
	uint32_t data;

	if (!rows || !names || !merged)
		DTX_FAIL_MEM(err);
	DTX_TRY(shape_classes(g, rows, &data, err));
	DTX_TRY(shape_names(g, data, names, err));
	made = json_pack("{s:O, s:O, s:O, s:i}", "merged", merged, "names", names, "rows", rows,
	                 "width", (int)g->ncols);
	if (!made)
		DTX_FAIL_MEM(err);
	*out = made;
out:
	json_decref(rows);
	json_decref(names);
	json_decref(merged);
	return rc;
}

/* --- the prompt --- */

static void shape_disclose_known(const struct dtx_rawgrid *g, const char *name, struct dtx_buf *out)
{
	size_t i;

	for (i = 0; i < g->ncells && g->cell[i].row < SHAPE_FOUND; i++) {
		const struct dtx_raw_cell *c = &g->cell[i];

		if (c->kind != DTX_RAW_TEXT ||
		    !dtx_str_is(dtx_utf8_trim(dtx_rawgrid_str(g, c)), name))
			continue;
		dtx_buf_printf(out, "{\"column\":%u,\"name\":", c->col);
		dtx_disclose_name(out, name);
		dtx_buf_printf(out, ",\"row\":%u}\n", c->row);
		return;
	}
}

static void shape_disclose_merged(const struct dtx_rawgrid *g, struct dtx_buf *out)
{
	size_t i;

	for (i = 0; i < g->nmerges && g->merge[i].top < DTX_SHAPE_ROWS; i++) {
		const struct dtx_raw_range *m = &g->merge[i];

		dtx_buf_printf(out, "{\"merged\":[%u,%u,%u,%u]}\n", m->top, m->left, m->bottom,
		               m->right);
	}
}

enum dtx_code dtx_shape_disclose(const char *alias, const struct dtx_rawgrid *g,
                                 const char *const *known, size_t nknown, struct dtx_buf *out,
                                 struct dtx_disclosed *count, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct shape_walk w = { .g = g, .text = DTX_BUF_INIT(DTX_BUF_TEXT_MAX) };
	uint32_t row, n = shape_rows(g);
	size_t i;

	dtx_buf_printf(out, "{\"columns\":%u,\"raw\":", g->ncols);
	dtx_disclose_name(out, alias);
	dtx_buf_add(out, ",\"rows\":");
	dtx_disclose_bucket(out, g->nrows);
	dtx_buf_add(out, "}\n");
	for (row = 0; row < n; row++) {
		shape_row(&w, row);
		DTX_TRY(dtx_buf_check(&w.text, "row", err));
		dtx_buf_printf(out, "{\"cells\":\"%.*s\",\"row\":%u}\n",
		               (int)DTX_MIN(w.text.len, (size_t)SHAPE_WIDTH), shape_text(&w).ptr,
		               row);
	}
	shape_disclose_merged(g, out);
	for (i = 0; i < nknown; i++)
		shape_disclose_known(g, known[i], out);
	count->cols += (int64_t)DTX_MIN(g->ncols, (uint32_t)SHAPE_WIDTH);
	DTX_TRY(dtx_buf_check(out, "prompt", err));
out:
	dtx_buf_clear(&w.text);
	return rc;
}
