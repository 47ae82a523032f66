/* The reader vtable: what the plan asks of an input and what it gets.
 *
 * open -> schema -> (infer) -> start -> next on all workers -> stats -> close; start may be called
 * again after a restart.  A reader hands over morsels: `next` gives worker w the next batch of the
 * morsel it is in, or claims another.  Every seq 0, 1, 2 ... is delivered; the last batch of a
 * morsel has `last` set and may be empty.  *out is NULL at the end of the input. */
#ifndef DTX_IO_READER_H
#define DTX_IO_READER_H

#include "core/base/text/json.h"
#include "core/base/progress.h"
#include "core/data/batch.h"
#include "core/data/cast/cast.h"
#include "core/io/source/source.h"

struct dtx_read_type { /* `types` of an input */
	const char *name;
	struct dtx_typeref type;
	const char *format;
	enum dtx_cast_error on_error;
};
enum dtx_ragged { DTX_RAGGED_ERROR, DTX_RAGGED_PAD, DTX_RAGGED_TRUNCATE, DTX_RAGGED_QUARANTINE };
enum dtx_header_fill { DTX_FILL_AUTO, DTX_FILL_MERGED, DTX_FILL_RIGHT, DTX_FILL_NONE };
enum dtx_keys { DTX_KEYS_ERROR, DTX_KEYS_FIRST, DTX_KEYS_LAST }; /* repeated in a JSON object */

/* Options of an input, all readers; zero / NULL is the default (see DTX_READ_OPTS_INIT). */
struct dtx_read_opts {
	const char *alias;      /* input name */
	const char *format;     /* NULL: auto */
	const char *sheet;      /* name, or decimal number from 1 */
	const char *range;      /* "A4:O200", "4:200"; NULL */
	const char *table;      /* name of a table of a workbook; NULL */
	int header_rows;        /* -1: auto; 0..8 */
	const char *header_sep; /* " " */
	enum dtx_header_fill header_fill;
	bool names_unique_error; /* "names": "error" */
	bool headers_drop;       /* records of a text file that repeat the header are dropped */
	int64_t skip, skip_tail;
	const char *encoding;         /* NULL: auto */
	const char *delimiter;        /* NULL: sniffed */
	const char *quote;            /* NULL: sniffed; "": none */
	const char *escape, *comment; /* NULL: none */
	const char *terminator;       /* of records; NULL: newlines */
	const char *quotes;           /* NULL or "literal", "strict", "lenient", "lines" */
	const char *reader;           /* "libcsv" reads CSV, "freexl" .xls; NULL: the usual one */
	bool trim, mixed;             /* mixed: records that do not fit are read so that they do */
	char decimal, group;          /* '.', 0 */
	char home; /* delimiter of the output, whose writer copies cells; 0: none */
	const char *const *null_values;
	size_t nnull_values;
	const struct dtx_read_type *types;
	size_t ntypes;
	const char *const *requires;
	size_t nrequires;
	enum { DTX_EXTRA_ALLOW, DTX_EXTRA_DROP, DTX_EXTRA_ERROR } extra;
	enum dtx_ragged ragged;
	const char *rejects; /* file for quarantined records; NULL: beside the output */
	int64_t max_rejects;
	bool hidden_drop;
	bool merged_fill;  /* merged ranges: all cells have the value of the first */
	bool merged_known; /* the plan says what becomes of them: no note */
	bool strays;       /* quotes that pair up by accident are an error, with a remedy */
	enum { DTX_BAD_CELLS_NULL, DTX_BAD_CELLS_TEXT, DTX_BAD_CELLS_ERROR } bad_cells;
	const char *records; /* JSON pointer to the records; NULL: found */
	enum dtx_keys duplicate_keys;
	bool json_lenient;   /* reads what is not quite JSON, counted */
	bool margins;        /* notes empty columns and rows around the table, with a remedy */
	bool stream;         /* the input passes once, nothing is spooled; see stream_reader.h */
	bool part;           /* of a stream: a declared column that it lacks another part has */
	uint32_t once_bytes; /* of a stream that are taken at once; 0: many */
	uint32_t hold_cells; /* of a sheet that is read twice; 0: many, and only large ones are */
};
#define DTX_READ_OPTS_INIT                                                                         \
	{                                                                                          \
		.alias = "main", .header_rows = -1, .header_sep = " ", .decimal = '.',             \
		.max_rejects = 1000                                                                \
	}

enum dtx_need { DTX_NEED_SKIP, DTX_NEED_BYTES, DTX_NEED_VALUE };

struct dtx_scan {                        /* what the plan asks of a reader */
	const struct dtx_schema *schema; /* the reader's own, types maybe widened */
	const uint8_t *need;             /* per column: enum dtx_need */
	int64_t limit;                   /* rows wanted at least, or -1 */
	unsigned workers;
	uint32_t batch_rows; /* at most; 0: DTX_BATCH_ROWS (tests use 1, 7) */
	/* Pushed filters: narrows batch->sel before the other columns are made; NULL: none. It sees
	 * only the columns marked in keep_need. */
	enum dtx_code (*keep)(void *arg, struct dtx_batch *, struct dtx_err *);
	void *keep_arg;
	const uint8_t *keep_need;
};

/* Ledger: rows_read = rows_out + dropped by reason. */
enum dtx_drop {
	DTX_DROP_SKIP,
	DTX_DROP_SKIP_TAIL,
	DTX_DROP_PREAMBLE,
	DTX_DROP_HEADER,
	DTX_DROP_BLANK,
	DTX_DROP_COMMENT,
	DTX_DROP_HIDDEN,
	DTX_DROP_TOTALS, /* the totals row of a table */
	DTX_DROP_REJECT,
	DTX_DROP_COUNT
};
extern const char *const dtx_drop_name[DTX_DROP_COUNT];
struct dtx_read_stats {
	int64_t rows_read, rows_out;
	int64_t dropped[DTX_DROP_COUNT];
	bool stopped_early; /* a limit: what is counted depends on the size of batches */
};

