/* The fallback: answers a step (or an input) that the typed engine cannot do with a snippet of
 * Python. A request that is made of one or more steps is called a region.
 *
 * The executor calls dtx_fallback_answer through host->fallback. The answer comes from a
 * supplied module, the cache or an author; it runs in the jail, must keep its contract, and is
 * stored in the cache. Each event is recorded before it can have an effect. */
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

struct dtx_fallback_ctx { /* filled by the caller and borrowed for the whole run */
	const struct dtx_provider *jail;
	struct dtx_record *record;      /* NULL: nothing is recorded (for a prompt) */
	struct dtx_store *store;        /* the cache; NULL if none yet (for a prompt) */
	const char *ns;                 /* namespace of the cache */
	const char *abi;                /* "py3.11;pandas1.5;numpy1.24;dtx1;<8 hex digits>" */
	const char *imports, *dx_names; /* shown in the prompt */
	struct dtx_str supplied;        /* text of --snippet; ptr NULL: none */
	bool supplied_used;             /* set by the fallback: the module has answered a region */
	/* set by the fallback: why the module could not answer a region that a cached snippet
	 * then answered; the caller clears it */
	struct dtx_err supplied_err;
	/* {"NEED": "HAVE"} for the supplied module, see adapter.h; NULL: none */
	const char *adapter;
	struct dtx_approval gate;
	const struct dtx_author *author; /* NULL: no author is asked */
	int64_t author_timeout_ms;       /* 0: DTX_AUTHOR_TIMEOUT_MS */
	struct dtx_budget budget;
	/* uses the cache only: no author is asked for an answer or a repair */
	bool cache_only;
	/* asks again for what failed within the last hour */
	bool retry_author;
	bool trial_off;                           /* no code runs before a person has approved it */
	void (*say)(void *arg, const char *text); /* progress messages for people; NULL: none */
	void *say_arg;
	const char *const *deny; /* globs of columns that no prompt names */
	size_t ndeny;
	/* set by the fallback if a region failed: what caused the request; the caller clears it */
	struct dtx_err finding;
	/* set by the fallback: it failed because there was no answer, and an author or --snippet
	 * could give one */
	bool offered;
	/* set by the fallback when the run is done: warnings about snippets whose results are
	 * used; the caller clears it */
	struct dtx_errlist warnings;
	/* set by the fallback if there was no answer: snippets that would fit with columns
	 * renamed, [{"snippet","score","rename","adopt"}]; the caller frees it */
	json_t *near;
	bool strict_schema;
	struct dtx_jail_limits limits;
	const char *require_layers; /* NULL: none are required */
	bool no_warm;
	bool (*cancelled)(void *arg); /* NULL: never */
	void *cancel_arg;
	int64_t now_us;       /* the time that a snippet sees */
	const char *run_date; /* text of --run-date; NULL: none */
	const char *operands; /* the operands of the command, "plan.json input.xlsx", for hints */
	enum dtx_sample sample;
	/* For a replay: the regions of the record with their "cell" and its "code". No other
	 * code may run. NULL: not a replay. */
	const json_t *recorded;
	/* For `dtx prompt`, otherwise NULL: cached snippets run, and for the first region
	 * without one the prompt is written here and the error is needs_snippet. */
	struct dtx_prompt *prompt;
	struct dtx_fallback_job *done; /* private: the regions of this run that are answered */
};

/* host->fallback; `arg` is the struct dtx_fallback_ctx. On success *out is a new reference to
 * the result.
 *
 * The module of --snippet answers the first region that it can. If it fails for a region that
 * has an approved snippet, that one runs, and the module is tried again for the next region.
 *
 * If a later step could not use a result, the executor asks again for the same region with
 * `broke` set. This counts as a failed attempt, and the author gets to know about it.
 *
 * Errors: needs_approval, snippet_*. If there is no answer: needs_snippet for a step that only a
 * snippet can do, otherwise the error that caused the request. */
DTX_MUSTUSE enum dtx_code dtx_fallback_answer(void *arg, const struct dtx_fallback_request *region,
                                              struct dtx_table **out, struct dtx_err *err);

/* Looks up an answer without running it. *rung becomes exact, compatible or pending (then `id`
 * is set), or none. The tables of the region may have no rows. */
DTX_MUSTUSE enum dtx_code dtx_fallback_look(struct dtx_fallback_ctx *r,
                                            const struct dtx_fallback_request *region,
                                            enum dtx_rung *rung, char id[DTX_SNIPPET_ID],
                                            struct dtx_err *err);

/* host->finish_approval. `when` says how far the run has come, and the bits of `stands` which
 * regions' answers are still in use. New code is approved once the typed steps after its region
 * have used its result without an error. If the run failed for another reason, the code is only
 * kept for a person to look at. After DONE and FAILED the regions are in the record. Error:
 * needs_approval. */
DTX_MUSTUSE enum dtx_code dtx_fallback_finish(void *arg, enum dtx_finish_when when, uint64_t stands,
                                              struct dtx_err *err);
/* Frees the private parts; may be called at any time. */
void dtx_fallback_ctx_clear(struct dtx_fallback_ctx *r);

#endif
