/* What the files of the CSV reader share. Only they and tests include this header.
 *
 * The text is cut into morsels (split.h), which workers read at the same time. A worker fills spans
 * of cells (csv_batch.c) and makes batches of them. Dialects that the fast scanner cannot read go
 * through libcsv, one worker at a time (csv_ref.h). */
#ifndef DTX_IO_CSV_CSV_H
#define DTX_IO_CSV_CSV_H

#include "core/io/csv/csv_ref.h"
#include "core/io/csv/csv_row.h"
#include "core/io/csv/mend/csv_shapes.h"
#include "core/io/csv/detect/dialect.h"
#include "core/io/encoding/encoding.h"
#include "core/io/reader.h"
#include "core/io/csv/split.h"

#define DTX_CSV_TAIL_MAX 1000000 /* limit of rows that skip_tail may cut off */

/* Ways in which records were read differently from what the text says. Each is counted, and noted
 * after the last row. */
enum dtx_csv_odd {
	DTX_CSV_ODD_QUOTE,  /* quotes that were taken as data */
	DTX_CSV_ODD_CUT,    /* cells that `truncate` left out */
	DTX_CSV_ODD_REJECT, /* records that `quarantine` kept out */
	DTX_CSV_ODD_SHORT,  /* records that `pad` filled up */
	DTX_CSV_ODD_WIDE,   /* records with more cells than there are names, when all cells are kept
	                     */
	DTX_CSV_ODD_EXTRA,  /* empty cells after the last column */
	DTX_CSV_ODD_HEADER, /* repetitions of the header, which were dropped */
	DTX_CSV_ODD_COMMENT, /* lines left out as comments */
	DTX_CSV_ODD_JOINED,  /* records with a delimiter inside a text or number */
	DTX_CSV_ODD_MOVED,   /* records whose cells were moved to the columns that they look like */
	DTX_CSV_ODD_GLUED,   /* records in which a delimiter is missing next to a quote */
	DTX_CSV_ODD_OTHER,   /* records with another delimiter, other quotes or escapes */
	DTX_CSV_ODD_LINES,   /* records with several lines, when quotes are repaired */
	DTX_CSV_ODD_STRAY,   /* records with several lines that each look like a row */
	DTX_CSV_ODD_COUNT
};
/* Counts for a morsel; they are added to those of the reader when the morsel is done. */
struct dtx_csv_tally {
	int64_t records; /* all records: rows and dropped ones */
	int64_t rows, blank, comment;
	int64_t kept; /* rows that are left after a pushed filter */
	struct {
		int64_t n;
		size_t first; /* the first record */
	} odd[DTX_CSV_ODD_COUNT];
};
/* Adds n; the first of them is in `record`. */
static inline void dtx_csv_odd(struct dtx_csv_tally *t, enum dtx_csv_odd what, int64_t n,
                               size_t record)
{
	if (n && (!t->odd[what].n || record < t->odd[what].first))
		t->odd[what].first = record;
	t->odd[what].n += n;
}

struct dtx_csv_worker {
	bool active; /* is reading a morsel */
	struct dtx_morsel m;
	uint64_t seq;
	uint32_t sub, rec; /* number of batches and rows of this morsel that were delivered */
	size_t at;         /* start of the next record */
	struct dtx_csv_tally tally;
	uint32_t *pos; /* positions in a block that the scanner found */
	size_t pos_cap;
	struct dtx_span *cell;  /* cells of one record; room for `width` */
	struct dtx_span **span; /* per needed column: the spans of the batch in work */
};

struct dtx_csv_reject { /* a record that `quarantine` kept out */
	size_t start, end;
	uint32_t ncells;
};

