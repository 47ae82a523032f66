/* What happens between the answer to a region and its approval: later typed steps use the result
 * first, so that code is only approved if the plan can use what it makes. */
#include "core/fallback/fallback_job.h"
#include "core/base/memory/mem.h"
#include "core/store/ledger/lease.h"

#define REGION_DROPPED UINT32_MAX /* the index of a region that no longer exists */

void dtx_fallback_job_free(struct dtx_fallback_job *w)
{
	if (!w)
		return;
	dtx_admit_clear(&w->admitted);
	dtx_buf_clear(&w->code);
	json_decref(w->contract);
	json_decref(w->doc);
	json_decref(w->order);
	json_decref(w->region_json);
	json_decref(w->params);
	json_decref(w->shape);
	json_decref(w->adapter);
	json_decref(w->names);
	dtx_arena_clear(&w->arena);
	dtx_mem_free(w);
}

/* Keeps what must be known about the region, because the request itself does not outlive its
 * answer. */
void dtx_fallback_job_keep(struct dtx_fallback_job *w)
{
	struct dtx_fallback_job **at = &w->r->done;

	w->kept = (struct dtx_fallback_request){ .plan = w->region->plan,
		                                 .index = w->region->index,
		                                 .whole_plan = w->region->whole_plan,
		                                 .first = w->region->first,
		                                 .count = w->region->count,
		                                 .input = w->region->input,
		                                 .input_name = w->region->input_name,
		                                 .trigger = w->region->trigger };
	dtx_str_copy(w->kept.at, sizeof(w->kept.at), dtx_str_of(w->region->at));
	w->region = &w->kept;
	while (*at && (*at)->kept.index < w->kept.index)
		at = &(*at)->next;
	w->next = *at;
	*at = w;
}

static bool is_of_region(const struct dtx_fallback_job *w,
                         const struct dtx_fallback_request *region)
{
	return w->kept.whole_plan == region->whole_plan && w->kept.first == region->first &&
	       w->kept.count == region->count && w->kept.input == region->input;
}

struct dtx_fallback_job *dtx_fallback_job_take(struct dtx_fallback_ctx *r,
                                               const struct dtx_fallback_request *region)
{
	struct dtx_fallback_job **at = &r->done, *w;

	while (*at && ((*at)->kept.index != region->index || !is_of_region(*at, region))) {
		if ((*at)->kept.index ==
		    region->index) /* it belonged to another region, which was dropped */
			(*at)->kept.index = REGION_DROPPED;
		at = &(*at)->next;
	}
	w = *at;
	if (w)
		*at = w->next;
	return w;
}

enum dtx_code dtx_fallback_job_offer(struct dtx_fallback_job *w, bool supplied, struct dtx_err *err)
{
	w->supplied = supplied;
	w->waits = !w->r->trial_off;
	return w->waits ? DTX_OK : dtx_fallback_job_approve(w, supplied, err);
}

enum dtx_code dtx_fallback_job_drop_lease(struct dtx_fallback_job *w, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (w->lease[0])
		rc = dtx_lease_drop(w->r->store, w->lease, dtx_record_id(w->r->record), err);
	w->lease[0] = '\0';
	return rc;
}

static bool is_in_use(const struct dtx_fallback_job *w, uint64_t in_use)
{
	return w->kept.index < 64 && in_use >> w->kept.index & 1;
}

/* Approves the code of one region, or keeps it as pending for a person: if the run failed for
 * another reason, or if the answer is not used any more, so that no step has tried it. */
static enum dtx_code finish_one(struct dtx_fallback_job *w, enum dtx_finish_when when, bool in_use,
                                struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK, dropped;

	if (when == DTX_FINISH_NEXT && !in_use) /* it may be asked for again */
		return DTX_OK;
	if (w->waits && (when == DTX_FINISH_FAILED || !in_use))
		rc = dtx_fallback_job_pending(w, err);
	else if (w->waits)
		rc = dtx_fallback_job_approve(w, w->supplied, err);
	w->waits = false;
	dropped = dtx_fallback_job_drop_lease(w, rc == DTX_OK ? err : NULL);
	if (rc != DTX_OK && w->kept.count)
		dtx_err_step(err, (int32_t)w->kept.first,
		             dtx_plan_step_name(&w->kept.plan->step[w->kept.first]));
	if (rc != DTX_OK)
		dtx_err_at(err, w->kept.at);
	if (rc != DTX_OK) {
		w->ended = rc;
		if (!w->supplied) /* the user who supplied the module knows why it was needed */
			dtx_err_copy(&w->r->finding, w->kept.trigger);
	}
	return rc == DTX_OK ? dropped : rc;
}

/* Warns about a snippet that changes nothing: it did not do what was asked for. */
static enum dtx_code finish_warn(struct dtx_fallback_job *w, struct dtx_err *err)
{
	struct dtx_err f = DTX_ERR_INIT;
	enum dtx_code rc = DTX_OK;

	if (!w->admitted.unchanged)
		goto out;
	dtx_err_set(&f, DTX_W_SNIPPET_UNCHANGED, __FILE__, __LINE__,
	            "snippet %.8s changes nothing: its result equals its input, %lld rows x %lld "
	            "columns",
	            w->id, (long long)w->before.rows, (long long)w->before.cols);
	dtx_err_hint(&f,
	             "read it with dtx snippet show %.8s --code; dtx snippet revoke %.8s keeps "
	             "it from running again",
	             w->id, w->id);
	f.severity = DTX_SEV_WARNING;
	f.run_time = true;
	if (w->kept.count)
		dtx_err_step(&f, (int32_t)w->kept.first,
		             dtx_plan_step_name(&w->kept.plan->step[w->kept.first]));
	dtx_err_at(&f, w->kept.at);
	if (!dtx_errlist_take(&w->r->warnings, &f))
		DTX_FAIL_MEM(err);
out:
	dtx_err_clear(&f);
	return rc;
}

enum dtx_code dtx_fallback_finish(void *arg, enum dtx_finish_when when, uint64_t in_use,
                                  struct dtx_err *err)
{
	struct dtx_fallback_ctx *r = arg;
	enum dtx_code rc = DTX_OK, one;
	struct dtx_fallback_job *w;

	for (w = r->done; w; w = w->next) {
		one = finish_one(w, rc == DTX_OK ? when : DTX_FINISH_FAILED, is_in_use(w, in_use),
		                 rc == DTX_OK ? err : NULL);
		rc = rc == DTX_OK ? one : rc;
	}
	if (when == DTX_FINISH_NEXT)
		return rc;
	for (w = r->done; w; w = w->next) {
		if (when == DTX_FINISH_DONE && !is_in_use(w, in_use))
			continue; /* nothing of its result is in the output */
		one = when == DTX_FINISH_DONE ? finish_warn(w, rc == DTX_OK ? err : NULL) : DTX_OK;
		rc = rc == DTX_OK ? one : rc;
		one = dtx_fallback_job_record(w, rc == DTX_OK ? err : NULL);
		rc = rc == DTX_OK ? one : rc;
	}
	dtx_fallback_ctx_clear(r);
	return rc;
}

void dtx_fallback_ctx_clear(struct dtx_fallback_ctx *r)
{
	struct dtx_fallback_job *w;

	while ((w = r->done)) {
		r->done = w->next;
		dtx_fallback_job_free(w);
	}
}
