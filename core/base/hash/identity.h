/* Identities of bytes, as records name them: what tells whether a file still has the bytes it had.
 *
 * As text: SHA-256 as 64 digits alone, which is what `sha256sum` prints; the others behind a mark,
 * "fsverity:" (core/base/hash/verity.h; proves as much, and all cores compute it) and "xxh3:". */
#ifndef DTX_BASE_HASH_IDENTITY_H
#define DTX_BASE_HASH_IDENTITY_H

#include "core/base/hash/hash.h"
#include "core/base/hash/verity.h"

/* As --input-hash names them. */
enum dtx_identity_kind {
	DTX_IDENTITY_AUTO, /* by the size, where that is known */
	DTX_IDENTITY_SHA256,
	DTX_IDENTITY_VERITY,
	DTX_IDENTITY_XXH3
};

#define DTX_IDENTITY_TEXT  80 /* with terminator */
#define DTX_IDENTITY_LARGE ((size_t)8 << 20)

struct dtx_identity {
	enum dtx_identity_kind kind;
	union {
		struct dtx_sha256 sha;
		struct dtx_weak weak;
		struct dtx_verity verity;
	} of;
};

/* auto: SHA-256. */
void dtx_identity_init(struct dtx_identity *id, enum dtx_identity_kind kind);
void dtx_identity_add(struct dtx_identity *id, const void *bytes, size_t len);
void dtx_identity_done(struct dtx_identity *id, char text[DTX_IDENTITY_TEXT]); /* once */

/* What auto stands for: SHA-256 of less than DTX_IDENTITY_LARGE bytes. */
enum dtx_identity_kind dtx_identity_of_size(enum dtx_identity_kind kind, size_t size);
/* Of an identity as text: its kind, its digits, and the word for a person: sha256, fsverity, weak.
 */
enum dtx_identity_kind dtx_identity_kind(const char *text);
const char *dtx_identity_digits(const char *text);
const char *dtx_identity_word(const char *text);

#endif
