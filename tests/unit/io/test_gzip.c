/* gzip files: headers, members, damage, and reading of their content like any other input. */
#include "tests/t.h"

#include "core/io/archive/gzip.h"
#include "core/io/archive/inflate.h"
#include "tests/unit/bookmake.h"

static void put_u16(struct dtx_buf *out, unsigned v)
{
	dtx_buf_addc(out, (char)v);
	dtx_buf_addc(out, (char)(v >> 8));
}

static void put_u32(struct dtx_buf *out, uint32_t v)
{
	put_u16(out, v & 0xffff);
	put_u16(out, v >> 16);
}

/* A member with one stored block; the flags tell which parts of the header exist. */
static void put_member(struct dtx_buf *out, const char *text, unsigned flags)
{
	unsigned n = (unsigned)strlen(text);

	dtx_buf_addn(out, "\x1f\x8b\x08", 3);
	dtx_buf_addc(out, (char)flags);
	put_u32(out, 0);
	dtx_buf_addn(out, "\0\3", 2);
	if (flags & 4) {
		put_u16(out, 3);
		dtx_buf_addn(out, "abc", 3);
	}
	if (flags & 8)
		dtx_buf_addn(out, "name.csv", 9);
	if (flags & 16)
		dtx_buf_addn(out, "remark", 7);
	if (flags & 2)
		put_u16(out, 0);
	dtx_buf_addc(out, 1);
	put_u16(out, n);
	put_u16(out, ~n);
	dtx_buf_addn(out, text, n);
	put_u32(out, dtx_inflate_best()->crc(0, text, n));
	put_u32(out, n);
}

static enum dtx_code swallow(void *arg, struct dtx_str piece, struct dtx_err *err)
{
	(void)arg, (void)piece, (void)err;
	return DTX_OK;
}

static enum dtx_code gzip_dump(const struct dtx_buf *bytes, struct dtx_buf *out,
                               struct dtx_err *err)
{
	struct dtx_read_opts opts = DTX_READ_OPTS_INIT;

	return bytes_dump("a.csv.gz", bytes, &opts, 0, true, out, err);
}

static void expect(const struct dtx_buf *bytes, const char *want)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = gzip_dump(bytes, &out, &err);

	T_STR(rc == DTX_OK ? dtx_buf_text(&out) : err.msg, want);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

void test_gzip_headers_and_members(void)
{
	struct dtx_buf b = DTX_BUF_INIT(1 << 16);
	unsigned flags;

	for (flags = 0; flags < 32; flags += 2) {
		dtx_buf_reset(&b);
		put_member(&b, "k,v\n1,x\n", flags);
		expect(&b, "k:int,v:text\n1|x\n");
	}
	put_member(&b, "2,y\n", 8);
	expect(&b, "k:int,v:text\n1|x\n2|y\n");
	dtx_buf_addn(&b, "\0\0\0\0", 4); /* padding */
	expect(&b, "k:int,v:text\n1|x\n2|y\n");
	dtx_buf_addn(&b, "x", 1);
	expect(&b, "'a.csv.gz': no gzip data where a member must begin (byte 90)");
	dtx_buf_clear(&b);
}

void test_gzip_damaged(void)
{
	static const char text[] = "k,v\n1,x\n2,yyyyyyyyyyyyyyyyyy\n";
	struct dtx_buf b = DTX_BUF_INIT(1 << 16), out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;
	size_t i, len;

	put_member(&b, text, 30);
	len = b.len;
	for (b.len = 3; b.len < len; b.len++) {
		T_CODE(gzip_dump(&b, &out, &err), DTX_E_CORRUPT_FILE, &err);
		T_CHECK(strstr(err.hint, "gzip -t 'a.csv.gz'"));
	}
	for (i = len - 8 - strlen(text); i < len; i++) { /* the checksum sees every byte */
		b.ptr[i] ^= 1;
		T_CODE(gzip_dump(&b, &out, &err), DTX_E_CORRUPT_FILE, &err);
		b.ptr[i] ^= 1;
	}
	for (i = 0; i < len; i++) {
		b.ptr[i] ^= 0x55;
		T_CHECK(gzip_dump(&b, &out, &err) != DTX_E_BUG);
		b.ptr[i] ^= 0x55;
	}
	dtx_buf_clear(&b);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

static enum dtx_code dump_once(const struct dtx_buf *bytes)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 16);
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = gzip_dump(bytes, &out, &err);

	if (rc == DTX_OK && out.fail == DTX_BUF_MEM)
		rc = DTX_E_NO_MEMORY;
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
	return rc;
}

void test_gzip_allocation_fails(void)
{
	struct dtx_buf b = DTX_BUF_INIT(1 << 16);

	put_member(&b, "k,v\n1,x\n", 8);
	T_EVERY_ALLOC_FAILS(dump_once(&b));
	dtx_buf_clear(&b);
}

/* The size that the packed file states is not trusted: limits count the bytes that come out. */
void test_gzip_limits(void)
{
	static const struct {
		const char *name;
		uint64_t value;
		const char *says;
	} list[] = {
		{ "total", 1, "'a.csv.gz' inflates to over 1 byte (limit 'archive.total')" },
		{ "ratio", 1, "'a.csv.gz' inflates over 1 time (limit 'archive.ratio')" },
	};

	for (size_t i = 0; i < DTX_COUNT(list); i++) {
		const struct zip_part zeros = { .fill = (size_t)3 << 20 };
		struct dtx_buf bytes = DTX_BUF_INIT((size_t)1 << 24), sink = DTX_BUF_INIT(1);
		struct dtx_archive_limits limits = dtx_archive_limits_default;
		struct dtx_err err = DTX_ERR_INIT;

		dtx_buf_addn(&bytes, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
		zip_pack(&zeros, zeros.fill, &bytes);
		T_OK(dtx_archive_limits_set(&limits, dtx_str_of(list[i].name), list[i].value, &err),
		     &err);
		T_CODE(dtx_gzip_inflate("a.csv.gz", dtx_buf_str(&bytes), &limits, swallow, &sink,
		                        &err),
		       DTX_E_ARCHIVE_LIMIT, &err);
		T_STR(err.msg, list[i].says);
		dtx_err_clear(&err);
		dtx_buf_clear(&bytes);
		dtx_buf_clear(&sink);
	}
}
