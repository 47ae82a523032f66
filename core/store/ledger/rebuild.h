/* Rebuilds the derived tables from the ledger, or compares them with it. */
#ifndef DTX_STORE_LEDGER_REBUILD_H
#define DTX_STORE_LEDGER_REBUILD_H

#include "core/base/text/json.h"
#include "core/store/store.h"

/* Drops the derived tables, indexes and triggers, makes them by the schema of this build and fills
 * the tables from the ledger, all in one transaction. */
DTX_MUSTUSE enum dtx_code dtx_rebuild(struct dtx_store *s, struct dtx_err *err);
/* Compares the definitions of the store (tables, indexes, triggers, views) with those of this
 * build.  Adds {"finding": "schema_differs", "name": "table run", "text"} for each that differs. */
DTX_MUSTUSE enum dtx_code dtx_rebuild_definitions(struct dtx_store *s, json_t *findings,
                                                  struct dtx_err *err);
/* Compares each derived table that `findings` does not name with one that is rebuilt from the
 * ledger in memory: all rows and all columns.  Adds {"finding": "index_differs", "table",
 * "text"}. */
DTX_MUSTUSE enum dtx_code dtx_rebuild_compare(struct dtx_store *s, json_t *findings,
                                              struct dtx_err *err);

/* The same comparisons for one run.  `fresh` is a store in memory (dtx_db_create) to which
 * dtx_derive_apply has applied the events of that run alone.  Only the definitions and the rows of
 * this run are compared; the table file_seen is left out, because a later run may replace its
 * rows. */
DTX_MUSTUSE enum dtx_code dtx_rebuild_compare_run(struct dtx_store *s, struct dtx_db *fresh,
                                                  const char *run_id, json_t *findings,
                                                  struct dtx_err *err);

#endif
