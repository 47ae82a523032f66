/* Inside the snippet cache: rows of any of its statements. */
#ifndef DTX_STORE_CACHE_SNIPPET_GC_H
#define DTX_STORE_CACHE_SNIPPET_GC_H

#include "core/store/db.h"
#include "core/store/cache/snippet.h"

/* Items live in the arena. */
DTX_MUSTUSE enum dtx_code dtx_snippet_query(struct dtx_store *s, enum dtx_sql sql,
                                            const struct dtx_db_val *val, size_t nvals,
                                            struct dtx_arena *arena, struct dtx_snippet **item,
                                            size_t *n, struct dtx_err *err);

#endif
