# sends a datagram
# expect: snippet_error socket refused
# canary: udp
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    socket = os.sys.modules["importlib"].import_module("_socket")
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.sendto(b"REACHED", ("127.0.0.1", @UDP_PORT@))
    print("REACHED")
    return tables["main"]
