/* Names and signatures of the window calls; the grammar knows them, nothing computes them yet. */
#include "core/expr/fn.h"

#define WINDOW(SIG, HELP) .sig = SIG, .kind = DTX_FN_WINDOW, .help = HELP

static const struct dtx_fn rows[] = {
	{ .name = "row_number", WINDOW("", "number of the row in its group") },
	{ .name = "rank", WINDOW("", "rank with gaps") },
	{ .name = "dense_rank", WINDOW("", "rank without gaps") },
	{ .name = "percent_rank", WINDOW("", "(rank - 1) / (rows - 1)") },
	{ .name = "cume_dist", WINDOW("", "share of rows up to this one") },
	{ .name = "ntile", WINDOW("n:I", "n equal parts, numbered") },
	{ .name = "lag", WINDOW("x:A, n:I=1, default:A=null", "value n rows before") },
	{ .name = "lead", WINDOW("x:A, n:I=1, default:A=null", "value n rows after") },
	{ .name = "first_value", WINDOW("x:A", "value of the first row of the frame") },
	{ .name = "last_value", WINDOW("x:A", "value of the last row of the frame") },
	{ .name = "diff", WINDOW("x:N, n:I=1", "x less its value n rows before") },
	{ .name = "pct_change", WINDOW("x:N, n:I=1", "relative change since n rows before") },
	{ .name = "cum_sum", WINDOW("x:N", "running sum") },
	{ .name = "cum_mean", WINDOW("x:N", "running mean") },
	{ .name = "cum_min", WINDOW("x:A", "running minimum") },
	{ .name = "cum_max", WINDOW("x:A", "running maximum") },
	{ .name = "cum_count", WINDOW("x:A?", "running count") },
	{ .name = "roll_sum", WINDOW("x:N, n:I, min:I?", "sum of the last n rows") },
	{ .name = "roll_mean", WINDOW("x:N, n:I, min:I?", "mean of the last n rows") },
	{ .name = "roll_min", WINDOW("x:N, n:I, min:I?", "minimum of the last n rows") },
	{ .name = "roll_max", WINDOW("x:N, n:I, min:I?", "maximum of the last n rows") },
	{ .name = "share", WINDOW("x:N", "x / sum(x)") },
	{ .name = "fill_down", WINDOW("x:A", "last value above") },
	{ .name = "fill_up", WINDOW("x:A", "next value below") },
	{ .name = "nth_value", WINDOW("x:A, n:I", "value of the n-th row of the frame") },
	{ .name = "cum_prod", WINDOW("x:N", "running product") },
	{ .name = "roll_std", WINDOW("x:N, n:I, min:I?", "standard deviation of the last n rows") },
	{ .name = "roll_median", WINDOW("x:N, n:I, min:I?", "median of the last n rows") },
	{ .name = "ewm_mean", WINDOW("x:N, alpha:N", "exponentially weighted mean") },
	{ .name = "interpolate", WINDOW("x:N", "linear between known values") },
};

const struct dtx_fn_table dtx_fn_window = { "window", "Window", rows, DTX_COUNT(rows) };
