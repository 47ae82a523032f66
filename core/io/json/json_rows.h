/* The records of a JSON input: where they are, and which columns their members form. */
#ifndef DTX_IO_JSON_JSON_ROWS_H
#define DTX_IO_JSON_JSON_ROWS_H

#include "core/base/memory/arena.h"
#include "core/base/strmap.h"
#include "core/data/cast/infer.h"
#include "core/io/json/json_scan.h"
#include "core/io/reader.h"

enum {
	DTX_JROWS_NEST = 8, /* depth to which nested objects become columns */
	DTX_JROWS_COLS_MAX = 100000,
	DTX_JROWS_MORSEL_BYTES = 1 << 20,
	DTX_JROWS_VALUE_MAX = 16 << 20, /* bytes, as for a cell of CSV */
	/* bytes after a token that the end of the file may cut off */
	DTX_JROWS_CUT_BYTES = 12
};

struct dtx_jcol {
	struct dtx_str path; /* keys from the record down, separated by \x1f; owned by the map */
	struct dtx_infer seen;
	uint64_t last_row; /* the last record with it, plus one; finds repeated keys */
	uint32_t object;   /* the nested object with the same name, plus one */
	uint32_t alike;    /* number of names derived from its own */
	uint64_t strings, numbers, bools, nested; /* values by kind; nested ones stay JSON text */
	uint64_t first[4]; /* the first record with each kind, plus one; 0: none */
};
struct dtx_jobject {
	uint64_t last_row; /* as for a column */
	uint32_t col;      /* the column with the same name, or DTX_STRMAP_NONE */
};
struct dtx_jmorsel {
	uint64_t byte; /* of the first record */
	uint64_t row;  /* number of that record */
	uint32_t rows;
};
enum dtx_jlayout {
	DTX_JL_OBJECTS, /* keys name the columns */
	DTX_JL_ROWS,    /* arrays of cells */
	DTX_JL_VALUES   /* single values: one column */
};
/* An irregularity of the records, counted in the first pass; `at` is its first place. */
struct dtx_joddity {
	uint64_t n;
	const char *at;
};
struct dtx_jrows {
	const struct dtx_source *src; /* gets the progress of the first pass; NULL: nothing */
	const char *label;
	const char *base;      /* of the input */
	struct dtx_jscan area; /* the bytes that contain records */
	bool array;            /* records are separated by commas and end with ']' */
	enum dtx_jlayout layout;
	const struct dtx_read_opts *opts;
	struct dtx_arena arena;
	struct dtx_str *head; /* ROWS: the names of the cells, all different */
	size_t nheads, heads_cap;
	uint32_t width; /* ROWS: number of cells in the first row */
	bool header;    /* which contained the names */
	struct dtx_strmap map;
	struct dtx_strmap objects; /* nested objects: index into object */
	struct dtx_jobject *object;
	size_t objects_cap;
	struct dtx_jcol *col;
	size_t ncols, cols_cap;
	struct dtx_jmorsel *morsel;
	size_t nmorsels, morsels_cap;
	uint64_t nrows;
	bool inside;           /* the records are a part of the document, which was checked */
	const char *assumed;   /* what was assumed to be the records of an object; NULL: nothing */
	const char *otherwise; /* how to choose otherwise; NULL: there is no other way */
	/* A document in another layout is rewritten row by row. Then `base` is the new text, and
	 * the document is here, with its owner. */
	struct dtx_str turned_from;
	const char *turned_at; /* the array or object in it that has a value for each row */
	struct dtx_owner *turned;
	struct dtx_joddity repeated, mended, unread, ragged, clash;
};

/* Receives the value of a member, in flattened form. */
typedef enum dtx_code (*dtx_jrow_fn)(void *arg, uint32_t col, const struct dtx_jvalue *v,
                                     struct dtx_err *err);
struct dtx_jpending {
	uint32_t col;
	struct dtx_jvalue v;
};
/* The state of one thread that reads records. */
struct dtx_jwalk {
	struct dtx_jrows *rows;
	/* If keys may be repeated, the values of a record are held until it ends. */
	struct dtx_jpending *pending;
	size_t npending, pending_cap;
	uint32_t *slot; /* per column: index in pending, plus one */
	size_t nslots;
	bool learn;     /* unknown members become new columns (first pass) */
	uint32_t guess; /* the column that the next member probably belongs to */
	struct dtx_buf path;
	struct dtx_buf text; /* for an escaped string */
	dtx_jrow_fn fn;
	void *arg;
};
/* Skips blanks before a record, and the record separator of a JSON text sequence. */
void dtx_jrows_gap(const struct dtx_jrows *r, struct dtx_jscan *s);
/* Skips what separates records; *more is false at the end. */
DTX_MUSTUSE enum dtx_code dtx_jrows_next(const struct dtx_jrows *r, struct dtx_jscan *s, bool first,
                                         bool *more, struct dtx_err *err);
