/* Unpacks with ISA-L, about three times as fast as zlib. Built only where the library's headers are
 * installed.  It is loaded when something is unpacked: linked, it would cost each start of dtx
 * 0.16 ms. */
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>

#include "core/base/lib.h"
#include "core/base/memory/mem.h"
#include "core/io/archive/inflate.h"

enum { PIECE_MAX = 1 << 30 }; /* ISA-L counts in 32 bits */

/* Set once, by load(). */
static struct {
	void (*init)(struct inflate_state *s);
	int (*inflate)(struct inflate_state *s);
	uint32_t (*crc)(uint32_t crc, const unsigned char *bytes, uint64_t len);
} isal;

static void load(void)
{
	const struct dtx_lib_symbol symbol[] = {
		{ "isal_inflate_init", (void **)&isal.init },
		{ "isal_inflate", (void **)&isal.inflate },
		{ "crc32_gzip_refl", (void **)&isal.crc },
	};

	(void)!dtx_lib_open("libisal.so.2", "libisal2", false, symbol, DTX_COUNT(symbol), NULL);
}

static bool isal_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, load);
	return isal.init != NULL;
}

static void *isal_open(void)
{
	struct inflate_state *s = dtx_mem_alloc(1, sizeof(*s));

	if (s)
		isal.init(s);
	return s;
}

/* Gives back whole bytes that ISA-L has read ahead but that do not belong to the stream. They
 * are always in the last input that it was given. */
static void give_back(struct inflate_state *s, struct dtx_inflate_io *io)
{
	size_t ahead = s->read_in_length > 0 ? (size_t)s->read_in_length / 8 : 0;

	io->in -= ahead;
	io->nin += ahead;
	s->read_in_length = 0;
}

static enum dtx_inflate_state isal_run(void *state, struct dtx_inflate_io *io)
{
	struct inflate_state *s = state;
	int got = ISAL_DECOMP_OK;

	/* ISA-L may hold bytes that it has read but not unpacked yet; these need no more input. */
	while (got == ISAL_DECOMP_OK && io->nout && s->block_state != ISAL_BLOCK_FINISH) {
		uint32_t in = (uint32_t)DTX_MIN(io->nin, (size_t)PIECE_MAX);
		uint32_t out = (uint32_t)DTX_MIN(io->nout, (size_t)PIECE_MAX);

		s->next_in = (uint8_t *)(uintptr_t)io->in;
		s->avail_in = in;
		s->next_out = io->out;
		s->avail_out = out;
		got = isal.inflate(s);
		io->in += in - s->avail_in;
		io->nin -= in - s->avail_in;
		io->out += out - s->avail_out;
		io->nout -= out - s->avail_out;
		if (in == s->avail_in && out == s->avail_out)
			break;
	}
	if (got < 0)
		return DTX_INFLATE_BAD;
	if (s->block_state != ISAL_BLOCK_FINISH)
		return DTX_INFLATE_MORE;
	give_back(s, io);
	return DTX_INFLATE_END;
}

static uint32_t isal_crc(uint32_t crc, const void *bytes, size_t len)
{
	return isal.crc(crc, bytes, len);
}

const struct dtx_inflate_class dtx_inflate_isal = { "isa-l",  isal_ready,   isal_open,
	                                            isal_run, dtx_mem_free, isal_crc };
