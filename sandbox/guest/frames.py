"""Converts the tables of a frame to DataFrames and back, as far as possible without a copy."""
import datetime
import decimal
import struct

import numpy as np
import pandas as pd

from cells import (AS_TEXT, BOOL, DATE, DATETIME, DECIMAL, EPOCH, FLOAT, FRAME_OF, INT, NAMES, NEXT,
                   NEXT_OF_DTYPE, NULL, TEXT, kind_of, us_of)
from layout import COLUMN, DICT, TABLE, BadResult, Frame

F_DICT = 1
VIEW = struct.Struct("<I12s")
INLINE = 12
HEAD_OF = np.array([[255] * n + [0] * (INLINE - n) for n in range(INLINE + 1)], "u1")
CHUNK = 65536
COLUMNS_MAX = 65000  # each column is a section of the frame
FEW = 64  # how many texts are looked at to decide whether the others repeat them
REPEATED = 64 << 20  # bytes of long texts; above that it pays to look for equal ones
WIDE = decimal.Context(prec=60)
NS_MIN, NS_MAX = -9223372036854775000, 9223372036854775000

if pd.__version__.startswith("1.5."):
    from pandas.core.construction import ensure_wrapped_if_datetimelike as wrapped
    from pandas.core.internals.managers import create_block_manager_from_column_arrays as managed
else:
    managed = None


# --- reading ---


class Reader(Frame):
    def column_types(self):
        """The type of each column by name. If two tables differ, the first one counts."""
        words = {v: k for k, v in NAMES.items()}
        out = {}
        for e in self.of(COLUMN):
            out.setdefault(self.name(e), words[e[3]])
        return out

    def tables(self):
        out = {}
        for t in self.of(TABLE):
            columns = {self.name(e): self.column(e) for e in self.of(COLUMN, t[1])}
            out[self.name(t)] = frame_of(columns, t[7])
        return out

    def array(self, dtype, off, count):
        if not count:
            return np.empty(0, dtype)
        return np.frombuffer(self.view, dtype, count, off)

    def missing(self, e):
        """True where the value is null, or None if there are no nulls."""
        if not e[14]:
            return None
        bits = self.array("u1", e[13], e[14])
        return np.unpackbits(bits, count=e[7], bitorder="little") == 0

    def column(self, e):
        return READ[e[3]](self, e, e[7], self.missing(e))


def frame_of(columns, rows):
    """A DataFrame of the arrays, which all have the same length. The public constructor would check
    that and look for times among the objects, which is most of the time for a small table."""
    if managed is None or not columns:
        return pd.DataFrame(columns, index=pd.RangeIndex(rows), copy=False)
    axes = [pd.Index._simple_new(objects(list(columns))), pd.RangeIndex._simple_new(range(rows))]
    arrays = [wrapped(array) for array in columns.values()]
    return pd.DataFrame(managed(arrays, axes, consolidate=False))


def read_null(reader, e, n, missing):
    return np.full(n, None, object)


def read_bool(reader, e, n, missing):
    bits = np.unpackbits(reader.array("u1", e[9], e[10]), count=n, bitorder="little")
    values = bits.view(bool)
    return values if missing is None else pd.arrays.BooleanArray(values.copy(), missing)


def read_int(reader, e, n, missing):
    values = reader.array("<i8", e[9], n)
    return values if missing is None else pd.arrays.IntegerArray(values, missing)


def read_float(reader, e, n, missing):
    return reader.array("<f8", e[9], n)


def read_decimal(reader, e, n, missing):
    scale = e[4] >> 8 & 0xFF
    raw = reader.view[e[9]:e[9] + e[10]]
    out = np.full(n, None, object)
    for i in range(n):
        if missing is None or not missing[i]:
            value = int.from_bytes(raw[i * 16:i * 16 + 16], "little", signed=True)
            out[i] = WIDE.scaleb(decimal.Decimal(value), -scale)
    return out


