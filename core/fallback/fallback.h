/* One region, start to end: key, cache or supplied module, jail, contract, cache again.
 *
 * The executor calls dtx_fallback_answer through host->fallback.  Everything that happens goes into
 * the record before it can have an effect. */
#ifndef DTX_FALLBACK_FALLBACK_H
#define DTX_FALLBACK_FALLBACK_H

#include "core/fallback/author/author.h"
#include "core/fallback/approval.h"
#include "core/fallback/prompt/prompt.h"
#include "core/fallback/retry.h"
#include "core/plan/exec/host.h"
#include "core/plan/exec/provider.h"
#include "core/store/ledger/record.h"
#include "core/store/cache/snippet.h"

struct dtx_fallback_job;

struct dtx_fallback_ctx { /* filled by the caller, borrowed for the run */
	const struct dtx_provider *jail;
	struct dtx_record *record;      /* NULL: nothing is recorded (a prompt) */
	struct dtx_store *store;        /* the cache; NULL: there is none yet (a prompt) */
	const char *ns;                 /* namespace of the cache */
	const char *abi;                /* "py3.11;pandas1.5;numpy1.24;dtx1;<8 hex>" */
	const char *imports, *dx_names; /* for the prompt */
	struct dtx_str supplied;        /* text of --snippet; ptr NULL: none */
	bool supplied_used;             /* set by the fallback: it does a region */
	struct dtx_err supplied_err;    /* set by the fallback: why it does not do one that a cached
	                                 * snippet then did; the caller clears it */
	const char *adapter;            /* columns that the supplied module knows by other names,
	                                 * {"NEED": "HAVE"}; NULL */
	struct dtx_approval gate;
	const struct dtx_author *author; /* NULL: nobody is asked */
	int64_t author_timeout_ms;       /* 0: DTX_AUTHOR_TIMEOUT_MS */
	struct dtx_budget budget;
	bool cache_only;                          /* neither asks nor repairs */
	bool retry_author;                        /* asks again what failed within the hour */
	bool trial_off;                           /* no code runs before it is approved */
	void (*say)(void *arg, const char *text); /* progress, for people; NULL */
	void *say_arg;
	const char *const *deny; /* globs of columns that no prompt names */
	size_t ndeny;
	struct dtx_err finding; /* set by the fallback: what the last region was asked for, when it
	                         * failed; the caller clears it */
	bool offered; /* set by the fallback: it failed because there was no answer, and one may be
	               * given: an author's, or --snippet */
	struct dtx_errlist warnings; /* set by the fallback when the run is done: of snippets whose
	                              * results are in use; the caller clears it */
	json_t *near; /* set by the fallback when there was no answer: what would fit with columns
	               * renamed, [{"snippet","score","rename","adopt"}]; the caller's to free */
	bool strict_schema;
	struct dtx_jail_limits limits;
	const char *require_layers; /* NULL */
	bool no_warm;
	bool (*cancelled)(void *arg); /* NULL: never */
	void *cancel_arg;
	int64_t now_us;       /* the clock a snippet sees */
	const char *run_date; /* text of --run-date, NULL: none */
	const char *operands; /* "plan.json input.xlsx": the same without command and options */
	enum dtx_sample sample;
	/* a replay: regions of the record with their "cell" and its "code", which alone may run;
	 * NULL: a run of its own */
	const json_t *recorded;
	struct dtx_prompt *prompt; /* not NULL: cached snippets run; for the first region without
	                            * one the prompt is made here, and it ends with needs_snippet */
	struct dtx_fallback_job *done; /* private: regions of this run, by number */
};

/* The module of --snippet does the first region that it can do: where it fails and a cached one is
 * approved, that one runs and the module waits for the next region.
 *
 * A region that is asked for again with `broke` goes on where it was: the failure counts as one of
 * the attempt that gave the result, and the author gets it back.
 *
 * host->fallback; arg is the struct dtx_fallback_ctx. Codes: needs_approval, snippet_*; where there
 * is no answer, needs_snippet for a step that only a snippet can do, else the finding's own. */
DTX_MUSTUSE enum dtx_code dtx_fallback_answer(void *arg, const struct dtx_fallback_request *region,
                                              struct dtx_table **out, struct dtx_err *err);

/* Looks an answer up, and runs none: *rung is exact, compatible or pending (then `id` has it), else
 * none.  The region's tables may be without rows. */
DTX_MUSTUSE enum dtx_code dtx_fallback_look(struct dtx_fallback_ctx *r,
                                            const struct dtx_fallback_request *region,
                                            enum dtx_rung *rung, char id[DTX_SNIPPET_ID],
                                            struct dtx_err *err);

/* host->settle: code that is new is approved when the typed steps behind its region had nothing
 * against its result; it is only kept for a person when the run failed for another reason.  Codes:
 * needs_approval.  After DONE and FAILED the record has the regions. */
DTX_MUSTUSE enum dtx_code dtx_fallback_finish(void *arg, enum dtx_settle when, uint64_t stands,
                                              struct dtx_err *err);
/* Frees what is private; fine at any time. */
void dtx_fallback_ctx_clear(struct dtx_fallback_ctx *r);

#endif
