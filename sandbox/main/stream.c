/* Keeps the head and the tail of a worker's output, see stream.h. */
#include "sandbox/main/stream.h"

#include "core/base/memory/mem.h"

static size_t tail_size(const struct dtx_stream *s)
{
	return s->keep / 4;
}

void dtx_stream_init(struct dtx_stream *s, size_t keep)
{
	*s = (struct dtx_stream){ .keep = keep };
	dtx_buf_init(&s->head, keep - keep / 4);
}

static void add_tail(struct dtx_stream *s, const char *bytes, size_t n)
{
	size_t size = tail_size(s);

	if (!s->tail)
		s->tail = dtx_mem_alloc(size, 1);
	if (!s->tail)
		return; /* the total still counts, and the report says that it is truncated */
	if (n > size) {
		bytes += n - size;
		n = size;
	}
	s->tail_len = DTX_MIN(s->tail_len + n, size);
	while (n) {
		size_t part = DTX_MIN(n, size - s->tail_at);

		memcpy(s->tail + s->tail_at, bytes, part);
		s->tail_at = (s->tail_at + part) % size;
		bytes += part;
		n -= part;
	}
}

void dtx_stream_add(struct dtx_stream *s, const char *bytes, size_t n)
{
	size_t room = s->head.max - s->head.len, part = DTX_MIN(room, n);

	s->total += n;
	dtx_buf_addn(&s->head, bytes, part);
	if (n > part)
		add_tail(s, bytes + part, n - part);
}

void dtx_stream_report(const struct dtx_stream *s, struct dtx_arena *arena,
                       struct dtx_jail_stream *out)
{
	size_t head = s->head.len, size = tail_size(s), tail = s->tail_len;
	char *to;

	out->total = s->total;
	to = dtx_arena_alloc(arena, head + tail + 1, 1);
	if (to) {
		size_t from = tail < size ? 0 : s->tail_at, part = DTX_MIN(tail, size - from);

		if (head)
			memcpy(to, s->head.ptr, head);
		if (tail) {
			memcpy(to + head, s->tail + from, part);
			memcpy(to + head + part, s->tail, tail - part);
		}
		out->bytes = to;
		out->kept = head + tail;
	}
	out->truncated = out->kept < out->total;
}

void dtx_stream_clear(struct dtx_stream *s)
{
	dtx_buf_clear(&s->head);
	dtx_mem_free(s->tail);
	s->tail = NULL;
}
