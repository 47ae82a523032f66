/* Numbers the rows and columns that pivot_wider makes: ids and names are groups of rows, and the
 * new columns are the names in their order (of appearance, sorted, or as the plan lists them). */
#include <stdlib.h>

#include "core/base/strmap.h"
#include "core/data/key.h"
#include "ops/reshape/wider.h"

void dtx_wider_plan_clear(struct dtx_wider_plan *p)
{
	dtx_tablekeys_close(&p->id);
	dtx_tablekeys_close(&p->name);
	for (uint32_t i = 0; p->text && i < p->nnames; i++)
		dtx_mem_free(p->text[i]);
	dtx_mem_free(p->text);
	dtx_mem_free(p->place);
	dtx_mem_free((void *)p->label);
	*p = (struct dtx_wider_plan)DTX_WIDER_PLAN_INIT;
}

#define NAME_MAX_BYTES ((size_t)1 << 20)

static enum dtx_code name_fits(const struct dtx_wider_state *s, const struct dtx_buf *text,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (text->fail == DTX_BUF_MAX)
		DTX_FAIL_NEXT(err, DTX_E_CELL_LIMIT,
		              "shorten the values with left() in a derive step before",
		              "%s: a value that becomes a column name is larger than %zu bytes",
		              s->op, text->max);
	DTX_TRY(dtx_buf_check(text, "a column name", err));
out:
	return rc;
}

/* The text of a name: "2024_Q1"; a null part is `null`. */
static enum dtx_code name_text(const struct dtx_wider_args *a, const struct dtx_wider_state *s,
                               const struct dtx_batch *b, uint32_t row, char **out,
                               struct dtx_err *err)
{
	struct dtx_buf text = DTX_BUF_INIT(NAME_MAX_BYTES), scratch = DTX_BUF_INIT(NAME_MAX_BYTES);
	const struct dtx_groupkeys *k = &s->names;
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < k->n; i++) {
		bool null = true;
		struct dtx_str part = dtx_cell_text(b->col[k->col[i]], row, &scratch, &null);

		if (i)
			dtx_buf_add(&text, a->names_sep);
		if (null)
			dtx_buf_add(&text, "null");
		else
			dtx_buf_adds(&text, part);
		DTX_TRY(name_fits(s, &scratch, err));
	}
	DTX_TRY(name_fits(s, &text, err));
	if (memchr(text.ptr ? text.ptr : "", 0, text.len))
		DTX_FAIL_NEXT(err, DTX_E_UNEXPECTED_VALUE,
		              "remove the NUL with replace() in a derive step before",
		              "%s: a value with a NUL byte cannot be a column name", s->op);
	*out = dtx_buf_steal(&text);
	if (!*out)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&text);
	dtx_buf_clear(&scratch);
	return rc;
}

static enum dtx_code too_wide(const struct dtx_opctx *ox, uint32_t names, struct dtx_err *err)
{
	const struct dtx_wider_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	if (!ox->run || ox->run->pivot_cols < 0 || names <= ox->run->pivot_cols)
		return DTX_OK;
	rc = dtx_err_set(err, DTX_E_PIVOT_TOO_WIDE, __FILE__, __LINE__,
	                 "%s: more than %lld new columns", s->op, (long long)ox->run->pivot_cols);
	dtx_err_hint(err, "raise \"pivot_cols\" of the plan's limits, or filter before");
	return rc;
}

static enum dtx_code number_names(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_wider_plan *p, struct dtx_err *err)
{
	const struct dtx_wider_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	size_t batch = 0;
	int64_t start = 0;

	DTX_TRY(dtx_tablekeys_open(&p->name, ox, &s->names, t, err));
	DTX_TRY(too_wide(ox, t->nrows ? p->name.n : 0, err));
	p->text = dtx_mem_zalloc((size_t)p->name.n + 1, sizeof(char *));
	if (!p->text)
		DTX_FAIL_MEM(err);
	p->nnames = t->nrows ? p->name.n : 0;
	for (uint32_t i = 0; i < p->nnames; i++) { /* their first rows are in ascending order */
		if (i % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(err));
		while (p->name.first[i] >= start + t->batch[batch]->nrows)
			start += t->batch[batch++]->nrows;
		DTX_TRY(name_text(ox->args, s, t->batch[batch],
		                  (uint32_t)(p->name.first[i] - start), &p->text[i], err));
	}
out:
	return rc;
}

/* --- order of the new columns --- */

struct combo {
	char *key;
	size_t len;
	uint32_t id;
};

static int combo_cmp(const void *a, const void *b)
{
	const struct combo *x = a, *y = b;
	int c = dtx_str_cmp((struct dtx_str){ x->key, x->len }, (struct dtx_str){ y->key, y->len });

	return c ? c : x->id < y->id ? -1 : x->id > y->id;
}

