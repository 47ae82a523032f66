# never ends
# expect: timeout
# options: --jail-wall 1
# note: runs forever outside
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    print("REACHED", flush=True)
    while True:
        pass
    return tables["main"]
