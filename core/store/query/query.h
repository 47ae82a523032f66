/* Questions to the store: which run, one record, the log, the chain.
 *
 * Nothing found is no_record with the way out in the hint. */
#ifndef DTX_STORE_QUERY_QUERY_H
#define DTX_STORE_QUERY_QUERY_H

#include "core/base/text/json.h"
#include "core/store/ledger/record.h"

/* How a run was found from a file. */
struct dtx_found {
	char run_id[DTX_RUN_ID];
	int output;        /* index of the output it was found by, -1: not by file */
	bool file_changed; /* the file is not what the run wrote */
	int64_t others;    /* other runs that wrote these bytes */
};

/* Reads the run id stamped into a file (an .xlsx); false: none.  Given by the caller. */
typedef bool (*dtx_stamp_fn)(void *arg, const char *path, char run_id[DTX_RUN_ID]);

/* `what`: NULL (the last run from folder `cwd`), a run id or a suffix of 4 or more hex digits, or a
 * file: by its SHA-256 (the newest run wins, one that wrote to this very path first, a replay
 * last), else by its stamp, else by its recorded path.  An existing file wins over a suffix. */
DTX_MUSTUSE enum dtx_code dtx_query_find(struct dtx_store *s, const char *what, const char *cwd,
                                         dtx_stamp_fn stamp, void *stamp_arg, struct dtx_found *out,
                                         struct dtx_err *err);

/* All of one run:
 * {"dtx_record":1,"run","inputs","steps","regions","author","checks","lineage","outputs","env",
 *  "events","chain"}.  Bodies are named by hash; with `full` code, plan, prompts and answers are
 * inline. With a region's cell_id comes "cell": the snippet's row.  `found` (may be NULL) adds
 * "found". The caller owns *out. */
DTX_MUSTUSE enum dtx_code dtx_query_record(struct dtx_store *s, const char *run_id, bool full,
                                           const struct dtx_found *found, json_t **out,
                                           struct dtx_err *err);
/* The state of the file of a recorded input or output: "unchanged", "changed", "gone",
 * "not kept" (a pipe or a device), "unreadable".  Reads it. */
const char *dtx_query_file(const char *path, const json_t *item);
/* Compares inputs and outputs with the files as they are now: adds "file" (one of those) to each.
 * Reads the files. */
DTX_MUSTUSE enum dtx_code dtx_query_files(json_t *record, struct dtx_err *err);

/* One readable screen from a record; pure. */
void dtx_query_screen(const json_t *record, struct dtx_buf *out);

/* [{run_id, start_us, status, path, plan (its name) ..}], newest first. NULL members: all. */
struct dtx_log_filter {
	int64_t since_us; /* 0: from the start */
	const char *status, *path, *ns;
	int64_t limit; /* 0: 1000 */
};
DTX_MUSTUSE enum dtx_code dtx_query_log(struct dtx_store *s, const struct dtx_log_filter *filter,
                                        json_t **out, struct dtx_err *err);
/* "dtx1:<seq>:<64 hex>" */
#define DTX_HEAD_LINE 96
DTX_MUSTUSE enum dtx_code dtx_query_head(struct dtx_store *s, char out[DTX_HEAD_LINE],
                                         struct dtx_err *err);
/* The random id that the store got when it was made; "" where its ledger does not say. */
#define DTX_STORE_ID 33
DTX_MUSTUSE enum dtx_code dtx_query_store_id(struct dtx_store *s, char out[DTX_STORE_ID],
                                             struct dtx_err *err);
/* The blob's bytes, checked against the hash. */
DTX_MUSTUSE enum dtx_code dtx_query_blob(struct dtx_store *s, const char *hash, struct dtx_buf *out,
                                         struct dtx_err *err);

#endif
