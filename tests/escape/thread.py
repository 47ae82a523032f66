# starts a thread that goes on
# expect: snippet_error clone refused
import pandas as pd


def transform(tables, params):
    os = pd.io.common.os
    thread = os.sys.modules["importlib"].import_module("_thread")
    done = thread.allocate_lock()
    done.acquire()
    thread.start_new_thread(done.release, ())
    print("REACHED", done.acquire(True, 5))
    return tables["main"]
