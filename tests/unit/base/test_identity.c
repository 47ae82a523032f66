/* Identities of bytes: the same as other programs print, however the bytes are divided. */
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/hash/identity.h"
#include "core/base/memory/mem.h"
#include "core/base/hash/sha_many.h"
#include "core/io/source/source.h"
#include "tests/t.h"

#define MOST ((size_t)3000000)

static uint8_t identity_byte(size_t i)
{
	return (uint8_t)((i * 7 + i / 4096) % 251);
}

static uint8_t *identity_bytes(size_t n)
{
	uint8_t *bytes = dtx_mem_alloc(n, 1);

	for (size_t i = 0; bytes && i < n; i++)
		bytes[i] = identity_byte(i);
	return bytes;
}

/* As `fsverity digest` prints them. */
static const struct {
	size_t size;
	const char *digits;
} verity_rows[] = {
	{ 0, "3d248ca542a24fc62d1c43b916eae5016878e2533c88238480b26128a1f1af95" },
	{ 1, "b803429503d95915829b29fdbc8bbad142f3abfd11b1cadf5526582e685c0551" },
	{ 4096, "258b680fa93e3bfc1586d9b439d29a2172bd0db550fe7da1272fd8120d801182" },
	{ 4097, "0b56d91e56b7acb8a5d9b3c634035e958de06d93cebf44ec208715e5d31e702e" },
	{ 524288, "3f0878082c1ff21b3c72099f28aafe4d629ba40d693ad12c03a48921cf50e92d" },
	{ 524289, "0b290ba5244d75295e37ef71e3cf78277b2ccb688c590011bb5c9dc95cad7937" },
	{ 1048576, "6f606334a1785881134613976b27ec34fa107ab4b79dc1426b63401afd605c51" },
	{ MOST, "bc7e4f248c2ae2a466cfcfd9eb02020e1cd33ffbc0c1cd019109ec19e7a990eb" },
};

static void identity_in_pieces(const uint8_t *bytes, size_t n, size_t piece,
                               enum dtx_identity_kind kind, char text[DTX_IDENTITY_TEXT])
{
	struct dtx_identity id;

	dtx_identity_init(&id, kind);
	for (size_t at = 0; at < n; at += piece)
		dtx_identity_add(&id, bytes + at, DTX_MIN(piece, n - at));
	dtx_identity_done(&id, text);
}

void test_identity_verity(void)
{
	static const size_t pieces[] = { 1000, 4096, 5000, DTX_VERITY_UNIT, DTX_VERITY_UNIT + 1,
		                         MOST };
	uint8_t *bytes = identity_bytes(MOST);
	char text[DTX_IDENTITY_TEXT];

	T_CHECK(bytes != NULL);
	for (size_t i = 0; i < DTX_COUNT(verity_rows); i++) {
		for (size_t k = 0; k < DTX_COUNT(pieces); k++) {
			identity_in_pieces(bytes, verity_rows[i].size, pieces[k],
			                   DTX_IDENTITY_VERITY, text);
			T_CHECK(dtx_identity_kind(text) == DTX_IDENTITY_VERITY);
			T_STR(dtx_identity_digits(text), verity_rows[i].digits);
		}
	}
	dtx_mem_free(bytes);
}

/* More than 128 units need a third level of hashes. */
void test_identity_verity_is_deep(void)
{
	size_t size = 128 * DTX_VERITY_UNIT + 5, chunk = (size_t)1 << 20;
	uint8_t *bytes = dtx_mem_alloc(chunk, 1);
	char text[DTX_IDENTITY_TEXT];
	struct dtx_identity id;

	T_CHECK(bytes != NULL);
	dtx_identity_init(&id, DTX_IDENTITY_VERITY);
	for (size_t at = 0, n; at < size; at += n) {
		n = DTX_MIN(chunk, size - at);
		for (size_t i = 0; i < n; i++)
			bytes[i] = identity_byte(at + i);
		dtx_identity_add(&id, bytes, n);
	}
	dtx_identity_done(&id, text);
	T_STR(text, "fsverity:262f06cbf00bca2cb530fe3b0dec614d37ab1a5b1f7632328f356c725987a361");
	dtx_mem_free(bytes);
}

/* Every way that this machine has to hash a unit. */
void test_identity_lanes(void)
{
	uint8_t *bytes = identity_bytes(DTX_VERITY_UNIT);
	uint8_t one[DTX_SHA256_SIZE], many[DTX_SHA256_SIZE];

	T_CHECK(bytes != NULL);
	dtx_verity_unit(bytes, 1, one);
	if (dtx_sha256_pairs()) {
		dtx_verity_unit(bytes, 2, many);
		T_CHECK(!memcmp(one, many, sizeof(one)));
	}
	if (dtx_cpu_best() == DTX_CPU_AVX512) {
		dtx_verity_unit(bytes, DTX_SHA_MANY, many);
		T_CHECK(!memcmp(one, many, sizeof(one)));
	}
	dtx_mem_free(bytes);
}

