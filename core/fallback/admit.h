/* Admission of a module: runs it in the jail on the real tables and checks the result. */
#ifndef DTX_FALLBACK_ADMIT_H
#define DTX_FALLBACK_ADMIT_H

#include "core/plan/exec/host.h"
#include "core/plan/exec/provider.h"
#include "core/store/ledger/record.h"

struct dtx_admit_spec { /* all pointers are borrowed */
	const struct dtx_provider *jail;
	const struct dtx_fallback_request *region;
	struct dtx_str code;
	const json_t *params, *contract;
	const json_t *adapter; /* {"NEED": "HAVE"}, see adapter.h; NULL: none */
	struct dtx_jail_limits limits;
	const char *require_layers;
	bool no_warm;
	bool (*cancelled)(void *arg);
	void *cancel_arg;
	int64_t now_us;
	bool trial_off; /* only the screen: no code runs and there is no table */
	/* hash of the jail's policy when the code was approved, "" if unknown; NULL: not
	 * compared */
	const char *policy;
	const json_t *names; /* the names that the prompt shows, see redact.h */
	/* new code: runs under two hash seeds, and results must be equal */
	bool fresh;
	struct dtx_record *record; /* NULL: nothing is recorded */
};
struct dtx_admit_result {
	struct dtx_table *table;        /* NULL unless the run passed */
	json_t *report_json;            /* of the last run in the jail; NULL if there was none */
	json_t *checks;                 /* rows of the contract, an array */
	bool screened;                  /* the screen found nothing */
	bool unchanged;                 /* the result equals the region's main table */
	bool only_expect;               /* it only broke the `expect` of the plan */
	char *needs, *flags, *formulas; /* JSON text from the screen; NULL: none */
	char *assumes;
	char *for_author; /* what an author may read about a run that failed; NULL */
};
void dtx_admit_clear(struct dtx_admit_result *r);

/* Admits one module, in these steps:
 *
 *   1. the screen; it also refuses single columns of sliding headers in the code
 *   2. the run: new code twice at the same time, under hash seeds 0 and 1, with equal results;
 *      code from the cache once, and under seed 1 too if the jail's policy has changed since
 *   3. the module's ASSUMES, the contract, and its FORMULAS
 *
 * Each run is recorded as an event jail.end. r->screened, needs, flags and formulas are set as
 * soon as the screen has passed, even if a later step fails. The caller clears *r in any case.
 * Errors: snippet_*. */
DTX_MUSTUSE enum dtx_code dtx_admit_run(const struct dtx_admit_spec *spec,
                                        struct dtx_admit_result *r, struct dtx_err *err);

#endif
