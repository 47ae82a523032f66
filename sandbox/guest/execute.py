"""Runs a program instead of a transform, with its input files, its output files and its figures in
memory.

A worker cannot open files. /in holds the files that the program was given and /out those it
leaves. Both exist only in memory, and only the functions that programs use for files (open, and
some of os) know about them."""
import ast
import builtins
import contextlib
import encodings
import errno
import gc
import io
import itertools
import json
import linecache
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import traceback
import types
import weakref
import zlib

memfile = load("memfile")

IN, OUT, TMP = "/in", "/out", "/tmp"
FILES_MAX = 1000
DESCRIPTOR = 1 << 20  # the kernel never gives a descriptor that large here
real = {}


READ_ONLY = "files can be written to /out, which is given back, and to /tmp"


def fail(code, path):
    text = os.strerror(code) + ": " + READ_ONLY if code == errno.EROFS else os.strerror(code)
    return OSError(code, text, path if isinstance(path, int) else os.fspath(path))


class Entry:
    """An entry as os.scandir returns it."""

    def __init__(self, space, folder, name):
        self.space, self.name = space, name
        self.path = os.path.join(folder, name)

    def __fspath__(self):
        return self.path

    def stat(self, *, follow_symlinks=True):
        return self.space.stat(self.path)

    def inode(self):
        return self.stat().st_ino

    def is_dir(self, *, follow_symlinks=True):
        return self.space.resolve(self.path) in self.space.folders

    def is_file(self, *, follow_symlinks=True):
        return not self.is_dir()

    def is_symlink(self):
        return False


class Entries(list):
    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    close = __exit__

    def __next__(self):
        if not self:
            raise StopIteration
        return self.pop(0)

    def __iter__(self):
        return self


