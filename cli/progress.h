/* Progress of a run on stderr: one line on a terminal that erases itself, or JSON lines for
 * programs
 * (--progress=json).  Nothing before the work has taken half a second. */
#ifndef DTX_CLI_PROGRESS_H
#define DTX_CLI_PROGRESS_H

#include <pthread.h>

#include "cli/cmd.h"
#include "core/base/buf.h"
#include "core/base/progress.h"

enum dtx_progress_how { DTX_PROGRESS_AUTO, DTX_PROGRESS_JSON, DTX_PROGRESS_OFF };

struct dtx_ticker {
	struct dtx_progress now; /* for the executor */
	enum dtx_progress_how how;
	const char *first; /* the input named until one is read; NULL */
	int64_t start_ns;
	pthread_t thread;
	pthread_mutex_t lock; /* of stop and held */
	pthread_cond_t wake;
	bool running, stop, held, shown;
};
/* Starts the thread that looks, if anybody is to see it; without a thread the run goes on. */
void dtx_ticker_start(struct dtx_ticker *t, const struct dtx_cli *cli, enum dtx_progress_how how,
                      const char *first);
/* Erases its line and writes none until it is let go again: a question stands on the screen. */
void dtx_ticker_hold(struct dtx_ticker *t, bool held);
/* Ends it and erases its line. */
void dtx_ticker_stop(struct dtx_ticker *t);
/* The line or the JSON object for `elapsed` nanoseconds. */
void dtx_ticker_line(const struct dtx_ticker *t, int64_t elapsed, struct dtx_buf *out);

#endif
