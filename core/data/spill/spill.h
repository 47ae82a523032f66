/* Moves data to disk when the memory budget is nearly used up.  Each run has one temporary file
 * without a name, in $TMPDIR or /tmp.
 *
 * The file is mapped read-only.  Columns and arrays in it are used as before, but they do not count
 * against the budget, and the kernel may drop their pages.  The space of a piece is returned when
 * its last owner is released.  Thread safe. */
#ifndef DTX_DATA_SPILL_SPILL_H
#define DTX_DATA_SPILL_SPILL_H

#include "core/data/batch.h"

struct dtx_spill;

/* What was moved to disk, for the record.  Updated without a lock. */
struct dtx_spill_count {
	atomic_llong rows, bytes;
};

/* The file itself is made when the first piece is written. */
DTX_MUSTUSE enum dtx_code dtx_spill_new(struct dtx_spill **out, struct dtx_err *err);
/* Owners of pieces may outlive it.  NULL is allowed. */
void dtx_spill_free(struct dtx_spill *s);

/* Whether so much of the budget is used that tables should be moved to disk, or (at a later point)
 * the state of operators.  If s is NULL: never. */
bool dtx_spill_tables(const struct dtx_spill *s);
bool dtx_spill_states(const struct dtx_spill *s);

/* Takes the pages of the file that were read out of the memory of the process, where they count
 * beside the budget.  They can be read as before.  Any thread may call it; best after some tens of
 * thousands of rows.  NULL is allowed. */
void dtx_spill_trim(struct dtx_spill *s);

/* Writes n bytes.  They are readable at *out as long as *owner lives. */
DTX_MUSTUSE enum dtx_code dtx_spill_bytes(struct dtx_spill *s, const void *bytes, size_t n,
                                          const void **out, struct dtx_owner **owner,
                                          struct dtx_spill_count *count, struct dtx_err *err);
/* Moves the columns and row ids of a dense batch to the file; the batch can be used as before.
 * Cells of workbooks, constants and dictionaries stay in memory.  count may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_spill_batch(struct dtx_spill *s, struct dtx_batch *b,
                                          struct dtx_spill_count *count, struct dtx_err *err);

#endif
