/* A fragment: the rows that a part of one input gives, as far as a job goes, written to a file.
 *
 * A fragment is a pure function of its spec, a JSON object on one line:
 *
 *   job              name of the job's file: the SHA-256 of its bytes
 *   input            number of the input
 *   steps, branches  the maps that its rows go through, and which of their tables these rows are
 *   first, end       the pieces of the file that are read: [first, end)
 *   base             added to the numbers of pieces where rows of several inputs are compared
 *   bucket           instead of all but the job: the bucket of rows that is gathered (gather.h)
 *   begin            byte at which the first record after the border of `first` begins; null: it
 *                    is guessed
 *
 * and, which do not change the result and are no part of the spec's hash:
 *
 *   exchange         the folder of the job, and of the result
 *   memory           bytes that it may take; absent: no limit
 *
 * The result is the file HASH.frame, where HASH is that of the spec: sections with batches
 * (frame_batch.h), or rows in buckets for other fragments (buckets.h), or, where the job ends in a
 * sink, parts of its state. Then HASH.json is
 * written: the manifest, whose presence says that the fragment is done. Both are written under
 * another name and renamed, so no partial file is ever seen. */
#ifndef DTX_CLUSTER_FRAGMENT_H
#define DTX_CLUSTER_FRAGMENT_H

#include "core/base/err.h"
#include "core/base/hash/hash.h"
#include "core/base/text/json.h"

/* The classes of a result, which are also exit statuses of the command. */
enum dtx_fragment_class {
	DTX_FRAGMENT_OK = 0,
	DTX_FRAGMENT_TYPES = 10, /* a type is too narrow: run again when it is known */
	DTX_FRAGMENT_WHOLE =
		11, /* only one process can do this: notes about the rows, for example */
	DTX_FRAGMENT_DATA = 20,   /* the rows or the plan: it would fail again */
	DTX_FRAGMENT_AGAIN = 30,  /* reading or writing failed: try again, best elsewhere */
	DTX_FRAGMENT_LIMIT = 40,  /* memory, time or room on the disk */
	DTX_FRAGMENT_CHANGED = 50 /* an input is not the file that the run began with */
};

/* Where the text of an output begins in a frame file. It is written first, so the hash of such a
 * file takes it first, and then all else in order. */
#define DTX_FRAGMENT_TEXT_AT 384u

/* Paths in the exchange folder; `kind` is "job", "frame" or "json". */
void dtx_exchange_path(char *to, size_t size, const char *exchange, const char *name,
                       const char *kind);
/* Writes a file of the exchange folder under another name and renames it. Codes: output_io,
 * disk_full. */
DTX_MUSTUSE enum dtx_code dtx_exchange_put(const char *exchange, const char *name, const char *kind,
                                           struct dtx_str bytes, struct dtx_err *err);

/* The manifest of a fragment that is done already; NULL: it is not, or the file is damaged. A new
 * reference. */
json_t *dtx_manifest_read(const char *exchange, const char *name);

/* Does the work of a spec. Appends to out what the command prints: the manifest, or the error with
 * its class, as JSON on one line. Returns the class. */
enum dtx_fragment_class dtx_fragment_run(struct dtx_str spec, struct dtx_buf *out);

/* The class of an error: what to do about it. */
enum dtx_fragment_class dtx_fragment_class(enum dtx_code code);

#endif
