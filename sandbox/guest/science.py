"""Makes scipy, sklearn, statsmodels and seaborn importable for programs, and scipy for snippets,
where they are installed.

A worker opens no file. Their usual modules are imported in the zygote if the code names the
package. All other modules of a program's packages are kept in memory: Python modules as the code
that Debian compiled, extension modules as libraries that are loaded, but not initialized. So a
worker can import any of them, and the import needs no system call."""
import _io
import ctypes
import importlib._bootstrap_external as external
import importlib.machinery
import importlib.util
import marshal
import os
import random
import sys
import types

import numpy.random

PYC_HEADER = 16
NUMBER = 1 << 20  # descriptor of a file in memory; worker/devnull.c makes a stream of it
PACKAGES = "/usr/lib/python3/dist-packages"
SCIPY, SKLEARN, STATSMODELS, SEABORN, AT_HAND = (1 << bit for bit in range(5))
# what a program of each may import, with what that needs itself
NEEDS = {
    SCIPY: "scipy",
    SKLEARN: "sklearn joblib threadpoolctl scipy",
    STATSMODELS: "statsmodels patsy scipy",
    SEABORN: "seaborn statsmodels patsy scipy",
    AT_HAND: "seaborn sklearn joblib threadpoolctl statsmodels patsy scipy",
}
# imported in advance; the rest of sklearn is imported when a program asks for it
USUAL = {
    SKLEARN: """sklearn.cluster sklearn.compose sklearn.datasets sklearn.decomposition
sklearn.ensemble sklearn.impute sklearn.linear_model sklearn.metrics sklearn.model_selection
sklearn.naive_bayes sklearn.neighbors sklearn.pipeline sklearn.preprocessing sklearn.svm
sklearn.tree""",
    STATSMODELS: "statsmodels.api statsmodels.formula.api",
    SEABORN: "seaborn",
}
LEFT_OUT = ("tests", "__pycache__")
# what kinds of files next to the modules they read
DATA = (".csv", ".csv.gz", ".dat", ".npz", ".rst", ".npy", ".json", ".jpg")

modules = {}  # by name: (loader, whether it is a package); a folder without __init__.py has no loader
depth = 0     # of imports that go on


def lead_messages(module):
    """Triangulation in scipy needs a file for its messages, and ends the process if there is
    none."""
    module.tempfile = types.SimpleNamespace(mkstemp=lambda **words: (NUMBER, b"messages"))
    module.os = types.SimpleNamespace(remove=lambda path: None)


def leave_threads(module):
    """sklearn limits the threads of loaded libraries, which are limited to one already. To find the
    libraries it would make a callback for C, for which memory must become code."""
    module.ThreadpoolController._load_libraries = lambda self: None


# what is done after the import of a module
AFTER = {"scipy._lib.messagestream": lead_messages, "threadpoolctl": leave_threads}


