/* Runs the program on a stack whose size does not depend on `ulimit -s`.
 *
 * The recursion of dtx itself is bounded (formulas, JSON, patterns), but the bound, and the stack
 * that Python needs in the zygote of the jail, assume the usual 8 MiB.  Threads have stacks of
 * their own size (core/base/thread/pool). */
#ifndef DTX_BASE_STACK_H
#define DTX_BASE_STACK_H

typedef int (*dtx_stack_fn)(int argc, char **argv);

/* Runs fn(argc, argv), on a new stack if that of the process may be too small, and returns its
 * result.  Call it first in main(): the process must have only one thread. */
int dtx_stack_run(dtx_stack_fn fn, int argc, char **argv);

#endif
