/* Shows the progress of a run on stderr: one line on a terminal, which is erased at the end, or
 * JSON lines for programs (--progress=json). Nothing is shown in the first half second. */
#ifndef DTX_CLI_PROGRESS_H
#define DTX_CLI_PROGRESS_H

#include <pthread.h>

#include "cli/cmd.h"
#include "core/base/memory/buf.h"
#include "core/base/thread/progress.h"
#include "core/plan/plan.h"

enum dtx_progress_how { DTX_PROGRESS_AUTO, DTX_PROGRESS_JSON, DTX_PROGRESS_OFF };

struct dtx_ticker {
	struct dtx_progress now; /* the executor writes to it */
	enum dtx_progress_how how;
	const char *first; /* shown until an input is read; NULL: none */
	uint64_t total;    /* bytes of all inputs, if there are several; 0: not known */
	uint32_t ninputs;
	const struct dtx_plan *plan; /* names the step that works; NULL: none is shown */
	int64_t start_ns;
	pthread_t thread;
	pthread_mutex_t lock; /* protects stop and held */
	pthread_cond_t wake;
	bool running, stop, held, shown;
};
/* Starts the thread, if there is someone to show it to. If no thread can be started, the run
 * goes on without. */
void dtx_ticker_start(struct dtx_ticker *t, const struct dtx_cli *cli, enum dtx_progress_how how,
                      const char *first);
/* Erases the line and stops writing until it is called with false. Used while a question is on
 * the screen. */
void dtx_ticker_hold(struct dtx_ticker *t, bool held);
/* Ends the thread and erases the line. */
void dtx_ticker_stop(struct dtx_ticker *t);
/* Appends the line or the JSON object for `elapsed` nanoseconds. */
void dtx_ticker_line(const struct dtx_ticker *t, int64_t elapsed, struct dtx_buf *out);

#endif
