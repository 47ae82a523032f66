/* Log messages, which go to a callback.  Nothing is logged per row. */
#ifndef DTX_BASE_LOG_H
#define DTX_BASE_LOG_H

#include "core/base/base.h"

enum dtx_level { DTX_LOG_ERROR, DTX_LOG_WARN, DTX_LOG_INFO, DTX_LOG_DEBUG, DTX_LOG_TRACE };

struct dtx_log {
	enum dtx_level level; /* messages of a higher level are dropped */
	/* May be called from any thread.  `event` is a short stable word for programs, `text` is
	 * for people. */
	void (*put)(void *arg, enum dtx_level level, const char *event, const char *text);
	void *arg;
};
/* Formats a message and passes it on.  With a NULL log it is dropped. */
void dtx_log(const struct dtx_log *log, enum dtx_level level, const char *event, const char *fmt,
             ...) DTX_PRINTF(4, 5);
/* Monotonic clock, nanoseconds. */
int64_t dtx_now_ns(void);
/* Wall clock, microseconds since 1970 UTC. */
int64_t dtx_wall_us(void);

#endif