class Space:
    """The files by absolute path, and the folders that contain them."""

    def __init__(self, given):
        self.files = {"%s/%s" % (IN, name): data for name, data in given.items()}
        self.folders = {"/", IN, OUT, TMP}
        self.here = OUT
        self.temps = 0
        self.open = weakref.WeakSet()
        self.databases = {}  # by path: the connections to that database
        self.descriptors = {}  # of os.open and tempfile.mkstemp: number to file
        self.times = {}  # by path: the time of the last write, in ns
        self.ticks = 0   # the clock stands still, but a later write must have a later time
        self.changed = set()  # paths, since the last call of a session
        for path in self.files:
            self.add_folders(path)
            self.touch(path)

    def give(self, given):
        """Adds the files of a later call of a session."""
        self.changed.clear()
        for name, data in given.items():
            path = "%s/%s" % (IN, name)
            self.files[path] = data
            self.add_folders(path)
            self.touch(path)

    def add_folders(self, path):
        while path != "/":
            path = os.path.dirname(path)
            self.folders.add(path)

    def has_folder_of(self, path):
        """Whether a file can be made there. A folder of /in exists in /out, too."""
        folder = os.path.dirname(path)
        if folder.startswith(OUT + "/") and IN + folder[len(OUT):] in self.folders:
            self.add_folders(path)
        return folder in self.folders

    def touch(self, path):
        self.ticks += 1
        self.changed.add(path)
        self.times[path] = int(time.time()) * 10**9 + self.ticks * 1000

    def path_of(self, name):
        path = os.path.normpath(os.path.join(self.here, os.fsdecode(os.fspath(name))))
        return path.replace("//", "/")

    def resolve(self, name):
        """The path of a file: the current folder is /out, and what is not there is looked for in
        /in."""
        name = os.fsdecode(os.fspath(name))
        path = self.path_of(name)
        if os.path.isabs(name):
            name = path[len(OUT) + 1:] if path.startswith(OUT + "/") else None
        if name is not None and path not in self.files and path not in self.folders:
            given = os.path.normpath(os.path.join(IN, name))
            if given in self.files or given in self.folders:
                return given
        return path

    def opened(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
               closefd=True, opener=None):
        if isinstance(file, int) and file not in self.descriptors:
            return real["builtins.open"](file, mode, buffering, encoding, errors, newline, closefd)
        memfile.check_mode(mode, encoding, errors, newline)
        if isinstance(file, int):
            raw = self.descriptors[file]
            raw = memfile.Raw(raw.data, raw.name, mode, raw.touched)
        else:
            raw = self.raw(os.fspath(file), mode)
        made = memfile.stacked(raw, mode, buffering, encoding, errors, newline)
        self.open.add(made)
        return made

    def raw(self, name, mode):
        """Opens a file. `name` is what the program called it, which an error shows."""
        path = self.resolve(name)
        if path in library:
            return memfile.Raw(library[path], name, "r")
        writes = any(c in mode for c in "wax+")
        if writes and path.startswith(IN + "/"):
            path = OUT + path[len(IN):] if "w" in mode else path
        if path in self.folders:
            raise fail(errno.EISDIR, name)
        if writes and not is_writable(path):
            raise fail(errno.EROFS, name)
        if writes and not self.has_folder_of(path):
            raise fail(errno.ENOENT, name)
        if "x" in mode and path in self.files:
            raise fail(errno.EEXIST, name)
        if "r" in mode and path not in self.files:
            if not writes and of_module(path):
                return memfile.Raw(sys.modules["libraries"].read(path), name, mode)
            raise fail(errno.ENOENT, name)
        if not writes:
            return memfile.Raw(self.files[path], name, mode)
        return memfile.Raw(self.written(path, "w" in mode, name), name, mode,
                           lambda: self.touch(path))

    def written(self, path, emptied, name):
        """The bytes of a file that will be changed."""
        data = self.files.get(path)
        if data is None:
            if len(self.files) >= FILES_MAX:
                raise fail(errno.ENOSPC, name)
            data = b""
        if not isinstance(data, bytearray):
            data = self.files[path] = bytearray(data)
            self.touch(path)
        if emptied and data:
            data.clear()
            self.touch(path)
        return data

    # --- descriptors that only exist here ---

    def describe(self, raw):
        self.temps += 1
        self.descriptors[DESCRIPTOR + self.temps] = raw
        return DESCRIPTOR + self.temps

    def open_descriptor(self, path, flags, mode=0o777, *, dir_fd=None):
        place = self.resolve(path)
        exists = place in self.files
        if dir_fd is not None or not (exists or self.has_folder_of(place)
                                      and os.path.dirname(place) != "/"):
            # the kernel refuses this, so that it is in the record
            return real["os.open"](path, flags, mode, dir_fd=dir_fd)
        if flags & os.O_CREAT and flags & os.O_EXCL and exists:
            raise fail(errno.EEXIST, path)
        kind = ("r", "w", "r+")[flags & os.O_ACCMODE]
        if kind != "r":
            kind = "a+" if flags & os.O_APPEND else "r+"
        if flags & os.O_CREAT and not exists:
            self.raw(path, "w")
        raw = self.raw(path, kind)
        if flags & os.O_TRUNC and kind != "r":
            raw.truncate(0)
        return self.describe(raw)

    def close_descriptor(self, fd):
        if not self.descriptors.pop(fd, None):
            real["os.close"](fd)

    def read_descriptor(self, fd, n):
        if fd not in self.descriptors:
            return real["os.read"](fd, n)
        return self.descriptors[fd].read(n)

    def write_descriptor(self, fd, data):
        if fd not in self.descriptors:
            return real["os.write"](fd, data)
        return self.descriptors[fd].write(data)

    def seek_descriptor(self, fd, place, how):
        if fd not in self.descriptors:
            return real["os.lseek"](fd, place, how)
        return self.descriptors[fd].seek(place, how)

    def sync_descriptor(self, fd):
        if fd not in self.descriptors:
            return real["os.fsync"](fd)

    # --- of os ---

    def cwd(self):
        return self.here

    def chdir(self, path):
        name = self.resolve(path)
        if name in self.files:
            raise fail(errno.ENOTDIR, path)
        if name not in self.folders:
            real["os.chdir"](path)  # the kernel refuses this, so that it is in the record
        self.here = name

    def stat(self, path, *, dir_fd=None, follow_symlinks=True):
        if isinstance(path, int):
            if path not in self.descriptors:
                raise fail(errno.EBADF, path)
            path = self.descriptors[path].name
        name = self.resolve(path)
        data = self.files.get(name, library.get(name))
        if data is None and name not in self.folders:
            if of_module(name):
                return real["os.stat"](name)
            raise fail(errno.ENOENT, path)
        kind = stat.S_IFDIR | 0o755 if data is None else stat.S_IFREG | 0o644
        ns = self.times.get(name) or int(time.time()) * 10**9
        s, number = ns // 10**9, 2 + zlib.crc32(name.encode("utf-8", "surrogateescape"))
        return os.stat_result((kind, number, 1, 1, 0, 0, len(data or b""), s, s, s)
                              + (ns / 1e9,) * 3 + (ns,) * 3)

    def inside(self, name):
        start = name.rstrip("/") + "/"
        return {p[len(start):].split("/")[0] for p in list(self.files) + list(self.folders)
                if p.startswith(start) and p != start}

    def listdir(self, path="."):
        """A relative name also lists what is in /in, because open finds that, too."""
        name = self.resolve(path)
        if name not in self.folders:
            raise fail(errno.ENOENT, path)
        found = self.inside(name)
        if not os.path.isabs(os.fsdecode(os.fspath(path))) and (name + "/").startswith(OUT + "/"):
            found |= self.inside(IN + name[len(OUT):])
        return sorted(found)

    def scandir(self, path="."):
        return Entries([Entry(self, os.fspath(path), name) for name in self.listdir(path)])

    def umask(self, mask):
        return 0o022

    def keep_mode(self, path, *args, **words):
        """chmod: accepted without effect, because all files have the same mode."""
        self.stat(path)
        if not is_writable(self.resolve(path)):
            raise fail(errno.EROFS, path)

    def set_time(self, path, times=None, *, ns=None, dir_fd=None, follow_symlinks=True):
        self.keep_mode(path)
        name = self.resolve(path)
        self.touch(name)
        if times or ns:
            self.times[name] = int(ns[1] if ns else times[1] * 10**9)

    def no_attributes(self, path=None, **words):
        return []

    def mkdir(self, path, mode=0o777, *, dir_fd=None):
        name = self.resolve(path)
        if name in self.folders or name in self.files:
            raise fail(errno.EEXIST, path)
        if not is_writable(name):
            raise fail(errno.EROFS, path)
        if not self.has_folder_of(name):
            raise fail(errno.ENOENT, path)
        self.folders.add(name)

    def remove(self, path, *, dir_fd=None):
        name = self.resolve(path)
        if not is_writable(name):
            raise fail(errno.EROFS, path)
        if self.files.pop(name, None) is None:
            raise fail(errno.EISDIR if name in self.folders else errno.ENOENT, path)
        self.databases.pop(name, None)  # a connection that has it open continues to work

    def rename(self, src, dst, *, src_dir_fd=None, dst_dir_fd=None):
        a, b = self.resolve(src), self.path_of(dst)
        if a not in self.files and a not in self.folders or not self.has_folder_of(b):
            raise fail(errno.ENOENT, src)
        if not is_writable(a) or not is_writable(b):
            raise fail(errno.EROFS, src)
        if b in self.folders and (a in self.files or self.listdir(b)):
            raise fail(errno.EISDIR if a in self.files else errno.ENOTEMPTY, src)
        if a in self.folders and (b + "/").startswith(a + "/"):
            raise fail(errno.EINVAL, src)
        for kept in (self.files, self.times):
            for path in [p for p in kept if (p + "/").startswith(a + "/")]:
                kept[b + path[len(a):]] = kept.pop(path)
                self.changed.add(b + path[len(a):])
        moved = {p for p in self.folders if (p + "/").startswith(a + "/")}
        self.folders -= moved
        self.folders |= {b + p[len(a):] for p in moved}

    def access(self, path, mode, **words):
        try:
            self.stat(path)
        except OSError:
            return False
        return not mode & os.W_OK or self.resolve(path).startswith((OUT, TMP))

    def rmdir(self, path, *, dir_fd=None):
        name = self.resolve(path)
        if name in self.files:
            raise fail(errno.ENOTDIR, path)
        if name not in self.folders:
            raise fail(errno.ENOENT, path)
        if self.listdir(name):
            raise fail(errno.ENOTEMPTY, path)
        if not is_writable(name):  # such as /in and /
            raise fail(errno.EROFS, path)
        self.folders.discard(name)

    def temp_name(self, suffix, prefix, folder):
        self.temps += 1
        given = (folder or TMP, prefix or "tmp", suffix or "")
        words = tuple(map(os.fsdecode, given))
        name = "%s/%s%d%s" % (words[0], words[1], self.temps, words[2])
        return os.fsencode(name) if any(isinstance(word, bytes) for word in given) else name

    def temp_file(self, mode="w+b", buffering=-1, encoding=None, newline=None, suffix=None,
                  prefix=None, dir=None, delete=True, *, errors=None):
        name = self.temp_name(suffix, prefix, dir)
        made = self.opened(name, mode, buffering, encoding, errors, newline)
        return tempfile._TemporaryFileWrapper(made, name, delete)

    def nameless_file(self, mode="w+b", buffering=-1, encoding=None, newline=None, suffix=None,
                      prefix=None, dir=None, *, errors=None):
        name = self.temp_name(suffix, prefix, dir)
        made = self.opened(name, mode, buffering, encoding, errors, newline)
        self.remove(name)
        return made

    def temp_descriptor(self, suffix=None, prefix=None, dir=None, text=False):
        name = self.temp_name(suffix, prefix, dir)
        return self.describe(self.raw(name, "w+")), name

    def temp_folder(self, suffix=None, prefix=None, dir=None):
        name = self.temp_name(suffix, prefix, dir)
        self.folders.add(os.fsdecode(name))
        return name

    def can_make(self, path):
        return is_writable(path) and self.has_folder_of(path)

    def install(self):
        """Replaces the functions of os, io and tempfile by those of this space."""
        current["space"] = self
        for owner, names, call in CALLS:
            for name in names.split():
                setattr(owner, name, through(call))

    def left(self, ends):
        """The files of /out; in a session those that this call wrote."""
        for made in list(self.open):
            # it is closed, or another file object took its buffer
            with contextlib.suppress(ValueError):
                made.flush()
        sys.modules["shims"].keep_databases(ends)
        return [(p[len(OUT) + 1:], data) for p, data in sorted(self.files.items())
                if p.startswith(OUT + "/") and (ends or p in self.changed)]


