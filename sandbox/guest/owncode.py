"""Lets a program import modules from its own files, and does at its end what Python does."""
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
        raise OSError  # no compiled file is kept next to it


class Finder:
    """Finds modules in the folders of the program and in sys.path, if no other finder has them
    imported already."""

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
    """importlib.reload: does nothing for libraries, whose files cannot be read any more."""
    if isinstance(getattr(module, "__loader__", None), Loader):
        return plain_reload(module)
    return module


def open_code(path):
    if space().resolve(path) in space().files:
        return space().opened(path, "rb")
    return plain_open_code(path)  # the kernel refuses this, so that it is in the record


def end(module):
    """Does what Python does when a program ends, before its files are collected."""
    atexit._run_exitfuncs()
    module.__dict__.clear()


def prepare(of_now):
    """Runs in the zygote after all imports."""
    global space, plain_reload, plain_open_code
    space, plain_reload, plain_open_code = of_now, importlib.reload, io.open_code
    # the last finder explains why a module is missing
    sys.meta_path.insert(len(sys.meta_path) - 1, Finder)
    importlib.reload = keep_as_it_is
    io.open_code = open_code
    # What libraries registered for the end is about files and processes that a worker does not
    # have.
    atexit._clear()
    weakref.finalize._registry.clear()
    weakref.finalize._registered_with_atexit = False
    atexit.register(logging.shutdown)
