# writes into a folder of the user
# expect: snippet_error openat refused
# canary: folder
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    fd = os.open("@DIR@/written", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(fd, b"REACHED")
    print("REACHED")
    return tables["main"]
