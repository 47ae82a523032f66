# reads the memory of another process
# expect: denied_syscall process_vm_readv killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    ctypes = os.sys.modules["ctypes"]
    libc = ctypes.CDLL(None, use_errno=True)

    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]

    buf = ctypes.create_string_buffer(16)
    here = Vector(ctypes.addressof(buf), 16)
    there = Vector(@CHILD_ADDRESS@, 16)
    got = libc.process_vm_readv(@CHILD@, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    if got != 16:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
    print("REACHED", buf.raw)
    return tables["main"]
