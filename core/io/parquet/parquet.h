/* Parquet files: footer, schema, pages and values, for the code of this folder. All of it runs in
 * the locked reader process (see core/io/isolate), except in tests and fuzzers.
 *
 *   footer -> schema (columns and types) -> cursor (entries of a leaf, page by page)
 *          -> flat (columns) or nested (JSON texts)
 *
 * Everything in a file is untrusted: a number is checked before it is used, and memory is taken
 * only after the limits of the input (struct dtx_archive_limits) allow it.
 * Source: parquet.thrift, Encodings.md, LogicalTypes.md, Compression.md of apache/parquet-format.
 */
#ifndef DTX_IO_PARQUET_PARQUET_H
#define DTX_IO_PARQUET_PARQUET_H

#include "core/base/memory/arena.h"
#include "core/base/memory/buf.h"
#include "core/base/text/json.h"
#include "core/data/builder.h"
#include "core/io/typed_columns.h"

/* --- footer (parquet_footer.c) --- */

enum dtx_pq_type { /* physical types, with the numbers of the format */
	           DTX_PQ_BOOLEAN,
	           DTX_PQ_INT32,
	           DTX_PQ_INT64,
	           DTX_PQ_INT96,
	           DTX_PQ_FLOAT,
	           DTX_PQ_DOUBLE,
	           DTX_PQ_BYTES,
	           DTX_PQ_FIXED,
	           DTX_PQ_GROUP /* ours: a node with children */
};
enum dtx_pq_logical {
	DTX_PQ_L_NONE,
	DTX_PQ_L_STRING,
	DTX_PQ_L_MAP,
	DTX_PQ_L_LIST,
	DTX_PQ_L_ENUM,
	DTX_PQ_L_DECIMAL,
	DTX_PQ_L_DATE,
	DTX_PQ_L_TIME,
	DTX_PQ_L_TIMESTAMP,
	DTX_PQ_L_INTEGER,
	DTX_PQ_L_NULL,
	DTX_PQ_L_JSON,
	DTX_PQ_L_BSON,
	DTX_PQ_L_UUID,
	DTX_PQ_L_FLOAT16,
	DTX_PQ_L_INTERVAL,
	DTX_PQ_L_VARIANT,
	DTX_PQ_L_GEOMETRY,
	DTX_PQ_L_GEOGRAPHY,
	DTX_PQ_L_OTHER
};
enum dtx_pq_repetition { DTX_PQ_REQUIRED, DTX_PQ_OPTIONAL, DTX_PQ_REPEATED };

/* How a value of a leaf becomes a value of dtx. */
enum dtx_pq_as {
	DTX_PQ_AS_BOOL,
	DTX_PQ_AS_INT,
	DTX_PQ_AS_UINT, /* 64 bits without a sign: a decimal */
	DTX_PQ_AS_FLOAT,
	DTX_PQ_AS_HALF,
	DTX_PQ_AS_DECIMAL,
	DTX_PQ_AS_DATE,
	DTX_PQ_AS_TIME, /* text */
	DTX_PQ_AS_STAMP,
	DTX_PQ_AS_INT96,
	DTX_PQ_AS_TEXT,
	DTX_PQ_AS_BYTES, /* not said to be text: refused where it is not */
	DTX_PQ_AS_UUID,
	DTX_PQ_AS_NULL,   /* every value is null */
	DTX_PQ_AS_NOTHING /* dtx has no such type; `refused` names it */
};

/* A node of the schema. Nodes are in the order of the file, children after their parent: those of
 * node i are in (i, end), and the next sibling of a child c is at c.end. */
