/* Compound files (OLE2): the streams of the root storage, by name.  Reads a mapping; every chain
 * is bounded by the file's length, so loops end. */
#ifndef DTX_IO_ARCHIVE_CFB_H
#define DTX_IO_ARCHIVE_CFB_H

#include "core/base/err.h"
#include "core/base/text/str.h"

#define DTX_CFB_NONE 0xffffffffu

struct dtx_cfb {
	const char *label; /* for messages; borrowed */
	const uint8_t *bytes;
	size_t len;
	uint32_t sector, nsectors; /* bytes of one; how many the file has, a cut last one too */
	uint32_t *fat_sector;      /* where the table lies */
	uint32_t nfat;
	uint32_t mini_cutoff; /* shorter streams lie in the mini stream */
	uint32_t first_mini_fat;
	uint8_t *dir; /* directory entries of 128 bytes */
	uint32_t nentries;
};
/* Bytes of a stream: the mapping's own when they lie in one piece. */
struct dtx_cfb_stream {
	const uint8_t *bytes;
	size_t len;
	uint8_t *copy; /* dtx_mem, or NULL */
};

bool dtx_cfb_sniff(const void *head, size_t len);
/* `cfb` is zeroed by the caller and cleared in any case.  The bytes outlive it. */
DTX_MUSTUSE enum dtx_code dtx_cfb_open(struct dtx_cfb *cfb, const char *label, const void *bytes,
                                       size_t len, struct dtx_err *err);
void dtx_cfb_clear(struct dtx_cfb *cfb);
/* Entry of a stream in the root storage, ASCII case ignored; DTX_CFB_NONE if there is none. */
DTX_MUSTUSE enum dtx_code dtx_cfb_find(const struct dtx_cfb *cfb, const char *name, uint32_t *entry,
                                       struct dtx_err *err);
/* The stream's bytes; as many as its chain has when the entry claims more. */
DTX_MUSTUSE enum dtx_code dtx_cfb_read(const struct dtx_cfb *cfb, uint32_t entry,
                                       struct dtx_cfb_stream *out, struct dtx_err *err);
void dtx_cfb_stream_clear(struct dtx_cfb_stream *s);

#endif
