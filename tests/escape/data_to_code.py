# turns data into code
# expect: denied_syscall mprotect killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    ctypes = os.sys.modules["ctypes"]
    libc = ctypes.CDLL(None, use_errno=True)

    memory = ctypes.create_string_buffer(b"\xb8\x2a\x00\x00\x00\xc3" + bytes(12288))
    page = (ctypes.addressof(memory) + 4095) // 4096 * 4096
    ctypes.memmove(page, memory, 6)
    if libc.mprotect(ctypes.c_void_p(page), 4096, 7):
        raise OSError(ctypes.get_errno(), "mprotect")
    print("REACHED", ctypes.CFUNCTYPE(ctypes.c_int)(page)())
    return tables["main"]
