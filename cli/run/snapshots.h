/* Keeps the bytes of inputs in the store, and gives them back as files. */
#ifndef DTX_CLI_RUN_SNAPSHOTS_H
#define DTX_CLI_RUN_SNAPSHOTS_H

#include "cli/run/runner.h"
#include "core/base/tempdir.h"

#define DTX_SNAPSHOTS_KIND "input"
#define DTX_SNAPSHOTS_MAX  ((size_t)256 << 20) /* bytes per run, for all inputs */

/* Checks whether the run may keep its inputs, before it reads them. Errors: input_limit, usage. */
DTX_MUSTUSE enum dtx_code dtx_snapshots_check(const struct dtx_runner *r, struct dtx_err *err);
/* Adds the bytes to the record, and their hash to the input's row as "snapshot". */
DTX_MUSTUSE enum dtx_code dtx_snapshots_put(struct dtx_runner *r, const struct dtx_source *src,
                                            json_t *row, struct dtx_err *err);

/* Files made from kept bytes, in a folder of their own; all zero: none. */
struct dtx_snapshots {
	struct dtx_tempdir dir; /* made with the first file */
	char **file;            /* n paths; owned */
	size_t n;
};
/* For each input of the record whose file has changed and whose bytes are in the store: writes a
 * file with these bytes, and sets its uri, mtime_us and "file": "unchanged" in the record. */
DTX_MUSTUSE enum dtx_code dtx_snapshots_restore(struct dtx_store *store, json_t *record,
                                                struct dtx_snapshots *kept, struct dtx_err *err);
/* Removes the files. */
void dtx_snapshots_clear(struct dtx_snapshots *kept);

/* Sets input_changed, and returns it: the bytes of an input of a record are not there as the run
 * read them.  state: changed, gone or not kept. */
enum dtx_code dtx_snapshots_lost(const json_t *input, const char *state, struct dtx_err *err);
/* For a hint: what the run would have had to do to keep this input. */
const char *dtx_snapshots_way(const json_t *input);

#endif
