/* The embedded interpreter, see pyhost.h. The functions of libpython are looked up at run time,
 * because dtx must start on a machine without Python. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#include <Python.h>
#include <marshal.h>
#pragma GCC diagnostic pop

#include "sandbox/zygote/pyhost.h"

#include <ctype.h>
#include <errno.h>
#include <unistd.h>

#include "core/base/hash/hash.h"
#include "core/base/lib.h"
#include "core/base/text/str.h"
#include "sandbox/guest.h"

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
#define PY_LIB     "/usr/lib/python" TEXT(PY_MAJOR_VERSION) "." TEXT(PY_MINOR_VERSION)
#define PY_SONAME  "libpython" TEXT(PY_MAJOR_VERSION) "." TEXT(PY_MINOR_VERSION) ".so.1.0"
#define PY_PACKAGE "libpython" TEXT(PY_MAJOR_VERSION) "." TEXT(PY_MINOR_VERSION)

#if defined(__aarch64__)
#define MACHINE "aarch64-linux-gnu"
#else
#define MACHINE "x86_64-linux-gnu"
#endif
#define SOABI      "cpython-" TEXT(PY_MAJOR_VERSION) TEXT(PY_MINOR_VERSION) "-" MACHINE
#define MODULE_MAX 200 /* the longest name of a module, with its dots */

#define LIBRARIES "/usr/lib/" MACHINE
#define PACKAGES  "/usr/lib/python3/dist-packages"

const char dtx_py_packages[] = PACKAGES;

/* Package managers replace a file by a rename, which changes the time of its folder; adding or
 * removing a file does, too. So a folder stands for all files in it. Links are followed:
 * libblas.so.3, for instance, points to one of several libraries. */
const char *const dtx_py_files[] = {
	LIBRARIES "/" PY_SONAME,
	PY_LIB "/os.py",
	PACKAGES "/pandas/_version.py",
	PACKAGES "/numpy/version.py",
	LIBRARIES "/libblas.so.3",
	LIBRARIES "/liblapack.so.3",
	LIBRARIES "/libopenblas.so.0",
	LIBRARIES,
	"/etc/alternatives",
	PY_LIB,
	PY_LIB "/lib-dynload",
	PACKAGES,
	PACKAGES "/numpy",
	PACKAGES "/numpy/core",
	PACKAGES "/numpy/linalg",
	PACKAGES "/numpy/fft",
	PACKAGES "/numpy/random",
	PACKAGES "/pandas",
	PACKAGES "/pandas/_libs",
	PACKAGES "/pandas/_libs/tslibs",
	PACKAGES "/pandas/_libs/window",
	PACKAGES "/scipy",
	PACKAGES "/matplotlib",
	PACKAGES "/sklearn",
	PACKAGES "/statsmodels",
	PACKAGES "/seaborn",
	NULL,
};

/* The only folders from which modules are imported. */
#define FOLDER(path)                                                                               \
	{                                                                                          \
		path, L"" path                                                                     \
	}
static const struct {
	const char *name;
	const wchar_t *wide;
} folders[] = {
	FOLDER(PY_LIB),
	FOLDER(PY_LIB "/lib-dynload"),
	FOLDER(PACKAGES),
};

