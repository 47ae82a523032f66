# sends the data to a server
# expect: snippet_error socket refused
# canary: tcp
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    socket = os.sys.modules["importlib"].import_module("_socket")
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.connect(("127.0.0.1", @TCP_PORT@))
    s.send(b"REACHED")
    print("REACHED")
    return tables["main"]
