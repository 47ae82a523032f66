/* What the readers of files whose columns have types (Parquet, Arrow) share: names and fields of
 * columns, how many rows a batch has, how cells are cited, notes. */
#ifndef DTX_IO_TYPED_COLUMNS_H
#define DTX_IO_TYPED_COLUMNS_H

#include "core/io/reader.h"

/* Makes names unique: a repeated one gets a number and a note. Two columns may have one name, and
 * a.b may be a struct's member and a name. Errors: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_typed_names(struct dtx_reader *r, const char **name, uint32_t n,
                                          struct dtx_err *err);
/* Fills a field, whose name is set, for a column with this type in the file, by what the input's
 * `types` say. `json`: its texts are JSON values. */
void dtx_typed_field(const struct dtx_read_opts *opts, struct dtx_typeref type, bool json,
                     struct dtx_field *f);
/* Cells are cited by the number of their row and the name of their column. Error: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_typed_origin(struct dtx_reader *r, const char *alias, uint32_t ncols,
                                           struct dtx_err *err);
/* Adds a warning; `what` comes after the file's name, and is NULL if memory is out. `count` is of
 * what it is about, -1: not counted. Error: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_typed_note(struct dtx_reader *r, enum dtx_code code, int64_t count,
                                         const char *what, struct dtx_err *err);
/* Sets unsupported_format for a column that is needed, but has a type that is not read. */
enum dtx_code dtx_typed_refuse(const struct dtx_reader *r, const char *column, const char *type,
                               struct dtx_err *err);

struct dtx_typed_counts {   /* what was changed, for notes */
	int64_t not_finite; /* floats that became null */
	int64_t cut;        /* times that lost nanoseconds */
	bool noted;         /* the notes were added */
};
/* Adds the notes about values that were changed, once. Error: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_typed_note_counts(struct dtx_reader *r, struct dtx_typed_counts *c,
                                                struct dtx_err *err);

/* How large a batch with these columns may be. Zeroed, then each column is added. */
struct dtx_typed_batch {
	uint32_t cells, bytes; /* of a row: columns, and bytes in a frame, about */
};
void dtx_typed_batch_add(struct dtx_typed_batch *b, enum dtx_type type);
/* The most rows of a batch. */
uint32_t dtx_typed_batch_rows(const struct dtx_typed_batch *b);
/* The most bytes of the texts of a column in a batch, after at least a row. */
size_t dtx_typed_batch_text(const struct dtx_typed_batch *b);

#endif
