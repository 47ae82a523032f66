/* From how a worker ended and what it left to the report. */
#ifndef DTX_SANDBOX_MAIN_REPORT_H
#define DTX_SANDBOX_MAIN_REPORT_H

#include "sandbox/main/super.h"

/* A run that never began: layer from the message's first word. */
void dtx_report_refused(struct dtx_jail_report *r, const struct dtx_err *err);
/* Status, code and reason of a run that ended; reads the out frame (only now: the worker is dead)
 * and makes b->table when there is one. */
void dtx_report_outcome(struct dtx_box *b, struct dtx_jail_report *r);
/* The worker's own words: exception, check, notes, timings.  Hostile JSON; what does not fit is
 * left out.  *bad receives the worker's reason for a bad result. */
void dtx_report_parse(struct dtx_jail_report *r, struct dtx_str json, char *bad, size_t size);

#endif
