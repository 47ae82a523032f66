/* Packs bytes as gzip, see gzip_writer.h. Each block of the stream is a run of deflate blocks that
 * ends at a byte boundary, as pigz(1) writes them; the member ends with an empty last block. */
#include "core/io/archive/gzip_writer.h"

#include <zlib.h>

#include "core/base/memory/buf.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/parallel_for.h"

/* Larger blocks pack a little better, smaller ones need less memory: with 512 KiB, a file is 0.4 %
 * larger than as one block. */
#define BLOCK_BYTES ((size_t)512 << 10)
#define PACKED_MAX  (BLOCK_BYTES * 2)

/* Level 4 takes a third of the time of level 6, the default of gzip(1), for files that are 7 %
 * larger (a CSV file of 600,000 random rows: 0.5 s and 6.9 MB against 1.6 s and 6.5 MB). The bytes
 * depend on it: replays of old runs give the same file only while it stays. */
enum { LEVEL = 4, HEAD_BYTES = 10, GROUP_MAX = 16 };

struct block {
	struct dtx_buf raw, packed;
};

struct dtx_gzip_writer {
	dtx_gzip_writer_fn fn;
	void *arg;
	unsigned workers, nblocks; /* nblocks: how many are packed at the same time */
	unsigned at;               /* the block that is being filled; those before it are full */
	bool begun;
	uint32_t crc, size; /* of the stream; size modulo 2^32, as the trailer has it */
	struct block block[GROUP_MAX];
};

static void *pack_alloc(void *opaque, unsigned n, unsigned size)
{
	(void)opaque;
	return dtx_mem_alloc(n, size);
}

static void pack_release(void *opaque, void *ptr)
{
	(void)opaque;
	dtx_mem_free(ptr);
}

enum dtx_code dtx_gzip_writer_new(unsigned workers, dtx_gzip_writer_fn fn, void *arg,
                                  struct dtx_gzip_writer **out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_gzip_writer *w = dtx_mem_zalloc(1, sizeof(*w));

	if (!w)
		DTX_FAIL_MEM(err);
	w->fn = fn;
	w->arg = arg;
	w->workers = DTX_MAX(workers, 1U);
	w->nblocks = DTX_MIN(w->workers, (unsigned)GROUP_MAX);
	for (size_t i = 0; i < GROUP_MAX; i++) {
		dtx_buf_init(&w->block[i].raw, BLOCK_BYTES);
		dtx_buf_init(&w->block[i].packed, PACKED_MAX);
	}
	*out = w;
out:
	return rc;
}

static enum dtx_code pack_block(void *arg, uint64_t i, struct dtx_err *err)
{
	struct dtx_gzip_writer *w = arg;
	struct block *b = &w->block[i];
	z_stream z = { .zalloc = pack_alloc, .zfree = pack_release };
	enum dtx_code rc = DTX_OK;
	bool open = false;
	size_t room;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1,
	                 Z_DEFAULT_STRATEGY) != Z_OK)
		DTX_FAIL_MEM(err);
	open = true;
	/* and the empty block that a flush adds */
	room = (size_t)deflateBound(&z, (uLong)b->raw.len) + 16;
	dtx_buf_reset(&b->packed);
	if (!dtx_buf_room(&b->packed, room))
		DTX_FAIL_MEM(err);
	z.next_in = (Bytef *)b->raw.ptr;
	z.avail_in = (uInt)b->raw.len;
	z.next_out = (Bytef *)b->packed.ptr;
	z.avail_out = (uInt)room;
	(void)deflate(&z, Z_SYNC_FLUSH);
	DTX_ASSERT(!z.avail_in && z.avail_out, err);
	b->packed.len = room - z.avail_out;
out:
	if (open)
		(void)deflateEnd(&z);
	return rc;
}

static enum dtx_code begin(struct dtx_gzip_writer *w, struct dtx_err *err)
{
	/* no flags, no time, no name; the system is "unknown", the same on every machine */
	static const char head[HEAD_BYTES] = { '\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff' };

	if (w->begun)
		return DTX_OK;
	w->begun = true;
	return w->fn(w->arg, (struct dtx_str){ head, sizeof(head) }, err);
}

/* Packs the first n blocks and passes them on. */
static enum dtx_code pack(struct dtx_gzip_writer *w, unsigned n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	DTX_TRY(begin(w, err));
	DTX_TRY(dtx_parallel_for(w->workers, n, pack_block, w, err));
	for (unsigned i = 0; i < n; i++) {
		struct block *b = &w->block[i];

		w->crc = (uint32_t)crc32(w->crc, (const Bytef *)b->raw.ptr, (uInt)b->raw.len);
		w->size += (uint32_t)b->raw.len;
		DTX_TRY(w->fn(w->arg, dtx_buf_str(&b->packed), err));
		dtx_buf_reset(&b->raw);
	}
	w->at = 0;
out:
	return rc;
}

enum dtx_code dtx_gzip_writer_add(struct dtx_gzip_writer *w, struct dtx_str bytes,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	while (bytes.len) {
		struct dtx_buf *raw = &w->block[w->at].raw;
		size_t n = DTX_MIN(bytes.len, BLOCK_BYTES - raw->len);

		dtx_buf_addn(raw, bytes.ptr, n);
		if (!dtx_buf_ok(raw))
			DTX_FAIL_MEM(err);
		bytes = (struct dtx_str){ bytes.ptr + n, bytes.len - n };
		if (raw->len == BLOCK_BYTES && ++w->at == w->nblocks)
			DTX_TRY(pack(w, w->nblocks, err));
	}
out:
	return rc;
}

static void put_le32(char *to, uint32_t n)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (char)(n >> 8 * i & 0xff);
}

enum dtx_code dtx_gzip_writer_finish(struct dtx_gzip_writer *w, struct dtx_err *err)
{
	/* an empty last block, the checksum, the size */
	char tail[2 + 4 + 4] = { 3, 0 };
	enum dtx_code rc = DTX_OK;

	DTX_TRY(pack(w, w->at + (w->at < w->nblocks && w->block[w->at].raw.len), err));
	put_le32(tail + 2, w->crc);
	put_le32(tail + 6, w->size);
	DTX_TRY(w->fn(w->arg, (struct dtx_str){ tail, sizeof(tail) }, err));
out:
	return rc;
}

void dtx_gzip_writer_free(struct dtx_gzip_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < GROUP_MAX; i++) {
		dtx_buf_clear(&w->block[i].raw);
		dtx_buf_clear(&w->block[i].packed);
	}
	dtx_mem_free(w);
}
