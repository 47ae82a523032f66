/* Why a column of an input is text: the first cell that is not what most of its cells are.
 *
 * A formula or step that wants a number and gets text says little where one cell of a thousand is
 * "n/a".  After such a finding the column is followed back to its input and read once more, alone.
 */
#ifndef DTX_PLAN_EXEC_TEXT_CAUSE_H
#define DTX_PLAN_EXEC_TEXT_CAUSE_H

#include "core/plan/exec/exec_parts.h"

/* A type_mismatch of a step that was bound to real columns: gets the place of the cell, and as its
 * hint what to do about it.  Without such a cell f stays as it is.  Fails with memory and where the
 * input can no longer be read. */
DTX_MUSTUSE enum dtx_code dtx_text_cause(const struct dtx_exec_run *x, uint32_t step,
                                         struct dtx_err *f, struct dtx_err *err);

#endif
