/* Which process a run belongs to, and whether it still lives. */
#ifndef DTX_STORE_LEDGER_PROCESS_H
#define DTX_STORE_LEDGER_PROCESS_H

#include "core/base/text/json.h"

struct dtx_process {
	char boot[40]; /* boot id of the machine */
	int64_t pid;
	int64_t start; /* clock ticks between boot and the start of the process */
	char host[72];
};
/* This process.  Never fails: what cannot be read is empty or 0. */
void dtx_process_self(struct dtx_process *p);
/* The name of the user that this process belongs to, by its real id; "uid 1000" where the machine
 * has no name for it.  What $USER says is no evidence.  Valid until the process ends. */
const char *dtx_process_user(void);
/* True unless it is certain that the process has ended: its host is ours, and the machine was
 * booted since, or nobody (or another, or a zombie) has its pid. */
bool dtx_process_alive(const struct dtx_process *p, const struct dtx_process *self);
/* {"boot","pid","start"}; new reference. */
json_t *dtx_process_json(const struct dtx_process *p);
void dtx_process_from_json(const json_t *object, const char *host, struct dtx_process *p);

#endif
