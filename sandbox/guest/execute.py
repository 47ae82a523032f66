"""A program instead of a transform: files in memory, its output files, its figures.

A worker opens nothing.  /in holds the files it was given, /out what it leaves; both are here, in
memory, and only the names that programs use for files (open and some of os) know of them.
"""
import builtins
import contextlib
import encodings.aliases
import errno
import io
import json
import linecache
import os
import shutil
import stat
import sys
import tempfile
import time
import traceback
import types

IN, OUT, TMP = "/in", "/out", "/tmp"
FILES_MAX = 1000
DESCRIPTOR = 1 << 20  # no descriptor of the kernel is that large here
real = {}


def fail(code, path):
    return OSError(code, os.strerror(code), path)


class Memory(io.BytesIO):
    """A file of the space; what it holds when it is closed is the file."""

    def __init__(self, space, path, mode, data):
        io.BytesIO.__init__(self, data)
        self.space, self.path, self.mode = space, path, mode
        self.name = path
        self.writes = any(c in mode for c in "wax+")
        if "a" in mode:
            self.seek(0, io.SEEK_END)
        if self.writes:
            space.open[id(self)] = self

    def writable(self):
        return self.writes

    def readable(self):
        return "r" in self.mode or "+" in self.mode

    def write(self, data):
        if not self.writes:
            raise io.UnsupportedOperation("not writable")
        if "a" in self.mode:
            self.seek(0, io.SEEK_END)
        return io.BytesIO.write(self, data)

    def keep(self):
        if self.writes and not self.closed:
            self.space.files[self.path] = self.getvalue()

    def close(self):
        self.keep()
        self.space.open.pop(id(self), None)
        io.BytesIO.close(self)


