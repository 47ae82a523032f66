/* Compares two recorded runs. */
#ifndef DTX_CLI_COMPARE_RUNDIFF_H
#define DTX_CLI_COMPARE_RUNDIFF_H

#include "core/base/text/json.h"

/* The records come from dtx_query_record with `full` and dtx_query_files. Returns a new
 * reference, or NULL if out of memory:
 *
 * {"a","b","verdict","differences":[{"part","what","a","b"}],"cell","rows"}
 *
 * The parts are plan, inputs, code, schema, rows, result, environment, in this order. The
 * verdict is about the results: identical, same-table, same-rows or different. "cell" is the
 * first cell that differs and "rows" compares the first results that differ (see dtx_rowdiff);
 * both may be absent, because they need both files. */
json_t *dtx_rundiff(const json_t *a, const json_t *b);
void dtx_rundiff_print(const json_t *diff, struct dtx_buf *out);

#endif
