/* Where the cells of a record belong that has one too many or one too few. */
#ifndef DTX_IO_CSV_ALIGN_H
#define DTX_IO_CSV_ALIGN_H

#include "core/io/csv_ref.h"
#include "core/io/csv_shapes.h"

/* How the cells [0, n) of a record go into the columns: those before `at` as they stand, those
 * behind it one column further left (`drop`, of an empty cell) or right. */
struct dtx_csv_move {
	enum dtx_csv_move_kind {
		DTX_CSV_MOVE_NONE, /* as they stand, or nothing tells */
		DTX_CSV_MOVE_DROP, /* cell `at` is empty, and one too many */
		DTX_CSV_MOVE_JOIN, /* cells `at` and at + 1 are one, parted at a delimiter of its
		                      text */
		DTX_CSV_MOVE_GAP,  /* column `at` has no cell */
		DTX_CSV_MOVE_SPLIT /* cell `at` is two: its first `bytes`, and the rest */
	} kind;
	uint32_t at;
	size_t bytes;
};
/* The only way that makes all cells look like those of their columns, where they do not as they
 * stand. */
struct dtx_csv_move dtx_csv_align(const struct dtx_csv_shapes *s,
                                  const struct dtx_csv_ref_record *rec);
/* Moves n cells, with room for one more; `text` holds theirs, and takes that of joined ones. False:
 * no memory. */
DTX_MUSTUSE bool dtx_csv_move_cells(const struct dtx_csv_move *m, struct dtx_csv_ref_cell *cell,
                                    size_t n, struct dtx_buf *text, struct dtx_str delim);

#endif
