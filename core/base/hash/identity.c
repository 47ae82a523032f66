/* One interface to the three kinds of file identities: see identity.h. */
#include "core/base/hash/identity.h"

#include <string.h>

static const struct {
	const char *mark, *word;
} identity_kinds[] = {
	[DTX_IDENTITY_AUTO] = { "", "" },
	[DTX_IDENTITY_SHA256] = { "", "sha256" },
	[DTX_IDENTITY_VERITY] = { "fsverity:", "fsverity" },
	[DTX_IDENTITY_XXH3] = { DTX_WEAK_MARK, "weak" },
};

void dtx_identity_init(struct dtx_identity *id, enum dtx_identity_kind kind)
{
	id->kind = kind == DTX_IDENTITY_AUTO ? DTX_IDENTITY_SHA256 : kind;
	if (id->kind == DTX_IDENTITY_VERITY)
		dtx_verity_init(&id->of.verity);
	else if (id->kind == DTX_IDENTITY_XXH3)
		dtx_weak_init(&id->of.weak);
	else
		dtx_sha256_init(&id->of.sha);
}

void dtx_identity_add(struct dtx_identity *id, const void *bytes, size_t len)
{
	if (id->kind == DTX_IDENTITY_VERITY)
		dtx_verity_add(&id->of.verity, bytes, len);
	else if (id->kind == DTX_IDENTITY_XXH3)
		dtx_weak_add(&id->of.weak, bytes, len);
	else
		dtx_sha256_add(&id->of.sha, bytes, len);
}

void dtx_identity_done(struct dtx_identity *id, char text[DTX_IDENTITY_TEXT])
{
	const char *mark = identity_kinds[id->kind].mark;
	uint8_t digest[DTX_SHA256_SIZE];

	if (id->kind == DTX_IDENTITY_XXH3) {
		dtx_weak_done(&id->of.weak, text);
		return;
	}
	if (id->kind == DTX_IDENTITY_VERITY)
		dtx_verity_done(&id->of.verity, digest);
	else
		dtx_sha256_done(&id->of.sha, digest);
	memcpy(text, mark, strlen(mark));
	dtx_hex(digest, sizeof(digest), text + strlen(mark));
}

enum dtx_identity_kind dtx_identity_of_size(enum dtx_identity_kind kind, size_t size)
{
	if (kind != DTX_IDENTITY_AUTO)
		return kind;
	return size < DTX_IDENTITY_LARGE ? DTX_IDENTITY_SHA256 : DTX_IDENTITY_VERITY;
}

enum dtx_identity_kind dtx_identity_kind(const char *text)
{
	for (enum dtx_identity_kind k = DTX_IDENTITY_VERITY; k <= DTX_IDENTITY_XXH3; k++)
		if (!strncmp(text, identity_kinds[k].mark, strlen(identity_kinds[k].mark)))
			return k;
	return DTX_IDENTITY_SHA256;
}

const char *dtx_identity_digits(const char *text)
{
	return text + strlen(identity_kinds[dtx_identity_kind(text)].mark);
}

const char *dtx_identity_word(const char *text)
{
	return identity_kinds[dtx_identity_kind(text)].word;
}
