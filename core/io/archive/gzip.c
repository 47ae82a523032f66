/* Reads gzip files (RFC 1952): headers and trailers around the streams that inflate.h unpacks. */
#include "core/io/archive/gzip.h"

#include "core/base/memory/mem.h"
#include "core/io/archive/inflate.h"

#define WINDOW_BYTES ((size_t)1 << 20)
#define RATIO_AFTER  ((uint64_t)1 << 20)
/* from here on, the ratio of the bytes read so far is checked */
#define STEEP_AFTER   ((uint64_t)16 << 20)
#define STEEP         4 /* the ratio may be so many times smaller from STEEPER_AFTER on */
#define STEEPER_AFTER ((uint64_t)64 << 20)

enum { HEAD = 10, TRAILER = 8, FLAG_CRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16 };

struct gzip {
	const char *label;
	struct dtx_str rest;
	size_t packed;   /* size of the whole file */
	uint64_t total;  /* unpacked bytes so far, of all members */
	uint64_t member; /* unpacked bytes of the current member */
	uint32_t crc;
	const struct dtx_archive_limits *limits;
	const struct dtx_inflate_class *inflate;
	char *window;
	dtx_packed_fn fn;
	void *arg;
};

bool dtx_gzip_sniff(const void *head, size_t len)
{
	return len >= 3 && !memcmp(head, "\x1f\x8b\x08", 3);
}

static enum dtx_code damaged(const struct gzip *g, const char *what, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__, "'%s': %s (byte %zu)", g->label,
	            what, g->packed - g->rest.len);
	dtx_err_hint(err, "gzip -t '%s'", g->label);
	return DTX_E_CORRUPT_FILE;
}

static void skip(struct gzip *g, size_t n)
{
	g->rest = (struct dtx_str){ g->rest.ptr + n, g->rest.len - n };
}

static uint32_t le32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

/* Skips a text of the header, which ends with a NUL. Returns false if there is no NUL. */
static bool skip_text(struct gzip *g)
{
	const char *end = memchr(g->rest.ptr, 0, g->rest.len);

	if (end)
		skip(g, (size_t)(end - g->rest.ptr) + 1);
	return end;
}

static enum dtx_code read_head(struct gzip *g, struct dtx_err *err)
{
	unsigned flags;
	size_t extra;

	if (!dtx_gzip_sniff(g->rest.ptr, g->rest.len))
		return damaged(g, "no gzip data where a member must begin", err);
	if (g->rest.len < HEAD)
		return damaged(g, "the gzip header is cut short", err);
	flags = (unsigned char)g->rest.ptr[3];
	skip(g, HEAD);
	if (flags & FLAG_EXTRA) {
		extra = g->rest.len < 2 ? SIZE_MAX
		                        : (unsigned char)g->rest.ptr[0] +
		                                  ((size_t)(unsigned char)g->rest.ptr[1] << 8) + 2;
		if (extra > g->rest.len)
			return damaged(g, "the gzip header is cut short", err);
		skip(g, extra);
	}
	if (((flags & FLAG_NAME) && !skip_text(g)) || ((flags & FLAG_COMMENT) && !skip_text(g)) ||
	    ((flags & FLAG_CRC) && g->rest.len < 2))
		return damaged(g, "the gzip header is cut short", err);
	if (flags & FLAG_CRC)
		skip(g, 2);
	return DTX_OK;
}

/* Detects a bomb early. The ratio to the file's length alone would allow a large file to unpack
 * a lot before it is refused. */
static uint64_t too_steep(const struct gzip *g)
{
	uint64_t ratio = g->limits->ratio, from = g->packed;

	if (g->total > STEEP_AFTER)
		from -= g->rest.len;
	if (g->total > STEEPER_AFTER)
		ratio = DTX_MAX(ratio / STEEP, (uint64_t)1);
	return g->total > RATIO_AFTER && g->total / ratio > from ? ratio : 0;
}

static enum dtx_code give(struct gzip *g, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	uint64_t ratio;

	g->total += n;
	g->member += n;
	ratio = too_steep(g);
	if (g->total > g->limits->total)
		return dtx_archive_limits_fail(err, g->limits, "total",
		                               "'%s' inflates to over %llu bytes", g->label,
		                               (unsigned long long)g->limits->total);
	if (ratio)
		return dtx_archive_limits_fail(err, g->limits, "ratio",
		                               "'%s' inflates over %llu times", g->label,
		                               (unsigned long long)ratio);
	if (g->limits->tick)
		g->limits->tick(g->limits->tick_arg, g->packed - g->rest.len, g->packed);
	g->crc = g->inflate->crc(g->crc, g->window, n);
	if (n)
		DTX_TRY(g->fn(g->arg, (struct dtx_str){ g->window, n }, err));
out:
	return rc;
}

static enum dtx_code read_stream(struct gzip *g, void *state, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	enum dtx_inflate_state at;
	struct dtx_inflate_io io = { (const unsigned char *)g->rest.ptr, g->rest.len, NULL, 0 };

	do {
		io.out = (unsigned char *)g->window;
		io.nout = WINDOW_BYTES;
		at = g->inflate->run(state, &io);
		skip(g, g->rest.len - io.nin);
		if (at == DTX_INFLATE_NO_MEMORY)
			DTX_FAIL_MEM(err);
		if (at == DTX_INFLATE_BAD)
			return damaged(g, "the gzip data is damaged", err);
		if (at == DTX_INFLATE_MORE && io.nout)
			return damaged(g, "the gzip data is cut short", err);
		DTX_TRY(give(g, WINDOW_BYTES - io.nout, err));
	} while (at != DTX_INFLATE_END);
out:
	return rc;
}

static enum dtx_code read_member(struct gzip *g, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *state = NULL;

	DTX_TRY(read_head(g, err));
	g->member = 0;
	g->crc = 0;
	state = g->inflate->open();
	if (!state)
		DTX_FAIL_MEM(err);
	DTX_TRY(read_stream(g, state, err));
	if (g->rest.len < TRAILER) {
		rc = damaged(g, "the gzip data is cut short", err);
		goto out;
	}
	if (le32(g->rest.ptr) != g->crc || le32(g->rest.ptr + 4) != (uint32_t)g->member) {
		rc = damaged(g, "the gzip data is damaged (the checksum does not match)", err);
		goto out;
	}
	skip(g, TRAILER);
out:
	if (state)
		g->inflate->close(state);
	return rc;
}

/* Files on tapes, and some downloads, are padded with zeros. */
static bool only_zeros(struct dtx_str s)
{
	return !s.len || (!s.ptr[0] && !memcmp(s.ptr, s.ptr + 1, s.len - 1));
}

enum dtx_code dtx_gzip_inflate(const char *label, struct dtx_str bytes,
                               const struct dtx_archive_limits *limits, dtx_packed_fn fn, void *arg,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct gzip g = { .label = label,
		          .rest = bytes,
		          .packed = bytes.len,
		          .limits = limits,
		          .inflate = dtx_inflate_best(),
		          .fn = fn,
		          .arg = arg };

	g.window = dtx_mem_alloc(WINDOW_BYTES, 1);
	if (!g.window)
		DTX_FAIL_MEM(err);
	do
		DTX_TRY(read_member(&g, err));
	while (!only_zeros(g.rest));
out:
	dtx_mem_free(g.window);
	return rc;
}
