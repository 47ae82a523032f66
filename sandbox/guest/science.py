"""Imports scipy, if it is installed, and other modules that few snippets use, for code that names
them."""
import sys
import types

NUMBER = 1 << 20  # descriptor of a file in memory; worker/devnull.c makes a stream of it


def lead_messages():
    """Runs in the zygote, after the imports. Triangulation in scipy needs a file for its messages,
    and ends the process if there is none."""
    messages = sys.modules.get("scipy._lib.messagestream")
    if messages:
        messages.tempfile = types.SimpleNamespace(mkstemp=lambda **words: (NUMBER, b"messages"))
        messages.os = types.SimpleNamespace(remove=lambda path: None)
