/* version: prints one line. */
#include "cli/out.h"

static int version_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_buf out = DTX_BUF_INIT(1024);
	int status;

	(void)args, (void)argc, (void)argv;
	dtx_buf_add(&out, "dtx " DTX_VERSION "\n");
	status = dtx_out_print(cli, &out);
	dtx_buf_clear(&out);
	return status;
}

const struct dtx_cmd dtx_cmd_version = {
	.name = "version",
	.usage = "",
	.summary = "Print the version",
	.args_size = 1,
	.any_settings = true,
	.run = version_run,
};
