# waits without end
# expect: timeout
# options: --jail-wall 1
# note: runs forever outside
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    print("REACHED", flush=True)
    pd.io.common.os.sys.modules["time"].sleep(3600)
    return tables["main"]