/* How a record relates to a table with `width` columns. */
enum dtx_csv_kind {
	DTX_CSV_ROW,
	DTX_CSV_EMPTY_EXTRA, /* it has empty cells after the last column */
	DTX_CSV_SHORT,
	DTX_CSV_LONG, /* it has too many cells */
	DTX_CSV_BLANK,
	DTX_CSV_COMMENT,
	DTX_CSV_HEADER /* it repeats the header; this and the two before are dropped */
};
struct dtx_csv {
	struct dtx_reader head;
	struct dtx_read_opts opts;
	struct dtx_encoding enc; /* the text in UTF-8 */
	struct dtx_dialect dialect;
	bool plain; /* the dialect explains all records as they are, so nothing else was tried */
	bool declared_comment; /* the caller declared the comment prefix */
	size_t sep;            /* where the lines after "sep=;" begin; 0: there is no such line */
	struct dtx_csv_text text; /* the text up to the end of the body */
	const struct dtx_scan_fns *fns;
	size_t chunk;
	size_t top, body; /* first record after `skip`; first record after the header */
	size_t names;     /* first record of the header */
	uint32_t header_rows;
	/* The last record of the header, if repetitions of it are dropped: as bytes and as cells.
	 */
	struct dtx_str header, *header_cell;
	uint32_t nheader;
	uint32_t width; /* number of cells of a record */
	uint32_t fit; /* the same as in the header or most rows, before `pad` makes the table wider;
	               * 0: not known */
	uint32_t col0, col1; /* first and last column of the range */
	const struct dtx_schema *schema;
	const char *commas; /* the first column whose texts prove decimal commas; NULL: none */
	uint32_t *phys;     /* per field: its physical column */
	struct dtx_read_stats before; /* rows before and after the body */
	struct dtx_csv_tally above;   /* what was unusual in them */
	struct dtx_split split;
	struct dtx_csv_shapes
		*shapes; /* what cells of each column look like; NULL unless repairs are made */
	struct dtx_csv_ref *ref; /* for dialects that the scanner cannot read */
	size_t *ref_start;       /* where its morsels begin; protected by `lock` */
	size_t ref_cap, ref_at;

	/* per morsel: the place of its first record */
	struct dtx_scan scan;
	uint32_t batch_rows;
	uint32_t *use, *use_phys; /* needed fields and their physical columns */
	uint32_t nuse, nkeep; /* number of needed fields; the first nkeep are those that the pushed
	                       * filter uses */
	pthread_mutex_t lock; /* protects everything below */
	struct dtx_csv_worker *worker;
	unsigned nworkers;
	uint64_t claimed, done;
	uint64_t first, end; /* the morsels that are read; not for libcsv */
	struct dtx_csv_tally total;
	bool stop, closed;  /* stop: the limit is reached; closed: the diagnostics were made */
	size_t nhead_diags; /* number of diagnostics before those of the rows */
	/* per morsel: its number of rows, if all its records are rows of one line each; otherwise 0
	 */
	uint32_t *even;
	int64_t *line0;           /* per morsel: its first line; known for the first nline0 */
	uint64_t nline0, line_of; /* line_of: the last of these morsels that has a record */
	size_t line_at;           /* where that record starts */

	pthread_mutex_t finding; /* protects the places that were looked up last, per morsel */
	struct dtx_csv_found {
		bool set;
		uint64_t row_id;
		size_t at;
		int64_t line;
	} found[16];
	pthread_mutex_t doubt; /* protects the members below; may be taken while `lock` is held */
	bool settled;          /* the whole text was found to have the dialect of its sample */
	struct dtx_csv_reject *reject;
	size_t nrejects, reject_cap;
};

/* Whether comment lines are reported. They are not if the caller declared the prefix, or if it is a
 * control character that stands for lines that are only drawn. */
static inline bool dtx_csv_lists_comments(const struct dtx_csv *c)
{
	return c->dialect.comment && (unsigned char)c->dialect.comment[0] > ' ' &&
	       (!c->declared_comment || c->opts.strays);
}

/* The position in the file of a byte of the text. */
static inline size_t dtx_csv_byte(const struct dtx_csv *c, size_t at)
{
	return at + c->enc.skipped + (size_t)dtx_source_byte0(c->head.src);
}

/* Whether records of this kind are not rows of the table. */
static inline bool dtx_csv_is_dropped(const struct dtx_csv *c, enum dtx_csv_kind kind)
{
	bool ragged = kind == DTX_CSV_SHORT || kind == DTX_CSV_LONG;

	return kind >= DTX_CSV_BLANK || (ragged && c->opts.ragged == DTX_RAGGED_QUARANTINE);
}

/* The text as the scanner and the plain reader take it. */
static inline struct dtx_csv_text dtx_csv_text_of(const struct dtx_encoding *e,
                                                  const struct dtx_dialect *d)
{
	return (struct dtx_csv_text){ .data = e->text,
		                      .end = e->len,
		                      .set = { .delim = d->delim[0] ? d->delim[0] : '\n',
		                               .quote = d->quote ? d->quote : '"',
		                               .quotes = d->quote != 0 },
		                      .strict = d->quotes == DTX_QUOTES_STRICT };
}

