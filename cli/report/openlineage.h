/* A record as OpenLineage run events, one JSON object per line: START, then COMPLETE, FAIL or
 * ABORT. */
#ifndef DTX_CLI_REPORT_OPENLINEAGE_H
#define DTX_CLI_REPORT_OPENLINEAGE_H

#include "core/base/text/json.h"

/* `record` comes from dtx_query_record with `full`. A run that has not ended has only START. The
 * caller checks the buffer for failure. */
void dtx_openlineage_print(const json_t *record, struct dtx_buf *out);
/* Writes a time as "2026-11-21T23:40:12.000123Z". */
#define DTX_TIME_ISO 32
void dtx_time_iso(int64_t us, char out[DTX_TIME_ISO]);

#endif