def to_ns(values, unit, per_ns, missing, make):
    """datetime64[ns] if all values fit, otherwise objects."""
    if missing is not None:
        values = np.where(missing, 0, values)
    if len(values) and (int(values.min()) * per_ns < NS_MIN or int(values.max()) * per_ns > NS_MAX):
        out = np.array([make(int(v)) for v in values] + [None], object)[:-1]
        if missing is not None:
            out[missing] = None
        return out
    out = values.astype("M8[%s]" % unit).astype("M8[ns]")
    if missing is not None:
        out[missing] = np.datetime64("NaT")
    return out


def read_date(reader, e, n, missing):
    values = reader.array("<i4", e[9], n).astype("i8")
    return to_ns(values, "D", 86400 * 10**9, missing,
                 lambda v: (EPOCH + datetime.timedelta(days=v)).date())


def read_datetime(reader, e, n, missing):
    values = reader.array("<i8", e[9], n)
    return to_ns(values, "us", 1000, missing,
                 lambda v: EPOCH + datetime.timedelta(microseconds=v))


def texts(reader, a_off, b_off, n):
    """The texts of n views as objects. Equal texts share one object if a column repeats them often.
    """
    out, shared = np.empty(n, object), {}
    lens = reader.array("<u4", a_off, 4 * n).reshape(n, 4)[:, 0]
    views = reader.array("u1", a_off, 16 * n).reshape(n, 16)
    if n <= CHUNK:
        few = few_texts(lens, views)
        if few:
            out[:] = few
            return out
    for at in range(0, n, CHUNK):
        here = slice(at, at + CHUNK)
        out[here] = part = texts_of(reader.view, lens[here], views[here], b_off)
        if shared is not None:
            out[here] = [shared.setdefault(text, text) for text in part]
            if len(shared) * 2 > at + CHUNK:
                shared = None  # hardly any text repeats another
    return out


def few_texts(lens, views):
    """Short texts, most of which repeat another: each is decoded once. None if they do not repeat.
    """
    if len(lens) < FEW or lens.max() > INLINE:
        return None
    raw = np.ascontiguousarray(views[:, 4:]).view("S%d" % INLINE)[:, 0]
    if len(set(raw[:FEW].tolist())) * 2 > FEW:
        return None
    raw = raw.tolist()
    known = {text: text.decode() for text in set(raw)}
    if sum(map(len, raw)) != lens.sum():
        return None  # a text ends in a NUL, which numpy cuts off
    return [known[text] for text in raw]


def texts_of(view, lens, views, b_off):
    short = lens <= INLINE
    if short.all():
        return short_texts(lens, views)
    out = np.empty(len(lens), object)
    if short.any():
        out[short] = short_texts(lens[short], views[short])
    far = views[~short][:, 8:].copy().view("<u8")[:, 0].astype("i8") + b_off
    out[~short] = long_texts(view, far, far + lens[~short])
    return out


def short_texts(lens, views):
    """Decodes all texts at once: their bytes are joined with NULs and split afterwards."""
    cells = np.zeros((len(lens), INLINE + 1), "u1")
    cells[:, :INLINE] = views[:, 4:]
    kept = cells[np.arange(INLINE + 1) <= lens[:, None]]
    parts = str(kept.data, "utf-8").split("\0")
    if len(parts) == len(lens) + 1:
        return parts[:-1]
    return [str(cells[i, :n].data, "utf-8") for i, n in enumerate(lens)]


def long_texts(view, starts, ends):
    first, last = int(starts.min()), int(ends.max())
    starts, ends = starts.tolist(), ends.tolist()
    if last - first <= sum(ends) - sum(starts):  # the texts are next to each other
        whole = str(view[first:last], "utf-8")
        if len(whole) == last - first:
            return [whole[a - first:b - first] for a, b in zip(starts, ends)]
    return [str(view[a:b], "utf-8") for a, b in zip(starts, ends)]


def objects(values):
    out = np.empty(len(values), object)
    out[:] = values
    return out


