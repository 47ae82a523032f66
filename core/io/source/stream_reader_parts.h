/* The state of the stream reader; private to the files stream_reader*.c. */
#ifndef DTX_IO_SOURCE_STREAM_READER_PARTS_H
#define DTX_IO_SOURCE_STREAM_READER_PARTS_H

#include "core/io/csv/csv.h"
#include "core/io/json/json_rows.h"
#include "core/io/source/stream_reader.h"
#include "core/io/source/record_chunker.h"

enum {
	DTX_STREAM_READER_KEPT =
		8, /* slices whose rows can still be found; more than can be in use */
	DTX_STREAM_READER_SHIFT = 44, /* a row id is the slice, then the id within it */
};

struct dtx_stream_chunk {
	uint64_t seq;
	unsigned refs; /* under `lock` */
	struct dtx_source *src;
	struct dtx_reader *reader;
	const struct dtx_schema *schema;
	uint8_t *need;
	/* for each column of the stream: the one in the slice, or UINT32_MAX if it has none */
	uint32_t *from;
};
struct dtx_stream_reader_reject {
	uint64_t seq;
	struct dtx_buf text;
};
struct dtx_stream_reader_worker {
	struct dtx_stream_chunk *now;
	uint32_t sub;
};
struct dtx_stream_reader {
	struct dtx_reader head;
	struct dtx_read_opts opts; /* for a slice; the first one may have others */
	const struct dtx_reader_class *cls;
	struct dtx_dialect dialect;
	struct dtx_record_chunker slices;
	struct dtx_stream_chunk *first; /* opened for the schema; CSV only */
	json_t *described;
	const struct dtx_schema *schema;
	uint32_t head_rows; /* rows of the header, which every slice but the first repeats */
	struct dtx_scan scan;
	bool started;
	struct dtx_stream_reader_worker *worker;

	pthread_mutex_t pulling; /* for claiming slices */
	uint64_t claimed;

	pthread_mutex_t lock; /* for what follows, head.stats and head.diags */
	bool stop;            /* a limit was reached */
	struct dtx_stream_chunk **kept;
	size_t nkept;
	uint64_t done;
	int64_t nkept_rows;
	bool closed;
	bool *seen; /* columns that some slice has */
	struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT];
	struct dtx_errlist later; /* notes of later slices of a text file, each once */
	struct dtx_stream_reader_reject *reject;
	size_t nrejects, rejects_cap;
};

static inline bool dtx_stream_reader_is_csv(const struct dtx_stream_reader *s)
{
	return s->cls == &dtx_read_csv;
}

/* In stream_reader_open.c: finds the columns and the options of the slices. */
DTX_MUSTUSE enum dtx_code dtx_stream_reader_columns(struct dtx_stream_reader *s,
                                                    const struct dtx_read_opts *opts,
                                                    struct dtx_err *err);
/* In stream_reader_chunk.c: opens a slice with its reader. Takes src. */
DTX_MUSTUSE enum dtx_code dtx_stream_chunk_open(struct dtx_stream_reader *s, struct dtx_source *src,
                                                uint64_t seq, const struct dtx_read_opts *opts,
                                                struct dtx_stream_chunk **out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_stream_chunk_start(struct dtx_stream_reader *s,
                                                 struct dtx_stream_chunk *p, struct dtx_err *err);
void dtx_stream_chunk_free(struct dtx_stream_chunk *p);  /* NULL is fine */
void dtx_stream_chunk_unref(struct dtx_stream_chunk *p); /* with the lock held */
/* Arranges the columns of *from as in the stream. Takes *from. */
DTX_MUSTUSE enum dtx_code dtx_stream_chunk_shape(const struct dtx_stream_reader *s,
                                                 const struct dtx_stream_chunk *p,
                                                 struct dtx_batch **from, struct dtx_batch **out,
                                                 struct dtx_err *err);

#endif
