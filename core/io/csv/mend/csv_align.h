/* Where the cells of a record belong that has too many or too few of them. */
#ifndef DTX_IO_CSV_MEND_CSV_ALIGN_H
#define DTX_IO_CSV_MEND_CSV_ALIGN_H

#include "core/io/csv/csv_ref.h"
#include "core/io/csv/mend/csv_shapes.h"

#define DTX_CSV_ALIGN_EXTRA 8u    /* cells too many that are joined to others */
#define DTX_CSV_ALIGN_COLS  1024u /* of a table in which cells are joined */

struct dtx_csv_top;

/* How the cells of a record go into the columns. */
struct dtx_csv_move {
	enum dtx_csv_move_kind {
		DTX_CSV_MOVE_NONE, /* as they stand, or nothing tells */
		DTX_CSV_MOVE_DROP, /* cell `at` is empty, and one too many */
		DTX_CSV_MOVE_JOIN, /* delimiters stand inside of texts or numbers: see `join` */
		DTX_CSV_MOVE_GAP,  /* column `at` has no cell */
		DTX_CSV_MOVE_SPLIT /* cell `at` is two: its first `bytes`, and the rest */
	} kind;
	uint32_t at;
	size_t bytes;
	/* The cells from join[i].at on, so many, are one. */
	struct dtx_csv_join {
		uint32_t at, n;
	} join[DTX_CSV_ALIGN_EXTRA];
	uint32_t njoins;
};
/* The only way that makes all cells look like those of their columns, where they do not as they
 * stand. */
struct dtx_csv_move dtx_csv_align(const struct dtx_csv_shapes *s,
                                  const struct dtx_csv_ref_record *rec);
/* Tells `s` in which columns records may have a delimiter inside of a text or number: the first
 * records show it.  Call it once, when the shapes are new. */
void dtx_csv_align_learn(struct dtx_csv_shapes *s, const struct dtx_csv_top *top);
/* Moves n cells, with room for one more; `text` holds theirs, and takes that of joined ones. False:
 * no memory. */
DTX_MUSTUSE bool dtx_csv_move_cells(const struct dtx_csv_move *m, struct dtx_csv_ref_cell *cell,
                                    size_t n, struct dtx_buf *text, struct dtx_str delim);

#endif
