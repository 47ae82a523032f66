/* Spans and points of time on the command line. */
#ifndef DTX_CLI_RELATIVE_TIME_H
#define DTX_CLI_RELATIVE_TIME_H

#include "core/base/err.h"

/* Parses a span: "180d", "12h", "30m", "45s", "2w". The result is in microseconds. Error: usage. */
DTX_MUSTUSE enum dtx_code dtx_relative_time_parse(const char *text, const char *option, int64_t *us,
                                                  struct dtx_err *err);
/* Parses a day ("2026-11-21"), a time ("2026-11-21T14:30:00", UTC), or a span before now. Error:
 * usage. */
DTX_MUSTUSE enum dtx_code dtx_since_parse(const char *text, const char *option, int64_t *us,
                                          struct dtx_err *err);

#endif