struct dtx_pq_node {
	const char *name;
	enum dtx_pq_type type;
	enum dtx_pq_logical logical;
	enum dtx_pq_repetition repetition;
	uint32_t end;
	uint32_t leaf, nleaves;   /* leaves below it, itself included */
	uint8_t max_def, max_rep; /* levels of its entries */
	uint32_t width;           /* bytes of a FIXED value */
	uint8_t precision, scale; /* of a DECIMAL */
	bool is_unsigned, utc;
	uint32_t per_second; /* units of a TIME or TIMESTAMP in a second: 1,000 and so on */
	enum dtx_pq_as as;
	struct dtx_typeref as_type;
	const char *refused; /* the type that cannot be read, "INTERVAL"; NULL: it can */
};
struct dtx_pq_chunk {      /* the values of a leaf in a row group */
	uint64_t at, size; /* in the file, checked to be inside */
	int64_t entries;   /* values, nulls, and empty lists */
	unsigned codec;
	/* statistics: min and max as PLAIN values, empty if they are missing or not exact; number
	 * of nulls, -1 if it is missing */
	struct dtx_str least, most;
	int64_t nulls;
};
struct dtx_pq_group { /* a row group */
	uint64_t first_row;
	int64_t rows;
	const struct dtx_pq_chunk *chunk; /* of each leaf */
};
struct dtx_pq_file {
	const char *label; /* name of the file, for messages */
	const uint8_t *bytes;
	size_t len;
	size_t data_end; /* where the footer begins */
	const struct dtx_archive_limits *limits;
	struct dtx_arena arena; /* of all that follows */
	struct dtx_pq_node *node;
	uint32_t nnodes;
	uint32_t *leaf_node; /* node of each leaf */
	bool *ordered; /* of each leaf: its statistics follow the order of its type; NULL: none do
	                */
	uint32_t nleaves;
	struct dtx_pq_group *group;
	size_t ngroups;
	int64_t rows;
	struct dtx_str created_by;
	struct dtx_str *key, *value; /* key-value metadata */
	size_t nkeys;
	json_t *kinds; /* what dtx noted of columns: see DTX_PQ_KINDS; NULL: nothing */
};

/* Whether these are the first bytes of a Parquet file, encrypted or not. */
bool dtx_pq_sniff(const void *head, size_t len);
/* Reads the footer into *f, which is zero but for label, bytes, len and limits, and is cleared with
 * dtx_pq_file_clear also on failure. Errors: corrupt_file, encrypted_file, unsupported_format. */
DTX_MUSTUSE enum dtx_code dtx_pq_footer(struct dtx_pq_file *f, struct dtx_err *err);
void dtx_pq_file_clear(struct dtx_pq_file *f);

/* --- schema (parquet_schema.c) --- */

/* The key of metadata in which dtx notes what the types of a file do not say: {"tags": "json"}, the
 * texts of the column 'tags' are JSON. */
#define DTX_PQ_KINDS "dtx.columns"
#define DTX_PQ_JSON  "json"

struct dtx_pq_field { /* a column of the table */
	uint32_t node;
	bool nested; /* a list or map, whose cells are JSON texts */
};
/* Finds for each leaf how its values are read. */
void dtx_pq_types(struct dtx_pq_file *f);
/* Lists the columns, at most f->nnodes of them: structs are several columns, "a.b". The names are
 * not made unique. All is in the file's arena. Error: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_pq_fields(struct dtx_pq_file *f, struct dtx_pq_field **field,
                                        const char ***name, uint32_t *n, struct dtx_err *err);
/* The first leaf below a node whose type cannot be read; NULL if all can be read. */
const struct dtx_pq_node *dtx_pq_refused(const struct dtx_pq_file *f, uint32_t node);
struct dtx_typeref dtx_pq_field_type(const struct dtx_pq_file *f, const struct dtx_pq_field *field);
bool dtx_pq_field_json(const struct dtx_pq_file *f, const struct dtx_pq_field *field);
/* The only child of a list's or map's group that is repeated; 0: the group is not built like one.
 */
uint32_t dtx_pq_repeated_child(const struct dtx_pq_file *f, uint32_t node);
/* Whether the repeated group of a list is only a wrapper of the elements, which are its child. */
bool dtx_pq_list_wraps(const struct dtx_pq_file *f, uint32_t list, uint32_t repeated);

