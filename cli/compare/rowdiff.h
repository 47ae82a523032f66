/* Compares the rows of two results by their key. */
#ifndef DTX_CLI_COMPARE_ROWDIFF_H
#define DTX_CLI_COMPARE_ROWDIFF_H

#include "core/base/text/json.h"

enum { DTX_ROWDIFF_ROWS = 10 }; /* how many rows are listed */

/* Compares output `i` of two records, which come from dtx_query_record with `full` and
 * dtx_query_files: rows that b has, lacks, or has with other values. The key is `expect.keys` of
 * b's plan, otherwise the keys of its last group_by.
 *
 * Returns {"key":[],"added","removed","changed",
 * "rows":[{"change","key":[],"cells":[{"column","a","b"}]}]}, a new reference. NULL if there is
 * no key, if it does not identify single rows, or if a file is not what its run wrote. */
json_t *dtx_rowdiff(const json_t *a, const json_t *b, size_t i);
void dtx_rowdiff_print(const json_t *rows, struct dtx_buf *out);

#endif