CALLS = (
    (builtins, "open", "opened"), (io, "open", "opened"), (os, "stat lstat fstat", "stat"),
    (os, "listdir", "listdir"), (os, "mkdir", "mkdir"), (os, "access", "access"),
    (os, "remove unlink", "remove"), (os, "rename replace", "rename"), (os, "rmdir", "rmdir"),
    (os, "scandir", "scandir"), (os, "chmod chown", "keep_mode"), (os, "umask", "umask"),
    (os, "utime", "set_time"),
    (os, "listxattr", "no_attributes"), (os, "getcwd", "cwd"), (os, "chdir", "chdir"),
    (tempfile, "NamedTemporaryFile", "temp_file"), (tempfile, "TemporaryFile", "nameless_file"),
    (tempfile, "mkdtemp", "temp_folder"), (tempfile, "mkstemp", "temp_descriptor"),
    (os, "open", "open_descriptor"), (os, "close", "close_descriptor"),
    (os, "read", "read_descriptor"), (os, "write", "write_descriptor"),
    (os, "lseek", "seek_descriptor"), (os, "fsync", "sync_descriptor"),
)
current = {}


def key(owner, name):
    return "%s.%s" % (owner.__name__, name)


def through(call):
    """A call that always goes to the current space, because libraries keep the function that they
    find when they are imported."""
    return lambda *args, **words: getattr(current["space"], call)(*args, **words)


