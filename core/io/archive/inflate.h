/* Unpacks raw deflate streams (RFC 1951): with ISA-L if it is installed, otherwise with zlib.
 * Both give the same bytes. */
#ifndef DTX_IO_ARCHIVE_INFLATE_H
#define DTX_IO_ARCHIVE_INFLATE_H

#include "core/base/err.h"

enum dtx_inflate_state {
	DTX_INFLATE_MORE, /* `out` is full, or `in` is used up and the stream continues */
	DTX_INFLATE_END,  /* the stream has ended, and `in` points to the byte after it */
	DTX_INFLATE_BAD,
	DTX_INFLATE_NO_MEMORY
};
struct dtx_inflate_io { /* a call advances both pairs */
	const unsigned char *in;
	size_t nin;
	unsigned char *out;
	size_t nout;
};
struct dtx_inflate_class {
	const char *name;
	bool (*ready)(void); /* loads the library if it is not; false: it is missing */
	void *(*open)(void); /* NULL: no memory */
	enum dtx_inflate_state (*run)(void *state, struct dtx_inflate_io *io);
	void (*close)(void *state);
	/* CRC-32 as in zip files, continued from `crc` (0 at first). */
	uint32_t (*crc)(uint32_t crc, const void *bytes, size_t len);
};
extern const struct dtx_inflate_class dtx_inflate_zlib;
extern const struct dtx_inflate_class dtx_inflate_isal; /* only in builds with ISA-L */
/* All inflaters of this build, the fastest first; the list ends with NULL. The last is always
 * ready. */
extern const struct dtx_inflate_class *const dtx_inflates[];
/* The fastest one that is ready. The first call may open a library's file, so a process that may
 * open none later calls this before. Thread-safe. */
const struct dtx_inflate_class *dtx_inflate_best(void);

#endif
