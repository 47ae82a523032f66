/* Names, columns and values of the derived tables, for db.c, which writes rows into them. */
#ifndef DTX_STORE_DBTABLE_H
#define DTX_STORE_DBTABLE_H

#include "core/store/db.h"

#define DTX_DBTABLE_COLUMNS 32
struct dtx_dbtable_column {
	char name[32];
	bool integer;
};
const char *dtx_dbtable_name(enum dtx_sql_table table);
/* Fills column[DTX_DBTABLE_COLUMNS] and returns the number of columns. */
size_t dtx_dbtable_columns(enum dtx_sql_table table, struct dtx_dbtable_column *column);
/* Appends the statement that inserts a row of n values; with `ignore` an existing row stays as it
 * is. */
void dtx_dbtable_insert(enum dtx_sql_table table, bool ignore, size_t n, struct dtx_buf *out);
/* The value of one column.  A text of v is borrowed; other JSON is written to `text` as canonical
 * text. */
struct dtx_db_val dtx_dbtable_value(const json_t *v, const struct dtx_dbtable_column *column,
                                    struct dtx_buf *text);

#endif
