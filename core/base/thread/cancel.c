/* The cancel flag and the deadline of the current thread: see cancel.h. */
#include "core/base/thread/cancel.h"

#include "core/base/log.h"

static _Thread_local const struct dtx_cancel *halt_of_thread;

const struct dtx_cancel *dtx_cancel_set(const struct dtx_cancel *halt)
{
	const struct dtx_cancel *was = halt_of_thread;

	halt_of_thread = halt;
	return was;
}

const struct dtx_cancel *dtx_cancel_get(void)
{
	return halt_of_thread;
}

/* Relaxed order is enough: no other data is published through the flag, and once set it stays
 * set. */
static bool cancelled(const struct dtx_cancel *h)
{
	return h->cancel && atomic_load_explicit(h->cancel, memory_order_relaxed);
}

static bool overdue(const struct dtx_cancel *h)
{
	return h->deadline_ns && dtx_now_ns() > h->deadline_ns;
}

bool dtx_cancel_now(void)
{
	const struct dtx_cancel *h = halt_of_thread;

	return h && (cancelled(h) || overdue(h));
}

enum dtx_code dtx_cancel_look(struct dtx_err *err)
{
	const struct dtx_cancel *h = halt_of_thread;
	enum dtx_code rc = DTX_OK;

	if (h && cancelled(h))
		DTX_FAIL(err, DTX_E_CANCELLED, "the run was interrupted");
	if (h && overdue(h))
		DTX_FAIL(err, DTX_E_TIME_LIMIT, "the time limit is over");
out:
	return rc;
}
