#!/usr/bin/python3 -B
"""Parquet files that are written here, with every encoding, both versions of pages, nulls, several
pages and row groups, against the values that went into them.  Usage: parquet.py DTX [SEED]

Then tables of every type that dtx has are written as Parquet and read again.

Where DTX_PEERS names a folder with the npm packages @duckdb/node-api and nodejs-polars, DuckDB reads the
fixtures and, if they are there, the files in $DTX_SHARED_DATA/parquet; both read what dtx has written."""
import csv
import datetime
import glob
import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTES, FIXED = range(8)
PLAIN, RLE, DELTA, DELTA_LENGTH, DELTA_BYTES, DICT, SPLIT = 0, 3, 5, 6, 7, 8, 9
HERE = os.path.dirname(os.path.abspath(__file__))

# --- Thrift's compact protocol: a struct is {id: value}, a value is (type, content) ---


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def zigzag(n):
    return varint(n << 1 if n >= 0 else -n * 2 - 1)


def value(kind, v):
    if kind in (5, 6):
        return zigzag(v)
    if kind == 8:
        v = v.encode() if isinstance(v, str) else v
        return varint(len(v)) + v
    if kind == 9:
        of, items = v
        head = bytes([len(items) << 4 | of]) if len(items) < 15 else bytes([0xF0 | of]) + varint(len(items))
        return head + b"".join(value(of, i) for i in items)
    return b"" if kind in (1, 2) else struct_of(v)


def struct_of(fields):
    out, last = b"", 0
    for number in sorted(fields):
        kind, v = fields[number]
        step = number - last
        out += bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + zigzag(number)
        out += value(kind, v)
        last = number
    return out + b"\0"


def i32(v):
    return (5, v)


def i64(v):
    return (6, v)


# --- encodings ---