/* Every function of the interpreter that is used here. */
#define PY_CALLS(P)                                                                                \
	P(PyPreConfig_InitIsolatedConfig)                                                          \
	P(Py_PreInitialize)                                                                        \
	P(PyConfig_InitIsolatedConfig)                                                             \
	P(PyConfig_Clear)                                                                          \
	P(PyConfig_SetBytesString)                                                                 \
	P(PyWideStringList_Append)                                                                 \
	P(Py_InitializeFromConfig)                                                                 \
	P(PyStatus_Exception)                                                                      \
	P(PyImport_AddModule)                                                                      \
	P(PyModule_GetDict)                                                                        \
	P(PyDict_New)                                                                              \
	P(PyDict_SetItemString)                                                                    \
	P(PyBytes_FromStringAndSize)                                                               \
	P(PyMarshal_ReadObjectFromString)                                                          \
	P(Py_GetVersion)                                                                           \
	P(PyUnicode_AsUTF8)                                                                        \
	P(Py_CompileStringExFlags)                                                                 \
	P(PyEval_EvalCode)                                                                         \
	P(PyEval_GetBuiltins)                                                                      \
	P(PyObject_GetAttrString)                                                                  \
	P(PyObject_CallFunction)                                                                   \
	P(PyObject_Str)                                                                            \
	P(PyMemoryView_FromMemory)                                                                 \
	P(PyArg_ParseTuple)                                                                        \
	P(PyErr_Fetch)                                                                             \
	P(PyErr_NormalizeException)                                                                \
	P(PyErr_Clear)                                                                             \
	P(PyErr_ExceptionMatches)                                                                  \
	P(PyOS_BeforeFork)                                                                         \
	P(PyOS_AfterFork_Parent)                                                                   \
	P(PyOS_AfterFork_Child)                                                                    \
	P(Py_DecRef)

/* There is one interpreter per process, so one table. */
static struct {
#define P(name) __typeof__(name) *name;
	PY_CALLS(P)
#undef P
	PyObject *run, *warm; /* functions of boot.py */
} py;

static enum dtx_code open_library(struct dtx_err *err)
{
	static const struct dtx_lib_symbol symbols[] = {
#define P(name) { #name, (void **)(void *)&py.name },
		PY_CALLS(P)
#undef P
	};

	return dtx_lib_open(PY_SONAME, PY_PACKAGE, true, symbols, DTX_COUNT(symbols), err);
}

/* Clears the pending exception and writes it as text ("ModuleNotFoundError: No module named
 * 'pandas'"). */
static void take_exception(char *out, size_t size)
{
	PyObject *type = NULL, *value = NULL, *trace = NULL, *text = NULL;
	const char *utf8 = NULL;

	py.PyErr_Fetch(&type, &value, &trace);
	py.PyErr_NormalizeException(&type, &value, &trace);
	if (value)
		text = py.PyObject_Str(value);
	if (text)
		utf8 = py.PyUnicode_AsUTF8(text);
	snprintf(out, size, "%s: %s", type ? ((PyTypeObject *)type)->tp_name : "no exception",
	         utf8 ? utf8 : "");
	py.PyErr_Clear();
	py.Py_DecRef(type);
	py.Py_DecRef(value);
	py.Py_DecRef(trace);
	py.Py_DecRef(text);
}

#define REFUSE(err, ...) DTX_FAIL((err), DTX_E_SNIPPET_SETUP_REFUSED, "python: " __VA_ARGS__)

static enum dtx_code preinit(struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	PyPreConfig pre;
	PyStatus st;

	py.PyPreConfig_InitIsolatedConfig(&pre);
	pre.utf8_mode = 1;
	st = py.Py_PreInitialize(&pre);
	if (py.PyStatus_Exception(st))
		REFUSE(err, "%s", st.err_msg ? st.err_msg : "does not start");
out:
	return rc;
}

/* Starts Python in isolated mode: no site module, no environment variables, no user folder, a
 * fixed search path and a fixed hash seed. */
static enum dtx_code init(uint32_t hash_seed, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	PyConfig cfg;
	PyStatus st;
	size_t i;

	py.PyConfig_InitIsolatedConfig(&cfg);
	cfg.site_import = 0;
	cfg.write_bytecode = 0;
	cfg.install_signal_handlers = 0;
	cfg.use_hash_seed = 1;
	cfg.hash_seed = hash_seed;
	cfg.module_search_paths_set = 1;
	cfg.pathconfig_warnings = 0;
	st = py.PyConfig_SetBytesString(&cfg, &cfg.prefix, "/usr");
	if (!py.PyStatus_Exception(st))
		st = py.PyConfig_SetBytesString(&cfg, &cfg.exec_prefix, "/usr");
	if (!py.PyStatus_Exception(st))
		st = py.PyConfig_SetBytesString(&cfg, &cfg.executable, "");
	for (i = 0; i < DTX_COUNT(folders) && !py.PyStatus_Exception(st); i++)
		st = py.PyWideStringList_Append(&cfg.module_search_paths, folders[i].wide);
	if (!py.PyStatus_Exception(st))
		st = py.Py_InitializeFromConfig(&cfg);
	py.PyConfig_Clear(&cfg);
	if (py.PyStatus_Exception(st))
		REFUSE(err, "%s", st.err_msg ? st.err_msg : "does not start");
out:
	return rc;
}