def uninstall():
    for owner, names, _ in CALLS:
        for name in names.split():
            setattr(owner, name, real[key(owner, name)])


def is_writable(path):
    return path.startswith((OUT + "/", TMP + "/"))


def of_module(path):
    """Whether the path is next to the modules, in a profile that may read them."""
    return "libraries" in sys.modules and sys.modules["libraries"].holds(path)


library = {}  # files that libraries read while they run: fonts and styles of matplotlib


def read_library():
    import matplotlib
    import matplotlib.font_manager as fonts

    for entry in fonts.fontManager.ttflist + fonts.fontManager.afmlist:
        if "dejavu" in entry.fname.lower() or "mpl-data" in entry.fname:
            library[entry.fname] = b""
    folder = matplotlib.get_data_path()
    for sub in ("", "stylelib"):
        for name in os.listdir(os.path.join(folder, sub)):
            library[os.path.join(folder, sub, name)] = b""
    for path in list(library):
        try:
            with open(path, "rb") as f:
                library[path] = f.read()
        except OSError:
            del library[path]


def import_plots():
    """Imports matplotlib.pyplot; returns None if it is missing or does not work.

    While it is imported, matplotlib wants a folder for its cache with a lock in it, and a thread
    that reports a slow search for fonts. It gets neither."""
    import logging
    import threading

    make, start = tempfile.mkdtemp, threading.Timer.start
    tempfile.mkdtemp = lambda *a, **k: "/nonexistent"
    builtins.open = lenient
    threading.Timer.start = lambda self: None
    logging.disable(logging.WARNING)
    try:
        import matplotlib
        matplotlib.cbook._lock_path = lambda path: contextlib.nullcontext()
        matplotlib.use("agg")
        import matplotlib.pyplot as plt
        import matplotlib.backends.backend_agg  # noqa: F401
        import pandas.plotting._matplotlib  # noqa: F401
        import PIL.Image
        optional(GUEST["plots.txt"].decode().split())
        PIL.Image.init()  # loads its formats
        return plt
    except Exception as error:
        without_plots(error)
        return None
    finally:
        builtins.open = real["builtins.open"]
        tempfile.mkdtemp, threading.Timer.start = make, start
        logging.disable(logging.NOTSET)


