/* Formatting of log messages, and the two clocks. */
#include "core/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void dtx_log(const struct dtx_log *log, enum dtx_level level, const char *event, const char *fmt,
             ...)
{
	char text[1024];
	va_list ap;

	if (!log || !log->put || level > log->level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log->put(log->arg, level, event, text);
}

int64_t dtx_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t dtx_wall_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
