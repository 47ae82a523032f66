/* Records of a JSON input: where they are, which columns their members make. */
#ifndef DTX_IO_JSON_JSON_ROWS_H
#define DTX_IO_JSON_JSON_ROWS_H

#include "core/base/arena.h"
#include "core/base/strmap.h"
#include "core/data/cast/infer.h"
#include "core/io/json/json_scan.h"
#include "core/io/reader.h"

enum {
	DTX_JROWS_NEST = 8, /* objects within objects that become columns */
	DTX_JROWS_COLS_MAX = 100000,
	DTX_JROWS_MORSEL_BYTES = 1 << 20,
	DTX_JROWS_VALUE_MAX = 16 << 20, /* bytes, as of a cell of CSV */
	DTX_JROWS_CUT_BYTES = 12        /* behind a token that the end of a file cuts off */
};

struct dtx_jcol {
	struct dtx_str path; /* keys from the record down, parted by \x1f; the map's copy */
	struct dtx_infer seen;
	uint64_t last_row; /* record that had it last, plus one: finds repeated keys */
	uint32_t object;   /* the nested object of the same name, plus one */
	uint32_t alike;    /* names that were made of its own, with a number */
	uint64_t strings, numbers, bools, nested; /* values by kind; nested: stay JSON text */
	uint64_t first[4]; /* record of the first of each, plus one; 0: none */
};
struct dtx_jobject {
	uint64_t last_row; /* as of a column */
	uint32_t col;      /* the column of the same name, DTX_STRMAP_NONE: none */
};
struct dtx_jmorsel {
	uint64_t byte; /* of the first record */
	uint64_t row;  /* its number */
	uint32_t rows;
};
enum dtx_jlayout {
	DTX_JL_OBJECTS, /* keys name the columns */
	DTX_JL_ROWS,    /* arrays of cells */
	DTX_JL_VALUES   /* neither: one column */
};
/* What is odd about the records, counted in pass one; `at` is the first place. */
struct dtx_joddity {
	uint64_t n;
	const char *at;
};
struct dtx_jrows {
	const struct dtx_source *src; /* hears how far the first pass is; NULL: nobody */
	const char *label;
	const char *base;      /* of the input */
	struct dtx_jscan area; /* the bytes that hold records */
	bool array;            /* records are parted by commas and end with ']' */
	enum dtx_jlayout layout;
	const struct dtx_read_opts *opts;
	struct dtx_arena arena;
	struct dtx_str *head; /* ROWS: names of the cells, each once */
	size_t nheads, heads_cap;
	uint32_t width; /* ROWS: cells of the first one */
	bool header;    /* which held the names */
	struct dtx_strmap map;
	struct dtx_strmap objects; /* nested ones: index into object */
	struct dtx_jobject *object;
	size_t objects_cap;
	struct dtx_jcol *col;
	size_t ncols, cols_cap;
	struct dtx_jmorsel *morsel;
	size_t nmorsels, morsels_cap;
	uint64_t nrows;
	bool inside;           /* the records are a part of the document, which was checked */
	const char *assumed;   /* what was taken as the records of an object; NULL: nothing */
	const char *otherwise; /* how to say otherwise; NULL: there is no other way */
	/* Cells that do not lie row by row were written so: then `base` is that text, and the
	 * document, with its owner, is here. */
	struct dtx_str turned_from;
	const char *turned_at; /* the array or object in it that has a value for each row */
	struct dtx_owner *turned;
	struct dtx_joddity repeated, mended, unread, ragged, clash;
};

/* A member's value, flattened. */
typedef enum dtx_code (*dtx_jrow_fn)(void *arg, uint32_t col, const struct dtx_jvalue *v,
                                     struct dtx_err *err);
struct dtx_jpending {
	uint32_t col;
	struct dtx_jvalue v;
};
/* Scratch of one thread that walks records. */
struct dtx_jwalk {
	struct dtx_jrows *rows;
	/* Where keys may be repeated, the values of a record wait until it ends. */
	struct dtx_jpending *pending;
	size_t npending, pending_cap;
	uint32_t *slot; /* per column: its place in pending, plus one */
	size_t nslots;
	bool learn;     /* unknown members make new columns (pass one) */
	uint32_t guess; /* the column that the next member probably is */
	struct dtx_buf path;
	struct dtx_buf text; /* of an escaped string */
	dtx_jrow_fn fn;
	void *arg;
};
void dtx_jwalk_init(struct dtx_jwalk *w, struct dtx_jrows *rows, bool learn, dtx_jrow_fn fn,
                    void *arg);
void dtx_jwalk_clear(struct dtx_jwalk *w);
/* The record at s->p: fn is called for every member; s->p moves behind it. */
DTX_MUSTUSE enum dtx_code dtx_jwalk_record(struct dtx_jwalk *w, struct dtx_jscan *s,
                                           struct dtx_err *err);
/* Steps over blanks before a record, and over the mark that a JSON text sequence has there. */
void dtx_jrows_gap(const struct dtx_jrows *r, struct dtx_jscan *s);
/* Steps over what parts records; *more is false at the end. */
DTX_MUSTUSE enum dtx_code dtx_jrows_next(const struct dtx_jrows *r, struct dtx_jscan *s, bool first,
                                         bool *more, struct dtx_err *err);
