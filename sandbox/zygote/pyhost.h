/* The embedded interpreter (CPython, loaded on demand).
 *
 * Only zygotes and their workers call this: a run without generated code never loads Python.
 * There is one interpreter per process, used by one thread. */
#ifndef DTX_SANDBOX_ZYGOTE_PYHOST_H
#define DTX_SANDBOX_ZYGOTE_PYHOST_H

#include "core/base/err.h"
#include "core/base/text/str.h"
#include "sandbox/policy/filter.h"
#include "sandbox/zygote/launch.h"
#include "sandbox/wire.h"

struct dtx_py_info {
	char python[16], pandas[16], numpy[16];
	char abi[24]; /* 16 hex digits of a SHA-256 over the versions and the pins */
};

/* The files and folders whose state distinguishes one installation of Python, numpy and pandas from
 * another, with the libraries below them; the list ends with NULL. They are a part of a pool's
 * key, so an upgrade ends the use of a pool that has the old version in memory. */
extern const char *const dtx_py_files[];
/* Starts the interpreter and imports what this kind of zygote needs. `set` says what its workers
 * may do with library files. For SCREEN, pandas and numpy stay "". Error: snippet_setup_refused. */
DTX_MUSTUSE enum dtx_code dtx_py_start(uint32_t hash_seed, enum dtx_zkind kind,
                                       enum dtx_filter_set set, struct dtx_py_info *info,
                                       struct dtx_err *err);
/* Tells what this Python has as a module of that name ("xml.dom.minidom"): nothing, Python text,
 * or machine code. The name need not be valid or trusted. */
extern const char dtx_py_packages[]; /* the folder of Debian's packages for Python */
enum dtx_py_module { DTX_PY_NO_MODULE, DTX_PY_TEXT, DTX_PY_CODE };
DTX_MUSTUSE enum dtx_py_module dtx_py_find_module(struct dtx_str name);
/* What is done before a client waits for it: in a worker, what each run touches (TOUCHES); in a
 * zygote, one round of what most snippets do (ROUND); in a worker that is being verified, what
 * each run begins with (LOOK). boot.py has the same numbers. */
enum dtx_py_warmth { DTX_PY_TOUCHES, DTX_PY_ROUND, DTX_PY_LOOK };
/* Does one of these. Returns false if it failed, which only makes later runs slower. */
DTX_MUSTUSE bool dtx_py_warm(enum dtx_py_warmth how);
/* fork() with the steps that Python needs. Returns -1 with errno, 0 in the child, or the child's
 * pid. */
DTX_MUSTUSE int dtx_py_fork(void);
/* Runs the snippet in frame `in` and leaves its result in frame `out`. It cannot fail: *done
 * says how the snippet ended. */
void dtx_py_run(const struct dtx_wire_start *start, void *in, void *out,
                struct dtx_wire_done *done);

#endif
