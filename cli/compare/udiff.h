/* The difference of two texts, line by line, in the format of `diff -u`. */
#ifndef DTX_CLI_COMPARE_UDIFF_H
#define DTX_CLI_COMPARE_UDIFF_H

#include "core/base/memory/buf.h"

/* Appends the difference; nothing if the texts are equal. The names are in the header lines.
 * Errors: no_memory, cell_limit (too many lines). */
DTX_MUSTUSE enum dtx_code dtx_udiff(const char *name_a, struct dtx_str a, const char *name_b,
                                    struct dtx_str b, struct dtx_buf *out, struct dtx_err *err);

#endif