/* --- codecs (parquet_codec.c) --- */

/* Loads the libraries of the codecs. The reader process calls it before it is locked; a library
 * that is missing then is reported when a file needs it. Tests that read in their own process call
 * it, too. */
void dtx_pq_codecs_warm(void);
const char *dtx_pq_codec_name(unsigned codec);
/* Unpacks `in` to exactly `size` bytes. Errors: corrupt_file, unsupported_format (a codec that is
 * unknown, or whose library is missing). */
DTX_MUSTUSE enum dtx_code dtx_pq_unpack(const struct dtx_pq_file *f, unsigned codec,
                                        struct dtx_str in, uint8_t *to, size_t size,
                                        struct dtx_err *err);
/* The same for a frame of LZ4, as Arrow files have it. Of f, label and limits are used. */
DTX_MUSTUSE enum dtx_code dtx_pq_unpack_lz4_frame(const struct dtx_pq_file *f, struct dtx_str in,
                                                  uint8_t *to, size_t size, struct dtx_err *err);

/* --- encodings (parquet_decode.c) --- */

enum { DTX_PQ_SLICE = 1024 }; /* entries that a cursor holds at a time */

/* Values of a leaf, without nulls. Which array holds them depends on the physical type: BOOLEAN,
 * INT32 and INT64 are in `i`, FLOAT and DOUBLE in `f`, all others in `s`. */
union dtx_pq_values {
	void *any;
	int64_t *i;
	double *f;
	struct dtx_str *s;
};
#define DTX_PQ_VALUE_BYTES sizeof(struct dtx_str) /* the widest of them */

/* Runs of equal values, or values of a few bits each: levels, codes of a dictionary, booleans. */
struct dtx_pq_runs {
	const uint8_t *p, *end;
	unsigned width;     /* bits of a value, up to 32 */
	bool high_first;    /* the old encoding of levels: bits from the highest, no runs */
	bool packed;        /* of the run that is being read */
	uint64_t left;      /* values that are left in it */
	uint32_t value;     /* of a run of equal values */
	const uint8_t *bit; /* of packed values: where they begin, */
	uint64_t at;        /* and which bit is next */
};
/* Reads n values; false: the bytes end early, or are not runs. */
DTX_MUSTUSE bool dtx_pq_runs_get(struct dtx_pq_runs *r, uint32_t *out, size_t n);
/* Passes values that are `value`, as far as one run of equal values goes, at most n. Returns how
 * many: 0 if the next value is another one, or if its run is short or packed, so that it has to be
 * read with dtx_pq_runs_get. */
size_t dtx_pq_runs_pass(struct dtx_pq_runs *r, uint32_t value, size_t n);

struct dtx_pq_delta { /* DELTA_BINARY_PACKED */
	const uint8_t *p, *end;
	uint64_t block, per;    /* values in a block, and in one of its small blocks */
	uint64_t left;          /* values that are left */
	uint64_t last, least;   /* last value; least distance in this block */
	const uint8_t *widths;  /* of the small blocks of this block */
	uint64_t small, nsmall; /* number of the small block */
	uint64_t in_small;      /* values that are left in it */
	unsigned width;         /* bits of its values */
	const uint8_t *bit;
	uint64_t at;
	bool first;
};
struct dtx_pq_dict {
	uint32_t n;
	union dtx_pq_values v;
	uint8_t *bytes; /* the page, if it was unpacked */
	/* its values as a column, once that is needed (parquet_value.c) */
	struct dtx_column *column;
	size_t text_bytes;
	bool unfit; /* dtx cannot read, or has to change, one of them */
};
struct dtx_pq_decoder {
	unsigned encoding;
	enum dtx_pq_type type;
	uint32_t width;
	const uint8_t *p, *end;
	const struct dtx_pq_dict *dict;
	struct dtx_pq_runs runs;
	struct dtx_pq_delta delta, lengths;
	uint64_t n, stride;  /* BYTE_STREAM_SPLIT: values that were read, and those of the page */
	uint64_t bit;        /* PLAIN booleans: the next one */
	uint64_t most;       /* values of the page */
	uint64_t text;       /* bytes of a text that is put together */
	struct dtx_buf made; /* values that are not in the page as such */
	struct dtx_buf last; /* DELTA_BYTE_ARRAY: the value before */
};
/* These give NULL, or what is wrong with the bytes. A page has at most `most` values. */
extern const char dtx_pq_no_memory[]; /* what they give if memory is out, */
extern const char dtx_pq_too_long[];  /* and for a text above the limit `text` */
DTX_MUSTUSE const char *dtx_pq_decoder_start(struct dtx_pq_decoder *d, unsigned encoding,
                                             const uint8_t *p, const uint8_t *end, uint64_t most);