def read_text(reader, e, n, missing):
    if e[4] & F_DICT:
        d = next(d for d in reader.of(DICT, e[2]) if d[1] == e[11])
        values = texts(reader, d[9], d[11], d[7]) if d[7] else objects([None])
        out = values[reader.array("<u4", e[9], n)]
    else:
        out = texts(reader, e[9], e[11], n)
    if missing is not None:
        out[missing] = None
    return out


READ = {NULL: read_null, BOOL: read_bool, INT: read_int, FLOAT: read_float,
        DECIMAL: read_decimal, DATE: read_date, DATETIME: read_datetime, TEXT: read_text}


# --- writing ---


class Out:
    """One column of a result."""

    def __init__(self, type, a=b"", b=b"", missing=None, scale=0, precision=0):
        self.type, self.a, self.b = type, a, b
        self.flags = scale << 8 | precision << 16
        self.nulls = int(missing.sum()) if missing is not None else 0
        self.v = bits(~missing) if self.nulls and type != NULL else b""


def raw_of(values):
    """The bytes of an array, without a copy if possible."""
    return memoryview(np.ascontiguousarray(values)).cast("B") if len(values) else b""


def bits(flags):
    packed = np.packbits(flags, bitorder="little").tobytes()
    return packed + b"\0" * (-len(packed) % 8)


def text_out(values, missing):
    values = np.where(missing, "", values)
    views = np.zeros((len(values), 16), "u1")
    blob, at = [], 0
    for start in range(0, len(values), CHUNK):
        here = slice(start, start + CHUNK)
        more = views_of(values[here].tolist(), views[here], at)
        if more is None:
            return repeated_out(values, missing)
        blob.append(more)
        at += len(more)
        if at > REPEATED:
            return repeated_out(values, missing)
    return Out(TEXT, raw_of(views), b"".join(blob), missing)


def views_of(values, views, at):
    """Fills the views and returns the bytes of the long texts, which will begin at `at`. None if a
    text contains a NUL."""
    raw = np.frombuffer("\0".join(values + [""]).encode() + bytes(INLINE), "u1")
    ends = np.flatnonzero(raw[:-INLINE] == 0)
    if len(ends) != len(values):
        return None
    starts = np.append(0, ends[:-1] + 1)
    lens = ends - starts
    views[:, :4] = lens.astype("<u4").view("u1").reshape(-1, 4)
    # one window starts at each byte
    windows = np.ndarray(len(raw) - INLINE + 1, "V12", raw, 0, (1,))
    heads = windows[starts].view("u1").reshape(-1, INLINE)
    heads &= HEAD_OF[np.minimum(lens, INLINE)]
    views[:, 4:] = heads
    far = np.flatnonzero(lens > INLINE)
    if not len(far):
        return b""
    offsets = at + np.cumsum(lens[far]) - lens[far]
    views[far, 8:] = offsets.astype("<u8").view("u1").reshape(-1, 8)
    return "".join([values[i] for i in far.tolist()]).encode()


def repeated_out(values, missing):
    """Writes texts one by one, and each long text only once."""
    views = bytearray(16 * len(values))
    cache, blob, at = {}, [], 0
    for i, value in enumerate(values):
        if missing[i]:
            continue
        view = cache.get(value)
        if view is None:
            raw = value.encode()
            if len(raw) > INLINE:
                view = struct.pack("<I4sQ", len(raw), raw[:4], at)
                blob.append(raw)
                at += len(raw)
            else:
                view = VIEW.pack(len(raw), raw)
            cache[value] = view
        views[i * 16:i * 16 + 16] = view
    return Out(TEXT, views, b"".join(blob), missing)


def int_out(values, missing):
    """`values` are integers of any width, or int objects."""
    if values.dtype == np.int64 and not missing.any():
        return Out(INT, raw_of(values), missing=missing)
    out = np.zeros(len(values), "<i8")
    present = values[~missing]
    if len(present) and (int(present.max()) >= 2**63 or int(present.min()) < -2**63):
        raise BadResult("has integers beyond 64 bits; return them as text or decimal", "integer")
    out[~missing] = present
    return Out(INT, raw_of(out), missing=missing)


