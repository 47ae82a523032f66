/* Runs a module in the jail on the real tables and checks what comes back. */
#ifndef DTX_FALLBACK_ADMIT_H
#define DTX_FALLBACK_ADMIT_H

#include "core/plan/exec/host.h"
#include "core/plan/exec/provider.h"
#include "core/store/ledger/record.h"

struct dtx_admit_spec { /* everything borrowed */
	const struct dtx_provider *jail;
	const struct dtx_fallback_request *region;
	struct dtx_str code;
	const json_t *params, *contract;
	const json_t *adapter; /* {"NEED": "HAVE"}: columns it knows by other names; NULL */
	struct dtx_jail_limits limits;
	const char *require_layers;
	bool no_warm;
	bool (*cancelled)(void *arg);
	void *cancel_arg;
	int64_t now_us;
	bool trial_off;     /* the screen only: nothing runs, there is no table */
	const char *policy; /* of the jail it was admitted under, "": none; NULL: does not matter */
	const json_t *names;       /* what the prompt names, see redact.h */
	bool fresh;                /* new code: runs under two hash seeds, results must be equal */
	struct dtx_record *record; /* NULL: nothing is recorded */
};
struct dtx_admit_result {
	struct dtx_table *table;        /* NULL unless the run passed */
	json_t *report_json;            /* of the last jail run; NULL: none */
	json_t *checks;                 /* rows of the contract; array */
	bool screened;                  /* the screen passed */
	bool unchanged;                 /* the table equals the region's main table */
	bool only_expect;               /* it broke the plan's expect and nothing else */
	char *needs, *flags, *formulas; /* JSON text from the screen; NULL */
	char *assumes;
	char *told; /* of a run that failed, what an author may be told; NULL */
};
void dtx_admit_clear(struct dtx_admit_result *r);

/* The screen, which also refuses members of sliding headers in the text.  Fresh code is run twice,
 * side by side, under hash seeds 0 and 1; results must be equal.  Cached code runs once, and
 * again under seed 1 where the jail's policy is not the one it was admitted under.  Then what
 * it assumes of its input, the contract, and its formulas.  Each run is a jail.end event.
 * r->screened, needs, flags and formulas are set as soon as the screen had nothing to say, also
 * when the run failed.  Codes: snippet_*. */
DTX_MUSTUSE enum dtx_code dtx_admit_run(const struct dtx_admit_spec *spec,
                                        struct dtx_admit_result *r, struct dtx_err *err);

#endif
