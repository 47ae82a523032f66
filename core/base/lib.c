/* dlopen, once per library and process.  Handles stay open until the process ends. */
#include "core/base/lib.h"

#include <dlfcn.h>
#include <string.h>

static const char *lib_reason(void)
{
	const char *text = dlerror();

	return text ? text : "no reason given";
}

enum dtx_code dtx_lib_open(const char *soname, const char *package, bool global,
                           const struct dtx_lib_symbol *symbol, size_t n, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	void *lib = dlopen(soname, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
	size_t i;

	if (!lib)
		DTX_FAIL(err, DTX_E_INPUT_IO, "cannot load '%s': %s", soname, lib_reason());
	for (i = 0; i < n; i++) {
		void *at = dlsym(lib, symbol[i].name);

		if (!at)
			DTX_FAIL(err, DTX_E_INPUT_IO, "'%s' has no symbol '%s'", soname,
			         symbol[i].name);
		memcpy(symbol[i].where, &at, sizeof(at));
	}
out:
	if (rc != DTX_OK) {
		dtx_err_hint(err, "install the package %s", package);
		for (i = 0; i < n; i++)
			*symbol[i].where = NULL;
		if (lib)
			dlclose(lib);
	}
	return rc;
}

void *dtx_lib_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}