/* Makes the dictionary {"frames.py": b"text", "frames.pyc": b"code", ...}. */
static PyObject *guest_dict(void)
{
	PyObject *dict = py.PyDict_New();
	const struct dtx_guest_file *f;

	for (f = dtx_guest_files; dict && f->name; f++) {
		PyObject *text = py.PyBytes_FromStringAndSize(f->text, (Py_ssize_t)f->len);

		if (!text || py.PyDict_SetItemString(dict, f->name, text))
			py.PyErr_Clear();
		py.Py_DecRef(text);
	}
	return dict;
}

static const struct dtx_guest_file *guest_file(const char *name)
{
	const struct dtx_guest_file *f = dtx_guest_files;

	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f;
}

/* Loads the code that was compiled at build time, or compiles the text if this is another Python
 * version: the byte code of one version is not valid in another. */
static PyObject *boot_code(bool compiled)
{
	const struct dtx_guest_file *f = guest_file(compiled ? "boot.pyc" : "boot.py");

	if (compiled)
		return py.PyMarshal_ReadObjectFromString(f->text, (Py_ssize_t)f->len);
	return py.Py_CompileStringExFlags(f->text, "<dtx>/boot.py", Py_file_input, NULL, -1);
}

/* Runs boot.py as the module dtx_boot and keeps its functions `run` and `warm`. Its `prepare`
 * does all imports. */
static PyObject *boot(enum dtx_zkind kind, enum dtx_filter_set set)
{
	PyObject *module = py.PyImport_AddModule("dtx_boot"), *dict, *code, *done = NULL, *prepare;
	PyObject *guest = guest_dict(), *info = NULL;
	bool compiled = !strcmp(py.Py_GetVersion(), dtx_guest_python);

	if (!module || !guest)
		return NULL;
	dict = py.PyModule_GetDict(module);
	if (py.PyDict_SetItemString(dict, "GUEST", guest) ||
	    py.PyDict_SetItemString(dict, "__builtins__", py.PyEval_GetBuiltins()))
		return NULL;
	code = boot_code(compiled);
	if (code)
		done = py.PyEval_EvalCode(code, dict, dict);
	if (!done)
		return NULL;
	prepare = py.PyObject_GetAttrString(module, "prepare");
	py.run = py.PyObject_GetAttrString(module, "run");
	py.warm = py.PyObject_GetAttrString(module, "warm");
	if (prepare && py.run && py.warm)
		info = py.PyObject_CallFunction(prepare, "iii", (int)kind & ~(int)DTX_ZYGOTE_LIB_RO,
		                                compiled, (int)set);
	return info;
}

enum dtx_code dtx_py_start(uint32_t hash_seed, enum dtx_zkind kind, enum dtx_filter_set set,
                           struct dtx_py_info *info, struct dtx_err *err)
{
	enum dtx_code rc = DTX_OK;
	PyObject *got = NULL;
	const char *python, *pandas, *numpy, *pins;
	char text[200];
	char hex[DTX_SHA256_HEX];

