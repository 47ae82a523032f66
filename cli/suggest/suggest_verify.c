/* Runs the proposed plan on the input, and removes the steps that fail there. */
#include "cli/suggest/example/byexample.h"
#include "cli/suggest/suggest.h"

#define VERIFY_BYTES ((size_t)64 << 20) /* a larger input is not run a second time */

/* Removes a step from the plan, with its finding. `at` is its number in the plan. */
static void leave_out(struct dtx_suggestions *s, size_t at)
{
	json_t *step = json_array_get(s->steps, at), *f;
	size_t i;

	json_array_foreach(s->found, i, f)
	{
		if (json_object_get(f, "step") == step) {
			json_array_remove(s->found, i);
			break;
		}
	}
	json_array_remove(s->steps, at);
}

enum dtx_code dtx_suggest_verify(struct dtx_suggestions *s, struct dtx_source *src,
                                 json_t *(*plan)(void *arg), void *arg, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	struct dtx_err why = DTX_ERR_INIT;
	size_t n;

	while ((n = json_array_size(s->steps)) != 0 && dtx_source_size(src) <= VERIFY_BYTES) {
		json_t *p = plan(arg);

		rc = dtx_byexample_run(p, src, 0, NULL, &why);
		json_decref(p);
		if (rc == DTX_OK)
			break;
		if (rc == DTX_E_NO_MEMORY)
			DTX_FAIL_MEM(err);
		rc = DTX_OK;
		leave_out(s, why.step >= 0 && (size_t)why.step < n ? (size_t)why.step : n - 1);
		dtx_err_clear(&why);
	}
out:
	dtx_err_clear(&why);
	return rc;
}
