/* Names and signatures of the window calls; the grammar knows them, nothing computes them yet. */
#include "core/expr/fn.h"

#define WINDOW(NAME, SIG, HELP) { .name = NAME, .sig = SIG, .kind = DTX_FN_WINDOW, .help = HELP }

static const struct dtx_fn rows[] = {
	WINDOW("row_number", "", "number of the row in its group"),
	WINDOW("rank", "", "rank with gaps"),
	WINDOW("dense_rank", "", "rank without gaps"),
	WINDOW("percent_rank", "", "(rank - 1) / (rows - 1)"),
	WINDOW("cume_dist", "", "share of rows up to this one"),
	WINDOW("ntile", "n:I", "n equal parts, numbered"),
	WINDOW("lag", "x:A, n:I=1, default:A=null", "value n rows before"),
	WINDOW("lead", "x:A, n:I=1, default:A=null", "value n rows after"),
	WINDOW("first_value", "x:A", "value of the first row of the frame"),
	WINDOW("last_value", "x:A", "value of the last row of the frame"),
	WINDOW("diff", "x:N, n:I=1", "x less its value n rows before"),
	WINDOW("pct_change", "x:N, n:I=1", "relative change since n rows before"),
	WINDOW("cum_sum", "x:N", "running sum"),
	WINDOW("cum_mean", "x:N", "running mean"),
	WINDOW("cum_min", "x:A", "running minimum"),
	WINDOW("cum_max", "x:A", "running maximum"),
	WINDOW("cum_count", "x:A?", "running count"),
	WINDOW("roll_sum", "x:N, n:I, min:I?", "sum of the last n rows"),
	WINDOW("roll_mean", "x:N, n:I, min:I?", "mean of the last n rows"),
	WINDOW("roll_min", "x:N, n:I, min:I?", "minimum of the last n rows"),
	WINDOW("roll_max", "x:N, n:I, min:I?", "maximum of the last n rows"),
	WINDOW("share", "x:N", "x / sum(x)"),
	WINDOW("fill_down", "x:A", "last value above"),
	WINDOW("fill_up", "x:A", "next value below"),
	WINDOW("nth_value", "x:A, n:I", "value of the n-th row of the frame"),
	WINDOW("cum_prod", "x:N", "running product"),
	WINDOW("roll_std", "x:N, n:I, min:I?", "standard deviation of the last n rows"),
	WINDOW("roll_median", "x:N, n:I, min:I?", "median of the last n rows"),
	WINDOW("ewm_mean", "x:N, alpha:N", "exponentially weighted mean"),
	WINDOW("interpolate", "x:N", "linear between known values"),
};

const struct dtx_fn_table dtx_fn_window = { "window", "Window", rows, DTX_COUNT(rows) };
