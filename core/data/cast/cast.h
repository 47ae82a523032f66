/* All conversions between text and typed values.  They are strict: text that does not fit is a
 * failure, not an approximation.  The rules are those of the cast functions of the formula language
 * and section 5 of the ingest rules. */
#ifndef DTX_DATA_CAST_CAST_H
#define DTX_DATA_CAST_CAST_H

#include "core/data/batch.h"
#include "core/data/time/time.h"

/* --- one text, as the cast functions read it; blanks around it are ignored ---
 *
 * An explicit cast accepts more than the detection of types (core/data/cast/infer): int('007') is
 * 7, but a column of '007' is text. */
DTX_MUSTUSE bool dtx_cast_text_bool(struct dtx_str s, bool *out);   /* true false (any case) 0 1 */
DTX_MUSTUSE bool dtx_cast_text_i64(struct dtx_str s, int64_t *out); /* [+-]?digits */
DTX_MUSTUSE bool dtx_cast_text_f64(struct dtx_str s, double *out);  /* also whole numbers; finite */
DTX_MUSTUSE bool dtx_cast_text_dec(struct dtx_str s, struct dtx_typeref t, struct dtx_dec128 *out);
DTX_MUSTUSE bool dtx_cast_text_date(struct dtx_str s, int32_t *out);    /* YYYY-MM-DD */
DTX_MUSTUSE bool dtx_cast_text_datetime(struct dtx_str s, int64_t *us); /* also a date alone */
/* Whether the text is a time with an offset from UTC, as in 09:30+02:00 or 09:30Z. */
bool dtx_cast_text_zoned(struct dtx_str s);

/* The end of a message about a text that is not a value of type `to`, such as ": there is no such
 * day".  Empty if there is nothing to add. */
void dtx_cast_why(struct dtx_str s, struct dtx_typeref to, const char *format,
                  char out[DTX_TIME_WHY]);

/* --- columns --- */
/* Whether values of type `from` can be cast to `to` at all.  A date, for example, cannot be cast to
 * int. */
bool dtx_cast_possible(enum dtx_type from, enum dtx_type to);
/* Adds a hint about a number with a point that has too many digits for a decimal or an int.  False:
 * it is not such a number, and no hint was added. */
bool dtx_cast_hint_digits(struct dtx_str number, struct dtx_typeref to, struct dtx_err *err);
enum dtx_cast_error { DTX_CAST_ERROR, DTX_CAST_NULL, DTX_CAST_KEEP_TEXT };
struct dtx_cast_spec {
	struct dtx_typeref to;
	const char *format; /* date, datetime: strptime-like; NULL: ISO 8601 */
	enum dtx_cast_error on_error;
	bool decimal_comma;
	char group;
	bool declared; /* the input declares the type, so hints name the words of its declaration */
	bool as_text;  /* treat the cells as text, even if they were read as another type before the
	                * cast */
};
struct dtx_cast_count {
	int64_t failed;     /* values that did not fit (and became null) */
	uint32_t first_row; /* row of the first failure in the column */
	int64_t offsets; /* texts with an offset from UTC, which the target type does not keep, and
	                  * texts without one that became times of UTC */
};
/* Casts a column of any form to a FLAT column of spec->to; nulls stay null.  By spec->on_error a
 * value that does not fit becomes null (NULL), or makes the whole result text (KEEP_TEXT), or is an
 * error: cast_failed, ambiguous_date or type_mismatch, which names the first value and has err->row
 * (its row in the column, which the caller turns into the physical row), err->count and samples. */
DTX_MUSTUSE enum dtx_code dtx_cast_column(struct dtx_column *c, const struct dtx_cast_spec *spec,
                                          struct dtx_column **out, struct dtx_cast_count *count,
                                          struct dtx_err *err);
/* The typed twin of a SPAN or CELL column: a FLAT column of the field's type.  *bad_row is the
 * first row that does not fit; if it is -1, all fit and *out is set.  `live` has a bit per row: in
 * a row without it a value that does not fit becomes null.  NULL: all rows are live. */
DTX_MUSTUSE enum dtx_code dtx_cast_typed(struct dtx_column *c, const struct dtx_field *field,
                                         const uint64_t *live, struct dtx_column **out,
                                         int64_t *bad_row, struct dtx_err *err);
/* Counts the values in live rows that do not fit. */
DTX_MUSTUSE enum dtx_code dtx_cast_misfits(struct dtx_column *c, const struct dtx_field *field,
                                           const uint64_t *live, int64_t *n, struct dtx_err *err);

/* --- values as text --- */
/* Appends the text of the value at row, as text() of the formula language gives it; nothing for
 * null.  SPAN: the source text without quotes.  CELL: numbers in their shortest form, ISO dates,
 * true or false, times as 14:30:00. */
void dtx_cast_print(const struct dtx_column *c, uint32_t row, struct dtx_buf *out);
/* Writes the text of a CELL that is not a text and returns its length: 0 for null. */
enum { DTX_CELL_PRINT = 64 };
size_t dtx_cast_print_cell(const struct dtx_column *c, uint32_t row, char out[DTX_CELL_PRINT]);
/* Prints all cells of a CELL column now and keeps the texts, because both the row hashes and a
 * writer will need them. */
DTX_MUSTUSE enum dtx_code dtx_cast_print_ahead(struct dtx_column *c, struct dtx_err *err);
/* The text of a span with "" replaced by ".  A view into the source if there is no quote in it,
 * else the text is appended to scratch. */
struct dtx_str dtx_span_text(const char *base, struct dtx_span s, struct dtx_buf *scratch);
/* The same for a row of a SPAN column, with the quote character of that column. */
struct dtx_str dtx_cast_source(const struct dtx_column *c, uint32_t row, struct dtx_buf *scratch);
/* A FLAT text column with text() of every row.  A text column gets a new reference.  For SPAN
 * columns the result has views into the source where no quotes need to be removed. */
DTX_MUSTUSE enum dtx_code dtx_cast_to_text(struct dtx_column *c, struct dtx_column **out,
                                           struct dtx_err *err);

#endif
