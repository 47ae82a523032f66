# signals through a pidfd
# expect: denied_syscall pidfd_open killed
# canary: child
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    fd = os.pidfd_open(@CHILD@)
    os.sys.modules["importlib"].import_module("_signal").pidfd_send_signal(fd, 9)
    print("REACHED")
    return tables["main"]
