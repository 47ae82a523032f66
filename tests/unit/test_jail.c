/* The jail end to end, on a real worker. */
#include "tests/t.h"

#include "sandbox/jail.h"

void test_jail_selftest(void)
{
	struct dtx_jail_report r;
	struct dtx_err err = DTX_ERR_INIT;
	enum dtx_code rc = dtx_jail_selftest(&r, &err);

	if (rc == DTX_E_SNIPPET_SETUP_REFUSED && !strcmp(r.layer, "build"))
		t_skip("a sanitizer build has no jail");
	else
		T_OK(rc, &err);
	dtx_jail_report_clear(&r);
	dtx_err_clear(&err);
}
