/* A stack that does not depend on `ulimit -s`.
 *
 * What dtx itself recurses over is bounded (formulas, JSON, patterns), but its frames, and those of
 * Python in a jail's zygote, are made for the usual 8 MiB.  Threads have stacks of their own size
 * (core/base/pool). */
#ifndef DTX_BASE_STACK_H
#define DTX_BASE_STACK_H

typedef int (*dtx_stack_fn)(int argc, char **argv);

/* fn(argc, argv), on a stack made for it where that of the process may be too small.  First thing
 * in main(): the process must have one thread. */
int dtx_stack_run(dtx_stack_fn fn, int argc, char **argv);

#endif
