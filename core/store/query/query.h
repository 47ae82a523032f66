/* Queries: find a run, read one record, list runs, read the head of the chain.
 *
 * If nothing is found the code is no_record, with a hint on what to do next. */
#ifndef DTX_STORE_QUERY_QUERY_H
#define DTX_STORE_QUERY_QUERY_H

#include "core/base/text/json.h"
#include "core/store/ledger/record.h"

/* How a run was found from a file. */
struct dtx_found {
	char run_id[DTX_RUN_ID];
	int output;        /* number of the output by which it was found; -1: not found by a file */
	bool file_changed; /* the file is not what the run wrote */
	int64_t others;    /* number of other runs that wrote the same bytes */
};

/* Reads the run id that is stamped into a file (an .xlsx).  False if none.  The caller
 * provides it. */
typedef bool (*dtx_stamp_fn)(void *arg, const char *path, char run_id[DTX_RUN_ID]);

/* Finds a run.  `what` is NULL (the last run from folder `cwd`), a run id, a suffix of an id with
 * at least 4 hex digits, or a file.  A file is found by its SHA-256 (the newest run, but first one
 * that wrote to this very path and last a replay), else by its stamp, else by its recorded path.
 * An existing file takes precedence over a suffix. */
DTX_MUSTUSE enum dtx_code dtx_query_find(struct dtx_store *s, const char *what, const char *cwd,
                                         dtx_stamp_fn stamp, void *stamp_arg, struct dtx_found *out,
                                         struct dtx_err *err);

/* Everything about one run:
 * {"dtx_record":1,"run","inputs","steps","regions","author","checks","lineage","outputs","env",
 *  "events","chain"}.  Bodies are named by their hash; with `full`, code, plan, prompts and answers
 *  are included.  A region with a cell_id has "cell", the row of the snippet.  `found` (may be
 *  NULL) adds "found".  A call of a session of `dtx exec` has "session": {"id","name","call",
 *  "calls"}, with the calls up to this one: [{"call","run_id","short","status","start_us"}].  The
 *  caller owns *out. */
DTX_MUSTUSE enum dtx_code dtx_query_record(struct dtx_store *s, const char *run_id, bool full,
                                           const struct dtx_found *found, json_t **out,
                                           struct dtx_err *err);
/* The state of the file of a recorded input or output: "unchanged", "changed", "gone", "not kept"
 * (a pipe or a device), "unreadable".  Reads the file. */
const char *dtx_query_file(const char *path, const json_t *item);
/* Adds "file" with one of these states to each input and output.  Reads the files. */
DTX_MUSTUSE enum dtx_code dtx_query_files(json_t *record, struct dtx_err *err);

/* Prints a record as one readable screen.  It reads nothing but the record. */
void dtx_query_screen(const json_t *record, struct dtx_buf *out);

/* [{run_id, start_us, status, path, plan (its name) ..}], newest first.  NULL members match all
 * runs. */
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
/* The random id that the store received when it was made; "" if its ledger has none. */
#define DTX_STORE_ID 33
DTX_MUSTUSE enum dtx_code dtx_query_store_id(struct dtx_store *s, char out[DTX_STORE_ID],
                                             struct dtx_err *err);
/* The bytes of a blob, checked against the hash. */
DTX_MUSTUSE enum dtx_code dtx_query_blob(struct dtx_store *s, const char *hash, struct dtx_buf *out,
                                         struct dtx_err *err);

#endif
