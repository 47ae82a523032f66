/* Rename adapters: {"NEED": "HAVE"} says that the column HAVE of a table is known to a snippet
 * as NEED. With one, a snippet that was approved for one table can be used for another whose
 * columns have other names. */
#ifndef DTX_FALLBACK_ADAPTER_H
#define DTX_FALLBACK_ADAPTER_H

#include "core/base/text/json.h"
#include "core/data/batch.h"

/* Makes an adapter from texts "NEED=HAVE" and an older adapter (or NULL). If a NEED is a HAVE of
 * the older one, the same column is renamed again. *out is canonical JSON, to be freed with
 * dtx_mem_free. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_adapter_make(const char *const *rename, size_t n, const char *old,
                                           char **out, struct dtx_err *err);
/* *out is a new reference to `t` itself if the adapter (or NULL) names none of its columns,
 * otherwise to a table with its rows under other names. `t` must outlive it. */
DTX_MUSTUSE enum dtx_code dtx_adapter_table(const json_t *adapter, struct dtx_table *t,
                                            struct dtx_table **out, struct dtx_err *err);
/* Translates the names that the code uses (a JSON array as text) to those of the input. *out is
 * to be freed with dtx_mem_free. */
DTX_MUSTUSE enum dtx_code dtx_adapter_names(const json_t *adapter, const char *names, char **out,
                                            struct dtx_err *err);

#endif
