/* The ledger: an append-only list of events, each of which contains the hash of the one before it,
 * so that a later change is evident.
 *
 * hash = SHA-256("dtx-ledger-1\0" + prev + be64 seq + be64 ts_us + L(kind) + L(run_id) + L(body)),
 * where L is the length (be32) and the bytes.  The first event, genesis, has 32 zero bytes as
 * prev. */
#ifndef DTX_STORE_LEDGER_LEDGER_H
#define DTX_STORE_LEDGER_LEDGER_H

#include "core/base/hash/hash.h"
#include "core/store/db.h"

/* A longer body is stored as a blob; the event then has {"blob": hash}. */
#define DTX_LEDGER_BODY_MAX ((size_t)64 << 10)

struct dtx_event {
	int64_t seq, ts_us;
	const char *kind, *run_id;
	const json_t *body;
};

/* Appends an event and updates the derived tables from it; call it inside of a transaction.  ts_us
 * 0: now.  event->seq and ts_us are filled in. */
DTX_MUSTUSE enum dtx_code dtx_ledger_append(struct dtx_db *db, struct dtx_event *event,
                                            struct dtx_err *err);
/* Appends one event in a transaction of its own.  Takes `body`, also on failure. */
DTX_MUSTUSE enum dtx_code dtx_ledger_add(struct dtx_db *db, const char *kind, const char *run_id,
                                         json_t *body, struct dtx_err *err);
/* Appends the first event of a new store.  `after`: the head of the store that it continues, or
 * NULL. */
DTX_MUSTUSE enum dtx_code dtx_ledger_genesis(struct dtx_db *db, const char *after,
                                             struct dtx_err *err);

/* Call fn for events in order: all from seq `from`, or those of one run (run_id).  A failure of fn
 * ends the walk.  A body that is stored as a blob is read and passed whole. */
typedef enum dtx_code (*dtx_ledger_fn)(void *arg, const struct dtx_event *event,
                                       struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_ledger_walk(struct dtx_db *db, int64_t from, dtx_ledger_fn fn,
                                          void *arg, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_ledger_walk_run(struct dtx_db *db, const char *run_id,
                                              dtx_ledger_fn fn, void *arg, struct dtx_err *err);

/* The same for all events about snippets.  Fails with store_io if one of them does not fit into the
 * chain; fn is not called for that event. */
DTX_MUSTUSE enum dtx_code dtx_ledger_walk_snippets(struct dtx_db *db, dtx_ledger_fn fn, void *arg,
                                                   struct dtx_err *err);

struct dtx_ledger_head {
	int64_t seq;
	uint8_t hash[DTX_SHA256_SIZE];
};
DTX_MUSTUSE enum dtx_code dtx_ledger_head(struct dtx_db *db, struct dtx_ledger_head *out,
                                          struct dtx_err *err);

/* Computes the hashes again from seq `from` on (1: all).  *bad is the first event that does not
 * fit; 0 if all do.  *head is the last event that does. */
DTX_MUSTUSE enum dtx_code dtx_ledger_check(struct dtx_db *db, int64_t from, int64_t *bad,
                                           struct dtx_ledger_head *head, struct dtx_err *err);
/* The same, for what concerns one run: calls fn for the events of that run and for purges, each
 * after its hash was found right.  A failure of fn, or of reading such an event's body, ends the
 * check. */
DTX_MUSTUSE enum dtx_code dtx_ledger_check_run(struct dtx_db *db, int64_t from, const char *run_id,
                                               dtx_ledger_fn fn, void *arg, int64_t *bad,
                                               struct dtx_err *err);
/* The hash of event `seq`.  *found is false if there is no such event. */
DTX_MUSTUSE enum dtx_code dtx_ledger_hash_at(struct dtx_db *db, int64_t seq,
                                             uint8_t hash[DTX_SHA256_SIZE], bool *found,
                                             struct dtx_err *err);

#endif
