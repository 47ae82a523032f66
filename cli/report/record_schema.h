/* JSON Schema (2020-12) of `dtx provenance --json`, `run --record` and receipts' records. */
#ifndef DTX_CLI_REPORT_RECORD_SCHEMA_H
#define DTX_CLI_REPORT_RECORD_SCHEMA_H

#include "core/base/text/json.h"

/* New reference; NULL: out of memory. */
json_t *dtx_record_schema(void);

#endif
