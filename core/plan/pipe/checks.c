/* Promises about a table, fed while its rows pass. */
#include "core/data/expect/expect.h"
#include "core/plan/pipe/pipe.h"
#include "core/plan/bind/rules.h"

void dtx_checks_clear(struct dtx_checks *tap)
{
	dtx_expect_free(tap->run);
	dtx_rules_free(tap->rules);
	dtx_rules_side_free(tap->side);
	tap->side = NULL;
	tap->run = NULL;
	tap->rules = NULL;
}

enum dtx_code dtx_checks_batch(struct dtx_checks *tap, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_checks_is_on(tap))
		return DTX_OK;
	pthread_mutex_lock(&tap->lock);
	if (tap->run)
		rc = dtx_expect_batch(tap->run, b, err);
	if (rc == DTX_OK && tap->rules)
		rc = dtx_rules_batch(tap->rules, b, err);
	pthread_mutex_unlock(&tap->lock);
	return rc;
}

enum dtx_code dtx_checks_finish(struct dtx_checks *tap, json_t *checks,
                                struct dtx_errlist *warnings, struct dtx_err *err)
{
	struct dtx_err where = DTX_ERR_INIT;
	int64_t failed = 0;
	enum dtx_code rc = DTX_OK;

	if (tap->run)
		DTX_TRY(dtx_expect_finish(tap->run, checks, &failed, &where, err));
	if (tap->rules)
		DTX_TRY(dtx_rules_finish(tap->rules, checks, &failed, failed ? NULL : &where,
		                         warnings, err));
	if (failed) {
		rc = dtx_expect_fail(checks, DTX_E_EXPECT_FAILED, where.at, err);
		dtx_rules_place(err, &where);
		if (err)
			err->run_time = true;
	}
out:
	dtx_err_clear(&where);
	return rc;
}
