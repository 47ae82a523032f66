/* Names and signatures of the window calls. */
#include "core/expr/fn/fn.h"
#include "core/expr/window/win.h"

#define WINDOW(KIND, SIG, HELP)                                                                    \
	.detail = DTX_WIN_##KIND, .sig = SIG, .kind = DTX_FN_WINDOW, .help = HELP

static const struct dtx_fn rows[] = {
	{ .name = "row_number", WINDOW(ROW_NUMBER, "", "number of the row in its group") },
	{ .name = "rank", WINDOW(RANK, "", "rank with gaps") },
	{ .name = "dense_rank", WINDOW(DENSE_RANK, "", "rank without gaps") },
	{ .name = "percent_rank", WINDOW(PERCENT_RANK, "", "(rank - 1) / (rows - 1)") },
	{ .name = "cume_dist", WINDOW(CUME_DIST, "", "share of rows up to this one") },
	{ .name = "average_rank",
	  WINDOW(AVERAGE_RANK, "", "rank; rows with equal values have the mean of their places") },
	{ .name = "ntile", WINDOW(NTILE, "n:i", "n equal parts, numbered") },
	{ .name = "lag",
	  WINDOW(LAG, "x:A, n:i=1, default:A=null, ignore_nulls:b=false",
	         "value n rows before; with ignore_nulls the n-th value before that is not null") },
	{ .name = "lead",
	  WINDOW(LEAD, "x:A, n:i=1, default:A=null, ignore_nulls:b=false",
	         "value n rows after; with ignore_nulls the n-th value after that is not null") },
	{ .name = "first_value",
	  WINDOW(FIRST_VALUE, "x:A", "value of the first row of the frame") },
	{ .name = "last_value", WINDOW(LAST_VALUE, "x:A", "value of the last row of the frame") },
	{ .name = "diff", WINDOW(DIFF, "x:N, n:i=1", "x minus its value n rows before") },
	{ .name = "pct_change",
	  WINDOW(PCT_CHANGE, "x:N, n:i=1", "relative change since n rows before") },
	{ .name = "cum_sum",
	  WINDOW(CUM_SUM, "x:N, low:N=null, high:N=null, reset:B=null",
	         "running sum; held at low and high in each row, as a balance that cannot be "
	         "below 0; where reset is true it starts again, with x") },
	{ .name = "cum_mean", WINDOW(CUM_MEAN, "x:N", "running mean") },
	{ .name = "cum_min", WINDOW(CUM_MIN, "x:A", "running minimum") },
	{ .name = "cum_max", WINDOW(CUM_MAX, "x:A", "running maximum") },
	{ .name = "cum_count", WINDOW(CUM_COUNT, "x:A?", "running count") },
	{ .name = "roll_sum", WINDOW(ROLL_SUM, "x:N, n:i, min:i?", "sum of the last n rows") },
	{ .name = "roll_mean", WINDOW(ROLL_MEAN, "x:N, n:i, min:i?", "mean of the last n rows") },
	{ .name = "roll_min", WINDOW(ROLL_MIN, "x:N, n:i, min:i?", "minimum of the last n rows") },
	{ .name = "roll_max", WINDOW(ROLL_MAX, "x:N, n:i, min:i?", "maximum of the last n rows") },
	{ .name = "share", WINDOW(SHARE, "x:N", "x / sum(x)") },
	{ .name = "fill_down", WINDOW(FILL_DOWN, "x:A", "last value above") },
	{ .name = "fill_up", WINDOW(FILL_UP, "x:A", "next value below") },
	{ .name = "nth_value",
	  WINDOW(NTH_VALUE, "x:A, n:i", "value of the n-th row of the frame") },
	{ .name = "cum_prod", WINDOW(CUM_PROD, "x:N", "running product") },
	{ .name = "roll_std",
	  WINDOW(ROLL_STD, "x:N, n:i, min:i?", "standard deviation of the last n rows") },
	{ .name = "roll_median",
	  WINDOW(ROLL_MEDIAN, "x:N, n:i, min:i?", "median of the last n rows") },
	{ .name = "ewm_mean",
	  WINDOW(EWM_MEAN, "x:N, alpha:f",
	         "exponentially weighted mean, as ewm(alpha=alpha) of pandas") },
	{ .name = "interpolate", WINDOW(INTERPOLATE, "x:N", "linear between known values") },
};

const struct dtx_fn_table dtx_fn_window = { "window", "Window", rows, DTX_COUNT(rows) };
