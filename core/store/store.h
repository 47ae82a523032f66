/* The store: one SQLite file with the ledger of runs and the snippet cache.
 *
 * Codes: store_io, store_busy.  A store must be used by one thread at a time. */
#ifndef DTX_STORE_STORE_H
#define DTX_STORE_STORE_H

#include "core/base/err.h"
#include "core/base/text/json.h"

struct dtx_db;
struct dtx_store;

enum dtx_store_mode {
	DTX_STORE_READ,  /* only reads; no_record if there is no store yet */
	DTX_STORE_WRITE, /* made if it is missing: folder 0700, file 0600 */
	/* The same two for a store that others may have changed: their triggers and views, which
	 * the other modes refuse, have no effect. */
	DTX_STORE_CHECK,
	DTX_STORE_REPAIR
};

/* Opens a store.  `option` is the value of --store; if it is NULL: DTX_STORE,
 * $XDG_STATE_HOME/dtx/store.db or ~/.local/state/dtx/store.db.  ":memory:" keeps nothing.  Opening
 * also closes the records of runs of this host whose process is gone (see
 * core/store/ledger/recover_runs.h); a failure there does not make the open fail. */
DTX_MUSTUSE enum dtx_code dtx_store_open(const char *option, enum dtx_store_mode mode,
                                         struct dtx_store **out, struct dtx_err *err);
void dtx_store_free(struct dtx_store *s); /* NULL is allowed */
/* Moves the store (opened to write) to the new file `to` and starts an empty one in its place.  The
 * first event of the new store names the head of the old one, which `head` (DTX_HEAD_LINE bytes)
 * receives too.  Afterwards s may only be freed.  Codes: store_io; store_busy while another process
 * has it open. */
DTX_MUSTUSE enum dtx_code dtx_store_archive(struct dtx_store *s, const char *to, char *head,
                                            struct dtx_err *err);
/* Files beside the store that a killed first run or archive has left: [{"path","bytes"}], which the
 * caller owns.  With `remove` they are removed. */
DTX_MUSTUSE enum dtx_code dtx_store_left_over(const struct dtx_store *s, bool remove, json_t **out,
                                              struct dtx_err *err);
const char *dtx_store_path(const struct dtx_store *s);
/* Whether the store is in memory.  Such a store keeps no record, so a run must not use snippets. */
bool dtx_store_is_memory(const struct dtx_store *s);
struct dtx_db *dtx_store_db(struct dtx_store *s);
/* The path of the file that the options lead to (dtx_mem), without opening it. */
DTX_MUSTUSE enum dtx_code dtx_store_resolve(const char *option, char **path, struct dtx_err *err);

#endif
