"""Memory that the host of a virtual machine has given, held so that it is not taken back.

Such a host takes free memory back within seconds and gives it again at some seconds a gigabyte, in the
kernel time of whoever touches it first.  What a program costs where memory is simply there is told by one that
runs while another process lets go of as much as it takes, shortly before.
"""
import mmap
import os
import threading
import time

PIECE = 64 << 20
FREE = 1 << 30     # left to the kernel; what others get first
AHEAD = 512 << 20  # free before it is asked for
LOOK = 0.02        # s


def free():
    with open("/proc/meminfo", encoding="ascii") as info:
        return next(int(line.split()[1]) << 10 for line in info if line.startswith("MemFree:"))


def piece():
    block, zeros = mmap.mmap(-1, PIECE), bytes(1 << 20)
    block.madvise(mmap.MADV_HUGEPAGE)
    for at in range(0, PIECE, len(zeros)):
        block[at:at + len(zeros)] = zeros
    return block


def taken(pid, out):
    """Bytes that a process has touched: its own, and pages of the file that it writes; None: it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            own = next((line.split()[1] for line in status if line.startswith("RssAnon:")), None)
        return own and (int(own) << 10) + (os.stat(out).st_size if os.path.exists(out) else 0)
    except OSError:
        return None


class Held:
    """All that is free but FREE: a part of it is not enough, as the kernel may give the rest first."""

    def __init__(self, on):
        self.on, self.block = on, []

    def fill(self):
        while self.on and free() > FREE + PIECE:
            self.block.append(piece())

    def follow(self, pid, out):
        """Until the process ends; the thread that does it."""
        thread = threading.Thread(target=self._follow, args=(pid, out))
        thread.start()
        return thread

    def _follow(self, pid, out):
        given = 0
        while self.block and (used := taken(pid, out)) is not None:
            while self.block and given < used + AHEAD:
                self.block.pop().close()
                given += PIECE
            time.sleep(LOOK)
