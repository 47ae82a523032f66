/* Parts of the CSV reader that its files share.  Nobody else includes this but tests. */
#ifndef DTX_IO_CSV_CSV_H
#define DTX_IO_CSV_CSV_H

#include "core/io/csv/csv_ref.h"
#include "core/io/csv/csv_row.h"
#include "core/io/csv/mend/csv_shapes.h"
#include "core/io/csv/detect/dialect.h"
#include "core/io/encoding/encoding.h"
#include "core/io/reader.h"
#include "core/io/csv/split.h"

#define DTX_CSV_TAIL_MAX 1000000 /* rows that skip_tail may cut off */

/* What was read otherwise than it stands: it is counted, and noted after the last row. */
enum dtx_csv_odd {
	DTX_CSV_ODD_QUOTE,   /* quotes taken as data */
	DTX_CSV_ODD_CUT,     /* cells that truncate left out */
	DTX_CSV_ODD_REJECT,  /* records that quarantine kept out */
	DTX_CSV_ODD_SHORT,   /* records filled up */
	DTX_CSV_ODD_WIDE,    /* records with more cells than there are names, when all are kept */
	DTX_CSV_ODD_EXTRA,   /* empty cells after the last column */
	DTX_CSV_ODD_HEADER,  /* records that are the header once more, dropped */
	DTX_CSV_ODD_COMMENT, /* lines left out as comments */
	DTX_CSV_ODD_JOINED,  /* records with a delimiter inside of a text or number */
	DTX_CSV_ODD_MOVED,   /* records whose cells go to the columns they look like */
	DTX_CSV_ODD_GLUED,   /* records that lack a delimiter beside a quote */
	DTX_CSV_ODD_OTHER,   /* records with another delimiter, other quotes or escapes */
	DTX_CSV_ODD_LINES,   /* records over several lines where quotes are repaired */
	DTX_CSV_ODD_STRAY,   /* records over lines that look like rows of their own */
	DTX_CSV_ODD_COUNT
};
/* Counters of a morsel, added to the reader's when it is done. */
struct dtx_csv_tally {
	int64_t records; /* all that were met: rows and what was dropped */
	int64_t rows, blank, comment;
	int64_t kept; /* rows that a pushed filter left */
	struct {
		int64_t n;
		size_t first; /* record */
	} odd[DTX_CSV_ODD_COUNT];
};
/* Adds n, the first of them in that record. */
static inline void dtx_csv_odd(struct dtx_csv_tally *t, enum dtx_csv_odd what, int64_t n,
                               size_t record)
{
	if (n && (!t->odd[what].n || record < t->odd[what].first))
		t->odd[what].first = record;
	t->odd[what].n += n;
}

struct dtx_csv_worker {
	bool active; /* in a morsel */
	struct dtx_morsel m;
	uint64_t seq;
	uint32_t sub, rec; /* batches and rows handed over of this morsel */
	size_t at;         /* next record */
	struct dtx_csv_tally tally;
	uint32_t *pos; /* structure of a block */
	size_t pos_cap;
	struct dtx_span *cell;  /* one record, `width` */
	struct dtx_span **span; /* of the batch in work, one per needed column */
};

struct dtx_csv_reject { /* kept out by `quarantine` */
	size_t start, end;
	uint32_t ncells;
};

