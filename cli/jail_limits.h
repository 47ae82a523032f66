/* Limits of the jail: what an option gives, else the environment, the user's file, the machine's;
 * what the machine's file locks wins over all.  Nothing is read from beside plans or data. */
#ifndef DTX_CLI_JAIL_LIMITS_H
#define DTX_CLI_JAIL_LIMITS_H

#include "cli/cmd.h"
#include "cli/config.h"
#include "core/plan/provider.h"

/* As the options --jail-wall, --jail-cpu (seconds), --jail-memory, --jail-output (bytes) and
 * --jail-queue-wait (seconds) say; 0: not given. */
struct dtx_jail_given {
	int64_t wall, cpu, memory, output, queue;
};

/* 0 stays for what nobody sets.  A setting that is no number or outside of the option's bounds is
 * usage. */
DTX_MUSTUSE enum dtx_code dtx_jail_limits_settle(const struct dtx_jail_given *given,
                                                 struct dtx_config *config,
                                                 struct dtx_jail_limits *out, struct dtx_err *err);
/* The same from the configuration's usual places; cli (NULL: nobody) is told of options that a lock
 * overrules. */
DTX_MUSTUSE enum dtx_code dtx_jail_limits_open(const struct dtx_jail_given *given,
                                               struct dtx_jail_limits *out,
                                               const struct dtx_cli *cli, struct dtx_err *err);

#endif
