/* Asks each library for its version through its own function, also libraries that are loaded on
 * demand. */
#include "cli/exec/versions.h"

#include "core/base/lib.h"

/* Libraries with a function without arguments that returns the version. */
static const struct {
	const char *name, *soname, *package, *symbol;
} asked[] = {
	{ "jansson", "libjansson.so.4", "libjansson4", "jansson_version_str" },
	{ "sqlite3", "libsqlite3.so.0", "libsqlite3-0", "sqlite3_libversion" },
	{ "zlib", "libz.so.1", "zlib1g", "zlibVersion" },
	{ "libxlsxwriter", "libxlsxwriter.so.4", "libxlsxwriter4", "lxw_version" },
	{ "freexl", "libfreexl.so.1", "libfreexl1", "freexl_version" },
};

json_t *dtx_versions(void)
{
	json_t *all = json_object();
	size_t i;

	for (i = 0; all && i < DTX_COUNT(asked); i++) {
		const char *(*version)(void) = NULL;
		struct dtx_lib_symbol symbol = { asked[i].symbol, (void **)&version };
		enum dtx_code rc =
			dtx_lib_open(asked[i].soname, asked[i].package, false, &symbol, 1, NULL);

		json_object_set_new(all, asked[i].name,
		                    json_string(rc == DTX_OK ? version() : "missing"));
	}
	return all;
}
