/* Sorted runs on disk: where a sorter moves its rows when memory is short. */
#ifndef DTX_OPS_SORT_RUNS_H
#define DTX_OPS_SORT_RUNS_H

#include "ops/sort/sorter.h"

struct dtx_run_file { /* everything is in the spill file, except the descriptions of batches */
	const struct dtx_sort_row *row;
	const uint64_t *pos;
	const char *bytes;
	size_t n;
	struct dtx_kept kept;
	struct dtx_owner *owner[3]; /* of row, pos, bytes */
};
struct dtx_runs { /* of one worker */
	struct dtx_run_file *run;
	size_t n, cap;
};
#define DTX_RUNS_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Whether the sorter should move its rows to disk now: memory is short, and the run would not be
 * tiny.  coming: bytes that a batch needs, in addition to what is kept of it, while it is added; 0:
 * all of it is kept. */
bool dtx_runs_wanted(const struct dtx_opctx *ox, const struct dtx_sorter *s, size_t coming);
/* Sorts what the sorter has and moves it to disk; the sorter is empty afterwards.  packed: records
 * of its batches if they have no spans; NULL: they have spans. */
DTX_MUSTUSE enum dtx_code dtx_runs_spill(struct dtx_runs *r, const struct dtx_opctx *ox,
                                         struct dtx_sorter *s, const struct dtx_packed *packed,
                                         struct dtx_err *err);
struct dtx_sorted dtx_runs_view(const struct dtx_runs *r, size_t i);
void dtx_runs_clear(struct dtx_runs *r);

#endif
