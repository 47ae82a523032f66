/* The log of a run, --log-json FILE: one JSON object per line, each written at once. dtx-run(1)
 * lists the events. A line that cannot be written is a warning at the end; the run goes on. */
#ifndef DTX_CLI_RUN_RUNLOG_H
#define DTX_CLI_RUN_RUNLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

struct dtx_runner;
struct dtx_runlog {
	bool open, started;
	int fd;
	struct dtx_err failed; /* the first line that could not be written */
	int64_t start_ns, step_ns;
};

/* Opens the file, to add to its end, before anything else is done. Does nothing without the option.
 * Errors: usage, for "-", stdout, the plan and operands; output_io. */
DTX_MUSTUSE enum dtx_code dtx_runlog_open(struct dtx_runner *r, int argc, char **argv,
                                          struct dtx_err *err);
/* Reserves the file among those of the run, and writes run_started. Errors: usage. */
DTX_MUSTUSE enum dtx_code dtx_runlog_start(struct dtx_runner *r, struct dtx_err *err);
/* For struct dtx_progress: arg is the runner. */
void dtx_runlog_moved(void *arg, int step, bool ended, int64_t rows);
/* A step or input is handed to a snippet, because of `why`. */
void dtx_runlog_fallback(struct dtx_runner *r, const struct dtx_err *why);
/* Writes the rows of steps, warnings, the error, outputs and run_ended, and closes the file. */
void dtx_runlog_end(struct dtx_runner *r, enum dtx_code rc, const struct dtx_err *err, int status);

#endif
