/* The hash chain: append, read back, verify.
 *
 * hash = SHA-256("dtx-ledger-1\0" + prev + be64 seq + be64 ts_us + L(kind) + L(run_id) + L(body))
 * with L = be32 length and bytes; the first event, genesis, has prev of 32 zero bytes. */
#ifndef DTX_STORE_LEDGER_LEDGER_H
#define DTX_STORE_LEDGER_LEDGER_H

#include "core/base/hash/hash.h"
#include "core/store/db.h"

/* Longer bodies go to a blob; the event keeps {"blob": hash}. */
#define DTX_LEDGER_BODY_MAX ((size_t)64 << 10)

struct dtx_event {
	int64_t seq, ts_us;
	const char *kind, *run_id;
	const json_t *body;
};

/* Inside a transaction: appends the event and updates the derived tables from it.  ts_us 0: now.
 * event->seq and ts_us are filled. */
DTX_MUSTUSE enum dtx_code dtx_ledger_append(struct dtx_db *db, struct dtx_event *event,
                                            struct dtx_err *err);
/* One event in a transaction of its own.  Takes `body`, also on failure. */
DTX_MUSTUSE enum dtx_code dtx_ledger_add(struct dtx_db *db, const char *kind, const char *run_id,
                                         json_t *body, struct dtx_err *err);
/* The first event of a new store; `after`: the head of the one that it follows, or NULL. */
DTX_MUSTUSE enum dtx_code dtx_ledger_genesis(struct dtx_db *db, const char *after,
                                             struct dtx_err *err);

/* Calls fn for events in order: of one run (run_id), or all from seq `from`.  fn's failure ends
 * the walk. Bodies are whole (read from their blob). */
typedef enum dtx_code (*dtx_ledger_fn)(void *arg, const struct dtx_event *event,
                                       struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_ledger_walk(struct dtx_db *db, int64_t from, dtx_ledger_fn fn,
                                          void *arg, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_ledger_walk_run(struct dtx_db *db, const char *run_id,
                                              dtx_ledger_fn fn, void *arg, struct dtx_err *err);

/* The same of all events about snippets.  store_io where one of them does not fit in the chain:
 * then fn has not seen it. */
DTX_MUSTUSE enum dtx_code dtx_ledger_walk_snippets(struct dtx_db *db, dtx_ledger_fn fn, void *arg,
                                                   struct dtx_err *err);

struct dtx_ledger_head {
	int64_t seq;
	uint8_t hash[DTX_SHA256_SIZE];
};
DTX_MUSTUSE enum dtx_code dtx_ledger_head(struct dtx_db *db, struct dtx_ledger_head *out,
                                          struct dtx_err *err);

/* Re-hashes the chain from seq `from` (1: all).  *bad is the first event that does not fit, 0 when
 * all do.  *head is the last one that does. */
DTX_MUSTUSE enum dtx_code dtx_ledger_check(struct dtx_db *db, int64_t from, int64_t *bad,
                                           struct dtx_ledger_head *head, struct dtx_err *err);
/* Hash of event `seq` (0 when there is none). */
DTX_MUSTUSE enum dtx_code dtx_ledger_hash_at(struct dtx_db *db, int64_t seq,
                                             uint8_t hash[DTX_SHA256_SIZE], bool *found,
                                             struct dtx_err *err);

#endif
