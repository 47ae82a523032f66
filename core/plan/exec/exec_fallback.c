/* When a snippet may do what failed, and which one is to blame. */
#include <stdio.h>
#include <string.h>

#include "core/plan/exec/exec_parts.h"

bool dtx_exec_may_fallback(const struct dtx_exec_run *x, int32_t step)
{
	bool helper = x->bind_only || (x->host && x->host->fallback);

	return x->mode != DTX_FALLBACK_OFF && helper && step >= 0 &&
	       !x->plan->step[step].fallback_off;
}

bool dtx_exec_fallback_input(void *arg, uint32_t input, const struct dtx_err *why)
{
	struct dtx_exec_run *x = arg;
	bool helper = x->bind_only || (x->host && x->host->fallback);
	struct dtx_err finding = DTX_ERR_INIT;

	if (x->mode == DTX_FALLBACK_OFF || !helper ||
	    dtx_err_severity(why, true) != DTX_SEV_FALLBACK || x->plan->input[input].opts.stream ||
	    !dtx_regions_add_input(&x->regions, input, why, x->max_regions))
		return false;
	if (!x->bind_only)
		return true;
	dtx_err_copy(&finding, why);
	finding.severity = DTX_SEV_FALLBACK;
	return dtx_errlist_take(x->findings, &finding);
}

bool dtx_exec_fallback_read(struct dtx_exec_run *x, const struct dtx_err *why)
{
	int32_t input = why->run_time ? dtx_inputset_find(&x->in, why) : -1;

	return input >= 0 && dtx_exec_fallback_input(x, (uint32_t)input, why);
}

enum dtx_code dtx_exec_too_many(const struct dtx_exec_run *x, struct dtx_err *err)
{
	char was[sizeof(err->msg)];

	if (!err || x->regions.n < x->max_regions)
		return err ? err->code : DTX_E_SNIPPET_CANNOT;
	dtx_str_copy(was, sizeof(was), dtx_str_of(err->msg));
	snprintf(err->msg, sizeof(err->msg),
	         "the plan needs a snippet in more than %u parts; the last: %s: %.250s",
	         (unsigned)x->max_regions, dtx_code_name(err->code), was);
	dtx_text_singular(err->msg);
	err->code = DTX_E_SNIPPET_CANNOT;
	err->severity = DTX_SEV_ERROR;
	return err->code;
}

bool dtx_exec_blame(struct dtx_exec_run *x, uint32_t step, const struct dtx_err *why)
{
	struct dtx_region *one = dtx_regions_blame(&x->regions, &x->graph, step, why);

	if (!one || x->bind_only)
		return false;
	dtx_region_break(&x->regions, one, why);
	return true;
}

enum dtx_code dtx_exec_judge(struct dtx_exec_run *x, uint32_t step, struct dtx_errlist *found,
                             bool bad, bool *region, struct dtx_err *err)
{
	const struct dtx_err *worst = dtx_errlist_worst(found);
	enum dtx_code rc = DTX_OK;

	*region = bad && worst && worst->severity == DTX_SEV_FALLBACK &&
	          dtx_exec_blame(x, step, worst);
	if (*region)
		goto out;
	if (bad && worst && worst->severity == DTX_SEV_FALLBACK &&
	    dtx_exec_may_fallback(x, (int32_t)step)) {
		if (dtx_regions_add(&x->regions, x->plan, x->mode, step, worst, x->max_regions)) {
			*region = true;
			if (!x->bind_only)
				goto out;
		}
	}
	if (bad && worst && !*region) {
		dtx_err_copy(err, worst);
		rc = worst->code;
	}
	x->findings->dropped += found->dropped; /* what is only counted is counted on */
	for (size_t i = 0; i < found->n; i++) {
		struct dtx_err *f = &found->item[i];
		bool warning = f->severity == DTX_SEV_WARNING;

		if (f->severity == DTX_SEV_FALLBACK && !*region)
			f->severity = DTX_SEV_ERROR;
		if (!dtx_errlist_take(warning ? &x->result->warnings : x->findings, f))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}