def float_out(values, missing, wanted, note):
    values = np.asarray(values, "<f8")
    if wanted != "int" and np.isfinite(values).all() and not missing.any():
        return Out(FLOAT, raw_of(values + 0.0))
    infinite = np.isinf(values)
    if infinite.any():
        note("infinite_to_null", int(infinite.sum()))
    missing = missing | np.isnan(values) | infinite
    values = np.where(missing, 0.0, values) + 0.0  # -0.0 becomes 0.0
    whole = wanted == "int" and not (values % 1).any() and (np.abs(values) < 2**63).all()
    if whole:
        return Out(INT, raw_of(values.astype("<i8")), missing=missing)
    return Out(FLOAT, raw_of(np.where(missing, np.nan, values)), missing=missing)


def decimal_out(values, missing):
    scale, digits = 0, 1
    for value in values[~missing]:
        if not value.is_finite():
            raise BadResult("has a decimal that is not a number", "decimal")
        sign, ds, exponent = value.as_tuple()
        scale = max(scale, -exponent)
        digits = max(digits, len(ds) + exponent)
    precision = min(max(digits + scale, 1), 38)
    if digits + scale > 38:
        raise BadResult("has decimals of more than 38 digits", "decimal")
    out = bytearray(16 * len(values))
    for i, value in enumerate(values):
        if not missing[i]:
            scaled = int(WIDE.scaleb(decimal.Decimal(value), scale))
            out[i * 16:i * 16 + 16] = scaled.to_bytes(16, "little", signed=True)
    return Out(DECIMAL, out, missing=missing, scale=scale, precision=precision)


