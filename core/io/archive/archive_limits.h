/* Limits on what a container may unpack to. Each input has its own set, with defaults.
 *
 * One row of the table gives a limit its name in a plan (`archive`), on the command line
 * (--limit archive.NAME=N) and in the error of a file that exceeds it. */
#ifndef DTX_IO_ARCHIVE_ARCHIVE_LIMITS_H
#define DTX_IO_ARCHIVE_ARCHIVE_LIMITS_H

#include "core/base/text/json.h"

/*      name          default           least  most    help */
#define DTX_ARCHIVE_LIMITS(X)                                                                      \
	X(entries, 10000, 1, 1 << 24, "files in an archive")                                       \
	X(part, (uint64_t)2 << 30, 1, (uint64_t)1 << 40, "inflated bytes of one file")             \
	X(total, (uint64_t)4 << 30, 1, (uint64_t)1 << 40, "inflated bytes of all files")           \
	X(ratio, 1000, 1, 1 << 30, "inflated bytes per packed byte, of large parts")               \
	X(memory, (uint64_t)4 << 30, 1 << 20, (uint64_t)1 << 40, "memory of the reader process")   \
	X(time, 600, 1, 7 * 86400, "seconds of the reader process")                                \
	X(cells, 200 * 1000 * 1000, 1, (uint64_t)1 << 36, "cells of a sheet")                      \
	X(strings, 64 * 1000 * 1000, 1, 64 * 1000 * 1000, "texts of a workbook")                   \
	X(string_bytes, (uint64_t)2 << 30, 1, (uint64_t)2 << 30, "bytes of those texts")           \
	X(text, 1 << 20, 1, 1 << 30, "bytes of the text of one cell")                              \
	X(merges, 1000 * 1000, 1, 1 << 30, "merged ranges of a sheet")                             \
	X(fill, 10 * 1000 * 1000, 1, 1 << 30, "cells that merged ranges are filled with")          \
	X(idle, (uint64_t)512 << 20, 1 << 20, (uint64_t)1 << 40,                                   \
	  "bytes of a part, and a charge for each tag, without a value")

struct dtx_archive_limits {
#define X(name, ...) uint64_t name;
	DTX_ARCHIVE_LIMITS(X)
#undef X
	/* Called with how many packed bytes of a part have been read, on any thread; NULL:
	 * progress is not needed. */
	void (*tick)(void *arg, uint64_t done, uint64_t of);
	void *tick_arg;
	const char *again; /* path under which a library may open the file again; NULL: none may */
};
#define DTX_ARCHIVE_LIMITS_DEFAULT(name, value, ...) .name = (value),
#define DTX_ARCHIVE_LIMITS_INIT                                                                    \
	{                                                                                          \
		DTX_ARCHIVE_LIMITS(DTX_ARCHIVE_LIMITS_DEFAULT)                                     \
	}
extern const struct dtx_archive_limits dtx_archive_limits_default;

struct dtx_archive_limits_row {
	const char *name, *help;
	size_t offset; /* of the value in struct dtx_archive_limits */
	uint64_t least, most;
};
extern const struct dtx_archive_limits_row dtx_archive_limits_rows[];
extern const size_t dtx_narchive_limits_rows;

/* Sets a limit by name ("ratio", 5000). Error: usage (no such limit, or a value out of its
 * range). */
DTX_MUSTUSE enum dtx_code dtx_archive_limits_set(struct dtx_archive_limits *l, struct dtx_str name,
                                                 uint64_t value, struct dtx_err *err);
/* Sets archive_limit with the text, the name of the limit, and how to raise it. */
enum dtx_code dtx_archive_limits_fail(struct dtx_err *err, const struct dtx_archive_limits *l,
                                      const char *name, const char *fmt, ...) DTX_PRINTF(4, 5);
/* The same for a bound that no honest file comes near, so that no option raises it. It still has
 * a name. */
enum dtx_code dtx_archive_limits_fixed(struct dtx_err *err, const char *name, const char *fmt, ...)
	DTX_PRINTF(3, 4);
/* {name: value} of the limits that differ from the default. A new reference; NULL: out of
 * memory. */
json_t *dtx_archive_limits_json(const struct dtx_archive_limits *l);
/* All limits as JSON, for the reader process, and back. `read` returns false for malformed JSON. */
json_t *dtx_archive_limits_list(const struct dtx_archive_limits *l);
DTX_MUSTUSE bool dtx_archive_limits_read(const json_t *list, struct dtx_archive_limits *l);

#endif
