/* A rename adapter: {"NEED": "HAVE"}, columns that a module knows by another name. */
#ifndef DTX_FALLBACK_ADAPTER_H
#define DTX_FALLBACK_ADAPTER_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

/* From "NEED=HAVE" texts and an older adapter (NULL: none): a NEED that is a HAVE of the old one
 * renames the same column again.  Canonical JSON text in dtx_mem.  Codes: usage. */
DTX_MUSTUSE enum dtx_code dtx_adapter_make(const char *const *rename, size_t n, const char *old,
                                           char **out, struct dtx_err *err);
/* A new reference: the table itself when the adapter (NULL: none) names none of its columns, else
 * its rows under other names.  The source outlives it. */
DTX_MUSTUSE enum dtx_code dtx_adapter_table(const json_t *adapter, struct dtx_table *t,
                                            struct dtx_table **out, struct dtx_err *err);
/* Names as the code writes them (JSON array text) as the input's own; new text in dtx_mem. */
DTX_MUSTUSE enum dtx_code dtx_adapter_names(const json_t *adapter, const char *names, char **out,
                                            struct dtx_err *err);

#endif
