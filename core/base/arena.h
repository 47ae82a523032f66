/* Bump allocator: many small things that die together.  One thread at a time. */
#ifndef DTX_BASE_ARENA_H
#define DTX_BASE_ARENA_H

#include "core/base/base.h"
#include "core/base/text/str.h"

struct dtx_arena_block;
struct dtx_arena {
	struct dtx_arena_block *head;  /* block in use */
	struct dtx_arena_block *spare; /* kept by a rewind */
	size_t used;                   /* bytes handed out of head */
};
#define DTX_ARENA_INIT                                                                             \
	{                                                                                          \
		NULL, NULL, 0                                                                      \
	}
struct dtx_arena_mark {
	struct dtx_arena_block *head;
	size_t used;
};

/* 16-byte aligned; NULL when memory is out. Not zeroed. */
DTX_MUSTUSE void *dtx_arena_alloc(struct dtx_arena *a, size_t n, size_t size);
DTX_MUSTUSE void *dtx_arena_zalloc(struct dtx_arena *a, size_t n, size_t size);
/* Room that may start at any byte; a copy of bytes there, followed by no NUL. */
DTX_MUSTUSE char *dtx_arena_bytes(struct dtx_arena *a, size_t n);
DTX_MUSTUSE char *dtx_arena_pack(struct dtx_arena *a, const char *bytes, size_t n);
/* NUL-terminated copies. */
DTX_MUSTUSE char *dtx_arena_strdup(struct dtx_arena *a, const char *text);
DTX_MUSTUSE char *dtx_arena_strndup(struct dtx_arena *a, const char *text, size_t len);
/* Room for at least n items in *items (a T **): doubles *cap into fresh memory, the new part of it
 * zeroed.  What an array of the arena is appended through; on failure *items is untouched. */
DTX_MUSTUSE bool dtx_arena_reserve(struct dtx_arena *a, void *items, size_t *cap, size_t n,
                                   size_t size);
DTX_MUSTUSE char *dtx_arena_printf(struct dtx_arena *a, const char *fmt, ...) DTX_PRINTF(2, 3);
/* Everything allocated since the mark is gone after the rewind. */
struct dtx_arena_mark dtx_arena_mark(const struct dtx_arena *a);
void dtx_arena_rewind(struct dtx_arena *a, struct dtx_arena_mark mark);
void dtx_arena_clear(struct dtx_arena *a);
/* The block in use, of *size bytes, the first *used of them handed out; NULL: there is none. */
const void *dtx_arena_block(const struct dtx_arena *a, size_t *used, size_t *size);

#endif
