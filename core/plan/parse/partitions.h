/* Columns that are in the names of folders: sales/year=2024/month=1/part.parquet has a year and a
 * month for all its rows, as Hive, Spark and DuckDB write them. */
#ifndef DTX_PLAN_PARSE_PARTITIONS_H
#define DTX_PLAN_PARSE_PARTITIONS_H

#include "core/plan/plan.h"

/* Reads the folders KEY=VALUE of the paths of input `in`, as they are shown, without the file's own
 * name. %XX is decoded. A value that is empty, __HIVE_DEFAULT_PARTITION__ or one of the input's
 * null_values is null. A column has the type that the input declares, else the narrowest that all
 * its values fit, as in a text file. *out is a new list of {"name", "type", "values": [a text or
 * null for each file]}, with the texts as the cast functions read them: the constants of a
 * union.
 * Codes: bad_param_value (a file has no such folders, or other keys than the first one),
 * cast_failed, no_memory. */
DTX_MUSTUSE enum dtx_code dtx_partitions_read(struct dtx_plan *p, const struct dtx_plan_input *in,
                                              const struct dtx_plan_file *file, size_t n,
                                              json_t **out, struct dtx_err *err);
/* Takes the names of these columns out of `types` and `requires` of the options of one file, which
 * has no such columns. Code: no_memory. */
DTX_MUSTUSE enum dtx_code dtx_partitions_undeclare(struct dtx_arena *a, const json_t *columns,
                                                   struct dtx_read_opts *opts, struct dtx_err *err);

#endif
