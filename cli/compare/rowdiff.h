/* The rows of two results side by side, by their key. */
#ifndef DTX_CLI_COMPARE_ROWDIFF_H
#define DTX_CLI_COMPARE_ROWDIFF_H

#include "core/base/text/json.h"

enum { DTX_ROWDIFF_ROWS = 10 }; /* that are named */

/* {"key":[],"added","removed","changed","rows":[{"change","key":[],"cells":[{"column","a","b"}]}]}
 * of output `i` of two records, as of dtx_query_record with `full` and dtx_query_files: what b has,
 * lacks, or has otherwise.  The key is `expect.keys` of b's plan, else what its last group_by is
 * by.  NULL where there is no key, where it does not tell one row, or where a file is not what its
 * run wrote.  New reference. */
json_t *dtx_rowdiff(const json_t *a, const json_t *b, size_t i);
void dtx_rowdiff_print(const json_t *rows, struct dtx_buf *out);

#endif
