/* Archives that lie. */
#include "core/io/archive/zip.h"

#include "tests/t.h"
#include "tests/unit/zipmake.h"

static enum dtx_code open_parts(struct dtx_zip *z, struct dtx_buf *bytes, const struct zip_part *p,
                                size_t n, struct dtx_err *err)
{
	const struct dtx_archive_limits lim = DTX_ARCHIVE_LIMITS_INIT;

	zip_make(bytes, p, n);
	return dtx_zip_open(z, "t.xlsx", bytes->ptr, bytes->len, &lim, err);
}

/* Reads a part to its end through a small window. */
static enum dtx_code read_part(struct dtx_zip *z, const char *name, size_t *total, char *first,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_zip_entry *e = dtx_zip_find(z, dtx_str_of(name));
	struct dtx_unzip *u = NULL;
	char window[997];
	size_t got = 1;

	*total = 0;
	if (!e)
		DTX_FAIL(err, DTX_E_BUG, "no part");
	DTX_TRY(dtx_unzip_open(z, e, &u, err));
	while (got) {
		DTX_TRY(dtx_unzip_read(u, window, sizeof(window), &got, err));
		if (got && !*total && first)
			memcpy(first, window, DTX_MIN(got, (size_t)8));
		*total += got;
	}
out:
	dtx_unzip_free(u);
	return rc;
}

static void expect_open(const struct zip_part *p, size_t n, enum dtx_code want, const char *word)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 28);
	struct dtx_zip z = DTX_ZIP_INIT;

	T_CODE(open_parts(&z, &bytes, p, n, &err), want, &err);
	if (word)
		T_CHECK(strstr(err.msg, word) != NULL);
	dtx_zip_clear(&z);
	dtx_buf_clear(&bytes);
	dtx_err_clear(&err);
}

void test_zip_reads_stored_and_deflated(void)
{
	const struct zip_part p[] = { { .name = "A/b.xml", .text = "hello world", .stored = true },
		                      { .name = "c\\D.xml", .fill = 500000 } };
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 28);
	struct dtx_zip z = DTX_ZIP_INIT;
	char first[8] = "";
	size_t total = 0;

	T_OK(open_parts(&z, &bytes, p, 2, &err), &err);
	T_OK(read_part(&z, "/a/./x/../B.XML", &total, first, &err), &err);
	T_INT(total, 11);
	T_CHECK(!memcmp(first, "hello wo", 8));
	T_OK(read_part(&z, "c/d%2exml", &total, NULL, &err), &err);
	T_INT(total, 500000);
	T_CHECK(!dtx_zip_find(&z, DTX_STR("b.xml")));
	dtx_zip_clear(&z);
	dtx_buf_clear(&bytes);
}

void test_zip_refuses_lies(void)
{
	const struct zip_part twice[] = { { .name = "xl/a.xml", .text = "1" },
		                          { .name = "XL\\A.xml", .text = "2" } };
	const struct zip_part shared[] = { { .name = "a", .text = "1" },
		                           { .name = "a", .text = "1", .at = 1 } };
	const struct zip_part overlap[] = { { .name = "a", .text = "123456" },
		                            { .name = "b", .text = "123456", .at = 1 } };
	const struct zip_part locked[] = { { .name = "a", .text = "1", .flags = 1 } };
	char name[DTX_ZIP_NAME_MAX + 1] = "";
	const struct zip_part named = { .name = name, .text = "1" };

	memset(name, 'n', sizeof(name) - 1);
	expect_open(&named, 1, DTX_E_CORRUPT_FILE, "a part name of over 1023 bytes");
	expect_open(twice, 2, DTX_E_CORRUPT_FILE, "two parts are named xl/a.xml");
	expect_open(shared, 2, DTX_E_CORRUPT_FILE, "two parts are named");
	expect_open(overlap, 2, DTX_E_CORRUPT_FILE, "another name in its local header");
	expect_open(locked, 1, DTX_E_CORRUPT_FILE, "encrypted");
}

static void expect_read(struct zip_part p, enum dtx_code want, const char *word)
{
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 28);
	struct dtx_zip z = DTX_ZIP_INIT;
	size_t total;

	T_OK(open_parts(&z, &bytes, &p, 1, &err), &err);
	T_CODE(read_part(&z, p.name, &total, NULL, &err), want, &err);
	T_CHECK(strstr(err.msg, word) != NULL);
	dtx_zip_clear(&z);
	dtx_buf_clear(&bytes);
	dtx_err_clear(&err);
}

