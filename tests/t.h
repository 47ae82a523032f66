/* The unit-test harness.  Functions `void test_NAME(void)` in tests/unit/ROOM/test_*.c are found by
 * name.  A test without a check fails; t_skip gives a reason why a test cannot run. */
#ifndef TESTS_T_H
#define TESTS_T_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/memory/mem.h"

void t_check(bool ok, const char *file, int line, const char *what);
void t_fail(const char *file, int line, const char *fmt, ...) DTX_PRINTF(3, 4);
void t_skip(const char *reason);
/* Whether a worker of the jail can have a root folder of its own here.  It cannot in a chroot or in
 * most containers. */
bool t_has_namespaces(void);
/* Whether this process already runs under a seccomp filter, as in a container. */
bool t_is_filtered(void);
void t_eq_str(const char *got, const char *want, const char *file, int line);
void t_eq_int(long long got, long long want, const char *file, int line);
/* Checks the code; if it differs, also prints the message. */
void t_eq_code(enum dtx_code got, enum dtx_code want, const struct dtx_err *err, const char *file,
               int line);
/* A scratch folder for this test, which is removed afterwards. */
const char *t_dir(void);
/* How much of mapped files the process has in its page tables, in MiB. */
long t_mapped_mib(void);

#define T_CHECK(cond)          t_check((cond), __FILE__, __LINE__, #cond)
#define T_STR(got, want)       t_eq_str((got), (want), __FILE__, __LINE__)
#define T_INT(got, want)       t_eq_int((long long)(got), (long long)(want), __FILE__, __LINE__)
#define T_CODE(got, want, err) t_eq_code((got), (want), (err), __FILE__, __LINE__)
#define T_OK(got, err)         T_CODE((got), DTX_OK, (err))

#define T_ALLOCS_MAX 200000
/* body is an expression of type enum dtx_code that frees everything it makes.  Runs it with the
 * first allocation failing, then with the second, and so on until it makes no more; after the
 * hundredth only some allocations fail (T_ALLOCS=all: every one).  If the body can do without an
 * allocation, it may succeed. */
#define T_EVERY_ALLOC_FAILS(body)                                                                  \
	do {                                                                                       \
		enum dtx_code t_rc;                                                                \
		bool t_met = true;                                                                 \
		for (long t_k = 0; t_met && t_k < T_ALLOCS_MAX; t_k = t_next_alloc(t_k)) {         \
			dtx_mem_fail_at(t_k);                                                      \
			t_rc = (body);                                                             \
			t_met = dtx_mem_fail_at(-1) < 0;                                           \
			T_CODE(t_rc, t_met &&t_rc ? DTX_E_NO_MEMORY : DTX_OK, NULL);               \
			T_CHECK(t_met || t_k > 0);                                                 \
		}                                                                                  \
		T_CHECK(!t_met);                                                                   \
	} while (0)
/* Number of the next allocation to fail after the k-th. */
long t_next_alloc(long k);

/* Makes the system call `name` fail once with this errno, after `nth` further calls.  t_failed_call
 * ends that and returns whether the call was made.  The names are listed in t.c.  Only for a test
 * with one thread. */
void t_fail_call(const char *name, int nth, int error);
bool t_failed_call(void);
/* From now on every folder is on a network file system, or none. */
void t_network(bool far);

struct t_case {
	const char *name;
	void (*fn)(void);
};
extern const struct t_case t_cases[]; /* generated */

#endif
