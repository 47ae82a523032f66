# reads another process' environment in /proc
# expect: snippet_error openat refused
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    fd = os.open("/proc/@CHILD@/environ", os.O_RDONLY)
    text = os.read(fd, 10000).decode()
    print("REACHED", text[text.index("CANARY"):][:60])
    return tables["main"]
