/* One request for a snippet at work, and what its stations share.
 *
 *   fallback.c         identity, where code may come from, record
 *   job_prompt.c       the prompt; the words when there is no answer
 *   job_admit.c        EXTRACT to APPROVE of code that is at hand
 *   job_author.c       AUTHOR and RETRY
 *   finish_approval.c  what waits until the typed steps after the region have tried its result
 */
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
	struct dtx_snippet snippet; /* from the cache */
	char id[DTX_SNIPPET_ID];
	enum dtx_rung rung;
	struct dtx_admit_result admitted;
	struct {
		int64_t rows, cols;
	} before; /* of the table, or the cells, that it is given */
	/* of an author's answer */
	const char *origin; /* "supplied", "cmd" ... */
	char call_id[64], model[128];
	struct dtx_disclosed disclosed;
	unsigned attempts;
	bool asked;
	struct dtx_retry retry; /* of the author's attempts */
	/* when the region is answered */
	struct dtx_fallback_job *next;    /* regions of the run, by number */
	struct dtx_fallback_request kept; /* what `region` is then: no tables */
	bool waits, supplied;             /* for its approval; it was given by hand */
	char lease[80];                   /* "": none is held */
	enum dtx_code ended;              /* what the record says of it */
};

void dtx_fallback_job_free(struct dtx_fallback_job *w); /* NULL is fine */
/* Puts an answered region among those of the run. */
void dtx_fallback_job_keep(struct dtx_fallback_job *w);
/* Takes the region back; NULL: it was not asked for before. */
struct dtx_fallback_job *dtx_fallback_job_take(struct dtx_fallback_ctx *r,
                                               const struct dtx_fallback_request *region);
/* w->code passed: it waits for the typed steps behind it; with --trial off it is approved now. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_offer(struct dtx_fallback_job *w, bool supplied,
                                                 struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_fallback_job_drop_lease(struct dtx_fallback_job *w,
                                                      struct dtx_err *err);
/* Region and checks into the record. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_record(struct dtx_fallback_job *w, struct dtx_err *err);

/* Takes the body.  A prompt is no run: it leaves no record. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_event(const struct dtx_fallback_job *w, const char *kind,
                                                 json_t *body, struct dtx_err *err);
struct dtx_snippet_key dtx_fallback_job_key(const struct dtx_fallback_job *w);
const char *dtx_fallback_job_op(const struct dtx_fallback_job *w);
/* Looks the region up: w->rung, w->snippet, w->id. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_find(struct dtx_fallback_job *w, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_fallback_job_event_cache(const struct dtx_fallback_job *w,
                                                       struct dtx_err *err);
/* Forgets code and result of an attempt. */
void dtx_fallback_job_reset(struct dtx_fallback_job *w);

DTX_MUSTUSE enum dtx_code dtx_fallback_job_prompt(struct dtx_fallback_job *w,
                                                  const struct dtx_prompt_previous *previous,
                                                  struct dtx_prompt *out, struct dtx_err *err);
/* What the region was asked for, as the error that it is without a snippet. */
void dtx_fallback_job_own(const struct dtx_fallback_request *region, struct dtx_err *err);
/* There is no answer: needs_snippet for what only a snippet can do, else the finding itself. Always
 * fails. */
enum dtx_code dtx_fallback_job_nobody(struct dtx_fallback_job *w, struct dtx_err *err);
/* r->near: what would fit with renamed columns; rung near when there is any. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_near(struct dtx_fallback_job *w, struct dtx_err *err);

/* w->code is new: screened, run, kept as a candidate.  `answer` is where it stands. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_try(struct dtx_fallback_job *w, struct dtx_str answer,
                                               struct dtx_err *err);
/* It passed: a person may look at it. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_pending(struct dtx_fallback_job *w, struct dtx_err *err);
/* It passed: pending, then approved or needs_approval. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_approve(struct dtx_fallback_job *w, bool supplied,
                                                   struct dtx_err *err);
/* w->snippet is approved: its code runs. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_run(struct dtx_fallback_job *w, struct dtx_err *err);

/* w->code is what a recorded run ended with, and its adapter (NULL or null: none). */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_recorded(struct dtx_fallback_job *w,
                                                    const json_t *adapter, struct dtx_err *err);

/* Whether somebody may be asked. */
bool dtx_fallback_job_may_ask(const struct dtx_fallback_job *w);
/* Whether one of w->retry's attempts may follow; if not the failure is told to be the last.  report
 * (may be NULL) tells with the code whether it is that of last time. */
bool dtx_fallback_job_may_retry(struct dtx_fallback_job *w, enum dtx_code failed,
                                struct dtx_str code, const json_t *report, struct dtx_err *why);
/* attempt.end of attempt w->attempts. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_attempt_end(struct dtx_fallback_job *w,
                                                       enum dtx_code how, struct dtx_err *err);
/* The cycle: asks until an answer passes, or the end.  failed: why the code at hand (w->code, with
 * w->admitted) is not enough, moved from; NULL: there is none. */
DTX_MUSTUSE enum dtx_code dtx_fallback_job_author(struct dtx_fallback_job *w,
                                                  struct dtx_err *failed, struct dtx_err *err);

#endif
