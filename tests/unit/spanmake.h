/* Makes batches whose cells are spans in a text, as a reader of a delimited file makes them. */
#ifndef TESTS_UNIT_SPANMAKE_H
#define TESTS_UNIT_SPANMAKE_H

#include "core/base/memory/mem.h"
#include "core/data/batch.h"
#include "core/data/cast/cast.h"
#include "tests/t.h"

/* The columns of `rows` lines of text, which must outlive them.  Cells may be quoted. */
static inline struct dtx_batch *span_lines(const struct dtx_schema *schema, uint32_t rows,
                                           const char *text, char delim)
{
	const char ends[] = { delim, '\n', '\0' };
	struct dtx_batch *b = NULL;

	T_OK(dtx_batch_new(schema, rows, &b, NULL), NULL);
	for (uint32_t i = 0; i < schema->nfields; i++) {
		struct dtx_span *span = dtx_mem_alloc64(rows, sizeof(*span));
		struct dtx_column *c;

		T_CHECK(span);
		c = dtx_column_new(DTX_F_SPAN, schema->field[i].type, rows, dtx_owner_take(span));
		T_CHECK(c);
		c->nulls = UINT32_MAX;
		c->v.span = span;
		c->base = text;
		c->dialect = (struct dtx_celldialect){ .delim = delim, .quote = '"' };
		b->col[i] = c;
	}
	for (uint32_t k = 0, at = 0; k < rows * schema->nfields; k++) {
		uint32_t len = (uint32_t)strcspn(text + at, ends), quoted = text[at] == '"';
		struct dtx_span *span =
			(struct dtx_span *)(uintptr_t)b->col[k % schema->nfields]->v.span;

		span[k / schema->nfields] =
			(struct dtx_span){ at + quoted,
			                   (len - 2 * quoted) | (quoted ? DTX_SPAN_QUOTED : 0) };
		at += len + 1;
	}
	return b;
}

static inline void span_same(const struct dtx_column *got, const struct dtx_column *want)
{
	struct dtx_buf a = DTX_BUF_INIT(1000), b = DTX_BUF_INIT(1000);

	T_INT(got->len, want->len);
	for (uint32_t i = 0; i < got->len; i++) {
		struct dtx_str x, y;

		T_INT(dtx_column_is_null(got, i), dtx_column_is_null(want, i));
		T_INT(got->v.span[i].len, want->v.span[i].len);
		dtx_buf_reset(&a);
		dtx_buf_reset(&b);
		x = dtx_cast_source(got, i, &a);
		y = dtx_cast_source(want, i, &b);
		T_CHECK(x.len == y.len && memcmp(x.ptr, y.ptr, x.len) == 0);
	}
	dtx_buf_clear(&a);
	dtx_buf_clear(&b);
}

#endif
