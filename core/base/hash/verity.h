/* The fs-verity digest: the root of a tree of SHA-256 hashes.  Several cores can compute it
 * together, because the leaves do not depend on each other.
 *
 * The file is cut into blocks of 4 KiB.  The hashes of 128 blocks form a block of the next level,
 * which is hashed again, up to a single root hash.  The digest is the SHA-256 of a descriptor that
 * contains this root and the size of the file.  `fsverity digest` prints the same value, and Linux
 * stores it for files on which fs-verity is enabled.  Source: "Merkle tree" and "fs-verity
 * descriptor" in Documentation/filesystems/fsverity.rst of Linux; version 1, SHA-256, no salt. */
#ifndef DTX_BASE_HASH_VERITY_H
#define DTX_BASE_HASH_VERITY_H

#include "core/base/hash/hash.h"

#define DTX_VERITY_BLOCK  ((size_t)4096)
#define DTX_VERITY_FANOUT (DTX_VERITY_BLOCK / DTX_SHA256_SIZE)
/* The bytes below one block of hashes: 512 KiB.  This is the unit of work that threads compute on
 * their own. */
#define DTX_VERITY_UNIT (DTX_VERITY_BLOCK * DTX_VERITY_FANOUT)
/* Enough for 2^64 bytes: level 0 has the data, level 1 up to 2^52 hashes. */
#define DTX_VERITY_LEVELS 9

struct dtx_verity_level {
	bool passed; /* at least one block of this level was full, so its hash is not the root */
	size_t fill; /* bytes of the block that are filled */
	uint8_t block[DTX_VERITY_BLOCK];
};

/* 36 KiB.  Level 0 collects the data, the other levels collect hashes. */
struct dtx_verity {
	unsigned lanes; /* see dtx_verity_lanes */
	uint64_t size;
	struct dtx_verity_level level[DTX_VERITY_LEVELS];
};

void dtx_verity_init(struct dtx_verity *v);
void dtx_verity_add(struct dtx_verity *v, const void *bytes, size_t len);
/* How many blocks this machine hashes at once: 16, 2 or 1.  Queries the processor. */
unsigned dtx_verity_lanes(void);
/* The hash of one unit of DTX_VERITY_UNIT bytes.  Any thread may call it. */
void dtx_verity_unit(const void *unit, unsigned lanes, uint8_t out[DTX_SHA256_SIZE]);
/* Adds a unit by its hash.  Everything that was added before must be whole units. */
void dtx_verity_add_unit(struct dtx_verity *v, const uint8_t hash[DTX_SHA256_SIZE]);
/* The digest of everything that was added.  May be called once. */
void dtx_verity_done(struct dtx_verity *v, uint8_t out[DTX_SHA256_SIZE]);

#endif
