/* Kernels of window calls.  Only core/expr looks inside. */
#ifndef DTX_EXPR_WINDOW_WIN_H
#define DTX_EXPR_WINDOW_WIN_H

#include "core/expr/agg/aggcall.h"
#include "core/expr/agg/fsum.h"
#include "core/expr/window/window.h"
#include "core/expr/agg/wsum.h"

enum dtx_winkind {
	DTX_WIN_ROW_NUMBER,
	DTX_WIN_RANK,
	DTX_WIN_DENSE_RANK,
	DTX_WIN_PERCENT_RANK,
	DTX_WIN_CUME_DIST,
	DTX_WIN_AVERAGE_RANK,
	DTX_WIN_NTILE,
	DTX_WIN_LAG,
	DTX_WIN_LEAD,
	DTX_WIN_FIRST_VALUE,
	DTX_WIN_LAST_VALUE,
	DTX_WIN_NTH_VALUE,
	DTX_WIN_FILL_DOWN,
	DTX_WIN_FILL_UP,
	DTX_WIN_CUM_MIN,
	DTX_WIN_CUM_MAX,
	DTX_WIN_ROLL_MIN,
	DTX_WIN_ROLL_MAX,
	DTX_WIN_DIFF,
	DTX_WIN_PCT_CHANGE,
	DTX_WIN_CUM_SUM,
	DTX_WIN_CUM_MEAN,
	DTX_WIN_CUM_PROD,
	DTX_WIN_CUM_COUNT,
	DTX_WIN_SHARE,
	DTX_WIN_EWM_MEAN,
	DTX_WIN_INTERPOLATE,
	DTX_WIN_ROLL_SUM,
	DTX_WIN_ROLL_MEAN,
	DTX_WIN_ROLL_STD,
	DTX_WIN_ROLL_MEDIAN,
	DTX_WIN_COUNT
};

/* Special values instead of a row number in `place`. */
#define DTX_WIN_NULL    UINT32_MAX
#define DTX_WIN_DEFAULT (UINT32_MAX - 1) /* the value of the last argument in the row itself */

#define DTX_WIN_ARGS 4
struct dtx_win { /* one call over the rows of a table */
	const struct dtx_aggcall *c;
	const struct dtx_winrows *rows;
	const struct dtx_row_frame *frame;
	struct dtx_column *arg[DTX_WIN_ARGS]; /* FLAT, with all rows of the table; NULL: not
	                                       * given */
	/* Results by row, in the array for what the kernel gives.  Rows without a bit in `valid`
	 * are null. */
	int64_t *i;
	double *f;
	struct dtx_dec128 *dec;
	uint32_t *place;
	uint64_t *valid;
	struct dtx_eval_counts *counts;
	uint32_t bad_row; /* the row of an error */
	struct dtx_err *err;
};

enum dtx_wingives { DTX_WIN_INT, DTX_WIN_FLOAT, DTX_WIN_EXACT, DTX_WIN_PLACE };
struct dtx_winkernel {
	enum dtx_wingives gives; /* EXACT: int or decimal, and float for floats */
	bool ordered, framed;
	/* Computes one partition: the places [from, to). */
	enum dtx_code (*part)(struct dtx_win *w, uint32_t from, uint32_t to);
};
const struct dtx_winkernel *dtx_winkernel(enum dtx_winkind kind);
extern const struct dtx_winkernel dtx_win_rank[], dtx_win_place[], dtx_win_num[], dtx_win_roll[];

static inline bool dtx_win_null(const struct dtx_column *c, uint32_t row)
{
	return c->type.type == DTX_T_NULL || (c->valid && !dtx_bit(c->valid, row));
}
static inline dtx_i128 dtx_win_exact(const struct dtx_column *c, uint32_t row)
{
	return c->type.type == DTX_T_DECIMAL ? dtx_dec_get(c->v.dec[row]) : c->v.i64[row];
}
static inline double dtx_win_units(const struct dtx_column *c, uint32_t row)
{
	return c->type.type == DTX_T_FLOAT64 ? c->v.f64[row] : (double)dtx_win_exact(c, row);
}
double dtx_win_float(const struct dtx_column *c, uint32_t row);
static inline void dtx_win_int(struct dtx_win *w, uint32_t row, int64_t v)
{
	w->i[row] = v;
	dtx_bit_set(w->valid, row);
}
/* Stores a float result.  One that is not finite becomes null and is counted. */
void dtx_win_put(struct dtx_win *w, uint32_t row, double v);
/* Stores the result of a call that gives EXACT.  If it does not fit, the option of the plan
 * decides. */
DTX_MUSTUSE enum dtx_code dtx_win_put_exact(struct dtx_win *w, uint32_t row,
                                            const struct dtx_wsum *v);
/* Stores x / y as a float; y == 0 is a division by zero. */
DTX_MUSTUSE enum dtx_code dtx_win_divide(struct dtx_win *w, uint32_t row, double x, double y);
/* Sets the place of an error to a row of the table. */
void dtx_win_set_position(struct dtx_table *t, uint32_t row, struct dtx_err *err);
/* The frame of place k within the partition [from, to), as places [*lo, *hi). */
void dtx_win_frame(const struct dtx_win *w, uint32_t from, uint32_t to, uint32_t k, uint32_t *lo,
                   uint32_t *hi);

/* A running sum, from which a rolling window can also remove values.  Ints and decimals stay
 * exact. */
struct dtx_winsum { /* all zero: empty */
	uint32_t n;
	struct dtx_wsum exact;
	struct dtx_fsum real;
};
/* Adds the value (sign 1) or removes it (sign -1).  It must not be null. */
DTX_MUSTUSE enum dtx_code dtx_winsum_step(struct dtx_win *w, struct dtx_winsum *s, uint32_t row,
                                          int sign);
double dtx_winsum_mean(const struct dtx_win *w, struct dtx_winsum *s, uint32_t n);
/* The sum as a number of the smallest units of the argument, for quotients, in which the scale
 * cancels out. */
double dtx_winsum_units(const struct dtx_win *w, struct dtx_winsum *s);
/* Stores the sum as the result of a call that gives EXACT. */
DTX_MUSTUSE enum dtx_code dtx_winsum_put(struct dtx_win *w, struct dtx_winsum *s, uint32_t row);

/* Aggregates over partitions and frames. */
DTX_MUSTUSE enum dtx_code dtx_window_agg(const struct dtx_aggcall *c,
                                         const struct dtx_winrows *rows,
                                         const struct dtx_row_frame *frame, struct dtx_table *t,
                                         struct dtx_eval_counts *counts, struct dtx_column **out,
                                         struct dtx_err *err);

#endif
