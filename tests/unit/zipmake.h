/* Makes zip archives in memory, valid and lying ones, for tests of the readers. */
#ifndef TESTS_UNIT_ZIPMAKE_H
#define TESTS_UNIT_ZIPMAKE_H

#include <zlib.h>

#include "core/base/memory/buf.h"

struct zip_part {
	const char *name;
	const char *text; /* NULL: `fill` zero bytes */
	size_t fill;
	bool stored;
	uint32_t lie_size; /* added to the declared size */
	uint32_t lie_crc;
	int at; /* shares the local header of part at - 1; 0: has its own */
	uint16_t flags;
};

static inline void zip_le(struct dtx_buf *b, uint64_t v, int bytes)
{
	for (; bytes; bytes--, v >>= 8)
		dtx_buf_addc(b, (char)(v & 0xff));
}

/* Deflates text or zeros and returns the packed bytes in `out`. */
static inline uint32_t zip_pack(const struct zip_part *p, size_t len, struct dtx_buf *out)
{
	static const unsigned char zeros[65536];
	z_stream z;
	uint32_t crc = 0;
	size_t done = 0;
	int rc = Z_OK;

	memset(&z, 0, sizeof(z));
	if (deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	while (rc != Z_STREAM_END && dtx_buf_room(out, 65536)) {
		if (!z.avail_in) {
			size_t n = p->text ? len - done : DTX_MIN(len - done, sizeof(zeros));
			const unsigned char *from =
				p->text ? (const unsigned char *)p->text : zeros;

			crc = (uint32_t)crc32(crc, from, (uInt)n);
			z.next_in = (z_const Bytef *)from;
			z.avail_in = (uInt)n;
			done += n;
		}
		z.next_out = (Bytef *)out->ptr + out->len;
		z.avail_out = 65536;
		rc = deflate(&z, done == len ? Z_FINISH : Z_NO_FLUSH);
		out->len += 65536 - z.avail_out;
	}
	deflateEnd(&z);
	return crc;
}

static inline void zip_header(struct dtx_buf *b, const struct zip_part *p, bool central,
                              uint32_t crc, size_t packed, size_t size, uint32_t offset)
{
	zip_le(b, central ? 0x02014b50u : 0x04034b50u, 4);
	if (central)
		zip_le(b, 20, 2);
	zip_le(b, 20, 2);
	zip_le(b, p->flags, 2);
	zip_le(b, p->stored ? 0 : 8, 2);
	zip_le(b, 0, 4);
	zip_le(b, crc, 4);
	zip_le(b, packed, 4);
	zip_le(b, size, 4);
	zip_le(b, strlen(p->name), 2);
	zip_le(b, 0, 2);
	if (central) {
		zip_le(b, 0, 10);
		zip_le(b, offset, 4);
	}
	dtx_buf_add(b, p->name);
}

/* Writes the archive of n parts (at most 64) to out. */
static inline void zip_make(struct dtx_buf *out, const struct zip_part *p, size_t n)
{
	struct dtx_buf dir = DTX_BUF_INIT((size_t)1 << 24);
	uint32_t at[64], crc;
	size_t i, dir_at;

	for (i = 0; i < n && i < 64; i++) {
		struct dtx_buf packed = DTX_BUF_INIT((size_t)1 << 28);
		size_t len = p[i].text ? strlen(p[i].text) : p[i].fill;

		crc = zip_pack(&p[i], len, &packed);
		if (p[i].stored) {
			dtx_buf_reset(&packed);
			dtx_buf_addn(&packed, p[i].text, len);
		}
		at[i] = p[i].at ? at[p[i].at - 1] : (uint32_t)out->len;
		if (!p[i].at) {
			zip_header(out, &p[i], false, crc, packed.len, len, 0);
			dtx_buf_addn(out, packed.ptr, packed.len);
		}
		zip_header(&dir, &p[i], true, crc + p[i].lie_crc, packed.len, len + p[i].lie_size,
		           at[i]);
		dtx_buf_clear(&packed);
	}
	dir_at = out->len;
	dtx_buf_addn(out, dir.ptr, dir.len);
	zip_le(out, 0x06054b50u, 4);
	zip_le(out, 0, 4);
	zip_le(out, n, 2);
	zip_le(out, n, 2);
	zip_le(out, dir.len, 4);
	zip_le(out, dir_at, 4);
	zip_le(out, 0, 2);
	dtx_buf_clear(&dir);
}

#endif
