# reads a file of the user
# expect: snippet_error openat refused
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    fd = os.open("@FILE@", os.O_RDONLY)
    print("REACHED", os.read(fd, 100).decode())
    return tables["main"]
