/* The supervisor's end of a worker's filter: what the policy does not allow arrives here, is
 * named, then refused or answered with death.  Never answered with "go on", never with a
 * descriptor, and no memory of the worker is read. */
#ifndef DTX_SANDBOX_POLICY_NOTIFY_H
#define DTX_SANDBOX_POLICY_NOTIFY_H

#include <sys/syscall.h>

#include "core/plan/exec/provider.h"

#define DTX_NOTIFY_MAX 10000 /* refusals; then the worker is killed */

/* Answers one pending call of process `self`, as it calls itself.  false: the worker must be killed
 * (the call stays unanswered). */
DTX_MUSTUSE bool dtx_notify_answer(int listener, int self, int64_t at_us,
                                   struct dtx_jail_report *report);
/* The name of a pending call, which stays unanswered: the caller of it must be killed.  False: none
 * is pending. */
DTX_MUSTUSE bool dtx_notify_name(int listener, char *name, size_t size);
/* The call by which a locked process shows main its filter: harmless where no filter stops it, and
 * one that a container's own filter does not refuse first, as it may refuse ptrace. */
#define DTX_NOTIFY_PROBE SYS_getpriority
/* The one call that main asked the worker to make: DTX_NOTIFY_PROBE with both nonces; answered with
 * EPERM.  False: it is not that call. */
DTX_MUSTUSE bool dtx_notify_probe(int listener, int pid, const uint64_t nonce[2]);

#endif
