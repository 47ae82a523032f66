/* Libraries opened on demand: their symbols are looked up once, by name. */
#ifndef DTX_BASE_LIB_H
#define DTX_BASE_LIB_H

#include "core/base/err.h"

struct dtx_lib_symbol {
	const char *name;
	void **where;	/* filled with the address */
};
/* dlopen(soname) with RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL) and all symbols, or nothing:
 * unsupported_format-like failures are the caller's words; here the code is bug-free
 * DTX_E_UNSUPPORTED_PARAM never; it is DTX_E_INPUT_IO with the loader's text and a hint naming
 * `package`. */
DTX_MUSTUSE enum dtx_code dtx_lib_open(const char *soname, const char *package, bool global,
				       const struct dtx_lib_symbol *symbol, size_t n,
				       struct dtx_err *err);

#endif
