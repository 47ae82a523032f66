/* Shared libraries that are loaded only when they are needed; their functions are looked up by
 * name. */
#ifndef DTX_BASE_LIB_H
#define DTX_BASE_LIB_H

#include "core/base/err.h"

struct dtx_lib_symbol {
	const char *name;
	void **where; /* receives the address */
};
/* Loads a library with RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL) and looks up all symbols, or
 * none: on failure every *where is NULL.  Fails with input_io, the text of the loader and a hint
 * that names `package`; a caller that knows more replaces that text.  Libraries are never
 * unloaded. */
DTX_MUSTUSE enum dtx_code dtx_lib_open(const char *soname, const char *package, bool global,
                                       const struct dtx_lib_symbol *symbol, size_t n,
                                       struct dtx_err *err);
/* The function `name` of a shared library that is loaded: with the program, also where the program
 * itself defines and exports that name, or later with `global` (RTLD_NEXT).  NULL if none has it.
 */
void *dtx_lib_next(const char *name);

#endif
