"""Replaces calls for which the jail has no answer, so that a program gets a clear message.

The kernel refuses such calls with messages like "too many open files". The calls are still made,
so that the record shows them; left out are only calls that harmless programs make and for which
the kernel would kill them."""
import errno
import faulthandler
import functools
import multiprocessing.context
import multiprocessing.dummy
import multiprocessing.pool
import multiprocessing.process
import multiprocessing.shared_memory
import os
import posix
import resource
import signal
import socket
import subprocess
import sys
import threading

NOBODY = 65534
NO_PROGRAMS = "the jail cannot start programs or processes: do it in Python, or outside the jail"
NO_SHARING = ("the jail has no second process to share with: use an ordinary object; Pool and "
              "concurrent.futures run one task after the other")
NO_THREADS = ("can't start new thread: the jail has only one; "
              "concurrent.futures.ThreadPoolExecutor runs one task after the other")
NO_NETWORK = "the jail has no network: give the file with --file or --table"
NO_DISK = "the jail has no disk: files are in memory, --jail-output limits them"
NO_SIGNALS = "there are no signals in the jail; --jail-wall sets its time limit"


def worded(owner, name, text, kind=OSError):
    """A failure of owner.name gets the message `text`."""
    plain = getattr(owner, name)

    @functools.wraps(plain)
    def call(*args, **words):
        try:
            return plain(*args, **words)
        except kind as error:
            code = (getattr(error, "errno", None),) if isinstance(error, OSError) else ()
            raise type(error)(*code, text) from None

    setattr(owner, name, call)


def tell_of_system():
    """Makes os.system print why it failed, because programs ignore the number that it returns."""
    plain = os.system

    @functools.wraps(plain)
    def system(command):
        code = plain(command)
        sys.stderr.write("os.system: %s\n" % NO_PROGRAMS)
        return code

    return system


def refused(owner, names, text):
    def call(*args, **words):
        raise PermissionError(errno.EPERM, text)

    for name in names.split():
        setattr(owner, name, call)


def tell_little():
    """Fixed answers to what programs ask the system and print. The kernel refuses some of these
    calls and kills the process for others."""
    plain, ended = resource.getrusage, resource.struct_rusage((0,) * 16)
    os.sched_getaffinity = lambda pid: {0}
    socket.gethostname = lambda: "localhost"
    os.getppid = lambda: 1
    os.getuid = os.geteuid = os.getgid = os.getegid = lambda: NOBODY
    faulthandler.enable = lambda *args, **words: None
    os.environ.setdefault("LOGNAME", "nobody")
    resource.getrusage = lambda who: plain(who) if who == resource.RUSAGE_SELF else ended


class Result:
    """Like multiprocessing.pool.AsyncResult, for a task that has finished."""

    def __init__(self, task, callback=None, error_callback=None):
        self.error = self.value = None
        try:
            self.value = task()
        except Exception as error:
            self.error = error
        told, about = (error_callback, self.error) if self.error else (callback, self.value)
        if told:
            told(about)

    def get(self, timeout=None):
        if self.error:
            raise self.error
        return self.value

    def wait(self, timeout=None):
        pass

    def ready(self):
        return True

    def successful(self):
        return not self.error


class Pool:
    """Like multiprocessing.pool.Pool, but each task runs at once when it is submitted."""

    def __init__(self, processes=None, initializer=None, initargs=(), *args, **words):
        self.closed = False
        if initializer:
            initializer(*initargs)

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):
        if self.closed:
            raise ValueError("Pool not running")
        return Result(lambda: func(*args, **kwds), callback, error_callback)

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return self.apply_async(lambda: [func(v) for v in iterable], (), {}, callback,
                                error_callback)

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return self.map_async(lambda v: func(*v), iterable, chunksize, callback, error_callback)

    def apply(self, func, args=(), kwds={}):
        return self.apply_async(func, args, kwds).get()

    def map(self, func, iterable, chunksize=None):
        return self.map_async(func, iterable).get()

    def starmap(self, func, iterable, chunksize=None):
        return self.starmap_async(func, iterable).get()

    def imap(self, func, iterable, chunksize=1):
        return iter(self.map(func, iterable))

    imap_unordered = imap

    def close(self):
        self.closed = True

    terminate = close

    def join(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def prepare():
    """Runs in the zygote."""
    context = multiprocessing.context.BaseContext
    for owner in (multiprocessing, multiprocessing.pool, multiprocessing.dummy):
        owner.Pool = Pool
    multiprocessing.pool.ThreadPool = Pool
    context.Pool = lambda self, *args, **words: Pool(*args, **words)
    for owner in (multiprocessing, context):
        refused(owner, "Queue JoinableQueue SimpleQueue Pipe Lock RLock Semaphore Condition Event "
                       "Barrier BoundedSemaphore Manager Value Array RawValue RawArray", NO_SHARING)
    refused(os, "statvfs", NO_DISK)
    tell_little()
    posix.system = os.system = tell_of_system()
    worded(multiprocessing.process.BaseProcess, "start", NO_PROGRAMS)
    worded(os, "fork", NO_PROGRAMS)
    worded(subprocess.Popen, "__init__", NO_PROGRAMS)
    worded(threading.Thread, "start", NO_THREADS, RuntimeError)
    worded(multiprocessing.shared_memory.SharedMemory, "__init__", NO_SHARING)
    worded(socket.socket, "__init__", NO_NETWORK)
    worded(socket, "getaddrinfo", NO_NETWORK)
    worded(signal, "signal", NO_SIGNALS)
