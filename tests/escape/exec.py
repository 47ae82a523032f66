# becomes another program
# expect: denied_syscall execve killed
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    os.execv("/bin/echo", ["echo", "REACHED"])
    return tables["main"]
