"""asyncio and concurrent.futures without threads, processes or descriptors: an event loop that can
only wait for time, and executors that run a task at once when it is submitted."""
import asyncio
import asyncio.base_events
import asyncio.runners
import concurrent.futures
import concurrent.futures.process
import concurrent.futures.thread
import errno
import signal
import time
import types


class Pool(concurrent.futures.Executor):
    """An executor that runs each task when it is submitted."""

    def __init__(self, max_workers=None, *args, initializer=None, initargs=(), **words):
        self.closed = False
        if initializer:
            initializer(*initargs)

    def submit(self, fn, /, *args, **words):
        if self.closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **words))
        except BaseException as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.closed = True


class Clock:
    """Takes the place of a selector: the only event is that time passes."""

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("the event loop waits for something that cannot happen here")
        time.sleep(max(timeout, 0))
        return []


class Loop(asyncio.base_events.BaseEventLoop):
    def __init__(self):
        asyncio.base_events.BaseEventLoop.__init__(self)
        self._selector = Clock()
        self.set_default_executor(Pool())

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        """Empty: there is no other thread that could wake the loop."""

    async def shutdown_default_executor(self):
        pass

    async def _make_subprocess_transport(self, *args, **words):
        raise PermissionError(errno.EPERM, "the jail cannot start programs or processes")


class Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = Loop


def prepare():
    asyncio.set_event_loop_policy(Policy())
    # Its signal handling would fail here, and no interrupt can come.
    asyncio.runners.signal = types.SimpleNamespace(
        SIGINT=signal.SIGINT, getsignal=lambda number: None, default_int_handler=print)
    for owner in (concurrent.futures, concurrent.futures.thread):
        owner.ThreadPoolExecutor = Pool
    for owner in (concurrent.futures, concurrent.futures.process):
        owner.ProcessPoolExecutor = Pool