/* What a record is for a table of `width` columns. */
enum dtx_csv_kind {
	DTX_CSV_ROW,
	DTX_CSV_EMPTY_EXTRA, /* empty cells after the last column */
	DTX_CSV_SHORT,
	DTX_CSV_LONG, /* ragged */
	DTX_CSV_BLANK,
	DTX_CSV_COMMENT,
	DTX_CSV_HEADER /* once more; the last three are dropped */
};
struct dtx_csv {
	struct dtx_reader head;
	struct dtx_read_opts opts;
	struct dtx_encoding enc; /* the text as UTF-8 */
	struct dtx_dialect dialect;
	bool plain;               /* it explains all records as they stand: nothing else is tried */
	bool declared_comment;    /* by the caller */
	size_t sep;               /* where the lines below "sep=;" begin; 0: there is none */
	struct dtx_csv_text text; /* up to the end of the body */
	const struct dtx_scan_fns *fns;
	size_t chunk;
	size_t top, body; /* first record after `skip`; first after the header */
	size_t names;     /* first record of the header */
	uint32_t header_rows;
	/* Its last record, when it is to be dropped where it comes again; as bytes and as cells. */
	struct dtx_str header, *header_cell;
	uint32_t nheader;
	uint32_t width; /* cells of a record */
	uint32_t fit;   /* ... as header or most rows have it, before `pad` widens; 0: unknown */
	uint32_t col0, col1; /* first and last column of the range */
	const struct dtx_schema *schema;
	uint32_t *phys;               /* physical column of each field */
	struct dtx_read_stats before; /* rows above the body and below it */
	struct dtx_csv_tally above;   /* ... what was odd in them */
	struct dtx_split split;
	struct dtx_csv_shapes *shapes; /* where remedies are taken; or NULL */
	struct dtx_csv_ref *ref;       /* dialects that the scanner does not read */
	size_t *ref_start;             /* where its morsels begin; under `lock` */
	size_t ref_cap, ref_at;

	/* one start .. end */
	struct dtx_scan scan;
	uint32_t batch_rows;
	uint32_t *use, *use_phys; /* needed fields and their physical columns */
	uint32_t nuse, nkeep;     /* those that the pushed filter looks at come first */
	pthread_mutex_t lock;     /* everything below */
	struct dtx_csv_worker *worker;
	unsigned nworkers;
	uint64_t claimed, done;
	struct dtx_csv_tally total;
	bool stop, closed; /* limit reached; diagnostics are made */
	size_t told;       /* diagnostics before those */
	/* per morsel: rows, where all of its records are rows of one line each, else 0 */
	uint32_t *even;
	int64_t *line0;           /* its first line, of the first nline0 */
	uint64_t nline0, line_of; /* ... of which this is the last with a record, */
	size_t line_at;           /* which starts here */

	pthread_mutex_t finding; /* the places that were looked up last, by morsel */
	struct dtx_csv_found {
		bool set;
		uint64_t row_id;
		size_t at;
		int64_t line;
	} found[16];
	pthread_mutex_t doubt; /* the rest; may be taken while `lock` is held */
	bool settled;          /* all of the text has the dialect of its parts */
	struct dtx_csv_reject *reject;
	size_t nrejects, reject_cap;
};

/* Comments are listed unless the caller says which lines are some, or they are stand-ins for lines
 * that are only drawn. */
static inline bool dtx_csv_lists_comments(const struct dtx_csv *c)
{
	return c->dialect.comment && (unsigned char)c->dialect.comment[0] > ' ' &&
	       (!c->declared_comment || c->opts.strays);
}

/* The place of a byte of the text in the file. */
static inline size_t dtx_csv_byte(const struct dtx_csv *c, size_t at)
{
	return at + c->enc.skipped + (size_t)dtx_source_byte0(c->head.src);
}

/* Records of this kind are no rows of the table. */
static inline bool dtx_csv_is_dropped(const struct dtx_csv *c, enum dtx_csv_kind kind)
{
	bool ragged = kind == DTX_CSV_SHORT || kind == DTX_CSV_LONG;

	return kind >= DTX_CSV_BLANK || (ragged && c->opts.ragged == DTX_RAGGED_QUARANTINE);
}

/* The text as the plain machine and the scanner read it. */
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

/* What was odd in all of a file, with its first place. */
struct dtx_csv_oddity {
	int64_t n, line, byte;
};
/* read_csv.c: adds what r met; after its last next. */
void dtx_csv_odds(struct dtx_reader *r, struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT]);
/* ... notes of r about it. */
void dtx_csv_tell(struct dtx_reader *r, const char *alias,
                  const struct dtx_csv_oddity odd[DTX_CSV_ODD_COUNT]);
/* ... the header as it stands, as another text of the same table can begin with; one of numbers for
 * a table without.  *rows: its records. */
DTX_MUSTUSE enum dtx_code dtx_csv_header(struct dtx_reader *r, struct dtx_buf *out, uint32_t *rows,
                                         struct dtx_err *err);