void test_zip_checks_size_and_crc(void)
{
	expect_read((struct zip_part){ .name = "a", .text = "text", .lie_size = 1 },
	            DTX_E_CORRUPT_FILE, "size does not match");
	expect_read((struct zip_part){ .name = "a", .fill = 3000, .lie_size = (uint32_t)-2900 },
	            DTX_E_CORRUPT_FILE, "more than the 100 bytes");
	expect_read((struct zip_part){ .name = "a", .text = "text", .lie_crc = 1 },
	            DTX_E_CORRUPT_FILE, "checksum");
	expect_read((struct zip_part){ .name = "a", .text = "x", .lie_size = 0xf0000000u },
	            DTX_E_ARCHIVE_LIMIT, "inflates to");
	expect_read((struct zip_part){ .name = "a", .fill = 64 << 20 }, DTX_E_ARCHIVE_LIMIT,
	            "inflates over 1000 times");
}

/* --- one field of a valid archive is changed to a lie --- */

enum lie_in { IN_LOCAL, IN_CENTRAL, IN_CENTRAL_2, IN_END };

struct lie {
	enum lie_in in;
	unsigned at, bytes; /* the field, counted from the start of its header */
	uint64_t value;
	const char *says;
};

/* Where the nth header with this signature starts. */
static size_t header_at(const struct dtx_buf *b, const char *mark, unsigned nth)
{
	for (size_t at = 0; at + 4 <= b->len; at++)
		if (!memcmp(b->ptr + at, mark, 4) && !nth--)
			return at;
	return b->len;
}

static void tell_lie(struct dtx_buf *b, const struct lie *l)
{
	static const char *const mark[] = { "PK\3\4", "PK\1\2", "PK\1\2", "PK\5\6" };
	size_t at = header_at(b, mark[l->in], l->in == IN_CENTRAL_2) + l->at;

	T_CHECK(at + l->bytes <= b->len);
	for (unsigned i = 0; i < l->bytes; i++)
		b->ptr[at + i] = (char)(l->value >> 8 * i);
}

/* The packed bytes: damaged, cut short, or more than there should be. */
void test_zip_checks_packed_bytes(void)
{
	static const struct lie list[] = {
		{ IN_LOCAL, 35, 1, 7, "b.xml does not inflate (damaged)" },
		{ IN_CENTRAL, 20, 4, 10, "b.xml does not inflate (cut short)" },
	};
	const struct zip_part p = { .name = "b.xml", .text = "ab cd ef gh ij kl mn op qr st" };
	const struct dtx_archive_limits lim = DTX_ARCHIVE_LIMITS_INIT;

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_zip z = DTX_ZIP_INIT;
		size_t total;

		zip_make(&bytes, &p, 1);
		tell_lie(&bytes, &list[i]);
		T_OK(dtx_zip_open(&z, "t.xlsx", bytes.ptr, bytes.len, &lim, &err), &err);
		T_CODE(read_part(&z, "b.xml", &total, NULL, &err), DTX_E_CORRUPT_FILE, &err);
		T_CHECK(strstr(err.msg, list[i].says));
		dtx_zip_clear(&z);
		dtx_buf_clear(&bytes);
	}
}

/* Bytes between the part and the directory, which are claimed to belong to the part. */
void test_zip_packed_size_too_large(void)
{
	const struct zip_part p = { .name = "b.xml", .text = "ab ab ab ab ab" };
	const struct dtx_archive_limits lim = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20), gap = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_zip z = DTX_ZIP_INIT;
	size_t total, at;

	zip_make(&bytes, &p, 1);
	at = header_at(&bytes, "PK\1\2", 0);
	dtx_buf_addn(&gap, bytes.ptr, at);
	zip_le(&gap, 0, 8);
	dtx_buf_addn(&gap, bytes.ptr + at, bytes.len - at);
	tell_lie(&gap, &(struct lie){ IN_END, 16, 4, at + 8, NULL });
	tell_lie(&gap, &(struct lie){ IN_CENTRAL, 20, 4, at + 8 - 35, NULL });
	T_OK(dtx_zip_open(&z, "t.xlsx", gap.ptr, gap.len, &lim, &err), &err);
	T_CODE(read_part(&z, "b.xml", &total, NULL, &err), DTX_E_CORRUPT_FILE, &err);
	T_STR(err.msg, "'t.xlsx': b.xml is shorter than its packed size");
	dtx_zip_clear(&z);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&gap);
	dtx_err_clear(&err);
}

