"""Imports modules of this machine's Python while a run goes on (profile lib-ro).

The kernel lets such a worker read the library folders and nothing else."""
import _io
import importlib.machinery
import sys

folders = ()


def holds(path):
    return path.startswith(folders)


def read(path):
    """Reads a module's text or a file next to it. open() would ask for each file whether it is a
    terminal, and that call is refused."""
    with _io.FileIO(path, "r") as file:
        return file.read()


def get_data(loader, path):
    return read(path)


def prepare(extensions):
    """Runs in the zygote. Without `extensions`, no file may be loaded as machine code."""
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
