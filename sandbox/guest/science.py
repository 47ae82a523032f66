"""scipy, where it is installed, and what few snippets name, for code that tells of them."""
import sys
import types

NUMBER = 1 << 20  # of a file in memory: the program makes a stream of memory of it, see devnull.c


def lead_messages():
    """In the zygote, after the imports.  Triangulation wants a file for its messages, and ends the
    process where there is none."""
    messages = sys.modules.get("scipy._lib.messagestream")
    if messages:
        messages.tempfile = types.SimpleNamespace(mkstemp=lambda **words: (NUMBER, b"messages"))
        messages.os = types.SimpleNamespace(remove=lambda path: None)
