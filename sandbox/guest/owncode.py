"""Code of a program beside its text: modules among its files, and what it leaves for its end."""
import atexit
import importlib.machinery
import importlib.util
import io
import logging
import os
import sys
import weakref

OUT, IN = "/out", "/in"


class Loader(importlib.machinery.SourceFileLoader):
    def get_data(self, path):
        with space().opened(path, "rb") as f:
            return f.read()

    def path_stats(self, path):
        raise OSError  # no compiled file is kept beside it


class Finder:
    """After those of what is imported already: beside the program, and where it says."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        here, tail, spaces = space(), name.rpartition(".")[2], None
        for folder in path or ["", *sys.path, OUT, IN]:
            base = os.path.join(folder, tail)
            for file in (base + "/__init__.py", base + ".py"):
                place = here.resolve(file)
                if place in here.files:
                    return importlib.util.spec_from_file_location(name, place,
                                                                  loader=Loader(name, place))
            if not spaces and here.resolve(base) in here.folders:
                spaces = importlib.machinery.ModuleSpec(name, None, is_package=True)
                spaces.submodule_search_locations = [here.resolve(base)]
        return spaces


def keep_as_it_is(module):
    """importlib.reload: the files of what was imported are out of reach."""
    if isinstance(getattr(module, "__loader__", None), Loader):
        return plain_reload(module)
    return module


def open_code(path):
    if space().resolve(path) in space().files:
        return space().opened(path, "rb")
    return plain_open_code(path)  # the kernel refuses, and the record knows


def end(module):
    """What Python does when a program ends, before its files are written."""
    atexit._run_exitfuncs()
    module.__dict__.clear()


def prepare(of_now):
    """In the zygote, once all is imported."""
    global space, plain_reload, plain_open_code
    space, plain_reload, plain_open_code = of_now, importlib.reload, io.open_code
    sys.meta_path.insert(len(sys.meta_path) - 1, Finder)  # the last one knows why there is none
    importlib.reload = keep_as_it_is
    io.open_code = open_code
    # what libraries left for the end is of files and processes that a worker has not
    atexit._clear()
    weakref.finalize._registry.clear()
    weakref.finalize._registered_with_atexit = False
    atexit.register(logging.shutdown)
