/* Which source cells a snippet's result depends on, seen by changing them: the recorded run again
 * and again, each time with a column or some rows changed before the code gets them. */
#ifndef DTX_CLI_WHY_OBSERVE_H
#define DTX_CLI_WHY_OBSERVE_H

#include "cli/why/why_replay.h"

#define DTX_OBSERVE_RUNS  200
#define DTX_OBSERVE_MS    10000 /* then it ends, but not before */
#define DTX_OBSERVE_LEAST 60    /* so many runs: a machine under load tells no less */

struct dtx_observe_ask {
	const char *column; /* of output x->output */
	int64_t row;        /* from 1; or */
	const json_t *key;  /* {"column": "text"}: the one row with these cells; NULL */
	bool values;
};
/* {"row","value","runs","complete","cells":[{"alias","column","label","how","cells":[{"cell",
 * "value"}]}],"decided_by":[{"alias","column","how"}]}.  A column whose change changes the cell is
 * one of `cells`, one whose change takes the row away is one of `decided_by`.  It may name too
 * little.  The caller owns *out.  Codes: usage (no such row), no_translation (the run gives another
 * table now), and those of a run. */
DTX_MUSTUSE enum dtx_code dtx_observe(struct dtx_why_replay *x, const struct dtx_observe_ask *ask,
                                      json_t **out, struct dtx_err *err);
/* For people. */
void dtx_observe_print(const json_t *report, size_t most, struct dtx_buf *out);

#endif
