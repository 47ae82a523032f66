# reads the user's keys
# expect: denied_syscall keyctl killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    ctypes = os.sys.modules["ctypes"]
    libc = ctypes.CDLL(None, use_errno=True)

    if libc.syscall(250, 0, -3, 1) < 0:
        raise OSError(ctypes.get_errno(), "keyctl")
    print("REACHED")
    return tables["main"]