def without_plots(error):
    """Removes a matplotlib that does not work, so that programs see it as not installed."""
    for name in list(sys.modules):
        if name.split(".")[0] in ("matplotlib", "mpl_toolkits", "pylab"):
            del sys.modules[name]
    note("matplotlib", error)


def lenient(file, mode="r", *args, **words):
    """Opens a file; if it cannot be written, the output is discarded."""
    try:
        return real["builtins.open"](file, mode, *args, **words)
    except OSError:
        if "w" not in mode:
            raise
        return io.BytesIO() if "b" in mode else io.StringIO()


def warm_formats():
    """Uses each file format once, because pandas imports its modules at the first use."""
    import pandas as pd

    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    book = io.BytesIO()
    Space({}).install()
    for step in (lambda: df.to_excel(book), lambda: pd.read_excel(book), df.to_html, df.to_json,
                 lambda: pd.read_json(io.StringIO(df.to_json())),
                 lambda: pd.read_csv(io.StringIO("a,b\n1,2\n")),
                 lambda: pd.read_csv(io.StringIO("a;b\n1;2\n"), sep=None, engine="python"),
                 lambda: df.to_pickle(io.BytesIO()), lambda: df.info(buf=io.StringIO())):
        try:
            step()
        except Exception:
            pass  # a library of this format is missing, or needs more than there is
    uninstall()


