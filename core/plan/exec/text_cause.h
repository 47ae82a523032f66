/* Finds out why a column of an input is text: the first cell that differs in kind from most.
 *
 * A formula that needs a number and gets text is a poor message where the reason is one "n/a" among
 * a thousand numbers. After such a finding the column is followed back to its input and read once
 * more, alone. */
#ifndef DTX_PLAN_EXEC_TEXT_CAUSE_H
#define DTX_PLAN_EXEC_TEXT_CAUSE_H

#include "core/plan/exec/exec_parts.h"

/* f is a type_mismatch of a step that was bound to real columns. It gets the place of the cell, and
 * a hint what to do. Where there is no such cell, f stays as it is. Codes: no_memory, and those of
 * a reader whose input can no longer be read. */
DTX_MUSTUSE enum dtx_code dtx_text_cause(const struct dtx_exec_run *x, uint32_t step,
                                         struct dtx_err *f, struct dtx_err *err);

#endif
