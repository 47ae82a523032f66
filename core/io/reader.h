/* The interface of readers: what a plan asks of an input, and what it gets.
 *
 *   open -> schema -> (infer) -> start -> next on all workers -> stats -> close
 *
 * start may be called again after a restart. A reader delivers morsels: `next` gives worker w
 * the next batch of the morsel that it works on, or starts another one. Every seq 0, 1, 2 and so
 * on is delivered. The last batch of a morsel has `last` set and may be empty. *out is NULL at
 * the end of the input. */
#ifndef DTX_IO_READER_H
#define DTX_IO_READER_H

#include "core/base/text/json.h"
#include "core/base/thread/progress.h"
#include "core/data/batch.h"
#include "core/data/cast/cast.h"
#include "core/io/formats.h"
#include "core/io/source/source.h"

struct dtx_read_type { /* one entry of `types` of an input */
	const char *name;
	struct dtx_typeref type;
	const char *format;
	enum dtx_cast_error on_error;
};
enum dtx_ragged { DTX_RAGGED_ERROR, DTX_RAGGED_PAD, DTX_RAGGED_TRUNCATE, DTX_RAGGED_QUARANTINE };
enum dtx_header_fill { DTX_FILL_AUTO, DTX_FILL_MERGED, DTX_FILL_RIGHT, DTX_FILL_NONE };
/* for a key that is repeated in a JSON object */
enum dtx_keys { DTX_KEYS_ERROR, DTX_KEYS_FIRST, DTX_KEYS_LAST };

/* The options of an input, for all readers; zero or NULL is the default (see
 * DTX_READ_OPTS_INIT). */
struct dtx_read_opts {
	const char *alias;      /* input name */
	const char *format;     /* NULL: auto */
	const char *sheet;      /* name, or decimal number from 1 */
	const char *range;      /* "A4:O200" or "4:200"; NULL: everything */
	const char *table;      /* name of a table of a workbook or database; NULL */
	const char *query;      /* SELECT of a database; NULL */
	int header_rows;        /* -1: auto; 0..8 */
	const char *header_sep; /* " " */
	enum dtx_header_fill header_fill;
	bool names_unique_error; /* "names": "error" */
	bool headers_drop;       /* records of a text file that repeat the header are left out */
	int64_t skip, skip_tail;
	const char *encoding;         /* NULL: auto */
	const char *delimiter;        /* NULL: sniffed */
	const char *quote;            /* NULL: sniffed; "": none */
	const char *escape, *comment; /* NULL: none */
	const char *terminator;       /* between records; NULL: line ends */
	const char *quotes;           /* NULL or "literal", "strict", "lenient", "lines" */
	const char *reader;           /* "libcsv" for CSV, "freexl" for .xls; NULL: the default */
	bool trim, mixed;             /* mixed: records with another dialect are converted */
	char decimal, group;          /* '.', 0 */
	char home; /* delimiter of the output, if its writer can copy cells; 0: none */
	const char *const *null_values;
	size_t nnull_values;
	const struct dtx_read_type *types;
	size_t ntypes;
	/* The names of `types` in order, with an index: see dtx_columns_index. NULL: none. */
	const struct dtx_schema *declared;
	const char *const *requires;
	size_t nrequires;
	enum { DTX_EXTRA_ALLOW, DTX_EXTRA_DROP, DTX_EXTRA_ERROR } extra;
	enum dtx_ragged ragged;
	const char *rejects; /* file for quarantined records; NULL: next to the output */
	int64_t max_rejects;
	bool hidden_drop;
	bool merged_fill;  /* all cells of a merged range get the value of the first */
	bool merged_known; /* the plan says what to do with them, so there is no note */
	bool strays;       /* quotes that pair up by accident are an error, with a remedy */
	enum { DTX_BAD_CELLS_NULL, DTX_BAD_CELLS_TEXT, DTX_BAD_CELLS_ERROR } bad_cells;
	const char *records; /* JSON pointer to the records; NULL: found automatically */
	enum dtx_keys duplicate_keys;
	bool json_lenient; /* accepts almost-JSON, and counts what was accepted */
	bool margins;      /* notes empty columns and rows around the table, with a remedy */
	bool stream;       /* the input is read once without a spool; see stream_reader.h */
	/* of a stream; a declared column that is missing here may be in another part */
	bool part;
	uint32_t once_bytes; /* bytes of a stream per slice; 0: the default */
	/* cells of a sheet that is read twice; 0: the default, and only large sheets are */
	uint32_t hold_cells;
	/* bytes of a piece of a text file, which one worker reads at a time; 0: the default */
	uint32_t piece_bytes;
};
#define DTX_READ_OPTS_INIT                                                                         \
	{                                                                                          \
		.alias = "main", .header_rows = -1, .header_sep = " ", .decimal = '.',             \
		.max_rejects = 1000                                                                \
	}

