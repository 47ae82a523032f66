/* A record as OpenLineage run events, one JSON object a line: START, then COMPLETE, FAIL or ABORT.
 */
#ifndef DTX_CLI_REPORT_OPENLINEAGE_H
#define DTX_CLI_REPORT_OPENLINEAGE_H

#include "core/base/text/json.h"

/* record: of dtx_query_record with `full`.  A run that goes on has a START alone.  A failed buffer
 * is the caller's to see. */
void dtx_openlineage_print(const json_t *record, struct dtx_buf *out);
/* "2026-11-21T23:40:12.000123Z" */
#define DTX_TIME_ISO 32
void dtx_time_iso(int64_t us, char out[DTX_TIME_ISO]);

#endif
