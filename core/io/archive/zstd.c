/* Reads and writes Zstandard files with libzstd, see zstd.h. */
#include "core/io/archive/zstd.h"

#include "core/base/lib.h"
#include "core/base/memory/mem.h"
#include "core/base/thread/cancel.h"

#define WINDOW_BYTES ((size_t)1 << 20)
#define RATIO_AFTER  ((uint64_t)1 << 20)
#define LIBRARY      "libzstd.so.1"
#define PACKAGE      "libzstd1"

/* The part of zstd.h that is used, as it has been since version 1.4. */
struct in_buffer {
	const void *src;
	size_t size, pos;
};
struct out_buffer {
	void *dst;
	size_t size, pos;
};
enum { CHECKSUM_FLAG = 201, GO_ON = 0, END = 2 };

struct reader_lib {
	void *(*create)(void);
	size_t (*drop)(void *);
	size_t (*run)(void *, struct out_buffer *, struct in_buffer *);
	unsigned (*is_error)(size_t);
};
struct writer_lib {
	void *(*create)(void);
	size_t (*drop)(void *);
	size_t (*set)(void *, int, int);
	size_t (*run)(void *, struct out_buffer *, struct in_buffer *, int);
	unsigned (*is_error)(size_t);
};

bool dtx_zstd_sniff(const void *head, size_t len)
{
	return len >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4);
}

/* --- reading --- */

struct unpacking {
	const char *label;
	struct reader_lib lib;
	void *state;
	char *window;
	uint64_t total;
	const struct dtx_archive_limits *limits;
	dtx_packed_fn fn;
	void *arg;
};

/* Finds a function of the library that was loaded; a locked process may open no file. */
static bool find(const char *name, void *to)
{
	void *at = dtx_lib_next(name);

	memcpy(to, &at, sizeof(at));
	return at != NULL;
}

static enum dtx_code find_library(struct unpacking *u, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!find("ZSTD_createDStream", &u->lib.create) ||
	    !find("ZSTD_freeDStream", &u->lib.drop) ||
	    !find("ZSTD_decompressStream", &u->lib.run) || !find("ZSTD_isError", &u->lib.is_error))
		DTX_FAIL_NEXT(err, DTX_E_UNSUPPORTED_FORMAT, "apt-get install " PACKAGE,
		              "'%s' is compressed with zstd, whose library is not installed",
		              u->label);
out:
	return rc;
}

static enum dtx_code damaged(const struct unpacking *u, const char *what, struct dtx_err *err)
{
	dtx_err_set(err, DTX_E_CORRUPT_FILE, __FILE__, __LINE__,
	            "'%s': the zstd data is %s (after %llu bytes of what it holds)", u->label, what,
	            (unsigned long long)u->total);
	dtx_err_hint(err, "zstd -t '%s'", u->label);
	return DTX_E_CORRUPT_FILE;
}

/* Passes n bytes of the window on, if that many bytes may come of the `packed` ones read so far. */
static enum dtx_code give(struct unpacking *u, size_t n, const struct in_buffer *packed,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	const struct dtx_archive_limits *l = u->limits;

	u->total += n;
	if (u->total > l->total)
		return dtx_archive_limits_fail(err, l, "total", "'%s' inflates to over %llu bytes",
		                               u->label, (unsigned long long)l->total);
	if (u->total > RATIO_AFTER && u->total / l->ratio > packed->pos)
		return dtx_archive_limits_fail(err, l, "ratio", "'%s' inflates over %llu times",
		                               u->label, (unsigned long long)l->ratio);
	if (l->tick)
		l->tick(l->tick_arg, packed->pos, packed->size);
	if (n)
		DTX_TRY(u->fn(u->arg, (struct dtx_str){ u->window, n }, err));
out:
	return rc;
}