enum dtx_need { DTX_NEED_SKIP, DTX_NEED_BYTES, DTX_NEED_VALUE };

/* A condition on a column, for statistics of a file: see struct dtx_bound_range. */
struct dtx_scan_range {
	uint32_t column;
	enum dtx_type type; /* INT64, DATE, DATETIME or TEXT */
	unsigned outcomes;  /* 1 less, 2 equal, 4 greater */
	int64_t i;
	struct dtx_str s;
};
#define DTX_SCAN_RANGES_MAX 16

/* A part of an input that one process reads while others read the rest: the records that begin in
 * the pieces [first, end) of those that the reader counts (`pieces`). */
struct dtx_scan_slice {
	uint64_t first, end;
	/* Where the first record that begins at or after the border of piece `first` begins, as a
	 * byte of the text. `guessed`: not known, and the reader sets it to where a record begins
	 * if the border is not inside of quotes. */
	uint64_t begin;
	bool guessed;
	/* Set when all was read: where the first record at or after the border of piece `end`
	 * begins. It is right if `begin` was. */
	uint64_t next;
};

struct dtx_scan {                        /* what the plan asks of a reader */
	const struct dtx_schema *schema; /* the reader's own, perhaps with wider types */
	const uint8_t *need;             /* per column: enum dtx_need */
	int64_t limit;                   /* at least so many rows are wanted; -1: all */
	unsigned workers;
	unsigned threads;    /* that one call of `next` may use; 0: one */
	uint32_t batch_rows; /* at most; 0: DTX_BATCH_ROWS (tests use 1 and 7) */
	bool coded; /* columns of numbers may be DICT: they go into a frame, which takes that */
	/* Pushed filter: narrows batch->sel before the other columns are made; NULL: none. It
	 * sees only the columns that are marked in keep_need. */
	enum dtx_code (*keep)(void *arg, struct dtx_batch *, struct dtx_err *);
	void *keep_arg;
	const uint8_t *keep_need;
	/* Conditions of the filter. A reader may leave out rows, of which it then counts how many,
	 * if it knows of one condition that it is false for each of them (not null). */
	const struct dtx_scan_range *range;
	uint32_t nranges;
	struct dtx_scan_slice *slice; /* NULL: the whole input. Only with `pieces` of the class. */
	void (*left_out)(void *keep_arg, int64_t rows);
};

/* The ledger: rows_read = rows_out + dropped, by reason. */
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
	int64_t left_out; /* of rows_out: those that the pushed filter would drop; see `range` */
	int64_t dropped[DTX_DROP_COUNT];
	bool stopped_early; /* by a limit; the counts then depend on the size of batches */
};

