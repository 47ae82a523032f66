/* The writing end of a pipeline: workers format and hash batches, which are then written in
 * order. */
#ifndef DTX_PLAN_EXEC_OUTPUTS_H
#define DTX_PLAN_EXEC_OUTPUTS_H

#include "core/plan/pipe/graph.h"

/* Whether an error is an output's: then another attempt to read or a snippet would not help. */
bool dtx_outputs_caused(const struct dtx_err *err);
/* The writer of an output: by its format, else by the suffix of its path. NULL if none. */
const struct dtx_writer_class *dtx_outputs_class(const struct dtx_plan_output *o);
/* Checks that each output has a writer. Codes: unsupported_format. */
DTX_MUSTUSE enum dtx_code dtx_outputs_check(const struct dtx_plan *plan, struct dtx_err *err);
/* The first output that goes to the file of output i: a workbook or database holds the tables of
 * several. i itself if it is the first. */
uint32_t dtx_outputs_file(const struct dtx_plan *plan, uint32_t i);
/* The delimiter of the first output that is delimited text; 0 if none.
 *
 * Its cells are copied as they are written in the input, quotes included, even next to cells of
 * another dialect. An output with another delimiter formats all its cells, because otherwise its
 * bytes would depend on which rows share a batch. */
char dtx_outputs_home(const struct dtx_plan *plan);
/* Streams the table of output i to its file or table, and fills result->output[i]. Called for all
 * outputs in order: a file that holds several is finished with the last of them. checks: the
 * plan's, or NULL. */
DTX_MUSTUSE enum dtx_code dtx_outputs_write(struct dtx_graph *g, uint32_t i,
                                            struct dtx_checks *checks,
                                            struct dtx_exec_result *result, struct dtx_err *err);
/* Where the text of an output goes that this process does not write. */
struct dtx_text_parts {
	void *arg;
	/* Takes the text, piece by piece. */
	enum dtx_code (*put)(void *arg, struct dtx_str text, struct dtx_err *err);
	/* Called at the end, while the sections of the frame are there. */
	enum dtx_code (*then)(void *arg, struct dtx_err *err);
};
/* Formats the rows of table t in another process than the one that writes them. Adds sections to
 * `frame`; the text has its room in the first of them. `cls` is a class with `apart`; *rows is the
 * number of rows. */
DTX_MUSTUSE enum dtx_code
dtx_outputs_texts(struct dtx_graph *g, int32_t t, const struct dtx_writer_class *cls,
                  const struct dtx_write_opts *opts, const struct dtx_text_parts *to,
                  struct dtx_frame *frame, int64_t *rows, struct dtx_err *err);
/* Frees what an output holds, and makes it empty. */
void dtx_outputs_clear(struct dtx_exec_output *out);

#endif
