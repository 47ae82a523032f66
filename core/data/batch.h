/* Rows in flight and tables at rest. */
#ifndef DTX_DATA_BATCH_H
#define DTX_DATA_BATCH_H

#include "core/data/column.h"
#include "core/data/schema.h"

/* Physical place of a row. */
struct dtx_place {
	int64_t row;  /* sheet row or line of the file, from 0; -1: unknown */
	int64_t byte; /* where the record begins; -1: no text file */
};
/* Where rows came from: printed as book.xlsx!FY24!C17 or sales.csv!L1042!amount. */
struct dtx_origin {
	/* Decodes a row id of a batch (first_row + i, or rec[i]); may be slow: errors only. */
	void (*locate)(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out);
	/* The place's row alone, -1: only `locate` tells; NULL: it always has to. */
	int64_t (*line)(const struct dtx_origin *o, uint64_t row_id);
	const void *arg;
	const char *file;             /* as given */
	const char *alias;            /* input name */
	const char *sheet;            /* NULL: a text file */
	const uint32_t *physical_col; /* per schema column, NULL: identity; UINT32_MAX: made */
	uint32_t ncols;
};

/* What to do about a cell that does not fit the type that its input declares. */
#define DTX_MISFIT_HINT                                                                            \
	"beside the type, \"on_error\": \"null\" makes null of such a cell, \"keep_text\" leaves " \
	"the "                                                                                     \
	"column text"
#define DTX_NO_ROW UINT64_MAX /* row id of a row that was made, among rows that were read */

/* A column that nobody needs is NULL in col[]. */
struct dtx_batch {
	uint64_t seq; /* place in the stream: 0, 1, 2 ... */
	uint32_t sub; /* an op may make several of one */
	bool last;    /* final batch of this seq (readers) */
	uint32_t nrows, ncols, nsel;
	const uint16_t *sel; /* live rows, ascending; NULL: all (then nsel == nrows) */
	uint16_t *sel_mem;   /* owned memory behind sel, room for nrows; NULL until first needed */
	struct dtx_column **col;
	uint64_t first_row; /* row id of row 0 when rec is NULL and origin is not. Ids are the
	                     * reader's own (CSV: seq << 32 | record of the morsel) */
	const uint64_t
		*rec; /* row id of each row, or NULL: first_row + i; DTX_NO_ROW: it was made */
	struct dtx_owner *rec_owner;
	const struct dtx_origin *origin; /* NULL: rows were made, not read */
	const struct dtx_schema *schema;
	/* Per column, per row: what live cells print as, NULL: not known.  Borrowed, set only while
	 * one worker hashes and formats the batch; copies have none. */
	const struct dtx_printed *const *printed;
};

/* A batch with ncols NULL columns; freed with its references. */
DTX_MUSTUSE enum dtx_code dtx_batch_new(const struct dtx_schema *schema, uint32_t nrows,
                                        struct dtx_batch **out, struct dtx_err *err);
void dtx_batch_free(struct dtx_batch *b);
/* Same rows, new references, own col array. */
DTX_MUSTUSE enum dtx_code dtx_batch_copy(const struct dtx_batch *b, struct dtx_batch **out,
                                         struct dtx_err *err);
/* Makes the rows dense: gathers through sel (no-op without). */
DTX_MUSTUSE enum dtx_code dtx_batch_dense(struct dtx_batch *b, struct dtx_err *err);
/* Whether a row was read, and its id.  Rows that were made have no place in a source. */
bool dtx_batch_id(const struct dtx_batch *b, uint32_t row, uint64_t *id);
/* Writable selection of all live rows, ready to be narrowed in place; b->nsel is its length. */
DTX_MUSTUSE enum dtx_code dtx_batch_sel(struct dtx_batch *b, uint16_t **sel, struct dtx_err *err);
/* Fills the place of an error about row (of the batch) and column (of b->schema, -1: none): input,
 * sheet, row, byte, cell ("C17" or "L1042"), column name; nothing when the rows were made. */
void dtx_batch_blame(const struct dtx_batch *b, uint32_t row, int32_t column, struct dtx_err *err);
/* The physical row alone, from 0; -1: not known. */
int64_t dtx_batch_physical(const struct dtx_batch *b, uint32_t row);
/* The column as values of schema->field[i].type: itself when FLAT, DICT or CONST, else the typed
 * twin, made on first need (only the batch's worker calls it).  Borrowed.  A value that does not
 * fit: DTX_E_RETYPE when the type was guessed, else cast_failed, blamed, if its row is live. */
DTX_MUSTUSE enum dtx_code dtx_batch_value(struct dtx_batch *b, uint32_t i, struct dtx_column **out,
                                          struct dtx_err *err);

/* Checks that the cells of source columns fit their declared types, for who writes the cells as
 * they stand: cast_failed, blamed. */
DTX_MUSTUSE enum dtx_code dtx_batch_declared(struct dtx_batch *b, struct dtx_err *err);

/* Position of a row in its stream, for order: seq 28 bits, sub 20, row 16. */
static inline uint64_t dtx_batch_pos(const struct dtx_batch *b, uint32_t row)
{
	return b->seq << 36 | (uint64_t)b->sub << 16 | row;
}

/* Batches in order; schema and batches belong to the table. Counted. */
struct dtx_table {
	atomic_int refs;
	struct dtx_arena arena; /* schema, names, origins */
	const struct dtx_schema *schema;
	struct dtx_batch **batch;
	size_t nbatches, cap;
	int64_t nrows;          /* live rows */
	struct dtx_owner *keep; /* what spans and origins point into; NULL */
};
/* Copies the schema. */
DTX_MUSTUSE enum dtx_code dtx_table_new(const struct dtx_schema *schema, struct dtx_table **out,
                                        struct dtx_err *err);
/* Takes the batch, also on failure; gives it seq = its index and the table's schema. */
DTX_MUSTUSE enum dtx_code dtx_table_take(struct dtx_table *t, struct dtx_batch *b,
                                         struct dtx_err *err);
struct dtx_table *dtx_table_ref(struct dtx_table *t);
void dtx_table_unref(struct dtx_table *t);

#endif
