/* Identifies the process that a run belongs to, and finds whether it is still alive.  A pid alone
 * is not enough, because pids are reused: boot id and start time make it unique. */
#ifndef DTX_STORE_LEDGER_PROCESS_H
#define DTX_STORE_LEDGER_PROCESS_H

#include "core/base/text/json.h"

struct dtx_process {
	char boot[40]; /* boot id of the machine */
	int64_t pid;
	int64_t start; /* clock ticks between boot and the start of the process */
	char host[72];
};
/* Describes this process.  Never fails: what cannot be read is empty or 0. */
void dtx_process_self(struct dtx_process *p);
/* The name of the user that owns this process, by its real user id; "uid 1000" if the machine has
 * no name for it.  $USER is not used, because anyone can set it.  Valid until the process ends. */
const char *dtx_process_user(void);
/* False only if it is certain that the process has ended: it ran on this host, and the machine has
 * been booted since, or its pid is unused or belongs to another process or a zombie. */
bool dtx_process_alive(const struct dtx_process *p, const struct dtx_process *self);
/* {"boot","pid","start"}.  New reference. */
json_t *dtx_process_json(const struct dtx_process *p);

#endif
