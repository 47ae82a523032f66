/* Finds the exact borders of morsels in delimited text.
 *
 * The text is cut every `chunk` bytes, and morsel k has the records that start in chunk k. The
 * worker that wants a chunk counts its quotes, once. Whether the count is odd or even decides if
 * the next border is inside quotes. If a chunk has irregular quotes, the simple record reader reads
 * it, so the borders are always the same as that one's. Thread safe. */
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
	struct dtx_split_chunk *item; /* n chunks */
	size_t known;                 /* number of chunks whose first record is known */
	size_t last;                  /* the last start of a record that is known */
	/* The first chunk that is read, and where the first record at or after its border begins.
	 */
	size_t first, entry;
};
struct dtx_morsel {
	size_t start, stop; /* the records that start in [start, stop); start == stop: none */
	size_t from, to;    /* bytes of the chunk */
	uint32_t records;   /* upper bound of the number of records */
	bool high;          /* the chunk has bytes above 7F */
};

/* The text begins at `begin`, which is the start of a record. chunk 0: 1 MiB. */
DTX_MUSTUSE enum dtx_code dtx_split_init(struct dtx_split *s, const struct dtx_csv_text *text,
                                         const struct dtx_scan_fns *fns, size_t begin, size_t chunk,
                                         struct dtx_err *err);
/* Says that chunks before `first` are not read, and where the first record at or after its border
 * begins. Called before any morsel is asked for; those before `first` never are. */
void dtx_split_from(struct dtx_split *s, size_t first, size_t entry);
void dtx_split_clear(struct dtx_split *s);
/* Gets morsel k, which is below n. */
void dtx_split_get(struct dtx_split *s, size_t k, struct dtx_morsel *out);
/* Where the first record of morsel k starts; k may be n. No chunk is counted twice. */
size_t dtx_split_start(struct dtx_split *s, size_t k);

#define DTX_SPLIT_CHUNK ((size_t)1 << 20)

#endif