/* csv_open.c: everything up to the schema. */
DTX_MUSTUSE enum dtx_code dtx_csv_prepare(struct dtx_csv *c, struct dtx_err *err);
/* ... moves *at to the next record. */
DTX_MUSTUSE enum dtx_code dtx_csv_step(struct dtx_csv *c, size_t *at, struct dtx_err *err);
/* Takes a note of what was found while opening. */
DTX_MUSTUSE enum dtx_code dtx_csv_note(struct dtx_csv *c, struct dtx_err *w, struct dtx_err *err);
/* ... that so many rows have `what`, the first of them where the byte is; `kind` is for programs.
 */
DTX_MUSTUSE enum dtx_code dtx_csv_note_rows(struct dtx_csv *c, int64_t n, size_t first,
                                            const char *what, const char *kind,
                                            struct dtx_err *err);
/* ... that lists the lines in [from, to), which are no rows: how many, and the first two.  `where`:
 * "above the header". */
DTX_MUSTUSE enum dtx_code dtx_csv_note_left_out(struct dtx_csv *c, const char *where,
                                                const char *hint, size_t from, size_t to,
                                                struct dtx_err *err);
/* ... of text after the name of the input. */
DTX_MUSTUSE enum dtx_code dtx_csv_note_text(struct dtx_csv *c, enum dtx_code code, const char *text,
                                            struct dtx_err *err);
/* csv_wrapped.c: notes that each line is one quoted cell that holds several; takes those quotes
 * off. */
