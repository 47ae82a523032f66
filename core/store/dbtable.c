/* Names, columns and values of the derived tables. */
#include "core/store/dbtable.h"

#include <string.h>

static const struct {
	const char *name, *columns;
} dbtables[] = {
#define X(symbol, name, columns) { name, columns },
	DTX_SQL_TABLES(X)
#undef X
};

const char *dtx_dbtable_name(enum dtx_sql_table table)
{
	return dbtables[table].name;
}

size_t dtx_dbtable_columns(enum dtx_sql_table table, struct dtx_dbtable_column *column)
{
	struct dtx_str rest = dtx_str_of(dbtables[table].columns), piece;
	size_t n = 0;

	while (n < DTX_DBTABLE_COLUMNS && dtx_str_next(&rest, ',', &piece)) {
		column[n].integer = piece.ptr[piece.len - 1] == 'i';
		dtx_str_copy(column[n].name, sizeof(column[n].name),
		             (struct dtx_str){ piece.ptr, piece.len - 2 });
		n++;
	}
	return n;
}

void dtx_dbtable_insert(enum dtx_sql_table table, bool ignore, size_t n, struct dtx_buf *out)
{
	size_t i;

	dtx_buf_printf(out, "INSERT OR %s INTO %s VALUES(", ignore ? "IGNORE" : "REPLACE",
	               dbtables[table].name);
	for (i = 0; i < n; i++)
		dtx_buf_add(out, i ? ",?" : "?");
	dtx_buf_addc(out, ')');
}

struct dtx_db_val dtx_dbtable_value(const json_t *v, const struct dtx_dbtable_column *column,
                                    struct dtx_buf *text)
{
	struct dtx_db_val out = { DTX_DB_NULL, 0, { NULL, 0 } };

	if (!v || json_is_null(v))
		return out;
	if (column->integer) {
		if (json_is_integer(v) || json_is_boolean(v)) {
			out.kind = DTX_DB_INT;
			out.i = json_is_integer(v) ? json_integer_value(v) : json_is_true(v);
		}
		return out;
	}
	out.kind = DTX_DB_TEXT;
	if (json_is_string(v)) {
		out.s = (struct dtx_str){ json_string_value(v), json_string_length(v) };
		return out;
	}
	dtx_buf_clear(text);
	dtx_json_canonical(v, text);
	out.s = dtx_buf_str(text);
	return out;
}
