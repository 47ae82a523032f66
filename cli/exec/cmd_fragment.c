/* fragment: does one part of a run that is spread over several processes. */
#include <signal.h>
#include <sys/prctl.h>

#include "cli/out.h"
#include "core/cluster/fragment.h"

struct fragment_args {
	bool unused;
};

static int fragment_run(const struct dtx_cli *cli, void *args, int argc, char **argv)
{
	struct dtx_buf out = DTX_BUF_INIT((size_t)16 << 20);
	enum dtx_fragment_class class;
	int status;

	(void)args, (void)argc;
	/* a driver that is killed must not leave its fragments running */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	class = dtx_fragment_run(dtx_str_of(argv[0]), &out);
	status = dtx_out_print(cli, &out);
	dtx_buf_clear(&out);
	return status ? status : (int)class;
}

const struct dtx_cmd dtx_cmd_fragment = {
	.name = "fragment",
	.usage = "SPEC",
	.summary = "Do one part of a run that is spread over several processes",
	.notes =
		"`dtx run --engine` starts it; SPEC is a JSON object that says which rows of which "
		"job. The result is a file in the exchange folder, and what is printed is its "
		"manifest, or the error, as JSON on one line. Calling it twice gives the same "
		"file.",
	.exits = "0 done; 10 a type is wider than was known; 11 only one process can do it; 20 the "
		 "rows or the plan; 30 reading or writing failed; 40 a limit; 50 an input has "
		 "changed",
	.args_size = sizeof(struct fragment_args),
	.min_args = 1,
	.max_args = 1,
	.run = fragment_run,
};
