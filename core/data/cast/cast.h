/* Every conversion, strict.  Rules: the cast functions and section 5 of the ingest rules. */
#ifndef DTX_DATA_CAST_CAST_H
#define DTX_DATA_CAST_CAST_H

#include "core/data/batch.h"
#include "core/data/time/time.h"

/* --- one text, as the cast functions read it (blanks around it are ignored) ---
 * Explicit casts are wider than the types of cells (core/data/cast/infer): int('007') is 7, but a
 * column of '007' is text. */
DTX_MUSTUSE bool dtx_cast_text_bool(struct dtx_str s, bool *out);   /* true false (any case) 0 1 */
DTX_MUSTUSE bool dtx_cast_text_i64(struct dtx_str s, int64_t *out); /* [+-]?digits */
DTX_MUSTUSE bool dtx_cast_text_f64(struct dtx_str s, double *out);  /* ints too; finite */
DTX_MUSTUSE bool dtx_cast_text_dec(struct dtx_str s, struct dtx_typeref t, struct dtx_dec128 *out);
DTX_MUSTUSE bool dtx_cast_text_date(struct dtx_str s, int32_t *out);    /* YYYY-MM-DD */
DTX_MUSTUSE bool dtx_cast_text_datetime(struct dtx_str s, int64_t *us); /* a date alone too */
/* The text of a time with an offset from UTC, as in 09:30+02:00 or 09:30Z. */
bool dtx_cast_text_zoned(struct dtx_str s);

/* The end of the message about a text that is no value of type `to`: ": there is no such day", or
 * nothing. */
void dtx_cast_why(struct dtx_str s, struct dtx_typeref to, const char *format,
                  char out[DTX_TIME_WHY]);

/* --- columns --- */
/* A value of type `from` can be cast to `to` at all; date to int, for one, cannot. */
bool dtx_cast_possible(enum dtx_type from, enum dtx_type to);
/* Hints at what to do about a number, written with a point, that has too many digits for a decimal
 * or an int.  False, and no hint: it is no such number. */
bool dtx_cast_hint_digits(struct dtx_str number, struct dtx_typeref to, struct dtx_err *err);
enum dtx_cast_error { DTX_CAST_ERROR, DTX_CAST_NULL, DTX_CAST_KEEP_TEXT };
struct dtx_cast_spec {
	struct dtx_typeref to;
	const char *format; /* date, datetime: strptime-like; NULL: ISO 8601 */
	enum dtx_cast_error on_error;
	bool decimal_comma;
	char group;
	bool declared; /* by an input: its words are the ones to change */
	bool as_text; /* cells are a text column's, whatever they were read as before it had them */
};
struct dtx_cast_count {
	int64_t failed;     /* values that did not fit (and became null) */
	uint32_t first_row; /* of the first failure, in the column */
	int64_t offsets;    /* texts whose offset from UTC the type does not show */
};
/* A column of any form as FLAT of spec->to, by the rules of the cast functions; nulls stay.  A
 * failure becomes null (NULL), or turns the whole result into text (KEEP_TEXT), or is cast_failed,
 * ambiguous_date or type_mismatch naming the first value, with err->row = its row in the column
 * (callers turn it into the physical row), err->count and samples. */
DTX_MUSTUSE enum dtx_code dtx_cast_column(struct dtx_column *c, const struct dtx_cast_spec *spec,
                                          struct dtx_column **out, struct dtx_cast_count *count,
                                          struct dtx_err *err);
/* Typed twin of a SPAN or CELL column for a field: FLAT of the field's type.  *bad_row is the
 * first row that does not fit, -1 if none (then *out is set).  `live`: bit per row, a row without
 * it may hold what does not fit and is null then; NULL: all rows count. */
DTX_MUSTUSE enum dtx_code dtx_cast_twin(struct dtx_column *c, const struct dtx_field *field,
                                        const uint64_t *live, struct dtx_column **out,
                                        int64_t *bad_row, struct dtx_err *err);
/* *n: how many values in rows that count do not fit. */
DTX_MUSTUSE enum dtx_code dtx_cast_misfits(struct dtx_column *c, const struct dtx_field *field,
                                           const uint64_t *live, int64_t *n, struct dtx_err *err);

/* --- written text --- */
/* text() of the value at row: appended; nothing for null.  SPAN gives the unquoted source text,
 * CELL its written text (number shortest, date ISO, bool true/false, time 14:30:00). */
void dtx_cast_print(const struct dtx_column *c, uint32_t row, struct dtx_buf *out);
/* Written text of a CELL that is not text, its length returned: 0 for null. */
enum { DTX_CELL_PRINT = 64 };
size_t dtx_cast_print_cell(const struct dtx_column *c, uint32_t row, char out[DTX_CELL_PRINT]);
/* Prints all cells of a CELL column now, because they will be printed more than once: by the row
 * hashes and by a writer. */
DTX_MUSTUSE enum dtx_code dtx_cast_print_ahead(struct dtx_column *c, struct dtx_err *err);
/* Interior of a span with "" undone: a view into the source when it holds no quote, else written
 * to scratch (appended). */
struct dtx_str dtx_span_text(const char *base, struct dtx_span s, struct dtx_buf *scratch);
/* The same for a row of a SPAN column, by its own quote character. */
struct dtx_str dtx_cast_source(const struct dtx_column *c, uint32_t row, struct dtx_buf *scratch);
/* A column of text: FLAT text of text() of every row; a text column gets a new reference.
 * SPAN: views into the source where nothing needs unquoting. */
DTX_MUSTUSE enum dtx_code dtx_cast_to_text(struct dtx_column *c, struct dtx_column **out,
                                           struct dtx_err *err);

#endif
