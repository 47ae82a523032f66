# talks to a service over an abstract unix socket
# expect: snippet_error socket refused
# canary: abstract
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    socket = os.sys.modules["importlib"].import_module("_socket")
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect("\0@ABSTRACT@")
    s.send(b"REACHED")
    print("REACHED")
    return tables["main"]