/* How many texts may be read at a time, so that what they are put together from is bounded. */
uint32_t dtx_pq_decoder_most(const struct dtx_pq_decoder *d);
/* Whether the values are codes of the dictionary, which dtx_pq_decode_codes reads as such. */
bool dtx_pq_decoder_coded(const struct dtx_pq_decoder *d);
DTX_MUSTUSE const char *dtx_pq_decode_codes(struct dtx_pq_decoder *d, uint32_t *out, size_t n);
/* Reads n values. Texts are valid until the next call, or as long as the page. */
DTX_MUSTUSE const char *dtx_pq_decode(struct dtx_pq_decoder *d, union dtx_pq_values out, size_t n);
void dtx_pq_decoder_clear(struct dtx_pq_decoder *d);

/* --- pages (parquet_page.c) --- */

/* Goes through the entries of a leaf in a row group. */
struct dtx_pq_cursor {
	const struct dtx_pq_file *f;
	const struct dtx_pq_node *node;
	size_t group;
	uint64_t at, end;  /* of what is left of the chunk */
	int64_t left;      /* entries of the chunk that no page had yet */
	int64_t page_left; /* entries of the page that no slice had yet */
	int64_t page;      /* number of the page, from 0; for messages */
	unsigned codec;
	uint8_t *bytes; /* of the page, if it was unpacked */
	struct dtx_pq_runs rep, def;
	struct dtx_pq_decoder values;
	struct dtx_pq_dict dict;
	bool has_dict;
	bool coded; /* columns of numbers may be DICT */
	/* the slice: levels of its entries, and values of those that have one */
	uint32_t n, at_entry, at_value;
	bool whole; /* none of its entries is null, and its levels were not stored */
	uint32_t *reps, *defs;
	union dtx_pq_values v;
};
DTX_MUSTUSE enum dtx_code dtx_pq_cursor_open(struct dtx_pq_cursor *c, const struct dtx_pq_file *f,
                                             size_t group, uint32_t leaf, struct dtx_err *err);
/* Reads the next slice, of at most `most` entries. c->n is 0 at the end of the chunk. */
DTX_MUSTUSE enum dtx_code dtx_pq_cursor_fill(struct dtx_pq_cursor *c, uint32_t most,
                                             struct dtx_err *err);
/* For a leaf that is not repeated, when all of the slice was used. Reads pages up to the next one
 * with entries; c->page_left is 0 at the end of the chunk. */
DTX_MUSTUSE enum dtx_code dtx_pq_cursor_page(struct dtx_pq_cursor *c, struct dtx_err *err);
/* Passes entries of this page of which none is null, at most `most`, and returns how many. The
 * caller decodes as many values with c->values. 0: there may be nulls. */
uint32_t dtx_pq_cursor_whole(struct dtx_pq_cursor *c, uint32_t most);
/* Reads levels of entries of this page, at most `most` and DTX_PQ_SLICE, to c->defs. The caller
 * decodes *values values. */
DTX_MUSTUSE enum dtx_code dtx_pq_cursor_levels(struct dtx_pq_cursor *c, uint32_t most, uint32_t *n,
                                               uint32_t *values, struct dtx_err *err);
