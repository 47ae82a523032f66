/* ZIP containers, read as hostile input.
 *
 * Sizes, method and CRC are taken from the central directory, never from local headers. Names
 * that are equal after folding, overlapping entries, encryption and unknown methods are
 * corrupt_file. Content that exceeds the limits is archive_limit. Nothing is written to disk. */
#ifndef DTX_IO_ARCHIVE_ZIP_H
#define DTX_IO_ARCHIVE_ZIP_H

#include "core/base/memory/arena.h"
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
	uint64_t counted; /* unpacked bytes that count in the total; reading again is free */
};
struct dtx_zip {
	struct dtx_arena arena;
	const char *label;          /* file name for messages; borrowed */
	const unsigned char *bytes; /* borrowed */
	size_t len;
	/* bytes of the file before the archive: a program that unpacks it, or a stray line */
	uint64_t lead;
	struct dtx_archive_limits limits;
	struct dtx_zip_entry *entry;
	uint32_t n;
	struct dtx_strmap names;
	uint64_t inflated; /* so far, counting each part once */
};
#define DTX_ZIP_INIT                                                                               \
	{                                                                                          \
		.label = ""                                                                        \
	}

/* Whether the bytes begin like a ZIP. */
bool dtx_zip_sniff(const void *head, size_t len);
/* Whether the file is a ZIP archive with other bytes before it: its end record and directory are
 * where they say, shifted by those bytes. */
bool dtx_zip_behind(const void *bytes, size_t len);
/* Reads the central directory. The caller initialises `z` with DTX_ZIP_INIT and clears it, also
 * after a failure; label and bytes must outlive it. Errors: corrupt_file, archive_limit. */
DTX_MUSTUSE enum dtx_code dtx_zip_open(struct dtx_zip *z, const char *label, const void *bytes,
                                       size_t len, const struct dtx_archive_limits *limits,
                                       struct dtx_err *err);
void dtx_zip_clear(struct dtx_zip *z);
/* Folds the name of a part: case, '\', %xx, "./" and "../", a leading '/'. Returns false if it
 * is too long. */
DTX_MUSTUSE bool dtx_zip_fold(struct dtx_str name, char out[DTX_ZIP_NAME_MAX], size_t *len);
/* Finds an entry by name, which is folded here; NULL if none. */
const struct dtx_zip_entry *dtx_zip_find(const struct dtx_zip *z, struct dtx_str name);

/* Reads one entry as a stream. Several may be open, all on the zip's thread. */
struct dtx_unzip;
DTX_MUSTUSE enum dtx_code dtx_unzip_open(struct dtx_zip *z, const struct dtx_zip_entry *entry,
                                         struct dtx_unzip **out, struct dtx_err *err);
/* Fills up to cap bytes. *got is 0 at the end, and by then size and CRC have been checked. */
DTX_MUSTUSE enum dtx_code dtx_unzip_read(struct dtx_unzip *u, void *to, size_t cap, size_t *got,
                                         struct dtx_err *err);
void dtx_unzip_free(struct dtx_unzip *u); /* NULL is fine */

#endif