	if (open_library(err) != DTX_OK) {
		dtx_str_copy(text, sizeof(text), dtx_str_of(err ? err->msg : ""));
		REFUSE(err, "%s", text);
	}
	DTX_TRY(preinit(err));
	DTX_TRY(init(hash_seed, err));
	got = boot(kind, set);
	if (!got || !py.PyArg_ParseTuple(got, "ssss", &python, &pandas, &numpy, &pins)) {
		take_exception(text, sizeof(text));
		REFUSE(err, "%s", text);
	}
	dtx_str_copy(info->python, sizeof(info->python), dtx_str_of(python));
	dtx_str_copy(info->pandas, sizeof(info->pandas), dtx_str_of(pandas));
	dtx_str_copy(info->numpy, sizeof(info->numpy), dtx_str_of(numpy));
	snprintf(text, sizeof(text), "%s\n%s\n%s\n%.100s", python, pandas, numpy, pins);
	dtx_sha256_hex(text, strlen(text), hex);
	dtx_str_copy(info->abi, 17, dtx_str_of(hex));
out:
	if (got)
		py.Py_DecRef(got);
	return rc;
}

/* Looks in one folder for NAME/, NAME.py or NAME.cpython-*.so. */
static enum dtx_py_module find_module_in(const char *folder, struct dtx_str name)
{
	static const char *const tails[] = { "", ".py", "." SOABI ".so", ".abi3.so", ".so" };
	enum { TEXTS = 2 }; /* the first two tails mean a module without machine code */
	char path[400];
	size_t i, k, n = strlen(folder) + 1;

	for (i = 0; i < DTX_COUNT(tails); i++) {
		snprintf(path, sizeof(path), "%s/%.*s%s", folder, (int)name.len, name.ptr,
		         tails[i]);
		for (k = n; k < n + name.len; k++)
			if (path[k] == '.')
				path[k] = '/';
		if (!access(path, R_OK))
			return i < TEXTS ? DTX_PY_TEXT : DTX_PY_CODE;
	}
	return DTX_PY_NO_MODULE;
}

enum dtx_py_module dtx_py_find_module(struct dtx_str name)
{
	enum dtx_py_module found = DTX_PY_NO_MODULE;
	size_t i;

	/* The name comes from a worker. Only the characters of a module name may become a part
	 * of a path. */
	if (!name.len || name.len > MODULE_MAX)
		return found;
	for (i = 0; i < name.len; i++) {
		bool dot = name.ptr[i] == '.';
		bool last = i + 1 == name.len || name.ptr[i + 1] == '.';

		if (dot ? !i || last : !isalnum((unsigned char)name.ptr[i]) && name.ptr[i] != '_')
			return found;
	}
	for (i = 0; i < DTX_COUNT(folders) && !found; i++)
		found = find_module_in(folders[i].name, name);
	return found;
}

bool dtx_py_warm(enum dtx_py_warmth how)
{
	PyObject *got = py.PyObject_CallFunction(py.warm, "i", (int)how);

	if (!got)
		py.PyErr_Clear();
	py.Py_DecRef(got);
	return got != NULL;
}

int dtx_py_fork(void)
{
	int pid, code;

	py.PyOS_BeforeFork();
	pid = fork();
	code = errno;
	if (pid == 0)
		py.PyOS_AfterFork_Child();
	else
		py.PyOS_AfterFork_Parent();
	errno = code;
	return pid;
}

enum { AGAIN = 32 }; /* a bit of the mode that guest/boot.py knows */

void dtx_py_run(const struct dtx_wire_start *start, void *in, void *out, struct dtx_wire_done *done)
{
	PyObject *from = py.PyMemoryView_FromMemory(in, (Py_ssize_t)start->in_len, PyBUF_WRITE);
	PyObject *to = py.PyMemoryView_FromMemory(out, (Py_ssize_t)start->out_len, PyBUF_WRITE);
	PyObject *got = NULL;
	unsigned code = DTX_DONE_MEMORY;
	unsigned long long used = 0;

	if (from && to)
		got = py.PyObject_CallFunction(
			py.run, "OOIKL", from, to,
			start->mode | (start->flags & DTX_START_AGAIN ? AGAIN : 0),
			(unsigned long long)start->seed, (long long)start->now_us);
	if (got && !py.PyArg_ParseTuple(got, "IK", &code, &used))
		code = DTX_DONE_BAD_RESULT;
	py.Py_DecRef(got);
	py.Py_DecRef(from);
	py.Py_DecRef(to);
	*done = (struct dtx_wire_done){ code, 0, used };
}
