/* Replaces an input with several files by one input per file and a union of them, which becomes the
 * first step. So the record, lineage and replay see each file as an input of its own. */
#ifndef DTX_PLAN_PARSE_EXPAND_GLOBS_H
#define DTX_PLAN_PARSE_EXPAND_GLOBS_H

#include "core/plan/plan.h"

#define DTX_EXPAND_FILES 100000 /* limit per input */

/* Finds the files of input i: expands patterns and folders (with the folders in them, without names
 * that begin with '.' or '_') and sorts the matches of each by bytes. *file is allocated in the
 * plan's arena. Codes: input_not_found (a pattern has no match, a folder no file), bad_param_value
 * (a file occurs twice, there are too many, or a folder has files of several kinds), input_io. */
DTX_MUSTUSE enum dtx_code dtx_expand_files(struct dtx_plan *p, uint32_t i,
                                           struct dtx_plan_file **file, size_t *n,
                                           struct dtx_err *err);
/* Makes input i read these files (at least one). Ids of tables and indexes of steps after it
 * change; the canonical form and the id of the plan stay the same. Codes: no_memory, and findings
 * of the new step, and those of dtx_partitions_read. */
DTX_MUSTUSE enum dtx_code dtx_expand_input(struct dtx_plan *p, uint32_t i,
                                           const struct dtx_plan_file *file, size_t n,
                                           struct dtx_errlist *findings, struct dtx_err *err);
/* Writes the table name of file k (from 0) of an input. No plan can contain such a name. */
void dtx_expand_name(char *buf, size_t size, const char *input, size_t k);

#endif
