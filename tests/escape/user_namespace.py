# becomes root of a namespace of its own
# expect: denied_syscall unshare killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    ctypes = os.sys.modules["ctypes"]
    libc = ctypes.CDLL(None, use_errno=True)

    if libc.unshare(0x10000000):
        raise OSError(ctypes.get_errno(), "unshare")
    print("REACHED")
    return tables["main"]
