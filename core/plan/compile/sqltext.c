/* Names, values and column lists in SQL. */
#include "core/plan/compile/sqltext.h"

static void quoted(struct dtx_buf *out, const char *text, char quote)
{
	dtx_buf_addc(out, quote);
	for (; *text; text++) {
		dtx_buf_addc(out, *text);
		if (*text == quote)
			dtx_buf_addc(out, quote);
	}
	dtx_buf_addc(out, quote);
}

void dtx_sql_name(struct dtx_buf *out, const char *name)
{
	quoted(out, name, '"');
}

void dtx_sql_open(struct dtx_buf *out, enum dtx_type from, enum dtx_type to)
{
	dtx_buf_add(out, from == DTX_T_INT64 && to == DTX_T_FLOAT64 ? "CAST(" : "");
}

void dtx_sql_close(struct dtx_buf *out, enum dtx_type from, enum dtx_type to)
{
	dtx_buf_add(out, from == DTX_T_INT64 && to == DTX_T_FLOAT64 ? " AS DOUBLE)" : "");
}

void dtx_sql_column(struct dtx_buf *out, const struct dtx_field *f, enum dtx_type to)
{
	dtx_sql_open(out, f->type.type, to);
	dtx_sql_name(out, f->name);
	dtx_sql_close(out, f->type.type, to);
}

bool dtx_sql_value(struct dtx_buf *out, const json_t *value, enum dtx_type to)
{
	if (json_is_object(value) || json_is_array(value))
		return false;
	if (json_is_string(value))
		quoted(out, json_string_value(value), '\'');
	else if (!value || json_is_null(value))
		dtx_buf_add(out, "NULL");
	else
		dtx_json_print(value, 0, out);
	if (json_is_integer(value) && to == DTX_T_FLOAT64)
		dtx_buf_add(out, ".0");
	return true;
}

void dtx_sql_columns(const struct dtx_bind *b, unsigned t, const char *alias, struct dtx_buf *out)
{
	for (uint32_t i = 0; i < b->in[t]->nfields; i++) {
		dtx_buf_add(out, ", ");
		if (alias)
			dtx_buf_printf(out, "%s.", alias);
		dtx_sql_name(out, b->in[t]->field[i].name);
	}
}

void dtx_sql_list(const struct dtx_bind *b, unsigned t, const int32_t *col, uint32_t n,
                  struct dtx_buf *out)
{
	for (uint32_t i = 0; i < n; i++) {
		dtx_buf_add(out, i ? ", " : "");
		dtx_sql_name(out, b->in[t]->field[col[i]].name);
	}
}

void dtx_sql_all(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	dtx_buf_add(out, "SELECT \"_row\"");
	dtx_sql_columns(s->bind, 0, NULL, out);
	dtx_buf_printf(out, " FROM %s", s->from[0]);
}

bool dtx_sql_project(const struct dtx_sql_step *s, struct dtx_buf *out)
{
	const struct dtx_bind *b = s->bind;

	dtx_buf_add(out, "SELECT \"_row\"");
	for (uint32_t i = 0; i < b->ncols; i++) {
		if (b->col[i].from_table != 0 || b->col[i].from_col < 0)
			return false;
		dtx_buf_add(out, ", ");
		dtx_sql_name(out, b->in[0]->field[b->col[i].from_col].name);
		dtx_buf_add(out, " AS ");
		dtx_sql_name(out, b->col[i].field.name);
	}
	dtx_buf_printf(out, " FROM %s", s->from[0]);
	return true;
}
