/* Libraries opened on demand: their symbols are looked up once, by name. */
#ifndef DTX_BASE_LIB_H
#define DTX_BASE_LIB_H

#include "core/base/err.h"

struct dtx_lib_symbol {
	const char *name;
	void **where; /* filled with the address */
};
/* dlopen(soname) with RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL) and all symbols, or nothing:
 * on failure every *where is NULL.  Fails with input_io, the loader's text and a hint that names
 * `package`; a caller that knows better wraps it in words of its own.  Never unloaded. */
DTX_MUSTUSE enum dtx_code dtx_lib_open(const char *soname, const char *package, bool global,
                                       const struct dtx_lib_symbol *symbol, size_t n,
                                       struct dtx_err *err);
/* The function that `name` means to the libraries behind the program itself; NULL if there is
 * none.  For a name that the program exports in their stead. */
void *dtx_lib_next(const char *name);

#endif
