/* Versions of the libraries this binary runs with. */
#ifndef DTX_CLI_VERSIONS_H
#define DTX_CLI_VERSIONS_H

#include "core/base/text/json.h"

/* {"jansson": "2.14", ...}; new reference.  Libraries that are opened on demand are opened. */
json_t *dtx_versions(void);

#endif