def prepare(packages):
    """Runs in the zygote: imports what programs use beyond snippets. `packages` are the bits of
    those of science.py that the program names."""
    for owner, names, _ in CALLS:
        for name in names.split():
            real[key(owner, name)] = getattr(owner, name)
    shutil._use_fd_functions = False  # files in memory have no real descriptors
    os.environ["OPENPYXL_LXML"] = "False"  # lxml opens files itself
    tempfile.NamedTemporaryFile = through("temp_file")  # openpyxl keeps a reference to it
    tempfile.TemporaryFile = through("nameless_file")
    tempfile._TemporaryFileCloser.close.__defaults__ = (through("remove"),)
    tempfile.tempdir = TMP  # modules ask for it when they are imported
    names = ["encodings." + n[:-3] for n in sorted(os.listdir(encodings.__path__[0])) if n[-3:] == ".py"]
    optional(GUEST["programs.txt"].decode().split() + names)
    if packages:
        library.update(sys.modules["science"].prepare(packages))
    load("shims").prepare(lambda: current["space"], through("opened"), is_writable)
    load("inline").prepare()
    load("absent").prepare()
    # These come from the module site, which is not imported.
    builtins.exit = builtins.quit = sys.exit
    builtins.help = sys.modules["pydoc"].help
    warm_formats()
    plt = import_plots()
    if plt:
        warm_plots(plt)
    import_styles(plt)
    if packages:
        sys.modules["science"].prepare_usual(packages)
    load("owncode").prepare(lambda: current["space"])


def import_styles(plt):
    """Imports the styles of pandas, which import matplotlib if it is there."""
    if not plt:
        sys.modules["matplotlib"] = None
    optional([STYLES])
    if not plt:
        del sys.modules["matplotlib"]


def warm_plots(plt):
    plt.show = lambda *a, **k: None  # figures that are left open are saved at the end
    gc.freeze()  # the collection below then looks only at what the figures left
    why = failure(read_library) or failure(draw, plt, "png")
    if not why:
        failure(draw, plt, "svg"), failure(draw, plt, "pdf")
    # Its cached fonts are open files, and a fork clears the cache anyway.
    sys.modules["matplotlib.font_manager"]._get_font.cache_clear()
    gc.collect()
    if why:  # a font, a style or a library is missing
        without_plots(why)


def failure(call, *args):
    """The exception of a call, or None. Without its frames, because these keep files open."""
    try:
        call(*args)
    except Exception as error:
        return error.with_traceback(None)


def draw(plt, kind):
    try:
        figure = plt.figure()
        figure.add_subplot().set_title("x")
        figure.savefig(io.BytesIO(), format=kind)
    finally:
        plt.close("all")


def figures(space, session):
    """Saves the figures that are still open. Returns the error of the first that cannot be saved.

    A session closes them then, and numbers them through, so that a later call replaces none."""
    plt = sys.modules.get("matplotlib.pyplot")
    failed = None
    for number in plt.get_fignums() if plt else ():
        image = io.BytesIO()
        try:
            plt.figure(number).savefig(image, format="png")
            if session:
                session.figures += 1
                number = session.figures
            with space.opened("%s/figure-%d.png" % (OUT, number), "wb") as f:
                f.write(image.getvalue())
        except Exception as problem:
            failed = failed or problem
    if session and plt:
        plt.close("all")
    return failed


def show(error, name):
    """Prints the traceback as Python does, starting at the program's own frames."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != name:
        trace = trace.tb_next
    if sys.excepthook is not sys.__excepthook__:
        return sys.excepthook(type(error), error, trace)
    first = part = traceback.TracebackException(type(error), error, trace)
    while part:
        part.stack[:] = [f for f in part.stack if not f.filename.startswith("<dtx>/")]
        part = part.__cause__ or part.__context__
    sys.stderr.write("".join(first.format()))


# --- the value of the last expression ---

VALUE = "value of the last expression"  # a variable whose name no program can write
SOURCE_MAX = 256 << 10  # a longer program has no value: its tree would take 100 times as much
ITEMS_MAX, TEXT_MAX, NAME_MAX = 1000, 64 << 10, 200
COLUMNS_MAX, ROWS_MAX = 200, 10


def compiled(source, name):
    """The code of a program, which leaves the value of its last expression in VALUE."""
    if len(source) > SOURCE_MAX:
        return compile(source, name, "exec")
    try:
        tree = ast.parse(source, name)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            target = ast.copy_location(ast.Name(VALUE, ast.Store()), last)
            tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
        return compile(tree, name, "exec")
    except RecursionError:
        return compile(source, name, "exec")


def clean(text, limit):
    """A text that may be a part of the report."""
    return text[:limit].replace("\0", "\\x00").encode("utf-8", "replace").decode()


def text_of(value):
    """What repr() gives, bounded, and without addresses, which differ between two runs."""
    kind, more = type(value), ""
    if kind in (str, bytes) and len(value) > TEXT_MAX:
        value, more = value[:TEXT_MAX], "..."
    elif kind in (list, tuple, set, frozenset, dict) and len(value) > ITEMS_MAX:
        more = "... %d in all" % len(value)
        some = itertools.islice(value.items() if kind is dict else value, ITEMS_MAX)
        value = kind(some)
    text = repr(value) + more
    return re.sub(r" at 0x[0-9a-f]{6,}", "", text[:TEXT_MAX])


def cell(value):
    """A cell as a value of JSON."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value - value != 0:
        return None if value != value else str(value)
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):  # the host reads integers of 64 bits
        return value if abs(value) < 1 << 63 else str(value)
    return None if value is sys.modules["pandas"].NaT else clean(str(value), NAME_MAX)


