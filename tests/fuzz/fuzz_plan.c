/* Any bytes as a plan: findings or a plan, never a crash; the canonical form parses to itself. */
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_errors(const struct dtx_errlist *f)
{
	const struct dtx_err *worst = dtx_errlist_worst(f);

	return worst && worst->severity != DTX_SEV_WARNING;
}

static void again(struct dtx_plan *plan)
{
	struct dtx_buf text = DTX_BUF_INIT((size_t)16 << 20);
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_plan *second = NULL;

	if (dtx_plan_canonical(plan, &text, NULL) != DTX_OK ||
	    dtx_plan_parse(dtx_str_of(dtx_buf_text(&text)), NULL, &findings, &second, NULL) !=
	            DTX_OK ||
	    strcmp(second->id, plan->id) != 0)
		abort();
	dtx_plan_free(second);
	dtx_errlist_clear(&findings);
	dtx_buf_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dtx_errlist findings = DTX_ERRLIST_INIT;
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_plan *plan = NULL;
	bool clean;

	if (dtx_plan_parse((struct dtx_str){ (const char *)data, size }, "d", &findings, &plan,
	                   &err) == DTX_OK) {
		clean = !has_errors(&findings);
		if (dtx_plan_check(plan, &findings, &err) != DTX_OK)
			abort();
		if (clean)
			again(plan);
	}
	dtx_plan_free(plan);
	dtx_errlist_clear(&findings);
	dtx_err_clear(&err);
	return 0;
}