def after(module):
    change = AFTER.get(module.__name__)
    if change:
        change(module)


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a Python module from memory."""

    def __init__(self, name, path, compiled, text):
        importlib.machinery.SourceFileLoader.__init__(self, name, path)
        # `text` is the bytes of the .pyc file after its header, or else those of the .py file
        self.compiled, self.text = compiled, text

    def get_code(self, name):
        if self.compiled:
            return marshal.loads(self.text)
        return self.source_to_code(self.text, self.path)

    def exec_module(self, module):
        """The module may have been imported before the run, so its import must not use up random
        numbers of the run."""
        global depth
        kept = None if depth else (random.getstate(), numpy.random.get_state(), stream.at,
                                   stream.calls)
        depth += 1
        try:
            importlib.machinery.SourceFileLoader.exec_module(self, module)
            after(module)
        finally:
            depth -= 1
            if kept:
                random.setstate(kept[0])
                numpy.random.set_state(kept[1])
                stream.at, stream.calls = kept[2:]


class Library(importlib.machinery.ExtensionFileLoader):
    """Loads an extension module whose library is loaded already, so that no file is opened."""

    def exec_module(self, module):
        importlib.machinery.ExtensionFileLoader.exec_module(self, module)
        after(module)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in modules:
            return None
        loader, package = modules[name]
        if not loader:
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = ["%s/%s" % (PACKAGES, name.replace(".", "/"))]
            return spec
        folders = [os.path.dirname(loader.path)] if package else None
        return importlib.util.spec_from_file_location(name, loader.path, loader=loader,
                                                      submodule_search_locations=folders)


def read(path):
    with _io.FileIO(path, "r") as file:  # open() takes four times as long
        return file.readall()


def keep_module(name, path, package):
    """Keeps the compiled code of a module if it is that of its source, or else its source."""
    folder, file = os.path.split(path)
    compiled = "%s/__pycache__/%s.%s.pyc" % (folder, file[:-3], sys.implementation.cache_tag)
    try:
        text, source = read(compiled), os.stat(path)
        if external._classify_pyc(text, name, {}):
            raise ImportError  # it has a hash of its source instead of its time
        external._validate_timestamp_pyc(text, int(source.st_mtime), source.st_size, name, {})
        loader = Loader(name, path, True, text[PYC_HEADER:])
    except (OSError, EOFError, ImportError):
        loader = Loader(name, path, False, read(path))
    modules[name] = loader, package


def keep_library(name, path):
    try:
        ctypes.CDLL(path, sys.getdlopenflags())  # it stays loaded
    except OSError:
        pass  # the import says why
    modules[name] = Library(name, path), False


def keep_folder(folder, name, data):
    """Keeps the modules of a package; `data` gets the files that they read."""
    suffixes = tuple(importlib.machinery.EXTENSION_SUFFIXES)
    modules[name] = None, True
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        file, path = entry.name, "%s/%s" % (folder, entry.name)
        if entry.is_dir():
            if file not in LEFT_OUT:
                keep_folder(path, "%s.%s" % (name, file), data)
        elif file == "__init__.py":
            keep_module(name, path, True)
            # statsmodels.api imports from .__init__
            loader = modules[name][0]
            modules[name + ".__init__"] = Loader(name + ".__init__", path, loader.compiled, loader.text), False
        elif file.endswith(".py"):
            keep_module("%s.%s" % (name, file[:-3]), path, False)
        elif file.endswith(suffixes):
            keep_library("%s.%s" % (name, file.split(".")[0]), path)
        elif file.endswith(DATA):
            data[path] = read(path)


def keep(packages):
    """Keeps these packages in memory; returns the files that they read, by path."""
    data = {}
    for name in packages:
        path = "%s/%s" % (PACKAGES, name)
        try:
            if os.path.isdir(path):
                keep_folder(path, name, data)
            elif os.path.exists(path + ".py"):
                keep_module(name, path + ".py", False)
        except OSError as error:
            note(name, error)
    if data:
        sys.meta_path.insert(0, Finder)
    return data


def prepare_snippets():
    """Runs in the zygote of snippets."""
    optional(GUEST["science.txt"].decode().split())
    messages = sys.modules.get("scipy._lib.messagestream")
    if messages:
        lead_messages(messages)


def prepare(packages):
    """Runs in the zygote of programs, whose code names `packages`, the sum of their bits. Returns
    the files that they read."""
    os.environ["JOBLIB_MULTIPROCESSING"] = "0"  # joblib runs one task after the other
    names = [name for bit, names in NEEDS.items() if packages & bit for name in names.split()]
    data = keep(dict.fromkeys(names))
    if packages & SCIPY:
        optional(GUEST["science.txt"].decode().split())
    return data


def prepare_usual(packages):
    """The second half of it, because seaborn needs the matplotlib that is prepared."""
    for bit, names in USUAL.items():
        if packages & bit:
            optional(names.split())
