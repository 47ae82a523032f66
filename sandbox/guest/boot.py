"""Inside the jail.  prepare() runs once in the zygote, run() once in each worker.

GUEST, a dict of this folder's files, is set by the host before this text runs.
"""
import gc
import importlib
import json
import marshal
import sys
import time
import types

OK, EXCEPTION, BAD_RESULT, MEMORY, SCREENED, OUTPUT = range(6)
CHECK, RUN, EXEC = 1, 2, 4
CODE_TOO = 2  # of `libraries`: their files may be read, and extension modules among them loaded
SCREEN_ZYGOTE, EXEC_ZYGOTE, SCIENCE_ZYGOTE, RUN_SCIENCE_ZYGOTE = 1, 2, 3, 4
MESSAGE_MAX = 4096
FRAMES_MAX = 20

# made once: json.loads and json.dumps ask about much that is known here
from_json = json.JSONDecoder().decode
to_json = json.JSONEncoder(allow_nan=False).encode


def load(name, compiled, **words):
    """Module `name` from the files that came with the program."""
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
    """Finds no module, and says of one what was in the way when it was looked for: a library it
    needs is not here, or another version keeps it elsewhere."""

    why = {}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.why:
            raise ImportError(cls.why[name], name=name)

    @classmethod
    def note(cls, name, error):
        """What an import raised.  A library that is broken raises anything."""
        top, text = name.split(".")[0], str(error)
        if top not in sys.modules and not isinstance(error, ModuleNotFoundError):
            name = top
        if not isinstance(error, ImportError):
            text = "%s is installed, but does not start: %s: %s" % (
                name, type(error).__name__, text)
        cls.why[name] = text


