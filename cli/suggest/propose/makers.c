#include "cli/suggest/propose/makers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory/mem.h"
#include "core/base/text/utf8.h"

static void (*const makers[])(struct dtx_makers *) = {
	/* in the order in which proposals of the same score are listed */
	dtx_make_records, dtx_make_titles,    dtx_make_fill,  dtx_make_explode,
	dtx_make_groups,  dtx_make_transpose, dtx_make_stack, dtx_make_widen,
};

void dtx_makers_add(struct dtx_makers *m, const char *maker, json_t *step, double score,
                    const char *evidence, ...)
{
	struct dtx_proposal *p;
	va_list ap;

	m->failed |= !step || !dtx_mem_reserve(&m->list, &m->cap, m->n + 1, sizeof(*m->list));
	if (m->failed) {
		json_decref(step);
		return;
	}
	p = &m->list[m->n++];
	*p = (struct dtx_proposal){ .maker = maker,
		                    .steps = json_pack("[o]", step),
		                    .score = DTX_MAX(0.0, DTX_MIN(score, 0.99)),
		                    .weakest = score,
		                    .headerless = m->headerless };
	m->failed |= !p->steps;
	va_start(ap, evidence);
	vsnprintf(p->evidence, sizeof(p->evidence), evidence, ap);
	va_end(ap);
	dtx_makers_mend(p->evidence);
	dtx_text_singular(p->evidence);
}

void dtx_makers_also(struct dtx_makers *m, double score, json_t *step, const char *key,
                     json_t *value)
{
	struct dtx_proposal *p;
	json_t *steps = NULL;

	m->failed |= (!step && !value) ||
	             !dtx_mem_reserve(&m->list, &m->cap, m->n + 1, sizeof(*m->list));
	if (!m->failed)
		steps = json_deep_copy(m->list[m->n - 1].steps);
	m->failed |= !steps || (step && json_array_append(steps, step) < 0) ||
	             (value && json_object_set(json_array_get(steps, 0), key, value) < 0);
	json_decref(step);
	json_decref(value);
	if (m->failed) {
		json_decref(steps);
		return;
	}
	p = &m->list[m->n++];
	*p = m->list[m->n - 2];
	p->steps = steps;
	p->score = DTX_MAX(0.0, DTX_MIN(score, 0.99));
	p->weakest = score;
	p->apart = true;
}

void dtx_makers_mend(char *text)
{
	ptrdiff_t bad;

	while ((bad = dtx_utf8_bad(text, strlen(text))) >= 0)
		memmove(text + bad, text + bad + 1, strlen(text + bad));
}

const char *dtx_makers_place(struct dtx_makers *m, uint32_t col, const char *text)
{
	char at[DTX_PROFILE_PLACE] = "";
	const char *out;
	int c = !m->place   ? -1
	        : m->second ? dtx_schema_find(m->place->schema, m->g->name[col])
	                    : (int)col;

	if (c >= 0 && (uint32_t)c < m->place->schema->nfields && text)
		dtx_profile_find(m->place, (uint32_t)c, dtx_str_of(text), at, sizeof(at));
	out = at[0] ? dtx_arena_printf(&m->arena, " at %s", at) : "";
	m->failed |= !out;
	return out ? out : "";
}

const char *dtx_makers_first(const struct dtx_makers *m, uint32_t col)
{
	int64_t r;

	for (r = 0; r < m->g->nrows; r++) {
		if (!dtx_cell_blank(dtx_textgrid_at(m->g, r, col)))
			return dtx_textgrid_at(m->g, r, col);
	}
	return "";
}

bool dtx_makers_numbers_rows(const struct dtx_makers *m, uint32_t col)
{
	double last = 0, n;
	int64_t r;

	for (r = 0; r < m->g->nrows; r++) {
		if (!dtx_kind_is_number(dtx_cell_kind(dtx_textgrid_at(m->g, r, col), &n)) ||
		    (r && n != last + 1))
			return false;
		last = n;
	}
	return r > 2;
}

const char *dtx_makers_name(struct dtx_makers *m, const char *name)
{
	const char *out = name;
	int i;

	for (i = 2; out && dtx_textgrid_find(m->g, out) >= 0; i++)
		out = dtx_arena_printf(&m->arena, "%s_%d", name, i);
	m->failed |= !out;
	return out ? out : name;
}

json_t *dtx_makers_columns(const struct dtx_makers *m, const uint32_t *col, uint32_t n)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < n; i++)
		(void)json_array_append_new(list, json_string(m->g->name[col[i]]));
	return list;
}

double dtx_makers_blank(const struct dtx_makers *m, const uint32_t *col, uint32_t n)
{
	double filled = 0, rows = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		filled += m->col[col[i]].filled;
		rows += m->col[col[i]].rows;
	}
	return rows > 0 ? 1 - filled / rows : 0;
}

void dtx_makers_sparse(struct dtx_makers *m, const uint32_t *col, uint32_t n, double score)
{
	if (dtx_makers_blank(m, col, n) >= 0.1)
		dtx_makers_also(m, score - 0.02, NULL, "drop_nulls", json_true());
}

/* Sorts, best first; equal ones keep their order. Removes those below `least`. */
static void makers_sort(struct dtx_makers *m, double least)
{
	size_t i, k, n = 0;

	for (i = 0; i < m->n; i++) {
		struct dtx_proposal p = m->list[i];

		if (p.score < least) {
			json_decref(p.steps);
			continue;
		}
		for (k = n++; k && m->list[k - 1].score < p.score; k--)
			m->list[k] = m->list[k - 1];
		m->list[k] = p;
	}
	m->n = n;
}

enum dtx_code dtx_makers_run(struct dtx_makers *m, double least, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	uint32_t c;
	size_t i;

	m->col = dtx_arena_zalloc(&m->arena, (size_t)m->g->ncols + 1, sizeof(*m->col));
	m->crossed = dtx_arena_zalloc(&m->arena, (size_t)m->g->ncols + 1, sizeof(*m->crossed));
	if (!m->col || !m->crossed)
		DTX_FAIL_MEM(err);
	for (c = 0; c < m->g->ncols; c++) {
		if (!dtx_feature_make(&m->col[c], m->g, c, false, &m->arena))
			DTX_FAIL_MEM(err);
	}
	for (i = 0; i < DTX_COUNT(makers) && m->g->nrows; i++)
		makers[i](m);
	makers_sort(m, least);
	if (m->failed)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_makers_clear(struct dtx_makers *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		json_decref(m->list[i].steps);
	dtx_mem_free(m->list);
	dtx_arena_clear(&m->arena);
	*m = (struct dtx_makers){ 0 };
}
