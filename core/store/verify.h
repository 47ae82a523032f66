/* Tamper evidence: chain, blobs, derived tables, a head kept elsewhere. */
#ifndef DTX_STORE_VERIFY_H
#define DTX_STORE_VERIFY_H

#include "core/base/json.h"
#include "core/store/store.h"

struct dtx_verify_opts {
	int64_t since;    /* chain from this seq; 0: all */
	const char *head; /* "dtx1:<seq>:<hex>" that the chain must contain; NULL */
	bool skip_index;  /* leave out the comparison with a rebuild */
};
/* Findings [{"finding","seq"|"hash"|"table","text"}]: chain_broken (first bad seq), blob_mismatch,
 * index_differs, truncated (the head lies beyond the chain, or differs).  Empty: all good.  The
 * caller owns *findings. Codes: usage (head is no head), store_io. */
DTX_MUSTUSE enum dtx_code dtx_verify(struct dtx_store *s, const struct dtx_verify_opts *opts,
                                     json_t **findings, struct dtx_err *err);

#endif
