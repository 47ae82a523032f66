/* The difference of two texts, line by line, as `diff -u` shows it. */
#ifndef DTX_CLI_COMPARE_UDIFF_H
#define DTX_CLI_COMPARE_UDIFF_H

#include "core/base/buf.h"

/* Nothing for equal texts.  Names go into the head. Codes: no_memory, cell_limit (too many lines).
 */
DTX_MUSTUSE enum dtx_code dtx_udiff(const char *name_a, struct dtx_str a, const char *name_b,
                                    struct dtx_str b, struct dtx_buf *out, struct dtx_err *err);

#endif
