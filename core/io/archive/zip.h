/* ZIP containers read as hostile input.
 *
 * Sizes, method and CRC come from the central directory, never from local headers.  Names that are
 * equal after folding, overlapping entries, encryption and foreign methods are corrupt_file; what
 * inflates beyond the limits is archive_limit.  Nothing is written to disk. */
#ifndef DTX_IO_ARCHIVE_ZIP_H
#define DTX_IO_ARCHIVE_ZIP_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/strmap.h"
#include "core/io/archive/archive_limits.h"

enum { DTX_ZIP_NAME_MAX = 1024 };

struct dtx_zip_entry {
	struct dtx_str name;   /* folded: lower case, '/' only, no %xx, no leading '/' */
	uint64_t header, data; /* offsets of the local header and of the packed bytes */
	uint64_t packed, size;
	uint32_t crc;
	uint16_t method;
	uint64_t counted; /* inflated bytes that count in the total: a second reading is free */
};
struct dtx_zip {
	struct dtx_arena arena;
	const char *label;          /* file name for messages; borrowed */
	const unsigned char *bytes; /* borrowed */
	size_t len;
	uint64_t lead; /* bytes of the file before those: a program that unpacks it, a stray line */
	struct dtx_archive_limits limits;
	struct dtx_zip_entry *entry;
	uint32_t n;
	struct dtx_strmap names;
	uint64_t inflated; /* so far, each part once */
};
#define DTX_ZIP_INIT                                                                               \
	{                                                                                          \
		.label = ""                                                                        \
	}

/* Whether the bytes begin like a ZIP. */
bool dtx_zip_sniff(const void *head, size_t len);
/* Whether a whole file is a ZIP behind bytes that are none: its end record and directory are where
 * they say, once they are moved by what stands before. */
bool dtx_zip_behind(const void *bytes, size_t len);
/* Reads the central directory.  `z` is DTX_ZIP_INIT and is cleared by the caller, also after a
 * failure; label and bytes must outlive it. */
DTX_MUSTUSE enum dtx_code dtx_zip_open(struct dtx_zip *z, const char *label, const void *bytes,
                                       size_t len, const struct dtx_archive_limits *limits,
                                       struct dtx_err *err);
void dtx_zip_clear(struct dtx_zip *z);
/* Folds a part name: case, '\', %xx, "./" and "../", leading '/'.  False: it is too long. */
DTX_MUSTUSE bool dtx_zip_fold(struct dtx_str name, char out[DTX_ZIP_NAME_MAX], size_t *len);
/* Entry of a name (folded here), NULL if absent. */
const struct dtx_zip_entry *dtx_zip_find(const struct dtx_zip *z, struct dtx_str name);

/* Streams one entry.  Several streams may be open; all belong to the zip's thread. */
struct dtx_unzip;
DTX_MUSTUSE enum dtx_code dtx_unzip_open(struct dtx_zip *z, const struct dtx_zip_entry *entry,
                                         struct dtx_unzip **out, struct dtx_err *err);
/* Fills up to cap bytes, *got == 0 at the end; size and CRC have been checked by then. */
DTX_MUSTUSE enum dtx_code dtx_unzip_read(struct dtx_unzip *u, void *to, size_t cap, size_t *got,
                                         struct dtx_err *err);
void dtx_unzip_free(struct dtx_unzip *u); /* NULL is fine */

#endif
