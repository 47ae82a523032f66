/* A jail elsewhere: one run over the stdin and stdout of a command, on whose far side `dtx
 * jail-guest` has a worker of its own, behind every layer that its machine gives.
 *
 *   main -> guest: struct dtx_remote_ask, the input frame
 *   guest -> main: struct dtx_remote_answer, denied calls, stdout, stderr, the result frame
 *
 * Nothing of the answer is believed before it is checked: it goes through what a worker's goes
 * through. */
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

/* The command of DTX_JAIL=exec:COMMAND, NULL when it is not set.  Code: usage for another value. */
DTX_MUSTUSE enum dtx_code dtx_remote_command(const char **command, struct dtx_err *err);
/* Main's side: the whole run; then dtx_report_outcome reads the box as it reads a local one. */
DTX_MUSTUSE enum dtx_code dtx_remote_run(struct dtx_box *b, struct dtx_jail_report *r,
                                         struct dtx_err *err);
/* The guest's side: serves one run on these descriptors. */
DTX_MUSTUSE enum dtx_code dtx_remote_serve(int in, int out, struct dtx_err *err);
/* Whether an answer's numbers are in their ranges; pure. */
DTX_MUSTUSE bool dtx_remote_sane(const struct dtx_remote_answer *a,
                                 const struct dtx_jail_limits *limits);

#endif
