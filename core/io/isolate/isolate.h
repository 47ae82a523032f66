/* Parsers of containers (workbooks, gzip, Parquet, SQLite) run in a process of their own, which is
 * started for one input and locked before it sees any byte of it. This header has main's view of
 * that process, and what happens inside it.
 *
 * Inside, the same reader class runs that would run here; formats do not know about it. Requests
 * are JSON. Answers are frames in memory that main made, and that is sealed or copied before
 * main looks at it. Nothing in an answer is trusted. */
#ifndef DTX_IO_ISOLATE_ISOLATE_H
#define DTX_IO_ISOLATE_ISOLATE_H

#include "core/io/sheet/book_info.h"
#include "core/io/archive/gzip.h"
#include "core/io/reader.h"

/* --- main's side; the sandbox implements the process --- */

/* Requests, with their arguments and answers. An answer consists of frames, then an end or an
 * error. */
enum dtx_ask {
	DTX_ASK_OPEN,    /* options; a REPORT with what was found */
	DTX_ASK_READ,    /* columns, limit; STRINGS and batches, at the end a REPORT */
	DTX_ASK_RAW,     /* options; a GRID */
	DTX_ASK_INFLATE, /* ARTIFACTs: pieces of the content of a gzip file */
	DTX_ASK_CELLS,   /* sheet; a REPORT with lines of cells */
	DTX_ASK_SHEETS,  /* a REPORT */
	DTX_ASK_STAMP,   /* a REPORT */
	DTX_ASK_COUNT
};
struct dtx_isolate_limits {
	uint64_t memory; /* bytes of its heap */
	uint32_t cpu_s;
	bool codecs;   /* it uses the libraries of Parquet's codecs */
	bool freexl;   /* it uses FreeXL, which opens the input by name */
	unsigned page; /* code page that it loads, 0: none */
};
#define DTX_ISOLATE_INPUT "/proc/self/fd/4" /* the path that it may open for FreeXL */
#define DTX_ISOLATE_LIMITS                                                                         \
	{                                                                                          \
		.memory = (uint64_t)4 << 30, .cpu_s = 600                                          \
	}
struct dtx_sealed { /* a frame that can no longer change */
	const void *ptr;
	uint64_t len;
	struct dtx_owner *owner; /* owner of the mapping, counted */
};
struct dtx_isolate;
struct dtx_isolate_class {
	/* Starts a locked process for the source. Error: jail_unavailable if it cannot be
	 * locked; there is no other way to read the file. */
	enum dtx_code (*start)(struct dtx_source *src, const struct dtx_isolate_limits *limits,
	                       struct dtx_isolate **out, struct dtx_err *err);
	/* Sends a request. What is left of the answer to the last one is dropped. */
	enum dtx_code (*ask)(struct dtx_isolate *p, enum dtx_ask ask, const json_t *args,
	                     struct dtx_err *err);
	/* Gets the next frame of the answer; its owner is NULL at the end. An error inside the
	 * process is returned as it is. Other errors: corrupt_file if the process died,
	 * input_changed if it died because the file changed. */
	enum dtx_code (*next)(struct dtx_isolate *p, struct dtx_sealed *out, struct dtx_err *err);
	void (*stop)(struct dtx_isolate *p); /* NULL is fine */
};
/* The limits for a process that reads this source: those of the source, but no more memory than
 * there is. */
struct dtx_isolate_limits dtx_isolated_limits(const struct dtx_source *src);
extern const struct dtx_isolate_class dtx_isolate_process; /* in sandbox/ */

/* Opens a reader of class `cls` in such a process, made by `via`. It has the same vtable as any
 * other reader. */
DTX_MUSTUSE enum dtx_code dtx_isolated_open(const struct dtx_isolate_class *via,
                                            struct dtx_source *src,
                                            const struct dtx_read_opts *opts,
                                            const struct dtx_reader_class *cls,
                                            struct dtx_reader **out, struct dtx_err *err);
/* Like dtx_reader_raw, and like the functions of book_info.h, for a source that is not direct. */
DTX_MUSTUSE enum dtx_code dtx_isolated_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                                           struct dtx_rawgrid *out, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_isolated_inflate(struct dtx_source *src, dtx_packed_fn fn, void *arg,
                                               struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_isolated_cells(struct dtx_source *src, const char *sheet,
                                             dtx_book_cell_fn fn, void *arg, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_isolated_sheets(struct dtx_source *src, json_t **out,
                                              struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_isolated_stamp(struct dtx_source *src, char out[64],
                                             struct dtx_err *err);

/* --- inside the process --- */

struct dtx_isolate_sink {
	void *arg;
	/* Memory for a frame of n bytes, which may have the bytes of another frame, valid until
	 * `send`. Error: cancelled, if another request has come. */
	enum dtx_code (*room)(void *arg, uint64_t n, void **to, struct dtx_err *err);
	enum dtx_code (*send)(void *arg, struct dtx_err *err);
	/* As in struct dtx_archive_limits; NULL: progress is not needed. */
	void (*tick)(void *arg, uint64_t done, uint64_t of);
};
struct dtx_isolate_server;
/* Makes a server for the input in fd (borrowed). */
DTX_MUSTUSE enum dtx_code dtx_isolate_server_new(int fd, size_t size,
                                                 const struct dtx_isolate_sink *sink,
                                                 struct dtx_isolate_server **out,
                                                 struct dtx_err *err);
/* Answers one request. The caller reports the end or the error. */
DTX_MUSTUSE enum dtx_code dtx_isolate_serve(struct dtx_isolate_server *s, enum dtx_ask ask,
                                            struct dtx_str args, struct dtx_err *err);
void dtx_isolate_server_free(struct dtx_isolate_server *s); /* NULL is fine */

/* --- values as JSON (isolate_json.c); NULL or false: out of memory, or not such a value --- */

DTX_MUSTUSE json_t *dtx_isolate_opts_json(const struct dtx_read_opts *opts);
/* Texts stay in the JSON tree, lists go to the arena. */
DTX_MUSTUSE bool dtx_isolate_opts_read(const json_t *from, struct dtx_arena *a,
                                       struct dtx_read_opts *opts);
DTX_MUSTUSE json_t *dtx_isolate_err_json(const struct dtx_err *err);
DTX_MUSTUSE bool dtx_isolate_err_read(const json_t *from, struct dtx_err *err);
DTX_MUSTUSE json_t *dtx_isolate_schema_json(const struct dtx_schema *schema);
DTX_MUSTUSE enum dtx_code dtx_isolate_schema_read(const json_t *from, struct dtx_arena *a,
                                                  struct dtx_schema *schema, struct dtx_err *err);
DTX_MUSTUSE json_t *dtx_isolate_stats_json(const struct dtx_read_stats *stats);
DTX_MUSTUSE bool dtx_isolate_stats_read(const json_t *from, struct dtx_read_stats *stats);

#endif
