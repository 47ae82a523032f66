/* Identities of files, as records name them: they tell whether a file still has the bytes that it
 * had.
 *
 * As text, a SHA-256 is its 64 hex digits alone, as `sha256sum` prints it.  The other kinds have a
 * prefix: "fsverity:" (see verity.h; as strong as SHA-256, and several cores can compute it
 * together) and "xxh3:" (fast, but it proves nothing against forgery). */
#ifndef DTX_BASE_HASH_IDENTITY_H
#define DTX_BASE_HASH_IDENTITY_H

#include "core/base/hash/hash.h"
#include "core/base/hash/verity.h"

/* The words of --input-hash. */
enum dtx_identity_kind {
	DTX_IDENTITY_AUTO, /* chosen by the size of the file, if that is known */
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

/* AUTO means SHA-256 here, because the size is not known yet. */
void dtx_identity_init(struct dtx_identity *id, enum dtx_identity_kind kind);
void dtx_identity_add(struct dtx_identity *id, const void *bytes, size_t len);
/* Once per identity. */
void dtx_identity_done(struct dtx_identity *id, char text[DTX_IDENTITY_TEXT]);

/* What AUTO means for a file of this size: SHA-256 below DTX_IDENTITY_LARGE bytes. */
enum dtx_identity_kind dtx_identity_of_size(enum dtx_identity_kind kind, size_t size);
/* Of an identity as text: its kind, its hex digits, and the word for people (sha256, fsverity,
 * weak). */
enum dtx_identity_kind dtx_identity_kind(const char *text);
const char *dtx_identity_digits(const char *text);
const char *dtx_identity_word(const char *text);

#endif
