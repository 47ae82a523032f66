/* Which columns of an input are kept, and with which types: the options `requires`, `types` and
 * `extra`. */
#ifndef DTX_IO_COLUMNS_H
#define DTX_IO_COLUMNS_H

#include "core/io/reader.h"

/* Gives `opts` an index of the names of its types. Without memory for it, the
 * names are searched one by one. */
void dtx_columns_index(struct dtx_arena *arena, struct dtx_read_opts *opts);
/* The declared type of a column, NULL if none. */
const struct dtx_read_type *dtx_columns_declared(const struct dtx_read_opts *opts,
                                                 const char *name);
/* Fills keep[0..n). Errors: missing_column if a required or declared column is absent;
 * extra_column if there is another one and `extra` is error. */
DTX_MUSTUSE enum dtx_code dtx_columns_choose(const struct dtx_read_opts *opts, const char *label,
                                             const char *const *names, uint32_t n, bool *keep,
                                             struct dtx_err *err);
/* For a reader that, after a value failed, makes the rows before it again. */
struct dtx_cast_found {
	uint32_t bad; /* row of that value in the batch; 0: it is the first row, or none failed */
	/* the reader counts these when the batch is complete */
	int64_t misfits; /* cells that on_error made null */
	int64_t offsets; /* times whose offset from UTC is lost in the declared type */
};
/* Casts column `col` of b to its declared type. What on_error made null is counted in *found, or
 * in r if `found` is NULL. Does nothing for a column without a declared type, or with keep_text. */
DTX_MUSTUSE enum dtx_code dtx_columns_cast(struct dtx_reader *r, const struct dtx_read_opts *opts,
                                           struct dtx_batch *b, uint32_t col,
                                           struct dtx_cast_found *found, struct dtx_err *err);
/* Adds the counts to those of the reader. */
void dtx_columns_count(struct dtx_reader *r, const struct dtx_cast_found *found);
/* Casts all columns whose values `need` wants. If a value fails after the first row, b is cut
 * before that row, and *late (initialised) gets the error, which counts only if that row is
 * wanted. */
DTX_MUSTUSE enum dtx_code dtx_columns_cast_all(struct dtx_reader *r,
                                               const struct dtx_read_opts *opts,
                                               struct dtx_batch *b, const uint8_t *need,
                                               struct dtx_err *late, struct dtx_err *err);

#endif
