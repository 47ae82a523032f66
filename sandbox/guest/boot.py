"""The entry points of Python in the jail: prepare() runs once in the zygote, run() once in each
worker.

The host sets GUEST, a dict of the files of this folder, before this text runs."""
import gc
import importlib
import json
import marshal
import sys
import time
import types

OK, EXCEPTION, BAD_RESULT, MEMORY, SCREENED, OUTPUT = range(6)
CHECK, RUN, EXEC = 1, 2, 4
AGAIN = 32  # a later call of a session: seeds and entropy go on where they are
CODE_TOO = 2  # value of `libraries`: their files may be read and extension modules loaded
SCREEN_ZYGOTE, EXEC_ZYGOTE = 1, 2
STYLES = "pandas.io.formats.style"
BASE_MASK, SCIENCE_SHIFT = 3, 3  # of the kind, see zygote/launch.h
MESSAGE_MAX = 4096
FRAMES_MAX = 20
VALUE_MAX = 128 << 10  # bytes of JSON; a report of more than 256 KiB is not read

# made once, because json.loads and json.dumps check options that are fixed here
from_json = json.JSONDecoder().decode
to_json = json.JSONEncoder(allow_nan=False).encode


def load(name, compiled, **words):
    """Loads module `name` from the files that are linked into the program."""
    module = types.ModuleType(name)
    module.__file__ = "<dtx>/%s.py" % name
    sys.modules[name] = module
    if compiled:
        code = marshal.loads(GUEST[name + ".pyc"])
    else:
        code = compile(GUEST[name + ".py"], module.__file__, "exec")
    module.__dict__.update(words)
    exec(code, module.__dict__)
    return module


class Lacking:
    """A finder that finds no module, but tells why an earlier import of it failed: a library that
    it needs is missing, or has another version."""

    why = {}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.why:
            raise ImportError(cls.why[name], name=name)

    @classmethod
    def note(cls, name, error):
        """Notes the exception of an import. A broken library may raise anything."""
        top, text = name.split(".")[0], str(error)
        if top not in sys.modules and not isinstance(error, ModuleNotFoundError):
            name = top
        if not isinstance(error, ImportError):
            text = "%s is installed, but does not start: %s: %s" % (
                name, type(error).__name__, text)
        cls.why[name] = text


def optional(names):
    """Imports the modules that are here and work. Any other is treated as absent, because a broken
    library is not a reason to refuse all runs."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            Lacking.note(name, error)


def prepare(kind, compiled, libraries):
    kind, packages = kind & BASE_MASK, kind >> SCIENCE_SHIFT
    # imported modules stay; collecting garbage among them would take a tenth of the start
    gc.disable()
    version = "%d.%d.%d" % sys.version_info[:3]
    for name in ("layout", "toplevel", "screen"):
        load(name, compiled)
    # the screen reads text, no tables; pandas would take nine tenths of the time
    if kind == SCREEN_ZYGOTE:
        return version, "", "", ""
    # With these, sums differ in the last bits, and one of them starts threads.
    sys.modules["numexpr"] = sys.modules["bottleneck"] = None
    import numpy
    import platform
    # pandas asks for the processor; that would start a program, and leave a pipe open where there
    # is no /dev/null
    platform._Processor.from_subprocess = lambda: None
    import pandas

    # OpenBLAS takes 128 MiB of address space at its first call and keeps it. Taken here, it does
    # not count against the snippet's limit; if it cannot have it, it tries for ever.
    numpy.linalg.inv(numpy.eye(2))
    # With jinja2, pandas has styles for tables, and they import matplotlib. A snippet may not have
    # it, and for programs it must be prepared before anything imports it.
    names = GUEST["modules.txt"].decode().split()
    sys.modules["matplotlib"] = None
    optional(name for name in names if kind != EXEC_ZYGOTE or name != STYLES)
    del sys.modules["matplotlib"]
    sys.meta_path.append(Lacking)
    for name in ("pins", "cells", "frames", "grids", "dxwords", "dxfn", "dxagg", "dxop", "dxrepair",
                 "dxtext", "dxstat", "dxtime", "dxwin", "dxshort", "dxrule", "dxtable", "dx"):
        load(name, compiled)
    pins = sys.modules["pins"]
    if packages:
        load("science", compiled, GUEST=GUEST, stream=pins.stream, optional=optional,
             note=Lacking.note)
    if kind == EXEC_ZYGOTE:
        module = load("execute", compiled, GUEST=GUEST, load=lambda name: load(name, compiled),
                      optional=optional, note=Lacking.note, STYLES=STYLES)
        module.prepare(packages)
    elif packages:
        sys.modules["science"].prepare_snippets()
    pins.prepare()
    if libraries:
        load("libraries", compiled).prepare(libraries == CODE_TOO)
    else:  # what is not imported now cannot be imported later, because no folder is searched
        pins.pin_lines()
        sys.path.clear()
        sys.path_importer_cache.clear()
    gc.freeze()
    gc.enable()
    return version, pandas.__version__, numpy.__version__, pins.describe()


TOUCH = """
def transform(tables, params):
    df = tables["main"].copy()
    try:
        int("one")
    except ValueError:
        pass
    df["y"] = df["x"].fillna(0.0) * 2
    sums = df[df["n"] > 0].groupby("k").agg({"n": "sum", "x": "mean"}).reset_index()
    both = df.groupby(df["n"] % 10)["n"].agg(["sum", "mean", "count"])
    alone = tables["main"].groupby("n", as_index=False)["x"].sum()
    return sums.sort_values("n")
