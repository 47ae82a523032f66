/* What a far side may say. */
#include "tests/t.h"

#include <stdlib.h>

#include "sandbox/remote.h"

static struct dtx_remote_answer good(void)
{
	struct dtx_remote_answer a = { .magic = DTX_REMOTE_ANSWER, .has_done = 1, .dead = 1 };

	a.done.used = a.result_len = 100;
	a.stream_len[0] = 5;
	a.stream_total[0] = 7;
	return a;
}

void test_remote_answers(void)
{
	const struct dtx_jail_limits l = { .output = 1000 };
	struct dtx_remote_answer a = good();

	T_CHECK(dtx_remote_sane(&a, &l));
#define BAD(change)                                                                                \
	do {                                                                                       \
		a = good();                                                                        \
		change;                                                                            \
		T_CHECK(!dtx_remote_sane(&a, &l));                                                 \
	} while (0)
	BAD(a.magic[3] = 'x');
	BAD(a.refused = 2);
	BAD(a.audit = 7);
	BAD(a.has_done = 2);
	BAD(a.has_exited = 9);
	BAD(a.dead = 3);
	BAD(a.kill = DTX_KILL_STUCK + 1);
	BAD(a.ndenied = DTX_JAIL_DENIED_MAX + 1);
	BAD(a.done.code = DTX_DONE_COUNT);
	BAD(a.done.used = a.result_len = 1001);
	BAD(a.result_len = 99);
	BAD(a.has_done = 0);
	BAD(a.signal = -1);
	BAD(a.signal = 65);
	BAD(a.exited.user_us = -1);
	BAD(a.exited.sys_us = INT64_MAX);
	BAD(a.stream_len[0] = 8);
	BAD(a.stream_len[1] = 1);
	BAD(a.stream_len[1] = a.stream_total[1] = UINT64_MAX);
#undef BAD
}

void test_remote_command(void)
{
	struct dtx_err err = DTX_ERR_INIT;
	const char *command = "x";

	unsetenv("DTX_JAIL");
	T_OK(dtx_remote_command(&command, &err), &err);
	T_CHECK(!command);
	T_INT(setenv("DTX_JAIL", "local", 1), 0);
	T_OK(dtx_remote_command(&command, &err), &err);
	T_CHECK(!command);
	T_INT(setenv("DTX_JAIL", "exec:a b", 1), 0);
	T_OK(dtx_remote_command(&command, &err), &err);
	T_STR(command, "a b");
	T_INT(setenv("DTX_JAIL", "off", 1), 0);
	T_CODE(dtx_remote_command(&command, &err), DTX_E_USAGE, &err);
	T_CHECK(!command);
	unsetenv("DTX_JAIL");
	dtx_err_clear(&err);
}
