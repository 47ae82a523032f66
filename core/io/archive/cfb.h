/* Compound files (OLE2), the container of .xls: gives the streams of the root storage by name.
 * It reads mapped bytes. The length of each chain is bounded by the file's length, so damaged
 * files with loops cannot hang it. Source: [MS-CFB]. */
#ifndef DTX_IO_ARCHIVE_CFB_H
#define DTX_IO_ARCHIVE_CFB_H

#include "core/base/err.h"
#include "core/base/text/str.h"

#define DTX_CFB_NONE 0xffffffffu

struct dtx_cfb {
	const char *label; /* for messages; borrowed */
	const uint8_t *bytes;
	size_t len;
	/* size of a sector in bytes; number of sectors in the file, including a last one that is
	 * cut short */
	uint32_t sector, nsectors;
	uint32_t *fat_sector; /* sectors that contain the allocation table */
	uint32_t nfat;
	uint32_t mini_cutoff; /* shorter streams are in the mini stream */
	uint32_t first_mini_fat;
	uint8_t *dir; /* directory entries of 128 bytes */
	uint32_t nentries;
};
/* The bytes of a stream: a part of the mapping if they are contiguous, otherwise a copy. */
struct dtx_cfb_stream {
	const uint8_t *bytes;
	size_t len;
	uint8_t *copy; /* dtx_mem, or NULL */
};

bool dtx_cfb_sniff(const void *head, size_t len);
/* Opens a file. The caller zeroes *cfb and clears it, also after a failure. `bytes` must outlive
 * it. Error: corrupt_file. */
DTX_MUSTUSE enum dtx_code dtx_cfb_open(struct dtx_cfb *cfb, const char *label, const void *bytes,
                                       size_t len, struct dtx_err *err);
void dtx_cfb_clear(struct dtx_cfb *cfb);
/* Finds a stream in the root storage, ignoring ASCII case. *entry becomes DTX_CFB_NONE if it is
 * not there. */
DTX_MUSTUSE enum dtx_code dtx_cfb_find(const struct dtx_cfb *cfb, const char *name, uint32_t *entry,
                                       struct dtx_err *err);
/* Reads a stream. If the entry claims more bytes than its chain has, gives those of the chain.
 * The caller clears *out. */
DTX_MUSTUSE enum dtx_code dtx_cfb_read(const struct dtx_cfb *cfb, uint32_t entry,
                                       struct dtx_cfb_stream *out, struct dtx_err *err);
void dtx_cfb_stream_clear(struct dtx_cfb_stream *s);

#endif
