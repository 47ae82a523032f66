/* The store: one SQLite file with the ledger of runs and the snippet cache.
 *
 * Errors: store_io, store_busy.  One thread at a time. */
#ifndef DTX_STORE_STORE_H
#define DTX_STORE_STORE_H

#include "core/base/err.h"
#include "core/base/text/json.h"

struct dtx_db;
struct dtx_store;

enum dtx_store_mode {
	DTX_STORE_READ,  /* read only; no_record when there is no store yet */
	DTX_STORE_WRITE, /* made when missing: folder 0700, file 0600 */
	/* the same of a store that others may have changed; their triggers and views, which the
	 * other modes refuse, have no effect */
	DTX_STORE_CHECK,
	DTX_STORE_REPAIR
};

/* `option` is the value of --store, or NULL: then DTX_STORE, $XDG_STATE_HOME/dtx/store.db,
 * ~/.local/state/dtx/store.db.  ":memory:" keeps nothing.  Opening also closes the records of runs
 * of this host whose process is gone (see core/store/ledger/recover_runs.h); a failure of that is
 * no failure of the open. */
DTX_MUSTUSE enum dtx_code dtx_store_open(const char *option, enum dtx_store_mode mode,
                                         struct dtx_store **out, struct dtx_err *err);
void dtx_store_free(struct dtx_store *s); /* NULL is fine */
/* Moves the store (opened to write) to the new file `to` and starts an empty one in its place,
 * whose first event names the old one's head; `head` (DTX_HEAD_LINE bytes) gets it.  Nothing else
 * may be done with s then.  Codes: store_io, store_busy while another process has it open. */
DTX_MUSTUSE enum dtx_code dtx_store_archive(struct dtx_store *s, const char *to, char *head,
                                            struct dtx_err *err);
/* Files beside the store that a killed first run or archive was making: [{"path","bytes"}], the
 * caller's; they are removed where `remove` says so. */
DTX_MUSTUSE enum dtx_code dtx_store_left_over(const struct dtx_store *s, bool remove, json_t **out,
                                              struct dtx_err *err);
const char *dtx_store_path(const struct dtx_store *s);
/* Such a store keeps no record: a run may not leave the typed path. */
bool dtx_store_is_memory(const struct dtx_store *s);
struct dtx_db *dtx_store_db(struct dtx_store *s);
/* The file the options lead to (dtx_mem), without opening it. */
DTX_MUSTUSE enum dtx_code dtx_store_resolve(const char *option, char **path, struct dtx_err *err);

#endif
