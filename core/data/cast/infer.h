/* The narrowest type that all values fit; mergeable. */
#ifndef DTX_DATA_CAST_INFER_H
#define DTX_DATA_CAST_INFER_H

#include "core/data/batch.h"

/* The class of one text cell by the ingest rules; blanks around it are ignored. */
enum dtx_infer_class {
	DTX_I_BOOL,
	DTX_I_INT,
	DTX_I_WIDE /* beyond 2^53 */,
	DTX_I_FLOAT,
	DTX_I_CODE /* "1E5": a float, or a code; see `codes` */,
	DTX_I_DATE,
	DTX_I_DATETIME,
	DTX_I_ZONED,
	DTX_I_TEXT
};
enum dtx_infer_class dtx_infer_class(struct dtx_str s);
/* What has been seen of one column of text cells. */
struct dtx_infer {
	uint64_t nulls, bools, ints, wide_ints /* beyond 2^53 */, floats, dates, datetimes, texts;
	uint64_t zoned; /* datetimes with an offset */
	/* Values with an exponent but neither a point nor a sign of the exponent: "1E5", "10E4".
	 * Article numbers and short hashes look so, and as floats the two would be equal.  They are
	 * numbers where the column has a float that is written as one (2.5, 1e+05); else the column
	 * is text. */
	uint64_t codes;
	struct dtx_str code; /* the first of them; borrowed */
	int64_t code_row;
	struct dtx_str sample; /* first value that is text while others are not; borrowed */
	int64_t sample_row;
	bool decimal_comma; /* declared marks of the input; set before the first cell */
	char group;
	bool no_codes; /* it is known that all numbers are such; set before the type is asked for */
};
/* To infer again what was of the field: its marks, and a float has no codes. */
static inline struct dtx_infer dtx_infer_again(const struct dtx_field *f)
{
	return (struct dtx_infer){ .decimal_comma = f->decimal_comma,
		                   .group = f->group,
		                   .no_codes = f->type.type == DTX_T_FLOAT64 };
}
void dtx_infer_text(struct dtx_infer *f, struct dtx_str s, bool null, int64_t row);
/* All rows of a SPAN, CELL or text column; `row` is the physical row of the first. */
void dtx_infer_column(struct dtx_infer *f, const struct dtx_column *c, int64_t row);
void dtx_infer_merge(struct dtx_infer *f, const struct dtx_infer *other);
struct dtx_typeref dtx_infer_type(const struct dtx_infer *f);
/* A declared datetime of which all values seen have an offset from UTC is of UTC. */
void dtx_infer_declared(const struct dtx_infer *f, const char *format, struct dtx_typeref *type);
/* Text although 99 % of the values fit a narrower type: *type is that one. */
bool dtx_infer_almost(const struct dtx_infer *f, struct dtx_typeref *type);

#endif