/* The sort key of a combination, from its first row. */
static enum dtx_code combo_key(const struct dtx_wider_state *s, struct dtx_batch *b, uint32_t row,
                               struct combo *out, struct dtx_err *err)
{
	const struct dtx_key_order order = { false, false, DTX_COLLATE_BINARY };
	struct dtx_buf key = DTX_BUF_INIT(1 << 24);
	enum dtx_code rc = DTX_OK;

	for (uint32_t i = 0; i < s->names.n; i++) {
		struct dtx_column *c = NULL;

		DTX_TRY(dtx_batch_flat(b, (uint32_t)s->names.col[i], &c, err));
		dtx_key_sort(c, order, row, &key);
		dtx_column_unref(c);
	}
	out->len = key.len;
	out->key = dtx_buf_steal(&key);
	if (!out->key)
		DTX_FAIL_MEM(err);
out:
	dtx_buf_clear(&key);
	return rc;
}

static enum dtx_code place_sorted(const struct dtx_opctx *ox, struct dtx_table *t,
                                  struct dtx_wider_plan *p, struct dtx_err *err)
{
	const struct dtx_wider_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;
	struct combo *c = dtx_mem_zalloc((size_t)p->nnames + 1, sizeof(*c));
	size_t batch = 0;
	int64_t start = 0;

	if (!c)
		DTX_FAIL_MEM(err);
	for (uint32_t i = 0; i < p->nnames; i++) {
		if (i % DTX_CANCEL_ROWS == 0)
			DTX_TRY(dtx_cancel_look(err));
		while (p->name.first[i] >= start + t->batch[batch]->nrows)
			start += t->batch[batch++]->nrows;
		c[i].id = i;
		DTX_TRY(combo_key(s, t->batch[batch], (uint32_t)(p->name.first[i] - start), &c[i],
		                  err));
	}
	qsort(c, p->nnames, sizeof(*c), combo_cmp);
	for (uint32_t i = 0; i < p->nnames; i++) {
		p->place[c[i].id] = i;
		p->label[i] = p->text[c[i].id];
	}
out:
	for (uint32_t i = 0; c && i < p->nnames; i++)
		dtx_mem_free(c[i].key);
	dtx_mem_free(c);
	return rc;
}

/* For names that the plan gives: another name is an error. */
static enum dtx_code place_fixed(const struct dtx_opctx *ox, struct dtx_wider_plan *p,
                                 struct dtx_err *err)
{
	const struct dtx_wider_args *a = ox->args;
	const char *const *label = a->names.item;
	struct dtx_strmap places = DTX_STRMAP_INIT;
	enum dtx_code rc = DTX_OK;
	uint32_t at;

	p->ncols = (uint32_t)a->names.n;
	for (uint32_t i = 0; i < p->ncols; i++) {
		p->label[i] = label[i];
		if (!dtx_strmap_put(&places, dtx_str_of(label[i]), i, &at))
			DTX_FAIL_MEM(err);
	}
	for (uint32_t i = 0; i < p->nnames; i++) {
		at = dtx_strmap_get(&places, dtx_str_of(p->text[i]));
		if (at == DTX_STRMAP_NONE) {
			rc = dtx_err_set(err, DTX_E_UNEXPECTED_VALUE, __FILE__, __LINE__,
			                 "pivot_wider: '%.80s' is not among `names`", p->text[i]);
			dtx_err_hint(err, "add it to names, or leave names out");
			goto out;
		}
		p->place[i] = at;
	}
out:
	dtx_strmap_clear(&places);
	return rc;
}

enum dtx_code dtx_wider_columns(const struct dtx_opctx *ox, struct dtx_table *t,
                                struct dtx_wider_plan *p, struct dtx_err *err)
{
	const struct dtx_wider_args *a = ox->args;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_table_dense(t, err));
	DTX_TRY(number_names(ox, t, p, err));
	p->ncols = p->nnames;
	p->place = dtx_mem_alloc((size_t)p->nnames + 1, sizeof(*p->place));
	p->label = dtx_mem_alloc((size_t)p->nnames + a->names.n + 1, sizeof(*p->label));
	if (!p->place || !p->label)
		DTX_FAIL_MEM(err);
	if (a->names.n) {
		DTX_TRY(place_fixed(ox, p, err));
	} else if (a->names_order == DTX_WIDER_SORTED) {
		DTX_TRY(place_sorted(ox, t, p, err));
	} else {
		for (uint32_t i = 0; i < p->nnames; i++) {
			p->place[i] = i;
			p->label[i] = p->text[i];
		}
	}
out:
	return rc;
}

enum dtx_code dtx_wider_plan(const struct dtx_opctx *ox, struct dtx_table *t,
                             struct dtx_wider_plan *p, struct dtx_err *err)
{
	const struct dtx_wider_state *s = ox->bound;
	enum dtx_code rc = DTX_OK;

	DTX_TRY(dtx_wider_columns(ox, t, p, err));
	DTX_TRY(dtx_tablekeys_open(&p->id, ox, &s->id, t, err));
	p->nids = t->nrows ? p->id.n : 0;
out:
	return rc;
}