struct dtx_reader_class;
struct dtx_rawgrid;
/* Common head of every reader. */
struct dtx_reader {
	const struct dtx_reader_class *cls;
	struct dtx_source *src; /* borrowed; must outlive the reader */
	struct dtx_arena arena;
	struct dtx_origin origin;    /* of its batches */
	struct dtx_errlist diags;    /* warnings about choices that lose data or may surprise */
	struct dtx_read_stats stats; /* complete after the last next */
	atomic_int_fast64_t misfits; /* cells that on_error made null */
	atomic_int_fast64_t offsets; /* times whose offset from UTC is lost in the declared type */
	/* its bytes can be read only once, and were: no second start */
	bool spent;
	/* For progress: how many units of the input have been read, of how many (0: unknown). */
	atomic_uint_fast64_t done, of;
};

static inline void dtx_reader_progress(struct dtx_reader *r, uint64_t done, uint64_t of)
{
	atomic_store_explicit(&r->done, done, memory_order_relaxed);
	atomic_store_explicit(&r->of, of, memory_order_relaxed);
}

/* See dtx_source_hash_lags. A reader that does not report progress does not wait for the hash. */
static inline bool dtx_reader_hash_lags(const struct dtx_reader *r)
{
	uint64_t of = atomic_load_explicit(&r->of, memory_order_relaxed);

	return of && dtx_source_hash_lags(r->src,
	                                  atomic_load_explicit(&r->done, memory_order_relaxed), of);
}

/* A section of dtx-plan(5) in words, with an example that is run as a test. */
struct dtx_manual {
	const char *title;
	const char *text;    /* for dtx_wrap_text: paragraphs, and indented lines */
	const char *example; /* commands after "$ ", and what they print; NULL: none */
};

/* How the place of a row in its file is counted. */
enum dtx_row_places {
	DTX_PLACES_ROWS,   /* rows of a sheet: each row has its own */
	DTX_PLACES_LINES,  /* lines of a text: each row begins on its own */
	DTX_PLACES_RECORDS /* lines of a text, where one line may hold several rows */
};
struct dtx_book_class;

/* One format, or several that are read by the same code.  Its file read_NAME.c, which defines
 * dtx_read_NAME, is the only one that knows the names: plans, options, the schema, messages, man
 * pages and completions get them from here. */
