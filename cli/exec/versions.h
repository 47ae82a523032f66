/* The versions of the libraries that this binary uses. */
#ifndef DTX_CLI_EXEC_VERSIONS_H
#define DTX_CLI_EXEC_VERSIONS_H

#include "core/base/text/json.h"

/* {"jansson": "2.14", ...}, a new reference. Libraries that are loaded on demand are loaded for
 * this. */
json_t *dtx_versions(void);

#endif