struct dtx_reader_class;
struct dtx_rawgrid;
/* Common head of every reader. */
struct dtx_reader {
	const struct dtx_reader_class *cls;
	struct dtx_source *src; /* borrowed, outlives the reader */
	struct dtx_arena arena;
	struct dtx_origin origin;    /* of its batches */
	struct dtx_errlist diags;    /* warnings: lossy or surprising choices */
	struct dtx_read_stats stats; /* complete after the last next */
	atomic_int_fast64_t misfits; /* cells that on_error made null */
	atomic_int_fast64_t offsets; /* times whose offset from UTC their declared type drops */
	bool spent;                  /* its bytes pass once and did: no other start */
	/* Parts of the input that have been read, of how many (0: not known); for progress. */
	atomic_uint_fast64_t done, of;
};

static inline void dtx_reader_progress(struct dtx_reader *r, uint64_t done, uint64_t of)
{
	atomic_store_explicit(&r->done, done, memory_order_relaxed);
	atomic_store_explicit(&r->of, of, memory_order_relaxed);
}

/* See dtx_source_hash_behind; a reader that does not say how far it is does not wait for it. */
static inline bool dtx_reader_hash_behind(const struct dtx_reader *r)
{
	uint64_t of = atomic_load_explicit(&r->of, memory_order_relaxed);

	return of && dtx_source_hash_behind(
			     r->src, atomic_load_explicit(&r->done, memory_order_relaxed), of);
}

struct dtx_reader_class {
	const char *name;    /* "csv", "xlsx", "json" */
	const char *formats; /* "csv,tsv": values of `format` it serves */
	bool isolated;       /* parses containers: only in a process of its own (isolate.h) */
	int (*sniff)(const void *head, size_t len, const char *path); /* 0..100 */
	enum dtx_code (*open)(struct dtx_source *, const struct dtx_read_opts *,
	                      struct dtx_reader **, struct dtx_err *);
	/* Fields with guessed types (declared ones have guessed = false), source = true. */
	enum dtx_code (*schema)(struct dtx_reader *, const struct dtx_schema **, struct dtx_err *);
	/* Exact narrowest types over the whole input for the columns with want[i]; fills type[i].
	 * Used once, when a guess was wrong; NULL: no type is guessed. */
	enum dtx_code (*infer)(struct dtx_reader *, const bool *want, struct dtx_typeref *type,
	                       unsigned workers, struct dtx_err *);
	enum dtx_code (*start)(struct dtx_reader *, const struct dtx_scan *, struct dtx_err *);
	enum dtx_code (*next)(struct dtx_reader *, unsigned worker, struct dtx_batch **,
	                      struct dtx_err *);
	/* A limit was full; `last` is the row it let through last, DTX_NO_ROW: none is known.
	 * Counts what came, and keeps out what is behind that row where it can tell; all workers
	 * are done.  NULL: what came is not counted. */
	void (*cut)(struct dtx_reader *, uint64_t last);
	/* Reader options after defaults, as found: encoding, dialect, sheet, header rows ...; what
	 * the record keeps and inspect shows. New reference. */
	json_t *(*describe)(struct dtx_reader *);
	/* Records that `quarantine` kept out, as rows of the rejects file; NULL: there are none. */
	enum dtx_code (*rejects)(struct dtx_reader *, struct dtx_buf *out, struct dtx_err *err);
	void (*close)(struct dtx_reader *);
	/* The cells as they stand, whatever keeps `open` from reading a table; `out` is empty. */
	enum dtx_code (*raw)(struct dtx_source *, const struct dtx_read_opts *,
	                     struct dtx_rawgrid *out, struct dtx_err *);
};
/* First line of a rejects file. */
#define DTX_REJECTS_HEADER "source,line,byte,reason,expected,found,record\n"
/* rows_read = rows_out + all that was dropped. */
bool dtx_read_stats_add_up(const struct dtx_read_stats *s);
extern const struct dtx_reader_class *const dtx_reads[]; /* generated, NULL at the end */

/* Picks the class (opts->format, else best sniff, suffix breaks ties) and opens.  Formats that are
 * known but not read (xls, ods, parquet ...) are unsupported_format with the way out. */
DTX_MUSTUSE enum dtx_code dtx_reader_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                                          struct dtx_reader **out, struct dtx_err *err);
void dtx_reader_close(struct dtx_reader *r); /* NULL is fine */
/* A limit had enough before `next` said the end, or as it did. */
void dtx_reader_cut(struct dtx_reader *r, uint64_t last);
/* Adds the note of cells that on_error made null; after the last next, once. */
/* What becomes of times in a declared column where only some have an offset. */
#define DTX_READ_OFFSETS                                                                           \
	"with an offset from UTC, which others of their column lack, became times of UTC"
DTX_MUSTUSE enum dtx_code dtx_reader_misfits(struct dtx_reader *r, struct dtx_err *err);
/* Tells who looks that a batch of so many rows came. */
void dtx_reader_note(struct dtx_reader *r, uint32_t rows, struct dtx_progress *to);
/* The raw cells of an input that no reader makes a table of; `out` is initialised.  cell_limit:
 * more than a snippet is given. */
DTX_MUSTUSE enum dtx_code dtx_reader_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                                         struct dtx_rawgrid *out, struct dtx_err *err);

#endif
