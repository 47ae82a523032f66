/* Limits of the jail from options, environment and configuration. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/exec/jail_limits.h"
#include "tests/t.h"

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	T_CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

/* The two files; NULL: it does not exist. */
static enum dtx_code open_config(struct dtx_config *c, const char *user, const char *machine,
                                 struct dtx_err *err)
{
	char at[2][200];

	snprintf(at[0], sizeof(at[0]), "%s/user.json", t_dir());
	snprintf(at[1], sizeof(at[1]), "%s/machine.json", t_dir());
	if (user)
		put(at[0], user);
	if (machine)
		put(at[1], machine);
	return dtx_config_load(c, user ? at[0] : NULL, machine ? at[1] : NULL, err);
}

/* Determines the limits with them. */
static enum dtx_code settle(const char *user, const char *machine, struct dtx_jail_given given,
                            struct dtx_jail_limits *out, struct dtx_err *err)
{
	struct dtx_config c;
	enum dtx_code rc = open_config(&c, user, machine, err);

	if (rc == DTX_OK)
		dtx_jail_limits_settle(&given, &c, out);
	if (rc == DTX_OK)
		T_INT(dtx_config_locks(&c) != NULL,
		      (given.wall != 0) && given.wall * 1000 != out->wall_ms);
	dtx_config_clear(&c);
	return rc;
}

void test_jail_limits_of_settings(void)
{
	const char *user = "{\"jail_wall\":5,\"jail_memory\":\"256M\",\"jail_output\":8192,"
			   "\"jail_queue_wait\":3}";
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_jail_limits l;

	T_OK(settle(NULL, NULL, (struct dtx_jail_given){ 0 }, &l, &err), &err);
	T_INT(l.wall_ms, 0);
	T_OK(settle(user, "{\"jail_wall\":7,\"jail_cpu\":3}", (struct dtx_jail_given){ 0 }, &l,
	            &err),
	     &err);
	T_INT(l.wall_ms, 5000);
	T_INT(l.cpu_ms, 3000);
	T_INT(l.memory, 256 << 20);
	T_INT(l.output, 8192);
	T_INT(l.queue_ms, 3000);
	T_INT(setenv("DTX_JAIL_WALL", "6", 1), 0);
	T_OK(settle(user, NULL, (struct dtx_jail_given){ 0 }, &l, &err), &err);
	T_INT(l.wall_ms, 6000);
	T_OK(settle(user, NULL, (struct dtx_jail_given){ .wall = 9 }, &l, &err), &err);
	T_INT(l.wall_ms, 9000);
	T_OK(settle(user, "{\"jail_wall\":2,\"locked\":[\"jail_wall\"]}",
	            (struct dtx_jail_given){ .wall = 9 }, &l, &err),
	     &err);
	T_INT(l.wall_ms, 2000);
	T_OK(settle(user, "{\"locked\":[\"jail_wall\"]}", (struct dtx_jail_given){ .wall = 9 }, &l,
	            &err),
	     &err);
	T_INT(l.wall_ms, 0);
	unsetenv("DTX_JAIL_WALL");
	dtx_err_clear(&err);
}

/* An option for a profile selects it, unless the settings of the machine forbid that. */
void test_jail_limits_and_the_profile(void)
{
	static const struct {
		const char *user, *machine;
		int option, profile; /* the option: 0 for none, else the profile + 1 */
	} cases[] = {
		{ NULL, NULL, 0, DTX_JAIL_SEALED },
		{ NULL, NULL, 1 + DTX_JAIL_LIB_RO, DTX_JAIL_LIB_RO },
		{ "{\"jail_profile\":\"lib-ro\"}", NULL, 0, DTX_JAIL_LIB_RO },
		{ "{\"jail_profile\":\"lib-ro\"}", NULL, 1 + DTX_JAIL_SEALED, DTX_JAIL_SEALED },
		{ "{\"jail_profile\":\"sealed\"}", "{\"jail_profile\":\"lib-ro\"}", 0,
		  DTX_JAIL_SEALED },
		{ "{\"jail_profile\":\"lib-ro\"}",
		  "{\"jail_profile\":\"sealed\",\"locked\":[\"jail_profile\"]}",
		  1 + DTX_JAIL_LIB_RO, DTX_JAIL_SEALED },
		{ NULL, "{\"locked\":[\"jail_profile\"]}", 1 + DTX_JAIL_LIB_RO, DTX_JAIL_SEALED },
	};
	struct dtx_err err = DTX_ERR_INIT;
	struct dtx_jail_limits l;
	size_t i;

	for (i = 0; i < DTX_COUNT(cases); i++) {
		const struct dtx_jail_given given = { .profile = cases[i].option };
		struct dtx_config c;

		T_OK(open_config(&c, cases[i].user, cases[i].machine, &err), &err);
		dtx_jail_limits_settle(&given, &c, &l);
		T_INT(l.profile, cases[i].profile);
		T_INT(dtx_config_locks(&c) != NULL,
		      cases[i].option && cases[i].option - 1 != cases[i].profile);
		dtx_config_clear(&c);
	}
	dtx_err_clear(&err);
}

void test_jail_limits_that_are_none(void)
{
	static const struct {
		const char *user, *message;
		enum dtx_code code;
	} bad[] = {
		{ "{\"jail_wall\":0}", "must be a whole number from 1 to 86400, got '0'",
		  DTX_E_USAGE },
		{ "{\"jail_wall\":true}", "must be a whole number from 1 to 86400, got 'true'",
		  DTX_E_USAGE },
		{ "{\"jail_cpu\":100000}", "setting 'jail_cpu' must be a whole number",
		  DTX_E_USAGE },
		{ "{\"jail_memory\":\"1M\"}", "must be a size from 64M to 1T, got '1M'",
		  DTX_E_USAGE },
		{ "{\"jail_output\":\"much\"}", "must be a size from 4K to 1T, got 'much'",
		  DTX_E_USAGE },
		{ "{\"jail_profile\":\"open\"}", "must be sealed or lib-ro, got 'open'",
		  DTX_E_USAGE },
		{ "{\"jail_wal\":5}", "there is no setting 'jail_wal'", DTX_E_USAGE },
		{ "{\"locked\":[\"jail\"]}", "there is no setting 'jail'", DTX_E_USAGE },
		{ "{\"locked\":\"jail_cpu\"}", "'locked' must be a list of settings", DTX_E_USAGE },
		{ "[]", "must be a JSON object", DTX_E_USAGE },
	};
	size_t i;

	for (i = 0; i < DTX_COUNT(bad); i++) {
		struct dtx_err err = DTX_ERR_INIT;
		struct dtx_jail_limits l;

		T_INT(settle(bad[i].user, NULL, (struct dtx_jail_given){ 0 }, &l, &err),
		      bad[i].code);
		T_CHECK(strstr(err.msg, bad[i].message) != NULL);
		dtx_err_clear(&err);
	}
}