/* Messages of another length than those in the tree. */
void test_identity_sixteen(void)
{
	static const size_t lengths[] = { 0, 64, 128, 1024 };
	uint8_t *bytes = identity_bytes(DTX_SHA_MANY * 1024);
	uint8_t out[DTX_SHA_MANY * DTX_SHA256_SIZE];
	char want[DTX_SHA256_HEX], got[DTX_SHA256_HEX];

	T_CHECK(bytes != NULL);
	for (size_t i = 0; dtx_cpu_best() == DTX_CPU_AVX512 && i < DTX_COUNT(lengths); i++) {
		dtx_sha_many(bytes, lengths[i], out);
		for (size_t k = 0; k < DTX_SHA_MANY; k++) {
			dtx_sha256_hex(bytes + k * lengths[i], lengths[i], want);
			dtx_hex(out + k * DTX_SHA256_SIZE, DTX_SHA256_SIZE, got);
			T_STR(got, want);
		}
	}
	dtx_mem_free(bytes);
}

void test_identity_kinds(void)
{
	static const struct {
		enum dtx_identity_kind kind;
		const char *text, *word, *digits;
	} rows[] = {
		{ DTX_IDENTITY_SHA256,
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "sha256",
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ DTX_IDENTITY_VERITY,
		  "fsverity:700b6bd8510f0b4f9bac8b9cf0459151a1c4a99f467892bb4bd289a67df8e19c",
		  "fsverity", "700b6bd8510f0b4f9bac8b9cf0459151a1c4a99f467892bb4bd289a67df8e19c" },
		{ DTX_IDENTITY_XXH3, "xxh3:06b05ab6733a618578af5f94892f3950", "weak",
		  "06b05ab6733a618578af5f94892f3950" },
	};
	char text[DTX_IDENTITY_TEXT];

	for (size_t i = 0; i < DTX_COUNT(rows); i++) {
		identity_in_pieces((const uint8_t *)"abc", 3, 2, rows[i].kind, text);
		T_STR(text, rows[i].text);
		T_CHECK(dtx_identity_kind(text) == rows[i].kind);
		T_STR(dtx_identity_word(text), rows[i].word);
		T_STR(dtx_identity_digits(text), rows[i].digits);
	}
	T_INT(dtx_identity_of_size(DTX_IDENTITY_AUTO, DTX_IDENTITY_LARGE - 1), DTX_IDENTITY_SHA256);
	T_INT(dtx_identity_of_size(DTX_IDENTITY_AUTO, DTX_IDENTITY_LARGE), DTX_IDENTITY_VERITY);
	T_INT(dtx_identity_of_size(DTX_IDENTITY_XXH3, DTX_IDENTITY_LARGE), DTX_IDENTITY_XXH3);
}

/* With threads beside the caller, and without. */
void test_identity_of_a_source(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_source *s = NULL;
	uint8_t *bytes = identity_bytes(MOST);
	char text[DTX_IDENTITY_TEXT];

	T_CHECK(bytes != NULL);
	for (size_t i = 0; i < DTX_COUNT(verity_rows); i++) {
		T_OK(dtx_source_bytes("x", (const char *)bytes, verity_rows[i].size, &s, &err),
		     &err);
		dtx_source_hash_start(s, DTX_IDENTITY_VERITY, 0);
		T_CHECK(!dtx_source_hash_lags(s, 1, 1)); /* no other thread gives way to it */
		T_OK(dtx_source_hash_wait(s, text, &err), &err);
		T_STR(dtx_identity_digits(text), verity_rows[i].digits);
		T_OK(dtx_source_hash_wait(s, text, &err), &err);
		T_STR(dtx_identity_digits(text), verity_rows[i].digits);
		dtx_source_free(s);
	}
	T_OK(dtx_source_bytes("x", (const char *)bytes, MOST, &s, &err), &err);
	dtx_source_hash_start(s, DTX_IDENTITY_VERITY, 0);
	dtx_source_free(s); /* joins */
	dtx_mem_free(bytes);
	bytes = dtx_mem_zalloc(DTX_IDENTITY_LARGE, 1);
	T_CHECK(bytes != NULL);
	T_OK(dtx_source_bytes("x", (const char *)bytes, DTX_IDENTITY_LARGE, &s, &err), &err);
	T_OK(dtx_source_hash_wait(s, text, &err), &err);
	T_CHECK(dtx_identity_kind(text) == DTX_IDENTITY_VERITY);
	dtx_source_free(s);
	dtx_mem_free(bytes);
}
