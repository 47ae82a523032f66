/* What may leave the store, and how much there is of what.
 *
 * Bodies of inputs, row numbers, prompts, answers, environments and of code that no live snippet
 * has may be purged: their hashes stay in the ledger, which then still proves what they were. Runs,
 * hashes, counts, approvals, plans and live code stay for good. */
#ifndef DTX_STORE_CACHE_GC_H
#define DTX_STORE_CACHE_GC_H

#include "core/base/text/json.h"
#include "core/store/store.h"

struct dtx_gc_opts {
	int64_t older_us;  /* only what no run since then has named; 0: all */
	int64_t keep_last; /* runs that keep everything */
	int64_t max_bytes; /* stop when so much is left in the store; 0: no end */
	const char *kinds; /* "prompt,answer"; NULL: all that may go */
	const char *run;   /* only what this run names, whoever else does; NULL: of all runs */
	bool apply;        /* false: only say what would go */
};
/* Kinds that may go, in the order in which they do: "input,lineage,answer,prompt,code,env". */
extern const char dtx_gc_kinds[];
/* {"applied","blobs","bytes","kept_bytes","kinds":[{"kind","blobs","bytes"}],"hashes":[],"runs":[]}:
 * of opts->run also the other runs that lose bodies they named.  An event `purge` names the hashes.
 * The caller owns *out.  Codes: store_io, store_busy, usage (unknown kind). */
DTX_MUSTUSE enum dtx_code dtx_gc(struct dtx_store *s, const struct dtx_gc_opts *opts, json_t **out,
                                 struct dtx_err *err);

/* {"store","bytes","free_bytes","events","blobs","runs","snippets","author"}: counts by kind. */
DTX_MUSTUSE enum dtx_code dtx_store_stats(struct dtx_store *s, json_t **out, struct dtx_err *err);
/* Bytes that are in use, of the file. */
DTX_MUSTUSE enum dtx_code dtx_store_size(struct dtx_store *s, int64_t *bytes, struct dtx_err *err);

#endif