/* How often something unusual was found in a file, and where first. */
struct dtx_csv_oddity {
	int64_t n, line, byte;
};
/* In read_csv.c: adds what r found. Call it after the last batch of r. */
void dtx_csv_odds(struct dtx_reader *r, struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT]);
/* In read_csv.c: adds notes about it to r. */
void dtx_csv_tell(struct dtx_reader *r, const char *alias,
                  const struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT]);
/* In read_csv.c: appends the header as it is written, to compare it with the beginning of another
 * text of the same table. For a table without a header it appends the numbers of columns. *rows:
 * the number of records of the header. */
DTX_MUSTUSE enum dtx_code dtx_csv_header(struct dtx_reader *r, struct dtx_buf *out, uint32_t *rows,
                                         struct dtx_err *err);

/* In csv_open.c: does everything up to the schema. Codes: those of opening a text file. */
DTX_MUSTUSE enum dtx_code dtx_csv_prepare(struct dtx_csv *c, struct dtx_err *err);
/* In csv_open.c: moves *at to the next record. */
DTX_MUSTUSE enum dtx_code dtx_csv_step(struct dtx_csv *c, size_t *at, struct dtx_err *err);
/* In csv_open.c: takes a note about something found while opening. */
DTX_MUSTUSE enum dtx_code dtx_csv_note(struct dtx_csv *c, struct dtx_err *w, struct dtx_err *err);
/* In csv_open.c: notes the lines in [from, to) that are not rows: how many there are, and the first
 * two. `where` is, for example, "above the header". */
DTX_MUSTUSE enum dtx_code dtx_csv_note_left_out(struct dtx_csv *c, const char *where,
                                                const char *hint, size_t from, size_t to,
                                                struct dtx_err *err);
/* In csv_open.c: notes a text after the name of the input. */
DTX_MUSTUSE enum dtx_code dtx_csv_note_text(struct dtx_csv *c, enum dtx_code code, const char *text,
                                            struct dtx_err *err);
/* In csv_wrapped.c: notes that each line is one quoted cell with several cells inside; and removes
 * those quotes. */
