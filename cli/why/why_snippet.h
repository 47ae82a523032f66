/* What is known about a column that a snippet made: the columns that it came from, and how that is
 * known. Rows are never known. */
#ifndef DTX_CLI_WHY_WHY_SNIPPET_H
#define DTX_CLI_WHY_WHY_SNIPPET_H

#include "core/base/text/json.h"

/* The report for a column of output `output`:
 *
 * {"column","run","formula","composed","class","snippets": [{"cell_id","op","columns","formulas",
 * "reads":[{"table","columns"}],"class"}]}
 *
 * A new reference; NULL: out of memory. */
json_t *dtx_why_snippet(const json_t *record, uint32_t output, const char *column);
void dtx_why_snippet_print(const json_t *report, struct dtx_buf *out);

#endif
