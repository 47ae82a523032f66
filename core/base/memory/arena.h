/* Bump allocator for many small objects that are freed together (a plan, its arguments, the scratch
 * memory of a batch).
 *
 * Objects are never freed one by one: dtx_arena_rewind frees everything since a mark and keeps the
 * blocks for the next allocations, dtx_arena_clear frees all blocks.  Memory comes from dtx_mem and
 * so counts against the budget.  An arena has no lock: only one thread may use it at a time. */
#ifndef DTX_BASE_ARENA_H
#define DTX_BASE_ARENA_H

#include "core/base/base.h"
#include "core/base/text/str.h"

struct dtx_arena_block;
struct dtx_arena {
	struct dtx_arena_block *head;  /* the block that allocations come from */
	struct dtx_arena_block *spare; /* blocks that a rewind emptied; used again before new
	                                * ones */
	size_t used;                   /* bytes of `head` that are handed out */
};
#define DTX_ARENA_INIT                                                                             \
	{                                                                                          \
		NULL, NULL, 0                                                                      \
	}
struct dtx_arena_mark {
	struct dtx_arena_block *head;
	size_t used;
};

/* n * size bytes, aligned to 16 bytes; dtx_arena_zalloc sets them to zero.  NULL when memory is out
 * or the product overflows. */
DTX_MUSTUSE void *dtx_arena_alloc(struct dtx_arena *a, size_t n, size_t size);
DTX_MUSTUSE void *dtx_arena_zalloc(struct dtx_arena *a, size_t n, size_t size);
/* Bytes without alignment: dtx_arena_bytes returns room for n of them, dtx_arena_pack a copy of
 * `bytes`.  Neither adds a terminator.  NULL when memory is out. */
DTX_MUSTUSE char *dtx_arena_bytes(struct dtx_arena *a, size_t n);
DTX_MUSTUSE char *dtx_arena_pack(struct dtx_arena *a, const char *bytes, size_t n);
/* Copies that end with a NUL byte.  NULL when memory is out. */
DTX_MUSTUSE char *dtx_arena_strdup(struct dtx_arena *a, const char *text);
DTX_MUSTUSE char *dtx_arena_strndup(struct dtx_arena *a, const char *text, size_t len);
/* Makes room for at least n items in the array *items (a T **), for arrays that grow item by item.
 * It doubles *cap and copies the items into fresh memory of the arena, whose unused part is zeroed;
 * the old memory stays in the arena.  On failure *items is untouched. */
DTX_MUSTUSE bool dtx_arena_reserve(struct dtx_arena *a, void *items, size_t *cap, size_t n,
                                   size_t size);
DTX_MUSTUSE char *dtx_arena_printf(struct dtx_arena *a, const char *fmt, ...) DTX_PRINTF(2, 3);
/* A rewind frees everything that was allocated since the mark.  Marks must be rewound in the
 * reverse order in which they were made. */
struct dtx_arena_mark dtx_arena_mark(const struct dtx_arena *a);
void dtx_arena_rewind(struct dtx_arena *a, struct dtx_arena_mark mark);
void dtx_arena_clear(struct dtx_arena *a);
/* Bytes of all its blocks. */
size_t dtx_arena_size(const struct dtx_arena *a);
/* The block that allocations come from: *size bytes, of which the first *used are handed out.  NULL
 * if the arena has no block yet. */
const void *dtx_arena_block(const struct dtx_arena *a, size_t *used, size_t *size);

#endif
