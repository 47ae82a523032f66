/* The embedded interpreter.  [CPython, opened on demand]
 *
 * Only a zygote and its workers call this: a typed run never loads Python.  One interpreter per
 * process, one thread. */
#ifndef DTX_SANDBOX_ZYGOTE_PYHOST_H
#define DTX_SANDBOX_ZYGOTE_PYHOST_H

#include "core/base/err.h"
#include "core/base/text/str.h"
#include "sandbox/policy/filter.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/wire.h"

struct dtx_py_info {
	char python[16], pandas[16], numpy[16];
	char abi[24]; /* 16 hex over the above and the pins */
};

/* Files and folders whose state tells one installation from another: Python, numpy, pandas, and
 * the libraries below them; ends with NULL.  They are part of a pool's key, so an upgrade of one
 * ends the use of a pool that has the old one in memory. */
extern const char *const dtx_py_files[];
/* Starts the interpreter with the modules of such a zygote, whose workers may do that with the
 * files of others; of a SCREEN pandas and numpy stay "".
 * Code: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_py_start(uint32_t hash_seed, enum dtx_zkind kind,
                                       enum dtx_filter_set set, struct dtx_py_info *info,
                                       struct dtx_err *err);
/* What this Python has as a module of that name ("xml.dom.minidom"); anything may be asked. */
enum dtx_py_module { DTX_PY_NO_MODULE, DTX_PY_TEXT, DTX_PY_CODE };
DTX_MUSTUSE enum dtx_py_module dtx_py_find_module(struct dtx_str name);
/* What is done before anybody waits for it: in a worker what each run touches; in a zygote one
 * round of what most snippets do; in a worker that is being verified, only what each run begins
 * with.  boot.py has the same numbers. */
enum dtx_py_warmth { DTX_PY_TOUCHES, DTX_PY_ROUND, DTX_PY_LOOK };
/* False when it failed: what was not touched is touched later. */
DTX_MUSTUSE bool dtx_py_warm(enum dtx_py_warmth how);
/* fork() as Python wants it.  -1 with errno, 0 in the child, else its pid. */
DTX_MUSTUSE int dtx_py_fork(void);
/* Runs what the frame `in` holds and leaves a frame in `out`; never fails: what went wrong is
 * in *done. */
void dtx_py_run(const struct dtx_wire_start *start, void *in, void *out,
                struct dtx_wire_done *done);

#endif
