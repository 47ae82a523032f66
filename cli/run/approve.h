/* Shows a snippet to the user at the terminal, and asks whether it may run. */
#ifndef DTX_CLI_RUN_APPROVE_H
#define DTX_CLI_RUN_APPROVE_H

#include "core/fallback/approval.h"

/* Whether a user can be asked: messages go to a terminal, and it can be opened. */
bool dtx_approve_terminal(void);
/* The text that the user reads before deciding. */
void dtx_approve_text(const struct dtx_approval_view *view, struct dtx_buf *out);
/* Shows the text on /dev/tty and asks. Anything but y or yes is no. Errors: needs_approval (no
 * terminal), output_io, no_memory. */
DTX_MUSTUSE enum dtx_code dtx_approve_ask(const struct dtx_approval_view *view, bool *yes,
                                          struct dtx_err *err);

#endif
