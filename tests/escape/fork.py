# starts a process
# expect: snippet_error clone refused
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    print("REACHED", os.waitpid(pid, 0)[1] >> 8)
    return tables["main"]
