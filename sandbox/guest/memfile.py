"""Open files whose bytes are in memory, with the same layers above them that open() adds."""
import io
import os

NO_DESCRIPTOR = ("fileno: files are in memory in the jail and have no descriptor; in place of "
                 "array.tofile(f) write f.write(array.tobytes())")


class Raw(io.RawIOBase):
    """Takes the place of io.FileIO. `data` holds the bytes of the file, and is a bytearray if it
    can be written. `touched` is called after a write."""

    def __init__(self, data, name, mode, touched=None):
        io.RawIOBase.__init__(self)
        self.data, self.name, self.touched = data, name, touched
        self.reads, self.writes = "r" in mode or "+" in mode, any(c in mode for c in "wax+")
        self.appends = "a" in mode
        first = "x" if "x" in mode else "a" if self.appends else "r" if self.reads else "w"
        self.mode = first + "b" + "+" * (self.reads and self.writes)
        self.at = len(data) if self.appends else 0

    def readable(self):
        return self.reads

    def writable(self):
        return self.writes

    def seekable(self):
        return True

    def fileno(self):
        raise io.UnsupportedOperation(NO_DESCRIPTOR)

    def readinto(self, buffer):
        if not self.reads:
            raise io.UnsupportedOperation("File not open for reading")
        part = self.data[self.at:self.at + len(buffer)]
        buffer[:len(part)] = part
        self.at += len(part)
        return len(part)

    def readall(self):
        if not self.reads:
            raise io.UnsupportedOperation("File not open for reading")
        part = bytes(self.data[self.at:])
        self.at += len(part)
        return part

    def write(self, part):
        if not self.writes:
            raise io.UnsupportedOperation("File not open for writing")
        part = memoryview(part).cast("B")
        if self.appends:
            self.at = len(self.data)
        if self.at > len(self.data):
            self.data.extend(bytes(self.at - len(self.data)))
        self.data[self.at:self.at + len(part)] = part
        self.at += len(part)
        self.touched()
        return len(part)

    def seek(self, offset, whence=io.SEEK_SET):
        at = offset + (0, self.at, len(self.data))[whence]
        if at < 0:
            raise OSError(22, os.strerror(22))
        self.at = at
        return at

    def truncate(self, size=None):
        size = self.at if size is None else size
        del self.data[size:]
        self.data.extend(bytes(size - len(self.data)))
        self.touched()
        return size


def check_mode(mode, encoding, errors, newline):
    """Checks the arguments as open() does, with the same errors."""
    kinds = set(mode)
    if kinds - set("axrwb+t") or len(mode) > len(kinds):
        raise ValueError("invalid mode: %r" % mode)
    if "t" in kinds and "b" in kinds:
        raise ValueError("can't have text and binary mode at once")
    if len(kinds & set("axrw")) != 1:
        raise ValueError("must have exactly one of create/read/write/append mode")
    for name, word in (("encoding", encoding), ("errors", errors), ("newline", newline)):
        if "b" in kinds and word is not None:
            raise ValueError("binary mode doesn't take %s %s argument"
                             % ("an" if name[0] == "e" else "a", name))


def stacked(raw, mode, buffering, encoding, errors, newline):
    """Adds the layers that open() adds to a raw file."""
    if buffering == 0:
        if "b" in mode:
            return raw
        raise ValueError("can't have unbuffered text I/O")
    kind = (io.BufferedRandom if "+" in mode else
            io.BufferedReader if "r" in mode else io.BufferedWriter)
    buffer = kind(raw, buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE)
    if "b" in mode:
        return buffer
    text = io.TextIOWrapper(buffer, encoding or "utf-8", errors, newline, buffering == 1)
    text.mode = mode
    return text
