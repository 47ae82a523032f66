/* Unpacks with zlib, which every build has. */
#include <zlib.h>

#include "core/base/memory/mem.h"
#include "core/io/archive/inflate.h"

enum { PIECE_MAX = 1 << 30 }; /* zlib counts in 32 bits */

static void *zlib_alloc(void *opaque, unsigned n, unsigned size)
{
	(void)opaque;
	return dtx_mem_alloc(n, size);
}

static void zlib_release(void *opaque, void *ptr)
{
	(void)opaque;
	dtx_mem_free(ptr);
}

static void *zlib_open(void)
{
	z_stream *z = dtx_mem_zalloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->zalloc = zlib_alloc;
	z->zfree = zlib_release;
	if (inflateInit2(z, -MAX_WBITS) == Z_OK)
		return z;
	dtx_mem_free(z);
	return NULL;
}

static void zlib_close(void *state)
{
	inflateEnd(state);
	dtx_mem_free(state);
}

static enum dtx_inflate_state zlib_run(void *state, struct dtx_inflate_io *io)
{
	z_stream *z = state;
	int got = Z_OK;

	while (got == Z_OK && io->nout && io->nin) {
		uInt in = (uInt)DTX_MIN(io->nin, (size_t)PIECE_MAX);
		uInt out = (uInt)DTX_MIN(io->nout, (size_t)PIECE_MAX);

		z->next_in = (z_const Bytef *)io->in;
		z->avail_in = in;
		z->next_out = io->out;
		z->avail_out = out;
		got = inflate(z, Z_NO_FLUSH);
		io->in += in - z->avail_in;
		io->nin -= in - z->avail_in;
		io->out += out - z->avail_out;
		io->nout -= out - z->avail_out;
	}
	switch (got) {
	case Z_OK:
	case Z_BUF_ERROR: return DTX_INFLATE_MORE;
	case Z_STREAM_END: return DTX_INFLATE_END;
	case Z_MEM_ERROR: return DTX_INFLATE_NO_MEMORY;
	default: return DTX_INFLATE_BAD;
	}
}

static uint32_t zlib_crc(uint32_t crc, const void *bytes, size_t len)
{
	return (uint32_t)crc32_z(crc, bytes, len);
}

static bool zlib_ready(void)
{
	return true;
}

const struct dtx_inflate_class dtx_inflate_zlib = { "zlib",   zlib_ready, zlib_open,
	                                            zlib_run, zlib_close, zlib_crc };
