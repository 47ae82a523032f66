/* The codecs of pages. Their libraries are loaded when a Parquet file is read: other runs of dtx
 * need neither them nor the time to link them. */
#include "core/base/lib.h"
#include "core/base/text/le.h"
#include "core/io/archive/gzip.h"
#include "core/io/parquet/parquet.h"

enum { NONE = 0, SNAPPY = 1, GZIP = 2, BROTLI = 4, LZ4 = 5, ZSTD = 6, LZ4_RAW = 7 };

const char *dtx_pq_codec_name(unsigned codec)
{
	static const char *const names[] = { "none",   "snappy", "gzip", "lzo",
		                             "brotli", "lz4",    "zstd", "lz4_raw" };

	return codec < DTX_COUNT(names) ? names[codec] : "unknown";
}

/* The functions of the libraries, as their headers declare them. */
typedef int snappy_length_fn(const char *in, size_t nin, size_t *nout);
typedef int snappy_fn(const char *in, size_t nin, char *out, size_t *nout);
typedef size_t zstd_fn(void *out, size_t nout, const void *in, size_t nin);
typedef int lz4_fn(const char *in, char *out, int nin, int nout);
typedef size_t lz4f_new_fn(void **ctx, unsigned version);
typedef size_t lz4f_free_fn(void *ctx);
typedef size_t lz4f_fn(void *ctx, void *out, size_t *nout, const void *in, size_t *nin,
                       const void *options);
typedef unsigned lz4f_bad_fn(size_t got);
typedef int brotli_fn(size_t nin, const uint8_t *in, size_t *nout, uint8_t *out);

static const struct {
	const char *soname, *package;
} libs[] = { { "libsnappy.so.1", "libsnappy1v5" },
	     { "libzstd.so.1", "libzstd1" },
	     { "liblz4.so.1", "liblz4-1" },
	     { "libbrotlidec.so.1", "libbrotli1" } };

void dtx_pq_codecs_warm(void)
{
	size_t i;

	for (i = 0; i < DTX_COUNT(libs); i++)
		(void)!dtx_lib_open(libs[i].soname, libs[i].package, true, NULL, 0, NULL);
}

/* Finds a function in the libraries that were loaded; the locked process may open no file. */
static bool find(const char *name, void *to)
{
	void *at = dtx_lib_next(name);

	memcpy(to, &at, sizeof(at));
	return at != NULL;
}

/* Reports a library that is missing as what it means for the file. */
static enum dtx_code missing(const struct dtx_pq_file *f, unsigned codec, const char *package,
                             struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_UNSUPPORTED_FORMAT, __FILE__, __LINE__,
	            "'%s' is compressed with %s, whose library is not installed", f->label,
	            dtx_pq_codec_name(codec));
	dtx_err_hint(err, "apt-get install %s", package);
	return DTX_E_UNSUPPORTED_FORMAT;
}

static enum dtx_code does_not_unpack(const struct dtx_pq_file *f, unsigned codec, size_t size,
                                     struct dtx_err *err)
{
	return dtx_err_set(
		err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
		"'%s': packed values do not unpack with %s to the %zu bytes that they say",
		f->label, dtx_pq_codec_name(codec), size);
}

struct unpacking {
	const struct dtx_pq_file *f;
	struct dtx_str in;
	uint8_t *to;
	size_t size, done;
};

/* Each of these returns whether the bytes unpack to exactly the size; *rc is an error that comes
 * from something else. */
static bool snappy(const struct unpacking *u, enum dtx_code *rc, struct dtx_err *err)
{
	snappy_length_fn *length;
	snappy_fn *unpack;
	size_t n = 0;

	if (!find("snappy_uncompressed_length", &length) || !find("snappy_uncompress", &unpack)) {
		*rc = missing(u->f, SNAPPY, "libsnappy1v5", err);
		return false;
	}
	if (length(u->in.ptr, u->in.len, &n) || n != u->size)
		return false;
	return !unpack(u->in.ptr, u->in.len, (char *)u->to, &n) && n == u->size;
}

static bool zstd(const struct unpacking *u, enum dtx_code *rc, struct dtx_err *err)
{
	zstd_fn *unpack;

	if (!find("ZSTD_decompress", &unpack)) {
		*rc = missing(u->f, ZSTD, "libzstd1", err);
		return false;
	}
	return unpack(u->to, u->size, u->in.ptr, u->in.len) == u->size;
}

static bool brotli(const struct unpacking *u, enum dtx_code *rc, struct dtx_err *err)
{
	brotli_fn *unpack;
	size_t n = u->size;

	if (!find("BrotliDecoderDecompress", &unpack)) {
		*rc = missing(u->f, BROTLI, "libbrotli1", err);
		return false;
	}
	return unpack(u->in.len, (const uint8_t *)u->in.ptr, &n, u->to) == 1 && n == u->size;
}

