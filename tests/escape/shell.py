# runs a shell command
# expect: snippet_error clone refused
# note: system() forks first
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    if os.system("echo REACHED"):
        raise OSError("no shell")
    return tables["main"]