class Entry:
    """What os.scandir gives."""

    def __init__(self, space, folder, name):
        self.space, self.name = space, name
        self.path = os.path.join(folder, name)

    def __fspath__(self):
        return self.path

    def stat(self, *, follow_symlinks=True):
        return self.space.stat(self.path)

    def inode(self):
        return 2

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
    """Files by absolute path, and the folders they are in."""

    def __init__(self, given):
        self.files = {"%s/%s" % (IN, name): data for name, data in given.items()}
        self.folders = {"/", IN, OUT, TMP}
        self.temps = 0
        self.open = {}
        self.databases = {}  # by path: its connections
        self.descriptors = {}  # of tempfile.mkstemp: number to path
        for path in self.files:
            self.add_folders(path)

    def add_folders(self, path):
        while path != "/":
            path = os.path.dirname(path)
            self.folders.add(path)

    def resolve(self, name):
        """The current folder is /out; what is not there is looked for in /in."""
        name = os.fsdecode(os.fspath(name))
        path = os.path.normpath(os.path.join(OUT, name))
        if not os.path.isabs(name) and path not in self.files and path not in self.folders:
            given = os.path.normpath(os.path.join(IN, name))
            if given in self.files or given in self.folders:
                return given
        return path.replace("//", "/")

    def opened(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
               closefd=True, opener=None):
        if file in self.descriptors:
            file = self.descriptors[file]
        if isinstance(file, int):
            return real["open"](file, mode, buffering, encoding, errors, newline, closefd)
        path = self.resolve(file)
        if path in library:
            raw = Memory(self, path, "r", library[path])
        else:
            raw = self.raw(path, mode, file)
        if "b" in mode:
            return raw
        return io.TextIOWrapper(raw, encoding or "utf-8", errors, newline)

    def raw(self, path, mode, name):
        """`name` is what the program called it, and what it reads of it in an error."""
        writes = any(c in mode for c in "wax+")
        if writes and path.startswith(IN + "/"):
            path = OUT + path[len(IN):] if "w" in mode else path
        if path in self.folders:
            raise fail(errno.EISDIR, name)
        if writes and not is_writable(path):
            raise fail(errno.EROFS, name)
        if writes and os.path.dirname(path) not in self.folders:
            raise fail(errno.ENOENT, name)
        if "x" in mode and path in self.files:
            raise fail(errno.EEXIST, name)
        if "r" in mode and path not in self.files:
            raise fail(errno.ENOENT, name)
        if writes and path not in self.files:
            if len(self.files) >= FILES_MAX:
                raise fail(errno.ENOSPC, name)
            self.files[path] = b""
        return Memory(self, path, mode, self.files[path] if "w" not in mode else b"")

    def cwd(self):
        return OUT

    # --- of os ---

    def stat(self, path, *, dir_fd=None, follow_symlinks=True):
        if isinstance(path, int):
            raise fail(errno.EBADF, path)
        name = self.resolve(path)
        now = int(time.time())
        if name in self.folders:
            return os.stat_result((stat.S_IFDIR | 0o755, 2, 1, 1, 0, 0, 0, now, now, now))
        for m in self.open.values():
            if m.path == name:
                m.keep()
        data = self.files.get(name, library.get(name))
        if data is None:
            raise fail(errno.ENOENT, path)
        return os.stat_result((stat.S_IFREG | 0o644, 1, 1, 1, 0, 0, len(data), now, now, now))

    def listdir(self, path="."):
        name = self.resolve(path)
        if name not in self.folders:
            raise fail(errno.ENOENT, path)
        inside = name.rstrip("/") + "/"
        found = {p[len(inside):].split("/")[0] for p in list(self.files) + list(self.folders)
                 if p.startswith(inside) and p != inside}
        return sorted(found)

    def scandir(self, path="."):
        return Entries([Entry(self, os.fspath(path), name) for name in self.listdir(path)])

    def keep_mode(self, path, *args, **words):
        """chmod and utime: there is one mode, and one time."""
        self.stat(path)
        if not is_writable(self.resolve(path)):
            raise fail(errno.EROFS, path)

    def no_attributes(self, path=None, **words):
        return []

    def mkdir(self, path, mode=0o777, *, dir_fd=None):
        name = self.resolve(path)
        if name in self.folders or name in self.files:
            raise fail(errno.EEXIST, path)
        if not is_writable(name):
            raise fail(errno.EROFS, path)
        if os.path.dirname(name) not in self.folders:
            raise fail(errno.ENOENT, path)
        self.folders.add(name)

    def remove(self, path, *, dir_fd=None):
        name = self.resolve(path)
        if not is_writable(name):
            raise fail(errno.EROFS, path)
        if self.files.pop(name, None) is None:
            raise fail(errno.ENOENT, path)

    def rename(self, src, dst, *, src_dir_fd=None, dst_dir_fd=None):
        a, b = self.resolve(src), os.path.normpath(os.path.join(OUT, os.fspath(dst)))
        if not is_writable(a) or not is_writable(b):
            raise fail(errno.EROFS, src)
        if a not in self.files or os.path.dirname(b) not in self.folders:
            raise fail(errno.ENOENT, src)
        self.files[b] = self.files.pop(a)

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
        if self.listdir(name):
            raise fail(errno.ENOTEMPTY, path)
        if not is_writable(name):  # the roots among them
            raise fail(errno.EROFS, path)
        self.folders.discard(name)

    def temp_name(self, suffix, prefix, folder):
        self.temps += 1
        return "%s/%s%d%s" % (folder or TMP, prefix or "tmp", self.temps, suffix or "")

    def temp_file(self, mode="w+b", buffering=-1, encoding=None, newline=None, suffix=None,
                  prefix=None, dir=None, delete=True, *, errors=None):
        return self.opened(self.temp_name(suffix, prefix, dir), mode, buffering, encoding, errors,
                           newline)

    def temp_descriptor(self, suffix=None, prefix=None, dir=None, text=False):
        name = self.temp_name(suffix, prefix, dir)
        self.opened(name, "wb").close()
        number = DESCRIPTOR + self.temps
        self.descriptors[number] = name
        return number, name

    def close_descriptor(self, fd):
        if not self.descriptors.pop(fd, None):
            real["close"](fd)

    def write_descriptor(self, fd, data):
        if fd not in self.descriptors:
            return real["write"](fd, data)
        with self.opened(fd, "ab") as f:
            return f.write(data)

    def temp_folder(self, suffix=None, prefix=None, dir=None):
        name = self.temp_name(suffix, prefix, dir)
        self.folders.add(name)
        return name

    def can_make(self, path):
        return is_writable(path) and os.path.dirname(path) in self.folders

    def install(self):
        """Its calls in the place of those of os, io and tempfile."""
        current["space"] = self
        for owner, names, call in CALLS:
            for name in names.split():
                setattr(owner, name, through(call))

    def left(self):
        for m in list(self.open.values()):
            m.keep()
        sys.modules["shims"].keep_databases()
        return [(p[len(OUT) + 1:], data) for p, data in sorted(self.files.items())
                if p.startswith(OUT + "/")]


CALLS = (
    (builtins, "open", "opened"), (io, "open", "opened"), (os, "stat lstat", "stat"),
    (os, "listdir", "listdir"), (os, "mkdir", "mkdir"), (os, "access", "access"),
    (os, "remove unlink", "remove"), (os, "rename replace", "rename"), (os, "rmdir", "rmdir"),
    (os, "scandir", "scandir"), (os, "chmod utime", "keep_mode"), (os, "listxattr", "no_attributes"),
    (os, "getcwd", "cwd"), (tempfile, "NamedTemporaryFile TemporaryFile", "temp_file"),
    (tempfile, "mkdtemp", "temp_folder"), (tempfile, "mkstemp", "temp_descriptor"),
    (os, "close", "close_descriptor"), (os, "write", "write_descriptor"),
)
current = {}


