/* Two recorded runs side by side. */
#ifndef DTX_CLI_COMPARE_RUNDIFF_H
#define DTX_CLI_COMPARE_RUNDIFF_H

#include "core/base/text/json.h"

/* {"a","b","verdict","differences":[{"part","what","a","b"}],"cell","rows"}; records as of
 * dtx_query_record with `full` and dtx_query_files.  Parts: plan, inputs, code, schema, rows,
 * result, environment, in this order.  The verdict is about the results: identical, same-table,
 * same-rows, different. "cell" (may be absent): the first cell of the results that differs, where
 * both files are at hand; "rows" (the same) of the first results that differ, see dtx_rowdiff.  New
 * reference; NULL: out of memory. */
json_t *dtx_rundiff(const json_t *a, const json_t *b);
void dtx_rundiff_print(const json_t *diff, struct dtx_buf *out);

#endif
