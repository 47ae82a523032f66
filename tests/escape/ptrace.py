# takes over another process
# expect: denied_syscall ptrace killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    ctypes = os.sys.modules["ctypes"]
    libc = ctypes.CDLL(None, use_errno=True)

    PTRACE_ATTACH = 16
    if libc.ptrace(PTRACE_ATTACH, @CHILD@, None, None):
        raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(@CHILD@, 0x40000000)
    libc.ptrace(17, @CHILD@, None, None)
    print("REACHED")
    return tables["main"]