DTX_MUSTUSE enum dtx_code dtx_csv_wrapped(struct dtx_csv *c, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_csv_unwrap(struct dtx_encoding *e, struct dtx_err *err);
/* ... of single records in apostrophes, while the others have quotes; the width is known. */
DTX_MUSTUSE enum dtx_code dtx_csv_apostrophes(struct dtx_csv *c, struct dtx_err *err);
/* ascii_table.c: puts out of the way what is only drawn (bars around lines, rules of dashes), and
 * notes it; c->opts say how the rest is read.  Bytes keep their places. */
DTX_MUSTUSE enum dtx_code dtx_csv_frame(struct dtx_csv *c, struct dtx_err *err);
/* A text whose cells nothing but blanks separate may have columns of fixed places, one of tabs may
 * have several where one would do: its text is split there, *took is set and the dialect declared.
 */
DTX_MUSTUSE enum dtx_code dtx_csv_places(struct dtx_csv *c, bool *took, struct dtx_err *err);
/* csv_conventions.c: options and text of one that names its delimiter in its first line, has
 * comments above its names or ends its lines as Unicode can. */
DTX_MUSTUSE enum dtx_code dtx_csv_marks_sep(struct dtx_csv *c, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_csv_marks(struct dtx_csv *c, struct dtx_err *err);
/* csv_fault.c: widens *width to the widest record from `at` on. */
DTX_MUSTUSE enum dtx_code dtx_csv_widest(struct dtx_csv *c, size_t at, uint32_t *width,
                                         struct dtx_err *err);
/* Counts a record that is kept although it has another width than the header: `pad` fills up short
 * ones, and adds columns for the cells of wide ones. */
void dtx_csv_padded(const struct dtx_csv *c, struct dtx_csv_tally *t, uint32_t ncells,
                    size_t record);
/* Unquoted empty, or one of null_values. */
bool dtx_csv_is_null(const struct dtx_read_opts *o, struct dtx_str s, bool quoted);
/* csv_types.c: exact types over the whole input. */
DTX_MUSTUSE enum dtx_code dtx_csv_infer(struct dtx_reader *r, const bool *want,
                                        struct dtx_typeref *type, unsigned workers,
                                        struct dtx_err *err);
/* csv_batch.c: the next batch of the worker's morsel; w->active becomes false with the last. */
DTX_MUSTUSE enum dtx_code dtx_csv_batch(struct dtx_csv *c, struct dtx_csv_worker *w,
                                        struct dtx_batch **out, struct dtx_err *err);
/* csv_ref_batch.c: the next rows through libcsv, from c->ref_at on; the lock is held. */
DTX_MUSTUSE enum dtx_code dtx_csv_ref_batch(struct dtx_csv *c, struct dtx_batch **out,
                                            struct dtx_err *err);
/* csv_settle.c: declared columns whose misfits become null. */
DTX_MUSTUSE enum dtx_code dtx_csv_settle(struct dtx_csv *c, struct dtx_batch *b,
                                         struct dtx_err *err);
/* The record there has the header's bytes once more, and such records are dropped. */
bool dtx_csv_is_header(const struct dtx_csv *c, size_t at);
/* csv_head_odd.c: ... or a line above the header that comes again, as at the top of each page. */
bool dtx_csv_is_heading(const struct dtx_csv *c, size_t from, size_t to);
enum dtx_csv_kind dtx_csv_row_kind(const struct dtx_csv *c, const struct dtx_csv_row *row);
enum dtx_csv_kind dtx_csv_ref_kind(const struct dtx_csv *c, const struct dtx_csv_ref_record *rec);
/* Where the first record of a morsel begins. */
size_t dtx_csv_morsel_start(struct dtx_csv *c, uint64_t seq);
/* csv_fault.c: errors with their places. */
enum dtx_code dtx_csv_fail_row(struct dtx_csv *c, const struct dtx_csv_row *row,
                               struct dtx_err *err);
enum dtx_code dtx_csv_fail_ragged(struct dtx_csv *c, struct dtx_err *err);
/* ... the header holds rows: an error, or a note where no remedies are taken. */
DTX_MUSTUSE enum dtx_code dtx_csv_head_stray(struct dtx_csv *c, size_t start, size_t end,
                                             struct dtx_err *err);
/* ... a record that was read in [start, end): when its quotes are stray ones, it is counted, and an
 * error with its remedy where remedies are taken. */
DTX_MUSTUSE enum dtx_code dtx_csv_stray_record(struct dtx_csv *c, size_t start, size_t end,
                                               struct dtx_csv_tally *t, struct dtx_err *err);
/* ... a record that is as wide as the table but for empty cells, or has quotes that are data: where
 * remedies are taken, an error with its remedy when a delimiter is missing beside a quote, or an
 * empty cell before the last ones is the one too many. */
DTX_MUSTUSE enum dtx_code dtx_csv_odd_record(struct dtx_csv *c, const struct dtx_csv_row *row,
                                             const struct dtx_csv_tally *t, struct dtx_err *err);
/* csv_doubt.c: `resniff` when the text from `byte` on is better read in another dialect than its
 * sample; once. */
DTX_MUSTUSE enum dtx_code dtx_csv_doubt(struct dtx_csv *c, size_t byte, struct dtx_err *err);
/* csv_reject.c: notes a ragged record; ragged_rows when there are too many. */
DTX_MUSTUSE enum dtx_code dtx_csv_reject(struct dtx_csv *c, const struct dtx_csv_row *row,
                                         struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_csv_rejects(struct dtx_reader *r, struct dtx_buf *out,
                                          struct dtx_err *err);
void dtx_csv_set_position(const struct dtx_csv *c, size_t byte, struct dtx_err *err);
void dtx_csv_locate(const struct dtx_origin *o, uint64_t row_id, struct dtx_place *out);
/* csv_lines.c: what a morsel that was read to its end tells about its lines; under `lock`. */
void dtx_csv_lines_note(struct dtx_csv *c, const struct dtx_csv_worker *w);
/* Lines in front of a morsel, where it is not libcsv that reads. */
int64_t dtx_csv_lines_before(struct dtx_csv *c, uint64_t k);
/* The row's line, from 0; -1: it has to be located. */
int64_t dtx_csv_line_of(const struct dtx_origin *o, uint64_t row_id);

/* csv_raw.c: every record as cells of text. */
enum dtx_code dtx_csv_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                          struct dtx_rawgrid *out, struct dtx_err *err);

/* Tests: borders every `chunk` bytes, a scanner variant.  Before start. */
enum dtx_code dtx_csv_tune(struct dtx_reader *r, size_t chunk, const struct dtx_scan_fns *fns,
                           struct dtx_err *err);

extern const struct dtx_reader_class dtx_read_csv;

#endif
