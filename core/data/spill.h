/* Memory that goes to disk when the budget is tight: one unlinked temp file per run, in $TMPDIR or
 * /tmp.
 *
 * What is put there is mapped read-only: columns and arrays in it are used as before, but do not
 * count against the budget, and the kernel may drop their pages.  Space is given back when the last
 * owner of a piece of the file goes.  Thread safe. */
#ifndef DTX_DATA_SPILL_H
#define DTX_DATA_SPILL_H

#include "core/data/batch.h"

struct dtx_spill;

/* What went to disk, for the record; added to without a lock. */
struct dtx_spill_count {
	atomic_llong rows, bytes;
};

/* Makes no file before something is put. */
DTX_MUSTUSE enum dtx_code dtx_spill_new(struct dtx_spill **out, struct dtx_err *err);
/* Owners may outlive it.  NULL is fine. */
void dtx_spill_free(struct dtx_spill *s);

/* Whether memory is so short that tables at rest, or (later) the state of a sink, should leave it.
 * s NULL: never. */
bool dtx_spill_tables(const struct dtx_spill *s);
bool dtx_spill_states(const struct dtx_spill *s);

/* n bytes, at *out as long as *owner lives. */
DTX_MUSTUSE enum dtx_code dtx_spill_bytes(struct dtx_spill *s, const void *bytes, size_t n,
                                          const void **out, struct dtx_owner **owner,
                                          struct dtx_spill_count *count, struct dtx_err *err);
/* The columns and row ids of a dense batch move to the file; it looks as before.  Cells of
 * workbooks, constants and dictionaries stay in memory.  count may be NULL. */
DTX_MUSTUSE enum dtx_code dtx_spill_batch(struct dtx_spill *s, struct dtx_batch *b,
                                          struct dtx_spill_count *count, struct dtx_err *err);

#endif
