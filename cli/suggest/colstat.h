/* Statistics of the values in one column: how many are distinct, how often each occurs, their
 * range, a histogram. */
#ifndef DTX_CLI_SUGGEST_COLSTAT_H
#define DTX_CLI_SUGGEST_COLSTAT_H

#include "core/base/memory/arena.h"
#include "core/base/text/json.h"
#include "core/data/column.h"

enum {
	DTX_COLSTAT_BARS = 10,
	DTX_COLSTAT_DISTINCT = 65536, /* most values that are distinguished */
	DTX_COLSTAT_TEXT = 64         /* bytes of a value that are kept */
};

struct dtx_colstat_value {
	uint64_t hash, count;
	struct dtx_str text; /* cut to DTX_COLSTAT_TEXT */
	bool cut;
	uint64_t row; /* id of the first row with it */
};
struct dtx_colstat_range { /* of the values that are numbers, or dates in microseconds */
	uint64_t n;
	double lo, hi;
	double *kept; /* an even sample, in order; allocated with dtx_mem */
	size_t nkept, kept_cap;
	uint64_t step; /* every step-th value is kept */
};
struct dtx_colstat {
	struct dtx_arena arena;
	struct dtx_colstat_value *value; /* in order of first occurrence; dtx_mem */
	size_t nvalues, values_cap, limit;
	uint32_t *slot; /* value + 1, by hash; dtx_mem */
	size_t nslots;
	bool many;       /* there are more values than the limit; the table has the first ones */
	uint64_t nulls;  /* blank cells */
	uint64_t merged; /* of these, cells inside a merged range */
	bool last_null;
	uint64_t runs; /* runs of blank cells */
	struct dtx_colstat_range number, date;
	/* Row ids of the next column: one for each row, or counted from the first. */
	const uint64_t *rec;
	uint64_t first_row;
};
/* limit: most values to distinguish, at most DTX_COLSTAT_DISTINCT; 0: that many.  The sample of
 * numbers has as many, within 256 and 4096. */
void dtx_colstat_init(struct dtx_colstat *s, size_t limit);
void dtx_colstat_clear(struct dtx_colstat *s);
/* Adds all rows of a column, in order. */
DTX_MUSTUSE enum dtx_code dtx_colstat_add(struct dtx_colstat *s, const struct dtx_column *c,
                                          struct dtx_err *err);
/* The range for a column of this type; NULL: compare as text. */
const struct dtx_colstat_range *dtx_colstat_range(const struct dtx_colstat *s, enum dtx_type type);
/* Writes a bound of the range as values of the type are written. */
void dtx_colstat_bound(struct dtx_typeref type, double v, struct dtx_buf *out);
/* Counts the sample in bars between lo and hi; returns false if there is nothing to draw. */
bool dtx_colstat_bars(const struct dtx_colstat_range *r, uint32_t bar[DTX_COLSTAT_BARS]);
/* The same as block characters. */
void dtx_colstat_draw(const struct dtx_colstat_range *r, struct dtx_buf *out);
/* Indices of the most frequent values, at most n; returns their number. */
size_t dtx_colstat_top(const struct dtx_colstat *s, size_t *index, size_t n);
/* Sets the members distinct, min, max, histogram and top of a column's object. */
DTX_MUSTUSE bool dtx_colstat_json(const struct dtx_colstat *s, struct dtx_typeref type,
                                  json_t *object);

#endif