def times_out(us, missing, wanted):
    us = np.where(missing, 0, us).astype("<i8")
    if wanted == "date" and not (us % 86400000000).any():
        return Out(DATE, (us // 86400000000).astype("<i4").tobytes(), missing=missing)
    return Out(DATETIME, us.tobytes(), missing=missing)


def ns_out(values, missing, wanted):
    ns = values.astype("M8[ns]").astype("i8")
    ns = np.where(missing, 0, ns)
    if (ns % 1000).any():
        raise BadResult("has times finer than a microsecond; round them: .dt.floor('us')", "fine_time")
    return times_out(ns // 1000, missing, wanted)


def floats_of(values, missing):
    """Floats from objects that are int or float."""
    out = np.full(len(values), np.nan)
    for i in np.flatnonzero(~missing):
        value = values[i]
        if kind_of(value) == FLOAT or abs(value) < 2**1023:
            out[i] = value
        if kind_of(value) == INT and (np.isnan(out[i]) or int(out[i]) != value):
            raise BadResult("mixes floats and an integer that no float holds (row %d); convert it "
                            "to one type" % i, "mixed")
    return out


def object_out(values, missing, wanted, note):
    if missing.ndim != 1:
        raise BadResult("holds lists or arrays; a cell is one value", "nested")
    if pd.api.types.infer_dtype(values, skipna=True) == "string":
        return text_out(values, missing)
    kinds = {}
    for i in np.flatnonzero(~missing):
        kind = kind_of(values[i])
        if kind is None:
            raise BadResult("row %d holds a %s; a cell is a number, text, bool, date or null%s"
                            % (i, type(values[i]).__name__, NEXT.get(type(values[i]), AS_TEXT)), "cell")
        kinds.setdefault(kind, i)
    found = frozenset(kinds)
    if not found:
        return Out(NULL, missing=missing)
    if found == {BOOL}:
        return Out(BOOL, bits(np.where(missing, False, values).astype(bool)), missing=missing)
    if found == {INT}:
        return int_out(values, missing)
    if found <= {INT, FLOAT}:
        return float_out(floats_of(values, missing), missing, wanted, note)
    if found <= {INT, DECIMAL}:
        fixed = objects([None if m else decimal.Decimal(int(v) if kind_of(v) == INT else v)
                         for v, m in zip(values, missing)])
        return decimal_out(fixed, missing)
    if found <= {DATE, DATETIME}:
        us = np.array([0 if m else us_of(v) for v, m in zip(values, missing)], "i8")
        return times_out(us, missing, "date" if found == {DATE} else wanted)
    if found == {TEXT}:
        return text_out(values, missing)
    names = {v: k for k, v in NAMES.items()}
    first, second = sorted(kinds.items(), key=lambda kv: kv[1])[:2]
    raise BadResult("mixes %s (row %d) and %s (row %d); convert it to one type"
                    % (names[first[0]], first[1], names[second[0]], second[1]), "mixed")


def numbers_out(values, wanted, note):
    """Writes a numpy array of numbers, the most frequent case. The way through pandas would read
    each value three times."""
    kind = values.dtype.kind
    if kind == "b":
        return Out(BOOL, bits(values))
    if kind == "f":
        return float_out(values, np.isnan(values), wanted, note)
    if kind == "u" and values.dtype.itemsize == 8:  # in either byte order
        return int_out(values, np.zeros(len(values), bool))
    return Out(INT, raw_of(values.astype("<i8", copy=False)))


def decoded(cat):
    """The values of a categorical. Integers stay integers even if there are nulls."""
    values, codes = cat.categories, cat.codes.to_numpy()
    if len(values) and values.dtype.kind in "iu":
        numbers = values.to_numpy(dtype=values.dtype.kind + "8")
        return pd.Series(pd.arrays.IntegerArray(numbers.take(codes), codes < 0))
    out = np.append(values.astype(object).to_numpy(), None)[codes]
    return pd.Series(out, dtype=object).infer_objects()


def column_out(series, wanted, note):
    """Writes one column; `series` is a result of array_of."""
    dtype = series.dtype
    if isinstance(series, np.ndarray):
        if dtype.kind == "O":
            return object_out(series, pd.isna(series), wanted, note)
        return numbers_out(series, wanted, note)
    if isinstance(dtype, pd.CategoricalDtype):
        series = decoded(series.cat)
        dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
        dtype = series.dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        raise BadResult("has a time zone; use .dt.tz_convert('UTC').dt.tz_localize(None)", "zone")
    if dtype.kind in "mcV" or isinstance(dtype, (pd.PeriodDtype, pd.IntervalDtype)):
        raise BadResult("is %s, which a table cannot hold; convert it to numbers or text%s"
                        % (dtype, NEXT_OF_DTYPE.get(dtype.kind, AS_TEXT)), "dtype")
    missing = series.isna().to_numpy()
    if dtype.kind == "b":
        values = series.fillna(False).to_numpy(dtype=bool)
        return Out(BOOL, bits(values), missing=missing)
    if dtype.kind in "iu":
        values = series.fillna(0).to_numpy() if missing.any() else series.to_numpy()
        return int_out(values.astype(dtype.kind + "8", copy=False), missing)
    if dtype.kind == "f":
        values = series.to_numpy(dtype="f8", na_value=np.nan)
        return float_out(values, missing, wanted, note)
    if dtype.kind == "M":
        return ns_out(series.to_numpy(), missing, wanted)
    return object_out(series.to_numpy(dtype=object), missing, wanted, note)


def array_of(values):
    """The numpy array of a column or index if that is all there is to know, otherwise a Series."""
    if not isinstance(values.dtype, np.dtype) or values.dtype.kind not in "biufO":
        return pd.Series(values)
    return values.to_numpy() if isinstance(values, (pd.Index, pd.Series)) else values


def name_of(name, i):
    if isinstance(name, str):
        text = name
    elif pd.isna(name):
        text = "null"
    else:
        text = str(name)
    if not text:
        raise BadResult("column %d has an empty name" % i, "name", i + 1)
    if "\0" in text:
        raise BadResult("the name of column %d holds a NUL" % i, "name", i + 1)
    if not text.isprintable() and text.encode("utf-8", "ignore").decode() != text:
        raise BadResult("the name of column %d is not Unicode" % i, "name", i + 1)
    return text


def repeats(frame, level):
    """Whether a level of the index has the same values as the column with its name."""
    column = frame[frame.index.names[level]]
    values = frame.index.get_level_values(level).astype(object)
    return isinstance(column, pd.Series) and values.equals(pd.Index(column.astype(object)))


def source_rows(index, count):
    """The row numbers in the input, if the index still has them. An index with a name is a column
    instead."""
    if index.nlevels != 1 or index.name is not None or not len(index):
        return b""
    if type(index) is pd.RangeIndex and index.step == 1 and 0 <= index.start < index.stop <= count:
        return np.arange(index.start, index.stop, dtype="<u8").tobytes()
    if not isinstance(index.dtype, np.dtype) or index.dtype.kind not in "iu":
        return b""
    rows = index.to_numpy()
    if rows.min() < 0 or rows.max() >= count:
        return b""
    return rows.astype("<u8").tobytes()


class Table:
    """A checked DataFrame, read column by column when it is written."""

    def __init__(self, frame, types_of, source_count=0):
        self.notes = {}
        if not isinstance(frame, pd.DataFrame):
            raise BadResult("transform returned %s, expected a DataFrame%s"
                            % ("None" if frame is None else type(frame).__name__,
                               FRAME_OF.get(type(frame), "")), "no_frame")
        self.source_rows = source_rows(frame.index, source_count)
        self.rows = len(frame)
        self.names, self.columns, known = [], [], set()
        for i, (label, series) in enumerate(self.flat(frame)):
            name = name_of(label, i)
            if name in known:
                raise BadResult("two columns are named '%s'" % name, "name",
                                len(self.names) + 1)
            known.add(name)
            self.names.append(name)
            self.columns.append(self.column(name, series, types_of.get(name)))

    def flat(self, frame):
        if isinstance(frame.columns, pd.MultiIndex):
            raise BadResult("the columns are a MultiIndex; flatten them: "
                            "df.columns = ['_'.join(map(str, c)) for c in df.columns]", "multiindex")
        levels = [n for n, name in enumerate(frame.index.names) if name is not None]
        taken = [n for n in levels if frame.index.names[n] in frame.columns]
        if taken and frame.index.nlevels > 1:
            # groupby().apply() repeats the keys as columns next to an unnamed level
            again = [n for n in taken if repeats(frame, n)]
            levels = [n for n in levels if n not in again]
            taken = [n for n in taken if n not in again]
        if taken:
            raise BadResult("'%s' is both an index level and a column"
                            % frame.index.names[taken[0]], "name")
        if not levels and not frame.shape[1]:
            raise BadResult("the result has no columns", "no_columns")
        if frame.shape[1] > COLUMNS_MAX:
            raise BadResult("the result has %d columns, at most %d: melt() makes rows of them"
                            % (frame.shape[1], COLUMNS_MAX), "wide")
        # as reset_index() would do, but without making a DataFrame
        for n in levels:
            values = frame.index.get_level_values(n)
            yield frame.index.names[n], array_of(values)
        for i, name in enumerate(frame.columns):
            yield name, array_of(frame._mgr.iget_values(i) if managed else frame.iloc[:, i])

    def column(self, name, series, wanted):
        def note(what, count):
            self.notes.setdefault(what, {})[name] = count

        try:
            return column_out(series, wanted, note)
        except BadResult as error:
            raise BadResult("column '%s' %s" % (name, error), error.fault,
                            len(self.columns) + 1) from None
        except UnicodeEncodeError:
            raise BadResult("column '%s' holds text that is not Unicode" % name, "text",
                            len(self.columns) + 1) from None
