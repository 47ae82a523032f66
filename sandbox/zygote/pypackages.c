/* The table of Python packages, see pypackages.h. */
#include "sandbox/zygote/pypackages.h"

#include <dirent.h>
#include <string.h>

#include "sandbox/zygote/pyhost.h"

const struct dtx_pypackage dtx_pypackages[] = {
	{ "numpy", "numpy", "python3-numpy", false },
	{ "pandas", "pandas", "python3-pandas", false },
	{ "scipy", "scipy", "python3-scipy", false },
	{ "matplotlib", "matplotlib", "python3-matplotlib", false },
	{ "seaborn", "seaborn", "python3-seaborn", false },
	{ "statsmodels", "statsmodels", "python3-statsmodels", false },
	{ "patsy", "patsy", "python3-patsy", false },
	{ "sklearn", "scikit_learn", "python3-sklearn", false },
	{ "joblib", "joblib", "python3-joblib", false },
	{ "openpyxl", "openpyxl", "python3-openpyxl", false },
	{ "xlrd", "xlrd", "python3-xlrd", false },
	{ "lxml", "lxml", "python3-lxml", false },
	{ "PIL", "Pillow", "python3-pil", false },
	{ "yaml", "PyYAML", "python3-yaml", false },
	{ "bs4", "beautifulsoup4", "python3-bs4", true },
	{ "h5py", "h5py", "python3-h5py", true },
	{ "jinja2", "Jinja2", "python3-jinja2", true },
	{ "networkx", "networkx", "python3-networkx", true },
	{ "nltk", "nltk", "python3-nltk", true },
	{ "plotly", "plotly", "python3-plotly", true },
	{ "regex", "regex", "python3-regex", true },
	{ "shapely", "Shapely", "python3-shapely", true },
	{ "skimage", "scikit_image", "python3-skimage", true },
	{ "sympy", "sympy", "python3-sympy", true },
	{ "tabulate", "tabulate", "python3-tabulate", true },
	{ "tqdm", "tqdm", "python3-tqdm", true },
	{ "unidecode", "Unidecode", "python3-unidecode", true },
	{ "xarray", "xarray", "python3-xarray", true },
	{ "xlsxwriter", "XlsxWriter", "python3-xlsxwriter", true },
	{ NULL, NULL, NULL, false },
};

const struct dtx_pypackage *dtx_pypackage_of(struct dtx_str module)
{
	const struct dtx_pypackage *p = dtx_pypackages;
	ptrdiff_t dot = dtx_str_find(module, DTX_STR("."), 0);

	if (dot >= 0)
		module.len = (size_t)dot;
	while (p->module && !dtx_str_is(module, p->module))
		p++;
	return p->module ? p : NULL;
}

/* Takes the version out of the name of a package's metadata, NAME-VERSION.egg-info or
 * NAME-VERSION.dist-info. */
static bool version_of(const char *file, const char *dist, char out[DTX_PYPACKAGE_VERSION])
{
	size_t n = strlen(dist);
	const char *end = strstr(file, ".egg-info");

	if (!end)
		end = strstr(file, ".dist-info");
	if (!end || strncmp(file, dist, n) != 0 || file[n] != '-')
		return false;
	file += n + 1;
	dtx_str_copy(out, DTX_PYPACKAGE_VERSION, (struct dtx_str){ file, (size_t)(end - file) });
	return true;
}

bool dtx_pypackage_version(const struct dtx_pypackage *p, char out[DTX_PYPACKAGE_VERSION])
{
	const struct dirent *entry;
	DIR *folder;

	out[0] = 0;
	if (!dtx_py_find_module(dtx_str_of(p->module)))
		return false;
	folder = opendir(dtx_py_packages);
	while (folder && (entry = readdir(folder)) && !version_of(entry->d_name, p->dist, out))
		;
	if (folder)
		closedir(folder);
	return true;
}
