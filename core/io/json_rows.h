/* Records of a JSON input: where they are, which columns their members make. */
#ifndef DTX_IO_JSON_ROWS_H
#define DTX_IO_JSON_ROWS_H

#include "core/base/arena.h"
#include "core/base/strmap.h"
#include "core/data/infer.h"
#include "core/io/json_scan.h"
#include "core/io/reader.h"

enum {
	DTX_JROWS_NEST = 8, /* objects within objects that become columns */
	DTX_JROWS_COLS_MAX = 100000,
	DTX_JROWS_MORSEL_BYTES = 1 << 20
};

struct dtx_jcol {
	struct dtx_str path; /* keys from the record down, parted by \x1f; the map's copy */
	struct dtx_infer seen;
	uint64_t last_row; /* record that had it last, plus one: finds repeated keys */
	uint64_t json;     /* values that stay JSON text */
};
struct dtx_jmorsel {
	uint64_t byte; /* of the first record */
	uint64_t row;  /* its number */
	uint32_t rows;
};
struct dtx_jrows {
	const char *label;
	const char *base;      /* of the input */
	struct dtx_jscan area; /* the bytes that hold records */
	bool array;            /* records are parted by commas and end with ']' */
	const struct dtx_read_opts *opts;
	struct dtx_strmap map;
	struct dtx_jcol *col;
	size_t ncols, cols_cap;
	struct dtx_jmorsel *morsel;
	size_t nmorsels, morsels_cap;
	uint64_t nrows;
	bool assumed;          /* records are those of the only array of objects in an object */
	struct dtx_str member; /* its key, as written */
};

/* A member's value, flattened. */
typedef enum dtx_code (*dtx_jrow_fn)(void *arg, uint32_t col, const struct dtx_jvalue *v,
                                     struct dtx_err *err);
/* Scratch of one thread that walks records. */
struct dtx_jwalk {
	struct dtx_jrows *rows;
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
/* Steps over what parts records; *more is false at the end. */
DTX_MUSTUSE enum dtx_code dtx_jrows_next(const struct dtx_jrows *r, struct dtx_jscan *s, bool first,
                                         bool *more, struct dtx_err *err);
/* Finds the records, passes over all of them: columns, types, morsels. */
DTX_MUSTUSE enum dtx_code dtx_jrows_open(struct dtx_jrows *r, const char *label,
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

/* json_raw.c: names, then the texts of every record. */
enum dtx_code dtx_json_raw(struct dtx_source *src, const struct dtx_read_opts *opts,
                           struct dtx_rawgrid *out, struct dtx_err *err);

#endif
