/* See stack.h.  setrlimit would not do: the hard limit may be just as low, and programs that dtx
 * starts would inherit it.  A thread would not do either: the processes of the jail must have only
 * one. */
#include "core/base/thread/stack.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)8 << 20)

/* Static, because makecontext passes only ints; one stack per process is enough. */
static struct {
	dtx_stack_fn fn;
	int argc, status;
	char **argv;
} call;

static void call_it(void)
{
	call.status = call.fn(call.argc, call.argv);
}

int dtx_stack_run(dtx_stack_fn fn, int argc, char **argv)
{
	static ucontext_t caller, callee;
	struct rlimit limit;
	size_t guard = (size_t)sysconf(_SC_PAGESIZE);
	char *stack;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_BYTES)
		return fn(argc, argv);
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, guard, PROT_NONE) || getcontext(&callee))
		return fn(argc, argv);
	callee.uc_stack.ss_sp = stack;
	callee.uc_stack.ss_size = STACK_BYTES;
	callee.uc_link = &caller;
	call.fn = fn;
	call.argc = argc;
	call.argv = argv;
	makecontext(&callee, call_it, 0);
	return swapcontext(&caller, &callee) ? fn(argc, argv) : call.status;
}