static bool lz4_block(lz4_fn *unpack, struct dtx_str in, uint8_t *to, size_t size)
{
	return in.len <= INT32_MAX && size <= INT32_MAX &&
	       unpack(in.ptr, (char *)to, (int)in.len, (int)size) == (int)size;
}

static uint32_t big_u32(const char *p)
{
	return __builtin_bswap32(dtx_le_u32((const uint8_t *)p));
}

/* Hadoop's frames: each has its unpacked and its packed size before it. */
static bool lz4_hadoop(lz4_fn *unpack, const struct unpacking *u)
{
	struct dtx_str in = u->in;
	size_t done = 0;

	while (in.len) {
		uint32_t size, packed;

		if (in.len < 8)
			return false;
		size = big_u32(in.ptr);
		packed = big_u32(in.ptr + 4);
		if (packed > in.len - 8 || size > u->size - done ||
		    !lz4_block(unpack, (struct dtx_str){ in.ptr + 8, packed }, u->to + done, size))
			return false;
		done += size;
		in = (struct dtx_str){ in.ptr + 8 + packed, in.len - 8 - packed };
	}
	return done == u->size;
}

static bool lz4(const struct unpacking *u, bool raw, enum dtx_code *rc, struct dtx_err *err)
{
	lz4_fn *unpack;

	if (!find("LZ4_decompress_safe", &unpack)) {
		*rc = missing(u->f, LZ4, "liblz4-1", err);
		return false;
	}
	return (!raw && lz4_hadoop(unpack, u)) || lz4_block(unpack, u->in, u->to, u->size);
}

/* Unpacks a frame; whether it gives exactly the size, and ends with the bytes. */
static bool unpack_frame(void *ctx, lz4f_fn *unpack, lz4f_bad_fn *is_bad, const struct unpacking *u)
{
	size_t in = 0, out = 0, left = 1;

	while (left) {
		size_t nin = u->in.len - in, nout = u->size - out;

		left = unpack(ctx, u->to + out, &nout, u->in.ptr + in, &nin, NULL);
		if (is_bad(left) || (left && !nin && !nout))
			return false;
		in += nin;
		out += nout;
	}
	return in == u->in.len && out == u->size;
}

enum dtx_code dtx_pq_unpack_lz4_frame(const struct dtx_pq_file *f, struct dtx_str in, uint8_t *to,
                                      size_t size, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct unpacking u = { f, in, to, size, 0 };
	enum { VERSION = 100 }; /* LZ4F_VERSION */
	lz4f_new_fn *make;
	lz4f_free_fn *drop;
	lz4f_bad_fn *is_bad;
	lz4f_fn *unpack;
	void *ctx = NULL;
	bool ok;

	if (!find("LZ4F_createDecompressionContext", &make) ||
	    !find("LZ4F_freeDecompressionContext", &drop) || !find("LZ4F_isError", &is_bad) ||
	    !find("LZ4F_decompress", &unpack))
		return missing(f, LZ4, "liblz4-1", err);
	if (is_bad(make(&ctx, VERSION)))
		DTX_FAIL_MEM(err);
	ok = unpack_frame(ctx, unpack, is_bad, &u);
	(void)drop(ctx);
	if (!ok)
		rc = does_not_unpack(f, LZ4, size, err);
out:
	return rc;
}

static enum dtx_code take_piece(void *arg, struct dtx_str piece, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct unpacking *u = arg;

	if (piece.len > u->size - u->done)
		DTX_FAIL(err, DTX_E_CORRUPT_FILE, "'%s': a page unpacks to more than it says",
		         u->f->label);
	memcpy(u->to + u->done, piece.ptr, piece.len);
	u->done += piece.len;
out:
	return rc;
}

static bool gzip(struct unpacking *u, enum dtx_code *rc, struct dtx_err *err)
{
	*rc = dtx_gzip_inflate(u->f->label, u->in, u->f->limits, take_piece, u, err);
	return *rc == DTX_OK && u->done == u->size;
}

enum dtx_code dtx_pq_unpack(const struct dtx_pq_file *f, unsigned codec, struct dtx_str in,
                            uint8_t *to, size_t size, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct unpacking u = { f, in, to, size, 0 };
	bool ok = false;

	switch (codec) {
	case SNAPPY: ok = snappy(&u, &rc, err); break;
	case GZIP: ok = gzip(&u, &rc, err); break;
	case BROTLI: ok = brotli(&u, &rc, err); break;
	case LZ4:
	case LZ4_RAW: ok = lz4(&u, codec == LZ4_RAW, &rc, err); break;
	case ZSTD: ok = zstd(&u, &rc, err); break;
	default:
		DTX_FAIL(err, DTX_E_UNSUPPORTED_FORMAT,
		         "'%s' is compressed with %s (codec %u), which dtx does not read", f->label,
		         dtx_pq_codec_name(codec), codec);
	}
	if (!ok && rc == DTX_OK)
		rc = does_not_unpack(f, codec, size, err);
out:
	return rc;
}