void test_zip_survives_truncation(void)
{
	const struct zip_part p[] = { { .name = "a.xml", .text = "hello" },
		                      { .name = "b.xml", .fill = 5000 } };
	const struct dtx_archive_limits lim = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 28);
	size_t len, opened = 0;

	zip_make(&bytes, p, 2);
	for (len = 0; len < bytes.len; len++) {
		struct dtx_zip z = DTX_ZIP_INIT;
		char *copy = malloc(len + 1);

		memcpy(copy, bytes.ptr, len);
		opened += dtx_zip_open(&z, "t", copy, len, &lim, NULL) == DTX_OK;
		dtx_zip_clear(&z);
		free(copy);
	}
	T_INT(opened, 0);
	dtx_buf_clear(&bytes);
}

static enum dtx_code whole_walk(const struct dtx_buf *bytes)
{
	const struct dtx_archive_limits lim = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_zip z = DTX_ZIP_INIT;
	enum dtx_code rc = DTX_OK;
	size_t total;

	DTX_TRY(dtx_zip_open(&z, "t", bytes->ptr, bytes->len, &lim, &err));
	if (!dtx_zip_find(&z, DTX_STR("b.xml")))
		DTX_FAIL_MEM(&err);
	DTX_TRY(read_part(&z, "b.xml", &total, NULL, &err));
out:
	dtx_zip_clear(&z);
	dtx_err_clear(&err);
	return rc == DTX_E_BUG ? DTX_E_NO_MEMORY : rc;
}

void test_zip_every_alloc_fails(void)
{
	const struct zip_part p[] = { { .name = "a.xml", .text = "hello" },
		                      { .name = "b.xml", .fill = 5000 } };
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 28);

	zip_make(&bytes, p, 2);
	T_EVERY_ALLOC_FAILS(whole_walk(&bytes));
	dtx_buf_clear(&bytes);
}

void test_zip_names_the_lie(void)
{
	static const struct lie list[] = {
		{ IN_END, 8, 2, 1, "'t.xlsx': zip archive in several volumes" },
		{ IN_END, 16, 4, 0xfffffff, "zip directory lies outside the file" },
		{ IN_END, 8, 4, 0x90009, "zip directory has no room for its 9 entries" },
		{ IN_END, 12, 4, 60, "no room for its 2 entries" },
		{ IN_END, 0, 4, 0, "'t.xlsx' is cut short: the end of its zip archive is missing" },
		{ IN_CENTRAL, 0, 4, 0, "zip directory breaks off at entry 1 of 2" },
		{ IN_CENTRAL_2, 28, 2, 60000, "zip directory breaks off at entry 2 of 2" },
		{ IN_CENTRAL, 46, 1, 0, "a part name holds a NUL byte" },
		{ IN_CENTRAL, 10, 2, 12, "a.xml is packed with method 12, expected stored" },
		{ IN_CENTRAL, 24, 4, 9, "a.xml is stored but has two sizes" },
		{ IN_CENTRAL, 42, 4, 0xfffffff, "a.xml lies outside the file" },
		{ IN_CENTRAL, 42, 4, 1, "a.xml has no local header" },
		{ IN_LOCAL, 28, 2, 60000, "a.xml lies outside the file" },
		{ IN_LOCAL, 28, 2, 10, "a.xml and b.xml overlap inside the zip" },
		{ IN_CENTRAL, 20, 8, 0xfffffff0fffffff0, "a.xml lies outside the file" },
		{ IN_CENTRAL, 30, 2, 4, "a.xml has a broken zip64 field" },
	};
	const struct zip_part p[] = { { .name = "a.xml", .text = "hello", .stored = true },
		                      { .name = "b.xml", .fill = 5000 } };
	const struct dtx_archive_limits lim = DTX_ARCHIVE_LIMITS_INIT;

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20);
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_zip z = DTX_ZIP_INIT;

		zip_make(&bytes, p, 2);
		tell_lie(&bytes, &list[i]);
		T_CODE(dtx_zip_open(&z, "t.xlsx", bytes.ptr, bytes.len, &lim, &err),
		       DTX_E_CORRUPT_FILE, &err);
		if (!strstr(err.msg, list[i].says))
			t_fail(__FILE__, __LINE__, "lie %zu: %s", i, err.msg);
		dtx_zip_clear(&z);
		dtx_buf_clear(&bytes);
	}
}

#define EOCD64 0x06064b50u

/* The same for the records that zip64 adds: an archive with one part, and a record inserted before
 * its end. */
