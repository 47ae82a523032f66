/* Stores that nobody changes. */
#ifndef DTX_STORE_STILL_H
#define DTX_STORE_STILL_H

#include "core/base/buf.h"

/* Whether the store lies in a folder that cannot be written to, with no log beside it, such as a
 * copy that is kept for an audit: then appends the name by which sqlite reads it as it is, without
 * the files that it makes for the readers of a log. */
bool dtx_still_name(const char *path, struct dtx_buf *out);

/* A store that logs its changes, without a log or with an empty one: a copy of the file alone looks
 * so, and a store right after its log was folded.  Before it is opened, which makes a log. */
bool dtx_still_bare(const char *path);

#endif
