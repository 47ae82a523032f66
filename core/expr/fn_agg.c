/* Rows of the aggregates; the kernels are in agg_*.c. */
#include "core/expr/aggcall.h"

#define AGG(NAME, KIND) .name = NAME, .kind = DTX_FN_AGG, .detail = (KIND)

static const struct dtx_fn rows[] = {
	{ AGG("count", DTX_AGG_COUNT), .sql = "count({0})", .sig = "x:A?",
	  .help = "number of rows, or of values of x" },
	{ AGG("count_if", DTX_AGG_COUNT_IF), .sig = "condition:B",
	  .help = "number of rows for which the condition is true" },
	{ AGG("count_distinct", DTX_AGG_COUNT_DISTINCT), .sql = "count(DISTINCT {0})", .aliases = "nunique,n_distinct",
	  .sig = "x:A", .help = "number of different values" },
	{ AGG("sum", DTX_AGG_SUM), .sql = "sum({0})", .sig = "x:N",
	  .help = "exact sum; null without values, overflow is an error" },
	{ AGG("mean", DTX_AGG_MEAN), .sql = "avg({0})", .aliases = "avg,average", .sig = "x:N",
	  .help = "arithmetic mean, a float" },
	{ AGG("median", DTX_AGG_MEDIAN), .sig = "x:N",
	  .help = "middle value, a float; the mean of the two middle ones" },
	{ AGG("quantile", DTX_AGG_QUANTILE), .sig = "x:N, p:f",
	  .help = "quantile p (0 to 1), linear between values (type 7)" },
	{ AGG("min", DTX_AGG_MIN), .sql = "min({0})", .sig = "x:A", .help = "smallest value" },
	{ AGG("max", DTX_AGG_MAX), .sql = "max({0})", .sig = "x:A", .help = "largest value" },
	{ AGG("first", DTX_AGG_FIRST), .sig = "x:A", .help = "first value in table order" },
	{ AGG("last", DTX_AGG_LAST), .sig = "x:A", .help = "last value in table order" },
	{ AGG("std", DTX_AGG_STD), .aliases = "stddev", .sig = "x:N",
	  .help = "standard deviation of the sample; null below two values" },
	{ AGG("var", DTX_AGG_VAR), .aliases = "variance", .sig = "x:N",
	  .help = "variance of the sample; null below two values" },
	{ AGG("any", DTX_AGG_ANY), .sql = "max({0})", .sig = "x:B", .help = "whether one value is true" },
	{ AGG("all", DTX_AGG_ALL), .sql = "min({0})", .sig = "x:B", .help = "whether every value is true" },
	{ AGG("concat_agg", DTX_AGG_CONCAT), .aliases = "string_agg", .sig = "x:V, sep:t=','",
	  .help = "values as text, in table order, joined by sep" },
};

const struct dtx_fn_table dtx_fn_agg = { "agg", "Aggregates", rows, DTX_COUNT(rows) };
