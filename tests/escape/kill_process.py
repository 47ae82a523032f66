# kills another process of the user
# expect: denied_syscall kill killed
# canary: child
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    os.kill(@CHILD@, 9)
    print("REACHED")
    return tables["main"]
