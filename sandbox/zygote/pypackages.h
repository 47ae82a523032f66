/* The Python packages that people look for in the jail, and the Debian packages that bring them.
 *
 * Only what Debian installed counts; the jail imports nothing from pip or a virtual environment. */
#ifndef DTX_SANDBOX_ZYGOTE_PYPACKAGES_H
#define DTX_SANDBOX_ZYGOTE_PYPACKAGES_H

#include "core/base/base.h"
#include "core/base/text/str.h"

struct dtx_pypackage {
	const char *module; /* as in `import sklearn` */
	const char *dist;   /* as in the name of its metadata, scikit_learn-1.2.1.egg-info */
	const char *debian;
	bool lib_ro; /* only the profile lib-ro imports it */
};
extern const struct dtx_pypackage dtx_pypackages[]; /* ends with a row whose module is NULL */

/* Finds the row of a module, "sklearn.svm" for instance; NULL: it is not in the table. */
const struct dtx_pypackage *dtx_pypackage_of(struct dtx_str module);

enum { DTX_PYPACKAGE_VERSION = 64 };
/* Writes the version that Debian installed, "" if its metadata is missing. Returns false if the
 * package is not installed. */
DTX_MUSTUSE bool dtx_pypackage_version(const struct dtx_pypackage *p,
                                       char out[DTX_PYPACKAGE_VERSION]);

#endif
