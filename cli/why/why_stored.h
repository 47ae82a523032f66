/* Answers of `why` and `why-not` from the row numbers that the run kept (--lineage rows): without a
 * second run, and of files that are gone. */
#ifndef DTX_CLI_WHY_WHY_STORED_H
#define DTX_CLI_WHY_WHY_STORED_H

#include "cli/why/why.h"
#include "cli/why/why_not.h"

/* Makes w->report; *told false: nothing is kept that answers, the plan must run again. */
DTX_MUSTUSE enum dtx_code dtx_why_stored(struct dtx_why *w, const char *path, bool *told,
                                         struct dtx_err *err);
/* The same of the row that dtx_why_not_ask found, whose key is known by running alone. */
DTX_MUSTUSE enum dtx_code dtx_why_not_stored(struct dtx_why_not *w, bool *told,
                                             struct dtx_err *err);
/* What stands below such an answer: where it is from, and which files are not as they were read. */
void dtx_why_stored_note(const json_t *report, struct dtx_buf *out);

#endif