struct dtx_reader_class {
	const char *name; /* "csv", "xlsx", "json" */
	const char *
		formats; /* "csv,tsv": values of `format` it serves; a literal, see gen-tables.sh */
	const char *suffixes; /* "csv,tsv,tab,psv": of files; `format` may be one of them, too */
	const char *what;     /* what a file of this format holds: "CSV", "a workbook" */
	const struct dtx_manual *manual; /* how it is read and written; NULL: as text files are */
	const char *streams; /* formats that a stream may have (stream_reader.h); NULL: none */
	/* "dialect,skip": members of an input that it uses, of those that some readers do not use
	 * (`members` in reader.c), and "ragged" if rows may be of another width. */
	const char *uses;
	enum dtx_row_places places;
	const struct dtx_book_class *book; /* of a workbook: how its sheets are read; else NULL */
	/* "-wal,-journal": if a file with the input's name and one of these after it has content,
	 * the input is not whole without it. NULL: there is no such file */
	const char *beside;
	bool isolated; /* parses containers, so it only runs in its own process (isolate.h) */
	bool codecs;   /* uses the libraries of Parquet's codecs, which its process loads first */
	bool values;   /* its columns have values (FLAT, DICT), not cells */
	/* A score from 0 to 100; DTX_SNIFF_SURE or more: no other format begins like this. */
	int (*sniff)(const void *head, size_t len, const char *path);
	/* Whether a file that begins with something else holds this format after it. NULL: never.
	 */
	bool (*embedded)(const void *bytes, size_t len);
	enum dtx_code (*open)(struct dtx_source *, const struct dtx_read_opts *,
	                      struct dtx_reader **, struct dtx_err *);
	/* The fields; guessed types have guessed = true, declared ones false; source = true. */
	enum dtx_code (*schema)(struct dtx_reader *, const struct dtx_schema **, struct dtx_err *);
	/* Finds the exact narrowest types over the whole input for the columns with want[i], and
	 * fills type[i]. Called once, if a guess was wrong. NULL: the reader guesses no types. */
	enum dtx_code (*infer)(struct dtx_reader *, const bool *want, struct dtx_typeref *type,
	                       unsigned workers, struct dtx_err *);
	enum dtx_code (*start)(struct dtx_reader *, const struct dtx_scan *, struct dtx_err *);
	enum dtx_code (*next)(struct dtx_reader *, unsigned worker, struct dtx_batch **,
	                      struct dtx_err *);
	/* How many pieces of `bytes` bytes there are, which different processes may read (`slice`
	 * of struct dtx_scan). 0, or no function: only one can read the input. */
	uint64_t (*pieces)(struct dtx_reader *, uint64_t *bytes);
	/* After the last `next` of a slice: whether records were read differently from what the
	 * text says, so that the reader of the whole input would add notes. NULL: never. */
	bool (*oddities)(struct dtx_reader *);
	/* A limit was reached; `last` is the last row that it let through, or DTX_NO_ROW if
	 * unknown. Counts what was read, without rows after that row if the reader can tell. All
	 * workers are done. NULL: not counted. */
	void (*cut)(struct dtx_reader *, uint64_t last);
	/* The options that are in force, given or found: encoding, dialect, sheet, header rows
	 * and so on. The record keeps them and `inspect` shows them. A new reference. */
	json_t *(*describe)(struct dtx_reader *);
	/* Appends the records that `quarantine` left out, as rows of the rejects file. NULL:
	 * never any. */
	enum dtx_code (*rejects)(struct dtx_reader *, struct dtx_buf *out, struct dtx_err *err);
	void (*close)(struct dtx_reader *);
	/* Reads the raw cells, even if `open` cannot make a table of the input. `out` is empty.
	 * NULL: a file of this format has only typed values. */
	enum dtx_code (*raw)(struct dtx_source *, const struct dtx_read_opts *,
	                     struct dtx_rawgrid *out, struct dtx_err *);
};
/* The first line of a rejects file. */
#define DTX_REJECTS_HEADER "source,line,byte,reason,expected,found,record\n"
/* Whether rows_read = rows_out + everything that was dropped. */
bool dtx_read_stats_add_up(const struct dtx_read_stats *s);
#define DTX_SNIFF_SURE 90
extern const struct dtx_reader_class *const dtx_reads[]; /* generated; ends with NULL */

/* The class that reads this format; NULL: none does. */
const struct dtx_reader_class *dtx_reader_find(const char *format);
/* Chooses the class (by opts->format, otherwise by the bytes and the suffix) and opens the
 * input. The caller closes *out. Formats that are known but not read (ORC, PDF and so on)
 * are unsupported_format, with a hint what to do. */
DTX_MUSTUSE enum dtx_code dtx_reader_open(struct dtx_source *src, const struct dtx_read_opts *opts,
                                          struct dtx_reader **out, struct dtx_err *err);
void dtx_reader_close(struct dtx_reader *r); /* NULL is fine */
/* Tells the reader that a limit had enough rows before, or when, `next` came to the end. */
void dtx_reader_cut(struct dtx_reader *r, uint64_t last);
/* Adds the note about cells that on_error made null. Called once, after the last next. */
/* What happens to times in a declared column where only some have an offset. */
#define DTX_READ_OFFSETS "became times of UTC, as only some of their column have an offset from it"
DTX_MUSTUSE enum dtx_code dtx_reader_misfits(struct dtx_reader *r, struct dtx_err *err);
/* Reports that a batch with so many rows has come. */
void dtx_reader_note(struct dtx_reader *r, uint32_t rows, struct dtx_progress *to);
/* Reads the raw cells of an input that no reader can turn into a table; `out` is initialised.
 * Error: cell_limit, if there are more than a snippet may get. */
DTX_MUSTUSE enum dtx_code dtx_reader_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                                         struct dtx_rawgrid *out, struct dtx_err *err);

#endif
