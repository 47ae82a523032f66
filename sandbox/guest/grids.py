"""Makes params["raw"] from the raw grids of a frame. The layout is described in
core/data/frame/frame_grid.c."""
import datetime
import struct

import numpy as np
import pandas as pd

from frames import EPOCH, objects
from layout import GRID

NUMBER, BOOL, TEXT, TIME, ERROR = range(1, 6)
CELL = np.dtype([("row", "<u4"), ("col", "<u4"), ("kind", "<u2"), ("format", "<u2"),
                 ("zero", "<u4"), ("value", "<u8")])
HEAD = struct.Struct("<4I")
EXACT = 2.0**53


def number(value):
    return int(value) if value.is_integer() and abs(value) < EXACT else value


def moment(us):
    return EPOCH + datetime.timedelta(microseconds=us)


def texts_of(view, at, texts, formats, merged, sheet):
    """Returns (texts, formats, sheet or None)."""
    count = texts + formats
    ends = np.frombuffer(view, "<u8", count, at + HEAD.size).tolist()
    start = at + HEAD.size + 8 * count + 16 * merged
    out, last = [], 0
    for end in ends:
        out.append(str(view[start + last:start + end], "utf-8"))
        last = end
    name = str(view[start + last:start + last + sheet], "utf-8") if sheet else None
    return out[:texts], out[texts:], name


def values_of(cells, texts):
    """A Python object for each cell. An error becomes null, as in typed tables."""
    out = np.full(len(cells), None, object)
    kind, raw = cells["kind"], cells["value"]
    for want, dtype, make in ((NUMBER, "<f8", number), (BOOL, "<u8", bool),
                              (TEXT, "<u8", texts.__getitem__), (TIME, "<i8", moment)):
        here = kind == want
        if here.any():
            out[here] = objects([make(v) for v in raw[here].view(dtype).tolist()])
    return out


def frame_of(cells, values, rows, cols):
    table = np.full((rows, cols), None, object)
    table[cells["row"], cells["col"]] = values
    # dtype is given, because pandas would make datetime64 of a column of dates, and NaT of its
    # empty cells.
    return pd.DataFrame(table, pd.RangeIndex(rows), pd.RangeIndex(cols), dtype=object)


def grid(view, e):
    rows, cols, at = e[7], e[3], e[11]
    head = HEAD.unpack_from(view, at)
    texts, formats, sheet = texts_of(view, at, *head)
    cells = np.frombuffer(view, CELL, e[10] // CELL.itemsize, e[9]) if e[10] else np.empty(0, CELL)
    ranges = np.frombuffer(view, "<u4", 4 * head[2], at + HEAD.size + 8 * (head[0] + head[1]))
    names = objects([None] + formats)
    return {"cells": frame_of(cells, values_of(cells, texts), rows, cols),
            "merged": ranges.reshape(-1, 4).tolist(),
            "formats": frame_of(cells, names[cells["format"]], rows, cols),
            "sheet": sheet}


def raw(frame):
    return {frame.name(e): grid(frame.view, e) for e in frame.of(GRID)}