DTX_MUSTUSE enum dtx_code dtx_csv_wrapped(struct dtx_csv *c, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_csv_unwrap(struct dtx_encoding *e, struct dtx_err *err);
/* In csv_wrapped.c: notes single records in apostrophes while all others have quotes. The width
 * must be known. */
DTX_MUSTUSE enum dtx_code dtx_csv_apostrophes(struct dtx_csv *c, struct dtx_err *err);
/* In ascii_table.c: blanks out what is only drawn (bars around lines, rules of dashes) and notes
 * it. c->opts say how to read the rest. All bytes keep their positions. */
DTX_MUSTUSE enum dtx_code dtx_csv_frame(struct dtx_csv *c, struct dtx_err *err);
/* In fixed_width.c: finds columns at fixed places in a text whose cells are separated only by
 * blanks, or by several tabs where one would do. If it finds them, it inserts delimiters into the
 * text, declares the dialect and sets *took. */
DTX_MUSTUSE enum dtx_code dtx_csv_places(struct dtx_csv *c, bool *took, struct dtx_err *err);
/* In csv_conventions.c: sets options and changes the text if its first line names the delimiter; or
 * if there are comments above the names, or Unicode line ends. */
DTX_MUSTUSE enum dtx_code dtx_csv_marks_sep(struct dtx_csv *c, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_csv_marks(struct dtx_csv *c, struct dtx_err *err);
/* In csv_fault.c: raises *width to the width of the widest record from `at` on. */
DTX_MUSTUSE enum dtx_code dtx_csv_widest(struct dtx_csv *c, size_t at, uint32_t *width,
                                         struct dtx_err *err);
/* Counts a record that is kept although its width is not that of the header: `pad` fills short ones
 * up and adds columns for wide ones. */
void dtx_csv_padded(const struct dtx_csv *c, struct dtx_csv_tally *t, uint32_t ncells,
                    size_t record);
/* Whether a cell is null: empty without quotes, or one of null_values. */
bool dtx_csv_is_null(const struct dtx_read_opts *o, struct dtx_str s, bool quoted);
/* In csv_types.c: finds the exact types from the whole input. */
DTX_MUSTUSE enum dtx_code dtx_csv_infer(struct dtx_reader *r, const bool *want,
                                        struct dtx_typeref *type, unsigned workers,
                                        struct dtx_err *err);
/* In csv_batch.c: makes the next batch of the worker's morsel. w->active becomes false with the
 * last one. */
DTX_MUSTUSE enum dtx_code dtx_csv_batch(struct dtx_csv *c, struct dtx_csv_worker *w,
                                        struct dtx_batch **out, struct dtx_err *err);
/* In csv_ref_batch.c: reads the next rows by libcsv, from c->ref_at on. Hold the lock. */
DTX_MUSTUSE enum dtx_code dtx_csv_ref_batch(struct dtx_csv *c, struct dtx_batch **out,
                                            struct dtx_err *err);
/* In csv_batch.c: makes values null that do not fit their declared column. */
DTX_MUSTUSE enum dtx_code dtx_csv_null_misfits(struct dtx_csv *c, struct dtx_batch *b,
                                               struct dtx_err *err);
/* Whether the record there repeats the header, and such records are dropped. */
bool dtx_csv_is_header(const struct dtx_csv *c, size_t at);
/* In csv_head_odd.c: the same for a line above the header that is repeated, as at the top of each
 * page. */
bool dtx_csv_is_heading(const struct dtx_csv *c, size_t from, size_t to);
enum dtx_csv_kind dtx_csv_row_kind(const struct dtx_csv *c, const struct dtx_csv_row *row);
enum dtx_csv_kind dtx_csv_ref_kind(const struct dtx_csv *c, const struct dtx_csv_ref_record *rec);
/* Where the first record of a morsel begins. */
size_t dtx_csv_morsel_start(struct dtx_csv *c, uint64_t seq);
/* In csv_fault.c: errors with their places. */
enum dtx_code dtx_csv_fail_row(struct dtx_csv *c, const struct dtx_csv_row *row,
                               struct dtx_err *err);
enum dtx_code dtx_csv_fail_ragged(struct dtx_csv *c, struct dtx_err *err);
/* In csv_fault.c: the header contains rows because of a stray quote. An error, or a note if no
 * repairs are made. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_stray(struct dtx_csv *c, size_t start, size_t end,
                                             struct dtx_err *err);
/* In csv_fault.c: checks a record that was read in [start, end). If its quotes are stray ones, it
 * is counted; if repairs are made, it is an error with the repair as its hint. */
DTX_MUSTUSE enum dtx_code dtx_csv_stray_record(struct dtx_csv *c, size_t start, size_t end,
                                               struct dtx_csv_tally *t, struct dtx_err *err);
/* In csv_fault.c: checks a record that is as wide as the table except for empty cells, or has
 * quotes that are data. If repairs are made, it is an error with the repair as its hint if a
 * delimiter is missing next to a quote, or if the superfluous cell is an empty one before the last
 * cells. */
DTX_MUSTUSE enum dtx_code dtx_csv_odd_record(struct dtx_csv *c, const struct dtx_csv_row *row,
                                             const struct dtx_csv_tally *t, struct dtx_err *err);
/* In csv_doubt.c: fails once with `resniff` if the text from `byte` on fits another dialect better
 * than that of the sample. */
DTX_MUSTUSE enum dtx_code dtx_csv_doubt(struct dtx_csv *c, size_t byte, struct dtx_err *err);
/* In csv_batch.c: notes a ragged record. Codes: ragged_rows if there are too many. */
DTX_MUSTUSE enum dtx_code dtx_csv_reject(struct dtx_csv *c, const struct dtx_csv_row *row,
                                         struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_csv_rejects(struct dtx_reader *r, struct dtx_buf *out,
                                          struct dtx_err *err);
void dtx_csv_set_position(const struct dtx_csv *c, size_t byte, struct dtx_err *err);
void dtx_csv_locate(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out);
/* In csv_batch.c: keeps what reading a morsel showed about its lines. Hold `lock`. */
void dtx_csv_lines_note(struct dtx_csv *c, const struct dtx_csv_worker *w);
/* The number of lines before a morsel, if libcsv is not the reader. */
int64_t dtx_csv_lines_before(struct dtx_csv *c, uint64_t k);
/* The line of a row, from 0; -1: it must be searched. */
int64_t dtx_csv_line_of(const struct dtx_origin *o, uint64_t row_id);

/* The declared delimiter, which a format can be, too; NULL: it must be found. */
const char *dtx_csv_delimiter(const struct dtx_read_opts *opts);

/* In csv_raw.c: reads every record as cells of text. */
enum dtx_code dtx_csv_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                          struct dtx_rawgrid *out, struct dtx_err *err);

/* For tests: sets the size of chunks and the scanner variant. Call it before start. */
enum dtx_code dtx_csv_tune(struct dtx_reader *r, size_t chunk, const struct dtx_scan_fns *fns,
                           struct dtx_err *err);

extern const struct dtx_reader_class dtx_read_csv;

#endif
