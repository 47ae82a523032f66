/* Promises about a table, fed while its rows pass. */
#include "core/data/expect.h"
#include "core/plan/pipe.h"
#include "core/plan/rules.h"

void dtx_tap_clear(struct dtx_tap *tap)
{
	dtx_expect_free(tap->run);
	dtx_rules_free(tap->rules);
	tap->run = NULL;
	tap->rules = NULL;
}

enum dtx_code dtx_tap_batch(struct dtx_tap *tap, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_tap_is_on(tap))
		return DTX_OK;
	pthread_mutex_lock(&tap->lock);
	if (tap->run)
		rc = dtx_expect_batch(tap->run, b, err);
	if (rc == DTX_OK && tap->rules)
		rc = dtx_rules_batch(tap->rules, b, err);
	pthread_mutex_unlock(&tap->lock);
	return rc;
}

/* Rules of severity warn that do not hold. */
static enum dtx_code warn_checks(const json_t *checks, size_t from, struct dtx_errlist *warnings,
                                 struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	for (size_t i = from; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);
		struct dtx_err w = DTX_ERR_INIT;

		if (strcmp(dtx_json_text(check, "status", ""), "fail") != 0 ||
		    strcmp(dtx_json_text(check, "severity", ""), "warn") != 0)
			continue;
		dtx_err_set(&w, DTX_W_RESULT_NOTE, __FILE__, __LINE__,
		            "expect: %s: %s, expected %s", dtx_json_text(check, "name", ""),
		            dtx_json_text(check, "actual", ""),
		            dtx_json_text(check, "expected", ""));
		w.severity = DTX_SEV_WARNING;
		if (!dtx_errlist_take(warnings, &w))
			DTX_FAIL_MEM(err);
	}
out:
	return rc;
}

enum dtx_code dtx_tap_finish(struct dtx_tap *tap, json_t *checks, struct dtx_errlist *warnings,
                             struct dtx_err *err)
{
	struct dtx_err where = DTX_ERR_INIT;
	size_t before = json_array_size(checks);
	int64_t failed = 0;
	enum dtx_code rc = DTX_OK;

	if (tap->run)
		DTX_TRY(dtx_expect_finish(tap->run, checks, &failed, &where, err));
	if (tap->rules)
		DTX_TRY(dtx_rules_finish(tap->rules, checks, &failed, failed ? NULL : &where, err));
	DTX_TRY(warn_checks(checks, before, warnings, err));
	if (failed) {
		rc = dtx_expect_fail(checks, DTX_E_EXPECT_FAILED, where.at, err);
		dtx_err_place(err, &where);
		if (err)
			err->run_time = true;
	}
out:
	dtx_err_clear(&where);
	return rc;
}
