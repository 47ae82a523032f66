/* Stores that are only read, such as copies that are kept for an audit. */
#ifndef DTX_STORE_READONLY_DB_H
#define DTX_STORE_READONLY_DB_H

#include "core/base/memory/buf.h"

/* Whether the store is in a folder that cannot be written to and has no log beside it.  Then
 * appends the name (a URI) by which SQLite reads the file as it is, without making files for
 * readers of a log. */
bool dtx_readonly_db_name(const char *path, struct dtx_buf *out);

/* Whether the store uses a log, but the log is missing or empty.  A copy of the file alone looks
 * like this, and so does a store whose log was just moved into the file.  Call it before the store
 * is opened, because that makes a log. */
bool dtx_readonly_db_bare(const char *path);

/* Whether transactions in the log beside the store are lost.  SQLite reads a log up to the first
 * frame whose checksum does not fit and ignores the rest silently.  A writer that was killed leaves
 * no commit after such a frame; if there is one, or if the header does not fit, the log was
 * changed.  Appends what is wrong; nothing if the log is intact or does not exist.  Call it before
 * the store is opened, because that may rewrite the log. */
void dtx_readonly_db_log(const char *path, struct dtx_buf *said);

#endif
