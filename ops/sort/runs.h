/* Sorted runs on disk: what a sorter leaves there when memory is short. */
#ifndef DTX_OPS_SORT_RUNS_H
#define DTX_OPS_SORT_RUNS_H

#include "ops/sort/sorter.h"

struct dtx_run_file { /* all of it in the spill file, but for the batches' heads */
	const struct dtx_sort_row *row;
	const uint64_t *pos;
	const char *bytes;
	size_t n;
	struct dtx_kept kept;
	struct dtx_owner *owner[3]; /* of row, pos, bytes */
};
struct dtx_runs { /* one worker's */
	struct dtx_run_file *run;
	size_t n, cap;
};
#define DTX_RUNS_INIT                                                                              \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

/* Whether the sorter should leave memory now: it is short, and the run would not be tiny.  coming:
 * bytes that a batch has beside what is kept of it while it is added; 0: all of it is kept. */
bool dtx_runs_wanted(const struct dtx_opctx *ox, const struct dtx_sorter *s, size_t coming);
/* Sorts what the sorter holds and moves it to disk; the sorter is empty again.  packed: of its
 * batches, where they have no spans; NULL: they have them. */
DTX_MUSTUSE enum dtx_code dtx_runs_spill(struct dtx_runs *r, const struct dtx_opctx *ox,
                                         struct dtx_sorter *s, const struct dtx_packed *packed,
                                         struct dtx_err *err);
struct dtx_sorted dtx_runs_view(const struct dtx_runs *r, size_t i);
void dtx_runs_clear(struct dtx_runs *r);

#endif