def optional(names):
    """Imports what is here and works; all else is absent, and no reason to start nothing."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            Lacking.note(name, error)


def import_science(compiled):
    optional(GUEST["science.txt"].decode().split())
    load("science", compiled).lead_messages()


def prepare(kind, compiled, libraries):
    gc.disable()  # what is imported stays: looking for garbage in it costs a tenth of the start
    version = "%d.%d.%d" % sys.version_info[:3]
    for name in ("layout", "toplevel", "screen"):
        load(name, compiled)
    if kind == SCREEN_ZYGOTE:  # a text is read, no table: pandas would be nine tenths of the time
        return version, "", "", ""
    # their sums differ in the last bits, and one of them starts threads
    sys.modules["numexpr"] = sys.modules["bottleneck"] = None
    import numpy
    import platform
    # pandas asks it; it would start a program, and where there is no /dev/null leave a pipe open
    platform._Processor.from_subprocess = lambda: None
    import pandas

    # OpenBLAS takes 128 MiB of addresses at its first call and keeps them: here they are not of the
    # snippet's limit, and without them it would try for ever
    numpy.linalg.inv(numpy.eye(2))
    optional(GUEST["modules.txt"].decode().split())
    sys.meta_path.append(Lacking)
    for name in ("pins", "cells", "frames", "grids", "dxwords", "dxfn", "dxagg", "dxop", "dxrepair",
                 "dxtext", "dxstat", "dxtime", "dxwin", "dxshort", "dxrule", "dxtable", "dx"):
        load(name, compiled)
    pins = sys.modules["pins"]
    if kind in (EXEC_ZYGOTE, SCIENCE_ZYGOTE):
        module = load("execute", compiled, GUEST=GUEST, load=lambda name: load(name, compiled),
                      optional=optional, note=Lacking.note)
        module.prepare(kind == SCIENCE_ZYGOTE and (lambda: import_science(compiled)))
    elif kind == RUN_SCIENCE_ZYGOTE:
        import_science(compiled)
    pins.prepare()
    if libraries:
        load("libraries", compiled).prepare(libraries == CODE_TOO)
    else:  # what is not imported now cannot be: no folder is searched for it
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


WARM_QUARTER = 250  # rows; fewer touch less of what a run does
WARM_BYTES = 1 << 17


def frame_of(text):
    """The frame of a run of `text` on a small table."""
    frames, layout = sys.modules["frames"], sys.modules["layout"]
    main = sys.modules["pandas"].DataFrame({"k": ["a", "b", "a", None] * WARM_QUARTER,
                                            "n": range(4 * WARM_QUARTER),
                                            "x": [0.5, 1.5, None, 2.5] * WARM_QUARTER})
    given = [(layout.CODE, 0, text.encode()), (layout.PARAMS, 0, b"{}"), (layout.PARAMS, 1, b"{}")]
    out = memoryview(bytearray(WARM_BYTES))
    return out[:layout.write_input(out, given, "main", frames.Table(main, {}, 0))]


warm_frames = []


def exercise(frame):
    """A run on memory of its own: its code is specialised, its pages are touched."""
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
    """What every run begins with, as the cores have forgotten it since the worker was made.  Not
    more: the run may be waiting."""
    sys.modules["pins"].start(0)
    exec(compile(GLANCE, "<snippet>", "exec"), {})


def warm(how):
    """ROUND: in a zygote, what most snippets do, and often enough for the interpreter to specialise
    it.  TOUCHES: in a worker, what every run touches.  Nobody waits for either.  LOOK: while main
    verifies the worker."""
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
    text = str(text).replace("\0", "\\x00")  # no text of the report has a zero byte
    text = text.encode("utf-8", "replace")[:MESSAGE_MAX]
    return text.decode("utf-8", "ignore")


def is_library(kind):
    """A class that a module of Python's or a library's holds by its name; one of the snippet may
    have any name."""
    module = sys.modules.get(kind.__module__)
    return (kind.__module__ not in ("snippet", "__main__", "dx")
            and getattr(module, kind.__name__, None) is kind)


def describe(error, source):
    """What the author of a snippet needs: type, message and the lines of the snippet."""
    lines = source.split("\n")
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename in ("<snippet>", "<program>"):
            text = lines[trace.tb_lineno - 1].strip() if trace.tb_lineno <= len(lines) else ""
            frames.append({"line": trace.tb_lineno, "function": code.co_name[:100],
                           "text": text[:200]})
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename in ("<snippet>", "<program>"):
        frames.append({"line": error.lineno or 0, "function": "<module>",
                       "text": (error.text or "").strip()[:200]})
    try:
        message = cut(error)
    except Exception:
        message = "(no message)"
    return {"type": type(error).__name__[:100], "message": message,
            "library": is_library(type(error)), "line": frames[-1]["line"] if frames else 0, "frames": frames[-FRAMES_MAX:]}


def told(error, source):
    """An error whose class fails whoever looks at it is one all the same."""
    try:
        return describe(error, source)
    except MemoryError:
        raise
    except BaseException:
        return {"type": type(error).__name__[:100], "message": "(no message)", "line": 0, "frames": []}


def parse(raw):
    return from_json(str(raw, "utf-8")) if raw != b"{}" else {}


class Job:
    """One run: input frame, output memory, what is to be reported."""

    def __init__(self, view, out, mode):
        layout = sys.modules["layout"]
        self.view, self.out, self.mode = view, out, mode
        self.frame = layout.Frame(view)
        self.source = self.frame.bytes(layout.CODE, 0).decode("utf-8", "replace")
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
        """The snippet's DataFrame, as sections of a frame."""
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
        """Runs it; what went wrong is reported, its files are kept all the same."""
        frames, layout = sys.modules["frames"], sys.modules["layout"]
        reader = frames.Reader(self.view)
        tables = reader.tables()
        given = {reader.name(e): bytes(reader.view[e[9]:e[9] + e[10]])
                 for e in reader.of(layout.ARTIFACT)}
        params = parse(reader.bytes(layout.PARAMS, 0))
        self.lap("load")
        files, error = sys.modules["execute"].run(self.source, tables, params, given)
        self.lap("exec")
        if isinstance(error, MemoryError):
            raise error
        if error is None:
            return self.finish(OK, files=files)
        self.report["exception"] = told(error, self.source)
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
        job.report["exception"] = told(error, job.source)
        return job.finish(EXCEPTION)


def run(view, out, mode, seed, now_us):
    pins = sys.modules.get("pins")
    try:
        if pins:
            pins.start(seed)
        return attempt(Job(view, out, mode))
    except MemoryError:
        return MEMORY, 0
    except BaseException:  # the snippet changed what reports it
        return BAD_RESULT, 0
    finally:
        if pins:
            pins.flush()
