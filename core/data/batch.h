/* Batches (the rows that move through a plan) and tables (batches that are kept).
 *
 * A batch has at most DTX_BATCH_ROWS rows.  A filter does not copy rows: it narrows the selection
 * `sel`, and the rows that it lists are the live rows.  A batch belongs to one worker at a time,
 * but its columns are immutable and may be shared with other batches. */
#ifndef DTX_DATA_BATCH_H
#define DTX_DATA_BATCH_H

#include "core/data/column.h"
#include "core/data/schema.h"

/* Where a row is in the input. */
struct dtx_place {
	int64_t row;  /* sheet row or line of the file, from 0; -1: unknown */
	int64_t byte; /* offset of the record; -1: not a text file */
};
/* Where rows came from; printed as book.xlsx!FY24!C17 or sales.csv!L1042!amount. */
struct dtx_origin {
	/* Finds the place of a row by its id (first_row + i, or rec[i]).  May read the input again,
	 * so it is for errors only. */
	void (*locate)(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out);
	/* The row number alone; -1: only `locate` can tell.  A NULL function: always use
	 * `locate`. */
	int64_t (*line)(const struct dtx_origin *o, uint64_t row_id);
	const void *arg;
	const char *file;             /* path as the user gave it */
	const char *alias;            /* name of the input */
	const char *sheet;            /* NULL: a text file */
	const uint32_t *physical_col; /* input column of each schema column; NULL: the same number;
	                               * UINT32_MAX: it was made, not read */
	uint32_t ncols;
};

/* The hint for a cell that does not fit the type that its input declares. */
#define DTX_MISFIT_HINT                                                                            \
	"give the type \"on_error\": \"null\" to make such a cell null, or \"keep_text\" to keep " \
	"the column as text"
#define DTX_NO_ROW UINT64_MAX /* row id of a row that was made, among rows that were read */

/* Columns that no later step needs are NULL in col[]. */
struct dtx_batch {
	uint64_t seq; /* position in the stream: 0, 1, 2 ... */
	uint32_t sub; /* number among several batches that an op makes of one */
	bool last;    /* readers: the last batch with this seq */
	uint32_t nrows, ncols, nsel;
	const uint16_t *sel; /* live rows, ascending; NULL: all rows (then nsel == nrows) */
	uint16_t *sel_mem;   /* memory for `sel`, room for nrows; NULL until it is needed */
	struct dtx_column **col;
	uint64_t first_row; /* Row id of row 0, if rec is NULL and origin is not.  The reader
	                     * defines its ids (CSV: seq << 32 | record of the morsel). */
	const uint64_t
		*rec; /* row id of each row; NULL: first_row + i.  DTX_NO_ROW: the row was made */
	struct dtx_owner *rec_owner;
	const struct dtx_origin *origin; /* NULL: the rows were made, not read */
	const struct dtx_schema *schema;
	/* Per column and row: the text that a live cell is printed as; NULL: not known.  Borrowed.
	 * It is set only while one worker hashes and formats the batch; copies do not have it. */
	const struct dtx_printed *const *printed;
};

/* A batch whose ncols columns are all NULL.  dtx_batch_free also releases the references to its
 * columns. */
DTX_MUSTUSE enum dtx_code dtx_batch_new(const struct dtx_schema *schema, uint32_t nrows,
                                        struct dtx_batch **out, struct dtx_err *err);
void dtx_batch_free(struct dtx_batch *b);
/* A batch with the same rows, its own col array and new references to the columns. */
DTX_MUSTUSE enum dtx_code dtx_batch_copy(const struct dtx_batch *b, struct dtx_batch **out,
                                         struct dtx_err *err);
/* Removes the rows that are not live from all columns.  Does nothing if all rows are live. */
DTX_MUSTUSE enum dtx_code dtx_batch_dense(struct dtx_batch *b, struct dtx_err *err);
/* Whether the row was read, and its id.  A row that was made has no place in an input. */
bool dtx_batch_id(const struct dtx_batch *b, uint32_t row, uint64_t *id);
/* A selection of all live rows that the caller may narrow in place; b->nsel is its length. */
DTX_MUSTUSE enum dtx_code dtx_batch_sel(struct dtx_batch *b, uint16_t **sel, struct dtx_err *err);
/* Fills in where an error happened: input, sheet, row, byte, cell ("C17" or "L1042") and column
 * name, for a row of the batch and a column of b->schema (-1: none).  Does nothing if the rows were
 * made. */
void dtx_batch_set_position(const struct dtx_batch *b, uint32_t row, int32_t column,
                            struct dtx_err *err);
/* The physical row of the input, from 0; -1: unknown. */
int64_t dtx_batch_physical(const struct dtx_batch *b, uint32_t row);
/* Column i as values of the type schema->field[i].type.  For FLAT, DICT and CONST that is the
 * column itself; for late-typed columns it is the typed twin, which is made when it is first
 * needed.  *out is borrowed.  Only the worker that has the batch may call it.  If a value of a live
 * row does not fit: DTX_E_RETYPE if the type was guessed, else cast_failed with the place of the
 * cell. */
DTX_MUSTUSE enum dtx_code dtx_batch_value(struct dtx_batch *b, uint32_t i, struct dtx_column **out,
                                          struct dtx_err *err);

/* Checks that the cells of source columns fit their declared types, for callers that write cells as
 * they are in the source.  Fails with cast_failed and the place of the cell. */
DTX_MUSTUSE enum dtx_code dtx_batch_declared(struct dtx_batch *b, struct dtx_err *err);

/* Position of a row in its stream, for comparisons: 28 bits of seq, 20 of sub, 16 of row. */
static inline uint64_t dtx_batch_pos(const struct dtx_batch *b, uint32_t row)
{
	return b->seq << 36 | (uint64_t)b->sub << 16 | row;
}

/* Batches in order.  The table owns its schema and its batches.  It is reference counted. */
struct dtx_table {
	atomic_int refs;
	struct dtx_arena arena; /* schema, names, origins */
	const struct dtx_schema *schema;
	struct dtx_batch **batch;
	size_t nbatches, cap;
	int64_t nrows;          /* all live rows */
	struct dtx_owner *keep; /* memory that spans and origins point into; NULL */
};
/* Makes a table with a copy of the schema. */
DTX_MUSTUSE enum dtx_code dtx_table_new(const struct dtx_schema *schema, struct dtx_table **out,
                                        struct dtx_err *err);
/* Appends a batch.  The table takes it, also on failure, and sets its seq (the index) and its
 * schema. */
DTX_MUSTUSE enum dtx_code dtx_table_take(struct dtx_table *t, struct dtx_batch *b,
                                         struct dtx_err *err);
struct dtx_table *dtx_table_ref(struct dtx_table *t);
void dtx_table_unref(struct dtx_table *t);

#endif
