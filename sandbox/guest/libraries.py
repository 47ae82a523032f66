"""Modules of this machine's Python that are imported while a run goes on: profile lib-ro.

The kernel lets a worker read the library folders, and no others.
"""
import _io
import importlib.machinery
import sys

folders = ()


def holds(path):
    return path.startswith(folders)


def read(path):
    """A module's text, or what lies beside it.  open() would ask of each what terminal that is."""
    with _io.FileIO(path, "r") as file:
        return file.read()


def get_data(loader, path):
    return read(path)


def prepare(extensions):
    """In the zygote.  Without `extensions` no file may become code of the processor."""
    global folders
    machinery = importlib.machinery
    folders = tuple(folder + "/" for folder in sys.path)
    machinery.SourceFileLoader.get_data = machinery.SourcelessFileLoader.get_data = get_data
    if extensions:
        return
    details = ((machinery.SourceFileLoader, machinery.SOURCE_SUFFIXES),
               (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES))
    sys.path_hooks[:] = [machinery.FileFinder.path_hook(*details)]
    sys.path_importer_cache.clear()
