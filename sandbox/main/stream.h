/* The output of a worker. It is always read to its end, so that the worker never blocks; the
 * head and the tail are kept. */
#ifndef DTX_SANDBOX_MAIN_STREAM_H
#define DTX_SANDBOX_MAIN_STREAM_H

#include "core/plan/exec/provider.h"

#define DTX_STREAM_OUT_KEEP ((size_t)1 << 20)
#define DTX_STREAM_ERR_KEEP ((size_t)256 << 10)
/* more than that is a flood, and the worker is killed */
#define DTX_STREAM_MAX ((uint64_t)64 << 20)

struct dtx_stream {
	size_t keep; /* bytes: 3/4 for the head, 1/4 for the tail */
	struct dtx_buf head;
	char *tail;               /* ring of keep / 4 bytes, allocated when the head is full */
	size_t tail_at, tail_len; /* next place in the ring; bytes in it */
	uint64_t total;           /* a remote jail may report more than it sent */
};
void dtx_stream_init(struct dtx_stream *s, size_t keep);
void dtx_stream_add(struct dtx_stream *s, const char *bytes, size_t n);
/* Copies the kept bytes to the report's arena. */
void dtx_stream_report(const struct dtx_stream *s, struct dtx_arena *arena,
                       struct dtx_jail_stream *out);
void dtx_stream_clear(struct dtx_stream *s);

#endif
