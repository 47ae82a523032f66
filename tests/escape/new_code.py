# makes memory executable and runs code of its own
# expect: denied_syscall mmap killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    mmap = os.sys.modules["importlib"].import_module("mmap")
    ctypes = os.sys.modules["ctypes"]
    code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    code.write(b"\xb8\x2a\x00\x00\x00\xc3")  # mov eax, 42; ret
    at = ctypes.addressof(ctypes.c_char.from_buffer(code))
    print("REACHED", ctypes.CFUNCTYPE(ctypes.c_int)(at)())
    return tables["main"]