def through(call):
    """A call of the space of now: libraries keep what they find when they are imported."""
    return lambda *args, **words: getattr(current["space"], call)(*args, **words)


def uninstall():
    for owner, names, _ in CALLS:
        for name in names.split():
            setattr(owner, name, real[name])


def is_writable(path):
    return path.startswith((OUT + "/", TMP + "/"))


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


def import_all(names):
    for name in names:
        try:
            __import__(name)
        except Exception:
            pass  # a library that is not here, or wants more than there is


def import_plots():
    """matplotlib.pyplot, None where there is none.  It wants a folder for its cache with a lock in
    it, and a thread that complains while it looks for fonts: it gets none of them."""
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
        import_all(GUEST["plots.txt"].decode().split())
        PIL.Image.init()  # its formats
        return plt
    except (ImportError, OSError):
        return None
    finally:
        builtins.open = real["open"]
        tempfile.mkdtemp, threading.Timer.start = make, start
        logging.disable(logging.NOTSET)


def lenient(file, mode="r", *args, **words):
    """A file that cannot be written is written to nowhere."""
    try:
        return real["open"](file, mode, *args, **words)
    except OSError:
        if "w" not in mode:
            raise
        return io.BytesIO() if "b" in mode else io.StringIO()


def warm_formats():
    """Formats whose modules are imported at their first use."""
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
            pass  # a library of this format is not here, or wants more than there is
    uninstall()


def prepare(science):
    """In the zygote: what programs import beyond snippets.  `science` imports more, or is None."""
    for owner, names, _ in CALLS:
        for name in names.split():
            real[name] = getattr(owner, name)
    shutil._use_fd_functions = False  # what is in memory has no descriptors
    os.environ["OPENPYXL_LXML"] = "False"  # that one opens files by itself
    for name in ("NamedTemporaryFile", "TemporaryFile"):  # openpyxl keeps it
        setattr(tempfile, name, through("temp_file"))
    tempfile.tempdir = TMP  # modules ask where it is when they are imported
    names = ["encodings." + n for n in sorted(set(encodings.aliases.aliases.values()))]
    import_all(GUEST["programs.txt"].decode().split() + names)
    if science:
        science()
    load("shims").prepare(lambda: current["space"], through("opened"), is_writable)
    load("inline").prepare()
    load("absent").prepare()
    # what the module site gives, which is not imported
    builtins.exit = builtins.quit = sys.exit
    builtins.help = sys.modules["pydoc"].help
    warm_formats()
    plt = import_plots()
    if not plt:
        return
    plt.show = lambda *a, **k: None  # a figure that is left open is saved
    read_library()
    figure = plt.figure()
    figure.add_subplot().set_title("x")
    for kind in ("png", "svg", "pdf"):
        figure.savefig(io.BytesIO(), format=kind)
    plt.close("all")


def figures(space):
    """Saves those that are left open; what went wrong with the first that cannot be."""
    plt = sys.modules.get("matplotlib.pyplot")
    failed = None
    for number in plt.get_fignums() if plt else ():
        image = io.BytesIO()
        try:
            plt.figure(number).savefig(image, format="png")
            with space.opened("%s/figure-%d.png" % (OUT, number), "wb") as f:
                f.write(image.getvalue())
        except Exception as problem:
            failed = failed or problem
    return failed


def show(error):
    """The traceback as python prints it, from the program's own frames on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != "<program>":
        trace = trace.tb_next
    first = part = traceback.TracebackException(type(error), error, trace)
    while part:
        part.stack[:] = [f for f in part.stack if not f.filename.startswith("<dtx>/")]
        part = part.__cause__ or part.__context__
    sys.stderr.write("".join(first.format()))


def run(source, tables, params, given):
    """(files, exception or None) of the program."""
    space = Space(given)
    space.install()
    module = types.ModuleType("__main__")
    module.__dict__.update(tables=tables, __file__="<program>")
    sys.modules["__main__"] = module
    sys.argv = ["program.py"] + params.get("argv", [])
    error = None
    # tracebacks, warnings and inspect show its lines
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache["<program>"] = len(source), None, lines, "<program>"
    try:
        exec(compile(source, "<program>", "exec"), module.__dict__)
    except SystemExit as end:
        if end.code not in (None, 0):
            error = end
            if isinstance(end.code, str):
                sys.stderr.write(end.code + "\n")
    except BaseException as problem:
        error = problem
        show(problem)
    if not isinstance(error, MemoryError):
        problem = figures(space)
        if problem and not error:
            error = problem
            show(problem)
    return space.left(), error
