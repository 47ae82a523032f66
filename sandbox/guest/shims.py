"""Makes libraries use the files in memory that keep their own reference to open(), or open files in
C.

`space` is a function that returns the current execute.Space."""
import bz2
import dbm.dumb
import functools
import io
import os
import sqlite3
import sys
import tarfile
import tokenize
import urllib.parse

import numpy
import numpy.lib._datasource
import numpy.lib.format
import pandas
import pandas.io.common
import pandas.io.html

plain_fromfile, plain_memmap = numpy.fromfile, numpy.lib.format.open_memmap
plain_connect, plain_html = sqlite3.connect, pandas.read_html


def is_path(file):
    return isinstance(file, (str, bytes, os.PathLike))


def fromfile(file, dtype=float, count=-1, sep="", offset=0, **words):
    """numpy reads from a descriptor, so this reads the bytes first."""
    if is_path(file):
        with space().opened(file, "rb") as f:
            return fromfile(f, dtype, count, sep, offset)
    if not isinstance(file, io.IOBase):
        return plain_fromfile(file, dtype, count, sep, offset, **words)
    file.seek(offset, io.SEEK_CUR)
    size = numpy.dtype(dtype).itemsize
    if sep:
        return numpy.fromstring(file.read().decode(), dtype, count, sep=sep)
    data = file.read(-1 if count < 0 else count * size)
    return numpy.frombuffer(data[:len(data) // size * size], dtype).copy()


def open_memmap(filename, mode="r+", *args, **words):
    """Reads the whole array, because the file is in memory anyway. A map for writing is not
    available."""
    if mode not in ("r", "c"):
        return plain_memmap(filename, mode, *args, **words)
    with space().opened(filename, "rb") as f:
        return numpy.lib.format.read_array(f)


def read_html(io_, *args, **words):
    """Passes the bytes on, because lxml opens a path itself."""
    if is_path(io_) and os.path.exists(io_):
        with space().opened(io_, "rb") as f:
            io_ = io.BytesIO(f.read())
    return plain_html(io_, *args, **words)


def lead_lxml():
    """Passes bytes to the parsers of lxml, which open a path in C."""
    etree = sys.modules.get("lxml.etree")
    if not etree:
        return

    def led(plain):
        @functools.wraps(plain)
        def call(source, *args, **words):
            if is_path(source) and os.path.exists(source):
                with space().opened(source, "rb") as f:
                    source = io.BytesIO(f.read())
            return plain(source, *args, **words)

        return call

    etree.parse, etree.iterparse = led(etree.parse), led(etree.iterparse)


def lead_xlrd():
    """Passes bytes to xlrd, which maps a file into memory."""
    xlrd = sys.modules.get("xlrd")
    if not xlrd:
        return
    plain = xlrd.open_workbook

    @functools.wraps(plain)
    def call(filename=None, *args, **words):
        if is_path(filename) and os.path.exists(filename):
            with space().opened(filename, "rb") as f:
                words["file_contents"] = f.read()
            filename = None
        return plain(filename, *args, **words)

    xlrd.open_workbook = call


class Database(sqlite3.Connection):
    """A connection to a database in memory. When one is closed, the database is written to its
    file."""

    path = None

    def close(self):
        sqlite3.Connection.close(self)
        if self.path:
            keep_database(self.path)


def keep_database(path):
    """Writes what is committed to the file."""
    if path not in space().databases:
        return  # the file was removed
    first = space().databases[path][0]
    empty = not first.execute("pragma page_count").fetchone()[0]  # an empty database has no image
    data = b"" if empty else first.serialize()
    if is_writable(path) and space().files.get(path) != data:
        space().files[path] = data
        space().touch(path)


def keep_databases(closes):
    for path, connections in space().databases.items():
        for c in connections[1:] if closes else ():
            sqlite3.Connection.close(c)
        keep_database(path)


def connect(database, *args, **words):
    """All connections to one file share one database, as usual."""
    if database in (":memory:", "", b"") or words.get("uri") or "factory" in words or len(args) > 4:
        return plain_connect(database, *args, **words)
    here = space()
    path = here.resolve(database)
    if path not in here.files and not here.can_make(path):
        raise sqlite3.OperationalError("unable to open database file")
    words.update(uri=True, factory=Database)
    name = "file:%s?vfs=memdb" % urllib.parse.quote(path)
    if path not in here.databases:
        # this connection stays open, and the database with it
        here.databases[path] = [plain_connect(name, uri=True)]
        if here.files.get(path):
            image = plain_connect(":memory:")
            image.deserialize(here.files[path])
            image.backup(here.databases[path][0])
            image.close()
    made = plain_connect(name, *args, **words)
    made.path = path
    here.databases[path].append(made)
    keep_database(path)
    return made


def prepare(of_now, opened, writable):
    """Runs in the zygote. `opened` is open() of the current space."""
    global space, is_writable
    space, is_writable = of_now, writable
    bz2._builtin_open = tarfile.bltn_open = tokenize._builtin_open = opened
    dbm._defaultmod = dbm._modules["dbm.dumb"] = dbm.dumb  # the other modules open files in C
    lead_lxml()
    lead_xlrd()
    numpy.lib._datasource._file_openers._load()
    numpy.lib._datasource._file_openers._file_openers[None] = opened
    numpy.fromfile = numpy.core.multiarray.fromfile = fromfile
    numpy.lib.format.open_memmap = open_memmap
    numpy.lib.format.isfileobj = lambda file: False  # files in memory have no descriptor
    pandas.read_html = pandas.io.html.read_html = read_html
    pandas.io.common._maybe_memory_map = lambda handle, mapped: (handle, False, [])
    sqlite3.connect = sqlite3.dbapi2.connect = connect

