/* Which columns of an input stay: `requires`, `types` and `extra`. */
#ifndef DTX_IO_COLUMNS_H
#define DTX_IO_COLUMNS_H

#include "core/io/reader.h"

/* The declared type of a column, NULL if there is none. */
const struct dtx_read_type *dtx_columns_declared(const struct dtx_read_opts *opts,
                                                 const char *name);
/* Fills keep[0..n).  missing_column when a required or declared one is absent, extra_column when
 * there is one too many and `extra` is error. */
DTX_MUSTUSE enum dtx_code dtx_columns_choose(const struct dtx_read_opts *opts, const char *label,
                                             const char *const *names, uint32_t n, bool *keep,
                                             struct dtx_err *err);
/* For a reader that makes the rows before the first value that fails again. */
struct dtx_cast_found {
	uint32_t bad; /* its row in the batch; 0: it is the first, or none failed */
	/* The reader counts these when the batch is made. */
	int64_t misfits; /* what on_error made null */
	int64_t offsets; /* times whose offset from UTC the declared type does not show */
};
/* Column `col` of b as its declared type, by that type's own rules; r counts what on_error made
 * null, or *found does (NULL: r).  Nothing to do for a column without one and for keep_text. */
DTX_MUSTUSE enum dtx_code dtx_columns_cast(struct dtx_reader *r, const struct dtx_read_opts *opts,
                                           struct dtx_batch *b, uint32_t col,
                                           struct dtx_cast_found *found, struct dtx_err *err);
/* Adds what was found to the reader's counts. */
void dtx_columns_count(struct dtx_reader *r, const struct dtx_cast_found *found);
/* All columns that `need` (per column) wants the values of.  Where one fails behind the first row,
 * b ends before it and *late (initialised) has the error, which counts if its row is wanted. */
DTX_MUSTUSE enum dtx_code dtx_columns_cast_all(struct dtx_reader *r,
                                               const struct dtx_read_opts *opts,
                                               struct dtx_batch *b, const uint8_t *need,
                                               struct dtx_err *late, struct dtx_err *err);

#endif
