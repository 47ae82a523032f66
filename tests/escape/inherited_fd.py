# reads a descriptor that the caller left open
# expect: denied_syscall read killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    print("REACHED", os.read(@OPEN_FD@, 100).decode())
    return tables["main"]
