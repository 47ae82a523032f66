/* A jail on another machine (DTX_JAIL=exec:COMMAND): one run over standard input and output of a
 * command, such as `ssh host dtx jail-guest` or a container runtime. `dtx jail-guest` on the
 * other side starts a zygote and a worker of its own, under every layer that its machine offers.
 *
 *   main -> guest: struct dtx_remote_ask, then the input frame
 *   guest -> main: struct dtx_remote_answer, then denied calls, stdout, stderr, the result frame
 *
 * Both sides must know the same version of these messages (the digit of the magic). The answer
 * is not trusted: it passes the same checks as the answer of a local worker. */
#ifndef DTX_SANDBOX_MAIN_REMOTE_H
#define DTX_SANDBOX_MAIN_REMOTE_H

#include "sandbox/main/super.h"

#define DTX_REMOTE_ASK    "DTXASK3"
#define DTX_REMOTE_ANSWER "DTXANS1"
#define DTX_REMOTE_PREFIX "exec:"

struct dtx_remote_ask {
	char magic[8];
	uint32_t mode, hash_seed;
	int64_t wall_ms, cpu_ms, now_us;
	uint64_t memory, output, seed, in_len, keep_output;
	char require_layers[128];
	uint32_t science, profile;
};
struct dtx_remote_denied {
	int32_t nr, verdict;
	uint32_t count, pad;
	uint64_t args[6];
	int64_t at_us;
	char name[32];
};
struct dtx_remote_answer {
	char magic[8];
	uint32_t refused, audit, has_done, has_exited, dead, kill, ndenied;
	int32_t signal;
	struct dtx_wire_welcome welcome;
	struct dtx_wire_done done;
	struct dtx_wire_exited exited;
	uint64_t stream_len[2], stream_total[2], result_len, denied_total, peak_anon, base_rss;
	int64_t us_lease, us_verify;
	char verify[16], text[320];
};

/* Gets the command from DTX_JAIL=exec:COMMAND; NULL if DTX_JAIL is not set. Error: usage, for
 * any other value. */
DTX_MUSTUSE enum dtx_code dtx_remote_command(const char **command, struct dtx_err *err);
/* Main's side: does the whole run. Then dtx_report_outcome reads the box as after a local run. */
DTX_MUSTUSE enum dtx_code dtx_remote_run(struct dtx_box *b, struct dtx_jail_report *r,
                                         struct dtx_err *err);
/* The guest's side: serves one run on these descriptors. */
DTX_MUSTUSE enum dtx_code dtx_remote_serve(int in, int out, struct dtx_err *err);
/* Whether the numbers of an answer are within their ranges. It has no side effects, so that
 * tests can feed it anything. */
DTX_MUSTUSE bool dtx_remote_sane(const struct dtx_remote_answer *a,
                                 const struct dtx_jail_limits *limits);

#endif
