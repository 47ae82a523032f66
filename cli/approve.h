/* The person at the terminal: shows a snippet, asks whether it may run. */
#ifndef DTX_CLI_APPROVE_H
#define DTX_CLI_APPROVE_H

#include "core/fallback/gate.h"

/* Whether there is somebody to ask: messages go to a terminal, and it can be opened. */
bool dtx_approve_terminal(void);
/* What a person reads before deciding. */
void dtx_approve_text(const struct dtx_gate_view *view, struct dtx_buf *out);
/* For struct dtx_gate: on /dev/tty.  Anything but y or yes is no. */
DTX_MUSTUSE enum dtx_code dtx_approve_ask(void *arg, const struct dtx_gate_view *view, bool *yes,
                                          struct dtx_err *err);

#endif
