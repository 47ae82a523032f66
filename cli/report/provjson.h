/* A record as a W3C PROV document in its JSON form (PROV-JSON). */
#ifndef DTX_CLI_REPORT_PROVJSON_H
#define DTX_CLI_REPORT_PROVJSON_H

#include "core/base/text/json.h"

/* New reference; NULL: out of memory. */
json_t *dtx_provjson(const json_t *record);

#endif
