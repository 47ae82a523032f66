/* jail-guest: the remote side of a jail that runs elsewhere. */
#include <unistd.h>

#include "cli/out.h"
#include "sandbox/main/remote.h"

struct jail_guest_args {
	bool unused;
};

static int jail_guest_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_err err = DTX_ERR_INIT;
	int status = 0;

	(void)args, (void)argc, (void)argv;
	if (dtx_remote_serve(STDIN_FILENO, STDOUT_FILENO, &err) != DTX_OK)
		status = dtx_out_fail(cli, &err);
	dtx_err_clear(&err);
	return status;
}

const struct dtx_cmd dtx_cmd_jail_guest = {
	.name = "jail-guest",
	.usage = "",
	.summary = "Run one snippet for a dtx on the other end of stdin and stdout",
	.notes = "DTX_JAIL=exec:COMMAND makes dtx start COMMAND for each run; COMMAND ends in `dtx "
		 "jail-guest`, in a container, a sandbox or on another machine. It locks itself "
		 "down there as it would here; what comes back is checked here.\n"
		 "  DTX_JAIL='exec:bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev dtx "
		 "jail-guest' dtx run plan.json in.csv\n"
		 "  DTX_JAIL='exec:ssh worker dtx jail-guest' dtx exec plot.py",
	.exits = "0 served; 9 the other end is gone",
	.args_size = sizeof(struct jail_guest_args),
	.run = jail_guest_run,
};
