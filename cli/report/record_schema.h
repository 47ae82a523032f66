/* JSON Schema (2020-12) of the record that `dtx provenance --json`, `run --record` and receipts
 * contain. Other programs may rely on it. */
#ifndef DTX_CLI_REPORT_RECORD_SCHEMA_H
#define DTX_CLI_REPORT_RECORD_SCHEMA_H

#include "core/base/text/json.h"

/* New reference; NULL: out of memory. */
json_t *dtx_record_schema(void);

#endif
