/* Stores that nobody changes. */
#ifndef DTX_STORE_READONLY_DB_H
#define DTX_STORE_READONLY_DB_H

#include "core/base/buf.h"

/* Whether the store lies in a folder that cannot be written to, with no log beside it, such as a
 * copy that is kept for an audit: then appends the name by which sqlite reads it as it is, without
 * the files that it makes for the readers of a log. */
bool dtx_readonly_db_name(const char *path, struct dtx_buf *out);

/* A store that logs its changes, without a log or with an empty one: a copy of the file alone looks
 * so, and a store right after its log was folded.  Before it is opened, which makes a log. */
bool dtx_readonly_db_bare(const char *path);

/* Whether the log beside the store has lost what was written: sqlite takes a log up to the first
 * frame whose checksum does not fit and leaves the rest out without a word.  What a killed writer
 * leaves has no commit in it; where a commit of this log comes after that frame, or its header does
 * not fit, it was changed.  Appends what is wrong, nothing where all is well or there is no log.
 * Before the store is opened, which may write the log again. */
void dtx_readonly_db_log(const char *path, struct dtx_buf *said);

#endif