def packed(values, width):
    bits = sum(v << i * width for i, v in enumerate(values))
    return bits.to_bytes((len(values) * width + 7) // 8, "little")


def runs(rand, values, width):
    """Runs of equal values, and of packed ones, as it comes."""
    out, at = b"", 0
    while at < len(values):
        n = 1
        while at + n < len(values) and values[at + n] == values[at]:
            n += 1
        if n > 7 or rand.random() < 0.2:
            out += varint(n << 1) + values[at].to_bytes((width + 7) // 8, "little")
        else:
            some = values[at : at + 8 * rand.randint(1, 3)]
            n = len(some)
            groups = (n + 7) // 8
            if n % 8 and at + n < len(values):
                raise AssertionError
            out += varint(groups << 1 | 1) + packed(some + [0] * (groups * 8 - n), width)
        at += n
    return out


def old_levels(values, width):
    bits = "".join(format(v, "0%db" % width) for v in values)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def delta(values, bits):
    mask = (1 << bits) - 1
    wrap = lambda v: (v & mask) - (1 << bits if v & mask >> 1 != v & mask else 0)
    out = varint(128) + varint(4) + varint(len(values)) + zigzag(values[0] if values else 0)
    steps = [wrap(b - a) for a, b in zip(values, values[1:])]
    for at in range(0, len(steps), 128):
        block = steps[at : at + 128]
        least = min(block)
        smalls = [[s - least & mask for s in block[i : i + 32]] for i in range(0, len(block), 32)]
        widths = [max(s).bit_length() for s in smalls]
        out += zigzag(least) + bytes(widths + [0] * (4 - len(widths)))
        for s, w in zip(smalls, widths):
            out += packed(s + [0] * (32 - len(s)), w)
    return out


def plain(kind, values):
    if kind == BOOLEAN:
        return packed([int(v) for v in values], 1)
    if kind in (BYTES,):
        return b"".join(struct.pack("<I", len(v)) + v for v in values)
    code = {INT32: "<i", INT64: "<q", FLOAT: "<f", DOUBLE: "<d"}.get(kind)
    return b"".join(struct.pack(code, v) if code else v for v in values)


def split(kind, values):
    raw = [plain(kind, [v]) for v in values]
    return b"".join(bytes(r[i] for r in raw) for i in range(len(raw[0]) if raw else 0))


def shared_prefixes(values):
    last, prefixes, rests = b"", [], []
    for v in values:
        n = len(os.path.commonprefix([last, v]))
        prefixes.append(n)
        rests.append(v[n:])
        last = v
    return delta(prefixes, 32) + delta([len(r) for r in rests], 32) + b"".join(rests)


def encode(rand, kind, encoding, values, distinct):
    if encoding == DICT:
        width = max(1, (len(distinct) - 1).bit_length())
        return bytes([width]) + runs(rand, [distinct.index(v) for v in values], width)
    if encoding == RLE:
        body = runs(rand, [int(v) for v in values], 1)
        return struct.pack("<I", len(body)) + body
    if encoding == DELTA:
        return delta(values, 32 if kind == INT32 else 64)
    if encoding == DELTA_LENGTH:
        return delta([len(v) for v in values], 32) + b"".join(values)
    if encoding == DELTA_BYTES:
        return shared_prefixes(values)
    return split(kind, values) if encoding == SPLIT else plain(kind, values)


# --- files ---


def gzip_member(data):
    z = zlib.compressobj(6, zlib.DEFLATED, 31)
    return z.compress(data) + z.flush()


def pack(rand, codec, data):
    if codec != 2:
        return data
    cut = rand.randint(0, len(data))  # several members are one page
    return gzip_member(data[:cut]) + gzip_member(data[cut:])


def page(rand, kind, header, body, unpacked):
    fields = {1: i32(kind), 2: i32(unpacked), 3: i32(len(body)), {0: 5, 2: 7, 3: 8}[kind]: (12, header)}
    if rand.random() < 0.5:
        crc = zlib.crc32(body)
        fields[4] = i32(crc - (1 << 32) if crc >> 31 else crc)
    return struct_of(fields) + body


def data_page(rand, column, encoding, cells, codec, distinct):
    there = [c for c in cells if c is not None]
    body = encode(rand, column.kind, encoding, there, distinct)
    levels = [int(c is not None) for c in cells]
    if rand.random() < 0.5:
        level = 3
        raw = b""
        if column.optional:
            level = rand.choice((3, 4))
            raw = old_levels(levels, 1) if level == 4 else runs(rand, levels, 1)
            raw = raw if level == 4 else struct.pack("<I", len(raw)) + raw
        whole = raw + body
        head = {1: i32(len(cells)), 2: i32(encoding), 3: i32(level), 4: i32(3)}
        return page(rand, 0, head, pack(rand, codec, whole), len(whole))
    raw = runs(rand, levels, 1) if column.optional else b""
    flat = rand.random() < 0.3
    head = {1: i32(len(cells)), 2: i32(len(cells) - len(there)), 3: i32(len(cells)), 4: i32(encoding),
            5: i32(len(raw)), 6: i32(0), 7: (2 if flat else 1, None)}
    return page(rand, 3, head, raw + (body if flat else pack(rand, codec, body)), len(raw) + len(body))


class Column:
    def __init__(self, name, kind, encoding, optional, make, show, width=0, converted=None, extra=None):
        self.name, self.kind, self.encoding, self.optional = name, kind, encoding, optional
        self.make, self.show, self.width, self.converted, self.extra = make, show, width, converted, extra or {}
        self.stats = None

    def element(self):
        fields = {1: i32(self.kind), 3: i32(int(self.optional)), 4: (8, self.name), **self.extra}
        if self.width:
            fields[2] = i32(self.width)
        if self.converted is not None:
            fields[6] = i32(self.converted)
        return fields


def chunk(rand, out, column, cells):
    """Appends the pages of a column in a row group; returns the ColumnChunk."""
    codec = rand.choice((0, 2))
    distinct = sorted({c for c in cells if c is not None}) or [column.make(rand)]
    start, first = len(out), None
    if column.encoding == DICT:
        raw = plain(column.kind, distinct)
        out += page(rand, 2, {1: i32(len(distinct)), 2: i32(0)}, pack(rand, codec, raw), len(raw))
        first = start
    data, at = len(out), 0
    encoding = column.encoding
    while at < len(cells):
        n = rand.randint(0, len(cells) - at) if rand.random() < 0.9 else len(cells) - at
        if encoding == DICT and rand.random() < 0.2:
            encoding = PLAIN  # as of a writer whose dictionary is full
        out += data_page(rand, column, encoding, cells[at : at + n], codec, distinct)
        at += n
    meta = {1: i32(column.kind), 2: (9, (5, [column.encoding])), 3: (9, (8, [column.name])), 4: i32(codec),
            5: i64(len(cells)), 6: i64(len(out) - start), 7: i64(len(out) - start), 9: i64(data)}
    if first is not None:
        meta[11] = i64(first)
    if column.stats:
        meta[12] = (12, column.stats(rand, cells))
    return {2: i64(start), 3: (12, meta)}


def write(rand, columns, groups, orders=None):
    out = bytearray(b"PAR1")
    made = []
    for cells in groups:
        chunks = [chunk(rand, out, c, cells[c.name]) for c in columns]
        rows = len(cells[columns[0].name])
        made.append({1: (9, (12, chunks)), 2: i64(0), 3: i64(rows)})
    rows = sum(len(g[columns[0].name]) for g in groups)
    schema = [{4: (8, "schema"), 5: i32(len(columns))}] + [c.element() for c in columns]
    fields = {1: i32(2), 2: (9, (12, schema)), 3: i64(rows), 4: (9, (12, made)), 6: (8, "dtx's test")}
    if orders:
        fields[7] = (9, (12, [{order: (12, {})} for order in orders]))
    footer = struct_of(fields)
    return bytes(out) + footer + struct.pack("<I", len(footer)) + b"PAR1"


# --- what is written, and how dtx prints it ---


def text(rand):
    return rand.choice(("", "a", "prefix " + "x" * rand.randint(0, 30), "prefix é %d" % rand.randint(0, 99), "né,\"q\"\n")).encode()


def decimal(digits, scale):
    return lambda v: ("-" if v < 0 else "") + "%d.%0*d" % (abs(v) // 10**scale, scale, abs(v) % 10**scale)


def big(width):
    return lambda v: int.from_bytes(v, "big", signed=True)


def number(v):
    return re.sub(r"e([+-])0*", lambda m: "e-" if m.group(1) == "-" else "e", repr(float(v)))


def edges(bits):
    top = 1 << bits - 1
    return lambda r: r.choice((0, 1, -1, top - 1, -top, r.randint(-100, 100), r.randint(-top, top - 1)))


def columns_of(rand):
    show = str
    kinds = [
        ("bool", BOOLEAN, (PLAIN, RLE), lambda r: r.random() < 0.5, lambda v: "true" if v else "false", {}),
        ("int32", INT32, (PLAIN, DICT, DELTA, SPLIT), edges(32), show, {}),
        ("int64", INT64, (PLAIN, DICT, DELTA, SPLIT), edges(64), show, {}),
        ("int8", INT32, (PLAIN, DELTA), edges(8), show, {"converted": 15}),
        ("uint32", INT32, (PLAIN, DICT), edges(32), lambda v: str(v & 0xFFFFFFFF), {"converted": 13}),
        ("uint64", INT64, (PLAIN, DELTA), edges(64), lambda v: str(v & (1 << 64) - 1), {"converted": 14}),
        ("double", DOUBLE, (PLAIN, DICT, SPLIT), lambda r: r.choice((0.5, -2.25, 1e300, r.random())), number, {}),
        ("float", FLOAT, (PLAIN, DICT, SPLIT), lambda r: r.choice((0.5, -2.25, 1024.0, 3.0)), number, {}),
        ("half", FIXED, (PLAIN, DICT, SPLIT), lambda r: struct.pack("<e", r.choice((0.5, -2.25, 6e-8, 65504))),
         lambda v: number(struct.unpack("<e", v)[0]), {"width": 2, "extra": {10: (12, {15: (12, {})})}}),
        ("text", BYTES, (PLAIN, DICT, DELTA_LENGTH, DELTA_BYTES), text, lambda v: v.decode(), {"converted": 0}),
        ("fixed", FIXED, (PLAIN, DICT, DELTA_BYTES, SPLIT), lambda r: b"ab%03d" % r.randint(0, 99), lambda v: v.decode(), {"width": 5}),
        ("date", INT32, (PLAIN, DELTA, DICT), lambda r: r.choice((0, 19723)), lambda v: {0: "1970-01-01", 19723: "2024-01-01"}[v],
         {"converted": 6}),
        ("millis", INT64, (PLAIN, DELTA), lambda r: r.choice((1500, -1)),
         lambda v: {1500: "1970-01-01T00:00:01.5Z", -1: "1969-12-31T23:59:59.999Z"}[v], {"converted": 9}),
        ("int96", INT96, (PLAIN, DICT), lambda r: struct.pack("<qI", 3600 * 10**9, 2440588 + r.randint(0, 1)),
         lambda v: {0: "1970-01-01T01:00:00", 1: "1970-01-02T01:00:00"}[struct.unpack("<qI", v)[1] - 2440588], {}),
        ("clock", INT32, (PLAIN, DELTA), lambda r: r.choice((0, 3723500)), lambda v: {0: "00:00:00", 3723500: "01:02:03.5"}[v],
         {"converted": 7}),
        ("dec32", INT32, (PLAIN, DELTA), lambda r: r.randint(-99999, 99999), decimal(9, 2),
         {"converted": 5, "extra": {7: i32(2), 8: i32(9)}}),
        ("dec128", FIXED, (PLAIN, DICT, SPLIT), lambda r: r.randint(-10**20, 10**20).to_bytes(12, "big", signed=True),
         lambda v: decimal(28, 4)(big(12)(v)), {"width": 12, "converted": 5, "extra": {7: i32(4), 8: i32(28)}}),
        ("decbytes", BYTES, (PLAIN, DELTA_LENGTH, DELTA_BYTES), lambda r: r.choice((b"\0", b"\xff", b"\0\x80", b"\1\0\0")),
         lambda v: decimal(38, 1)(big(0)(v)), {"converted": 5, "extra": {7: i32(1), 8: i32(38)}}),
    ]
    out = []
    for name, kind, encodings, make, show_as, more in kinds:
        for encoding in encodings:
            for optional in (False, True):
                out.append(Column("%s_%d_%d" % (name, encoding, optional), kind, encoding, optional, make, show_as, **more))
    rand.shuffle(out)
    return out


def cells_of(rand, column, rows):
    pool = [column.make(rand) for _ in range(rand.choice((1, 3, 1000)))]
    nulls = rand.choice((0, 0.1, 0.5, 0.99, 1)) if column.optional else 0
    return [None if rand.random() < nulls else rand.choice(pool) for _ in range(rows)]


def expected(columns, groups):
    for g in groups:
        for i in range(len(g[columns[0].name])):
            yield ["" if g[c.name][i] is None else c.show(g[c.name][i]) for c in columns]


passed = failed = skipped = 0


def check(name, wrong):
    global passed, failed
    passed, failed = passed + (not wrong), failed + bool(wrong)
    print("not ok - %s\n%s" % (name, wrong) if wrong else "ok - " + name)


def read(dtx, path, *more):
    p = subprocess.run([dtx, "convert", path, "-", *more], capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


def written_here(dtx, folder, seed):
    rand = random.Random(seed)
    columns = columns_of(rand)
    groups = [{c.name: cells_of(rand, c, n) for c in columns} for n in (rand.randint(1, 3000), rand.randint(0, 40), rand.randint(1, 9))]
    path = os.path.join(folder, "f%d.parquet" % seed)
    with open(path, "wb") as f:
        f.write(write(rand, columns, groups))
    code, out, err = read(dtx, path)
    if code:
        return err
    rows = list(csv.reader(io.StringIO(out, newline="")))
    if rows[:1] != [[c.name for c in columns]]:
        return "the header is %s" % rows[:1]
    want = list(expected(columns, groups))
    if len(rows) - 1 != len(want):
        return "%d rows, not %d" % (len(rows) - 1, len(want))
    for i, (a, b) in enumerate(zip(rows[1:], want)):
        for c, x, y in zip(columns, a, b):
            if x != y:
                return "row %d, %s: %r, not %r" % (i, c.name, x, y)
    return ""


def one_long_text(dtx, folder):
    """Rows that all have one text of the dictionary: together 5 GB, more than a reader may use."""
    rand = random.Random(1)
    column = Column("t", BYTES, DICT, False, None, None, converted=0)
    path = os.path.join(folder, "long.parquet")
    with open(path, "wb") as f:
        f.write(write(rand, [column], [{"t": [b"dtx reads " * 7500] * 66000}]))
    p = subprocess.run([dtx, "pipe", "-q", path, "--", "derive", "n=len(t)", "then", "select", "n", "then", "head", "2"],
                       capture_output=True, text=True, timeout=300)
    return "" if p.stdout == "n\n75000\n75000\n" else p.stdout + p.stderr


def grouped(dtx, folder, seed):
    """Plans over texts of dictionaries, of which each row group has another one, against the same rows as CSV."""
    rand = random.Random(seed)
    pool = [b"word %d" % i for i in range(40)] + [b"a text that is longer than twelve bytes %d" % i for i in range(20)]
    nulls = seed % 2
    columns = [Column(name, BYTES, DICT, bool(nulls), None, lambda v: v.decode(), converted=0) for name in ("t", "u")]
    columns.append(Column("n", INT64, PLAIN, False, None, str))
    groups = []
    for rows in (30000, 200, 9000):
        some = rand.sample(pool, rand.randint(1, 50))
        group = {c: [None if nulls and rand.random() < 0.1 else rand.choice(some) for _ in range(rows)] for c in "tu"}
        groups.append(dict(group, n=[rand.randint(0, 99) for _ in range(rows)]))
    path = os.path.join(folder, "g.parquet")
    with open(path, "wb") as f:
        f.write(write(rand, columns, groups))
    with open(path + ".csv", "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["t", "u", "n"])
        out.writerows(expected(columns, groups))
    sums = {"s": "sum(n)", "c": "count()"}
    plans = [
        [{"op": "group_by", "by": ["t"], "agg": sums}],
        [{"op": "group_by", "by": ["t", "u"], "agg": sums}],
        [{"op": "filter", "where": "n > 50 and t != 'word 3'"}, {"op": "group_by", "by": ["u", "t"], "agg": sums}],
        [{"op": "group_by", "by": ["u", "n", "t"], "agg": {"c": "count()"}}],
        [{"op": "group_by", "by": ["t", "u"], "agg": sums, "sets": [["t"], ["u"], []]}],
        [{"op": "select", "cols": ["u", "t"]}, {"op": "distinct"}],
        [{"op": "sort", "by": ["t", "u", "n"]}, {"op": "head", "n": 500}],
    ]
    for i, steps in enumerate(plans):
        plan = os.path.join(folder, "plan.json")
        with open(plan, "w") as f:
            json.dump({"dtx": 1, "steps": steps}, f)
        got = [subprocess.run([dtx, "run", plan, p, "--to", "csv"], capture_output=True, text=True, timeout=120) for p in (path, path + ".csv")]
        if got[0].stdout != got[1].stdout or got[0].returncode or not got[0].stdout:
            return "plan %d: %s\n%s\n%s" % (i, json.dumps(steps), got[0].stderr, got[1].stderr)
    return ""


# --- row groups that a filter leaves out ---

NANOS = {10: (12, {8: (12, {1: (2, None), 2: (12, {3: (12, {})})})})}  # TIMESTAMP(ns), not of UTC


def sorted_columns():
    """Columns, their values for growing numbers, and how a formula writes a value."""
    day = datetime.date(1970, 1, 1)
    return [
        ("i", Column("i", INT32, PLAIN, True, None, str), lambda n: n, str),
        ("u", Column("u", INT32, PLAIN, True, None, lambda v: str(v & 0xFFFFFFFF), converted=13),
         lambda n: n + 2**31 - 150 - (2**32 if n + 2**31 - 150 >= 2**31 else 0), lambda v: str(v & 0xFFFFFFFF)),
        ("d", Column("d", INT32, PLAIN, True, None, None, converted=6), lambda n: n,
         lambda v: "'%s'" % (day + datetime.timedelta(v))),
        ("t", Column("t", BYTES, DICT, True, None, None, converted=0), lambda n: b"\xc3\xa9 %04d" % n, lambda v: "'%s'" % v.decode()),
        ("ns", Column("ns", INT64, PLAIN, True, None, None, extra=NANOS), lambda n: n * 500 - 50000,
         lambda v: "'%s'" % (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=v // 1000)).isoformat(" ")),
    ]


def real_stats(column, cells):
    there = [c for c in cells if c is not None]
    key = (lambda v: v & 0xFFFFFFFF) if column.converted == 13 else None
    out = {3: i64(len(cells) - len(there))}
    if there:
        out.update({5: (8, plain_one(column.kind, max(there, key=key))), 6: (8, plain_one(column.kind, min(there, key=key)))})
    return out


def plain_one(kind, v):
    return v if kind == BYTES else plain(kind, [v])


def lies(rand, column, cells):
    """Statistics that are wrong in a way that no reader may rely on."""
    far = real_stats(column, [column.far])
    how = rand.randrange(3)
    if how == 0:
        return {1: far[5], 2: far[6], 3: far[3]}  # the old members, without an order
    if how == 1:
        return {**far, 7: (2, None), 8: (2, None)}  # cut
    return {5: far[5], 6: far[6]}  # the number of nulls is missing


def pruned(dtx, folder, seed):
    """Random filters: the same rows and counts with statistics, without, and with those that are in doubt."""
    rand = random.Random(seed)
    made = sorted_columns()
    columns = [m[1] for m in made]
    groups = []
    for g in range(8):
        groups.append({name: [None if g % 3 == 2 and rand.random() < 0.1 else of(g * 40 + rand.randint(0, 45)) for _ in range(60)] for name, _, of, _ in made})
    for name, column, of, _ in made:
        column.far = of(9000)
    paths = {}
    for kind in ("none", "real", "lies", "order"):
        for c in columns:
            c.stats = {"none": None, "real": lambda r, cells, c=c: real_stats(c, cells), "lies": lambda r, cells, c=c: lies(r, c, cells),
                       "order": lambda r, cells, c=c: real_stats(c, [c.far])}[kind]
        paths[kind] = os.path.join(folder, kind + ".parquet")
        with open(paths[kind], "wb") as f:
            f.write(write(rand, columns, groups, {"real": [1] * 5, "lies": [1] * 5, "order": [2] * 5}.get(kind)))
    for _ in range(8):
        terms = []
        for _ in range(rand.randint(1, 3)):
            name, column, of, literal = rand.choice(made)
            value = literal(of(rand.randint(-20, 380)))
            op = rand.choice(("<", "<=", ">", ">=", "==", "!="))
            terms.append("%s %s %s" % ((name, op, value) if rand.random() < 0.8 else (value, op, name)))
        where = rand.choice((" and ", " and ", " or ")).join(terms)
        plan = os.path.join(folder, "plan.json")
        with open(plan, "w") as f:
            json.dump({"dtx": 1, "steps": [{"op": "filter", "where": where}]}, f)
        want = None
        for kind, path in paths.items():
            p = subprocess.run([dtx, "run", plan, path, "-o", path + ".csv", "--record", path + ".json"], capture_output=True, text=True, timeout=120)
            if p.returncode:
                return where + ": " + p.stderr
            with open(path + ".csv") as out, open(path + ".json") as record:
                steps = [[s["rows_in"], s["rows_out"], s["detail"]["counts"]] for s in json.load(record)["steps"]]
                got = [out.read(), steps]
            want = want or got
            if got != want:
                return "%s: %s has %d bytes and %s, not %d and %s" % (where, kind, len(got[0]), steps, len(want[0]), want[1])
    return ""


def left_out(dtx, folder):
    """Row groups outside of the filter are not read: their damage does no harm."""
    rand = random.Random(3)
    column = Column("n", INT64, PLAIN, False, None, str)
    column.stats = lambda r, cells: real_stats(column, cells)
    path = os.path.join(folder, "left.parquet")
    data = bytearray(write(rand, [column], [{"n": list(range(g * 1000, g * 1000 + 900))} for g in range(5)], [1]))
    for at in (4, len(data) // 2):  # the first page's header, and values of the third one's
        data[at : at + 4] = b"\xff" * 4
    with open(path, "wb") as f:
        f.write(data)
    runs = []
    for where in ("n > 3950", "n > 3950 or n is null"):
        runs.append(subprocess.run([dtx, "pipe", "-q", path, "--", "filter", where, "then", "head", "1"],
                                   capture_output=True, text=True, timeout=120))
    ok = runs[0].stdout == "n\n4000\n" and runs[1].returncode
    return "" if ok else "%s %s" % (runs[0].stdout + runs[0].stderr, runs[1].stdout)


# --- DuckDB's opinion ---


def norm(v):
    if isinstance(v, bool) or v is None:
        return v
    if isinstance(v, (int, float)):
        return None if v != v or abs(v) == float("inf") else float("%.6g" % v)  # DuckDB prints a float short
    if isinstance(v, str):
        if v.lower() in ("nan", "inf", "-inf"):
            return None
        for end in ("+00", "Z"):
            v = v[: -len(end)] if v[10:11] in (" ", "T") and v.endswith(end) else v
        v = v.replace(" ", "T") if v[4:5] == "-" and v[10:11] == " " else v
        try:
            return norm(float(v))
        except ValueError:
            return v
    return {k: norm(x) for k, x in v.items()} if isinstance(v, dict) else [norm(x) for x in v]


def flat(theirs, names, prefix=""):
    out = {}
    for k, v in theirs.items():
        spread = isinstance(v, dict) and any(n.startswith(prefix + k + ".") for n in names)
        out.update(flat(v, names, prefix + k + ".") if spread else {prefix + k: v})
    return out


def as_duckdb(dtx, duck, path):
    """None: DuckDB cannot read it."""
    duck.stdin.write(json.dumps({"tables": {}, "sql": "SELECT to_json(t)::VARCHAR AS j FROM read_parquet('%s', binary_as_string=true) t" % path}) + "\n")
    duck.stdin.flush()
    answer = json.loads(duck.stdout.readline())
    if "error" in answer:
        return None
    code, out, err = read(dtx, path, "--to", "jsonl")
    if code:
        return err
    mine, theirs = [json.loads(line) for line in out.splitlines()], answer["rows"]
    if len(mine) != len(theirs):
        return "%d rows, DuckDB has %d" % (len(mine), len(theirs))
    for i, (a, b) in enumerate(zip(mine, theirs)):
        b = flat(json.loads(b["j"]), a)
        for k in a:
            if norm(a[k]) != norm(b.get(k)):
                return "row %d, %s: %r, DuckDB has %r" % (i, k, a[k], b.get(k))
    return ""


def peers(dtx, written, names):
    global skipped
    folder = os.environ.get("DTX_PEERS")
    if not folder:
        print("ok - as DuckDB reads it # SKIP DTX_PEERS names no folder with @duckdb/node-api")
        skipped += 1
        return
    duck = subprocess.Popen(["node", os.path.join(HERE, "duck.mjs"), folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    shared = os.path.join(os.environ.get("DTX_SHARED_DATA", "../shared/data"), "parquet/data__*.parquet")
    for path in glob.glob(os.path.join(HERE, "../../fixtures/parquet/*.parquet")) + glob.glob(shared):
        name = os.path.basename(path)
        if name in ("refused.parquet",) or any(word in name for word in ("corrupt", "data__binary.", "int96_from_spark", "large_string_map")):
            continue  # refused, as dtx has no such values, or as a limit says so
        wrong = as_duckdb(dtx, duck, path)
        if wrong is None:
            print("# %s: DuckDB does not read it" % name)
        else:
            check("as DuckDB reads it: " + name, wrong)
    for name in names:
        check("DuckDB reads what dtx wrote: " + name, out_duckdb(duck, written, name))
    duck.stdin.close()
    duck.wait()
    check("Polars reads what dtx wrote", out_polars(written, folder, names))


# --- files that dtx writes ---

CODECS = ("zstd", "snappy", "gzip", "none")


def moment(r):
    us = r.choice((0, 0, 500000, 1, 999999))
    return "%04d-%02d-%02dT%02d:%02d:%02d" % (
        r.randint(1, 9999), r.randint(1, 12), r.randint(1, 28), r.randint(0, 23), r.randint(0, 59), r.randint(0, 59)
    ) + (".%06d" % us).rstrip("0") * (us > 0)


def digits(precision, scale):
    def make(r):
        v = r.randint(0, 10 ** r.randint(1, precision) - 1) * r.choice((1, -1))
        return decimal(precision, scale)(v)
    return make


WORDS = ("", "a", "one two", "Zürich", 'say "x"', "line\nbreak", "x" * 13, "key-" * 20, "\U0001f600")
OUT_TYPES = {  # name: (type in the plan, a value as CSV has it, type in DuckDB)
    "int": ("int", lambda r: str(edges(64)(r)), "BIGINT"),
    "small": ("int", lambda r: str(r.randint(-3, 9)), "BIGINT"),
    "float": ("float", lambda r: number(r.choice((0.0, 0.5, -2.25, 1e300, 5e-324, r.random(), r.randint(-99, 99)))), "DOUBLE"),
    "bool": ("bool", lambda r: r.choice(("true", "false")), "BOOLEAN"),
    "text": ("text", lambda r: r.choice(WORDS) + r.choice(("", "", str(r.randint(0, 10**6)))), "VARCHAR"),
    "dec9": ("decimal(9,2)", digits(9, 2), "DECIMAL(9,2)"),
    "dec18": ("decimal(18,4)", digits(18, 4), "DECIMAL(18,4)"),
    "dec38": ("decimal(38,6)", digits(38, 6), "DECIMAL(38,6)"),
    "dec20": ("decimal(20,1)", digits(20, 1), "DECIMAL(20,1)"),
    "date": ("date", lambda r: moment(r)[:10], "DATE"),
    "local": ("datetime", moment, "TIMESTAMP"),
    "utc": ("datetime", lambda r: moment(r) + "Z", "TIMESTAMP WITH TIME ZONE"),
}


def out_cells(rand, make, rows):
    pool = [make(rand) for _ in range(rand.choice((1, 5, 300)))]
    nulls, runs_of, fresh = rand.choice((0, 0, 0.02, 0.5, 0.99, 1)), rand.choice((1, 1, 40)), rand.random() < 0.3
    cells = []
    while len(cells) < rows:
        v = None if rand.random() < nulls else make(rand) if fresh else rand.choice(pool)
        cells += [v] * runs_of
    return cells[:rows]


def out_table(rand, folder, name, rows):
    """Writes a CSV file and a plan that declares its types; returns the columns."""
    columns = {c: out_cells(rand, make, rows) for c, (_, make, _) in OUT_TYPES.items()}
    if rows:
        columns["utc"][0] = "2024-01-01T00:00:00Z"  # an early value says that the times are of UTC
    quote = lambda v: "" if v is None else '"%s"' % v.replace('"', '""') if re.search('[",\n]|^$', v) else v
    with open(os.path.join(folder, name + ".csv"), "w", newline="") as f:
        f.write(",".join(columns) + "\n")
        f.writelines(",".join(map(quote, row)) + "\n" for row in zip(*columns.values()))
    types = [{"name": c, "type": t} for c, (t, _, _) in OUT_TYPES.items()]
    plan = {"dtx": 1, "inputs": [{"name": "main", "types": types}], "steps": [{"op": "limit", "n": 10**9}], "output": {"codec": rand.choice(CODECS)}}
    with open(os.path.join(folder, name + ".json"), "w") as f:
        json.dump(plan, f)
    return columns


def run(dtx, folder, name, out, *more):
    p = subprocess.run([dtx, "run", "-q", name + ".json", name + ".csv", "-o", out, *more], cwd=folder, capture_output=True, text=True, timeout=120)
    return p.stderr if p.returncode else ""


def same_bytes(a, b):
    with open(a, "rb") as f, open(b, "rb") as g:
        return f.read() == g.read()


def out_again(dtx, folder, name):
    """What dtx reads in the file is what it read in the CSV; threads make no difference."""
    wrong = run(dtx, folder, name, name + ".parquet") or run(dtx, folder, name, name + "_in.csv")
    path = os.path.join(folder, name)
    if wrong:
        return wrong
    code, out, err = read(dtx, path + ".parquet")
    with open(path + "_in.csv", newline="") as f:
        want = list(csv.reader(f))
    got = list(csv.reader(io.StringIO(out, newline="")))
    if code or got != want:
        return err or next("%r, not %r" % p for p in zip(got + [None], want + [None]) if p[0] != p[1])
    for threads in ("1", "2", "7"):
        wrong = run(dtx, folder, name, "again.parquet", "--threads", threads)
        if wrong or not same_bytes(path + ".parquet", os.path.join(folder, "again.parquet")):
            return wrong or "other bytes with %s threads" % threads
    return ""


def out_cases(dtx, folder, rand):
    names = []
    for i, rows in enumerate((0, 1, 9, 2000, 12000)):
        names.append("out%d" % i)
        out_table(rand, folder, names[-1], rows)
        check("written and read again: %d rows" % rows, out_again(dtx, folder, names[-1]))
    return names


def tell(duck, sql):
    duck.stdin.write(json.dumps({"tables": {}, "sql": sql}) + "\n")
    duck.stdin.flush()
    answer = json.loads(duck.stdout.readline())
    return answer.get("rows", answer.get("error"))


def out_duckdb(duck, folder, name):
    """Types, values and statistics as DuckDB has them, against the CSV."""
    path = os.path.join(folder, name)
    columns = ", ".join("%s::VARCHAR AS %s" % (c, c) for c in OUT_TYPES)
    types = {r["column_name"]: r["column_type"] for r in tell(duck, "DESCRIBE SELECT * FROM '%s.parquet'" % path)}
    for c, (_, _, want) in OUT_TYPES.items():
        if types[c] != want and not (c == "utc" and name == "out0"):  # no value says that it is of UTC
            return "%s is %s" % (c, types[c])
    spec = ", ".join("'%s': '%s'" % (c, t) for c, (_, _, t) in OUT_TYPES.items())
    source = "read_csv('%s.csv', header=true, auto_detect=false, quote='\"', escape='\"', force_not_null=['text'], columns={%s})" % (path, spec)
    wrong = tell(duck, "SELECT count(*) AS n FROM (SELECT row_number() OVER () AS r, %s FROM '%s.parquet') a FULL JOIN "
                 "(SELECT row_number() OVER () AS r, %s FROM %s) b USING (r) WHERE a.r IS NULL OR b.r IS NULL OR %s" % (
                     columns, path, columns, source, " OR ".join(
                         "coalesce(a.%s, '') IS DISTINCT FROM coalesce(b.%s, '')" % (c, c) for c in OUT_TYPES)))
    if wrong != [{"n": 0}]:
        return str(wrong)
    for c in OUT_TYPES:
        got = tell(duck, "SELECT min(stats_min_value) AS a, max(stats_max_value) AS b, sum(stats_null_count)::INT AS n "
                   "FROM parquet_metadata('%s.parquet') WHERE path_in_schema = '%s'" % (path, c))[0]
        want = tell(duck, "SELECT min(%s)::VARCHAR AS a, max(%s)::VARCHAR AS b, count(*) - count(%s) AS n FROM '%s.parquet'" % (c, c, c, path))[0]
        exact = c not in ("float", "utc", "text")  # which DuckDB prints in another way
        if (got["n"] or 0) != want["n"] or (exact and (got["a"], got["b"]) != (want["a"], want["b"])):
            return "statistics of %s: %s, not %s" % (c, got, want)
    return ""


def out_polars(folder, peers_at, names):
    p = subprocess.run(["node", os.path.join(HERE, "polars.mjs"), peers_at, *[os.path.join(folder, n + ".parquet") for n in names]],
                       capture_output=True, text=True)
    lines = p.stdout.splitlines()
    if len(lines) != len(names):
        return p.stderr
    for name, line in zip(names, map(json.loads, lines)):
        with open(os.path.join(folder, name + "_in.csv"), newline="") as f:
            want = list(csv.reader(f))
        if line["columns"] != want[0] or len(line["rows"]) != len(want) - 1:
            return "%s: %s, %d rows" % (name, line["columns"], len(line["rows"]))
        for i, (a, b) in enumerate(zip(line["rows"], want[1:])):
            for c, x, y in zip(want[0], a, b):
                if plain_text(x or "", c) != plain_text(y, c):
                    return "%s, row %d, %s: %r, not %r" % (name, i, c, x, y)
    return ""


def plain_text(v, column):
    if column in ("local", "utc"):
        v = re.sub(r"(\+00:00|UTC|Z)$", "", v.replace(" ", "T", 1)).strip()
        return re.sub(r"\.?0*$", "", v) if "." in v else v
    return number(v) if column == "float" and v else v


def main():
    dtx, first = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DTX_STORE"] = os.path.join(folder, "store.db")
        for seed in range(first, first + 4):
            check("written with seed %d" % seed, written_here(dtx, folder, seed))
        for seed in range(first, first + 2):
            check("groups of dictionaries, seed %d" % seed, grouped(dtx, folder, seed))
        for seed in range(first, first + 2):
            check("filters with and without statistics, seed %d" % seed, pruned(dtx, folder, seed))
        check("row groups outside of a filter are not read", left_out(dtx, folder))
        check("a long text in every row", one_long_text(dtx, folder))
        names = out_cases(dtx, folder, random.Random(first))
        peers(dtx, folder, names)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
