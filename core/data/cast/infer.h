/* Detects the narrowest type that all values of a column fit.  The state of several workers can be
 * merged, and the result does not depend on how the rows were divided. */
#ifndef DTX_DATA_CAST_INFER_H
#define DTX_DATA_CAST_INFER_H

#include "core/data/batch.h"

/* The class of one text cell by the ingest rules.  Blanks around it are ignored. */
enum dtx_infer_class {
	DTX_I_BOOL,
	DTX_I_INT,
	DTX_I_WIDE /* beyond 2^53 */,
	DTX_I_FLOAT,
	DTX_I_CODE /* "1E5": a float or a code; see `codes` */,
	DTX_I_DATE,
	DTX_I_DATETIME,
	DTX_I_ZONED,
	DTX_I_TEXT
};
/* Whether it is a whole number in groups of three digits: -?[1-9][0-9]{0,2}(mark[0-9]{3})+ */
bool dtx_infer_groups(struct dtx_str s, char mark);
/* What has been seen of one column of text cells. */
struct dtx_infer {
	uint64_t nulls, bools, ints, wide_ints /* beyond 2^53 */, floats, dates, datetimes, texts;
	uint64_t zoned; /* datetimes with an offset */
	/* Number of values with an exponent but neither a point nor a sign of the exponent: "1E5",
	 * "10E4".  Article numbers and short hashes look like this, and as floats those two would
	 * be equal.  They count as numbers if the column also has a float that is clearly one (2.5,
	 * 1e+05), else the column is text. */
	uint64_t codes;
	struct dtx_str code; /* the first of them; borrowed */
	int64_t code_row;
	struct dtx_str sample; /* the first text in a column of mostly other values; borrowed */
	int64_t sample_row;
	/* What the marks in numbers may mean where the input declares none. A column of texts such
	 * as 1,5 and 1.200,50 has decimal commas; then 1.200 in another column may be 1200. */
	uint64_t comma_texts; /* texts that are numbers if commas are decimal and points group */
	uint64_t commas;      /* those of them that read in no other way: 1,5, but not 1,200 */
	uint64_t grouped; /* floats that may be whole numbers in groups of three digits: 1.200 */
	char grouped_text[12]; /* the first of them; */
	int64_t grouped_row;   /* its row */
	bool decimal_comma;    /* marks that the input declares; set before the first cell */
	char group;
	bool no_codes; /* such values are known to be numbers; set before the type is asked for */
};
/* The state for a second detection over a field that was detected before: it keeps the field's
 * marks, and a column that was float has no codes. */
static inline struct dtx_infer dtx_infer_again(const struct dtx_field *f)
{
	return (struct dtx_infer){ .decimal_comma = f->decimal_comma,
		                   .group = f->group,
		                   .no_codes = f->type.type == DTX_T_FLOAT64 };
}
void dtx_infer_text(struct dtx_infer *f, struct dtx_str s, bool null, int64_t row);
/* Adds all rows of a SPAN, CELL or text column; `row` is the physical row of the first one. */
void dtx_infer_column(struct dtx_infer *f, const struct dtx_column *c, int64_t row);
void dtx_infer_merge(struct dtx_infer *f, const struct dtx_infer *other);
struct dtx_typeref dtx_infer_type(const struct dtx_infer *f);
/* A declared datetime becomes one of UTC if every value seen has an offset from UTC. */
void dtx_infer_declared(const struct dtx_infer *f, const char *format, struct dtx_typeref *type);
/* Whether the column is text although 99 % of its values fit a narrower type; *type is that
 * type. */
bool dtx_infer_almost(const struct dtx_infer *f, struct dtx_typeref *type);
/* Whether the column is text that decimal commas make numbers, at least one of them surely. */
bool dtx_infer_has_commas(const struct dtx_infer *f);
/* Whether it is a column of numbers, where each number with a point may have groups instead. */
bool dtx_infer_may_group(const struct dtx_infer *f);

#endif
