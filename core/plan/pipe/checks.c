/* Feeds the checks of a table, its `expect` and its rules, while the rows pass.
 *
 * One lock guards both: checks are few and cheap against the work on a batch, and some (unique
 * keys, a sum) need one state for all rows. */
#include "core/data/expect/expect.h"
#include "core/plan/pipe/pipe.h"
#include "core/plan/bind/rules.h"

void dtx_checks_clear(struct dtx_checks *c)
{
	dtx_expect_free(c->run);
	dtx_rules_free(c->rules);
	dtx_rules_side_free(c->side);
	c->side = NULL;
	c->run = NULL;
	c->rules = NULL;
}

enum dtx_code dtx_checks_batch(struct dtx_checks *c, struct dtx_batch *b, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;

	if (!dtx_checks_is_on(c))
		return DTX_OK;
	pthread_mutex_lock(&c->lock);
	if (c->run)
		rc = dtx_expect_batch(c->run, b, err);
	if (rc == DTX_OK && c->rules)
		rc = dtx_rules_batch(c->rules, b, err);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

enum dtx_code dtx_checks_finish(struct dtx_checks *c, json_t *checks, struct dtx_errlist *warnings,
                                struct dtx_err *err)
{
	struct dtx_err where = DTX_ERR_INIT;
	int64_t failed = 0;
	enum dtx_code rc = DTX_OK;

	if (c->run)
		DTX_TRY(dtx_expect_finish(c->run, checks, &failed, &where, err));
	if (c->rules)
		DTX_TRY(dtx_rules_finish(c->rules, checks, &failed, failed ? NULL : &where,
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
