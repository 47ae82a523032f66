# makes a file in memory to execute
# expect: snippet_error memfd_create refused
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    fd = os.memfd_create("x")
    print("REACHED", fd)
    return tables["main"]
