# asks the kernel through a ring that filters do not see
# expect: denied_syscall io_uring_setup killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    ctypes = os.sys.modules["ctypes"]
    libc = ctypes.CDLL(None, use_errno=True)

    params = ctypes.create_string_buffer(200)
    fd = libc.syscall(425, 4, params)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "io_uring_setup")
    print("REACHED", fd)
    return tables["main"]
