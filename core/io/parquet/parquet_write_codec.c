/* Packs pages. The libraries are loaded when a Parquet file is written, as the reader does. */
#include "core/base/lib.h"
#include "core/base/text/str.h"
#include "core/io/archive/gzip_writer.h"
#include "core/io/parquet/parquet_write.h"
#include "core/io/write/writer.h"

enum { NONE = 0, SNAPPY = 1, GZIP = 2, ZSTD = 6 };
/* The bytes depend on it: replays of old runs give the same file only while it stays. */
enum { ZSTD_LEVEL = 1 };

static enum dtx_code open_snappy(struct dtx_pqw_codec *c, struct dtx_err *err)
{
	const struct dtx_lib_symbol symbol[] = {
		{ "snappy_max_compressed_length", (void **)&c->bound },
		{ "snappy_compress", (void **)&c->snappy },
	};

	return dtx_lib_open("libsnappy.so.1", "libsnappy1v5", false, symbol, DTX_COUNT(symbol),
	                    err);
}

static enum dtx_code open_zstd(struct dtx_pqw_codec *c, struct dtx_err *err)
{
	const struct dtx_lib_symbol symbol[] = {
		{ "ZSTD_createCCtx", (void **)&c->zstd_new },
		{ "ZSTD_freeCCtx", (void **)&c->zstd_free },
		{ "ZSTD_compressBound", (void **)&c->bound },
		{ "ZSTD_compressCCtx", (void **)&c->zstd },
		{ "ZSTD_isError", (void **)&c->zstd_bad },
	};

	return dtx_lib_open("libzstd.so.1", "libzstd1", false, symbol, DTX_COUNT(symbol), err);
}

/* Reports a library that is missing as what it means for the output. */
static enum dtx_code loaded(const char *name, const char *package, enum dtx_code rc,
                            struct dtx_err *err)
{
	if (rc == DTX_OK)
		return rc;
	dtx_err_set(err, DTX_E_OUTPUT_IO, __FILE__, __LINE__,
	            "the output is compressed with %s, whose library is not installed", name);
	dtx_err_hint(err, "apt-get install %s, or \"codec\": \"gzip\" in the plan's output",
	             package);
	return DTX_E_OUTPUT_IO;
}

enum dtx_code dtx_pqw_codec_open(const char *name, struct dtx_pqw_codec *out, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*out = (struct dtx_pqw_codec){ .id = NONE };
	if (!name || !strcmp(name, "zstd")) {
		out->id = ZSTD;
		DTX_TRY(loaded("zstd", "libzstd1", open_zstd(out, err), err));
	} else if (!strcmp(name, "snappy")) {
		out->id = SNAPPY;
		DTX_TRY(loaded(name, "libsnappy1v5", open_snappy(out, err), err));
	} else if (!strcmp(name, "gzip")) {
		out->id = GZIP;
	} else if (strcmp(name, "none") != 0) {
		DTX_FAIL(err, DTX_E_BAD_PARAM_VALUE, "there is no codec '%.40s': it is one of %s",
		         name, DTX_WRITE_CODECS);
	}
out:
	return rc;
}

enum dtx_code dtx_pqw_packer_init(struct dtx_pqw_packer *p, const struct dtx_pqw_codec *codec,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	*p = (struct dtx_pqw_packer){ .codec = codec, .packed = DTX_BUF_INIT(UINT32_MAX) };
	if (codec->id != ZSTD)
		goto out;
	p->ctx = codec->zstd_new();
	if (!p->ctx)
		DTX_FAIL_MEM(err);
out:
	return rc;
}

void dtx_pqw_packer_clear(struct dtx_pqw_packer *p)
{
	if (p->ctx)
		(void)p->codec->zstd_free(p->ctx);
	p->ctx = NULL;
	dtx_buf_clear(&p->packed);
}

static enum dtx_code add_packed(void *arg, struct dtx_str piece, struct dtx_err *err)
{
	struct dtx_buf *to = arg;

	dtx_buf_adds(to, piece);
	return dtx_buf_check(to, "a page", err);
}

/* One member of a single thread: the chunks are what threads share. */
static enum dtx_code pack_gzip(struct dtx_buf *to, struct dtx_str in, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_gzip_writer *w = NULL;

	DTX_TRY(dtx_gzip_writer_new(1, add_packed, to, &w, err));
	DTX_TRY(dtx_gzip_writer_add(w, in, err));
	DTX_TRY(dtx_gzip_writer_finish(w, err));
out:
	dtx_gzip_writer_free(w);
	return rc;
}

/* The libraries fail only if they get no memory: there is room for the worst case. */
static bool pack_into(struct dtx_pqw_packer *p, struct dtx_str in, size_t room)
{
	const struct dtx_pqw_codec *c = p->codec;
	size_t got = room;

	if (c->id == SNAPPY) {
		if (c->snappy(in.ptr, in.len, p->packed.ptr, &got) != 0)
			return false;
	} else {
		got = c->zstd(p->ctx, p->packed.ptr, room, in.ptr, in.len, ZSTD_LEVEL);
		if (c->zstd_bad(got))
			return false;
	}
	p->packed.len = got;
	return true;
}

enum dtx_code dtx_pqw_pack(struct dtx_pqw_packer *p, struct dtx_str in, struct dtx_str *out,
                           struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	size_t room;

	*out = in;
	if (p->codec->id == NONE)
		goto out;
	dtx_buf_reset(&p->packed);
	if (p->codec->id == GZIP) {
		DTX_TRY(pack_gzip(&p->packed, in, err));
	} else {
		room = p->codec->bound(in.len);
		if (!dtx_buf_room(&p->packed, room) || !pack_into(p, in, room))
			DTX_FAIL_MEM(err);
	}
	*out = (struct dtx_str){ p->packed.ptr, p->packed.len };
out:
	return rc;
}
