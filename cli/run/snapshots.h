/* Bytes of inputs that a run kept in the store: put there, and given back as files. */
#ifndef DTX_CLI_RUN_SNAPSHOTS_H
#define DTX_CLI_RUN_SNAPSHOTS_H

#include "cli/run/runner.h"
#include "core/base/tempdir.h"

#define DTX_SNAPSHOTS_KIND "input"
#define DTX_SNAPSHOTS_MAX  ((size_t)256 << 20) /* of a run, all inputs */

/* Whether the run may keep its inputs, before it reads them.  Codes: input_limit, usage. */
DTX_MUSTUSE enum dtx_code dtx_snapshots_check(const struct dtx_runner *r, struct dtx_err *err);
/* Adds the bytes to the record, and their hash to the input's row as "snapshot". */
DTX_MUSTUSE enum dtx_code dtx_snapshots_put(struct dtx_runner *r, const struct dtx_source *src,
                                            json_t *row, struct dtx_err *err);

/* Files made of kept bytes, in a folder of their own; all zero: none. */
struct dtx_snapshots {
	struct dtx_tempdir dir; /* of the files; made with the first */
	char **file;            /* n paths; owned */
	size_t n;
};
/* Inputs of the record whose file is not what the run read, and whose bytes are in the store, get
 * the uri and mtime_us of a file with these bytes, and "file": "unchanged". */
DTX_MUSTUSE enum dtx_code dtx_snapshots_restore(struct dtx_store *store, json_t *record,
                                                struct dtx_snapshots *kept, struct dtx_err *err);
/* Removes the files. */
void dtx_snapshots_clear(struct dtx_snapshots *kept);

/* What a run that did not keep this input, of its record, would have had to do: for a hint. */
const char *dtx_snapshots_way(const json_t *input);

#endif
