/* The limits of the jail: from an option, otherwise the environment, the user's file, or the
 * machine's file. What the machine's file locks wins over everything. No file next to plans or
 * data is read. */
#ifndef DTX_CLI_EXEC_JAIL_LIMITS_H
#define DTX_CLI_EXEC_JAIL_LIMITS_H

#include "cli/cmd.h"
#include "cli/settings/config.h"
#include "core/plan/exec/provider.h"

/* The options --jail-wall, --jail-cpu (seconds), --jail-memory, --jail-output (bytes) and
 * --jail-queue-wait (seconds); 0: not given. */
struct dtx_jail_given {
	int64_t wall, cpu, memory, output, queue;
	int profile; /* --jail-profile: 0, or enum dtx_jail_profile + 1 */
};
#define DTX_JAIL_SECONDS_MAX 86400
#define DTX_JAIL_BYTES_MAX   ((int64_t)1 << 40)
#define DTX_JAIL_OUTPUT_MIN  4096

/* Rows for an option table whose arguments have a struct dtx_jail_given `jail`; AT is defined by
 * the file of the table. `who` is limited, `what` is its output. */
#define DTX_JAIL_SECONDS(option, member, text)                                                     \
	{                                                                                          \
		.name = option, .group = "limits of the jail", .kind = DTX_O_INT,                  \
		.metavar = "SECONDS", AT(member), .min = 1, .max = DTX_JAIL_SECONDS_MAX,           \
		.help = text                                                                       \
	}
#define DTX_JAIL_SIZE(option, member, least, text)                                                 \
	{                                                                                          \
		.name = option, .group = "limits of the jail", .kind = DTX_O_SIZE,                 \
		.metavar = "SIZE", AT(member), .min = (least), .max = DTX_JAIL_BYTES_MAX,          \
		.help = text                                                                       \
	}
#define DTX_JAIL_PROFILE(text)                                                                     \
	{                                                                                          \
		.name = "jail-profile", .group = "limits of the jail", .kind = DTX_O_CHOICE,       \
		.choices = "as-set,sealed,lib-ro", AT(jail.profile), .help = text                  \
	}
#define DTX_JAIL_OPTS(who, what)                                                                   \
	DTX_JAIL_SECONDS("jail-wall", jail.wall, "time limit of " who " (30)"),                    \
		DTX_JAIL_SECONDS("jail-cpu", jail.cpu, "CPU time limit of " who " (30)"),          \
		DTX_JAIL_SIZE("jail-memory", jail.memory, DTX_JAIL_MEMORY_MIN,                     \
	                      "memory limit of " who " (1G)"),                                     \
		DTX_JAIL_SIZE("jail-output", jail.output, DTX_JAIL_OUTPUT_MIN,                     \
	                      "size limit of " what " (1G)"),                                      \
		DTX_JAIL_SECONDS("jail-queue-wait", jail.queue,                                    \
	                         "how long " who                                                   \
	                         " waits for a free worker, where others have them all (60)"),     \
		DTX_JAIL_PROFILE("what " who                                                       \
	                         " may read besides its input: nothing (sealed), or modules that " \
	                         "were not imported beforehand, from Python's folders (lib-ro)")

/* Finds the limits; 0 means not set. */
void dtx_jail_limits_settle(const struct dtx_jail_given *given, struct dtx_config *config,
                            struct dtx_jail_limits *out);
/* The same with the configuration at its usual places. `cli` (may be NULL) is used to report
 * options that a lock overrules. */
DTX_MUSTUSE enum dtx_code dtx_jail_limits_open(const struct dtx_jail_given *given,
                                               struct dtx_jail_limits *out,
                                               const struct dtx_cli *cli, struct dtx_err *err);

#endif
