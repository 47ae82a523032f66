"""Fixes in Python what would make two runs differ: randomness, entropy, time zones, streams.

The host fixes the hash seed, the clock, the CPU features and the number of threads."""
import errno
import hashlib
import io
import os
import random
import sys

import numpy
import numpy.random

ZONES = "/usr/share/zoneinfo"
ZONE_MAX = 1 << 16
zone_files = {}


class Stream:
    """Takes the place of the system's entropy: SHAKE-256 of the run's seed."""

    def __init__(self, seed):
        self.seed = seed.to_bytes(8, "little")
        self.at = 0
        self.calls = 0

    def read(self, n):
        self.calls += 1
        first, skip = divmod(self.at, 4096)
        out = b""
        while len(out) < skip + n:
            key = self.seed + (first + len(out) // 4096).to_bytes(8, "little")
            out += hashlib.shake_256(key).digest(4096)
        self.at += n
        return out[skip:skip + n]


stream = Stream(0)


def urandom(n):
    return stream.read(n)


plain_seed = random.Random.seed


def seed_random(self, a=None, version=2):
    """Random() without a seed asks the system for entropy; here it gets it from the stream."""
    if a is None:
        a = int.from_bytes(stream.read(32), "little")
    plain_seed(self, a, version)


def read_zones():
    for folder, folders, names in os.walk(ZONES):
        folders[:] = [f for f in folders if f not in ("posix", "right")]
        for name in names:
            path = os.path.join(folder, name)
            try:
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # open() takes four times as long
            except OSError:
                continue
            # Kept small: a buffer of a megabyte would be a mapping of its own, which each fork
            # copies.
            data = os.read(fd, ZONE_MAX)
            if len(data) < ZONE_MAX:  # longer files are lists of all zones, not a zone
                zone_files[path[len(ZONES) + 1:]] = data
            os.close(fd)


def open_zone(name):
    try:
        return io.BytesIO(zone_files[name])
    except KeyError:
        raise FileNotFoundError(name) from None


def pin_zones():
    import pytz
    import zoneinfo
    import zoneinfo._common

    read_zones()
    pytz.open_resource = open_zone
    pytz.resource_exists = zone_files.__contains__
    zoneinfo.reset_tzpath(to=[])

    def load_tzdata(key):
        try:
            return open_zone(key)
        except FileNotFoundError:
            raise zoneinfo.ZoneInfoNotFoundError("No time zone found with key %s" % key)

    zoneinfo._common.load_tzdata = load_tzdata
    zoneinfo.available_timezones = lambda: {
        name for name, data in zone_files.items() if data[:4] == b"TZif" and name != "posixrules"}
    pin_dateutil()


def pin_dateutil():
    """Gives dateutil the zones in memory. It finds no files here, and would return None or go on
    without a zone, so that times would be wrong without an error."""
    from dateutil import tz

    find = type(tz.gettz).nocache

    def nocache(name=None):
        if name in zone_files:
            return tz.tzfile(open_zone(name), filename="%s/%s" % (ZONES, name))
        return find(name)

    type(tz.gettz).nocache = staticmethod(nocache)


def pin_uuid():
    """Replaces libuuid, which opens a file and asks for network cards."""
    import uuid

    def generate():
        node, sequence = (int.from_bytes(stream.read(n), "little") for n in (6, 2))
        return uuid.uuid1(node | 1 << 40, sequence & 0x3fff).bytes, None

    uuid._generate_time_safe = generate
    uuid._GETTERS = [lambda: int.from_bytes(stream.read(6), "little") | 1 << 40]


def pin_streams():
    # Made here, because opening a stream asks the kernel what it is, and that answer is kept.
    sys.stdin = open(0, "r", closefd=False)
    kept, ends = os.dup(1), os.pipe()
    for fd in (1, 2):
        os.dup2(ends[1], fd)
    sys.stdout = open(1, "w", 1, "utf-8", "backslashreplace", closefd=False)
    sys.stderr = open(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    for fd in (1, 2):
        os.dup2(kept, fd)
    for fd in (kept, *ends):
        os.close(fd)


def pin_locale():
    import locale

    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        pass  # it is not installed


def pin_host():
    """Hides the name of the host from code. Other answers are kept, because the kernel refuses the
    call later."""
    import platform

    known = os.uname()
    os.uname = lambda: os.uname_result((known.sysname, "localhost", *known[2:]))
    platform._uname_cache = None  # an import has asked already


def pin_lines():
    """Remembers missing source lines. A traceback asks for the line of each frame, again and again;
    a loop that prints its errors would exceed the number of calls that may be refused."""
    import linecache

    find = linecache.updatecache

    def updatecache(filename, module_globals=None):
        lines = find(filename, module_globals)
        if not lines and (filename.startswith(sys.prefix + "/") or filename.endswith(".pyx")):
            linecache.cache[filename] = 0, None, lines, filename
        return lines

    linecache.updatecache = updatecache


def no_terminal(fd=1):
    raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))


def pin_terminal():
    """Answers for the kernel. A loop of prints would otherwise ask each time."""
    os.get_terminal_size = no_terminal
    os.isatty = lambda fd: False
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.isatty = lambda: False


def prepare():
    core = numpy.core._multiarray_umath
    left = [f for f in core.__cpu_dispatch__
            if f.startswith("AVX512") and core.__cpu_features__.get(f)]
    if left:
        raise RuntimeError("numpy still uses %s: results would depend on the machine"
                           % ", ".join(left))
    os.urandom = random._urandom = urandom
    random.Random.seed = seed_random
    pin_zones()
    pin_uuid()
    pin_locale()
    pin_host()
    pin_streams()
    pin_terminal()


def describe():
    return "threads=1 cpu=no-avx512 zone=UTC entropy=shake256"


def start(seed):
    stream.__init__(seed)
    random.seed(seed)
    numpy.random.seed(seed & 0xFFFFFFFF)
    stream.__init__(seed)


def used():
    """Tells the reviewer whether the snippet asked for entropy."""
    return {"entropy_reads": stream.calls} if stream.calls else {}


def flush():
    for s in (sys.stdout, sys.stderr):
        try:
            s.flush()
        except BaseException:  # it may be an object of the snippet
            pass
