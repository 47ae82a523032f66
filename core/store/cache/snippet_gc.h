/* Internal to the snippet cache: runs any of its queries. */
#ifndef DTX_STORE_CACHE_SNIPPET_GC_H
#define DTX_STORE_CACHE_SNIPPET_GC_H

#include "core/store/db.h"
#include "core/store/cache/snippet.h"

/* Reads all rows of a query.  The items live in the arena. */
DTX_MUSTUSE enum dtx_code dtx_snippet_query(struct dtx_store *s, enum dtx_sql sql,
                                            const struct dtx_db_val *val, size_t nvals,
                                            struct dtx_arena *arena, struct dtx_snippet **item,
                                            size_t *n, struct dtx_err *err);

#endif