def describe_value(value):
    """The value for a report: its type and text, and of a DataFrame its columns and first rows."""
    about = {"type": clean(type(value).__name__, NAME_MAX)}
    try:
        about["text"] = clean(text_of(value), TEXT_MAX)
        if isinstance(value, sys.modules["pandas"].DataFrame):
            first = value.iloc[:ROWS_MAX, :COLUMNS_MAX]
            about["rows"], about["width"] = len(value), len(value.columns)
            about["columns"] = [{"name": clean(str(n), NAME_MAX), "type": clean(str(t), NAME_MAX)}
                                for n, t in zip(first.columns, first.dtypes)]
            about["head"] = [[cell(v) for v in row]
                             for row in first.itertuples(index=False, name=None)]
        elif isinstance(value, sys.modules["pandas"].Series):
            about["rows"], about["dtype"] = len(value), clean(str(value.dtype), NAME_MAX)
    except BaseException as error:  # repr() may be the program's own, and do anything
        about.setdefault("text", "(repr failed: %s)" % clean(type(error).__name__, NAME_MAX))
    return about


# --- runs ---

class Session:
    """What the calls of a session have in common."""

    def __init__(self, space, module, tables):
        self.space, self.module, self.tables = space, module, tables
        self.figures = 0


session = None


def begin(tables, given, keeps):
    """The files and the module of a program: new ones, or those of the session."""
    global session
    if session:
        session.space.give(given)
        session.tables.update(tables)
    else:
        space, module = Space(given), types.ModuleType("__main__")
        space.install()
        sys.modules["__main__"] = module
        if not keeps:
            return Session(space, module, tables), None
        session = Session(space, module, tables)
    return session, session


def run(source, name, tables, params, given, call=0):
    """Runs the program; returns its files, its exception or None, and the value of its last
    expression as the report has it, or None. `call` counts the calls of a session, from 1: variables
    and files stay for the next. 0: this is no session."""
    now, kept = begin(tables, given, call > 0)
    space, module = now.space, now.module
    module.__dict__.update(tables=now.tables, __file__=name)
    sys.argv = ["program.py"] + params.get("argv", [])
    error = value = None
    # Tracebacks, warnings and inspect look for the source there.
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[name] = len(source), None, lines, name
    library[space.path_of(name)] = source.encode()
    try:
        exec(compiled(source, name), module.__dict__)
    except SystemExit as end:
        if end.code not in (None, 0):
            error = end
            if isinstance(end.code, str):
                sys.stderr.write(end.code + "\n")
    except BaseException as problem:
        error = problem
        show(problem, name)
    last = module.__dict__.pop(VALUE, None)
    if last is not None and error is None:
        value = describe_value(last)
    if not isinstance(error, MemoryError):
        problem = figures(space, kept)
        if problem and not error:
            error = problem
            show(problem, name)
        if not kept:
            sys.modules["owncode"].end(module)
    return space.left(not kept), error, value