/* Finds the records, passes over all of them: columns, types, morsels; src hears how far. */
DTX_MUSTUSE enum dtx_code dtx_jrows_open(struct dtx_jrows *r, const struct dtx_source *src,
                                         struct dtx_str bytes, const struct dtx_read_opts *opts,
                                         struct dtx_err *err);
void dtx_jrows_clear(struct dtx_jrows *r);
/* Text of a string value: a view, or written into scratch. */
struct dtx_str dtx_jrows_text(const struct dtx_jvalue *v, struct dtx_buf *scratch);
/* JSON null, or one of the null values. */
bool dtx_jrows_null(const struct dtx_jrows *r, const struct dtx_jvalue *v, struct dtx_str text);
/* corrupt_file at the scanner's place, with line and byte. */
enum dtx_code dtx_jrows_fail(const struct dtx_jrows *r, const struct dtx_jscan *s,
                             struct dtx_err *err);

/* corrupt_file with another text. */
enum dtx_code dtx_jrows_refuse(const struct dtx_jrows *r, enum dtx_code code, const char *at,
                               const char *what, struct dtx_err *err);
/* The refusal of a key that comes twice. */
enum dtx_code dtx_jrows_repeated(const struct dtx_jrows *r, const char *at, struct dtx_err *err);
/* The line and the byte of a place in the document. */
void dtx_jrows_place(const struct dtx_jrows *r, const char *at, int64_t *line, int64_t *byte);

/* ROWS: another cell of a row, under its name, or one that says where it stands. */
DTX_MUSTUSE enum dtx_code dtx_jhead_add(struct dtx_jrows *r, struct dtx_str name,
                                        struct dtx_err *err);

/* The first row, at r->area, as names or counted only; with names r->area moves behind it. */
DTX_MUSTUSE enum dtx_code dtx_jhead_read(struct dtx_jrows *r, bool names, struct dtx_err *err);
/* A new column; `path` is copied. */
DTX_MUSTUSE enum dtx_code dtx_jcol_add(struct dtx_jrows *r, struct dtx_str path, uint32_t *out,
                                       struct dtx_err *err);

/* json_layout.c: finds the records in the document and what kind they are; r->area begins at the
 * first one. */
DTX_MUSTUSE enum dtx_code dtx_jlayout_find(struct dtx_jrows *r, struct dtx_err *err);
/* The records are the elements of an array that lies in the document. */
void dtx_jrows_inside(struct dtx_jrows *r, struct dtx_str array);
/* ROWS: an array of names. */
DTX_MUSTUSE enum dtx_code dtx_jhead_names(struct dtx_jrows *r, struct dtx_str array,
                                          struct dtx_err *err);

/* json_shape.c: an object that is a table in one of the layouts that other programs write; then
 * r->area begins at its first row, and r->assumed says what was made of it. */
DTX_MUSTUSE enum dtx_code dtx_jshape(struct dtx_jrows *r, struct dtx_str object, bool *done,
                                     struct dtx_err *err);
/* What an object holds that may be the records, at any depth. */
enum dtx_jfind {
	DTX_JF_RECORDS, /* an array of objects */
	DTX_JF_GRID,    /* an array of arrays */
	DTX_JF_TABLE,   /* an object that dtx_jshape takes */
	DTX_JF_EMPTY,   /* an array without elements */
	DTX_JF_COUNT
};
enum { DTX_JFINDS_LISTED = 3 };
struct dtx_jfinds {
	uint64_t n[DTX_JF_COUNT];
	struct dtx_jvalue value[DTX_JF_COUNT]; /* the first of each */
	struct dtx_buf first[DTX_JF_COUNT];    /* ... and its JSON pointer */
	struct dtx_buf list, best;             /* pointers for people, and the first of them */
	unsigned listed;
	struct dtx_buf at; /* scratch */
};
#define DTX_J_ONE_RECORD "\"records\": \"\" takes the document as one record"
/* "/KEY" of a key as it is written. */
void dtx_jpointer_add(struct dtx_buf *out, struct dtx_str key);
void dtx_jfinds_init(struct dtx_jfinds *f);
void dtx_jfinds_clear(struct dtx_jfinds *f);
DTX_MUSTUSE enum dtx_code dtx_jfinds_check(const struct dtx_jfinds *f, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_jshape_find(struct dtx_jrows *r, struct dtx_str object, unsigned nest,
                                          struct dtx_jfinds *f, struct dtx_err *err);

/* json_turn.c: an object of arrays that are equally long, as rows with a header.  *done is false
 * when it is none. */
DTX_MUSTUSE enum dtx_code dtx_jturn(struct dtx_jrows *r, struct dtx_jscan object, bool *done,
                                    struct dtx_err *err);
/* The text of rows that were made, up to their ']', becomes the one that is read; `list` is the
 * array or object of the document that has a value for each. */
#define DTX_JTURN_MAX ((size_t)1 << 40)
DTX_MUSTUSE enum dtx_code dtx_jturned(struct dtx_jrows *r, struct dtx_buf *made, const char *list,
                                      enum dtx_jlayout layout, struct dtx_err *err);
/* Where the row came from: the place of its value in that list. */
const char *dtx_jturn_place(const struct dtx_jrows *r, uint64_t row);

/* json_raw.c: names, then the texts of every record. */
enum dtx_code dtx_json_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                           struct dtx_rawgrid *out, struct dtx_err *err);

/* Whether text begins as records of JSON do: an object with a key, or an array of arrays. */
bool dtx_json_is_document(struct dtx_str text);

extern const struct dtx_reader_class dtx_read_json;

#endif
