/* The supervisor's end of a worker's seccomp filter. A call that the policy does not allow
 * arrives here, gets a name in the report, and is either refused with an errno or ends the
 * worker.
 *
 * The supervisor never lets the kernel continue such a call, never installs a descriptor, and
 * never reads the worker's memory. So a worker cannot change the arguments after they were
 * checked, and it can gain nothing from the supervisor. */
#ifndef DTX_SANDBOX_POLICY_NOTIFY_H
#define DTX_SANDBOX_POLICY_NOTIFY_H

#include <sys/syscall.h>

#include "core/plan/exec/provider.h"

#define DTX_NOTIFY_MAX 10000 /* refused calls per run; after that the worker is killed */

/* Answers one pending call. `self` is the worker's process id as the worker sees it, `at_us` the
 * time for the report. Returns false if the worker must be killed; the call then stays
 * unanswered. */
DTX_MUSTUSE bool dtx_notify_answer(int listener, int self, int64_t at_us,
                                   struct dtx_jail_report *report);
/* Copies the name of the pending call and does not answer it: the caller must kill the process.
 * Returns false if no call is pending. */
DTX_MUSTUSE bool dtx_notify_name(int listener, char *name, size_t size);
/* The call that a locked process makes to prove its filter to main. It changes nothing even
 * where no filter stops it, and container runtimes allow it (they may forbid ptrace, for
 * instance). */
#define DTX_NOTIFY_PROBE SYS_getpriority
/* Checks that the pending call is DTX_NOTIFY_PROBE by process `pid` with both words of `nonce`,
 * and answers it with EPERM. Returns false if it is any other call. */
DTX_MUSTUSE bool dtx_notify_probe(int listener, int pid, const uint64_t nonce[2]);

#endif