"""
WARM = """
import pandas as pd

def transform(tables, params):
    df = tables["main"].copy()
    df["k"] = df["k"].str.strip().str.upper()
    days = ["2024-01-01", "2024-02-01", None, "2024-03-01"]
    df["day"] = pd.to_datetime(days * (len(df) // len(days)))
    df = df[df["n"] > 0].assign(y=df["x"].fillna(0.0) * 2).rename(columns={"y": "z"})
    sums = df.groupby("k", sort=True, dropna=False).agg({"n": "sum", "x": "mean"}).reset_index()
    both = df.merge(sums, on="k", how="left", suffixes=("", "_all")).sort_values(["n", "k"])
    both["m"] = both["n"] % 10
    wide = both.pivot_table(index="k", columns="m", values="x", aggfunc="sum").stack()
    wide = wide.rename("v").reset_index().melt(id_vars=["k"])
    pd.concat([both.head(), both.head()]).drop_duplicates().to_csv()
    str(both), both.describe(), both.dtypes, both["day"].dt.strftime("%Y-%m"), wide.dropna()
    return sums
"""


WARM_QUARTER = 250  # rows; with fewer, a warm-up touches less than a real run
WARM_BYTES = 1 << 17


def frame_of(text):
    """Makes the input frame for a run of `text` on a small table."""
    frames, layout = sys.modules["frames"], sys.modules["layout"]
    main = sys.modules["pandas"].DataFrame({"k": ["a", "b", "a", None] * WARM_QUARTER,
                                            "n": range(4 * WARM_QUARTER),
                                            "x": [0.5, 1.5, None, 2.5] * WARM_QUARTER})
    given = [(layout.CODE, 0, text.encode()), (layout.PARAMS, 0, b"{}"), (layout.PARAMS, 1, b"{}")]
    out = memoryview(bytearray(WARM_BYTES))
    return out[:layout.write_input(out, given, "main", frames.Table(main, {}, 0))]


warm_frames = []


def exercise(frame):
    """Does a run on its own memory, which specialises the code and touches its pages."""
    code, _ = run(frame, memoryview(bytearray(WARM_BYTES)), CHECK | RUN, 0, 0)
    if code != OK:
        raise RuntimeError("a warm-up failed")


GLANCE = """
def transform(tables, params):
    df = tables["main"]
    return df[df["n"] > 0].groupby("k", as_index=False).agg({"n": "sum"})
"""
TOUCHES, ROUND, LOOK = range(3)


def glance():
    """Does what every run begins with, which is no longer in the processor's caches. Does no more
    than that, because the run may be waiting."""
    sys.modules["pins"].start(0)
    exec(compile(GLANCE, "<snippet>", "exec"), {})


def warm(how):
    """Does work before a client waits for it: ROUND, in a zygote, does what most snippets do, often
    enough for the interpreter to specialise it. TOUCHES, in a worker, does what every run
    touches. LOOK, while main verifies a worker, does what a run begins with."""
    if how == LOOK:
        return glance() if "pins" in sys.modules else None
    if not warm_frames:
        warm_frames.extend(map(frame_of, (TOUCH, WARM)))
    for frame in warm_frames if how == ROUND else warm_frames[:1]:
        exercise(frame)
    if how == ROUND:
        gc.collect()
        gc.freeze()


def cut(text):
    text = str(text).replace("\0", "\\x00")  # a text of the report must not contain a zero byte
    text = text.encode("utf-8", "replace")[:MESSAGE_MAX]
    return text.decode("utf-8", "ignore")


def is_library(kind):
    """Whether the class belongs to Python or a library, and not to the snippet, where a class may
    have any name."""
    module = sys.modules.get(kind.__module__)
    return (kind.__module__ not in ("snippet", "__main__", "dx")
            and getattr(module, kind.__name__, None) is kind)


def describe(error, source, name):
    """What the author of a snippet needs to know of an error: type, message, and the lines of the
    snippet. `name` is the file name of the code."""
    lines = source.split("\n")
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == name:
            text = lines[trace.tb_lineno - 1].strip() if trace.tb_lineno <= len(lines) else ""
            frames.append({"line": trace.tb_lineno, "function": code.co_name[:100],
                           "text": text[:200]})
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == name:
        frames.append({"line": error.lineno or 0, "function": "<module>",
                       "text": (error.text or "").strip()[:200]})
    try:
        message = cut(error)
    except Exception:
        message = "(no message)"
    return {"type": type(error).__name__[:100], "message": message,
            "library": is_library(type(error)), "line": frames[-1]["line"] if frames else 0, "frames": frames[-FRAMES_MAX:]}


def describe_safely(error, source, name):
    """The same, also for an error whose class fails when it is printed."""
    try:
        return describe(error, source, name)
    except MemoryError:
        raise
    except BaseException:
        return {"type": type(error).__name__[:100], "message": "(no message)", "line": 0, "frames": []}


def parse(raw):
    return from_json(str(raw, "utf-8")) if raw != b"{}" else {}


class Job:
    """One run: the input frame, the output memory, and what will be reported."""

    def __init__(self, view, out, mode):
        layout = sys.modules["layout"]
        self.view, self.out, self.mode = view, out, mode
        self.frame = layout.Frame(view)
        self.source = self.frame.bytes(layout.CODE, 0).decode("utf-8", "replace")
        self.name = "<snippet>"
        self.report = {"us": {}}
        self.clock = time.monotonic_ns()

    def lap(self, name):
        now = time.monotonic_ns()
        self.report["us"][name] = (now - self.clock) // 1000
        self.clock = now

    def screen(self):
        columns = self.frame.column_names()
        self.report["check"] = found = sys.modules["screen"].check(self.source, columns)
        return found["class"] is None

    def call(self):
        """Calls the snippet and returns the sections of a frame with its DataFrame."""
        frames, layout = sys.modules["frames"], sys.modules["layout"]
        reader = frames.Reader(self.view)
        tables = reader.tables()
        params = parse(reader.bytes(layout.PARAMS, 0))
        meta = parse(reader.bytes(layout.PARAMS, 1))
        if reader.of(layout.GRID):
            params["raw"] = sys.modules["grids"].raw(reader)
        first = next(iter(tables.values()), ())
        rows = len(tables.get("main", first))
        self.lap("load")
        module = sys.modules["snippet"] = types.ModuleType("snippet")  # dataclasses look there
        scope = module.__dict__
        exec(compile(self.source, "<snippet>", "exec"), scope)
        if not callable(scope.get("transform")):
            raise layout.BadResult("the snippet defines no function transform(tables, params)",
                                   "no_transform")
        result = scope["transform"](tables, params)
        self.lap("exec")
        types_of = dict(reader.column_types(), **meta.get("contract", {}))
        table = frames.Table(result, types_of, rows)
        self.report["notes"] = table.notes
        return table

    def program(self):
        """Runs a program, or one call of a session. Its files are kept even if it fails."""
        frames, layout = sys.modules["frames"], sys.modules["layout"]
        reader = frames.Reader(self.view)
        tables = reader.tables()
        given = {reader.name(e): bytes(reader.view[e[9]:e[9] + e[10]])
                 for e in reader.of(layout.ARTIFACT)}
        params = parse(reader.bytes(layout.PARAMS, 0))
        call = params.get("call", 0)
        self.name = "<call %d>" % call if call else "<program>"
        self.lap("load")
        files, error, value = sys.modules["execute"].run(self.source, self.name, tables, params,
                                                         given, call)
        self.lap("exec")
        if isinstance(error, MemoryError):
            raise error
        if value:
            while len(to_json(value)) > VALUE_MAX:
                value["text"] = value["text"][:len(value["text"]) // 2]
                value["cut"] = True
            self.report["value"] = value
        if error is None:
            return self.finish(OK, files=files)
        self.report["exception"] = describe_safely(error, self.source, self.name)
        return self.finish(EXCEPTION, files=files)

    def finish(self, code, table=None, files=()):
        if "pins" in sys.modules:
            self.report.setdefault("notes", {}).update(sys.modules["pins"].used())
        self.lap("store")
        text = to_json(self.report).encode()
        return code, sys.modules["layout"].write(self.out, text, table, files)


def attempt(job):
    layout = sys.modules["layout"]
    try:
        if job.mode & EXEC:
            return job.program()
        if job.mode & CHECK and not job.screen():
            return job.finish(SCREENED)
        if not job.mode & RUN:
            return job.finish(OK)
        return job.finish(OK, job.call())
    except MemoryError:
        return MEMORY, 0
    except layout.OutputLimit:
        return OUTPUT, 0
    except layout.BadResult as error:
        job.report.update(bad=cut(error), fault=error.fault, column=error.column)
        return job.finish(BAD_RESULT)
    except BaseException as error:
        job.report["exception"] = describe_safely(error, job.source, job.name)
        return job.finish(EXCEPTION)


def run(view, out, mode, seed, now_us):
    pins = sys.modules.get("pins")
    try:
        if pins and mode & AGAIN:
            pins.stream.calls = 0
        elif pins:
            pins.start(seed)
        return attempt(Job(view, out, mode))
    except MemoryError:
        return MEMORY, 0
    except BaseException:  # the snippet changed what would report the error
        return BAD_RESULT, 0
    finally:
        if pins:
            pins.flush()
