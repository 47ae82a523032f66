/* The fs-verity digest: SHA-256 of a tree, whose leaves all cores can compute.
 *
 * The bytes are cut into blocks of 4 KiB; each block of hashes, 128 of them, is hashed again, up to
 * one hash, and what is named is the SHA-256 of a descriptor with it and the size.  `fsverity
 * digest` prints the same, and Linux keeps it for files on which fs-verity is enabled.  Source:
 * "Merkle tree" and "fs-verity descriptor" in Documentation/filesystems/fsverity.rst of Linux;
 * version 1, SHA-256, no salt. */
#ifndef DTX_BASE_HASH_VERITY_H
#define DTX_BASE_HASH_VERITY_H

#include "core/base/hash/hash.h"

#define DTX_VERITY_BLOCK  ((size_t)4096)
#define DTX_VERITY_FANOUT (DTX_VERITY_BLOCK / DTX_SHA256_SIZE)
/* What one block of hashes is of, and so what threads compute on their own. */
#define DTX_VERITY_UNIT   (DTX_VERITY_BLOCK * DTX_VERITY_FANOUT)
#define DTX_VERITY_LEVELS 9 /* of 2^64 bytes: the bytes, and 2^52 hashes of them */

struct dtx_verity_level {
	bool passed; /* a block of it was full: it is not the one of a single hash */
	size_t fill; /* bytes of the next block */
	uint8_t block[DTX_VERITY_BLOCK];
};

/* 36 KiB; level 0 is of the bytes. */
struct dtx_verity {
	unsigned lanes; /* see dtx_verity_lanes */
	uint64_t size;
	struct dtx_verity_level level[DTX_VERITY_LEVELS];
};

void dtx_verity_init(struct dtx_verity *v);
void dtx_verity_add(struct dtx_verity *v, const void *bytes, size_t len);
/* Blocks that this machine hashes at once: 16, 2, 1.  Asks the processor. */
unsigned dtx_verity_lanes(void);
/* The hash of a unit; any thread. */
void dtx_verity_unit(const void *unit, unsigned lanes, uint8_t out[DTX_SHA256_SIZE]);
/* Adds a unit by its hash, behind whole units alone. */
void dtx_verity_add_unit(struct dtx_verity *v, const uint8_t hash[DTX_SHA256_SIZE]);
/* Of what was added; once. */
void dtx_verity_done(struct dtx_verity *v, uint8_t out[DTX_SHA256_SIZE]);

#endif
