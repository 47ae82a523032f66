/* Tamper evidence: pages, definitions, chain, bodies, derived tables, a head kept elsewhere. */
#ifndef DTX_STORE_LEDGER_VERIFY_H
#define DTX_STORE_LEDGER_VERIFY_H

#include "core/base/text/json.h"
#include "core/store/store.h"

struct dtx_verify_opts {
	int64_t since;    /* chain from this seq; 0: all */
	const char *head; /* "dtx1:<seq>:<hex>" that the chain must contain; NULL */
	bool skip_index;  /* leave out what a rebuild makes again: definitions, derived tables */
	const char *log;  /* what is wrong with the log, from dtx_readonly_db_log; NULL */
};
/* Findings [{"finding","seq"|"hash"|"table"|"name","text"}]: log_damaged, page_damaged (what the
 * database says of its pages and indexes: nothing else is looked at then), schema_differs (a table,
 * index, trigger or view is not as this build makes it), chain_broken (first bad seq),
 * blob_mismatch, index_differs, truncated (the head lies beyond the chain, or differs).  Empty: all
 * good.  All is read in one transaction.  The caller owns *findings.  Codes: usage (head is no
 * head), store_io. */
DTX_MUSTUSE enum dtx_code dtx_verify(struct dtx_store *s, const struct dtx_verify_opts *opts,
                                     json_t **findings, struct dtx_err *err);

#endif
