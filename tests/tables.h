/* Small typed tables for tests, made from text. */
#ifndef TESTS_TABLES_H
#define TESTS_TABLES_H

#include "core/data/builder.h"
#include "core/data/cast/cast.h"
#include "core/data/time/time.h"

static inline bool t_table_cell(struct dtx_builder *b, struct dtx_str s)
{
	int64_t i;
	int32_t day;
	double f;
	bool v;

	if (!s.len)
		dtx_builder_null(b);
	else if (b->type.type == DTX_T_INT64 && dtx_cast_text_i64(s, &i))
		dtx_builder_i64(b, i);
	else if (b->type.type == DTX_T_FLOAT64 && dtx_cast_text_f64(s, &f))
		dtx_builder_f64(b, f);
	else if (b->type.type == DTX_T_BOOL && dtx_cast_text_bool(s, &v))
		dtx_builder_bool(b, v);
	else if (b->type.type == DTX_T_DATE && dtx_cast_text_date(s, &day))
		dtx_builder_day(b, day);
	else if (b->type.type == DTX_T_TEXT)
		dtx_builder_text(b, s);
	else
		return false;
	return true;
}

/* t_table("a:int,b:text", "1,x\n2,\n") makes a table with one batch, in which an empty cell is
 * null.  At most 16 columns.  NULL when memory is out, or if the text does not fit its types. */
static inline struct dtx_table *t_table(const char *columns, const char *rows)
{
	struct dtx_field field[16];
	struct dtx_builder b[16];
	char name[16][64];
	struct dtx_str rest = dtx_str_of(columns), piece, line, kind;
	struct dtx_schema s = { .field = field };
	struct dtx_batch *batch = NULL;
	struct dtx_table *t = NULL;
	uint32_t nrows = 0, i;
	bool ok = true;

	memset(field, 0, sizeof(field));
	while (s.nfields < 16 && dtx_str_next(&rest, ',', &piece)) {
		struct dtx_field *f = &field[s.nfields];
		struct dtx_str head;

		dtx_str_next(&piece, ':', &head);
		dtx_str_copy(name[s.nfields], sizeof(name[0]), head);
		kind = piece;
		f->name = name[s.nfields];
		if (dtx_str_is(kind, "null"))
			f->type.type = DTX_T_NULL;
		else if (!dtx_type_parse(kind, &f->type))
			return NULL;
		dtx_builder_init(&b[s.nfields++], f->type, 8);
	}
	for (rest = dtx_str_of(rows); rest.len && dtx_str_next(&rest, '\n', &line); nrows++) {
		for (i = 0; i < s.nfields; i++) {
			if (!dtx_str_next(&line, ',', &piece))
				piece.len = 0;
			ok = ok && t_table_cell(&b[i], piece);
		}
	}
	ok = ok && dtx_table_new(&s, &t, NULL) == DTX_OK;
	ok = ok && dtx_batch_new(&s, nrows, &batch, NULL) == DTX_OK;
	for (i = 0; i < s.nfields; i++) {
		ok = ok && dtx_builder_finish(&b[i], NULL, &batch->col[i], NULL) == DTX_OK;
		dtx_builder_clear(&b[i]);
	}
	if (ok && dtx_table_take(t, batch, NULL) == DTX_OK)
		return t;
	if (!ok)
		dtx_batch_free(batch);
	dtx_table_unref(t);
	return NULL;
}

#endif
