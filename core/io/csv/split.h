/* Exact morsel borders of delimited text.
 *
 * The text is cut every `chunk` bytes; morsel k holds the records that start in chunk k.  Each
 * chunk is counted once, by the worker that wants it; the parity of quotes gives the state at the
 * next border.  Where a chunk has irregular quotes the plain machine reads it, so the borders are
 * always those of the plain machine.  Thread safe. */
#ifndef DTX_IO_CSV_SPLIT_H
#define DTX_IO_CSV_SPLIT_H

#include <pthread.h>

#include "core/io/csv/csv_row.h"

struct dtx_split_chunk;
struct dtx_split {
	struct dtx_csv_text text;
	const struct dtx_scan_fns *fns;
	size_t begin, chunk, n;
	pthread_mutex_t lock;
	struct dtx_split_chunk *item; /* n */
	size_t known;                 /* chunks whose first record is known */
	size_t last;                  /* the latest record start that is known */
};
struct dtx_morsel {
	size_t start, stop; /* records that start in [start, stop); start == stop: none */
	size_t from, to;    /* bytes of the chunk */
	uint32_t records;   /* at most so many */
	bool high;          /* the chunk has bytes above 7F */
};

/* Text from `begin`, a record start. chunk 0: 1 MiB. */
DTX_MUSTUSE enum dtx_code dtx_split_init(struct dtx_split *s, const struct dtx_csv_text *text,
                                         const struct dtx_scan_fns *fns, size_t begin, size_t chunk,
                                         struct dtx_err *err);
void dtx_split_clear(struct dtx_split *s);
/* Morsel k < n. */
void dtx_split_get(struct dtx_split *s, size_t k, struct dtx_morsel *out);
/* Where the first record of morsel k <= n starts; nothing is counted twice. */
size_t dtx_split_start(struct dtx_split *s, size_t k);

#define DTX_SPLIT_CHUNK ((size_t)1 << 20)

#endif
