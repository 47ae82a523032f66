/* Finds the columns that the cells of a record belong to if it has too many or too few cells. */
#ifndef DTX_IO_CSV_MEND_CSV_ALIGN_H
#define DTX_IO_CSV_MEND_CSV_ALIGN_H

#include "core/io/csv/csv_ref.h"
#include "core/io/csv/mend/csv_shapes.h"

#define DTX_CSV_ALIGN_EXTRA 8u    /* limit of superfluous cells that are joined to others */
#define DTX_CSV_ALIGN_COLS  1024u /* limit of columns of a table in which cells are joined */

struct dtx_csv_top;

/* How to move the cells of a record into the columns. */
struct dtx_csv_move {
	enum dtx_csv_move_kind {
		DTX_CSV_MOVE_NONE, /* as they are, or it is not known how */
		DTX_CSV_MOVE_DROP, /* cell `at` is empty and superfluous */
		DTX_CSV_MOVE_JOIN, /* delimiters are inside texts or numbers, see `join` */
		DTX_CSV_MOVE_GAP,  /* column `at` has no cell */
		DTX_CSV_MOVE_SPLIT /* cell `at` is two cells: its first `bytes` and the rest */
	} kind;
	uint32_t at;
	size_t bytes;
	/* The n cells from join[i].at on are one cell. */
	struct dtx_csv_join {
		uint32_t at, n;
	} join[DTX_CSV_ALIGN_EXTRA];
	uint32_t njoins;
};
/* Returns the move that makes all cells look like those of their columns, if they do not already
 * and there is only one such move. */
struct dtx_csv_move dtx_csv_align(const struct dtx_csv_shapes *s,
                                  const struct dtx_csv_ref_record *rec);
/* Learns from the first records in which columns a delimiter may be inside a text or number. Call
 * it once, after the shapes were made. */
void dtx_csv_align_learn(struct dtx_csv_shapes *s, const struct dtx_csv_top *top);
/* Moves n cells; there must be room for one more. `text` has the texts of the cells, and gets those
 * of joined cells. False: out of memory. */
DTX_MUSTUSE bool dtx_csv_move_cells(const struct dtx_csv_move *m, struct dtx_csv_ref_cell *cell,
                                    size_t n, struct dtx_buf *text, struct dtx_str delim);

#endif
