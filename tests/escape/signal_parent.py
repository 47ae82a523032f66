# signals its parent
# expect: denied_syscall kill killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    try:
        parent = os.getppid()
    except OSError:
        parent = 1
    os.kill(parent, 10)
    print("REACHED")
    return tables["main"]
