/* Containers that lie. */
#include "core/io/zip.h"

#include "tests/t.h"
#include "tests/unit/zipmake.h"

static enum dtx_code open_parts(struct dtx_zip *z, struct dtx_buf *bytes, const struct zip_part *p,
                                size_t n, struct dtx_err *err)
{
	const struct dtx_unpack lim = DTX_UNPACK_INIT;

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

void test_zip_survives_truncation(void)
{
	const struct zip_part p[] = { { .name = "a.xml", .text = "hello" },
		                      { .name = "b.xml", .fill = 5000 } };
	const struct dtx_unpack lim = DTX_UNPACK_INIT;
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
	const struct dtx_unpack lim = DTX_UNPACK_INIT;
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
