/* gzip files that dtx writes: they unpack to what was written, and their bytes depend on nothing
 * else. */
#include "core/io/archive/gzip.h"
#include "core/io/archive/gzip_writer.h"
#include "tests/t.h"

enum { BYTES = 3 << 20 };

static enum dtx_code collect(void *arg, struct dtx_str piece, struct dtx_err *err)
{
	dtx_buf_adds(arg, piece);
	return dtx_buf_check(arg, "bytes", err);
}

/* Packs the text in pieces of `piece` bytes. */
static enum dtx_code packed(struct dtx_str text, size_t piece, unsigned workers,
                            struct dtx_buf *out, struct dtx_err *err)
{
	struct dtx_gzip_writer *w = NULL;
	enum dtx_code rc = DTX_OK;

	dtx_buf_reset(out);
	DTX_TRY(dtx_gzip_writer_new(workers, collect, out, &w, err));
	for (size_t at = 0; at < text.len; at += piece)
		DTX_TRY(dtx_gzip_writer_add(
			w, (struct dtx_str){ text.ptr + at, DTX_MIN(piece, text.len - at) }, err));
	DTX_TRY(dtx_gzip_writer_finish(w, err));
out:
	dtx_gzip_writer_free(w);
	return rc;
}

static void check_unpacks(struct dtx_str text, struct dtx_buf *packed_text)
{
	struct dtx_archive_limits limits = DTX_ARCHIVE_LIMITS_INIT;
	struct dtx_buf back = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	T_OK(dtx_gzip_inflate("t.gz", dtx_buf_str(packed_text), &limits, collect, &back, &err),
	     &err);
	T_CHECK(dtx_str_eq(dtx_buf_str(&back), text));
	dtx_buf_clear(&back);
	dtx_err_clear(&err);
}

/* Text that packs about as well as a table does. */
static void fill(struct dtx_buf *text)
{
	uint64_t n = 1;

	while (text->len < BYTES) {
		n = n * 6364136223846793005U + 1442695040888963407U;
		dtx_buf_printf(text, "%zu,name%u,%u.%02u\n", text->len, (unsigned)(n >> 60),
		               (unsigned)(n >> 50), (unsigned)(n >> 33) % 100);
	}
}

void test_gzip_writer_bytes(void)
{
	static const size_t piece[] = { 1000, 65536, 700000, BYTES * 2 };
	struct dtx_buf text = DTX_BUF_INIT(1 << 24), first = DTX_BUF_INIT(1 << 24);
	struct dtx_buf again = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	fill(&text);
	T_OK(packed(dtx_buf_str(&text), 4096, 1, &first, &err), &err);
	check_unpacks(dtx_buf_str(&text), &first);
	T_CHECK(first.len < text.len / 2);
	for (unsigned i = 0; i < DTX_COUNT(piece); i++) {
		T_OK(packed(dtx_buf_str(&text), piece[i], i + 2, &again, &err), &err);
		T_CHECK(dtx_str_eq(dtx_buf_str(&again), dtx_buf_str(&first)));
	}
	/* the whole header: no name, no time, no system */
	T_CHECK(!memcmp(first.ptr, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
	dtx_buf_clear(&text);
	dtx_buf_clear(&first);
	dtx_buf_clear(&again);
	dtx_err_clear(&err);
}

/* Around the size of a block, and where there is nothing. */
void test_gzip_writer_sizes(void)
{
	static const size_t size[] = { 0, 1, (512 << 10) - 1, 512 << 10, (512 << 10) + 1, 2 << 20 };
	struct dtx_buf text = DTX_BUF_INIT(1 << 24), out = DTX_BUF_INIT(1 << 24);
	struct dtx_err err = DTX_ERR_INIT;

	fill(&text);
	for (size_t i = 0; i < DTX_COUNT(size); i++) {
		struct dtx_str part = { text.ptr, size[i] };

		T_OK(packed(part, 300000, 2, &out, &err), &err);
		check_unpacks(part, &out);
	}
	dtx_buf_clear(&text);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}

void test_gzip_writer_allocation_fails(void)
{
	struct dtx_buf out = DTX_BUF_INIT(1 << 20);
	struct dtx_err err = DTX_ERR_INIT;

	T_EVERY_ALLOC_FAILS((dtx_err_clear(&err), dtx_buf_clear(&out),
	                     packed(DTX_STR("a,b\n1,2\n"), 3, 1, &out, &err)));
	check_unpacks(DTX_STR("a,b\n1,2\n"), &out);
	dtx_buf_clear(&out);
	dtx_err_clear(&err);
}