static void zip64_is(uint32_t sig, uint64_t locator, uint64_t disk_count, uint64_t count,
                     const char *says)
{
	const struct zip_part p = { .name = "a.xml", .text = "hello" };
	const struct dtx_archive_limits lim = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20), out = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_zip z = DTX_ZIP_INIT;
	size_t end, dir;

	zip_make(&bytes, &p, 1);
	end = header_at(&bytes, "PK\5\6", 0);
	dir = header_at(&bytes, "PK\1\2", 0);
	dtx_buf_addn(&out, bytes.ptr, end);
	zip_le(&out, sig, 4);
	zip_le(&out, 44, 8);
	zip_le(&out, 0, 12);
	zip_le(&out, disk_count, 8);
	zip_le(&out, count, 8);
	zip_le(&out, end - dir, 8);
	zip_le(&out, dir, 8);
	zip_le(&out, 0x07064b50u, 4);
	zip_le(&out, 0, 4);
	zip_le(&out, locator ? locator : end, 8);
	zip_le(&out, 1, 4);
	dtx_buf_addn(&out, bytes.ptr + end, bytes.len - end);
	T_CODE(dtx_zip_open(&z, "t.xlsx", out.ptr, out.len, &lim, &err),
	       says ? DTX_E_CORRUPT_FILE : DTX_OK, &err);
	T_CHECK(!says || strstr(err.msg, says));
	dtx_zip_clear(&z);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&out);
}

void test_zip_checks_zip64_records(void)
{
	zip64_is(EOCD64, 0, 1, 1, NULL);
	zip64_is(EOCD64, 1, 1, 1, "'t.xlsx': the zip64 end record is not where it should be");
	zip64_is(EOCD64 + 1, 0, 1, 1, "'t.xlsx': the zip64 end record is not where it should be");
	zip64_is(EOCD64, 0, 2, 1, "'t.xlsx': zip archive in several volumes");
}

/* With `lead` bytes in front, the directory and its parts are found at the shifted places, also
 * with a zip64 record before the end.  What the records say about places must still agree. */
static void behind_is(size_t lead, bool wide, uint32_t off, bool is)
{
	const struct zip_part p[] = { { .name = "a.xml", .text = "hello", .stored = true },
		                      { .name = "b.xml", .fill = 100000 } };
	const struct dtx_archive_limits lim = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 20), out = DTX_BUF_INIT((size_t)1 << 20);
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_zip z = DTX_ZIP_INIT;
	size_t end, dir, i, total = 0;

	zip_make(&bytes, p, 2);
	end = header_at(&bytes, "PK\5\6", 0);
	dir = header_at(&bytes, "PK\1\2", 0);
	for (i = 0; i < lead; i++)
		dtx_buf_addc(&out, "\r\nPK\5\6"[i % 6]);
	dtx_buf_addn(&out, bytes.ptr, end);
	if (wide) {
		zip_le(&out, 0x06064b50u, 4);
		zip_le(&out, 44, 8);
		zip_le(&out, 0, 12);
		zip_le(&out, 2, 8);
		zip_le(&out, 2, 8);
		zip_le(&out, end - dir, 8);
		zip_le(&out, dir + off, 8);
		zip_le(&out, 0x07064b50u, 4);
		zip_le(&out, 0, 4);
		zip_le(&out, end, 8);
		zip_le(&out, 1, 4);
	}
	dtx_buf_addn(&out, bytes.ptr + end, bytes.len - end);
	out.ptr[out.len - 6] = (char)(out.ptr[out.len - 6] + (int)(wide ? 0 : off));
	T_CHECK(dtx_zip_behind(out.ptr, out.len) == is);
	T_CODE(dtx_zip_open(&z, "t.xlsx", out.ptr, out.len, &lim, &err),
	       is ? DTX_OK : DTX_E_CORRUPT_FILE, &err);
	if (is) {
		T_INT(z.lead, (long long)lead);
		T_OK(read_part(&z, "b.xml", &total, NULL, &err), &err);
		T_INT(total, 100000);
	}
	dtx_err_clear(&err);
	dtx_zip_clear(&z);
	dtx_buf_clear(&bytes);
	dtx_buf_clear(&out);
}

void test_zip_behind_other_bytes(void)
{
	static const size_t lead[] = { 0, 1, 3, 100, 70000 };
	size_t i;

	for (i = 0; i < DTX_COUNT(lead); i++) {
		behind_is(lead[i], false, 0, true);
		behind_is(lead[i], true, 0, true);
		behind_is(lead[i], false, 1, false);
		behind_is(lead[i], true, 1, false);
	}
	T_CHECK(!dtx_zip_behind("a,b\n1,PK\5\6\n", 12));
	T_CHECK(!dtx_zip_behind("", 0));
	T_CHECK(!dtx_zip_behind("a,b\n1,PK\5\6aaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 40));
}