/* Finds the records and passes over all of them for columns, types and morsels. `src` gets the
 * progress. The caller clears *r. Errors: corrupt_file, no_record, header_not_found,
 * ragged_rows, input_limit. */
DTX_MUSTUSE enum dtx_code dtx_jrows_open(struct dtx_jrows *r, const struct dtx_source *src,
                                         struct dtx_str bytes, const struct dtx_read_opts *opts,
                                         struct dtx_err *err);
void dtx_jrows_clear(struct dtx_jrows *r);
/* The text of a string value: points into the source, or into scratch. */
struct dtx_str dtx_jrows_text(const struct dtx_jvalue *v, struct dtx_buf *scratch);
/* Sets corrupt_file for the position of the scanner, with line and byte. */
enum dtx_code dtx_jrows_fail(const struct dtx_jrows *r, const struct dtx_jscan *s,
                             struct dtx_err *err);

/* The same with another code and text. */
enum dtx_code dtx_jrows_refuse(const struct dtx_jrows *r, enum dtx_code code, const char *at,
                               const char *what, struct dtx_err *err);
/* Sets the error for a repeated key. */
enum dtx_code dtx_jrows_repeated(const struct dtx_jrows *r, const char *at, struct dtx_err *err);
/* The line and the byte of a place in the document. */
void dtx_jrows_place(const struct dtx_jrows *r, const char *at, int64_t *line, int64_t *byte);

/* ROWS: adds a cell with its name; without a name, one made from its position. */
DTX_MUSTUSE enum dtx_code dtx_jhead_add(struct dtx_jrows *r, struct dtx_str name,
                                        struct dtx_err *err);

/* Reads the first row at r->area as names, or only counts its cells; with names, r->area moves
 * past it. */
DTX_MUSTUSE enum dtx_code dtx_jhead_read(struct dtx_jrows *r, bool names, struct dtx_err *err);
/* Adds a column; `path` is copied. */
DTX_MUSTUSE enum dtx_code dtx_jcol_add(struct dtx_jrows *r, struct dtx_str path, uint32_t *out,
                                       struct dtx_err *err);

/* In json_layout.c: finds the records in the document and their layout. r->area then begins at
 * the first one. */
DTX_MUSTUSE enum dtx_code dtx_jlayout_find(struct dtx_jrows *r, struct dtx_err *err);
/* The records are the elements of an array inside the document. */
void dtx_jrows_inside(struct dtx_jrows *r, struct dtx_str array);
/* ROWS: reads an array of names. */
DTX_MUSTUSE enum dtx_code dtx_jhead_names(struct dtx_jrows *r, struct dtx_str array,
                                          struct dtx_err *err);

/* In json_shape.c: recognises an object that is a table in one of the layouts that other
 * programs write. Then r->area begins at its first row, and r->assumed describes the assumption. */
DTX_MUSTUSE enum dtx_code dtx_jshape(struct dtx_jrows *r, struct dtx_str object, bool *done,
                                     struct dtx_err *err);
/* What may be the records inside an object, at any depth. */
enum dtx_jfind {
	DTX_JF_RECORDS, /* an array of objects */
	DTX_JF_GRID,    /* an array of arrays */
	DTX_JF_TABLE,   /* an object that dtx_jshape accepts */
	DTX_JF_EMPTY,   /* an array without elements */
	DTX_JF_COUNT
};
enum { DTX_JFINDS_LISTED = 3 };
struct dtx_jfinds {
	uint64_t n[DTX_JF_COUNT];
	struct dtx_jvalue value[DTX_JF_COUNT]; /* the first of each kind */
	struct dtx_buf first[DTX_JF_COUNT];    /* and its JSON pointer */
	struct dtx_buf list, best;             /* pointers for messages, and the first of them */
	unsigned listed;
	struct dtx_buf at; /* scratch */
};
#define DTX_J_ONE_RECORD "\"records\": \"\" takes the document as one record"
/* Appends "/KEY" for a key as it is written. */
void dtx_jpointer_add(struct dtx_buf *out, struct dtx_str key);
void dtx_jfinds_init(struct dtx_jfinds *f);
void dtx_jfinds_clear(struct dtx_jfinds *f);
DTX_MUSTUSE enum dtx_code dtx_jfinds_check(const struct dtx_jfinds *f, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_jshape_find(struct dtx_jrows *r, struct dtx_str object, unsigned nest,
                                          struct dtx_jfinds *f, struct dtx_err *err);

/* Replaces the text to read by rows that were made, up to their ']'. `list` is the array or
 * object in the document that has a value for each row. */
#define DTX_JTURN_MAX ((size_t)1 << 40)
/* The place that a row came from: its value in that list. */
const char *dtx_jturn_place(const struct dtx_jrows *r, uint64_t row);

/* Whether text begins like JSON records: an object with a key, or an array of arrays. */
bool dtx_json_is_document(struct dtx_str text);

/* Whether the format, or without one the suffix, says that each line is a record. */
bool dtx_json_named_lines(const char *format, const char *path);

extern const struct dtx_reader_class dtx_read_json;

#endif
