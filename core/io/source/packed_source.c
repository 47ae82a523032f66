/* The content of a packed file as a source: in memory while it is small, then in an unlinked temp
 * file, like a pipe. */
#include "core/io/source/packed_source.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/memory/mem.h"
#include "core/io/archive/zstd.h"
#include "core/io/isolate/isolate.h"

#define SPOOL_MEMORY ((uint64_t)32 << 20)
#define SPOOL_BLOCK  ((size_t)1 << 20)

struct spool {
	int fd;
	uint64_t size;
	bool file;
	const struct dtx_archive_limits *limits;
};

/* Moves the content from memory to a file in blocks, because a mapping would need the same
 * memory again. */
static enum dtx_code spool_move(struct spool *s, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	char *block = dtx_mem_alloc(SPOOL_BLOCK, 1);
	int fd = -1;

	if (!block)
		DTX_FAIL_MEM(err);
	DTX_TRY(dtx_file_temp(NULL, &fd, err));
	for (uint64_t at = 0; at < s->size;) {
		size_t n = (size_t)DTX_MIN(s->size - at, (uint64_t)SPOOL_BLOCK);

		if (pread(s->fd, block, n, (off_t)at) != (ssize_t)n)
			DTX_FAIL(err, DTX_E_INPUT_IO, "cannot read memory: %s", strerror(errno));
		DTX_TRY(dtx_file_write(fd, block, n, "temp file", err));
		at += n;
	}
	dtx_file_close(&s->fd);
	s->fd = fd;
	s->file = true;
	fd = -1;
out:
	dtx_mem_free(block);
	dtx_file_close(&fd);
	return rc;
}

static enum dtx_code spool_add(void *arg, struct dtx_str piece, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct spool *s = arg;

	if (s->fd < 0) {
		s->fd = memfd_create("dtx-packed", MFD_CLOEXEC);
		if (s->fd < 0)
			DTX_FAIL(err, DTX_E_INPUT_IO, "cannot keep what a packed file holds: %s",
			         strerror(errno));
	}
	if (!s->file && s->size && s->size + piece.len > SPOOL_MEMORY)
		DTX_TRY(spool_move(s, err));
	/* the process may claim more than a packed file may hold */
	if (s->size + piece.len > s->limits->total) {
		rc = dtx_archive_limits_fail(err, s->limits, "total",
		                             "a packed file inflates to over %llu bytes",
		                             (unsigned long long)s->limits->total);
		goto out;
	}
	DTX_TRY(dtx_file_write(s->fd, piece.ptr, piece.len, "what a packed file holds", err));
	s->size += piece.len;
out:
	return rc;
}

bool dtx_packed_sniff(const void *head, size_t len)
{
	return dtx_gzip_sniff(head, len) || dtx_zstd_sniff(head, len);
}

enum dtx_code dtx_packed_inflate(const char *label, struct dtx_str bytes,
                                 const struct dtx_archive_limits *limits, dtx_packed_fn fn,
                                 void *arg, struct dtx_err *err)
{
	if (dtx_zstd_sniff(bytes.ptr, bytes.len))
		return dtx_zstd_inflate(label, bytes, limits, fn, arg, err);
	return dtx_gzip_inflate(label, bytes, limits, fn, arg, err);
}

enum dtx_code dtx_packed_source(struct dtx_source *src, struct dtx_source **out,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct spool s = { -1, 0, false, dtx_source_limits(src) };
	struct dtx_source *inner = dtx_source_inner(src);

	if (inner)
		goto out;
	if (dtx_source_direct(src))
		DTX_TRY(dtx_packed_inflate(
			dtx_source_name(src),
			(struct dtx_str){ dtx_source_data(src), dtx_source_size(src) }, s.limits,
			spool_add, &s, err));
	else
		DTX_TRY(dtx_isolated_inflate(src, spool_add, &s, err));
	DTX_TRY(dtx_source_hold(src, s.fd, (size_t)s.size, err));
	inner = dtx_source_inner(src);
out:
	dtx_file_close(&s.fd);
	if (rc == DTX_OK)
		*out = inner;
	return rc;
}
