/* Makes the report of a run from how its worker ended and what it left. */
#ifndef DTX_SANDBOX_MAIN_REPORT_H
#define DTX_SANDBOX_MAIN_REPORT_H

#include "sandbox/main/super.h"

/* For a run that never began. The layer is the first word of the error's message. */
void dtx_report_refused(struct dtx_jail_report *r, const struct dtx_err *err);
/* For a run that ended: sets status, code and reason. It reads the result frame, which must not
 * happen before the worker is dead or its result copied, and makes b->table if there is one. */
void dtx_report_outcome(struct dtx_box *b, struct dtx_jail_report *r);
/* Reads what the worker says about its run: exception, check, notes, timings. The JSON may be
 * hostile; what does not fit is left out. *bad gets the worker's reason for a bad result. */
void dtx_report_parse(struct dtx_jail_report *r, struct dtx_str json, char *bad, size_t size);

#endif
