/* Purging of the store, and statistics about it.
 *
 * Bodies of inputs, row numbers, prompts, answers, environments, and of code that no live snippet
 * uses, may be purged.  Their hashes stay in the ledger, which still proves what the bodies were.
 * Runs, hashes, counts, approvals, plans and live code are never removed. */
#ifndef DTX_STORE_CACHE_GC_H
#define DTX_STORE_CACHE_GC_H

#include "core/base/text/json.h"
#include "core/store/store.h"

struct dtx_gc_opts {
	int64_t older_us;  /* only what no run since then has named; 0: no limit */
	int64_t keep_last; /* number of newest runs that keep everything */
	int64_t max_bytes; /* stop when the store has no more than this; 0: no limit */
	const char *kinds; /* "prompt,answer"; NULL: every kind that may be purged */
	const char *run;   /* only what this run names, even if others name it too; NULL: of all
	                    * runs */
	bool apply;        /* false: only report what would be purged */
};
/* The kinds that may be purged, in the order of purging: "input,lineage,answer,prompt,code,env". */
extern const char dtx_gc_kinds[];
/* {"applied","blobs","bytes","kept_bytes","kinds":[{"kind","blobs","bytes"}],"hashes":[],"runs":[]};
 * "runs" lists, if opts->run is set, the other runs that lose bodies which they name.  An event
 * `purge` records the hashes.  The caller owns *out.  Codes: store_io, store_busy, usage (unknown
 * kind). */
DTX_MUSTUSE enum dtx_code dtx_gc(struct dtx_store *s, const struct dtx_gc_opts *opts, json_t **out,
                                 struct dtx_err *err);

/* {"store","bytes","free_bytes","events","blobs","runs","snippets","author"}: counts by kind.  The
 * caller owns *out. */
DTX_MUSTUSE enum dtx_code dtx_store_stats(struct dtx_store *s, json_t **out, struct dtx_err *err);
/* The bytes of the file that are in use. */
DTX_MUSTUSE enum dtx_code dtx_store_size(struct dtx_store *s, int64_t *bytes, struct dtx_err *err);

#endif