/* Reads the next slice of this page, of at most `most` entries. */
DTX_MUSTUSE enum dtx_code dtx_pq_cursor_slice(struct dtx_pq_cursor *c, uint32_t most,
                                              struct dtx_err *err);
/* Fails if entries are left, after the last row of the row group. */
DTX_MUSTUSE enum dtx_code dtx_pq_cursor_finish(struct dtx_pq_cursor *c, struct dtx_err *err);
void dtx_pq_cursor_close(struct dtx_pq_cursor *c);
/* corrupt_file with the place: column, row group, page; or, by what is wrong, no_memory or
 * archive_limit. */
enum dtx_code dtx_pq_corrupt(const struct dtx_pq_cursor *c, const char *what, struct dtx_err *err);

/* --- statistics (parquet_stats.c) --- */

/* Whether no row of a row group can meet a condition on a leaf, by its statistics: all its values,
 * none of which is null, are outside. False where that is in doubt. */
bool dtx_pq_outside(const struct dtx_pq_file *f, size_t group, uint32_t leaf,
                    const struct dtx_scan_range *range);

/* --- values (parquet_value.c) --- */

struct dtx_pq_value {
	bool null;
	union {
		bool b;
		int64_t i; /* INT64, DATETIME, DATE */
		double f;
		struct dtx_dec128 dec;
		struct dtx_str s;
	} v;
	char text[48]; /* where s points, if it was made */
};
/* Converts value i of the node. NULL, or what is wrong with it. */
DTX_MUSTUSE const char *dtx_pq_convert(const struct dtx_pq_node *n, union dtx_pq_values v,
                                       uint32_t i, struct dtx_typed_counts *counts,
                                       struct dtx_pq_value *out);
/* Sets an error about a value of a row, from 0, of the file `label`. */
enum dtx_code dtx_pq_bad_value(const char *label, const struct dtx_pq_node *n, const char *column,
                               int64_t row, const char *what, struct dtx_err *err);
/* Adds a value, which may be null, to a column of its node's type. */
void dtx_pq_put(struct dtx_builder *b, const struct dtx_pq_value *v);
/* Appends a value that is not null as JSON. */
void dtx_pq_print_json(struct dtx_buf *to, struct dtx_typeref type, const struct dtx_pq_value *v);
/* Whether values are numbers of 8 bytes that dtx_pq_fix_words converts where they are. */
bool dtx_pq_is_word(const struct dtx_pq_node *n);
/* Converts n numbers of 8 bytes, the values of rows `at` and on of b (dtx_builder_bulk); those of
 * nulls are 0. Returns the first that has no place in its type, or n. */
uint32_t dtx_pq_fix_words(const struct dtx_pq_node *node, struct dtx_builder *b, void *values,
                          uint32_t at, uint32_t n, struct dtx_typed_counts *counts);
extern const char dtx_pq_no_such_time[]; /* what is wrong with that value */
/* Makes a column of the next rows of a leaf that is not repeated, at most `rows` and at least one:
 * it is shorter if its texts have more than `bytes` bytes, or if they are no longer in a
 * dictionary. `row` is the first one. */
DTX_MUSTUSE enum dtx_code dtx_pq_flat(struct dtx_pq_cursor *c, const char *name, int64_t row,
                                      uint32_t rows, size_t bytes, struct dtx_typed_counts *counts,
                                      struct dtx_column **out, struct dtx_err *err);
/* Makes a column of JSON texts of the next rows of a list or map, as many as dtx_pq_flat does. `c`
 * has a cursor for each leaf of the file, of which those below the node are open. */
DTX_MUSTUSE enum dtx_code dtx_pq_nested(struct dtx_pq_cursor *c, const struct dtx_pq_file *f,
                                        uint32_t node, const char *name, int64_t row, uint32_t rows,
                                        size_t bytes, struct dtx_typed_counts *counts,
                                        struct dtx_column **out, struct dtx_err *err);

#endif
