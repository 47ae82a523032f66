# leaves data in system V shared memory
# expect: denied_syscall shmget killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    ctypes = os.sys.modules["ctypes"]
    libc = ctypes.CDLL(None, use_errno=True)

    got = libc.shmget(0, 4096, 0o1600)
    if got < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    libc.shmctl(got, 0, None)
    print("REACHED")
    return tables["main"]
