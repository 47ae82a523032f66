"""The layout of a frame: finds and writes its sections, as core/data/frame/frame.h describes them.

It imports neither numpy nor pandas, because the screen needs only this module."""
import struct

CODE, PARAMS, TABLE, COLUMN, DICT, GRID, ROWS, REPORT, ARTIFACT = 1, 2, 3, 4, 5, 6, 7, 16, 17
ENTRY = struct.Struct("<6I9Q")
HEADER = struct.Struct("<8sIIQQII24x")


class BadResult(Exception):
    """`fault` is one of DTX_JAIL_FAULTS in core/plan/exec/provider.h; `column` counts from 1."""

    def __init__(self, text, fault, column=0):
        Exception.__init__(self, text)
        self.fault, self.column = fault, column


class OutputLimit(Exception):
    pass


class Frame:
    """A frame to read. Its entries are (kind, id, parent, type, flags, name_len, name_off, rows,
    nulls, a_off, a_len, b_off, b_len, v_off, v_len)."""

    def __init__(self, view):
        self.view = view
        _, _, n, _, at, _, _ = HEADER.unpack_from(view, 0)
        self.entries = [ENTRY.unpack_from(view, at + i * ENTRY.size) for i in range(n)]

    def of(self, kind, parent=None):
        return [e for e in self.entries if e[0] == kind and parent in (None, e[2])]

    def bytes(self, kind, ident):
        for e in self.of(kind):
            if e[1] == ident:
                return bytes(self.view[e[9]:e[9] + e[10]])
        return b""

    def name(self, e):
        return str(self.view[e[6]:e[6] + e[5]], "utf-8")

    def column_names(self):
        return {self.name(t): [self.name(c) for c in self.of(COLUMN, t[1])]
                for t in self.of(TABLE)}


def blob(kind, ident, data, name=""):
    return (kind, ident, 0, 0, 0), name, 0, 0, (data, b"", b"")


def table_sections(title, table):
    out = [((TABLE, 0, 0, 0, 0), title, table.rows, 0, (b"", b"", b""))]
    for i, (name, c) in enumerate(zip(table.names, table.columns)):
        out.append(((COLUMN, i, 0, c.type, c.flags), name, table.rows, c.nulls,
                    (c.a, c.b, c.v)))
    if table.source_rows:
        out.append(blob(ROWS, 0, table.source_rows))
    return out


def write(out, text, table, files=()):
    """Writes the frame of a result to `out`; returns its length."""
    parts = [blob(REPORT, 0, text)]
    parts += [blob(ARTIFACT, i, data, name) for i, (name, data) in enumerate(files)]
    return lay(out, parts + (table_sections("result", table) if table is not None else []))


def write_input(out, given, title, table):
    """The same for an input frame, as the host makes it."""
    return lay(out, [blob(*g) for g in given] + table_sections(title, table))


def lay(out, parts):
    at = HEADER.size + ENTRY.size * len(parts)
    placed = []
    for head, name, rows, nulls, buffers in parts:
        raw = name.encode("utf-8", "replace")
        entry = list(head) + [len(raw), at if raw else 0, rows, nulls]
        placed.append((entry, raw, at, buffers))
        at += len(raw)
    copies = [(start, raw) for _, raw, start, _ in placed]
    for entry, _, _, buffers in placed:
        for buffer in buffers:
            if len(buffer):
                at = (at + 63) // 64 * 64
                copies.append((at, buffer))
            entry += [at if len(buffer) else 0, len(buffer)]
            at += len(buffer)
    if at > len(out):
        raise OutputLimit()
    HEADER.pack_into(out, 0, b"DTXFRM1\0", 64, len(parts), at, HEADER.size, ENTRY.size, 0)
    for i, (entry, _, _, _) in enumerate(placed):
        ENTRY.pack_into(out, HEADER.size + i * ENTRY.size, *entry)
    for start, buffer in copies:
        out[start:start + len(buffer)] = buffer
    return at
