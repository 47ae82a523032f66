/* Answers `why` and `why-not` from the row numbers that the run kept (--lineage rows). This needs
 * no second run, and works if the input files are gone. */
#ifndef DTX_CLI_WHY_WHY_STORED_H
#define DTX_CLI_WHY_WHY_STORED_H

#include "cli/why/why.h"
#include "cli/why/why_not.h"

/* Makes w->report. *answered false: the kept numbers do not answer this, so the plan must run
 * again. */
DTX_MUSTUSE enum dtx_code dtx_why_stored(struct dtx_why *w, const char *path, bool *answered,
                                         struct dtx_err *err);
/* The same for the row that dtx_why_not_ask parsed. A row that is asked by --key can only be found
 * by running the plan, so *answered is false for it. */
DTX_MUSTUSE enum dtx_code dtx_why_not_stored(struct dtx_why_not *w, bool *answered,
                                             struct dtx_err *err);
/* Appends the note below such an answer: where it comes from, and which files have changed
 * since. */
void dtx_why_stored_note(const json_t *report, struct dtx_buf *out);

#endif
