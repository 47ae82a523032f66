/* Compares two tables row by row, see compare.h. */
#include "cli/compare/compare.h"

#include <stdio.h>
#include <string.h>

#include "core/data/cast/cast.h"
#include "core/plan/exec/exec.h"

#define COMPARE_ULPS 4

/* One file as a table, with a cursor on its live rows. */
struct compare_side {
	struct dtx_plan *plan;
	struct dtx_source *source;
	struct dtx_exec_result *result;
	struct dtx_table *table;
	size_t batch;
	uint32_t at;
	struct dtx_buf text;
};

static enum dtx_code compare_open(struct compare_side *s, const char *path, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_exec_opts opts = DTX_EXEC_OPTS_INIT;
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_host host = { 0 };

	dtx_buf_init(&s->text, DTX_BUF_TEXT_MAX);
	DTX_TRY(dtx_plan_empty(&s->plan, err));
	s->plan->input[0].path = path;
	s->plan->fallback = DTX_FALLBACK_OFF;
	DTX_TRY(dtx_source_open(path, &s->source, err));
	opts.input = &s->source;
	DTX_TRY(dtx_exec(s->plan, &opts, &host, &findings, &s->result, err));
	s->table = s->result->output[0].table;
out:
	dtx_errlist_clear(&findings);
	return rc;
}

static void compare_close(struct compare_side *s)
{
	dtx_exec_free(s->result);
	dtx_source_free(s->source);
	dtx_plan_free(s->plan);
	dtx_buf_clear(&s->text);
}

/* Gets the batch of the next row and its place there; NULL at the end. */
static const struct dtx_batch *compare_next(struct compare_side *s, uint32_t *row)
{
	while (s->batch < s->table->nbatches) {
		const struct dtx_batch *b = s->table->batch[s->batch];

		if (s->at < b->nsel) {
			*row = b->sel ? b->sel[s->at] : s->at;
			s->at++;
			return b;
		}
		s->batch++;
		s->at = 0;
	}
	return NULL;
}

/* Maps a double to an integer, so that the integers have the same order. */
static int64_t compare_rank(double v)
{
	int64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits < 0 ? INT64_MIN - bits : bits;
}

static bool compare_close_numbers(struct dtx_str a, struct dtx_str b)
{
	double x, y;
	int64_t i, j;

	if (!dtx_cast_text_f64(a, &x) || !dtx_cast_text_f64(b, &y))
		return false;
	i = compare_rank(x);
	j = compare_rank(y);
	return (i > j ? (uint64_t)i - (uint64_t)j : (uint64_t)j - (uint64_t)i) <= COMPARE_ULPS;
}

static struct dtx_str compare_cell(struct compare_side *s, const struct dtx_batch *b, uint32_t row,
                                   uint32_t col)
{
	dtx_buf_reset(&s->text);
	if (b->col[col])
		dtx_cast_print(b->col[col], row, &s->text);
	return dtx_buf_str(&s->text);
}

static bool compare_columns(const struct compare_side *a, const struct compare_side *b,
                            struct dtx_compare *out)
{
	const struct dtx_schema *x = a->table->schema, *y = b->table->schema;
	uint32_t i;

	out->how = DTX_COMPARE_SHAPE;
	if (x->nfields != y->nfields) {
		snprintf(out->text, sizeof(out->text), "%u columns, were %u", y->nfields,
		         x->nfields);
		return false;
	}
	for (i = 0; i < x->nfields; i++) {
		if (!strcmp(x->field[i].name, y->field[i].name))
			continue;
		snprintf(out->text, sizeof(out->text), "column %u is '%.40s', was '%.40s'", i + 1,
		         y->field[i].name, x->field[i].name);
		return false;
	}
	out->how = DTX_COMPARE_EQUAL;
	return true;
}

/* Returns false if a cell differs; then `out` has it. */
static bool compare_row(struct compare_side *a, const struct dtx_batch *x, uint32_t i,
                        struct compare_side *b, const struct dtx_batch *y, uint32_t j,
                        struct dtx_compare *out)
{
	for (uint32_t c = 0; c < a->table->schema->nfields; c++) {
		struct dtx_str was = compare_cell(a, x, i, c), is = compare_cell(b, y, j, c);

		if (dtx_str_eq(was, is))
			continue;
		if (compare_close_numbers(was, is)) {
			out->how = DTX_COMPARE_CLOSE;
			continue;
		}
		out->how = DTX_COMPARE_DIFFERENT;
		dtx_str_copy(out->column, sizeof(out->column),
		             dtx_str_of(a->table->schema->field[c].name));
		dtx_str_copy(out->was, sizeof(out->was), was);
		dtx_str_copy(out->is, sizeof(out->is), is);
		return false;
	}
	return true;
}

static void compare_rows(struct compare_side *a, struct compare_side *b, struct dtx_compare *out)
{
	const struct dtx_batch *x, *y;
	uint32_t i = 0, j = 0;

	for (out->row = 1;; out->row++) {
		x = compare_next(a, &i);
		y = compare_next(b, &j);
		if (!x || !y)
			break;
		if (!compare_row(a, x, i, b, y, j, out))
			return;
	}
	if (x || y) {
		out->how = DTX_COMPARE_SHAPE;
		snprintf(out->text, sizeof(out->text), "%lld rows, were %lld",
		         (long long)b->table->nrows, (long long)a->table->nrows);
	}
}

enum dtx_code dtx_compare_files(const char *was, const char *is, struct dtx_compare *out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct compare_side a = { .plan = NULL }, b = { .plan = NULL };

	*out = (struct dtx_compare){ .how = DTX_COMPARE_EQUAL };
	DTX_TRY(compare_open(&a, was, err));
	DTX_TRY(compare_open(&b, is, err));
	if (compare_columns(&a, &b, out))
		compare_rows(&a, &b, out);
	DTX_TRY(dtx_buf_check(&a.text, "cell", err));
	DTX_TRY(dtx_buf_check(&b.text, "cell", err));
out:
	compare_close(&a);
	compare_close(&b);
	return rc;
}
