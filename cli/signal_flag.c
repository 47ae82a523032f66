/* The flag that signal handlers set, see signal_flag.h. */
#include "cli/signal_flag.h"

#include <signal.h>

#include "core/base/log.h"

/* These two variables are all that a handler accesses. */
static atomic_bool cancel_flag;
static atomic_llong cancel_ns;

/* timeout(1) and shells send a signal twice, to the process and to its group. Within this time
 * it counts as one request. */
#define SAME_REQUEST_NS 500000000LL

static void cancel_on_signal(int sig)
{
	long long now = dtx_now_ns();
	long long none = 0;

	atomic_store(&cancel_flag, true);
	if (atomic_compare_exchange_strong(&cancel_ns, &none, now) || now - none < SAME_REQUEST_NS)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

void dtx_cancel_catch(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	for (size_t i = 0; i < DTX_COUNT(signals); i++) {
		struct sigaction act = { .sa_handler = cancel_on_signal };
		struct sigaction was;

		if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
	}
}

const atomic_bool *dtx_cancel_flag(void)
{
	return &cancel_flag;
}

bool dtx_cancel_asked(void *arg)
{
	(void)arg;
	return atomic_load(&cancel_flag);
}
