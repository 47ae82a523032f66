/* The state of one request for a snippet, and the functions of its stages:
 *
 *   fallback.c         the key, where code may come from, the record
 *   job_prompt.c       the prompt; the error if there is no answer
 *   job_admit.c        from extracting code to approving it
 *   job_author.c       asking an author, and trying again
 *   finish_approval.c  waiting until the later typed steps have used the result */
#ifndef DTX_FALLBACK_FALLBACK_JOB_H
#define DTX_FALLBACK_FALLBACK_JOB_H

#include "core/fallback/admit.h"
#include "core/fallback/fingerprint.h"
#include "core/fallback/fallback.h"

struct dtx_fallback_job {
	struct dtx_fallback_ctx *r;
	const struct dtx_fallback_request *region;
	struct dtx_fingerprint_table *tables;
	size_t ntables;
	json_t *contract, *doc, *order, *region_json, *params, *shape, *adapter, *names;
	char fingerprint[DTX_FINGERPRINT_TEXT], intent[DTX_FINGERPRINT_TEXT], contract_hash[65];
	struct dtx_arena arena;
	struct dtx_buf code;
	struct dtx_snippet snippet; /* found in the cache */
	char id[DTX_SNIPPET_ID];
	enum dtx_rung rung;
	struct dtx_admit_result admitted;
	struct {
		int64_t rows, cols;
	} before; /* size of the table, or of the raw cells, that the snippet gets */
	/* about the author's answer */
	const char *origin; /* "supplied", "cmd" and so on */
	char call_id[64], model[128];
	struct dtx_disclosed disclosed;
	unsigned attempts;
	bool asked;
	struct dtx_retry retry; /* the author's attempts so far */
	/* once the region is answered */
	struct dtx_fallback_job *next;    /* the other regions of the run, by number */
	struct dtx_fallback_request kept; /* `region` points here then; it has no tables */
	bool waits, supplied;             /* waits for its approval; was supplied by the user */
	char lease[80];                   /* the lease that it holds, or "" */
	enum dtx_code ended;              /* how it ended, for the record */
};

void dtx_fallback_job_free(struct dtx_fallback_job *w); /* `w` may be NULL */
/* Puts an answered region into the list of the run. */
void dtx_fallback_job_keep(struct dtx_fallback_job *w);
/* Takes a region out of that list again; NULL if it was not answered before. */
struct dtx_fallback_job *dtx_fallback_job_take(struct dtx_fallback_ctx *r,
                                               const struct dtx_fallback_request *region);
/* w->code passed its checks. It now waits for the typed steps after the region; with --trial off
 * it is approved at once. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_offer(struct dtx_fallback_job *w, bool supplied,
                                                 struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_fallback_job_drop_lease(struct dtx_fallback_job *w,
                                                      struct dtx_err *err);
/* Writes the region and its checks to the record. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_record(struct dtx_fallback_job *w, struct dtx_err *err);

/* Records an event; takes `body`. Nothing is recorded for `dtx prompt`, which is not a run. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_event(const struct dtx_fallback_job *w, const char *kind,
                                                 json_t *body, struct dtx_err *err);
struct dtx_snippet_key dtx_fallback_job_key(const struct dtx_fallback_job *w);
const char *dtx_fallback_job_op(const struct dtx_fallback_job *w);
/* Looks the region up in the cache: sets w->rung, w->snippet, w->id. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_find(struct dtx_fallback_job *w, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_fallback_job_event_cache(const struct dtx_fallback_job *w,
                                                       struct dtx_err *err);
/* Forgets the code and the result of an attempt. */
void dtx_fallback_job_reset(struct dtx_fallback_job *w);

DTX_MUSTUSE enum dtx_code dtx_fallback_job_prompt(struct dtx_fallback_job *w,
                                                  const struct dtx_prompt_previous *previous,
                                                  struct dtx_prompt *out, struct dtx_err *err);
/* Sets the error that the region has without a snippet: what caused the request. */
void dtx_fallback_job_own(const struct dtx_fallback_request *region, struct dtx_err *err);
/* Reports that there is no answer: needs_snippet for what only a snippet can do, otherwise the
 * cause of the request. Always fails. */
enum dtx_code dtx_fallback_job_unanswered(struct dtx_fallback_job *w, struct dtx_err *err);
/* Finds snippets that would fit with columns renamed, for r->near. The rung becomes `near` if
 * there are any. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_similar(struct dtx_fallback_job *w, struct dtx_err *err);

/* Admits new code in w->code: screens it, runs it, and keeps it as a candidate. `answer` is the
 * text that it was extracted from. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_try(struct dtx_fallback_job *w, struct dtx_str answer,
                                               struct dtx_err *err);
/* w->code passed: marks it as pending, so that a person can look at it. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_pending(struct dtx_fallback_job *w, struct dtx_err *err);
/* w->code passed: marks it as pending, then approves it or fails with needs_approval. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_approve(struct dtx_fallback_job *w, bool supplied,
                                                   struct dtx_err *err);
/* Runs the approved code of w->snippet. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_run(struct dtx_fallback_job *w, struct dtx_err *err);

/* Runs w->code, which a recorded run used, with its adapter (NULL or JSON null: none). */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_recorded(struct dtx_fallback_job *w,
                                                    const json_t *adapter, struct dtx_err *err);

/* Whether an author may be asked. */
bool dtx_fallback_job_may_ask(const struct dtx_fallback_job *w);
/* Whether another attempt may follow the one that failed. If not, *why gets a hint that says so.
 * `report` (may be NULL) and `code` show whether this is the same failure as last time. */
bool dtx_fallback_job_may_retry(struct dtx_fallback_job *w, enum dtx_code failed,
                                struct dtx_str code, const json_t *report, struct dtx_err *why);
/* Records the event attempt.end of attempt w->attempts. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_attempt_end(struct dtx_fallback_job *w,
                                                       enum dtx_code how, struct dtx_err *err);
/* Asks the author until an answer passes or no attempt is left. `failed` is why the code at hand
 * (w->code, w->admitted) does not do, and is moved from; NULL: there is no code. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_author(struct dtx_fallback_job *w,
                                                  struct dtx_err *failed, struct dtx_err *err);

#endif
