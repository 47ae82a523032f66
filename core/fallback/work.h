/* Inside a rescue: one region at work, and what its stations share.
 *
 *   rescue.c       identity, ladder, record
 *   work_prompt.c  the prompt; the words when nobody has an answer
 *   work_admit.c   EXTRACT to APPROVE of code that is at hand
 *   work_author.c  AUTHOR and RETRY
 */
#ifndef DTX_FALLBACK_WORK_H
#define DTX_FALLBACK_WORK_H

#include "core/fallback/admit.h"
#include "core/fallback/finger.h"
#include "core/fallback/rescue.h"

struct dtx_work {
	struct dtx_rescuer *r;
	const struct dtx_rescue *region;
	struct dtx_finger_table *tables;
	size_t ntables;
	json_t *contract, *doc, *order, *region_json, *params, *shape, *adapter;
	char fingerprint[DTX_FINGER_TEXT], intent[DTX_FINGER_TEXT], contract_hash[65];
	struct dtx_arena arena;
	struct dtx_buf code;
	struct dtx_snippet snippet; /* from the cache */
	char id[DTX_SNIPPET_ID];
	enum dtx_rung rung;
	struct dtx_admit_result admitted;
	/* of an author's answer */
	const char *origin; /* "supplied", "cmd" ... */
	char call_id[64], model[128];
	struct dtx_disclosed disclosed;
	unsigned attempts;
	bool asked;
};

/* Takes the body.  A prompt is no run: it leaves no record. */
DTX_MUSTUSE enum dtx_code dtx_work_event(const struct dtx_work *w, const char *kind, json_t *body,
                                         struct dtx_err *err);
struct dtx_snippet_key dtx_work_key(const struct dtx_work *w);
const char *dtx_work_op(const struct dtx_work *w);
/* Looks the region up: w->rung, w->snippet, w->id. */
DTX_MUSTUSE enum dtx_code dtx_work_find(struct dtx_work *w, struct dtx_err *err);
DTX_MUSTUSE enum dtx_code dtx_work_event_cache(const struct dtx_work *w, struct dtx_err *err);
/* Forgets code and result of an attempt. */
void dtx_work_reset(struct dtx_work *w);

DTX_MUSTUSE enum dtx_code dtx_work_prompt(struct dtx_work *w,
                                          const struct dtx_prompt_previous *previous,
                                          struct dtx_prompt *out, struct dtx_err *err);
/* needs_snippet with the next commands.  Always fails. */
enum dtx_code dtx_work_nobody(struct dtx_work *w, struct dtx_err *err);
/* r->near: what would fit with renamed columns; rung near when there is any. */
DTX_MUSTUSE enum dtx_code dtx_work_near(struct dtx_work *w, struct dtx_err *err);

/* w->code is new: screened, run, kept as a candidate.  `answer` is where it stands. */
DTX_MUSTUSE enum dtx_code dtx_work_try(struct dtx_work *w, struct dtx_str answer,
                                       struct dtx_err *err);
/* It passed: pending, then approved or needs_approval. */
DTX_MUSTUSE enum dtx_code dtx_work_approve(struct dtx_work *w, bool supplied, struct dtx_err *err);
/* w->snippet is approved: its code runs. */
DTX_MUSTUSE enum dtx_code dtx_work_run(struct dtx_work *w, struct dtx_err *err);

/* w->code is what a recorded run ended with, and its adapter (NULL or null: none). */
DTX_MUSTUSE enum dtx_code dtx_work_recorded(struct dtx_work *w, const json_t *adapter,
                                            struct dtx_err *err);

/* Whether somebody may be asked. */
bool dtx_work_may_ask(const struct dtx_work *w);
/* The cycle: asks until an answer passes, or the end.  failed: why the code at hand (w->code, with
 * w->admitted) is not enough, moved from; NULL: there is none. */
DTX_MUSTUSE enum dtx_code dtx_work_author(struct dtx_work *w, struct dtx_err *failed,
                                          struct dtx_err *err);

#endif
