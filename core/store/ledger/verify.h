/* Evidence of tampering: checks pages, definitions, the hash chain, bodies, derived tables, and a
 * head that was kept elsewhere. */
#ifndef DTX_STORE_LEDGER_VERIFY_H
#define DTX_STORE_LEDGER_VERIFY_H

#include "core/base/text/json.h"
#include "core/store/store.h"

struct dtx_verify_opts {
	int64_t since;    /* check the chain from this seq; 0: all of it */
	const char *head; /* "dtx1:<seq>:<hex>" that the chain must contain; NULL */
	bool skip_index;  /* skip what a rebuild would make again: definitions and derived tables */
	const char *log;  /* what dtx_readonly_db_log found wrong with the log; NULL */
};
/* Findings [{"finding","seq"|"hash"|"table"|"name","text"}]: log_damaged, page_damaged (SQLite
 * reports damaged pages or indexes; nothing else is checked then), schema_differs (a table, index,
 * trigger or view is not as this build makes it), chain_broken (first bad seq), blob_mismatch,
 * index_differs, truncated (the head is beyond the end of the chain, or differs).  Empty if
 * everything is intact.  Everything is read in one transaction.  The caller owns *findings.  Codes:
 * usage (`head` is not a head), store_io. */
DTX_MUSTUSE enum dtx_code dtx_verify(struct dtx_store *s, const struct dtx_verify_opts *opts,
                                     json_t **findings, struct dtx_err *err);

/* Checks what concerns one run, without reading the rest of the store: the definitions; the chain
 * from the first event of the run (or from `head` or `since`, if that is earlier) to its end; the
 * run's events and the bodies and derived rows that they name; and that the chain contains `head`.
 * *whole: all of it is intact.  Otherwise, also if something cannot be read, dtx_verify finds out
 * what is wrong.  Codes: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_verify_run(struct dtx_store *s, const char *run_id,
                                         const struct dtx_verify_opts *opts, bool *whole,
                                         struct dtx_err *err);

#endif