static enum dtx_code unpack(struct unpacking *u, struct dtx_str bytes, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct in_buffer in = { bytes.ptr, bytes.len, 0 };
	size_t more;

	for (;;) {
		struct out_buffer out = { u->window, WINDOW_BYTES, 0 };
		size_t before = in.pos;

		DTX_TRY(dtx_cancel_look(err));
		more = u->lib.run(u->state, &out, &in);
		if (u->lib.is_error(more))
			return damaged(u, "damaged", err);
		DTX_TRY(give(u, out.pos, &in, err));
		/* a frame ends where `more` is 0, another one may follow */
		if (in.pos == in.size && out.pos < out.size)
			break;
		if (in.pos == before && !out.pos)
			return damaged(u, "damaged", err);
	}
	if (more)
		return damaged(u, "cut short", err);
out:
	return rc;
}

enum dtx_code dtx_zstd_inflate(const char *label, struct dtx_str bytes,
                               const struct dtx_archive_limits *limits, dtx_packed_fn fn, void *arg,
                               struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct unpacking u = { .label = label, .limits = limits, .fn = fn, .arg = arg };

	DTX_TRY(find_library(&u, err));
	u.window = dtx_mem_alloc(WINDOW_BYTES, 1);
	u.state = u.window ? u.lib.create() : NULL;
	if (!u.state)
		DTX_FAIL_MEM(err);
	DTX_TRY(unpack(&u, bytes, err));
out:
	if (u.state)
		(void)u.lib.drop(u.state);
	dtx_mem_free(u.window);
	return rc;
}

/* --- writing --- */

struct dtx_zstd_writer {
	struct writer_lib lib;
	void *state;
	char *window;
	dtx_packed_fn fn;
	void *arg;
};

enum dtx_code dtx_zstd_writer_new(dtx_packed_fn fn, void *arg, struct dtx_zstd_writer **out,
                                  struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_zstd_writer *w = dtx_mem_zalloc(1, sizeof(*w));
	struct writer_lib lib = { 0 };
	const struct dtx_lib_symbol symbol[] = {
		{ "ZSTD_createCCtx", (void **)&lib.create },
		{ "ZSTD_freeCCtx", (void **)&lib.drop },
		{ "ZSTD_CCtx_setParameter", (void **)&lib.set },
		{ "ZSTD_compressStream2", (void **)&lib.run },
		{ "ZSTD_isError", (void **)&lib.is_error },
	};

	if (!w)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_lib_open(LIBRARY, PACKAGE, false, symbol, DTX_COUNT(symbol), err));
	w->lib = lib;
	w->fn = fn;
	w->arg = arg;
	w->window = dtx_mem_alloc(WINDOW_BYTES, 1);
	w->state = w->window ? lib.create() : NULL;
	if (!w->state || lib.is_error(lib.set(w->state, CHECKSUM_FLAG, 1)))
		DTX_FAIL_MEM(err);
	*out = w;
	w = NULL;
out:
	dtx_zstd_writer_free(w);
	return rc;
}

static enum dtx_code pack(struct dtx_zstd_writer *w, struct dtx_str bytes, int how,
                          struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct in_buffer in = { bytes.ptr, bytes.len, 0 };
	bool more = true;

	while (more) {
		struct out_buffer out = { w->window, WINDOW_BYTES, 0 };
		size_t left;

		DTX_TRY(dtx_cancel_look(err));
		left = w->lib.run(w->state, &out, &in, how);
		if (w->lib.is_error(left))
			DTX_FAIL_MEM(err); /* its only reason where the parameters are right */
		if (out.pos)
			DTX_TRY(w->fn(w->arg, (struct dtx_str){ w->window, out.pos }, err));
		more = how == END ? left != 0 : in.pos < in.size;
	}
out:
	return rc;
}

enum dtx_code dtx_zstd_writer_add(struct dtx_zstd_writer *w, struct dtx_str bytes,
                                  struct dtx_err *err)
{
	return bytes.len ? pack(w, bytes, GO_ON, err) : DTX_OK;
}

enum dtx_code dtx_zstd_writer_finish(struct dtx_zstd_writer *w, struct dtx_err *err)
{
	return pack(w, DTX_STR(""), END, err);
}

void dtx_zstd_writer_free(struct dtx_zstd_writer *w)
{
	if (!w)
		return;
	if (w->state)
		(void)w->lib.drop(w->state);
	dtx_mem_free(w->window);
	dtx_mem_free(w);
}
